//! The honest exit: an agent that cannot go on says so, and why. It may always stop then.

use crate::hosts::tells_last_words;
use crate::{audit, legible};

/// Bytes of a reason that are kept: a few sentences for the owner.
pub const PARK_REASON_BYTES_MAX: usize = 1024;

/// How the reason is marked in an agent's last message.
const BEGIN: &str = "<park>";
const END: &str = "</park>";

/// What stands for a reason where the way out is described: said by itself it is none.
const PLACEHOLDER: &str = "why";

/// How an agent parks, as it is told after what holds it. Where its last words are not told, a tool of our own is left.
#[must_use]
pub(crate) fn exit(host: Option<&str>) -> &'static str {
    match tells_last_words(host) {
        true => "if you cannot: end your turn with `<park>why</park>` in your last message, which tells the owner",
        false => {
            "if you cannot: call the tool `park` of the MCP server `jackline` with the reason, which tells the owner"
        }
    }
}

/// The same in few words, for a list of what is asked.
pub(crate) fn exit_in_short(host: Option<&str>) -> &'static str {
    match tells_last_words(host) {
        true => "write `<park>why</park>` in your last message",
        false => "call the tool `park` of the MCP server `jackline`",
    }
}

/// Why an agent parks, as its last message says: the last such mark with a reason counts.
#[must_use]
pub fn reason(message: &str) -> Option<String> {
    let mut rest = message;
    while let Some((before, after)) = rest.rsplit_once(BEGIN) {
        if let Some(reason) = after.split_once(END).and_then(|(reason, _)| bounded(reason)) {
            return Some(reason);
        }
        rest = before;
    }
    None
}

/// A reason as it is kept; `None` when there is none.
#[must_use]
pub fn bounded(reason: &str) -> Option<String> {
    let reason = legible::plain(reason);
    let reason = audit::head(reason.trim(), PARK_REASON_BYTES_MAX);
    let said = !reason.chars().all(legible::is_blank) && !reason.eq_ignore_ascii_case(PLACEHOLDER);
    said.then(|| reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_with_a_reason_counts() {
        for (message, want) in [
            ("I lack a key. <park>needs the deploy key</park>", Some("needs the deploy key")),
            ("<park>\n no network\n</park> Sorry.", Some("no network")),
            ("<park>first</park> then <park>second</park>", Some("second")),
            ("<park>first</park> then <park></park>", Some("first")),
            ("<park><park>nested</park></park>", Some("nested")),
            ("<park>no \u{1b}[31mnetwork\u{7}</park>", Some("no network")),
            ("I will not write `<park>why</park>`; everything is done.", None),
            ("<park>\u{200b}\u{2800}</park>", None),
            ("<park></park>", None),
            ("<park>never closed", None),
            ("closed only</park>", None),
            ("I am done.", None),
        ] {
            assert_eq!(reason(message).as_deref(), want, "{message}");
        }
        let long = format!("<park>{}</park>", "ü".repeat(2000));
        assert!(reason(&long).is_some_and(|reason| reason.len() <= PARK_REASON_BYTES_MAX));
    }
}
