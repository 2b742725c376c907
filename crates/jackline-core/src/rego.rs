//! Rego policies as the core knows them: what one is asked, and what it answered. The engine is the runtime's.

use serde::{Deserialize, Serialize};

use crate::definition::Kind;
use crate::definition::model::REASON_DEFAULT;
use crate::path::Role;
use crate::sha::Digest;

/// Denials told of one policy: an agent mends these first, and more would bury them.
pub const DENIALS_MAX: usize = 20;
/// Bytes of a denial's reason; it is shown to a model, and a policy may print its whole input.
pub const REASON_BYTES_MAX: usize = 1024;
/// Bytes of a denial's code; it stands in records and statistics.
pub const CODE_BYTES_MAX: usize = 64;
/// The code of a denial that names none, or one that is no code.
pub const CODE_DEFAULT: &str = "deny";

/// What a policy is told beside the event: all that the core knows and the event does not say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct About {
    pub kind: Kind,
    pub paths: Vec<PathSeen>,
    /// Calls requested so far.
    pub calls: u64,
    /// Milliseconds since the session's first event.
    pub ms: i64,
    /// Files written so far.
    pub written: u64,
    /// Tools, steps and `@kind`s that succeeded, sorted.
    pub done: Vec<String>,
}

/// A path of the call, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PathSeen {
    /// As the call wrote it.
    pub text: String,
    pub role: Role,
    /// Canonical and absolute; `None` where it cannot be told.
    pub resolved: Option<String>,
    /// The same seen from the workspace root, when it is inside.
    pub inside: Option<String>,
}

/// What a policy answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Digest of the policy's text as it was then.
    pub policy: Digest,
    /// At most [`DENIALS_MAX`], in a stable order; none when it lets the call pass.
    pub denials: Vec<Denial>,
    /// How many more there were.
    pub omitted: u64,
}

/// One reason of a policy to deny.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Denial {
    /// The last part of `rego/<code>`.
    pub code: String,
    pub reason: String,
}

impl Denial {
    /// A denial with its texts checked and cut to their bounds.
    #[must_use]
    pub fn new(code: Option<&str>, reason: Option<&str>) -> Self {
        let code = code.filter(|code| is_code(code)).unwrap_or(CODE_DEFAULT).to_owned();
        let reason = reason.filter(|reason| !reason.trim().is_empty()).unwrap_or(REASON_DEFAULT);
        let head = crate::audit::head(reason, REASON_BYTES_MAX);
        let reason = if head.len() < reason.len() { format!("{head}…") } else { head.to_owned() };
        Self { code, reason }
    }
}

/// Whether a text may be the last part of `rego/<code>`.
#[must_use]
pub fn is_code(code: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !code.is_empty() && code.len() <= CODE_BYTES_MAX && code.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: Option<&str>, want: &str) {
        assert_eq!(Denial::new(code, Some("why")), Denial { code: want.into(), reason: "why".into() });
    }

    #[test]
    fn a_code_is_lowercase_and_short_or_it_is_none() {
        check(Some("no-friday-2"), "no-friday-2");
        check(None, CODE_DEFAULT);
        check(Some(""), CODE_DEFAULT);
        check(Some("No Friday"), CODE_DEFAULT);
        check(Some("../x"), CODE_DEFAULT);
        check(Some(&"x".repeat(CODE_BYTES_MAX + 1)), CODE_DEFAULT);
    }

    #[test]
    fn a_reason_is_there_and_bounded() {
        assert_eq!(Denial::new(None, None).reason, REASON_DEFAULT);
        assert_eq!(Denial::new(None, Some(" ")).reason, REASON_DEFAULT);
        let long = Denial::new(None, Some(&"ж".repeat(REASON_BYTES_MAX))).reason;
        assert!(long.ends_with('…') && long.len() <= REASON_BYTES_MAX + '…'.len_utf8());
    }
}
