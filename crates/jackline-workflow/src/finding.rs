//! What is wrong with a workflow, and where: collected by the rules, then told.

use jackline_core::definition::fault::did_you_mean;
use jackline_core::definition::{Fault, Span};

use crate::load::Workflow;

/// Findings kept of each level: more help nobody, and a generated workflow could cause a hundred thousand.
pub(crate) const FINDINGS_MAX: usize = 10_000;

/// Known names that all misspelled ones of a run are compared with, together. One broken rename may misspell every
/// name; the first few suggestions show it as well as all, and validation stays linear.
const COMPARISONS_MAX: usize = 50_000;
/// Known names that one misspelled name is compared with: in a larger graph a person finds it sooner by its letters.
const COMPARED_MAX: usize = 2_000;

/// How much weight a finding has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The workflow is not valid.
    Error,
    /// It is valid, and perhaps not what was meant.
    Warning,
}

impl Level {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    pub category: &'static str,
    pub level: Level,
    pub message: String,
    pub help: Option<String>,
    /// As seen from the workflow's directory.
    pub file: String,
    /// Where in the file's tree; empty for the whole file, and for what is no YAML.
    pub pointer: String,
    pub span: Span,
}

/// Everything that was found, in the order of files and places.
#[derive(Debug, Default)]
pub struct Report {
    pub findings: Vec<Finding>,
    pub errors: usize,
    pub warnings: usize,
    /// Findings that there was no room for.
    pub omitted: usize,
}

impl Report {
    /// Takes up what was found in a workflow inside this one, in a directory of it.
    pub(crate) fn take_up(&mut self, directory: &str, inner: Self) {
        self.errors += inner.errors;
        self.warnings += inner.warnings;
        self.omitted += inner.omitted;
        for finding in inner.findings {
            if self.findings.len() < FINDINGS_MAX {
                self.findings.push(Finding { file: format!("{directory}/{}", finding.file), ..finding });
            } else {
                self.omitted += 1;
            }
        }
    }

    /// Whether nothing makes it invalid.
    #[must_use]
    pub const fn valid(&self) -> bool {
        self.errors == 0
    }
}

/// Findings as rules put them down.
#[derive(Debug)]
pub(crate) struct Found {
    rule: &'static str,
    category: &'static str,
    items: Vec<Item>,
    errors: usize,
    warnings: usize,
    /// Comparisons that are left for suggestions.
    comparisons: usize,
}

#[derive(Debug)]
struct Item {
    rule: &'static str,
    category: &'static str,
    file: usize,
    fault: Fault,
}

impl Found {
    pub(crate) const fn new() -> Self {
        Self { rule: "", category: "", items: Vec::new(), errors: 0, warnings: 0, comparisons: COMPARISONS_MAX }
    }

    /// The question that goes with a near miss, while comparisons are left. Names that are empty stand for none.
    pub(crate) fn near<'a>(&mut self, name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
        let known: Vec<&str> = known.take(self.comparisons.min(COMPARED_MAX)).collect();
        self.comparisons -= known.len();
        did_you_mean(name, known.into_iter().filter(|known| !known.is_empty()))
    }

    /// Whose turn it is to speak.
    pub(crate) const fn speaks(&mut self, rule: &'static str, category: &'static str) {
        self.rule = rule;
        self.category = category;
    }

    /// Puts down what is wrong in a file, if there is room.
    pub(crate) fn put(&mut self, file: usize, fault: Fault) {
        let count = if fault.warning { &mut self.warnings } else { &mut self.errors };
        *count += 1;
        if *count <= FINDINGS_MAX {
            self.items.push(Item { rule: self.rule, category: self.category, file, fault });
        }
    }

    /// The report, with the places looked up in the workflow's files.
    pub(crate) fn told(mut self, flow: &Workflow) -> Report {
        self.items.sort_by_key(|item| (item.file, item.fault.span.map(|span| (span.start, span.end))));
        let over = |count: usize| count.saturating_sub(FINDINGS_MAX);
        Report {
            errors: self.errors,
            warnings: self.warnings,
            omitted: over(self.errors) + over(self.warnings),
            findings: self.items.into_iter().map(|item| item.told(flow)).collect(),
        }
    }
}

impl Item {
    fn told(self, flow: &Workflow) -> Finding {
        let span = self.fault.span.unwrap_or(Span { line: 1, column: 1, ..Span::default() });
        let file = flow.files.get(self.file);
        Finding {
            rule: self.rule,
            category: self.category,
            level: if self.fault.warning { Level::Warning } else { Level::Error },
            message: self.fault.message,
            help: self.fault.help,
            file: file.map(|file| file.path.clone()).unwrap_or_default(),
            pointer: file.map(|file| file.pointer(span)).unwrap_or_default(),
            span,
        }
    }
}
