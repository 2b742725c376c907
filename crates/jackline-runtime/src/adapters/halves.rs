//! Half characters: a host that cuts a text in the middle of one sends a message that is no JSON any more.

/// What stands for a character that is not whole.
const REPLACEMENT: &[u8] = b"\\ufffd";
/// Bytes of an escaped code unit: a backslash, a letter, four digits.
const ESCAPE_BYTES: usize = 6;

/// The message with every half replaced; nothing where there is none.
pub(super) fn replaced(native: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::with_capacity(native.len());
    let (mut at, mut found) = (0, false);
    while let Some(byte) = native.get(at) {
        let taken = match unit(native, at) {
            Some(0xd800..=0xdbff) if matches!(unit(native, at + ESCAPE_BYTES), Some(0xdc00..=0xdfff)) => {
                2 * ESCAPE_BYTES
            }
            Some(0xd800..=0xdfff) => {
                found = true;
                whole.extend_from_slice(REPLACEMENT);
                at += ESCAPE_BYTES;
                continue;
            }
            Some(_) => ESCAPE_BYTES,
            // What is escaped is not looked at by itself.
            None if *byte == b'\\' => 2,
            None => 1,
        };
        whole.extend_from_slice(native.get(at..(at + taken).min(native.len())).unwrap_or_default());
        at += taken;
    }
    found.then_some(whole)
}

/// The code unit that is escaped here.
fn unit(native: &[u8], at: usize) -> Option<u16> {
    let digits = native.get(at..at + ESCAPE_BYTES)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(native: &str, want: Option<&str>) {
        assert_eq!(replaced(native.as_bytes()).map(|whole| String::from_utf8(whole).unwrap()).as_deref(), want);
    }

    #[test]
    fn only_halves_are_replaced() {
        check(r#"{"a":"x\ud83d"}"#, Some(r#"{"a":"x\ufffd"}"#));
        check(r#"["\ud83d\ud83d\ude00\udc00"]"#, Some(r#"["\ufffd\ud83d\ude00\ufffd"]"#));
        check(r#"["\ud83d\ude00 \\ud83d \u0041"]"#, None);
        check(r#"["\u12"#, None);
    }
}
