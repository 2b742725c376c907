//! The cases of `conformance/workflows`: each finds exactly what it wants, and each rule has enough of them.

use std::collections::{BTreeMap, BTreeSet};

use jackline_workflow::{Finding, RULES};

use crate::case::{self, Case, Want};
use crate::report;

/// Cases that break a rule, and cases that keep it: fewer show too little.
const BREAKING: usize = 3;
const KEEPING: usize = 2;

fn told(finding: &Finding) -> Want {
    Want {
        rule: finding.rule.to_owned(),
        level: finding.level.name().to_owned(),
        at: format!("{}:{}:{}", finding.file, finding.span.line, finding.span.column),
        pointer: finding.pointer.clone(),
        message: finding.message.clone(),
        help: finding.help.clone(),
    }
}

#[test]
fn every_case_finds_what_it_wants() {
    let mut complaints = Vec::new();
    for case in case::all() {
        let found: Vec<Want> = report(&case.workflow()).findings.iter().map(told).collect();
        if found != case.want {
            complaints.push(format!("{}\n  found {found:#?}\n  wanted {:#?}", case.note, case.want));
        }
    }
    assert!(complaints.is_empty(), "{} to mend:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn every_rule_has_enough_cases() {
    let cases = case::all();
    let notes: BTreeSet<&str> = cases.iter().map(|case| case.note.as_str()).collect();
    assert_eq!(notes.len(), cases.len(), "two cases have one note");
    let mut by_rule: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in &cases {
        let rule = case.note.split(':').next().expect("a rule");
        by_rule.entry(rule).or_default().push(case);
    }
    for rule in RULES {
        let own = by_rule.remove(rule.id).unwrap_or_default();
        let breaking = own.iter().filter(|case| case.want.iter().any(|want| want.rule == rule.id)).count();
        let keeping = own.iter().filter(|case| case.want.iter().all(|want| want.rule != rule.id)).count();
        assert!(breaking >= BREAKING && keeping >= KEEPING, "{}: {breaking} break it, {keeping} keep it", rule.id);
    }
    assert!(by_rule.is_empty(), "nobody knows these rules: {:?}", by_rule.keys());
}

#[test]
fn everything_is_told_at_once() {
    let mut files = case::base();
    case::lay(&mut files, "workflow.awp.yaml", "awp: one\nworkflow: {name: X}\nstate: {sharing: {strategy: all}}\n");
    case::lay(
        &mut files,
        "agents/researcher/agent.awp.yaml",
        "output: {}\ncapabilities: {codemode: {enabled: true}}\n",
    );
    case::lay(&mut files, "agents/writer/agent.awp.yaml", "identity: {id: W}\nidentity_: [\n");
    case::lay(&mut files, "mcp/tools.py", "@app.tool(\"web.x\")\ndef f(): ...\n");
    let found = report(&files).findings;
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["R1", "R2", "R16", "R9", "R19", "R20", "load", "R10"]);
}
