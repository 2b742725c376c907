//! `jackline explain`: why something was decided, and what would have changed it.

mod seen;

use jackline_core::code;
use jackline_core::completion;
use jackline_core::decision::Verdict;
use jackline_core::definition::{Model, span_of};
use jackline_core::packs::{PACKS, Pack};
use jackline_core::sha::Digest;
use jackline_runtime::definitions::Kept;
use jackline_runtime::replay;
use jackline_runtime::store::Store;
use serde_json::Value;

use super::{audit, log, sessions};
use crate::error::CommandError;
use crate::place::Where;
use crate::{paint::Paint, screen, timeline};

/// Sessions of a workspace in which a refusal is looked for, the newest first: who asks for the last one means today's.
const SESSIONS_MAX: usize = 32;

/// Say why something was decided, and what would have changed it
///
/// `jackline explain last` takes the last refusal in this workspace: that of the session written last, or of the nearest before
/// it in which something was refused.
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The session, or `last` for the one of this workspace that was written last
    #[arg(value_name = "SESSION")]
    session: String,
    /// The number of the decision's record, as the log and each decision show it (default: the last refusal)
    #[arg(value_name = "SEQ")]
    seq: Option<u64>,
    #[command(flatten)]
    at: Where,
}

/// An event and its decision, as the log keeps them.
struct Explained {
    event: Value,
    decision: Value,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let store = self.at.files()?;
        let found = match (self.session.as_str(), self.seq) {
            (session, Some(seq)) => numbered(&store, &self.chosen(&store, session)?, seq)?,
            ("last", None) => self.newest_refusal(&store)?,
            (session, None) => refusal(&store, &self.chosen(&store, session)?)?,
        };
        let kept = Kept::below(&self.at.state()?);
        Ok(screen::show(&explained(&found, &kept, Paint::for_stdout()))?)
    }

    /// Who asks saw a refusal, and need not know that another session has written something since.
    fn newest_refusal(&self, store: &dyn Store) -> Result<Explained, CommandError> {
        let newest = self.chosen(store, "last")?;
        for session in sessions::list(store, &self.at, false)?.iter().take(SESSIONS_MAX) {
            if let Some(found) = last_refusal(store, &session.entry.id)? {
                return Ok(found);
            }
        }
        refusal(store, &newest)
    }

    fn chosen(&self, store: &dyn Store, session: &str) -> Result<String, CommandError> {
        log::chosen(store, &self.at, Some(session).filter(|session| *session != "last"))
    }
}

fn numbered(store: &dyn Store, session: &str, seq: u64) -> Result<Explained, CommandError> {
    let missing = || {
        CommandError::input(format!("record {seq} of this session belongs to no decision"))
            .hint("`jackline log` shows the numbers after `#`")
    };
    if let Some(last) = retired(store, session)?.filter(|last| (1..=*last).contains(&seq)) {
        return Err(audit::retired(seq, last));
    }
    let mut pairs = Pairs::of(store, session)?;
    pairs.find(|pair| pair.as_ref().is_ok_and(|pair| pair.spans(seq))).transpose()?.ok_or_else(missing)
}

/// The last record that was retired of a session's beginning.
fn retired(store: &dyn Store, session: &str) -> Result<Option<u64>, CommandError> {
    let first = store.lines(session, 0)?.next().transpose()?;
    Ok(first.and_then(|line| timeline::missing(&replay::record(&line).ok()?)))
}

fn last_refusal(store: &dyn Store, session: &str) -> Result<Option<Explained>, CommandError> {
    let mut last = None;
    for pair in Pairs::of(store, session)? {
        let pair = pair?;
        if timeline::verdict(&pair.decision) > Verdict::Allow
            || timeline::would_deny(&pair.decision)
            || pair.is_served()
        {
            last = Some(pair);
        }
    }
    Ok(last)
}

fn refusal(store: &dyn Store, session: &str) -> Result<Explained, CommandError> {
    let gone = retired(store, session)?;
    last_refusal(store, session)?.ok_or_else(|| {
        let what = gone.map_or_else(
            || "nothing was refused in this session".to_owned(),
            |last| format!("nothing was refused in what is left of this session; records 1 to {last} were retired"),
        );
        CommandError::input(what).hint("name a decision: `jackline explain SESSION SEQ`")
    })
}

impl Explained {
    /// Whether it is the end of a call that our own server did not carry out: what it told stands in the outcome.
    fn is_served(&self) -> bool {
        !self.served().is_empty()
    }

    /// What our own server told of a call that it did not carry out, and by which code.
    fn served(&self) -> Vec<String> {
        let outcome = |member: &str| self.event.pointer(&format!("/data/output/{member}")).and_then(Value::as_str);
        let failed = self.event.pointer("/data/ok") == Some(&Value::Bool(false));
        let ours = outcome("code").filter(|code| failed && code::remedy(code).is_some());
        let (Some(code), Some(error)) = (ours, outcome("error")) else { return Vec::new() };
        let first = error.lines().next().unwrap_or_default();
        [format!("{code}: {first}")]
            .into_iter()
            .chain(code::remedy(code).map(str::to_owned))
            .map(|line| timeline::harmless(&line))
            .collect()
    }

    fn spans(&self, seq: u64) -> bool {
        let number = |record: &Value| record.get("seq").and_then(Value::as_u64).unwrap_or_default();
        (number(&self.event)..=number(&self.decision)).contains(&seq)
    }
}

/// The events of a session with their decisions, one after another.
struct Pairs {
    lines: jackline_runtime::store::Lines,
}

impl Pairs {
    fn of(store: &dyn Store, session: &str) -> Result<Self, CommandError> {
        Ok(Self { lines: store.lines(session, 0)? })
    }
}

impl Iterator for Pairs {
    type Item = Result<Explained, CommandError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut event = None;
        loop {
            let record = match self.lines.next()?.map_err(CommandError::from).and_then(|line| {
                replay::record(&line).map_err(|why| CommandError::input(format!("a record cannot be read: {why}")))
            }) {
                Ok(record) => record,
                Err(fault) => return Some(Err(fault)),
            };
            match timeline::text(&record, "kind") {
                "decision" => return Some(Ok(Explained { event: event.unwrap_or_default(), decision: record })),
                "session.repaired" | "records.retired" | "session.retired" => {}
                _ => {
                    event.get_or_insert(record);
                }
            }
        }
    }
}

fn explained(found: &Explained, kept: &Kept, paint: Paint) -> String {
    let mut out = timeline::row(&found.event, &found.decision, paint);
    out.push('\n');
    let models = Models::of(&found.decision, kept);
    let tool = timeline::text(&found.event, "target").strip_prefix("tool:").unwrap_or_default();
    for finding in timeline::findings(&found.decision) {
        out.push_str(&finding_text(finding, (&models, tool), paint));
    }
    section(&mut out, paint, "our own server did not do it", &found.served());
    section(&mut out, paint, "exceptions", &exceptions(&found.decision));
    section(&mut out, paint, "feedback", &feedback(&found.decision));
    section(&mut out, paint, "asked", &consulted(&found.decision));
    section(&mut out, paint, "seen", &facts(&found.decision));
    section(&mut out, paint, "would have changed it", &remedies(&found.decision));
    section(&mut out, paint, "record", &[provenance(found)]);
    out
}

fn section(out: &mut String, paint: Paint, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    out.push_str(&format!("\n{}\n", paint.bold(title)));
    for line in lines {
        out.push_str(&format!("  {line}\n"));
    }
}

/// The definitions that judged, as far as their texts are kept: the workspace's first, then all others in force.
struct Models {
    own: Option<Model>,
    /// The workspace's own, as it is written.
    text: Option<String>,
    others: Vec<(String, Model)>,
}

impl Models {
    fn of(decision: &Value, kept: &Kept) -> Self {
        let own = decision.pointer("/definition/digest").and_then(Value::as_str);
        let layers = decision.pointer("/definition/layers").and_then(Value::as_array).into_iter().flatten();
        let others = layers.filter_map(Value::as_str).filter(|digest| Some(*digest) != own);
        let others = others.filter_map(|digest| Some((digest.to_owned(), model(digest, kept)?))).collect();
        Self {
            own: own.and_then(|digest| model(digest, kept)),
            text: own.and_then(|digest| text(digest, kept)),
            others,
        }
    }

    /// Where a setting stands that is no policy's; of a schema, where its tool is declared.
    fn setting(&self, code: &str, tool: &str) -> Option<String> {
        let keys: &[&str] = match code.split_once('/')? {
            ("budget", "cost") => &["limits", "cost_usd"],
            ("budget", kind) => &["limits", kind],
            ("loop", _) => &["loop"],
            ("tools", "unknown") => &["tools", "unknown"],
            ("tools", "native-todo") => &["todos", "native"],
            ("schema", "missing") => &["schema", "missing"],
            ("schema", _) => &["tools", "declare", tool],
            ("shell", "opaque" | "interactive" | "left-behind") => &["shell", "opaque"],
            ("mcp", "tools-changed") => &["mcp", "changed_tools"],
            _ => return None,
        };
        let span = span_of(self.text.as_deref()?, keys)?;
        Some(format!("jackline.yaml line {}", span.line))
    }

    /// Where a policy stands.
    fn place(&self, policy: &str) -> Option<String> {
        let own = self.own.as_ref().and_then(|model| line(model, policy));
        let other = || self.others.iter().find_map(|(digest, model)| Some((digest, line(model, policy)?)));
        own.map(|line| format!("jackline.yaml line {line}"))
            .or_else(|| other().map(|(digest, line)| elsewhere(digest, line)))
    }
}

/// A place outside the workspace's definition. A pack of another version than this program's has only its digest.
fn elsewhere(digest: &str, line: u32) -> String {
    let is_it = |pack: &&Pack| format!("sha256:{}", Digest::of(pack.text.as_bytes())) == digest;
    match PACKS.iter().find(is_it) {
        Some(pack) => format!("line {line} of `jackline pack show {}`", pack.name),
        None => format!("line {line} of another definition in force, {digest}"),
    }
}

fn text(digest: &str, kept: &Kept) -> Option<String> {
    kept.text(&Digest::parse(digest.strip_prefix("sha256:")?)?)
}

fn model(digest: &str, kept: &Kept) -> Option<Model> {
    kept.model(&text(digest, kept)?).ok().map(|(model, _)| model)
}

fn line(model: &Model, policy: &str) -> Option<u32> {
    let mut all = model.sections.iter().flat_map(|section| &section.policies).chain(&model.policies);
    let completion = || model.completion.as_ref().filter(|_| policy == completion::GUARD).map(|known| known.line);
    all.find(|known| known.name == policy).map(|known| known.line).or_else(completion)
}

fn finding_text(finding: &Value, (models, tool): (&Models, &str), paint: Paint) -> String {
    let name = timeline::text(finding, "policy");
    let place = models.place(name).or_else(|| models.setting(timeline::text(finding, "code"), tool));
    let place = place.map(|place| format!(", {place}")).unwrap_or_default();
    let enforced = match (timeline::exception(finding), finding.get("enforced")) {
        (Some(id), _) => format!(" (lifted by exception {})", timeline::shown(id)),
        (None, Some(Value::Bool(false))) => " (not enforced)".to_owned(),
        (None, _) => String::new(),
    };
    // A guard that belongs to no policy of the definition goes by its own name.
    let what = if name == timeline::text(finding, "guard") { "guard" } else { "policy" };
    let head = format!("{what} {}{place}{enforced}", timeline::shown(name));
    let whole = |member: &str| timeline::harmless(timeline::text(finding, member));
    format!("\n{}\n  {}: {}\n  {}\n", paint.bold(&head), whole("code"), whole("verdict"), whole("reason"))
}

fn consulted(decision: &Value) -> Vec<String> {
    let names = decision.pointer("/data/consulted").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = names.filter_map(Value::as_str).collect();
    if names.is_empty() { Vec::new() } else { vec![timeline::harmless(&names.join(", "))] }
}

/// What the agent was advised, line by line.
fn feedback(decision: &Value) -> Vec<String> {
    let told = decision.pointer("/data/feedback").and_then(Value::as_str).unwrap_or_default();
    told.lines().map(timeline::harmless).collect()
}

fn facts(decision: &Value) -> Vec<String> {
    let facts = decision.pointer("/data/facts").and_then(Value::as_array).into_iter().flatten();
    facts.filter(|pair| pair.pointer("/probe/exceptions").is_none()).map(seen::text).collect()
}

/// The exceptions that were in force for what was refused.
fn exceptions(decision: &Value) -> Vec<String> {
    let facts = decision.pointer("/data/facts").and_then(Value::as_array).into_iter().flatten();
    let mut lines = Vec::new();
    for pair in facts.filter(|pair| pair.pointer("/probe/exceptions").is_some()) {
        let seen = pair.pointer("/fact/excepted").and_then(Value::as_array).into_iter().flatten();
        lines.extend(seen.filter_map(timeline::excepted));
        lines.extend(pair.pointer("/fact/unknown").map(|why| format!("could not be told: {}", seen::shown(why))));
    }
    lines
}

/// What each finding suggests, and what its code's documentation says.
fn remedies(decision: &Value) -> Vec<String> {
    let mut remedies = Vec::new();
    for finding in timeline::findings(decision) {
        let told = timeline::text(finding, "code");
        let suggested = finding.get("suggestions").and_then(Value::as_array).into_iter().flatten();
        // What a budget's code says holds the advice, and the owner's way out.
        let suggested = suggested.filter(|_| timeline::text(finding, "guard") != "budget");
        let suggested = suggested.filter_map(Value::as_str).map(|text| format!("{told}: {text}"));
        for remedy in suggested.chain(code::remedy(told).map(|remedy| format!("{told}: {remedy}"))) {
            let remedy = timeline::harmless(&remedy);
            if !remedies.contains(&remedy) {
                remedies.push(remedy);
            }
        }
    }
    remedies
}

fn provenance(found: &Explained) -> String {
    let decision = &found.decision;
    let number = decision.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let replayable = if found.event.get("replayable") == Some(&Value::Bool(false)) { ", not replayable" } else { "" };
    format!(
        "session {} #{number}, hash {}, definition {}{replayable}",
        timeline::shown(timeline::text(decision, "session")),
        timeline::text(decision, "hash"),
        decision.pointer("/definition/digest").and_then(Value::as_str).unwrap_or("none"),
    )
}
