//! `jackline status`: what holds in this workspace now. Reads only.

use std::path::Path;

use jackline_core::definition::model::Mode;
use jackline_core::exception::Exception;
use jackline_core::overrides::Imposed;
use jackline_core::session::Session;
use jackline_core::stack::{Layer, Origin};
use jackline_core::time::Timestamp;
use jackline_core::{Meter, meters};
use jackline_runtime::definitions::{Definitions as _, Standing};
use jackline_runtime::exceptions::Exceptions;
use jackline_runtime::store::Store as _;
use jackline_runtime::{Runtime, clock, replay};
use serde_json::{Value, json};

use super::{Format, sessions};
use crate::error::CommandError;
use crate::hosts::{self, Asking};
use crate::place::{self, Where};
use crate::{exceptions, paint::Paint, screen, timeline};

/// Show what holds in the workspace now: definition, hosts, exceptions, the newest session
#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

/// All that is shown.
struct Shown {
    root: String,
    /// The definitions in force; or why there are none.
    standing: Result<Standing, String>,
    /// Hosts that ask us here, with the settings that say so.
    asking: Vec<Asking>,
    exceptions: Vec<Exception>,
    session: Option<Newest>,
    now: Timestamp,
}

/// The workspace's session that was written last.
struct Newest {
    id: String,
    state: Session,
    tally: Tally,
}

/// What a session's log adds up to.
#[derive(Debug, Default)]
struct Tally {
    calls: u64,
    asked: u64,
    denied: u64,
    would_deny: u64,
    /// Let through by an exception.
    lifted: u64,
    latest: String,
    ended: bool,
    /// The last record that was retired: what happened up to it is not counted.
    missing: Option<u64>,
}

impl Status {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let shown = self.look()?;
        match self.format {
            Format::Human => Ok(screen::show(&shown.text(Paint::for_stdout()))?),
            Format::Json => Ok(screen::line(&shown.json().to_string())?),
        }
    }

    fn look(&self) -> Result<Shown, CommandError> {
        let here = self.at.workspace()?;
        let found = self.at.definitions_of_sessions(hosts::at_home_in(&here))?;
        let standing = found.stack(None, None).map(|standing| standing.as_ref().clone());
        let (root, home) = match &standing {
            Ok(standing) => (standing.stack.root.clone(), standing.stack.home().to_owned()),
            Err(_) => (here.display().to_string(), here.display().to_string()),
        };
        let now = clock::now();
        Ok(Shown {
            exceptions: Exceptions::of(&self.at.state()?, &home).in_force(now)?,
            session: self.newest(&root)?,
            asking: hosts::wired(Path::new(&root), &here),
            standing: standing.map_err(|fault| fault.to_string()),
            root,
            now,
        })
    }

    fn newest(&self, root: &str) -> Result<Option<Newest>, CommandError> {
        let listed = sessions::list(&self.at.files()?, &self.at, true)?;
        let Some(newest) = listed.into_iter().find(|session| session.workspace() == root) else { return Ok(None) };
        let id = newest.entry.id;
        let runtime = Runtime::builder().state(self.at.state()?).definitions(self.at.definitions_read_only()?).build();
        let runtime = runtime.map_err(|fault| CommandError::internal(fault.to_string()))?;
        let mut tally = Tally::default();
        let (mut called, mut first) = (false, true);
        for line in self.at.files()?.lines(&id, 0)? {
            let record = replay::record(&line?).map_err(|why| {
                CommandError::input(format!("a record cannot be read: {why}")).hint("run `jackline audit verify`")
            })?;
            if std::mem::take(&mut first) {
                tally.missing = timeline::missing(&record);
            }
            called = tally.count(&record, called);
        }
        Ok(Some(Newest { state: runtime.session(&id)?, id, tally }))
    }
}

impl Tally {
    /// Counts a record; whether the decision that follows is about a requested call.
    fn count(&mut self, record: &Value, called: bool) -> bool {
        if timeline::is_of_retention(record) {
            return called;
        }
        timeline::text(record, "at").clone_into(&mut self.latest);
        match timeline::text(record, "kind") {
            "call.requested" => {
                self.calls += 1;
                self.ended = false;
                true
            }
            "decision" if called => {
                self.decided(record);
                false
            }
            "session.ended" => {
                self.ended = true;
                false
            }
            "session.started" | "prompt.submitted" => {
                self.ended = false;
                false
            }
            _ => called,
        }
    }

    fn decided(&mut self, decision: &Value) {
        use jackline_core::decision::Verdict;
        match timeline::verdict(decision) {
            Verdict::Ask => self.asked += 1,
            Verdict::Deny | Verdict::Halt => self.denied += 1,
            Verdict::Allow if timeline::lifted(decision) => self.lifted += 1,
            Verdict::Allow => self.would_deny += u64::from(timeline::would_deny(decision)),
        }
    }
}

impl Shown {
    fn text(&self, paint: Paint) -> String {
        let mut out = String::new();
        part(&mut out, paint, "workspace", &[timeline::harmless(&self.root)]);
        part(&mut out, paint, "definition", &self.definition());
        part(&mut out, paint, "hosts", &self.hosts());
        part(&mut out, paint, "exceptions", &self.excepted());
        part(&mut out, paint, "session", &self.session_lines());
        out
    }

    fn definition(&self) -> Vec<String> {
        let standing = match &self.standing {
            Ok(standing) => standing,
            Err(why) => return vec![format!("none in force: {}", timeline::harmless(why))],
        };
        let path = standing.stack.path.as_deref().map(|path| place::shown(Path::new(path)));
        let layers = standing.stack.layers.iter().map(|layer| layer_line(layer, path.as_deref()));
        let notices = standing.notices.iter().map(|notice| format!("note: {}", timeline::harmless(notice)));
        layers.chain(notices).collect()
    }

    fn hosts(&self) -> Vec<String> {
        if self.asking.is_empty() {
            return vec!["none asks here; run `jackline init`".to_owned()];
        }
        let line = |Asking { host, scope, here }: &Asking| {
            let unless = if *here { "" } else { ", which it does not read where you are" };
            format!("{} ({} settings{unless})", host.title, scope.name())
        };
        self.asking.iter().map(line).collect()
    }

    fn excepted(&self) -> Vec<String> {
        if self.exceptions.is_empty() {
            return vec!["none".to_owned()];
        }
        self.exceptions.iter().map(|exception| exceptions::shown(exception, self.now)).collect()
    }

    fn session_lines(&self) -> Vec<String> {
        let Some(Newest { id, state, tally }) = &self.session else { return vec!["none yet".to_owned()] };
        let when = tally.latest.get(..19).unwrap_or_default().replace('T', " ");
        let parked = state.parked_for().map(|why| format!(" ({})", timeline::shown(why))).unwrap_or_default();
        let stopped = state.stopped.map(|stopped| format!(", stopped: {}{parked}", stopped.name())).unwrap_or_default();
        let ended = if tally.ended { format!("{stopped}, ended") } else { stopped };
        let mut lines = vec![format!("{}, last event {when}{ended}", timeline::shown(id)), tally.words()];
        for (origin, meter) in self.meters(state) {
            lines.push(format!("{} ({origin})", meter_words(&meter)));
        }
        lines.extend(
            state.budget.unmetered.then(|| "what was used cannot be told from the host's transcript".to_owned()),
        );
        for (agent, imposed) in overrides(state, self.now) {
            lines.push(format!(
                "override on {}: {}",
                timeline::shown(agent),
                timeline::shown(&imposed.settings.to_value().to_string())
            ));
        }
        for (agent, halt) in halts(state) {
            let (agent, reason) = (timeline::shown(agent), timeline::shown(&halt.reason));
            lines.push(format!("halted: {agent}, {}: {reason}", timeline::shown(&halt.code)));
        }
        lines
    }

    fn meters(&self, state: &Session) -> Vec<(&'static str, Meter)> {
        let layers = self.standing.iter().flat_map(|standing| &standing.stack.layers);
        let now = state.now(self.now);
        layers
            .flat_map(|layer| {
                let meters = meters(&layer.model.limits, state, now);
                meters.into_iter().map(|meter| (origin(layer), meter))
            })
            .collect()
    }

    fn json(&self) -> Value {
        json!({
            "workspace": self.root,
            "definition": self.definition_json(),
            "hosts": self.asking.iter().map(|Asking { host, scope, here }| json!({ "host": host.name, "scope": scope.name(), "here": here })).collect::<Vec<_>>(),
            "exceptions": self.exceptions.iter().map(|exception| self.exception_json(exception)).collect::<Vec<_>>(),
            "session": self.session.as_ref().map(|newest| self.session_json(newest)),
        })
    }

    fn definition_json(&self) -> Value {
        let standing = match &self.standing {
            Ok(standing) => standing,
            Err(why) => return json!({ "fault": why }),
        };
        let layers = standing.stack.layers.iter().map(|layer| {
            json!({
                "origin": origin(layer),
                "pack": layer.pack().map(|pack| pack.name),
                "digest": format!("sha256:{}", layer.digest),
                "trusted": layer.trusted,
                "mode": mode(layer),
            })
        });
        json!({
            "path": standing.stack.path,
            "layers": layers.collect::<Vec<_>>(),
            "notices": standing.notices,
        })
    }

    fn exception_json(&self, exception: &Exception) -> Value {
        let mut value = json!(exception);
        if let Value::Object(fields) = &mut value {
            fields.insert("left_ms".to_owned(), json!(exception.until.since(self.now)));
        }
        value
    }

    fn session_json(&self, Newest { id, state, tally }: &Newest) -> Value {
        let meters = self.meters(state).into_iter().map(|(origin, meter)| {
            json!({ "origin": origin, "kind": meter.kind, "used": meter.used, "limit": meter.limit, "exhausted": meter.exhausted, "soft": meter.soft })
        });
        let halts =
            halts(state).map(|(agent, halt)| json!({ "agent": agent, "code": halt.code, "reason": halt.reason }));
        let overrides = overrides(state, self.now)
            .map(|(agent, imposed)| json!({ "agent": agent, "override": imposed.to_value() }));
        json!({
            "session": id,
            "latest": tally.latest,
            "ended": tally.ended,
            "stopped": state.stopped,
            "parked": state.parked_for(),
            "calls": tally.calls,
            "asked": tally.asked,
            "denied": tally.denied,
            "would_deny": tally.would_deny,
            "lifted": tally.lifted,
            "budgets": meters.collect::<Vec<_>>(),
            "halted": halts.collect::<Vec<_>>(),
            "unmetered": state.budget.unmetered,
            "overrides": overrides.collect::<Vec<_>>(),
        })
    }
}

impl Tally {
    fn words(&self) -> String {
        let counts = [
            (self.denied, "denied"),
            (self.asked, "asked about"),
            (self.would_deny, "would have been denied"),
            (self.lifted, "let through by an exception"),
        ];
        let counts = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!(", {n} {what}"));
        let since = self.missing.map(|last| format!(" since record {last}, up to which all were retired"));
        let (s, since) = (if self.calls == 1 { "" } else { "s" }, since.unwrap_or_default());
        format!("{} call{s}{}{since}", self.calls, counts.collect::<String>())
    }
}

fn part(out: &mut String, paint: Paint, title: &str, lines: &[String]) {
    for (number, line) in lines.iter().enumerate() {
        let head = if number == 0 { paint.bold(&format!("{title:<11}")) } else { " ".repeat(11) };
        out.push_str(&format!("{head} {line}\n"));
    }
}

fn layer_line(layer: &Layer, path: Option<&str>) -> String {
    let what = match (layer.origin, path) {
        (Origin::Project, Some(path)) => timeline::harmless(path),
        (Origin::Pack(name), _) => format!("pack {name}"),
        _ => format!("the {}'s", origin(layer)),
    };
    let trusted = if layer.trusted { "trusted" } else { "accepted, not trusted" };
    format!("{what} (sha256:{}), {trusted}, mode {}", layer.digest, mode(layer))
}

fn origin(layer: &Layer) -> &'static str {
    match layer.origin {
        Origin::Machine => "machine",
        Origin::User => "user",
        Origin::Project => "project",
        Origin::Accepted => "accepted",
        Origin::Pack(_) => "pack",
    }
}

/// The mode that counts: observing needs trust.
fn mode(layer: &Layer) -> &'static str {
    if layer.observes() { Mode::Observe.name() } else { Mode::Enforce.name() }
}

fn overrides(state: &Session, now: Timestamp) -> impl Iterator<Item = (&str, &Imposed)> {
    let now = state.now(now);
    let all = state
        .memory
        .agents
        .iter()
        .flat_map(|(name, agent)| agent.overrides.iter().map(move |one| (name.as_str(), one)));
    all.filter(move |(_, imposed)| imposed.lasts(now))
}

fn halts(state: &Session) -> impl Iterator<Item = (&str, &jackline_core::session::Halt)> {
    state.memory.agents.iter().filter_map(|(name, agent)| Some((name.as_str(), agent.halted.as_ref()?)))
}

/// A limit and what is used of it, in words.
pub(crate) fn meter_words(meter: &Meter) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (used, limit) = (plain(&meter.used), plain(&meter.limit));
    let spent = match (meter.exhausted, meter.soft) {
        (true, _) => ", used up",
        (false, true) => ", soft",
        (false, false) => "",
    };
    match meter.kind {
        "deadline" => format!("deadline {limit}, now {used}{spent}"),
        kind => format!("{kind} {used} of {limit}{spent}"),
    }
}
