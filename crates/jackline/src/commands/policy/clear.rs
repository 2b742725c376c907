//! `jackline policy clear`: everything about file policies is forgotten, so that they fire anew.

use std::collections::BTreeSet;

use jackline_core::event::{Body, Event};
use jackline_runtime::clock;
use jackline_runtime::files::queue::Queue;
use jackline_runtime::files::{self, Folder};

use super::Workspace;
use crate::error::CommandError;
use crate::place::Where;
use crate::{person, screen, timeline};

/// Sessions that are told; an older one that says something settled is not asked again without its entry.
const SESSIONS_MAX: usize = 64;

/// Forget how file policies stand: all of them fire anew
///
/// What a policy asked for that is gone or broken now would be let go: that is a person's to say, and asked on a terminal.
#[derive(Debug, clap::Args)]
pub(crate) struct Clear {
    /// Do not ask (a terminal must be attached all the same)
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    at: Where,
}

/// The policies that are gone or broken, and whose entries are outstanding.
fn lost(folder: &Folder) -> Vec<String> {
    let known = files::policies(folder).policies;
    let is_known = |name: &str| known.iter().any(|policy| policy.id == name);
    let open = Queue::of(folder).all().0.into_iter().filter(|entry| !entry.status.is_settled());
    open.map(|entry| entry.policy_name).filter(|name| !is_known(name)).collect()
}

impl Clear {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::outside_a_session()?;
        let workspace = Workspace::of(&self.at)?;
        let folders = workspace.folders();
        let lost: BTreeSet<String> = folders.iter().flat_map(lost).collect();
        if !lost.is_empty() {
            let named: Vec<String> = lost.iter().map(|name| format!("`{}`", timeline::shown(name))).collect();
            let question =
                format!("{} cannot fire anew, and what it asked for is outstanding. Let it go?", named.join(", "));
            person::agrees(&question, self.yes)?;
        }
        let runtime = workspace.runtime(false)?;
        let (mut sessions, mut cleared) = (BTreeSet::from([workspace.session()]), 0);
        for folder in &folders {
            let queue = Queue::of(folder);
            sessions.extend(queue.all().0.into_iter().map(|entry| entry.session));
            cleared += queue.clear()?;
        }
        for session in sessions.iter().filter(|session| !session.is_empty()).take(SESSIONS_MAX) {
            let known = runtime.session(session).is_ok_and(|known| known.began.is_some());
            if known {
                runtime.decide_for_person(&Event::new(session.clone(), clock::now(), Body::PoliciesCleared));
            }
        }
        let noun = if cleared == 1 { "entry" } else { "entries" };
        Ok(screen::line(&format!("cleared {cleared} {noun}"))?)
    }
}
