//! Whether a picture shows something: its sides, and whether its file goes to its end. Nothing is decoded.

/// Pixels of a side: pictures smaller than this in both ways, or flat in one, only stand in for a picture.
const SIDE_PIXELS_MIN: f64 = 10.0;

/// The beginning of a picture's file, or all of it; its end; and whether the beginning is all.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) head: &'a [u8],
    pub(super) end: &'a [u8],
    pub(super) whole: bool,
}

/// Width and height.
type Sides = (f64, f64);

/// Why a picture of a suffix shows nothing; none when it does, and for kinds that are not known.
pub(super) fn fault(suffix: &str, bytes: Bytes<'_>) -> Option<String> {
    let head = bytes.head;
    let sides = match suffix {
        "png" => big(head, 16).zip(big(head, 20)),
        "gif" => little(head, 6).zip(little(head, 8)),
        "bmp" => double(head, 18).zip(double(head, 22)),
        "webp" => webp(head),
        "jpg" | "jpeg" => match jpeg(head) {
            // Its tables may begin behind what was read, after a long comment.
            None if !bytes.whole => return None,
            sides => sides,
        },
        "svg" => return drawing(head),
        _ => return None,
    };
    let closed = match suffix {
        "png" => holds(bytes.end, b"IEND"),
        "jpg" | "jpeg" => holds(bytes.end, b"\xff\xd9"),
        "gif" => bytes.end.contains(&b';'),
        _ => true,
    };
    match sides {
        Some(sides) => small(sides).or_else(|| (!closed).then(|| "is cut short".to_owned())),
        None => Some("is cut short".to_owned()),
    }
}

fn small((width, height): Sides) -> Option<String> {
    let flat = width <= 1.0 || height <= 1.0;
    let tiny = width < SIDE_PIXELS_MIN && height < SIDE_PIXELS_MIN;
    (flat || tiny).then(|| format!("has {width} × {height} pixels"))
}

pub(super) fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

fn four(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

fn two(bytes: &[u8], at: usize) -> Option<[u8; 2]> {
    bytes.get(at..at + 2)?.try_into().ok()
}

fn big(bytes: &[u8], at: usize) -> Option<f64> {
    four(bytes, at).map(|four| f64::from(u32::from_be_bytes(four)))
}

fn little(bytes: &[u8], at: usize) -> Option<f64> {
    two(bytes, at).map(|two| f64::from(u16::from_le_bytes(two)))
}

/// Four bytes, the low one first; a picture that is stored upside down has a negative height.
fn double(bytes: &[u8], at: usize) -> Option<f64> {
    four(bytes, at).map(|four| f64::from(i32::from_le_bytes(four)).abs())
}

/// The sides in the first of the three kinds of blocks that a WebP begins with.
fn webp(bytes: &[u8]) -> Option<Sides> {
    let side = |at: usize| {
        Some(f64::from(u32::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?, *bytes.get(at + 2)?, 0]) + 1))
    };
    match bytes.get(12..16)? {
        b"VP8X" => side(24).zip(side(27)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(four(bytes, 21)?);
            Some((f64::from((bits & 0x3fff) + 1), f64::from(((bits >> 14) & 0x3fff) + 1)))
        }
        b"VP8 " => {
            let low = |at: usize| two(bytes, at).map(|two| f64::from(u16::from_le_bytes(two) & 0x3fff));
            low(26).zip(low(28))
        }
        _ => None,
    }
}

/// The sides in the frame's header, to which the lengths of the segments before it lead.
fn jpeg(bytes: &[u8]) -> Option<Sides> {
    let mut at = 2;
    loop {
        let [mark, kind] = two(bytes, at)?;
        if mark != 0xff {
            return None;
        }
        let length = usize::from(u16::from_be_bytes(two(bytes, at + 2)?));
        match kind {
            0xff => at += 1,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                let side = |at: usize| two(bytes, at).map(|two| f64::from(u16::from_be_bytes(two)));
                return side(at + 7).zip(side(at + 5));
            }
            _ => at += 2 + length.max(2),
        }
    }
}

/// Why a drawing shows nothing: its sides, and whether anything stands in it.
fn drawing(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let Some((_, rest)) = text.split_once("<svg") else { return Some("has no `<svg`".to_owned()) };
    let (tag, inside) = rest.split_once('>').unwrap_or((rest, ""));
    let side = |name: &str| attribute(tag, name).and_then(pixels);
    if let Some(why) = side("width").zip(side("height")).and_then(small) {
        return Some(why);
    }
    let empty = tag.ends_with('/') || inside.trim_start().starts_with("</svg");
    empty.then(|| "draws nothing".to_owned())
}

/// The value of an attribute in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.match_indices(name).find_map(|(at, _)| {
        let begins = tag.get(..at)?.ends_with(char::is_whitespace);
        let value = tag.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        value.get(1..)?.split(quote).next().filter(|_| begins)
    })
}

/// A length in pixels; none for parts of what is around.
fn pixels(value: &str) -> Option<f64> {
    value.trim().trim_end_matches("px").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(suffix: &str, bytes: &[u8], want: Option<&str>) {
        let end = bytes.get(bytes.len().saturating_sub(1024)..).unwrap();
        let bytes = Bytes { head: bytes, end, whole: true };
        assert_eq!(fault(suffix, bytes).as_deref(), want, "{suffix}");
    }

    fn jpeg_of(width: u16, height: u16, end: &[u8]) -> Vec<u8> {
        let mut bytes = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08".to_vec();
        bytes.extend(height.to_be_bytes());
        bytes.extend(width.to_be_bytes());
        bytes.resize(3_000, 0);
        bytes.extend(end);
        bytes
    }

    #[test]
    fn sides_are_read_in_every_kind() {
        check("jpg", &jpeg_of(1, 1, b"\xff\xd9"), Some("has 1 × 1 pixels"));
        check("jpg", &jpeg_of(640, 480, b"\xff\xd9"), None);
        check("jpg", &jpeg_of(640, 480, b""), Some("is cut short"));
        let mut zeros = b"\xff\xd8\xff\xe0".to_vec();
        zeros.resize(5_000, 0);
        check("jpeg", &zeros, Some("is cut short"));
        let bmp = |side: u32| [&b"BM"[..], &[0; 16], &side.to_le_bytes(), &side.to_le_bytes()].concat();
        check("bmp", &bmp(1), Some("has 1 × 1 pixels"));
        check("bmp", &bmp(64), None);
        let lossless = |bits: u32| [&b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f"[..], &bits.to_le_bytes()].concat();
        check("webp", &lossless(0), Some("has 1 × 1 pixels"));
        check("webp", &lossless(99 | (99 << 14)), None);
        check("webp", b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0abcdef\x40\0\x40\0", None);
        check("webp", b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\0\0\0\0\0\0", Some("has 1 × 1 pixels"));
        check("webp", b"RIFF\0\0\0\0WEBP", Some("is cut short"));
    }

    #[test]
    fn drawings_draw_something() {
        check("svg", b"<svg width=\"1\" height='1'></svg>", Some("has 1 × 1 pixels"));
        check("svg", b"<svg xmlns='x' stroke-width=\"1\" width=\"100%\" height=\"20px\"><path/></svg>", None);
        check("svg", b"<svg></svg>", Some("draws nothing"));
        check("svg", b"<svg/>", Some("draws nothing"));
        check("svg", b"<html></html>", Some("has no `<svg`"));
    }
}
