//! What a message says of itself, seen in its raw text: for faults that come before or instead of reading it.
//!
//! Only members of the outermost object count: those are the host's own, and what is deeper an agent may have chosen.

/// Bytes of a value that are looked at; events' names have a few dozen.
const VALUE_BYTES_MAX: usize = 64;
/// Members that are told; hosts' messages have a dozen of any name.
const MEMBERS_MAX: usize = 64;

/// The texts in members of these names, each with its name, as often as they stand there.
pub(super) fn texts<'n>(native: &[u8], names: &[&'n str]) -> Vec<(&'n str, Option<String>)> {
    let known = |name: &[u8]| names.iter().find(|known| known.as_bytes() == name).copied();
    let all = Members::of(native).filter_map(|(name, value)| Some((known(name)?, plain(value))));
    all.take(MEMBERS_MAX).collect()
}

/// Whether this member is `true`, or a number above zero.
pub(super) fn is_held(native: &[u8], member: &str) -> bool {
    let value = Members::of(native).find(|(name, _)| *name == member.as_bytes()).map(|(_, value)| value);
    value.is_some_and(|value| {
        value.starts_with(b"true") || value.first().is_some_and(|first| (b'1'..=b'9').contains(first))
    })
}

/// A value that is a text without escapes, and ends where it is looked at.
fn plain(value: &[u8]) -> Option<String> {
    let text =
        value.strip_prefix(b"\"")?.split(|byte| *byte == b'"').next().filter(|text| text.len() + 1 < value.len())?;
    std::str::from_utf8(text).ok().filter(|text| !text.contains('\\')).map(str::to_owned)
}

/// The members of the outermost object, each with the beginning of its value.
struct Members<'a> {
    native: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Members<'a> {
    const fn of(native: &'a [u8]) -> Self {
        Self { native, at: 0, depth: 0 }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let byte = self.native.get(self.at)?;
            self.at += 1;
            match byte {
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b'"' => {
                    let (begin, end) = (self.at, text_end(self.native, self.at)?);
                    self.at = end + 1;
                    if self.depth == 1
                        && let Some(name) = self.native.get(begin..end)
                        && let Some(value) = self.native.get(self.at..).and_then(after_colon)
                    {
                        return Some((name, value));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Where a text ends that begins here: at the next quote that is not escaped.
fn text_end(native: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin;
    loop {
        match native.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// What stands behind a colon; a text that is no member's name has none behind it.
fn after_colon(rest: &[u8]) -> Option<&[u8]> {
    let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    Some(value.get(..VALUE_BYTES_MAX).unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(native: &[u8], member: &str) -> Option<String> {
        texts(native, &[member]).into_iter().next()?.1
    }

    #[test]
    fn only_the_hosts_own_members_are_seen() {
        let native =
            br#"{"a":{"name":"inner","flag":true},"b":["name"],"c":"\"name\":\"text\"","name" : "outer","flag":false}"#;
        assert_eq!(text(native, "name").as_deref(), Some("outer"));
        assert!(!is_held(native, "flag") && is_held(br#"{"flag": true}"#, "flag"));
        assert!(is_held(br#"{"n":12}"#, "n") && !is_held(br#"{"n":0}"#, "n"));
    }

    #[test]
    fn what_stands_there_twice_is_seen_twice() {
        let native = br#"{"name":"a","x":{"name":"b"},"name":7,"y":"c""#;
        let seen = texts(native, &["name", "y"]);
        assert_eq!(seen, [("name", Some("a".to_owned())), ("name", None), ("y", Some("c".to_owned()))]);
    }

    #[test]
    fn a_text_that_is_no_json_says_what_it_says() {
        assert_eq!(text(br#"{"x":"\ud800","name":"seen","#, "name").as_deref(), Some("seen"));
        assert_eq!(text(br#"{"x":"never closed, "name":"no"#, "name"), None);
        assert_eq!(text(b"", "name"), None);
        assert_eq!(text(br#"{"name":"a\/b"}"#, "name"), None);
        assert_eq!(text("{\"name\":\"é\"}".as_bytes(), "name").as_deref(), Some("é"));
    }
}
