//! The fold: applies changes to a session, keeping every bound. Runs no guard and asks nothing.

use super::{
    AGENTS_MAX, Agent, Budget, CONSTRAINTS_MAX, Change, DIAGNOSTICS_BYTES_MAX, DONE_MAX, Done, FINISHED_MAX, Key,
    MEMORY_MAX, Memory, OPEN_CALLS_MAX, Open, READS_MAX, READS_TOTAL_MAX, REPAIRS_MAX, Read, Repair, SNAPSHOTS_MAX,
    Session, Used, WINDOW_MAX, Windowed, nano_usd,
};
use crate::completion::Stopped;
use crate::event::MAIN_AGENT;
use crate::extension::{Extended, Extension};
use crate::listing::{PINNED_MAX, SERVERS_MAX, Served};
use crate::overrides::{Imposed, OVERRIDES_MAX};
use crate::schema::SchemaError;
use crate::sha::Digest;
use crate::time::Timestamp;
use crate::usage::TRANSCRIPTS_MAX;

impl Session {
    /// Applies what one event changed, in order.
    ///
    /// `snapshot` gives the content of a snapshot by digest; one that is lost is restored to the strict answer.
    pub fn apply(&mut self, at: Timestamp, changes: &[Change], snapshot: &dyn Fn(&Digest) -> Option<Vec<u8>>) {
        self.began.get_or_insert(at);
        self.latest = Some(self.now(at));
        self.ended = changes.contains(&Change::Over);
        for change in changes {
            self.apply_one(at, change, snapshot);
        }
    }

    fn apply_one(&mut self, at: Timestamp, change: &Change, snapshot: &dyn Fn(&Digest) -> Option<Vec<u8>>) {
        match change {
            Change::Pinned { pin } => self.pin = Some(pin.clone()),
            Change::Invariants { digest } => self.invariants = Some(*digest),
            Change::Judged { definition } => self.definition = Some(*definition),
            Change::Snapshot { name, digest } => self.keep_snapshot(name, *digest),
            Change::Restored { digest, .. } => match snapshot(digest).and_then(|bytes| Memory::decode(&bytes)) {
                Some(memory) => self.memory = memory,
                None => self.memory.lose(),
            },
            Change::Reset => self.reset(at),
            Change::Requested { agent, call, signature, refused, feeds, place } => {
                let (call, signature, refused, place) = (*call, *signature, *refused, *place);
                let (agent, step, writes) = (agent.clone(), self.steps + 1, self.writes);
                let (sighted, served, alias, ended) = (false, false, None, false);
                let open = Open { call, signature, agent, refused, step, writes, sighted, served, place, alias, ended };
                self.requested(open, *feeds);
            }
            Change::Finished { agent, call, signature } => self.close(agent, *call, signature),
            Change::Sighted { call, signature, refused, served, paired } => {
                self.sight((*call, *signature, *paired), *refused, *served);
            }
            Change::Served { served } => self.serve(served),
            Change::Wrote => self.writes += 1,
            Change::Acted { background } => {
                self.acts += 1;
                self.background |= background;
            }
            Change::Done { name, tree, writes } => self.succeed(name, *tree, *writes),
            Change::Prompted => {
                let now = self.now(at);
                self.budget.prompted(now);
                self.worked = false;
                self.stopped = None;
                self.memory.agents.values_mut().for_each(Agent::prompted);
            }
            Change::Scheduled { prompt } => self.schedule(*prompt),
            Change::Worked => (self.worked, self.owed) = (true, true),
            Change::Ended { stopped } => self.stand(*stopped),
            Change::Stopped { agent, stopped, parked } => {
                if agent == MAIN_AGENT {
                    self.stand(*stopped);
                    self.parked.clone_from(parked);
                }
                self.memory.apply(self.steps, change);
            }
            Change::Used { tokens, cost_usd } => {
                self.budget.session.add(*tokens, nano_usd(*cost_usd));
                self.budget.prompt.add(*tokens, nano_usd(*cost_usd));
            }
            Change::BudgetRefused => self.budget.refused = true,
            Change::BudgetTold { kind } => self.budget.told.push(kind.clone()),
            Change::BudgetWarned => self.budget.warned = true,
            Change::Metered { .. } | Change::Unmetered => self.meter(change),
            Change::Extended { extension } => {
                let now = self.now(at);
                self.budget.extend(now, extension);
            }
            Change::Files { step } => self.files.apply(step),
            Change::Todo { todo } => self.todos.keep(todo),
            Change::Stated { statement } => self.statements.record(statement),
            Change::Retracted { id } => self.statements.retract(id),
            change => self.memory.apply(self.steps, change),
        }
    }

    /// What guards remember is forgotten, and limits start anew.
    fn reset(&mut self, at: Timestamp) {
        self.memory = Memory::default();
        // A person who starts anew takes the servers as they are now, and is heard whatever an agent has scheduled.
        self.servers.clear();
        self.scheduled.clear();
        self.budget = Budget { reset: Some(self.now(at)), ..Budget::default() };
    }

    /// Counts what was learned of a transcript; nothing else. Deciding looks ahead with it, too.
    pub(crate) fn meter(&mut self, change: &Change) {
        if let Change::Metered { usage, .. } = change {
            let cost = usage.cost_micro_usd.saturating_mul(1_000);
            self.budget.session.add(usage.tokens, cost);
            self.budget.prompt.add(usage.tokens, cost);
            self.transcripts.retain(|mark| mark.file != usage.mark.file);
            self.transcripts.push(usage.mark.clone());
            if self.transcripts.len() > TRANSCRIPTS_MAX {
                self.transcripts.remove(0);
            }
        }
        self.budget.unmetered = matches!(change, Change::Unmetered);
    }

    fn requested(&mut self, open: Open, feeds: bool) {
        self.steps += 1;
        self.stopped = None;
        self.budget.session.steps += 1;
        self.budget.prompt.steps += 1;
        let agent = self.memory.agent(&open.agent, self.steps);
        if feeds {
            let call = Windowed { signature: open.signature, step: open.step, progressed: false };
            push(&mut agent.window, call, WINDOW_MAX);
        }
        if open.call.is_none() {
            // Hosts without ids do not tell of the end of a refused call: one that is asked for again is another.
            let gone = |old: &Open| old.refused && old.call.is_none() && old.agent == open.agent;
            self.open.retain(|old| !(gone(old) && old.signature == open.signature));
        }
        push(&mut self.open, open, OPEN_CALLS_MAX);
    }

    fn sight(&mut self, (call, signature, paired): (Key, Key, bool), refused: bool, served: bool) {
        let unnamed = self.unnamed_index(signature).filter(|_| paired);
        unnamed.and_then(|at| self.open.get_mut(at)).into_iter().for_each(|open| open.alias = Some(call));
        let same = |open: &&mut Open| open.is_named(call) && open.signature == signature;
        for open in self.open.iter_mut().filter(same) {
            // Our own server is the end of the way: no proxy comes after it.
            open.sighted = true;
            open.served |= served;
            open.refused |= refused;
        }
    }

    fn serve(&mut self, served: &Served) {
        self.servers.retain(|known| known.server != served.server);
        self.servers.push(served.clone());
        let pinned = |servers: &[Served]| servers.iter().map(|served| served.tools.len()).sum::<usize>();
        while self.servers.len() > SERVERS_MAX || self.servers.len() > 1 && pinned(&self.servers) > PINNED_MAX {
            self.servers.remove(0);
        }
    }

    fn close(&mut self, agent: &str, call: Option<Key>, signature: &Key) {
        let at = self.open_index(agent, call, signature);
        let by_alias = |open: &Open| open.alias.is_some() && open.alias == call;
        match at.and_then(|at| self.open.get_mut(at)) {
            // A host without ids tells of its end, too, and only by what it is.
            Some(open) if by_alias(open) && open.call.is_none() => open.ended = true,
            Some(open) => {
                let named = open.call;
                at.map(|at| self.open.remove(at));
                named.filter(|named| Some(*named) != call).into_iter().for_each(|named| self.end(named));
            }
            None => {}
        }
        call.into_iter().for_each(|call| self.end(call));
    }

    fn end(&mut self, call: Key) {
        push(&mut self.finished, call, FINISHED_MAX);
    }

    fn keep_snapshot(&mut self, name: &str, digest: Digest) {
        self.snapshots.retain(|(known, _)| known != name);
        self.snapshots.push((name.to_owned(), digest));
        if self.snapshots.len() > SNAPSHOTS_MAX {
            self.snapshots.remove(0);
        }
    }

    /// A stop was let through, and this is how the run stands.
    fn stand(&mut self, stopped: Stopped) {
        (self.stopped, self.stood, self.owed) = (Some(stopped), Some(stopped), false);
    }

    fn succeed(&mut self, name: &str, tree: Option<Digest>, writes: Option<u64>) {
        let done = &mut self.memory.done;
        done.retain(|known| known.name != name);
        done.push(Done { name: name.to_owned(), writes: writes.unwrap_or(self.writes), tree });
        if done.len() > DONE_MAX {
            done.remove(0);
        }
    }
}

impl Budget {
    fn prompted(&mut self, at: Timestamp) {
        self.prompted = Some(at);
        self.prompt = Used::default();
        self.prompt_extended = Extended::default();
        self.refused = false;
        self.told.clear();
    }

    fn extend(&mut self, at: Timestamp, more: &Extension) {
        self.session_extended.add(at, self.session, more);
        self.prompt_extended.add(at, self.prompt, more);
        // The next refusal is news again.
        self.refused = false;
        self.told.clear();
        self.warned = false;
    }
}

impl Memory {
    fn apply(&mut self, step: u64, change: &Change) {
        match change {
            Change::Kept { policy, key, value } => self.keep(policy, key, value.as_deref()),
            Change::Counted { scopes, recent } => self.count(scopes, recent.as_ref()),
            Change::Advised { taken } => self.take(taken),
            change => {
                if let Some(name) = change.agent() {
                    self.agent(name, step).apply(change);
                }
                self.bound_reads();
                self.bound_diagnostics();
            }
        }
    }

    fn keep(&mut self, policy: &str, key: &str, value: Option<&str>) {
        let place = (policy.to_owned(), key.to_owned());
        match value {
            None => {
                self.kept.remove(&place);
            }
            Some(value) => {
                self.kept.insert(place, value.to_owned());
                if self.kept.len() > MEMORY_MAX {
                    self.kept.pop_first();
                }
            }
        }
    }

    fn agent(&mut self, name: &str, step: u64) -> &mut Agent {
        if !self.agents.contains_key(name) && self.agents.len() >= AGENTS_MAX {
            self.forget_idlest();
        }
        let agent = self.agents.entry(name.to_owned()).or_default();
        agent.seen = step;
        agent
    }

    fn bound_reads(&mut self) {
        while self.agents.values().map(|agent| agent.reads.len()).sum::<usize>() > READS_TOTAL_MAX {
            let idlest =
                self.agents.values_mut().filter(|agent| !agent.reads.is_empty()).min_by_key(|agent| agent.seen);
            if let Some(agent) = idlest {
                agent.reads.remove(0);
            }
        }
    }

    fn bound_diagnostics(&mut self) {
        let bytes = |agent: &Agent| agent.repairs.iter().map(Repair::bytes).sum::<usize>();
        while self.agents.values().map(bytes).sum::<usize>() > DIAGNOSTICS_BYTES_MAX {
            let idlest = self.agents.values_mut().filter(|agent| bytes(agent) > 0).min_by_key(|agent| agent.seen);
            let kept = idlest.and_then(|agent| agent.repairs.iter_mut().find(|repair| !repair.attempts.is_empty()));
            if let Some(repair) = kept {
                repair.attempts.remove(0);
            }
        }
    }

    /// What was to be restored is gone: nothing counts as done or read, and what restrains an agent stays.
    fn lose(&mut self) {
        self.done.clear();
        self.kept.clear();
        self.agents.values_mut().for_each(|agent| agent.reads.clear());
    }

    fn forget_idlest(&mut self) {
        // A restrained agent is never forgotten before one that is not: forgetting it would lift what restrains it. The
        // main agent can make as many others as it likes, so it is never forgotten for one of them.
        let idlest = self
            .agents
            .iter()
            .min_by_key(|(name, agent)| {
                (name.as_str() == MAIN_AGENT, agent.halted.is_some(), agent.is_restrained(), agent.seen)
            })
            .map(|(name, _)| name.clone());
        if let Some(name) = idlest {
            self.agents.remove(&name);
        }
    }
}

impl Used {
    fn add(&mut self, tokens: u64, cost_nano_usd: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.cost_nano_usd = self.cost_nano_usd.saturating_add(cost_nano_usd);
    }
}

impl Agent {
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Read { file, content, .. } => self.remember(*file, *content),
            Change::Refreshed { file, content, .. } => self.refresh(file, *content),
            Change::Constrained { constraint, .. } => {
                self.constraints.retain(|known| known.signature != constraint.signature);
                self.constraints.push(constraint.clone());
                if self.constraints.len() > CONSTRAINTS_MAX {
                    self.constraints.remove(0);
                }
            }
            Change::Retried { signature, .. } => {
                for constraint in self.constraints.iter_mut().filter(|known| known.signature == *signature) {
                    constraint.retries_left = constraint.retries_left.saturating_sub(1);
                }
            }
            Change::Ticked { .. } => {
                for constraint in &mut self.constraints {
                    constraint.ttl_steps = constraint.ttl_steps.saturating_sub(1);
                }
            }
            Change::Lapsed { signature, .. } => {
                self.constraints.retain(|constraint| constraint.signature != *signature);
                self.window.clear();
            }
            Change::Halted { halt, .. } => self.halted = Some(halt.clone()),
            Change::Lifted { .. } => {
                self.halted = None;
                self.constraints.clear();
                self.window.clear();
                self.repairs.clear();
            }
            Change::Anew { .. } => {
                self.constraints.clear();
                self.window.clear();
            }
            Change::Imposed { imposed, .. } => self.impose(imposed),
            Change::OverridesTicked { counted, .. } => self.tick_overrides(counted),
            Change::OverrideLapsed { key, .. } => self.overrides.retain(|known| known.key() != *key),
            Change::Invalid { key, errors, .. } => self.fail(*key, errors),
            Change::Repaired { key, .. } => self.repairs.retain(|repair| repair.key != *key),
            Change::UnknownTool { tool, .. } => self.correct_tool = Some(tool.clone()),
            Change::KnownTool { .. } => self.correct_tool = None,
            Change::Outcome { signature, result, .. } => {
                self.outcomes.retain(|(known, _)| known != signature);
                push(&mut self.outcomes, (*signature, *result), WINDOW_MAX);
            }
            Change::Progressed { signature, .. } => self.progress(signature.as_ref()),
            Change::Stopped { .. } => (self.blocks, self.faulted) = (0, false),
            Change::StopBlocked { fault: true, .. } => self.faulted = true,
            Change::StopBlocked { .. } => self.blocks = self.blocks.saturating_add(1),
            Change::Parked { reason, .. } => self.parked = Some(reason.clone()),
            _ => {}
        }
    }

    /// The calls with this signature led to something else now; without one, all of them did.
    fn progress(&mut self, signature: Option<&Key>) {
        let meant = |call: &&mut Windowed| signature.is_none_or(|signature| call.signature == *signature);
        self.window.iter_mut().filter(meant).for_each(|call| call.progressed = true);
    }

    /// A person spoke: stops are counted anew, and who parked goes on.
    fn prompted(&mut self) {
        (self.blocks, self.faulted, self.parked) = (0, false, None);
    }

    fn impose(&mut self, imposed: &Imposed) {
        self.overrides.retain(|known| known.key() != imposed.key());
        // One too many stands for the call that put it, and is put again by the next one that matches.
        if self.overrides.len() < OVERRIDES_MAX {
            self.overrides.push(imposed.clone());
        }
    }

    fn tick_overrides(&mut self, counted: &[Key]) {
        for imposed in &mut self.overrides {
            imposed.steps_left = imposed.steps_left.map(|left| left.saturating_sub(1));
            imposed.calls = imposed.calls.saturating_add(u32::from(counted.contains(&imposed.key())));
        }
    }

    fn remember(&mut self, file: Key, content: Option<Key>) {
        self.reads.retain(|read| read.file != file);
        self.reads.push(Read { file, content });
        if self.reads.len() > READS_MAX {
            self.reads.remove(0);
        }
    }

    fn fail(&mut self, key: Key, errors: &[SchemaError]) {
        let at = self.repairs.iter().position(|repair| repair.key == key);
        let mut repair = at.map_or(Repair { key, count: 0, attempts: Vec::new() }, |at| self.repairs.remove(at));
        repair.count = repair.count.saturating_add(1);
        repair.attempts.push(errors.to_vec());
        self.repairs.push(repair);
        if self.repairs.len() > REPAIRS_MAX {
            self.repairs.remove(0);
        }
    }

    fn refresh(&mut self, file: &Key, content: Option<Key>) {
        for read in self.reads.iter_mut().filter(|read| read.file == *file) {
            read.content = content;
        }
    }
}

impl Change {
    /// The agent whose memory it changes.
    pub(crate) fn agent(&self) -> Option<&str> {
        match self {
            Change::Read { agent, .. }
            | Change::Refreshed { agent, .. }
            | Change::Constrained { agent, .. }
            | Change::Imposed { agent, .. }
            | Change::OverridesTicked { agent, .. }
            | Change::OverrideLapsed { agent, .. }
            | Change::Retried { agent, .. }
            | Change::Ticked { agent }
            | Change::Lapsed { agent, .. }
            | Change::Halted { agent, .. }
            | Change::Lifted { agent }
            | Change::Anew { agent }
            | Change::UnknownTool { agent, .. }
            | Change::KnownTool { agent }
            | Change::Outcome { agent, .. }
            | Change::Invalid { agent, .. }
            | Change::Repaired { agent, .. }
            | Change::Stopped { agent, .. }
            | Change::StopBlocked { agent, .. }
            | Change::Parked { agent, .. }
            | Change::Progressed { agent, .. } => Some(agent),
            _ => None,
        }
    }
}

fn push<T>(ring: &mut std::collections::VecDeque<T>, item: T, max: usize) {
    // Before, so that a full one need not grow.
    if ring.len() >= max {
        ring.pop_front();
    }
    ring.push_back(item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Constraint, MEMORY_BYTES_MAX};

    const AT: Timestamp = Timestamp(1_000);

    fn fold(changes: &[Change]) -> Session {
        let mut session = Session::default();
        session.apply(AT, changes, &|_| None);
        session
    }

    fn read(n: u32) -> Change {
        Change::Read { agent: "main".into(), file: Digest::of(&n.to_le_bytes()).short(), content: None }
    }

    #[test]
    fn reads_are_bounded_and_the_oldest_goes() {
        let session = fold(&(0..=READS_MAX as u32).map(read).collect::<Vec<_>>());
        let agent = session.agent("main").expect("seen");
        assert_eq!(agent.reads.len(), READS_MAX);
        assert!(agent.read(&Digest::of(&0u32.to_le_bytes()).short()).is_none());
        assert!(agent.read(&Digest::of(&1u32.to_le_bytes()).short()).is_some());
    }

    #[test]
    fn a_halted_agent_is_forgotten_last() {
        let halted =
            Change::Halted { agent: "a".into(), halt: super::super::Halt { code: "c".into(), reason: "r".into() } };
        let others = (0..AGENTS_MAX * 2).map(|n| Change::KnownTool { agent: format!("b{n}") });
        let session = fold(&std::iter::once(halted).chain(others).collect::<Vec<_>>());
        assert_eq!(session.memory.agents.len(), AGENTS_MAX);
        assert!(session.agent("a").is_some_and(|agent| agent.halted.is_some()));
    }

    #[test]
    fn what_restrains_an_agent_outlives_any_number_of_others() {
        let constraint = Constraint {
            signature: Key([1; 16]),
            action: String::new(),
            tool: "x".into(),
            target: String::new(),
            retries_left: 1,
            ttl_steps: 3,
            window: 3,
            threshold: 3,
            step: 1,
            observed: false,
        };
        let restrain = |agent: &str| {
            [
                Change::Constrained { agent: agent.into(), constraint: constraint.clone() },
                Change::Invalid { agent: format!("{agent}-2"), key: Key([2; 16]), errors: Vec::new() },
                Change::UnknownTool { agent: format!("{agent}-3"), tool: "y".into() },
            ]
        };
        let others = || (0..AGENTS_MAX * 2).map(|n| Change::KnownTool { agent: format!("b{n}") });
        let session = fold(&restrain("a").into_iter().chain(others()).collect::<Vec<_>>());
        assert!(["a", "a-2", "a-3"].iter().all(|name| session.agent(name).is_some_and(Agent::is_restrained)));
        // The main agent stays, however many others are restrained themselves.
        let main = Change::Constrained { agent: MAIN_AGENT.into(), constraint: constraint.clone() };
        let many = (0..AGENTS_MAX * 2).flat_map(|n| restrain(&format!("c{n}")));
        let session = fold(&std::iter::once(main).chain(many).collect::<Vec<_>>());
        assert_eq!(session.memory.agents.len(), AGENTS_MAX);
        assert!(session.agent(MAIN_AGENT).is_some_and(|agent| agent.constraint(&Key([1; 16])).is_some()));
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let mut session = fold(&[]);
        session.apply(Timestamp(10), &[], &|_| None);
        assert_eq!((session.began, session.latest), (Some(AT), Some(AT)));
    }

    #[test]
    fn a_lost_snapshot_leaves_nothing_done_and_every_restraint() {
        let halt = super::super::Halt { code: "c".into(), reason: "r".into() };
        let halted = Change::Halted { agent: "main".into(), halt };
        let mut session = fold(&[read(1), Change::Done { name: "tool:x".into(), tree: None, writes: None }, halted]);
        session.apply(AT, &[Change::Restored { name: "x".into(), digest: Digest::ZERO }], &|_| None);
        let agent = session.agent("main").expect("still known");
        assert!(session.memory.done.is_empty() && agent.reads.is_empty() && agent.halted.is_some());
    }

    #[test]
    fn what_was_wrong_is_forgotten_before_how_often() {
        let errors: Vec<SchemaError> = (0..20).map(|n| SchemaError::new("/x", "type", &format!("{n:0250}"))).collect();
        let key = |n: u32| Digest::of(&n.to_le_bytes()).short();
        let invalid = |n: u32| Change::Invalid { agent: "main".into(), key: key(n), errors: errors.clone() };
        let changes: Vec<Change> = (0..100).map(|_| invalid(1)).chain((2..30).map(invalid)).collect();
        let session = fold(&changes);
        let agent = session.agent("main").expect("seen");
        assert_eq!(agent.repair(&key(1)).map(|repair| repair.count), Some(100));
        assert!(agent.repairs.iter().map(Repair::bytes).sum::<usize>() <= DIAGNOSTICS_BYTES_MAX);
        assert_eq!(agent.repair(&key(29)).map(|repair| repair.attempts.len()), Some(1), "the latest is kept");
        let many = fold(&(0..=REPAIRS_MAX as u32).map(invalid).collect::<Vec<_>>());
        let agent = many.agent("main").expect("seen");
        assert!(agent.repairs.len() == REPAIRS_MAX && agent.repair(&key(0)).is_none());
        let done = fold(&[invalid(1), Change::Repaired { agent: "main".into(), key: key(1) }]);
        assert!(done.agent("main").is_some_and(|agent| agent.repairs.is_empty()));
    }

    #[test]
    fn state_stays_small_at_every_bound() {
        let mut changes: Vec<Change> = Vec::new();
        for agent in 0..AGENTS_MAX {
            changes.extend((0..200).map(|n| Change::Read {
                agent: format!("agent-{agent}"),
                file: Digest::of(&[agent as u8, n]).short(),
                content: Some(Key([7; 16])),
            }));
        }
        changes.extend((0..DONE_MAX * 2).map(|n| Change::Done { name: format!("tool-{n}"), tree: None, writes: None }));
        changes.extend((0..MEMORY_MAX * 2).map(|n| Change::Kept {
            policy: "p".into(),
            key: format!("k{n}"),
            value: Some("v".repeat(64)),
        }));
        let session = fold(&changes);
        assert_eq!(session.memory.agents.values().map(|agent| agent.reads.len()).sum::<usize>(), READS_TOTAL_MAX);
        let bytes = session.encode().len();
        assert!(bytes < 256 * 1024, "{bytes}");
        const { assert!(MEMORY_BYTES_MAX * MEMORY_MAX <= 256 * 1024) };
    }
}
