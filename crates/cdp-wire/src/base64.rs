//! Base64, in which bodies travel.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes as text, padded.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let sextet = (bits >> (18 - 6 * at) & 63) as usize;
            text.push(if at <= group.len() { ALPHABET[sextet].into() } else { '=' });
        }
    }
    text
}

/// The bytes of a text, padded or not; `None` when it is no Base64.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0;
        for (at, character) in group.iter().enumerate() {
            let sextet = ALPHABET.iter().position(|known| known == character)?;
            bits |= u32::try_from(sextet).ok()? << (18 - 6 * at);
        }
        let whole = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        bytes.extend_from_slice(&whole[..group.len().checked_sub(1).filter(|length| *length > 0)?]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decode(&encode(&[0, 0xFF, 0xFE, 0x7F])), Some(vec![0, 0xFF, 0xFE, 0x7F]));
        assert_eq!((decode("a"), decode("a b="), decode("é")), (None, None, None));
    }
}
