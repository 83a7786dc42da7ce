//! WebSocket frames, as far as a server of ours meets them. What is sent is built once and written many times, which no
//! library lets one do: so the server is never what is measured.

/// Appends one text frame to what a server will write.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    push(out, TEXT, text.as_bytes());
}

/// Appends one frame that a server sends: whole, and not masked.
pub fn push(out: &mut Vec<u8>, opcode: u8, payload: &[u8]) {
    out.push(WHOLE | opcode);
    match payload.len() {
        short @ 0..=125 => out.push(u8::try_from(short).unwrap_or(125)),
        long => match u16::try_from(long) {
            Ok(long) => {
                out.push(126);
                out.extend(long.to_be_bytes());
            }
            Err(_) => {
                out.push(127);
                out.extend((long as u64).to_be_bytes());
            }
        },
    }
    out.extend_from_slice(payload);
}

/// A frame of the client.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub opcode: u8,
    /// What it holds, unmasked.
    pub payload: Vec<u8>,
}

/// Takes the first whole frame out of what was read, unmasked.
pub fn take(read: &mut Vec<u8>) -> Option<Frame> {
    let (&first, &second) = (read.first()?, read.get(1)?);
    let (length, mask_at) = match second & 0x7F {
        126 => (usize::from(u16::from_be_bytes(read.get(2..4)?.try_into().ok()?)), 4),
        127 => (usize::try_from(u64::from_be_bytes(read.get(2..10)?.try_into().ok()?)).ok()?, 10),
        short => (usize::from(short), 2),
    };
    let is_masked = second & 0x80 != 0;
    let start = mask_at + if is_masked { 4 } else { 0 };
    let mut payload = read.get(start..start + length)?.to_vec();
    if is_masked {
        let mask = [read[mask_at], read[mask_at + 1], read[mask_at + 2], read[mask_at + 3]];
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
    }
    read.drain(..start + length);
    Some(Frame { opcode: first & 0x0F, payload })
}

const WHOLE: u8 = 0x80;
/// A text.
pub const TEXT: u8 = 1;
/// The end.
pub const CLOSE: u8 = 8;
/// To be answered by a pong.
pub const PING: u8 = 9;
/// The answer.
pub const PONG: u8 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        push(&mut frame, TEXT, payload);
        let at = frame.len() - payload.len();
        frame[1] |= 0x80;
        let mask = [1, 2, 3, 4];
        frame.splice(at..at, mask);
        frame[at + 4..].iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        frame
    }

    #[test]
    fn frames_of_each_length_are_taken_whole() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let payload = vec![b'x'; length];
            let whole = masked(&payload);
            let mut read = whole[..whole.len() - 1].to_vec();
            assert_eq!(take(&mut read), None);
            read.push(*whole.last().unwrap());
            read.push(TEXT);
            assert_eq!(take(&mut read), Some(Frame { opcode: TEXT, payload }), "{length}");
            assert_eq!(read, [TEXT]);
        }
    }
}
