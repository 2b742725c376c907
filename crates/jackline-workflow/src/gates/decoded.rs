//! Bytes as the text they hold, whatever program wrote them: UTF-8, or UTF-16 with its mark.

use std::borrow::Cow;

/// The text; none for what is none.
pub(super) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] | rest if !rest.contains(&0) => Some(String::from_utf8_lossy(rest)),
        _ => None,
    }
}

fn wide(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Option<Cow<'_, str>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let text =
        char::decode_utf16(pairs.iter().map(|pair| read(*pair))).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
    let text: String = text.collect();
    (!text.contains('\0')).then_some(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_in_either_width() {
        let wide =
            |order: fn(u16) -> [u8; 2]| -> Vec<u8> { "\u{feff}TODO é".encode_utf16().flat_map(order).collect() };
        for bytes in [b"TODO \xc3\xa9".to_vec(), wide(u16::to_le_bytes), wide(u16::to_be_bytes)] {
            assert_eq!(text(&bytes).as_deref(), Some("TODO é"));
        }
        assert_eq!(text(b"\xef\xbb\xbf{}").as_deref(), Some("{}"));
        assert_eq!(text(b"T\0O\0D\0O\0"), None);
        assert_eq!(text(b"na\xefve").as_deref(), Some("na\u{fffd}ve"));
    }
}
