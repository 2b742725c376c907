//! The honest exit: an agent that cannot go on says so, and why. It may always stop then.

use crate::audit;

/// Bytes of a reason that are kept: a few sentences for the owner.
pub const PARK_REASON_BYTES_MAX: usize = 1024;

/// How the reason is marked in an agent's last message.
const BEGIN: &str = "<park>";
const END: &str = "</park>";

/// Why an agent parks, as its last message says: the last such mark counts. One without a reason is none.
#[must_use]
pub fn reason(message: &str) -> Option<String> {
    let (before, _) = message.rsplit_once(END)?;
    let (_, reason) = before.rsplit_once(BEGIN)?;
    bounded(reason)
}

/// A reason as it is kept; `None` when there is none.
#[must_use]
pub fn bounded(reason: &str) -> Option<String> {
    let reason = audit::head(reason.trim(), PARK_REASON_BYTES_MAX);
    (!reason.is_empty()).then(|| reason.to_owned())
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
