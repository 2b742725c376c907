//! Whether a file can be what its name says: first bytes, sizes of pictures, rows of tables. Only the beginning and the end
//! of large files are seen.

use super::decoded;
use super::picture::{self, Bytes};
use super::placeholder::Comments;

/// Bytes of a PDF with one page, at least.
const PDF_BYTES_MIN: u64 = 200;
/// Bytes of a JPEG that shows something: its tables alone are longer.
const JPEG_BYTES_MIN: u64 = 500;
/// Bytes of blanks and the like that may stand before a PDF begins, as readers of it have it.
const PDF_BEFORE_BYTES_MAX: usize = 1_024;
/// Years that may be names of columns.
const YEARS: std::ops::RangeInclusive<u32> = 1_000..=2_999;

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
/// What programs begin with; they often have no suffix.
const PROGRAMS: &[&[u8]] = &[b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
/// Names of files that are empty on purpose.
const EMPTY_ON_PURPOSE: &[&str] = &["__init__.py", "py.typed"];
/// Suffixes of texts that a person reads.
const PROSE: &[&str] = &["md", "markdown", "txt", "rst", "tex", "html", "htm"];
/// Suffixes of other texts that are searched for placeholders.
const TEXTS: &[&str] = &["csv", "tsv", "json", "yaml", "yml"];
/// Suffixes of texts that are searched where they are declared: one of them that is no text is not verified.
const SOURCES: &[&str] = &[
    "adoc", "asciidoc", "bash", "bat", "bib", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "diff",
    "eml", "env", "ex", "geojson", "go", "gradle", "graphql", "h", "hpp", "hs", "ics", "ini", "ipynb", "java", "jl",
    "js", "jsonl", "jsx", "kt", "less", "lock", "log", "lua", "m", "ndjson", "org", "patch", "php", "pl", "proto",
    "ps1", "py", "r", "rb", "rs", "scala", "scss", "sh", "sql", "srt", "svelte", "svg", "swift", "tf", "toml", "ts",
    "tsx", "vtt", "vue", "xml", "zig",
];
/// Bytes by which it is told whether a file holds text.
const SAMPLE_BYTES: usize = 8 * 1024;
/// Of so many bytes of a text, not one is of a kind that no text has. What is compressed or compiled has far more of them.
const ODD_SHARE: usize = 50;

/// The beginning of a file, or all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    /// Its path in its directory.
    pub(super) path: &'a str,
    /// How long the whole file is.
    pub(super) size: u64,
    pub(super) bytes: &'a [u8],
    /// The last bytes of the file.
    pub(super) end: &'a [u8],
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

/// What begins a comment in a file of its kind. Tables and JSON have none; where people read, lines begin as in documents.
pub(super) fn comments(path: &str) -> Comments {
    match suffix(path).as_str() {
        "csv" | "tsv" | "json" => Comments::None,
        "adoc" | "asciidoc" | "log" | "org" | "" => Comments::Prose,
        _ if is_prose(path) => Comments::Prose,
        _ => Comments::Code,
    }
}

/// Whether a file holds no text, so that there is nothing to search. What its name is counts less than what is in it: who wants
/// to hide a text may call it what he likes. Only what must be a text is held to be one.
pub(super) fn is_binary(content: Content<'_>) -> bool {
    let suffix = suffix(content.path);
    if is_text(content.path) || SOURCES.contains(&suffix.as_str()) {
        return false;
    }
    let magics = MAGICS.iter().filter(|(suffixes, _)| suffixes.contains(&suffix.as_str()));
    let known = magics.flat_map(|(_, magics)| *magics).chain(PROGRAMS).any(|magic| content.bytes.starts_with(magic));
    known || !suffix.is_empty() && is_odd(content.bytes)
}

/// Whether bytes are no text of any kind.
fn is_odd(bytes: &[u8]) -> bool {
    let wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) && decoded::text(bytes).is_some();
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    let odd = sample.iter().filter(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31 | 127)).count();
    !wide && odd * ODD_SHARE > sample.len()
}

/// Whether a file can be what its name says.
pub(super) fn examine(content: Content<'_>) -> Form {
    if content.size == 0 {
        let name = content.path.rsplit('/').next().unwrap_or(content.path);
        return Form::broken_if(!EMPTY_ON_PURPOSE.contains(&name), "is empty");
    }
    let suffix = suffix(content.path);
    let magics = MAGICS.iter().find(|(suffixes, _)| suffixes.contains(&suffix.as_str()));
    let begun = if suffix == "pdf" { pdf(content.bytes) } else { content.bytes };
    if magics.is_some_and(|(_, magics)| !magics.iter().any(|magic| begun.starts_with(magic))) {
        return Form::broken(format!("does not begin as a `.{suffix}` file does"));
    }
    let blank = content.bytes.iter().all(u8::is_ascii_whitespace);
    match suffix.as_str() {
        "jpg" | "jpeg" if content.size < JPEG_BYTES_MIN => Form::broken("is too short to show anything"),
        "png" | "gif" | "bmp" | "webp" | "jpg" | "jpeg" | "svg" => {
            let whole = content.bytes.len() as u64 == content.size;
            let fault = picture::fault(&suffix, Bytes { head: content.bytes, end: content.end, whole });
            Form { broken: fault, note: None }
        }
        "pdf" => Form::broken_if(content.size < PDF_BYTES_MIN, "is too short to have a page"),
        "csv" => table(content, ','),
        "tsv" => table(content, '\t'),
        "json" => json(content),
        _ => Form::broken_if(blank && (is_text(content.path) || suffix.is_empty()), "holds nothing but blanks"),
    }
}

/// A PDF from where it begins, if that is near.
fn pdf(bytes: &[u8]) -> &[u8] {
    let near = bytes.get(..PDF_BEFORE_BYTES_MAX.min(bytes.len())).unwrap_or_default();
    let at = near.windows(5).position(|window| window == b"%PDF-").unwrap_or_default();
    bytes.get(at..).unwrap_or_default()
}

/// A table has a row that names its columns, and does not end within a row. One without further rows may be meant so.
fn table(content: Content<'_>, separator: char) -> Form {
    let text = decoded::text(content.bytes).unwrap_or_default();
    let whole = content.bytes.len() as u64 == content.size;
    let mut rows = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = rows.next() else {
        return Form::broken("holds nothing but blanks");
    };
    let names = first.split(separator).map(|cell| cell.trim().trim_matches('"'));
    let year = |name: &str| name.parse().is_ok_and(|year| YEARS.contains(&year));
    let mut cells = names.clone().filter(|name| !name.is_empty());
    if names.clone().all(|name| name.is_empty() || name.parse::<f64>().is_ok())
        && !(names.clone().any(year) && cells.all(year))
    {
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
    let text = decoded::text(content.bytes).unwrap_or_default();
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) if text.trim().len() <= 2 => Form::noted("has nothing in it"),
        Ok(_) => Form::default(),
        Err(error) => Form::broken(format!("is no JSON: line {}, column {}", error.line(), error.column())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(path: &str, bytes: &[u8]) -> Form {
        examine(Content { path, size: bytes.len() as u64, bytes, end: bytes })
    }

    #[track_caller]
    fn broken(path: &str, bytes: &[u8], why: &str) {
        assert_eq!(form(path, bytes).broken.as_deref(), Some(why), "{path}");
    }

    #[track_caller]
    fn fine(path: &str, bytes: &[u8]) {
        assert_eq!(form(path, bytes).broken, None, "{path}");
    }

    /// A PNG's beginning and end, of any length.
    fn png(width: u32, height: u32, length: usize) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.resize(bytes.len().max(length), 0);
        bytes.extend(b"IEND");
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
        broken("a.png", &png(800, 600, 100)[..100], "is cut short");
        broken("a.gif", b"GIF89a\x01\0\x01\0\x80\0\0;", "has 1 × 1 pixels");
        fine("a.gif", b"GIF89a\x40\0\x40\0\x80\0\0;");
        broken("a.jpg", b"\xff\xd8\xff\xe0", "is too short to show anything");
        fine("a.svg", b"<?xml version='1.0'?><svg><path/></svg>");
    }

    #[test]
    fn what_holds_no_text_is_not_searched() {
        let binary =
            |path: &str, bytes: &[u8]| is_binary(Content { path, size: bytes.len() as u64, bytes, end: bytes });
        let odd: Vec<u8> = (0..=255).collect();
        for path in
            ["book.epub", "sheet.ods", "a.avif", "a.HEIC", "a.gguf", "a.dat", "a.doc", "libx.so.1", "prog.amd64"]
        {
            assert!(binary(path, &odd), "{path}");
            assert!(!binary(path, b"plain words"), "{path}");
            // One odd byte hides no text.
            assert!(
                !binary(path, b"Revenue: TODO, na\xefve, and so many more words that one byte counts for nothing\x01"),
                "{path}"
            );
        }
        assert!(
            binary("a.pdf", b"%PDF-1.7 words") && binary("a.out", b"\x7fELF words") && binary("prog", b"\x7fELF words")
        );
        for path in ["a.log", "a.md", "a.xml", "a.py", "notes"] {
            assert!(!binary(path, &odd), "{path} must be a text");
        }
        assert!(!binary(
            "a.rtf",
            "\u{feff}TODO".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>().as_slice()
        ));
    }

    #[test]
    fn documents_and_data_are_what_they_say() {
        broken("a.pdf", b"", "is empty");
        broken("a.pdf", b"%PDF-1.4", "is too short to have a page");
        broken("a.pdf", &[b'x'; 900], "does not begin as a `.pdf` file does");
        let mut pdf = b"%PDF-1.7\n".to_vec();
        pdf.resize(900, b' ');
        fine("a.pdf", &pdf);
        fine("a.pdf", &[b"\n\n".to_vec(), pdf].concat());
        fine("a.json", b"\xef\xbb\xbf{\"a\": 1}");
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
        fine("a.csv", b"2019,2020,2021\n1,2,3\n");
        fine("a.tsv", b"id\tname\n1\ta\n");
        assert_eq!(form("a.csv", b"id,name\n").note.as_deref(), Some("has a header and no rows"));
    }
}
