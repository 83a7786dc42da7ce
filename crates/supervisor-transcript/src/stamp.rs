//! Time stamps as text: seconds with six decimals, exactly the microseconds of an [`At`].

use supervisor_core::At;

const MICROS_PER_SECOND: u64 = 1_000_000;

/// Appends `SECONDS.MICROS`, always with six decimals: the same moment is always the same text.
pub(crate) fn write(at: At, out: &mut Vec<u8>) {
    let (seconds, micros) = (at.0 / MICROS_PER_SECOND, at.0 % MICROS_PER_SECOND);
    digits(seconds, 1, out);
    out.push(b'.');
    digits(micros, 6, out);
}

/// By hand, because this runs once a message and formatting machinery costs more than the rest of the line.
fn digits(mut value: u64, width: usize, out: &mut Vec<u8>) {
    let mut text = [b'0'; 20];
    let mut start = text.len();
    while value > 0 {
        start -= 1;
        text[start] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&text[start.min(text.len() - width)..]);
}

/// Reads a JSON number of seconds. Digits beyond the sixth decimal are dropped; a number that is no moment gives `None`.
pub(crate) fn read(text: &str) -> Option<At> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    match (plain(seconds), micros(fraction)) {
        (Some(seconds), Some(micros)) => seconds.checked_mul(MICROS_PER_SECOND)?.checked_add(micros).map(At),
        _ => from_float(text),
    }
}

fn plain(digits: &str) -> Option<u64> {
    // The standard parser would also take a sign.
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

fn micros(fraction: &str) -> Option<u64> {
    let known = &fraction.as_bytes()[..fraction.len().min(6)];
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = known.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    Some((known.len()..6).fold(value, |value, _| value * 10))
}

/// Other writers may use an exponent.
fn from_float(text: &str) -> Option<At> {
    let micros = text.parse::<f64>().ok()? * MICROS_PER_SECOND as f64;
    (0.0..u64::MAX as f64).contains(&micros).then(|| At(micros.round() as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(at: At) -> String {
        let mut out = Vec::new();
        write(at, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn six_decimals_always() {
        assert_eq!(written(At(0)), "0.000000");
        assert_eq!(written(At(1_000_001)), "1.000001");
        assert_eq!(written(At(u64::MAX)), "18446744073709.551615");
    }

    #[test]
    fn numbers_of_other_writers() {
        assert_eq!(read("0.46025"), Some(At(460_250)));
        assert_eq!(read("3"), Some(At(3_000_000)));
        assert_eq!(read("1.23456789"), Some(At(1_234_567)));
        assert_eq!(read("2.5e-3"), Some(At(2_500)));
        for no_moment in ["-1", "-0.5", "1e300", "99999999999999999999", "", "x", "+1", "1.+2"] {
            assert_eq!(read(no_moment).filter(|at| at.0 > 2_000_000), None, "{no_moment}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_comes_back(micros: u64) {
            prop_assert_eq!(read(&written(At(micros))), Some(At(micros)));
        }
    }
}
