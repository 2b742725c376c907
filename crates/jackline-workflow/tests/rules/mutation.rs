//! A valid workflow, broken at random: whatever is done to it, the validator ends, and what is broken is found.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{case, report};

/// A valid workflow that says something in every section, so that everything in it can be broken.
fn rich() -> BTreeMap<String, String> {
    let mut files = case::base();
    case::lay(&mut files, "workflow.awp.yaml", include_str!("rich/workflow.awp.yaml"));
    case::lay(&mut files, "agents/researcher/agent.awp.yaml", include_str!("rich/researcher.awp.yaml"));
    case::lay(&mut files, "mcp/tools.py", "@app.tool(\"lab.measure\", description=\"measures\")\ndef measure(): ...\n");
    files
}

/// One way to break a line: what it must hold, and what that becomes.
const BREAKS: &[(&str, &str, &str)] = &[
    ("workflow.awp.yaml", "awp: \"1.0.0\"", "awp: \"1.0\""),
    ("workflow.awp.yaml", "awp: \"1.0.0\"", "awp: 1.0"),
    ("workflow.awp.yaml", "awp: \"1.0.0\"\n", ""),
    ("workflow.awp.yaml", "awp: \"1.0.0\"\n", "awp: \"1.0.0\"\nawp: \"1.0.0\"\n"),
    ("workflow.awp.yaml", "name: research-and-write", "name: Research"),
    ("workflow.awp.yaml", "name: research-and-write", "title: research-and-write"),
    ("workflow.awp.yaml", "- id: writer", "- id: researcher"),
    ("workflow.awp.yaml", "- id: writer", "- id: writer-"),
    ("workflow.awp.yaml", "- id: writer", "- id: nobody"),
    ("workflow.awp.yaml", "depends_on: [researcher]", "depends_on: [nobody]"),
    ("workflow.awp.yaml", "depends_on: [researcher]", "depends_on: [writer]"),
    ("workflow.awp.yaml", "depends_on: [researcher]", "depends_on: researcher"),
    ("workflow.awp.yaml", "timeout: 60", "timeout: 0"),
    ("workflow.awp.yaml", "timeout: 60", "timeout: soon"),
    ("workflow.awp.yaml", "on_failure: retry", "on_failure: cry"),
    ("workflow.awp.yaml", "timeout_total: 600", "timeout_total: -600"),
    ("workflow.awp.yaml", "strategy: selective", "strategy: some"),
    ("workflow.awp.yaml", "from: researcher", "from: resarcher"),
    ("workflow.awp.yaml", "fields: [summary]", "fields: [sumary]"),
    ("workflow.awp.yaml", "sensitive_fields: [token]", "sensitive_fields: token"),
    ("workflow.awp.yaml", "labels: [agent_id]", "labels: [token]"),
    ("workflow.awp.yaml", "topic: {type: string}", "topic: {type: sting}"),
    ("workflow.awp.yaml", "integrity: hash_chain", "integrity: trust"),
    ("workflow.awp.yaml", "enabled: true   # audit", "enabled: false"),
    ("workflow.awp.yaml", "kind: deterministic", "kind: determined"),
    ("workflow.awp.yaml", "weight: 0.75", "weight: -0.75"),
    ("workflow.awp.yaml", "accept: 0.9", "accept: 0.1"),
    ("workflow.awp.yaml", "retry: 0.6", "retry: 6"),
    ("workflow.awp.yaml", "hooks: [final_answer]", "hooks: [first_answer]"),
    ("workflow.awp.yaml", "below_fail: fail_workflow", "below_fail: cry"),
    ("workflow.awp.yaml", "max_depth: 2", "max_depth: 12"),
    ("workflow.awp.yaml", "max_depth: 2", "max_depth: two"),
    ("workflow.awp.yaml", "max_depth: 2, ", ""),
    ("workflow.awp.yaml", "allowed_namespaces: [lab]", "allowed_namespaces: [bench]"),
    ("workflow.awp.yaml", "dynamic_tools:\n  enabled: true", "dynamic_tools:\n  enabled: false"),
    ("workflow.awp.yaml", "topic: tides", "_meta: tides"),
    ("workflow.awp.yaml", "orchestration:", "orchestration: ["),
    ("agents/researcher/agent.awp.yaml", "id: researcher", "id: R"),
    ("agents/researcher/agent.awp.yaml", "contract:", "contrakt:"),
    ("agents/researcher/agent.awp.yaml", "summary: {type: string}", "summary: {type: text}"),
    ("agents/researcher/agent.awp.yaml", "summary: {type: string}", "_trace: {type: string}"),
    ("agents/researcher/agent.awp.yaml", "enabled: true   # tools", "enabled: false"),
    ("agents/researcher/agent.awp.yaml", "type: isolate", "type: none"),
    ("agents/researcher/agent.awp.yaml", "network: {enabled: false}", "network: {}"),
    ("agents/researcher/agent.awp.yaml", "language: python", "language: cobol"),
    ("agents/researcher/agent.awp.yaml", "include: [web.search]", "include: []"),
    ("agents/researcher/agent.awp.yaml", "exclude: [file.read]", "exclude: [file.write]"),
    ("agents/researcher/agent.awp.yaml", "tool_creation_namespace: lab", "tool_creation_namespace: web"),
    ("agents/researcher/agent.awp.yaml", "enabled: true   # code mode", "enabled: false"),
    ("agents/writer/agent.awp.yaml", "output:", "outputs:"),
    ("mcp/tools.py", "lab.measure", "web.measure"),
    ("mcp/tools.py", "description=\"measures\")", "description=\"measures\""),
];

fn broken(files: &BTreeMap<String, String>, (path, from, to): (&str, &str, &str)) -> Option<BTreeMap<String, String>> {
    let text = files.get(path)?;
    let changed = text.replacen(from, to, 1);
    (changed != *text).then(|| {
        files
            .iter()
            .map(|(name, old)| (name.clone(), if name == path { changed.clone() } else { old.clone() }))
            .collect()
    })
}

#[test]
fn the_workflow_that_is_broken_is_valid_before() {
    assert_eq!(report(&rich()).findings, []);
}

#[test]
fn each_way_to_break_it_is_found() {
    let files = rich();
    let unfound: Vec<_> = BREAKS
        .iter()
        .filter(|way| {
            let broken = broken(&files, **way).unwrap_or_else(|| panic!("{way:?} changes nothing"));
            report(&broken).valid()
        })
        .collect();
    assert!(unfound.is_empty(), "called valid: {unfound:#?}");
}

/// Bytes that change what YAML means.
const ODD: &[&str] = &[
    "[", "]", "{", "}", ":", "- ", "\n", "\t", "'", "\"", "#", "&a ", "*a", "!x ", "|", "\u{0}", "é", "~", "0", "1e9",
    " ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Several of the ways at once, in any order: what one breaks, no other may hide.
    #[test]
    fn several_ways_at_once_are_never_called_valid(ways in prop::collection::vec(0..BREAKS.len(), 1..6)) {
        let mut files = rich();
        let mut count = 0;
        for way in ways {
            if let Some(changed) = broken(&files, BREAKS[way]) {
                files = changed;
                count += 1;
            }
        }
        prop_assert!(count > 0);
        // A line that was doubled and then taken away is mended.
        prop_assume!(files != rich());
        prop_assert!(!report(&files).valid());
    }

    /// Lines cut, doubled and swapped, odd bytes put anywhere: it ends, and says the same twice.
    #[test]
    fn no_text_makes_it_panic(file in 0usize..4, at in 0usize..2_000, odd in 0..ODD.len(), cut in 0usize..40) {
        let mut files = rich();
        let path = files.keys().nth(file).cloned().expect("a file");
        let text = files[&path].clone();
        let bounds: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let (from, to) = (bounds[at % bounds.len()], bounds[(at % bounds.len() + cut).min(bounds.len() - 1)]);
        files.insert(path, format!("{}{}{}", &text[..from], ODD[odd], &text[to..]));
        prop_assert_eq!(report(&files).findings, report(&files).findings);
    }
}
