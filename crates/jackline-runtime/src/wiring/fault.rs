//! Why a settings text is left alone.

use jackline_core::json::JsonFault;
use thiserror::Error;

/// Why a settings text cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsFault {
    #[error("it has {bytes} bytes, more than the {most} that are read")]
    TooLarge { bytes: usize, most: usize },
    #[error("it has comments, and only plain JSON is changed (line {line}, column {column})")]
    Comment { line: usize, column: usize },
    #[error("it is not valid JSON: {0}")]
    NotJson(#[from] JsonFault),
    #[error("it begins with a byte order mark, which the host does not take")]
    ByteOrderMark,
    #[error("it is not a JSON object")]
    NotObject,
    #[error("the host refuses `{0}` as it is, and passes over the whole file")]
    Refused(String),
    #[error("it is not valid TOML (line {line}): {what}")]
    NotToml { line: usize, what: String },
    #[error("it names `hooks.state` in a way to which no table can be added")]
    TrustOtherwise,
    #[error("it holds something else than our plugin")]
    NotOurs,
    #[error("`{0}` is not ours: another server has this name")]
    NameTaken(String),
    #[error("`{place}` is not {wanted}")]
    WrongType { place: String, wanted: &'static str },
}

impl SettingsFault {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "this is hardly a settings file; move it away",
            Self::Comment { .. } => "take the comments out; nothing was changed",
            Self::NotJson(_) | Self::NotToml { .. } => "mend it in an editor; nothing was changed",
            Self::ByteOrderMark => "save it as UTF-8 without that mark; nothing was changed",
            Self::NotObject => "it should begin with `{` and end with `}`; nothing was changed",
            Self::TrustOtherwise => "write one table for each hook, `[hooks.state.\"..\"]`; nothing was changed",
            Self::NotOurs => "move it away; the file of this name is for our plugin alone",
            Self::NameTaken(_) => "give that server another name, then run this again; nothing was changed",
            Self::Refused(_) | Self::WrongType { .. } => {
                "the host refuses such a file; mend it in an editor; nothing was changed"
            }
        }
    }
}
