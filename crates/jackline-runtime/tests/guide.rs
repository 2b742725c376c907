//! The guide to embedding, compiled: what it shows is what stands here, and it runs.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::error::Error;
use std::path::Path;

use jackline_core::decision::Verdict;
use jackline_core::definition::{Bounds, DefinitionBuilder, Model};
use jackline_core::event::{self, Event};
use jackline_core::time::Timestamp;
use serde_json::json;

const GUIDE: &str = include_str!("../../../docs/guides/embed-the-runtime.md");
/// What most of its blocks end with.
type Built = Result<jackline_runtime::Runtime, Box<dyn Error>>;

const AT: Timestamp = Timestamp(1_767_225_600_000);

fn one_event(root: &Path, state: &Path, (text, line): (&str, &str)) -> Result<String, Box<dyn Error>> {
    use jackline_runtime::{Runtime, adapters::lines::Lines};

    let runtime = Runtime::builder()
        .workspace(root) // absolute
        .state(state) // sessions in files; without it, in memory
        .definition_yaml(text) // judged as given: no file is looked for
        .build()?;

    let decision: String = runtime.handle(&Lines, line.as_bytes()).stdout; // one JSON event in, one JSON decision out
    Ok(decision)
}

fn in_code(root: &Path) -> Built {
    use jackline_runtime::Runtime;
    use jackline_runtime::core::definition::DefinitionBuilder;
    use jackline_runtime::core::definition::model::{Matcher, Paths, ReadBeforeWrite};

    let model = DefinitionBuilder::new()
        .agent("acme", "release-bot")
        .step("test", Matcher::tool("@shell").command("cargo test*"))
        .sequence("ship-order", [("deploy", ["test"])])
        .read_before_write("read-first", ReadBeforeWrite::default())
        .paths("keep-out", Paths { protect: vec![".env*".into()], ..Paths::default() })
        .build()?;
    let runtime = Runtime::builder().workspace(root).definition(model).build()?;
    Ok(runtime)
}

fn own_policy(root: &Path) -> Built {
    use jackline_runtime::Runtime;
    use jackline_runtime::{Asked, Keep, Objection, Policy};

    #[derive(Debug)]
    struct OneDeployADay;

    impl Policy for OneDeployADay {
        fn name(&self) -> &str {
            "one-deploy"
        }

        fn judge(&self, asked: &Asked<'_>) -> Result<Option<Objection>, String> {
            let again = asked.view.call.tool == "deploy" && asked.kept("deployed").is_some();
            Ok(again.then(|| Objection::deny("One deployment a session.")))
        }

        fn on_result(&self, asked: &Asked<'_>) -> Result<Vec<Keep>, String> {
            let deployed = asked.view.call.tool == "deploy";
            Ok(deployed.then(|| Keep { key: "deployed".into(), value: Some("yes".into()) }).into_iter().collect())
        }
    }
    Ok(Runtime::builder().workspace(root).definition_yaml("jackline: 1\n").policy(OneDeployADay).build()?)
}

fn own_feedback(root: &Path, text: &str) -> Built {
    use jackline_runtime::{Feedback, FeedbackContext, FeedbackProvider, Runtime, Severity, Trigger};

    #[derive(Debug)]
    struct StepBack;

    impl FeedbackProvider for StepBack {
        fn name(&self) -> &str {
            "StepBack"
        }

        fn should_run(&self, context: &FeedbackContext<'_>) -> bool {
            context.recent_calls(5).iter().all(|call| call.ok != Some(true))
        }

        fn provide(&self, _: &FeedbackContext<'_>) -> Result<Option<Feedback>, String> {
            let advice = Feedback::new("Five calls in a row did not succeed.").severity(Severity::Warning);
            Ok(Some(advice.suggest("read the first error again")))
        }
    }

    let runtime = Runtime::builder()
        .workspace(root)
        .definition_yaml(text)
        .feedback(StepBack, Trigger::every_n_calls(5))
        .build()?;
    Ok(runtime)
}

fn own_check(root: &Path, model: Model) -> Built {
    use jackline_runtime::{Assessment, Checker, Runtime, Stopping};

    #[derive(Debug)]
    struct ThreeFindings;

    impl Checker for ThreeFindings {
        fn name(&self) -> &str {
            "three-findings"
        }

        fn check(&self, stopping: &Stopping<'_>) -> Result<Assessment, String> {
            let found = stopping.output.and_then(|output| output.get("findings")?.as_array()).map_or(0, Vec::len);
            Ok(if found >= 3 {
                Assessment::complete()
            } else {
                Assessment::incomplete(format!("{found} of 3 findings"))
            })
        }
    }

    let runtime = Runtime::builder().workspace(root).definition(model).checker(ThreeFindings).build()?;
    Ok(runtime)
}

fn workspace() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn call(name: &str, tool: &str, id: &str) -> Event {
    let call = json!({ "tool": tool, "id": id, "args": {} });
    event::read(&json!({ "event": name, "session": "s", "call": call, "ok": true }), AT).unwrap()
}

/// The guide's blocks, without what a formatter may put otherwise.
fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect()
}

#[test]
fn every_block_of_the_guide_stands_here() {
    let here = bare(include_str!("guide.rs"));
    let blocks: Vec<&str> = GUIDE.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        assert!(here.contains(&bare(block)), "this is not compiled:\n{block}");
    }
}

#[test]
fn what_the_guide_shows_runs() {
    let (dir, state) = (workspace(), workspace());
    let (root, state) = (dir.path().canonicalize().unwrap(), state.path().canonicalize().unwrap());
    let line = r#"{"event":"call.requested","session":"s","call":{"tool":"look","args":{}}}"#;
    let decision = one_event(&root, &state.join("state"), ("jackline: 1\n", line)).unwrap();
    assert!(decision.starts_with(r#"{"verdict":"allow""#), "{decision}");
    assert_eq!(in_code(&root).unwrap().decide(&call("call.requested", "deploy", "1")).verdict, Verdict::Deny);
    let once = own_policy(&root).unwrap();
    assert_eq!(once.decide(&call("call.requested", "deploy", "1")).verdict, Verdict::Allow);
    once.decide(&call("call.finished", "deploy", "1"));
    let again = once.decide(&call("call.requested", "deploy", "2"));
    assert_eq!(again.reason.as_deref(), Some("One deployment a session."));
    own_feedback(&root, "jackline: 1\n").unwrap();
    let checked = own_check(&root, DefinitionBuilder::new().build().unwrap()).unwrap();
    let stopped = checked.decide(&event::read(&json!({ "event": "stop.requested", "session": "s" }), AT).unwrap());
    assert_eq!((stopped.verdict, stopped.reason.as_deref()), (Verdict::Deny, Some("0 of 3 findings")));
}

#[test]
fn what_is_wrong_with_a_definition_in_code_is_an_error() {
    let none = Bounds { lines_max: 0, ..Bounds::default() };
    let fault: Box<dyn Error> = DefinitionBuilder::new().reads(none).build().unwrap_err().into();
    assert_eq!(fault.to_string(), "the definition has 1 fault(s): `reads.lines_max` must be greater than 0");
}
