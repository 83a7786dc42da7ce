//! What the loggers of Node write around a message: colours and times.

use supervisor_core::At;

const MICROS_PER_MILLI: u64 = 1_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// The line without the escape sequences that colour it.
pub(crate) fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_style = |byte: u8| byte.is_ascii_digit() || byte == b';';
        let style = part.bytes().take_while(|byte| is_style(*byte)).count();
        plain.push_str(part[style..].strip_prefix('m').unwrap_or(&part[style..]));
    }
    plain
}

/// The times of a log: either each line has one, or each says how long after the last it was written.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(crate) first: Option<u64>,
    pub(crate) now: At,
}

impl Clock {
    /// Time since the first message.
    pub(crate) fn at(&self) -> At {
        self.now
    }

    pub(crate) fn read(&mut self, before: &str, rest: &str) {
        if let Some(micros) = before.split_whitespace().next().and_then(stamp) {
            let first = *self.first.get_or_insert(micros);
            self.now = self.now.max(At(micros.saturating_sub(first)));
        } else if let Some(micros) = since_last(rest) {
            self.now = At(self.now.0.saturating_add(micros));
        }
    }
}

/// `2026-11-30T13:33:38.605Z`, in microseconds since the Unix epoch.
fn stamp(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let days = days(date.next()??, date.next()??, date.next()??)?;
    let mut time = time.splitn(3, ':');
    let (hours, minutes, seconds) = (time.next()?, time.next()?, time.next()?);
    let minutes = (days * 24 + hours.parse::<u64>().ok()?) * 60 + minutes.parse::<u64>().ok()?;
    Some(minutes * 60 * MICROS_PER_SECOND + crate::stamp::read(seconds)?.0)
}

/// Days since the Unix epoch, after Howard Hinnant's `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> Option<u64> {
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year / 400;
    let year_of_era = year % 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    u64::try_from(era * 146_097 + day_of_era - 719_468).ok()
}

/// ` +12ms` at the end of a line.
fn since_last(rest: &str) -> Option<u64> {
    let text = rest.rsplit(' ').next()?.strip_prefix('+')?;
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let micros = match unit {
        "ms" => MICROS_PER_MILLI,
        "s" => MICROS_PER_SECOND,
        "m" => 60 * MICROS_PER_SECOND,
        "h" => 3_600 * MICROS_PER_SECOND,
        _ => return None,
    };
    text[..text.len() - unit.len()].parse::<u64>().ok()?.checked_mul(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_lines() {
        assert_eq!(stamp("1970-01-02T00:00:00.001Z"), Some(86_400_001_000));
        assert_eq!(stamp("2026-11-30T13:33:38.605Z"), Some(1_796_045_618_605_000));
        assert_eq!(stamp("2024-02-29T00:00:00.000Z"), Some(1_709_164_800_000_000));
        for wrong in
            ["", "12:00", "2026-13-01T00:00:00.000Z", "1960-01-01T00:00:00.000Z", "2026-11-30T13:33:38.605"]
        {
            assert_eq!(stamp(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_between_lines() {
        assert_eq!(since_last("{} +12ms"), Some(12_000));
        assert_eq!(since_last("] +3m"), Some(180_000_000));
        assert_eq!((since_last("{}"), since_last("+ms"), since_last("x +5")), (None, None, None));
    }
}
