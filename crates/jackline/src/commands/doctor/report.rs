//! What was seen, in groups, each with its level and its remedy.

use std::fmt::Write as _;

use serde_json::json;

use super::Format;
use crate::error::CommandError;
use crate::paint::Paint;
use crate::screen;

/// How good or bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Ok,
    /// What an owner should know; nothing to mend.
    Note,
    Warn,
    /// Something would pass unjudged, or is broken.
    Fail,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) group: &'static str,
    pub(super) level: Level,
    pub(super) text: String,
    pub(super) remedy: Option<String>,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) remarks: Vec<Remark>,
}

impl Report {
    pub(super) fn ok(&mut self, group: &'static str, text: impl Into<String>) {
        self.remarks.push(Remark { group, level: Level::Ok, text: text.into(), remedy: None });
    }

    pub(super) fn note(&mut self, group: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(group, Level::Note, text, remedy);
    }

    pub(super) fn warn(&mut self, group: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(group, Level::Warn, text, remedy);
    }

    pub(super) fn fail(&mut self, group: &'static str, text: impl Into<String>, remedy: impl Into<String>) {
        self.add(group, Level::Fail, text, remedy);
    }

    /// Something that could not be looked at.
    pub(super) fn error(&mut self, group: &'static str, error: CommandError) {
        let (text, hints) = error.into_parts();
        let remedy = Some(hints.join("; ")).filter(|hints| !hints.is_empty());
        self.remarks.push(Remark { group, level: Level::Fail, text, remedy });
    }

    fn add(&mut self, group: &'static str, level: Level, text: impl Into<String>, remedy: impl Into<String>) {
        self.remarks.push(Remark { group, level, text: text.into(), remedy: Some(remedy.into()) });
    }

    fn count(&self, level: Level) -> usize {
        self.remarks.iter().filter(|remark| remark.level == level).count()
    }

    /// Prints it; not fine if anything fails.
    pub(super) fn print(&self, format: Format) -> Result<(), CommandError> {
        match format {
            Format::Human => screen::show(&self.for_people(Paint::for_stdout()))?,
            Format::Json => screen::line(&self.as_json().to_string())?,
        }
        if self.count(Level::Fail) == 0 { Ok(()) } else { Err(CommandError::not_fine()) }
    }

    fn for_people(&self, paint: Paint) -> String {
        let mut shown = String::new();
        let mut group = "";
        for remark in &self.remarks {
            if remark.group != group {
                group = remark.group;
                let _ = writeln!(shown, "{}", paint.bold(group));
            }
            let level = paint.level(remark.level, &format!("{:<4}", remark.level.name()));
            let _ = writeln!(shown, "  {level}  {}", remark.text);
            if let Some(remedy) = &remark.remedy {
                let _ = writeln!(shown, "        {}", paint.dim(&format!("help: {remedy}")));
            }
        }
        let _ = writeln!(shown, "{}", self.sum());
        shown
    }

    fn sum(&self) -> String {
        let told = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        match (self.count(Level::Fail), self.count(Level::Warn)) {
            (0, 0) => "all is fine".to_owned(),
            (0, warnings) => format!("fine, with {}", told(warnings, "warning")),
            (failures, warnings) => {
                format!("not fine: {}, {}", told(failures, "failure"), told(warnings, "warning"))
            }
        }
    }

    fn as_json(&self) -> serde_json::Value {
        let findings: Vec<_> = self
            .remarks
            .iter()
            .map(|remark| {
                let Remark { group, level, text, remedy } = remark;
                json!({ "group": group, "level": level.name(), "text": text, "remedy": remedy })
            })
            .collect();
        json!({ "fine": self.count(Level::Fail) == 0, "findings": findings })
    }
}

impl Paint {
    fn level(self, level: Level, text: &str) -> String {
        match level {
            Level::Ok => self.wrap("32", text),
            Level::Note => self.dim(text),
            Level::Warn => self.wrap("33", text),
            Level::Fail => self.wrap("1;31", text),
        }
    }
}
