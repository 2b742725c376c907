//! `jackline policy clear`: everything about file policies is forgotten, so that they fire anew.

use std::collections::BTreeSet;

use jackline_core::event::{Body, Event};
use jackline_runtime::clock;
use jackline_runtime::files::queue::Queue;

use super::Workspace;
use crate::error::CommandError;
use crate::place::Where;
use crate::{person, screen};

/// Sessions that are told; an older one that says something settled is not asked again without its entry.
const SESSIONS_MAX: usize = 64;

/// Forget how file policies stand: all of them fire anew
#[derive(Debug, clap::Args)]
pub(crate) struct Clear {
    #[command(flatten)]
    at: Where,
}

impl Clear {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::outside_a_session()?;
        let workspace = Workspace::of(&self.at)?;
        let runtime = workspace.runtime(false)?;
        let (mut sessions, mut cleared) = (BTreeSet::from([workspace.session()]), 0);
        for folder in &workspace.folders() {
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
