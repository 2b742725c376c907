//! Whether a file can be what its name says: first bytes, sizes of pictures, rows of tables. Only the beginning of large
//! files is seen.

/// Bytes of a PDF with one page, at least.
const PDF_BYTES_MIN: u64 = 200;
/// Bytes of a JPEG that shows something: its tables alone are longer.
const JPEG_BYTES_MIN: u64 = 500;
/// Pixels of a side: pictures smaller than this in both ways, or flat in one, only stand in for a picture.
const SIDE_PIXELS_MIN: u32 = 10;

/// Suffixes and what their files begin with.
const MAGICS: &[(&[&str], &[&[u8]])] = &[
    (&["png"], &[b"\x89PNG\r\n\x1a\n"]),
    (&["jpg", "jpeg"], &[b"\xff\xd8\xff"]),
    (&["gif"], &[b"GIF87a", b"GIF89a"]),
    (&["webp"], &[b"RIFF"]),
    (&["bmp"], &[b"BM"]),
    (&["tif", "tiff"], &[b"II*\0", b"MM\0*"]),
    (&["pdf"], &[b"%PDF-"]),
    (&["xlsx", "docx", "pptx", "zip", "npz"], &[b"PK\x03\x04"]),
    (&["parquet"], &[b"PAR1"]),
    (&["npy"], &[b"\x93NUMPY"]),
    (&["gz"], &[b"\x1f\x8b"]),
    (&["h5", "hdf5"], &[b"\x89HDF\r\n\x1a\n"]),
    (&["sqlite", "db"], &[b"SQLite format 3\0"]),
];
/// Names of files that are empty on purpose.
const EMPTY_ON_PURPOSE: &[&str] = &["__init__.py", "py.typed"];
/// Suffixes of texts that a person reads.
const PROSE: &[&str] = &["md", "markdown", "txt", "rst", "tex", "html", "htm"];
/// Suffixes of other texts that are searched for placeholders.
const TEXTS: &[&str] = &["csv", "tsv", "json", "yaml", "yml"];

/// The beginning of a file, or all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    /// Its path in its directory.
    pub(super) path: &'a str,
    /// How long the whole file is.
    pub(super) size: u64,
    pub(super) bytes: &'a [u8],
}

/// What came of looking at a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Form {
    pub(super) broken: Option<String>,
    pub(super) note: Option<String>,
}

impl Form {
    fn broken(why: impl Into<String>) -> Self {
        Self { broken: Some(why.into()), note: None }
    }

    fn noted(what: impl Into<String>) -> Self {
        Self { broken: None, note: Some(what.into()) }
    }

    fn broken_if(broken: bool, why: &str) -> Self {
        if broken { Self::broken(why) } else { Self::default() }
    }
}

/// The suffix of a path, in lowercase.
pub(super) fn suffix(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, suffix)| suffix.to_ascii_lowercase()).unwrap_or_default()
}

/// Whether a file is a text that is always searched.
pub(super) fn is_text(path: &str) -> bool {
    is_prose(path) || TEXTS.contains(&suffix(path).as_str())
}

/// Whether a file is a text that a person reads, so that `#` is a heading.
pub(super) fn is_prose(path: &str) -> bool {
    PROSE.contains(&suffix(path).as_str())
}

/// Whether a file can be what its name says.
pub(super) fn examine(content: Content<'_>) -> Form {
    if content.size == 0 {
        let name = content.path.rsplit('/').next().unwrap_or(content.path);
        return Form::broken_if(!EMPTY_ON_PURPOSE.contains(&name), "is empty");
    }
    let suffix = suffix(content.path);
    let magics = MAGICS.iter().find(|(suffixes, _)| suffixes.contains(&suffix.as_str()));
    if magics.is_some_and(|(_, magics)| !magics.iter().any(|magic| content.bytes.starts_with(magic))) {
        return Form::broken(format!("does not begin as a `.{suffix}` file does"));
    }
    let blank = content.bytes.iter().all(u8::is_ascii_whitespace);
    match suffix.as_str() {
        "png" => small(sides(content.bytes, 16, u32::from_be_bytes)),
        "gif" => small(sides(content.bytes, 6, |[low, high, ..]| u32::from(u16::from_le_bytes([low, high])))),
        "jpg" | "jpeg" => Form::broken_if(content.size < JPEG_BYTES_MIN, "is too short to show anything"),
        "pdf" => Form::broken_if(content.size < PDF_BYTES_MIN, "is too short to have a page"),
        "svg" => Form::broken_if(!holds(content.bytes, b"<svg"), "has no `<svg`"),
        "csv" => table(content, ','),
        "tsv" => table(content, '\t'),
        "json" => json(content),
        _ => Form::broken_if(blank && (is_text(content.path) || suffix.is_empty()), "holds nothing but blanks"),
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Width and height of a picture, read at a place: four bytes each for PNG, two for GIF.
fn sides(bytes: &[u8], at: usize, read: fn([u8; 4]) -> u32) -> Option<(u32, u32)> {
    let step = if at == 6 { 2 } else { 4 };
    let side = |at: usize| {
        let mut four = [0; 4];
        let found = bytes.get(at..at + step)?;
        four.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
        Some(read(four))
    };
    Some((side(at)?, side(at + step)?))
}

fn small(sides: Option<(u32, u32)>) -> Form {
    match sides {
        None => Form::broken("is cut short"),
        Some((width, height)) => {
            let flat = width <= 1 || height <= 1;
            let tiny = width < SIDE_PIXELS_MIN && height < SIDE_PIXELS_MIN;
            let why = format!("has {width} × {height} pixels");
            Form::broken_if(flat || tiny, &why)
        }
    }
}

/// A table has a row that names its columns, and does not end within a row. One without further rows may be meant so.
fn table(content: Content<'_>, separator: char) -> Form {
    let text = String::from_utf8_lossy(content.bytes);
    let whole = content.bytes.len() as u64 == content.size;
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = rows.next() else {
        return Form::broken("holds nothing but blanks");
    };
    let names = first.split(separator).map(|cell| cell.trim().trim_matches('"'));
    if names.clone().all(|name| name.is_empty() || name.parse::<f64>().is_ok()) {
        return Form::broken("has no row that names its columns");
    }
    let Some(last) = rows.next_back() else {
        return Form::noted("has a header and no rows");
    };
    if whole && text.matches('"').count() % 2 == 1 {
        return Form::broken("ends within a quoted cell");
    }
    let quoted = text.contains('"');
    let cut = whole && !quoted && !text.ends_with('\n') && last.split(separator).count() < names.count();
    Form::broken_if(cut, "ends within a row")
}

fn json(content: Content<'_>) -> Form {
    if (content.bytes.len() as u64) < content.size {
        return Form::noted("is too long to be read as JSON");
    }
    match serde_json::from_slice::<serde::de::IgnoredAny>(content.bytes) {
        Ok(_) if content.bytes.trim_ascii().len() <= 2 => Form::noted("has nothing in it"),
        Ok(_) => Form::default(),
        Err(error) => Form::broken(format!("is no JSON: line {}, column {}", error.line(), error.column())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(path: &str, bytes: &[u8]) -> Form {
        examine(Content { path, size: bytes.len() as u64, bytes })
    }

    #[track_caller]
    fn broken(path: &str, bytes: &[u8], why: &str) {
        assert_eq!(form(path, bytes).broken.as_deref(), Some(why), "{path}");
    }

    #[track_caller]
    fn fine(path: &str, bytes: &[u8]) {
        assert_eq!(form(path, bytes).broken, None, "{path}");
    }

    /// A PNG's beginning, of any length.
    pub(crate) fn png(width: u32, height: u32, length: usize) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.resize(bytes.len().max(length), 0);
        bytes
    }

    #[test]
    fn pictures_show_something() {
        broken("a.png", &png(1, 1, 69), "has 1 × 1 pixels");
        broken("a.png", &png(1, 1, 4_000), "has 1 × 1 pixels");
        broken("a.PNG", &png(9, 9, 900), "has 9 × 9 pixels");
        broken("a.png", &png(800, 1, 900), "has 800 × 1 pixels");
        broken("a.png", b"\x89PNG\r\n\x1a\n", "is cut short");
        broken("a.png", b"not a picture", "does not begin as a `.png` file does");
        fine("a.png", &png(800, 600, 100));
        broken("a.gif", b"GIF89a\x01\0\x01\0\x80\0\0", "has 1 × 1 pixels");
        fine("a.gif", b"GIF89a\x40\0\x40\0\x80\0\0");
        broken("a.jpg", b"\xff\xd8\xff\xe0", "is too short to show anything");
        broken("a.svg", b"<html></html>", "has no `<svg`");
        fine("a.svg", b"<?xml version='1.0'?><svg></svg>");
    }

    #[test]
    fn documents_and_data_are_what_they_say() {
        broken("a.pdf", b"", "is empty");
        broken("a.pdf", b"%PDF-1.4", "is too short to have a page");
        broken("a.pdf", &[b'x'; 900], "does not begin as a `.pdf` file does");
        let mut pdf = b"%PDF-1.7\n".to_vec();
        pdf.resize(900, b' ');
        fine("a.pdf", &pdf);
        broken("a.json", b"{\"a\": ", "is no JSON: line 1, column 6");
        fine("a.json", b"{\"a\": [1]}");
        assert_eq!(form("a.json", b"{}").note.as_deref(), Some("has nothing in it"));
        broken("a.md", b" \n\t\n", "holds nothing but blanks");
        broken("a.xlsx", b"id,name\n", "does not begin as a `.xlsx` file does");
        fine("pkg/__init__.py", b"");
        broken("pkg/a.py", b"", "is empty");
    }

    #[test]
    fn tables_have_a_header_and_an_end() {
        broken("a.csv", b"\n\n", "holds nothing but blanks");
        broken("a.csv", b"1,2\n3,4\n", "has no row that names its columns");
        broken("a.csv", b",,\n", "has no row that names its columns");
        broken("a.csv", b"id,name,city\n1,a,b\n2,c", "ends within a row");
        broken("a.csv", b"id,name\n1,\"a\n", "ends within a quoted cell");
        fine("a.csv", b"id,name\n1,a\n2,b");
        fine("a.tsv", b"id\tname\n1\ta\n");
        assert_eq!(form("a.csv", b"id,name\n").note.as_deref(), Some("has a header and no rows"));
    }
}
