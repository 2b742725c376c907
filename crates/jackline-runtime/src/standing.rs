//! How a session stands, told to its agent: what is enforced, what of the limits is used, what restrains it.

use jackline_core::briefing::{Watching, briefing};
use jackline_core::definition::Bounds;
use jackline_core::files::seen::NAMES_TOLD_MAX;
use jackline_core::meters;
use jackline_core::session::{Agent, Constraint};
use jackline_core::stack::Stack;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::clock;
use crate::definitions::DefinitionFault;
use crate::runtime::Runtime;

impl Runtime {
    /// How a session and one of its agents stand, as one JSON object; or why that cannot be told.
    ///
    /// # Errors
    /// A refusal, where the session or its definitions cannot be read.
    pub fn standing(&self, session: &str, agent: &str) -> Result<Value, Box<Answer>> {
        let known = self.session(session).map_err(|fault| Box::new(Answer::refusal(fault.finding())))?;
        let stack = self.definitions.stack(known.pin.as_ref(), None);
        let standing = stack.map_err(|fault| Box::new(Answer::refusal(fault.finding())))?;
        let stack = &standing.stack;
        let now = known.now(clock::now());
        let limits = stack.layers.iter().flat_map(|layer| meters(&layer.model.limits, &known, now));
        let limits: Vec<Value> = limits
            .map(|meter| json!({ "kind": meter.kind, "used": meter.used, "limit": meter.limit, "exhausted": meter.exhausted }))
            .collect();
        let nobody = Agent::default();
        let agent = known.agent(agent).unwrap_or(&nobody);
        Ok(json!({
            "session": session,
            "definition": { "path": shown_path(stack), "digest": format!("sha256:{}", stack.digest()) },
            "enforced": briefing(stack, &watching(stack), None),
            "calls": known.steps,
            "limits": limits,
            "constraints": agent.constraints.iter().map(Constraint::to_value).collect::<Vec<_>>(),
            "halted": agent.halted.as_ref().map(|halt| json!({ "code": halt.code, "reason": halt.reason })),
            "todos": { "total": known.todos.len(), "open": known.todos.open().count() },
            "facts": known.statements.len(),
        }))
    }

    /// What an agent that begins here is told; nothing where nothing is enforced.
    #[must_use]
    pub fn briefing(&self) -> Option<String> {
        self.definitions
            .stack(None, None)
            .ok()
            .and_then(|standing| briefing(&standing.stack, &watching(&standing.stack), None))
    }

    /// The directory from which a session's relative paths are seen; and how much of a file may be shown at once, where
    /// that is declared.
    ///
    /// # Errors
    /// Why no definition is in force.
    pub fn bearings(&self, session: &str) -> Result<(String, Option<Bounds>), DefinitionFault> {
        let pinned = self.session(session).ok().and_then(|known| known.pin);
        let standing = self.definitions.stack(pinned.as_ref(), None)?;
        let enforcing = standing.stack.layers.iter().filter(|layer| !layer.observes());
        let reads = enforcing.filter_map(|layer| layer.model.reads).reduce(Bounds::and);
        Ok((pinned.map_or_else(|| standing.stack.root.clone(), |pin| pin.root), reads))
    }
}

/// The definition's place, seen from the workspace.
fn shown_path(stack: &Stack) -> Option<String> {
    let path = stack.path.as_ref()?;
    let inside = path.strip_prefix(&stack.root).map(|rest| rest.trim_start_matches('/'));
    Some(inside.unwrap_or(path).to_owned())
}

/// The file policies that will look at what an agent changed.
fn watching(stack: &Stack) -> Watching {
    let mut all = Watching::default();
    for folder in crate::files::folders(stack) {
        let policies = crate::files::policies(&folder).policies;
        all.total += policies.len();
        all.names.extend(policies.into_iter().map(|policy| policy.name));
    }
    all.names.truncate(NAMES_TOLD_MAX);
    all
}
