//! Checks: conditions that a machine decides. Read from JSON within bounds, frozen, hashed; and what came of one.
//!
//! What a check asks of the world, and what an answer means for it, is `decide`'s; here is only what it says.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::sha::Digest;

/// Bytes of one check as JSON: a command or an address fits, a file does not.
pub const CHECK_BYTES_MAX: usize = 1_000;
/// Bytes of what came of a check; it stands in the state of the session.
pub const MESSAGE_BYTES_MAX: usize = 200;

/// One machine-decidable condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Check {
    CommandExitZero(Vec<String>),
    FileExists(String),
    FileContains {
        path: String,
        text: String,
    },
    FileAbsent(String),
    GitCommitExists {
        sha: String,
    },
    GitClean {},
    GitBranchPushed {
        /// The present one when absent.
        #[serde(default)]
        branch: Option<String>,
        #[serde(default = "origin")]
        remote: String,
    },
    PrExists {
        repo: String,
        number: u64,
    },
    PrMerged {
        repo: String,
        number: u64,
    },
    HttpStatus {
        url: String,
        #[serde(default = "fine")]
        status: u16,
    },
    CallSucceeded {
        tool: String,
    },
}

/// When a check that passed is evaluated again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// At every stop: it is a look at files, and costs next to nothing.
    Always,
    /// When files may have changed: it takes its time.
    Changed,
    /// Not at all: it does not hang on files.
    Never,
}

fn origin() -> String {
    "origin".to_owned()
}

const fn fine() -> u16 {
    200
}

/// Every type of check with the form of its parameters.
pub const TYPES: &[(&str, &str)] = &[
    ("command_exit_zero", "a program and its arguments: [\"cargo\", \"test\"]"),
    ("file_exists", "a path"),
    ("file_contains", "{path, text}"),
    ("file_absent", "a path"),
    ("git_commit_exists", "{sha}, 4 to 64 hexadecimal digits"),
    ("git_clean", "{}"),
    ("git_branch_pushed", "{branch, remote}, plain names, both optional"),
    ("pr_exists", "{repo: \"owner/name\", number}"),
    ("pr_merged", "{repo: \"owner/name\", number}"),
    ("http_status", "{url, status}, an http or https address"),
    ("call_succeeded", "{tool}"),
];

impl Check {
    /// Reads one from its JSON form.
    ///
    /// # Errors
    /// What is wrong with it, for the one who wrote it.
    pub fn read(value: &Value) -> Result<Self, String> {
        let fields = value.as_object().filter(|fields| fields.len() == 1);
        let Some((name, _)) = fields.and_then(|fields| fields.iter().next()) else {
            return Err("a check is one type with its parameters, such as {\"file_exists\": \"report.md\"}".to_owned());
        };
        let Some((name, form)) = TYPES.iter().find(|(known, _)| known == name) else {
            let shown: String = name.chars().take(64).collect();
            return Err(format!("there is no check type `{shown}`; types are {}", names().join(", ")));
        };
        let check: Option<Self> = serde_json::from_value(value.clone()).ok().filter(Self::makes_sense);
        let check = check.ok_or_else(|| format!("`{name}` takes {form}"))?;
        match check.bytes() > CHECK_BYTES_MAX {
            true => Err(format!("`{name}` is longer than {CHECK_BYTES_MAX} bytes")),
            false => Ok(check),
        }
    }

    /// The file that it looks at.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::FileExists(path) | Self::FileAbsent(path) | Self::FileContains { path, .. } => Some(path),
            _ => None,
        }
    }

    /// The check in its JSON form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // Texts, numbers and lists: there is nothing in it that JSON cannot say.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Bytes of its JSON form.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.to_value().to_string().len()
    }

    /// The name of its type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::CommandExitZero(_) => "command_exit_zero",
            Self::FileExists(_) => "file_exists",
            Self::FileContains { .. } => "file_contains",
            Self::FileAbsent(_) => "file_absent",
            Self::GitCommitExists { .. } => "git_commit_exists",
            Self::GitClean {} => "git_clean",
            Self::GitBranchPushed { .. } => "git_branch_pushed",
            Self::PrExists { .. } => "pr_exists",
            Self::PrMerged { .. } => "pr_merged",
            Self::HttpStatus { .. } => "http_status",
            Self::CallSucceeded { .. } => "call_succeeded",
        }
    }

    /// What it is about, for people.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::CommandExitZero(words) => words.join(" "),
            Self::FileExists(path) | Self::FileAbsent(path) | Self::FileContains { path, .. } => path.clone(),
            Self::GitCommitExists { sha } => sha.clone(),
            Self::GitClean {} => "the work tree".to_owned(),
            Self::GitBranchPushed { branch, remote } => {
                format!("{} on {remote}", branch.as_deref().unwrap_or("the present branch"))
            }
            Self::PrExists { repo, number } | Self::PrMerged { repo, number } => format!("{repo}#{number}"),
            Self::HttpStatus { url, status } => format!("{url} answers {status}"),
            Self::CallSucceeded { tool } => tool.clone(),
        }
    }

    /// Whether it runs a program or asks an address of its author's choice: an agent needs leave for that.
    #[must_use]
    pub const fn acts(&self) -> bool {
        matches!(self, Self::CommandExitZero(_) | Self::HttpStatus { .. })
    }

    /// When it is evaluated again after it passed.
    #[must_use]
    pub const fn again(&self) -> Again {
        match self {
            Self::CommandExitZero(_) => Again::Changed,
            Self::FileExists(_) | Self::FileContains { .. } | Self::FileAbsent(_) | Self::GitClean {} => Again::Always,
            Self::GitCommitExists { .. }
            | Self::GitBranchPushed { .. }
            | Self::PrExists { .. }
            | Self::PrMerged { .. }
            | Self::HttpStatus { .. }
            | Self::CallSucceeded { .. } => Again::Never,
        }
    }

    /// The command that it runs, if it runs one.
    #[must_use]
    pub fn command(&self) -> Option<&[String]> {
        match self {
            Self::CommandExitZero(words) => Some(words),
            _ => None,
        }
    }

    /// The tool or step whose call it asks for, if it asks for one.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::CallSucceeded { tool } => Some(tool),
            _ => None,
        }
    }

    fn makes_sense(&self) -> bool {
        match self {
            Self::CommandExitZero(words) => {
                words.first().is_some_and(|program| !program.is_empty())
                    && words.iter().all(|word| !word.contains('\0'))
            }
            Self::FileExists(path) | Self::FileAbsent(path) => is_path(path),
            Self::FileContains { path, text } => is_path(path) && !text.is_empty(),
            Self::GitCommitExists { sha } => is_sha(sha),
            Self::GitClean {} => true,
            Self::GitBranchPushed { branch, remote } => branch.as_deref().is_none_or(is_ref) && is_ref(remote),
            Self::PrExists { repo, number } | Self::PrMerged { repo, number } => is_repository(repo) && *number > 0,
            Self::HttpStatus { url, status } => is_address(url) && (100..=599).contains(status),
            Self::CallSucceeded { tool } => !tool.is_empty(),
        }
    }
}

fn names() -> Vec<&'static str> {
    TYPES.iter().map(|(name, _)| *name).collect()
}

fn is_path(path: &str) -> bool {
    !path.is_empty() && !path.contains('\0')
}

/// Whether a text can only be a commit's hash: it is handed to git as a word.
pub(crate) fn is_sha(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text can only be the name of a branch or remote: it is handed to git as a part of a word.
fn is_ref(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    !text.is_empty() && text.bytes().all(plain) && !text.starts_with(['-', '/', '.']) && !text.contains("..")
}

fn is_repository(text: &str) -> bool {
    let plain = |part: &str| {
        let fits = part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        fits && !part.is_empty() && !part.starts_with('.')
    };
    text.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name))
}

fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let graphic = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && graphic(rest))
}

/// What checks hash to.
#[must_use]
pub fn digest(checks: &[Check]) -> Digest {
    let all: Value = checks.iter().map(Check::to_value).collect();
    Digest::of(&crate::json::canonical(&all))
}

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub passed: bool,
    /// `[PASS] …` or `[FAIL] …`, with why.
    pub message: String,
}

impl Outcome {
    /// The check passed.
    #[must_use]
    pub fn pass(check: &Check, seen: &str) -> Self {
        Self::told(true, check, seen)
    }

    /// The check failed, or what it needs could not be told.
    #[must_use]
    pub fn fail(check: &Check, why: &str) -> Self {
        Self::told(false, check, why)
    }

    fn told(passed: bool, check: &Check, seen: &str) -> Self {
        let mark = if passed { "[PASS]" } else { "[FAIL]" };
        let text = format!("{mark} {} {}: {seen}", check.name(), check.subject());
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let head = crate::audit::head(&text, MESSAGE_BYTES_MAX);
        let cut = if head.len() < text.len() { "…" } else { "" };
        Self { passed, message: format!("{head}{cut}") }
    }
}

/// Proof that there were checks, that each was evaluated, and that all passed.
#[derive(Debug)]
pub struct Proof(());

impl Proof {
    /// `None` when anything is missing; no checks prove nothing.
    #[must_use]
    pub fn of(checks: &[Check], results: &[Outcome]) -> Option<Self> {
        let all = !checks.is_empty() && checks.len() == results.len() && results.iter().all(|result| result.passed);
        all.then_some(Self(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_type_reads_back_as_it_is_written() {
        let all = [
            json!({"command_exit_zero": ["cargo", "test"]}),
            json!({"file_exists": "a"}),
            json!({"file_contains": {"path": "a", "text": "b"}}),
            json!({"file_absent": "a"}),
            json!({"git_commit_exists": {"sha": "4b825dc"}}),
            json!({"git_clean": {}}),
            json!({"git_branch_pushed": {"branch": "main", "remote": "origin"}}),
            json!({"pr_exists": {"repo": "acme/app", "number": 1}}),
            json!({"pr_merged": {"repo": "acme/app", "number": 1}}),
            json!({"http_status": {"url": "https://x.example/y", "status": 204}}),
            json!({"call_succeeded": {"tool": "deploy"}}),
        ];
        assert_eq!(all.len(), TYPES.len());
        for (value, (name, _)) in all.iter().zip(TYPES) {
            let check = Check::read(value).expect("fine");
            assert_eq!((&check.to_value(), check.name()), (value, *name));
        }
    }

    #[track_caller]
    fn check(value: Value, want: &str) {
        let why = Check::read(&value).expect_err("must be refused");
        assert!(why.contains(want), "{why}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_form() {
        check(json!({"pr_closed": {}}), "there is no check type `pr_closed`; types are command_exit_zero");
        check(json!("git_clean"), "a check is one type");
        check(json!({"git_clean": {}, "file_exists": "a"}), "a check is one type");
        check(json!({"file_contains": {"path": "a"}}), "`file_contains` takes {path, text}");
        check(json!({"file_exists": "a", "x": 1}), "a check is one type");
        check(json!({"file_contains": {"path": "a", "text": "b", "x": 1}}), "takes {path, text}");
        check(json!({"command_exit_zero": []}), "`command_exit_zero` takes");
        check(json!({"command_exit_zero": "cargo test"}), "`command_exit_zero` takes");
        check(json!({"git_commit_exists": {"sha": "--all"}}), "hexadecimal");
        check(json!({"git_branch_pushed": {"branch": "--upload-pack=x"}}), "plain names");
        check(json!({"pr_merged": {"repo": "../x", "number": 1}}), "owner/name");
        check(json!({"http_status": {"url": "file:///etc/passwd"}}), "http or https");
        check(json!({"http_status": {"url": "http://x/\r\nHost: y"}}), "http or https");
        check(json!({"file_exists": "a".repeat(2_000)}), "longer than");
    }

    #[test]
    fn no_checks_prove_nothing() {
        let one = [Check::GitClean {}];
        assert!(Proof::of(&[], &[]).is_none());
        assert!(Proof::of(&one, &[]).is_none());
        assert!(Proof::of(&one, &[Outcome::fail(&one[0], "no")]).is_none());
        assert!(Proof::of(&one, &[Outcome::pass(&one[0], "yes")]).is_some());
    }
}
