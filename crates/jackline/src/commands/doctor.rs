//! `jackline doctor`: whether sessions in this workspace would be guarded, and what to do where they would not.
//!
//! Looks and tries out; changes nothing.

mod chains;
mod client;
mod definition;
mod report;
mod server;
mod store;
mod trial;
mod wiring;

use jackline_runtime::definitions::Definitions as _;

use crate::error::CommandError;
use crate::hosts;
use crate::place::{self, Where};
use report::Report;

use super::Format;

/// Say whether sessions here would be guarded, and what to do where not
///
/// Looks at the client, its settings, the definition and the store, and tries the wired hook out on a store of its own.
/// Exits with 0 when all is fine, and with 1 when anything would pass unjudged or is broken. Changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    at: Where,
}

impl Doctor {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let root = self.at.project()?;
        let mut report = Report::default();
        let mut wired = Vec::new();
        let used = hosts::used(&root);
        used.iter().for_each(|host| client::look(host, &mut report));
        used.iter().for_each(|host| wired.extend(wiring::look(host, &root, &mut report)));
        wiring::unwired(&used, &wired, &mut report);
        wired.iter().for_each(|wired| trial::look(wired, &mut report));
        let baked = wired.iter().find_map(wiring::Wired::store);
        server::look(&used, &root, baked.as_deref(), &mut report);
        let at = Where { workspace: Some(root.clone()), store: self.at.store.clone().or(baked) };
        match at.state() {
            Ok(state) => {
                let judged_by = place::judged_by(state.clone(), root.clone()).stack(None, None);
                let stack = judged_by.map(|standing| standing.stack.clone()).unwrap_or_default();
                wired.iter().for_each(|wired| wiring::waits(wired, &stack, &mut report));
                definition::look(&state, &root, &mut report);
                store::look(&state, &self.at, &mut report);
                chains::look(&at, &mut report);
            }
            Err(error) => report.error("store", error),
        }
        wiring::holes(&used, &mut report);
        report.print(self.format)
    }
}
