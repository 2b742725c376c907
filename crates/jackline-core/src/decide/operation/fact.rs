//! Facts are recorded with the calls they rest on, taken back with a reason, and summarised with their lineage.

use serde_json::{Value, json};

use super::{Ground, Outcome, Trouble, given, refuse};
use crate::calls::Query;
use crate::code;
use crate::decision::{Decision, Note};
use crate::event::NAME_BYTES_MAX;
use crate::facts::{
    SOURCES_MAX, STATEMENT_BYTES_MAX, STATEMENTS_BYTES_MAX, STATEMENTS_MAX, SUMMARISED_MAX, Settled, Statement,
};
use crate::probe::{Fact, Probe, Told};
use crate::session::Change;
use crate::todos::id::Id;

pub(super) fn record(ground: &Ground<'_>, given: &Value) -> Outcome {
    let text = given::text(given, "text", STATEMENT_BYTES_MAX, &code::FACT_INVALID)?;
    let sources = given::list(given, "sources", SOURCES_MAX, &code::FACT_SOURCES)?;
    let sources: Option<Vec<&str>> = sources.iter().map(Value::as_str).collect();
    let named = |sources: &Vec<&str>| {
        !sources.is_empty() && sources.iter().all(|id| !id.is_empty() && id.len() <= NAME_BYTES_MAX)
    };
    let Some(sources) = sources.filter(named) else {
        let reason = "A fact needs its sources: ids of calls of this session.";
        return Err(refuse(code::FACT_SOURCES, reason, "name the calls it rests on; `calls.list` shows them"));
    };
    in_log(ground, &sources)?;
    let sources = sources.into_iter().map(str::to_owned).collect();
    let statement = statement(ground, text, sources, Vec::new());
    room(ground, &statement)?;
    Ok(stated("fact.recorded", Value::Null, statement))
}

/// Every source must be a call of this session.
fn in_log(ground: &Ground<'_>, sources: &[&str]) -> Result<(), Trouble> {
    let probe = Probe::Calls { queries: sources.iter().map(|id| Query::of_id(id)).collect() };
    let found = match ground.facts.get(&probe) {
        None => return Err(Trouble::Need(vec![probe])),
        Some(Fact::Told(Told::Calls(found))) if found.len() == sources.len() => found,
        Some(_) => {
            return Err(refuse(code::FACT_SOURCES, "The log could not be looked through.", "try again later"));
        }
    };
    match sources.iter().zip(found).find(|(_, found)| found.calls.is_empty()) {
        None => Ok(()),
        Some((id, found)) => {
            let far = if found.cut { ", as far back as it is looked through" } else { "" };
            let reason = format!("Call `{id}` is not in this session's log{far}.");
            Err(refuse(code::FACT_SOURCES, reason, "name calls that were made; `calls.list` shows them"))
        }
    }
}

pub(super) fn retract(ground: &Ground<'_>, given: &Value) -> Outcome {
    let statement = standing(ground, given.get("id"))?;
    let reason = given::reason(given)?;
    let note = Note {
        kind: "fact.retracted",
        before: statement.to_value(),
        after: Value::Null,
        data: json!({ "reason": reason }),
    };
    let result = Some(json!({ "id": statement.id }));
    let changes = vec![Change::Retracted { id: statement.id.clone() }];
    Ok(Decision { notes: vec![note], changes, result, ..Decision::default() })
}

pub(super) fn summarise(ground: &Ground<'_>, given: &Value) -> Outcome {
    let text = given::text(given, "text", STATEMENT_BYTES_MAX, &code::FACT_INVALID)?;
    let ids = given::list(given, "ids", SUMMARISED_MAX, &code::FACT_INVALID)?;
    if ids.is_empty() {
        return Err(refuse(code::FACT_INVALID, "`ids` is empty: nothing is summarised.", "name the facts"));
    }
    let mut replaced: Vec<&Statement> = Vec::new();
    for id in ids {
        let statement = standing(ground, Some(id))?;
        if !replaced.iter().any(|known| known.id == statement.id) {
            replaced.push(statement);
        }
    }
    let mut sources: Vec<String> = Vec::new();
    for source in replaced.iter().flat_map(|statement| &statement.sources) {
        if !sources.contains(source) {
            sources.push(source.clone());
        }
    }
    let of = replaced.iter().map(|statement| statement.id.clone()).collect();
    let statement = statement(ground, text, sources, of);
    room(ground, &statement)?;
    let before = replaced.iter().map(|statement| statement.to_value()).collect();
    Ok(stated("fact.summarised", before, statement))
}

/// The statement that is meant, if it stands.
fn standing<'a>(ground: &Ground<'a>, id: Option<&Value>) -> Result<&'a Statement, Trouble> {
    let named = id.and_then(Value::as_str).unwrap_or_default();
    let id = Id::parse(named);
    let statements = &ground.session.statements;
    if let Some(found) = id.as_ref().and_then(|id| statements.get(id)) {
        return Ok(found);
    }
    let shown: String = named.chars().take(64).collect();
    let reason = match id.as_ref().and_then(|id| statements.settled(id)) {
        Some(Settled::Retracted) => format!("Fact `{shown}` was retracted."),
        Some(Settled::Summarised(by)) => format!("Fact `{shown}` is part of the summary `{by}`."),
        None => format!("There is no fact `{shown}` in this session."),
    };
    Err(refuse(code::FACT_UNKNOWN, reason, "list the facts"))
}

fn statement(ground: &Ground<'_>, text: String, sources: Vec<String>, of: Vec<Id>) -> Statement {
    let at = ground.session.now(ground.event.at);
    let id = Id::derive("fact", &ground.event.session, ground.session.statements.made(), at);
    Statement { id, text, sources, of, recorded_at: at }
}

fn room(ground: &Ground<'_>, statement: &Statement) -> Result<(), Trouble> {
    let statements = &ground.session.statements;
    let replaced: usize = statement.of.iter().filter_map(|id| statements.get(id)).map(Statement::bytes).sum();
    let bytes = (statements.bytes() + statement.bytes()).saturating_sub(replaced);
    let count = (statements.len() + 1).saturating_sub(statement.of.len());
    if count <= STATEMENTS_MAX && bytes <= STATEMENTS_BYTES_MAX {
        return Ok(());
    }
    let reason = format!("This session states {} facts already, and there is no room for more.", statements.len());
    Err(refuse(code::FACT_FULL, reason, "summarise some, or retract what no longer holds"))
}

fn stated(kind: &'static str, before: Value, statement: Statement) -> Decision {
    let note = Note { kind, before, after: statement.to_value(), data: json!({}) };
    let result = Some(json!({ "id": statement.id, "sources": statement.sources }));
    let changes = vec![Change::Stated { statement: Box::new(statement) }];
    Decision { notes: vec![note], changes, result, ..Decision::default() }
}
