//! How the path in a tool's argument may be read. A shell walks a path as the kernel does; programs that open files
//! themselves do not agree on `..` behind a link, on a leading `~`, on addresses and on escapes.

use crate::path;

/// The one host that is known to take `@` off the front of a path and to resolve escapes in it.
const UNESCAPING: &str = "gemini";

/// A path as written in an argument, and in how many ways it may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spelling {
    /// What it most likely means.
    pub path: String,
    /// What else it may mean; empty for nearly every path.
    pub readings: Vec<String>,
}

/// The readings of a path seen from `dir`. `host` is the one whose own tool it is; without one, an address is an
/// address.
pub(crate) fn read(host: Option<&str>, dir: &str, text: &str) -> Spelling {
    let path = file_of_uri(text);
    let mut meant = vec![path.clone()];
    if host.is_some_and(|host| host != "vscode") {
        add(&mut meant, text.to_owned());
    }
    if host == Some(UNESCAPING) {
        unescape(&mut meant);
    }
    for text in meant.clone() {
        climb(&mut meant, dir, &text);
    }
    meant.remove(0);
    Spelling { path, readings: meant }
}

fn unescape(meant: &mut Vec<String>) {
    for text in meant.clone() {
        let mut spelled = bare(&text);
        spelled.iter().for_each(|bare| add(meant, bare.clone()));
        spelled.insert(0, text);
        for text in spelled {
            let plain = unescaped(&text).unwrap_or(text);
            bare(&plain).into_iter().for_each(|bare| add(meant, bare));
            add(meant, plain);
        }
    }
}

/// A path without the `@` at its front: as it stands there, and without the slashes behind it, which go with it.
fn bare(text: &str) -> Vec<String> {
    let Some(rest) = text.strip_prefix('@') else { return Vec::new() };
    vec![rest.to_owned(), rest.trim_start_matches(['/', '\\']).to_owned()]
}

/// `~` may be a name like any other, and `..` may take back what stands before it.
fn climb(meant: &mut Vec<String>, dir: &str, text: &str) {
    let literal = if text.starts_with('~') { format!("./{text}") } else { text.to_owned() };
    if literal.split('/').any(|part| part == "..") {
        let from_top = literal.starts_with('/') || dir.starts_with('/');
        let folded = if from_top { path::join(dir, &literal) } else { path::fold(&literal) };
        add(meant, if folded.is_empty() { ".".to_owned() } else { folded });
    }
    add(meant, literal);
}

fn add(meant: &mut Vec<String>, text: String) {
    if !meant.contains(&text) {
        meant.push(text);
    }
}

/// The file that a `file:` address names, its host left off and its escapes resolved; any other text as it is.
fn file_of_uri(text: &str) -> String {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let Some(rest) = scheme.and_then(|_| text.get(5..)) else { return text.to_owned() };
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest),
        None => rest,
    };
    unescaped(path).unwrap_or_else(|| path.to_owned())
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_paths() {
        let check = |uri: &str, want: &str| assert_eq!(file_of_uri(uri), want, "{uri}");
        check("file:///ws/a", "/ws/a");
        check("file://localhost/ws/a", "/ws/a");
        check("FILE:/ws/%2e%2e/a%20b", "/ws/../a b");
        check("file:///ws/%zz", "/ws/%zz");
        check("a:b", "a:b");
    }

    #[track_caller]
    fn check(host: Option<&str>, text: &str, path: &str, readings: &[&str]) {
        let read = read(host, "/ws/sub", text);
        assert_eq!(
            (read.path.as_str(), read.readings),
            (path, readings.iter().map(|r| (*r).to_owned()).collect()),
            "{text}"
        );
    }

    #[test]
    fn a_plain_path_has_one_reading() {
        for text in ["a", "./a/b", "/ws/a", "a~", "100%", "@a", ""] {
            check(Some("codex"), text, text, &[]);
        }
        check(Some("gemini"), "a@b", "a@b", &[]);
        check(Some("gemini"), "100%", "100%", &[]);
        check(None, "file:///ws/a", "/ws/a", &[]);
    }

    #[test]
    fn what_hosts_disagree_on_has_several() {
        check(Some("codex"), "ln/../a", "ln/../a", &["/ws/sub/a"]);
        check(None, "../a", "../a", &["/ws/a"]);
        check(Some("codex"), "/x/ln/../a", "/x/ln/../a", &["/x/a"]);
        check(Some("codex"), "~/../a", "~/../a", &["/ws/sub/a", "./~/../a"]);
        check(Some("copilot"), "~/a", "~/a", &["./~/a"]);
        check(Some("gemini"), "@a", "@a", &["a"]);
        check(Some("gemini"), "@/a", "@/a", &["/a", "a"]);
        check(Some("gemini"), "@\\/a", "@\\/a", &["\\/a", "a"]);
        check(Some("gemini"), "a%2Eb", "a%2Eb", &["a.b"]);
        check(Some("gemini"), "%40a", "%40a", &["a", "@a"]);
        check(Some("codex"), "file:///ws/a", "/ws/a", &["file:///ws/a"]);
        check(Some("vscode"), "file:///ws/a", "/ws/a", &[]);
    }

    #[test]
    fn a_relative_directory_is_left_to_the_walk() {
        assert_eq!(read(None, "sub", "ln/../a").readings, ["a"]);
        assert_eq!(read(None, "", "x/..").readings, ["."]);
    }
}
