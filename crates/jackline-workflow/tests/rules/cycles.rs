//! Cycles of any length are told so that a person can read them.

use std::fmt::Write as _;

use crate::{case, report};

/// A graph in which each agent waits for the next, and some for others too.
fn ring(count: usize, also: impl Fn(usize) -> Option<usize>) -> String {
    let mut graph = String::from("orchestration:\n  graph:\n");
    for at in 0..count {
        let more = also(at).map(|to| format!(", n{to:04}")).unwrap_or_default();
        let next = (at + 1) % count;
        let _ = writeln!(graph, "    - {{id: n{at:04}, agent: writer, depends_on: [n{next:04}{more}]}}");
    }
    graph
}

fn told(graph: &str) -> Vec<String> {
    let mut files = case::base();
    case::lay(&mut files, "workflow.awp.yaml", graph);
    let findings = report(&files).findings;
    assert!(findings.iter().all(|finding| finding.rule == "R6"), "{findings:#?}");
    findings.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn a_ring_of_three_thousand_is_told_by_its_ends() {
    let want = "3000 agents wait for one another: `n0000` → `n0001` → `n0002` → `n0003` → `n0004` → `n0005` → \
                … 2988 more … → `n2994` → `n2995` → `n2996` → `n2997` → `n2998` → `n2999` → `n0000`";
    assert_eq!(told(&ring(3_000, |_| None)), [want]);
}

#[test]
fn of_a_ring_with_a_short_cut_back_the_short_cycle_is_told() {
    let back = |at| (at == 1_702).then_some(1_700);
    assert_eq!(told(&ring(3_000, back)), ["3 agents wait for one another: `n1700` → `n1701` → `n1702` → `n1700`"]);
    let twice = |at| [(1_702, 1_700), (200, 199)].into_iter().find(|(from, _)| *from == at).map(|(_, to)| to);
    assert_eq!(told(&ring(3_000, twice)), ["2 agents wait for one another: `n0199` → `n0200` → `n0199`"]);
}

#[test]
fn a_dozen_are_all_named() {
    let [one] = &told(&ring(12, |_| None))[..] else { panic!("one cycle") };
    assert_eq!(one.matches('→').count(), 12);
    assert!(!one.contains('…'));
}
