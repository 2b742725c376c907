//! Schemas of a definition built in code: refused when built, shown whole, and read back from the record.

#![expect(clippy::unwrap_used, reason = "what goes wrong in a test's own steps fails the test")]

use std::sync::Arc;

use jackline_core::decision::Verdict;
use jackline_core::definition::DefinitionBuilder;
use jackline_core::definition::model::{Declaration, SchemaSource, Validation};
use jackline_core::event::{Body, Call, Event, Output, OutputSchema};
use jackline_core::time::Timestamp;
use jackline_runtime::store::Store;
use jackline_runtime::store::memory::MemoryStore;
use jackline_runtime::{BuildFault, Runtime, replay};
use serde_json::{Map, Value, json};

const SESSION: &str = "s1";

fn built(schema: &Value, store: &Arc<dyn Store>) -> Result<Runtime, BuildFault> {
    let dir = tempfile::tempdir().unwrap();
    let declaration = Declaration { schema: Some(SchemaSource::inline(schema)), ..Declaration::default() };
    let model = DefinitionBuilder::new()
        .declare_with("deploy", declaration)
        .validation(Validation { repair_attempts: 1, ..Validation::default() })
        .build()
        .unwrap();
    Runtime::builder().workspace(dir.path()).store(Arc::clone(store)).definition(model).build()
}

fn event(body: Body) -> Event {
    Event {
        session: SESSION.to_owned(),
        at: Timestamp(1_767_225_600_000),
        agent: None,
        host: None,
        cwd: None,
        definition: None,
        transcript: None,
        body,
    }
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

#[test]
fn what_is_no_schema_is_refused_when_it_is_built() {
    let Err(BuildFault::Definition(faults)) = built(&json!({ "type": "objct" }), &store()) else {
        panic!("it was built");
    };
    assert!(faults.iter().any(|fault| fault.message.starts_with("tool `deploy`: its `schema` cannot be used: ")));
}

#[test]
fn errors_are_shown_as_whole_json_however_many_there_are() {
    let runtime = built(&json!({ "additionalProperties": { "type": "integer" } }), &store()).unwrap();
    let args: Map<String, Value> = (0..40).map(|n| (format!("{n}{}", "ключ\"".repeat(80)), json!("text"))).collect();
    let answer = runtime.decide(&event(Body::CallRequested(Call::new("deploy", Value::Object(args)))));
    assert_eq!(answer.verdict, Verdict::Deny);
    assert_eq!(answer.findings.iter().map(|finding| finding.errors.len()).collect::<Vec<_>>(), [20]);
    let shown = answer.shown();
    let told: Value = serde_json::from_str(shown.lines().next().unwrap()).unwrap();
    let errors = told["errors"].as_array().unwrap().len() as u64;
    assert_eq!(errors + told["omitted"].as_u64().unwrap(), 40);
    assert!(errors > 0 && told["instruction_code"] == "RETURN_CORRECTED_JSON_ONLY");
    assert!(shown.ends_with("`jackline explain last`]"), "nothing was cut: {shown}");
}

#[test]
fn an_output_built_in_code_is_read_back_from_its_record() {
    let store = store();
    let runtime = built(&json!({ "required": ["env"] }), &store).unwrap();
    for schema in [OutputSchema::Named("deploy".to_owned()), OutputSchema::Given(json!({ "type": "object" }))] {
        let output = Output { last: true, ..Output::new(schema, r#"{"env":"live"}"#) };
        let sent = event(Body::OutputProduced(output));
        assert_eq!(runtime.decide(&sent).verdict, Verdict::Allow);
        let lines: Vec<Vec<u8>> = store.lines(SESSION, 0).unwrap().map(Result::unwrap).collect();
        let mut records = lines.iter().rev().map(|line| replay::record(line).unwrap());
        let kept = records.find(|record| record["kind"] == "output.produced").unwrap();
        assert_eq!(kept["actor"], "agent");
        assert_eq!(replay::event(&kept).unwrap(), sent);
    }
}
