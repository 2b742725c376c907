//! A report for people, for programs (JSON) and for code hosts (SARIF 2.1.0).

use std::collections::BTreeMap;

use jackline_core::definition::Fault;
use jackline_core::definition::fault::{count_line, draw};
use serde_json::{Value, json};

use crate::effect;
use crate::finding::{Finding, Level, Report};
use crate::load::Workflow;
use crate::rules::{RULES, Rule};

/// A workflow that was validated, under the path that was given.
#[derive(Debug)]
pub struct Validated {
    pub path: String,
    pub flow: Workflow,
    pub report: Report,
}

impl Validated {
    /// A file of it, as seen from where its path was given.
    fn shown(&self, file: &str) -> String {
        let root = self.flow.root.to_string_lossy();
        let root = root.trim_end_matches('/');
        if root.is_empty() || root == "." {
            file.to_owned()
        } else {
            format!("{}/{file}", root.trim_start_matches("./"))
        }
    }

    /// All findings with the lines they speak of, and how many there are.
    #[must_use]
    pub fn human(&self) -> String {
        self.told(self.notes().map(|note| note.text))
    }

    /// What whoever runs a valid workflow is told before: warnings, and settings without an effect. What a run refuses is told
    /// with the refusal. Empty when there is nothing.
    #[must_use]
    pub fn before_run(&self) -> String {
        let notes = self.notes().filter(|note| !note.refused).map(|note| note.text);
        match self.report.warnings {
            0 => notes.map(|note| format!("{note}\n")).collect(),
            _ => self.told(notes),
        }
    }

    fn told(&self, notes: impl Iterator<Item = String>) -> String {
        let mut text = String::new();
        let mut sources = BTreeMap::new();
        texts(&self.flow, "", &mut sources);
        for finding in &self.report.findings {
            let fault = Fault {
                message: finding.message.clone(),
                help: finding.help.clone(),
                span: Some(finding.span),
                warning: finding.level == Level::Warning,
            };
            let label = format!("{}[{}]", finding.level.name(), finding.rule);
            let source = sources.get(&finding.file).copied().unwrap_or_default();
            draw(&mut text, &label, &fault, (source, &self.shown(&finding.file)));
            text.push('\n');
        }
        if self.report.omitted > 0 {
            text.push_str(&format!("{} more are not shown\n\n", self.report.omitted));
        }
        notes.for_each(|note| text.push_str(&format!("{note}\n")));
        let count = count_line(self.report.errors, self.report.warnings);
        let name = self.path.trim_end_matches('/');
        match (self.report.valid(), self.report.warnings) {
            (true, 0) => text.push_str(&format!("{name}: valid\n")),
            (true, _) => text.push_str(&format!("{name}: valid, {count}\n")),
            (false, _) => text.push_str(&format!("{name}: not valid, {count}\n")),
        }
        text
    }
}

/// A setting that a run reads past, or refuses.
struct Note {
    /// In one line.
    text: String,
    refused: bool,
}

impl Validated {
    /// Settings that a run would read past or refuse.
    fn notes(&self) -> impl Iterator<Item = Note> {
        let idle = effect::idle(&self.flow).into_iter();
        let idle = idle.map(|idle| Note { text: idle.told(&self.shown(idle.file)), refused: idle.setting.protects });
        let file = self.shown(crate::MANIFEST_FILE);
        let unusable = crate::run::unusable_tiers(&self.flow).into_iter();
        let refuses = move |why| format!("note: {file}: `jackline workflow run` refuses it: {why}");
        idle.chain(unusable.map(move |why| Note { text: refuses(why), refused: true }))
    }
}

/// The texts of a workflow's files and of those inside it, by path. Recursion is bounded by how deep they were read.
fn texts<'a>(flow: &'a Workflow, directory: &str, sources: &mut BTreeMap<String, &'a str>) {
    sources.extend(flow.files.iter().map(|file| (format!("{directory}{}", file.path), file.text.as_str())));
    for (inner, flow) in flow.inner.workflows() {
        texts(flow, &format!("{directory}{inner}/"), sources);
    }
}

/// Every finding of every workflow, as one object.
#[must_use]
pub fn as_json(all: &[Validated]) -> Value {
    let findings: Vec<Value> = each(all).map(|(one, finding)| finding_json(one, finding)).collect();
    json!({
        "valid": all.iter().all(|one| one.report.valid()),
        "findings": findings,
        "omitted": omitted(all),
        "without_effect": all.iter().flat_map(idle_json).collect::<Vec<_>>(),
    })
}

/// Settings that a run would read past.
fn idle_json(one: &Validated) -> Vec<Value> {
    let told = |idle: effect::Idle<'_>| {
        let effect::Setting { path, why, protects, .. } = idle.setting;
        json!({"workflow": one.path, "file": idle.file, "line": idle.line, "setting": path, "why": why, "refused": protects})
    };
    effect::idle(&one.flow).into_iter().map(told).collect()
}

/// Findings that there was no room for.
fn omitted(all: &[Validated]) -> usize {
    all.iter().map(|one| one.report.omitted).sum()
}

fn each(all: &[Validated]) -> impl Iterator<Item = (&Validated, &Finding)> {
    all.iter().flat_map(|one| one.report.findings.iter().map(move |finding| (one, finding)))
}

fn finding_json(one: &Validated, finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "category": finding.category,
        "message": finding.message,
        "help": finding.help,
        "workflow": one.path,
        "file": finding.file,
        "pointer": finding.pointer,
        "line": finding.span.line,
        "column": finding.span.column,
    })
}

/// The same as a SARIF log. `version` is the program's.
#[must_use]
pub fn as_sarif(all: &[Validated], version: &str) -> Value {
    let rules: Vec<Value> = RULES.iter().map(|rule| rule_sarif(rule)).collect();
    let results: Vec<Value> = each(all).map(|(one, finding)| result_sarif(one, finding)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "jackline", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
            "properties": { "omitted": omitted(all) },
        }],
    })
}

fn rule_sarif(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.text },
        "help": { "text": format!("jackline workflow explain {}", rule.id) },
        "defaultConfiguration": { "level": rule.level.name() },
        "properties": { "category": rule.category },
    })
}

fn result_sarif(one: &Validated, finding: &Finding) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{}. Help: {help}", finding.message),
        None => finding.message.clone(),
    };
    json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule),
        "level": finding.level.name(),
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&one.shown(&finding.file)) },
                "region": { "startLine": finding.span.line, "startColumn": finding.span.column },
            },
            "logicalLocations": [{ "fullyQualifiedName": finding.pointer }],
        }],
    })
}

/// A path as a relative reference: what has a meaning in addresses is escaped.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes().fold(String::new(), |mut text, byte| {
        if plain(byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

/// The page that lists every rule, with its examples.
#[must_use]
pub fn reference_markdown() -> String {
    let mut page = String::from(
        "# Workflow rules\n\nWhat `jackline workflow validate` holds a workflow against. An error makes it invalid, a warning does not. \
`jackline workflow explain R6` prints a rule; [the guide](../guides/workflows.md) shows how to work with them.\n\n\
| rule | category | level | summary |\n|---|---|---|---|\n",
    );
    for rule in RULES {
        page.push_str(&format!(
            "| [{0}](#{1}) | {2} | {3} | {4} |\n",
            rule.id,
            rule.id.to_lowercase(),
            rule.category,
            rule.level.name(),
            rule.summary
        ));
    }
    for rule in RULES {
        page.push_str(&format!(
            "\n## {}\n\n**{}.** {}, {}.\n\n{}\n",
            rule.id,
            rule.summary,
            rule.category,
            rule.level.name(),
            rule.text
        ));
        for (title, example) in [("Good", &rule.good), ("Bad", &rule.bad)] {
            let language = if example.file.ends_with(".py") { "python" } else { "yaml" };
            page.push_str(&format!("\n{title}, in `{}`:\n\n```{language}\n{}```\n", example.file, example.text));
        }
    }
    page
}

/// A rule as a person reads it.
#[must_use]
pub fn explain(rule: &Rule) -> String {
    let indented =
        |text: &str| text.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n").collect::<String>();
    format!(
        "{}: {}\n{}, {}\n\n{}\n\nGood, in {}:\n\n{}\nBad, in {}:\n\n{}",
        rule.id,
        rule.summary,
        rule.category,
        rule.level.name(),
        wrapped(rule.text),
        rule.good.file,
        indented(rule.good.text),
        rule.bad.file,
        indented(rule.bad.text),
    )
}

/// Columns of a line of prose.
const COLUMNS_MAX: usize = 100;

/// Paragraphs broken into lines.
fn wrapped(text: &str) -> String {
    let paragraph = |text: &str| {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let full = lines
                .last()
                .is_some_and(|line| !line.is_empty() && line.chars().count() + 1 + word.chars().count() > COLUMNS_MAX);
            if full {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
        lines.join("\n")
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}
