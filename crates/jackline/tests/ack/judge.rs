//! Holds what happened against what a scenario wants: on disk, before the model, on record.

use jackline_rehearsal::{Lane, Run};
use serde_json::Value;

use super::scenario::{Act, Scenario};
use super::world::World;

/// What became of a scenario on a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `obeyed`, `not obeyed`; of a broken guard `blocked` or `passed`.
    pub(crate) word: &'static str,
    /// What was otherwise than it should be.
    pub(crate) complaints: Vec<String>,
}

/// Everything that is otherwise than the scenario wants.
pub(crate) fn judge(scenario: &Scenario, world: &World, run: &Run) -> Outcome {
    let mut complaints = Vec::new();
    calm(run, &mut complaints);
    files(scenario, world, &mut complaints);
    shown(scenario, run, &mut complaints);
    beside(scenario, run, &mut complaints);
    recorded(scenario, world, &mut complaints);
    if let (Some(file), true) = (&scenario.want.passes, complaints.is_empty()) {
        let passed = world.stage.has(&format!("repo/{file}"));
        return Outcome { word: if passed { "passed" } else { "blocked" }, complaints };
    }
    Outcome { word: if complaints.is_empty() { "obeyed" } else { "not obeyed" }, complaints }
}

/// The session went to its end by the script, alone.
fn calm(run: &Run, complaints: &mut Vec<String>) {
    if run.timed_out {
        complaints.push(format!("it had to be ended: {}", run.stderr));
    }
    for stranger in run.model.strangers() {
        complaints.push(format!("something wanted to leave the machine: {stranger}"));
    }
    for lane in [Lane::Main, Lane::Subagent] {
        let (used, all) = run.model.turns_used(lane);
        if used != all {
            let why = run.stderr.trim();
            complaints.push(format!("of {all} turns of {lane:?} {used} were played; the host said: {why}"));
        }
    }
}

fn files(scenario: &Scenario, world: &World, complaints: &mut Vec<String>) {
    for (name, want) in &scenario.want.files {
        let found = world.stage.read(&format!("repo/{name}"));
        match (want, &found) {
            (None, None) => {}
            (Some(want), Some(found)) if found.starts_with(want.as_str()) => {}
            _ => complaints.push(format!("`{name}` holds {found:?}, not {want:?}")),
        }
    }
    for (name, before) in &world.before {
        if before.is_none() || world.held(name).1 != *before {
            complaints.push(format!("`{name}` was changed"));
        }
    }
    if let Some(want) = scenario.want.commits.as_ref().filter(|want| **want != world.commits()) {
        complaints.push(format!("the commits are {:?}, not {want:?}", world.commits()));
    }
    let served = || world.notes.calls().iter().filter_map(|call| call["text"].as_str().map(str::to_owned)).collect();
    if let Some(want) = &scenario.want.served {
        let served: Vec<String> = served();
        if served != *want {
            complaints.push(format!("the server was given {served:?}, not {want:?}"));
        }
    }
}

fn shown(scenario: &Scenario, run: &Run, complaints: &mut Vec<String>) {
    let all = run.model.shown_to_model();
    for text in scenario.want.shown.iter().filter(|text| !all.contains(text.as_str())) {
        complaints.push(format!("the model was not shown `{text}`"));
    }
    for text in scenario.want.hidden.iter().filter(|text| all.contains(text.as_str())) {
        complaints.push(format!("the model was shown `{text}`"));
    }
    for (name, texts) in &scenario.want.told {
        let Some(outcome) = run.model.outcome(name) else {
            complaints.push(format!("the model was shown no outcome of `{name}`"));
            continue;
        };
        for text in texts.iter().filter(|text| !outcome.text.contains(text.as_str())) {
            complaints.push(format!("the model was not told `{text}` of `{name}`, but: {}", outcome.text));
        }
    }
}

fn beside(scenario: &Scenario, run: &Run, complaints: &mut Vec<String>) {
    for (name, texts) in &scenario.want.beside {
        let (with, before) = run.model.shown_beside(name).unwrap_or_default();
        for text in texts {
            if !with.contains(text.as_str()) {
                complaints.push(format!("the model was not shown `{text}` with the outcome of `{name}`"));
            }
            if before.contains(text.as_str()) {
                complaints.push(format!("the model was shown `{text}` before the outcome of `{name}`"));
            }
        }
    }
}

fn recorded(scenario: &Scenario, world: &World, complaints: &mut Vec<String>) {
    if scenario.want.decided.is_empty() && scenario.want.stops.is_empty() {
        return;
    }
    let records = world.records();
    let mut used = Vec::new();
    for (name, essence) in essences(&scenario.agent) {
        let Some(want) = scenario.want.decided.get(&name) else { continue };
        match decided(&records, &essence, &mut used) {
            Some(verdict) if verdict == *want => {}
            verdict => complaints.push(format!("`{name}` was decided {verdict:?}, not `{want}`")),
        }
    }
    let stops = stops(&records);
    if !scenario.want.stops.is_empty() && stops != scenario.want.stops {
        complaints.push(format!("the stops were decided {stops:?}, not {:?}", scenario.want.stops));
    }
}

/// The calls of a script in order, each with what its arguments hold on any host.
fn essences(acts: &[Act]) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for act in acts {
        match act {
            Act::Shell { name, run } => {
                let text = run.split("{{SETTINGS}}").next().unwrap_or_default();
                found.push((name.clone(), vec![text.to_owned()]));
            }
            Act::Read { name, path } => found.push((name.clone(), vec![path.clone()])),
            Act::Write { name, path, content, .. } => {
                found.push((name.clone(), vec![path.clone(), content.trim_end().to_owned()]));
            }
            Act::Edit { name, path, content, .. } => found.push((name.clone(), vec![path.clone(), content.clone()])),
            Act::Note { name, text } => found.push((name.clone(), vec![text.clone()])),
            Act::Task { agent, .. } => found.extend(essences(agent)),
            Act::Together(acts) => found.extend(essences(acts)),
            Act::Say(_) | Act::Prompt(_) | Act::Guard(_) => {}
        }
    }
    found
}

/// The verdict on the first request that holds these texts and was not looked at before. The decision about an event
/// is the next on record.
fn decided(records: &[Value], essence: &[String], used: &mut Vec<usize>) -> Option<String> {
    let holds = |record: &Value| {
        let arguments = texts(&record["data"]["call"]["args"]).join("\n");
        record["kind"] == "call.requested" && essence.iter().all(|text| arguments.contains(text.as_str()))
    };
    let at = records.iter().enumerate().position(|(at, record)| !used.contains(&at) && holds(record))?;
    used.push(at);
    let decision = records.iter().skip(at).find(|record| record["kind"] == "decision")?;
    decision["data"]["verdict"].as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// How the stops were decided, in order.
fn stops(records: &[Value]) -> Vec<String> {
    let mut asked = false;
    let mut stops = Vec::new();
    for record in records {
        match record["kind"].as_str() {
            Some("stop.requested") => asked = true,
            Some("decision") if asked => {
                asked = false;
                let data = &record["data"];
                stops.extend(data.get("stopped").unwrap_or(&data["verdict"]).as_str().map(str::to_owned));
            }
            _ => {}
        }
    }
    stops
}
