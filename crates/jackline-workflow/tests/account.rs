//! Accounts of runs in all their forms: what they tell, and that nothing an agent wrote becomes markup.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on says so by panicking")]

use std::process::Command;

use jackline_workflow::account::{Account, Budget, Deliverable, End, Gate, Moment, Outcome, Step};
use jackline_workflow::ask::Usage;

fn step(agent: &str, from_ms: u64, to_ms: Option<u64>, outcome: Outcome) -> Step {
    Step { agent: agent.to_owned(), from_ms, to_ms, outcome, attempt: 1, note: None }
}

fn account() -> Account {
    let failed =
        Step { note: Some("its time was up".to_owned()), ..step("writer", 1_500, Some(4_000), Outcome::Failed) };
    let again = Step { attempt: 2, ..step("writer", 4_100, Some(7_000), Outcome::Done) };
    Account {
        run: "run-7".to_owned(),
        workflow: "research-and-write".to_owned(),
        engine: "delegation_loop".to_owned(),
        task: "Write about tides.".to_owned(),
        began: "2026-01-02T03:04:05.000Z".to_owned(),
        elapsed_ms: 9_400,
        end: Some(End { status: "partial".to_owned(), reason: "max_loops".to_owned() }),
        iterations: 3,
        steps: vec![
            step("researcher", 100, Some(1_400), Outcome::Done),
            failed,
            again,
            step("editor", 7_100, None, Outcome::Open),
        ],
        moments: vec![
            Moment { at_ms: 50, kind: "DELEGATE".to_owned(), text: "researcher".to_owned(), bad: false },
            Moment { at_ms: 8_000, kind: "refused".to_owned(), text: "PLAN is refused".to_owned(), bad: true },
        ],
        gates: vec![
            Gate { at_ms: 7_050, gate: "critique".to_owned(), passed: true, reason: None, findings: Vec::new() },
            Gate {
                at_ms: 7_060,
                gate: "placeholder".to_owned(),
                passed: false,
                reason: Some("placeholders stand where results should be".to_owned()),
                findings: vec!["`report.md` line 3: `TODO`".to_owned()],
            },
        ],
        budgets: vec![
            Budget { name: "max_loops".to_owned(), used: 3.0, limit: Some(3.0) },
            Budget { name: "cost_usd".to_owned(), used: 0.25, limit: None },
        ],
        usage: Usage { requests: 4, input_tokens: 1_000, output_tokens: 200, cost_nano_usd: 6_000_000 },
        deliverables: vec![Deliverable { path: "report.md".to_owned(), bytes: 2_048 }],
        left_out: 0,
    }
}

/// The same run, in which every text tries to be something else.
fn hostile() -> Account {
    let evil = "</title><script>alert(1)</script>\"'&<img src=x onerror=y>\u{202e}\u{1b}[2J\n]]>".to_owned();
    let mut account = account();
    for text in [&mut account.run, &mut account.workflow, &mut account.task, &mut account.began, &mut account.engine] {
        text.clone_from(&evil);
    }
    account.end = Some(End { status: evil.clone(), reason: evil.clone() });
    for step in &mut account.steps {
        step.agent.clone_from(&evil);
        step.note = Some(evil.clone());
    }
    for moment in &mut account.moments {
        (moment.kind, moment.text) = (evil.clone(), evil.clone());
    }
    for gate in &mut account.gates {
        (gate.gate, gate.reason, gate.findings) = (evil.clone(), Some(evil.clone()), vec![evil.clone()]);
    }
    account.budgets[0].name.clone_from(&evil);
    account.deliverables[0].path.clone_from(&evil);
    account
}

#[test]
fn people_read_lines() {
    let wanted = "\
run run-7 of research-and-write: partial (max_loops)
began 2026-01-02T03:04:05.000Z, took 9.4 s
task: Write about tides.

timeline
         50 ms  DELEGATE: researcher
        100 ms  researcher done, 1.3 s
         1.5 s  writer failed, 2.5 s: its time was up
         4.1 s  writer done, 2.9 s, try 2
         7.1 s  editor open
         8.0 s  ! refused: PLAN is refused

gates
         7.0 s  passed critique
         7.0 s  rejected placeholder: placeholders stand where results should be
                - `report.md` line 3: `TODO`

budgets
  max_loops                3 of 3
  cost_usd                 0.25

used
  4 requests, 1000 tokens in, 200 out, 0.0060 USD

deliverables
  report.md (2.0 KiB)
";
    let shown: String = account().human();
    let trimmed = |text: &str| text.lines().map(|line| line.trim_start().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&shown), trimmed(wanted), "{shown}");
}

#[test]
fn programs_read_json() {
    let json = account().to_json();
    assert_eq!(json["end"]["reason"], "max_loops");
    assert_eq!(json["steps"][1]["outcome"], "failed");
    assert_eq!(json["usage"]["cost_nano_usd"], 6_000_000);
    assert_eq!(json["gates"][1]["findings"][0], "`report.md` line 3: `TODO`");
}

#[test]
fn pictures_have_a_bar_for_each_piece_of_work() {
    let svg = account().to_svg();
    for (class, count) in [("rect class=\"done\"", 2), ("rect class=\"failed\"", 1), ("rect class=\"open\"", 1)] {
        assert_eq!(svg.matches(class).count(), count, "{class}");
    }
    assert_eq!((svg.matches("path class=\"bad\"").count(), svg.matches("path class=\"passed\"").count()), (2, 1));
    assert!(
        svg.contains(
            "<desc id=\"desc\">took 9.4 s. researcher: 1 done. writer: 1 done, 1 failed. editor: 1 open</desc>"
        )
    );
    assert!(svg.contains("writer failed, 2.5 s its time was up"));
}

#[test]
fn pages_hold_everything_and_load_nothing() {
    let html = account().to_html();
    for text in
        ["Gates", "placeholders stand where", "max_loops", "0.0060 USD", "report.md", "its time was up", "<svg "]
    {
        assert!(html.contains(text), "{text}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn nothing_that_an_agent_wrote_is_markup() {
    for text in [hostile().to_svg(), hostile().to_html()] {
        for sign in ["<script", "<img", "onerror=y>", "\u{202e}", "\u{1b}", "]]>"] {
            assert!(!text.contains(sign), "{sign}");
        }
        assert!(text.contains("&lt;script&gt;"));
        for sign in ["http-equiv=\"refresh", "url(", "@import", "href=", "src=\""] {
            assert!(!text.contains(sign), "{sign}");
        }
    }
    let shown = hostile().human();
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
}

#[test]
fn pictures_are_well_formed() {
    let python = "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin.buffer)";
    for account in [account(), hostile(), Account::default(), crowded()] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.svg");
        std::fs::write(&file, account.to_svg()).unwrap();
        let parsed = Command::new("python3").args(["-c", python]).stdin(std::fs::File::open(&file).unwrap()).output();
        let Ok(parsed) = parsed else { panic!("python3 is needed to parse pictures") };
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    }
}

/// More of everything than is drawn.
fn crowded() -> Account {
    let steps = (0..20_000).map(|n| step(&format!("agent_{}", n % 500), n, Some(n + 10), Outcome::Done)).collect();
    let moment = |n| Moment { at_ms: n, kind: "x".repeat(900), text: String::new(), bad: false };
    Account { steps, moments: (0..20_000).map(moment).collect(), elapsed_ms: u64::MAX, ..account() }
}

#[test]
fn forms_are_bounded() {
    let account = crowded();
    assert!(account.to_svg().len() < 3_000_000, "{}", account.to_svg().len());
    assert!(account.to_svg().contains("and 420 more agents"));
    assert!(account.to_html().len() < 20_000_000);
    assert!(account.human().lines().count() < 600);
}
