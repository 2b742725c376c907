//! `jackline doctor`: whether sessions in this workspace would be guarded, and what to do where they would not.
//!
//! Looks and tries out; changes nothing.

mod below;
mod beside;
mod chains;
mod client;
mod definition;
mod report;
mod server;
mod silenced;
mod store;
mod trial;
mod wiring;

use std::path::{Path, PathBuf};

use jackline_runtime::definitions::Definitions as _;

use crate::error::CommandError;
use crate::hosts;
use crate::place::{self, Where};
use report::Report;
use wiring::Wired;

use super::Format;

/// Say whether sessions here would be guarded, and what to do where not
///
/// Looks at the client, its settings, the definition and the store, and tries the wired hook out on a store of its own.
/// Exits with 1 when a line is `fail`: anything would pass unjudged, or is broken; a warning alone exits with 0. Changes nothing.
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
        used.iter().for_each(|host| {
            silenced::look(host, &root, &mut report);
            client::look(host, &root, &mut report);
        });
        let start = self.at.workspace()?;
        let around = place::between(&start, &root);
        for host in &used {
            let found = wiring::look(host, (&root, &start), &mut report);
            if !found.is_empty() {
                wiring::around(host, &root, &around, &mut report);
                beside::extensions(host, &root, &mut report);
            }
            wired.extend(found);
        }
        if !wired.is_empty() {
            beside::instructed(&root, &mut report);
        }
        wiring::unwired(&used, &wired, &mut report);
        wired.iter().for_each(|wired| trial::look(wired, &mut report));
        for host in &used {
            let own = wired.iter().filter(|wired| wired.host.name == host.name);
            server::look(host, &root, own.clone().find_map(Wired::store).as_deref(), &mut report);
        }
        // What is wired in one work tree judges in all others by what is declared there.
        let judged = wired.iter().find_map(|wired| wired.home(&root)).unwrap_or_else(|| root.clone());
        definition::passed_over(&start, &judged, &mut report);
        for (at, wired) in self.stores(&judged, &wired) {
            self.look_at(&at, &judged, &wired, &mut report);
        }
        wiring::holes(&used, &mut report);
        report.print(self.format)
    }
    /// Every state directory that hooks keep their records in, with those hooks; one where nothing is wired.
    fn stores<'w>(&self, root: &Path, wired: &'w [Wired]) -> Vec<(Where, Vec<&'w Wired>)> {
        let at =
            |baked: Option<PathBuf>| Where { workspace: Some(root.to_owned()), store: self.at.store.clone().or(baked) };
        let kept = |wired: &Wired| wired.store().or_else(|| place::shared_state(root));
        let mut stores: Vec<(Where, Vec<&Wired>)> = Vec::new();
        for wired in wired {
            let at = at(kept(wired));
            match stores.iter_mut().find(|(known, _)| known.store == at.store) {
                Some((_, users)) => users.push(wired),
                None => stores.push((at, vec![wired])),
            }
        }
        if stores.is_empty() {
            stores.push((at(None), Vec::new()));
        }
        stores
    }

    /// Looks at one state directory, and at the definition as the hooks that use it know it.
    fn look_at(&self, at: &Where, root: &Path, wired: &[&Wired], report: &mut Report) {
        let state = match at.state() {
            Ok(state) => state,
            Err(error) => return report.error("store", error),
        };
        let judged_by = place::judged_by(state.clone(), root.to_owned()).stack(None, None);
        let stack = judged_by.map(|standing| standing.stack.clone()).unwrap_or_default();
        wired.iter().for_each(|wired| wiring::waits(wired, &stack, report));
        wired.iter().for_each(|wired| server::exit(wired.host, root, &stack, report));
        definition::look(&state, root, report);
        store::look(&state, &self.at, report);
        chains::look(at, report);
    }
}
