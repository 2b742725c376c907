//! Is there a definition that judges, and does it say what its owner thinks it says?

use std::path::Path;

use jackline_core::definition::model::Confine;
use jackline_core::files::seen::PolicyFault;
use jackline_core::stack::{Origin, Stack};
use jackline_runtime::clock;
use jackline_runtime::definitions::{DefinitionFault, Definitions as _, Scripts, Standing, discover, read_text};
use jackline_runtime::exceptions::Exceptions;
use jackline_runtime::files::{self, actions};
use jackline_runtime::limits;
use jackline_runtime::runner::{self, Confined};

use super::report::Report;
use crate::commands::check;
use crate::hosts;
use crate::{exceptions, place};

const GROUP: &str = "definition";
const FILES: &str = "file policies";

pub(super) fn look(state: &Path, root: &Path, report: &mut Report) {
    let found = place::judged_by(state.to_owned(), root.to_owned());
    match found.stack(None, None) {
        Ok(standing) => {
            judged(&standing, root, report);
            excepted(state, &standing.stack.root, report);
        }
        Err(fault @ DefinitionFault::Missing(_)) => {
            report.fail(GROUP, format!("{fault}, so nothing is judged"), "jackline init");
        }
        Err(fault @ DefinitionFault::Faulty { .. }) => {
            report.fail(GROUP, format!("{fault}, so every call is denied"), "jackline check");
        }
        Err(fault) => report.fail(GROUP, format!("{fault}, so every call is denied"), "look at its rights"),
    }
}

/// A definition that lies here and is not the one that sessions here are judged by, unless both say the same.
pub(super) fn passed_over(start: &Path, judged: &Path, report: &mut Report) {
    let (Some(here), Some(counts)) = (discover(start), discover(judged)) else { return };
    let said = |path: &Path| read_text(path).ok();
    if here == counts || said(&here).is_some_and(|text| said(&counts) == Some(text)) {
        return;
    }
    let [here, counts] = [here, counts].map(|path| place::shown(&path));
    let text = format!(
        "`{here}` is not used: sessions that begin here are judged by `{counts}`, which is wired for all of the repository"
    );
    report.warn(
        GROUP,
        text,
        format!("move its policies to `{counts}`, or wire the user's settings instead (`--scope user`)"),
    );
}

fn judged(standing: &Standing, root: &Path, report: &mut Report) {
    for layer in &standing.stack.layers {
        let whose = match layer.origin {
            Origin::Machine => "the machine's".to_owned(),
            Origin::User => "the user's".to_owned(),
            Origin::Project => "the project's".to_owned(),
            Origin::Accepted => "the one accepted before".to_owned(),
            Origin::Pack(name) => format!("pack {name}"),
        };
        let count = layer.model.policies.len();
        let policies = if count == 1 { "policy" } else { "policies" };
        report.ok(GROUP, format!("{whose}: {count} {policies}{}", if layer.trusted { ", trusted" } else { "" }));
        // A pack only observes because the one that names it does, which is told already.
        if layer.observes() && !layer.is_pack() {
            report.warn(
                GROUP,
                format!("{whose} only observes (`mode: observe`): nothing is refused"),
                "`mode: enforce`",
            );
        }
    }
    for notice in &standing.notices {
        report.warn(GROUP, notice, "`jackline check` shows faults, `jackline trust` accepts a change");
    }
    filed(standing, report);
    confined(&standing.stack, report);
    for host in hosts::used(root) {
        if let Some(unreported) = limits::unreported(&standing.stack, Some(host.name)) {
            report.warn(GROUP, unreported, "declare `limits.tokens`, which is read from the host's transcript");
        }
    }
    let path = standing.stack.path.as_deref().map(Path::new);
    for fault in path.filter(|path| path.exists()).map(check::nested).unwrap_or_default() {
        report.warn(GROUP, fault.message, fault.help.unwrap_or_default());
    }
}

/// What the file policies are, which cannot be used, and whose command waits.
fn filed(standing: &Standing, report: &mut Report) {
    let told = |fault: &PolicyFault| format!("{}:{}: {}", fault.file, fault.line, fault.message);
    for fault in files::missing(&standing.stack) {
        report.fail(FILES, told(&fault), "`jackline policy list`");
    }
    for folder in files::folders(&standing.stack) {
        let read = files::policies(&folder);
        let count = read.policies.len();
        report.ok(FILES, format!("{}: {count} {}", folder.shown, if count == 1 { "policy" } else { "policies" }));
        for fault in &read.faults {
            let next = fault.help.clone().unwrap_or_else(|| "`jackline policy list` shows it".to_owned());
            match fault.warning {
                true => report.warn(FILES, told(fault), next),
                false => report.fail(FILES, told(fault), next),
            }
        }
        let Scripts::Trusted(known) = &standing.scripts else { continue };
        for (file, content, _) in actions::trusted(&folder) {
            if known.get(&file) != Some(&content) {
                report.warn(FILES, format!("{file}: its command does not run before it is trusted"), "jackline trust");
            }
        }
    }
}

/// Whether commands can be held as the definitions want it.
fn confined(stack: &Stack, report: &mut Report) {
    let runs = stack.layers.iter().any(|layer| !layer.model.commands().is_empty());
    let held = stack.checks();
    let wanted = held.confine.unwrap_or_default();
    if !runs || wanted == Confine::Off {
        return;
    }
    match runner::confinement(held.network.unwrap_or_default()) {
        Confined::Yes => report.ok(GROUP, "its commands can be confined"),
        Confined::Partly(why) | Confined::No(why) if wanted == Confine::Require => {
            let next = "a kernel that can, or `checks: {confine: auto}`";
            report.fail(GROUP, format!("its commands cannot be confined, so none runs: {why}"), next);
        }
        Confined::Partly(why) | Confined::No(why) => {
            let next = "`checks: {confine: require}` keeps commands from running that are not confined";
            report.warn(GROUP, format!("its commands are not confined: {why}"), next);
        }
    }
}

/// What a person lets pass for the time being.
fn excepted(state: &Path, root: &str, report: &mut Report) {
    let now = clock::now();
    match Exceptions::of(state, root).in_force(now) {
        Ok(all) => all.iter().for_each(|exception| {
            let text = format!("exception {}", exceptions::shown(exception, now));
            report.warn("exceptions", text, format!("jackline on {}", exception.id));
        }),
        Err(fault) => report.error("exceptions", fault.into()),
    }
}
