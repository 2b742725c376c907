//! What a message says of itself, seen in its raw text: for faults that come before or instead of reading it.
//!
//! Only members of the outermost object count: those are the host's own, and what is deeper an agent may have chosen.

/// Bytes of a value that are looked at; events' names have a few dozen.
const VALUE_BYTES_MAX: usize = 64;

/// The text in this member.
pub(super) fn text(native: &[u8], member: &str) -> Option<String> {
    let value = value(native, member)?;
    value.strip_prefix('"')?.split_once('"').map(|(text, _)| text.to_owned())
}

/// Whether this member is `true`, or a number above zero.
pub(super) fn is_held(native: &[u8], member: &str) -> bool {
    value(native, member)
        .is_some_and(|value| value.starts_with("true") || value.starts_with(|c: char| ('1'..='9').contains(&c)))
}

/// The beginning of a member's value.
fn value(native: &[u8], member: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = native.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = text_end(native, at + 1)?;
                if depth == 1
                    && native.get(at + 1..end) == Some(member.as_bytes())
                    && let Some(value) = after_colon(native.get(end + 1..)?)
                {
                    return Some(value);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
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
fn after_colon(rest: &[u8]) -> Option<String> {
    let value = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    Some(value.iter().take(VALUE_BYTES_MAX).map(|byte| char::from(*byte)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hosts_own_members_are_seen() {
        let native =
            br#"{"a":{"name":"inner","flag":true},"b":["name"],"c":"\"name\":\"text\"","name" : "outer","flag":false}"#;
        assert_eq!(text(native, "name").as_deref(), Some("outer"));
        assert!(!is_held(native, "flag") && is_held(br#"{"flag": true}"#, "flag"));
        assert!(is_held(br#"{"n":12}"#, "n") && !is_held(br#"{"n":0}"#, "n"));
    }

    #[test]
    fn a_text_that_is_no_json_says_what_it_says() {
        assert_eq!(text(br#"{"x":"\ud800","name":"seen","#, "name").as_deref(), Some("seen"));
        assert_eq!(text(br#"{"x":"never closed, "name":"no"#, "name"), None);
        assert_eq!(text(b"", "name"), None);
    }
}
