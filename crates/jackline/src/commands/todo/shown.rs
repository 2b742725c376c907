//! Todos on a terminal: a line each, or one with all that is known of it.

use jackline_core::todos::Todo;
use jackline_core::todos::state::Consent;
use jackline_runtime::replay;
use jackline_runtime::store::Store;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::paint::Paint;
use crate::screen;
use crate::timeline::{self, harmless, shown, text};

/// What happened to a todo, by its records.
#[derive(Debug)]
pub(super) struct Happened {
    at: String,
    kind: String,
    actor: String,
    seq: u64,
    /// Why, or how it was explained.
    said: Option<String>,
    /// Where what its commands printed is kept whole, by hash.
    kept: Vec<String>,
}

impl Happened {
    fn to_value(&self) -> Value {
        json!({ "at": self.at, "kind": self.kind, "actor": self.actor, "record": self.seq, "said": self.said, "output_sha256": self.kept })
    }
}

/// A todo on a line, with what came of its checks below.
pub(super) fn row(todo: &Todo, paint: Paint) -> String {
    let mark = match todo.state.name() {
        "pending" => "[ ]",
        "in_progress" => "[*]",
        "claimed" => "[?]",
        "verified" => "[x]",
        "waived" => "[-]",
        _ => "[!]",
    };
    let by = if todo.author.name() == "agent" { String::new() } else { format!(" ({})", todo.author.name()) };
    let line = format!("{mark} {} {:<11} {}", paint.dim(todo.id.as_str()), todo.state.name(), harmless(&todo.content));
    let mut row = format!("{line}{}", paint.dim(&by));
    for result in todo.results.iter().filter(|result| !result.passed) {
        row.push_str(&format!("\n      {}", harmless(&result.message)));
    }
    row
}

/// Everything about one todo.
pub(super) fn page(session: &str, todo: &Todo, history: &[Happened], paint: Paint) -> String {
    let mut page = format!("{}\n", row(&Todo { results: Vec::new(), ..todo.clone() }, paint));
    page.push_str(&format!("session   {}\nauthor    {}\n", shown(session), todo.author.name()));
    page.push_str(&format!("failures  {}\n", todo.failures));
    if let Some(consent) = todo.state.consent() {
        page.push_str(&format!("because   {} ({})\n", harmless(&consent.reason), harmless(&consent.by)));
    }
    if let Some(rejection) = &todo.rejection {
        let Consent { reason, by } = &rejection.consent;
        page.push_str(&format!("sent back {} ({})\n", harmless(reason), harmless(by)));
    }
    page.push_str(if todo.checks.is_empty() { "checks    none: a person approves it\n" } else { "checks\n" });
    for (at, check) in todo.checks.iter().enumerate() {
        let outcome = todo.results.get(at).map(|result| result.message.clone());
        let line = outcome.unwrap_or_else(|| format!("[    ] {} {}", check.name(), check.subject()));
        page.push_str(&format!("  {}\n", harmless(&line)));
    }
    if !todo.state.evidence().is_empty() {
        page.push_str("evidence\n");
        todo.state
            .evidence()
            .iter()
            .for_each(|piece| page.push_str(&format!("  {}\n", harmless(&piece.to_value().to_string()))));
    }
    page.push_str("history\n");
    for event in history {
        let said = event.said.as_deref().map(|said| format!("  {}", shown(said))).unwrap_or_default();
        let time = event.at.get(..19).unwrap_or_default().replace('T', " ");
        page.push_str(&format!("  {time} #{:<5} {} by {}{said}\n", event.seq, event.kind, event.actor));
        event.kept.iter().for_each(|sha256| page.push_str(&format!("    output kept as {}\n", shown(sha256))));
    }
    page
}

pub(super) fn as_json(session: &str, todo: &Todo, history: &[Happened]) -> Value {
    let mut value = todo.to_value();
    if let Value::Object(fields) = &mut value {
        fields.insert("session".to_owned(), json!(session));
        fields.insert("history".to_owned(), history.iter().map(Happened::to_value).collect());
    }
    value
}

/// What the log says of a todo, oldest first.
pub(super) fn history(store: &dyn Store, session: &str, todo: &Todo) -> Result<Vec<Happened>, CommandError> {
    let target = format!("todo:{}", todo.id);
    let (mut history, mut first) = (Vec::new(), true);
    for line in store.lines(session, 0)? {
        let Ok(record) = replay::record(&line?) else { continue };
        if let Some(last) = timeline::missing(&record).filter(|_| std::mem::take(&mut first)) {
            screen::complain(&format!("note: {}", timeline::missing_words(last)));
        }
        first = false;
        if text(&record, "target") == target {
            history.push(happened(&record));
        }
    }
    Ok(history)
}

fn happened(record: &Value) -> Happened {
    let said = ["reason", "explanation"].iter().find_map(|name| record.get("data")?.get(*name)?.as_str());
    let outputs = record.pointer("/data/output").and_then(Value::as_array).into_iter().flatten();
    let hashes = outputs.flat_map(|output| ["stdout_sha256", "stderr_sha256"].map(|name| output.get(name)));
    Happened {
        kept: hashes.flatten().filter_map(Value::as_str).map(str::to_owned).collect(),
        at: text(record, "at").to_owned(),
        kind: text(record, "kind").to_owned(),
        actor: text(record, "actor").to_owned(),
        seq: record.get("seq").and_then(Value::as_u64).unwrap_or_default(),
        said: said.map(str::to_owned),
    }
}
