//! Does the host ask us, about everything, such that nothing passes when something fails?

use std::path::{Path, PathBuf};

use jackline_core::stack::Stack;
use jackline_runtime::wiring::{CommandLine, Entry, STOP_TIMEOUT_S, Scope, SettingsFault, Survey, Wiring, needed_s};

use super::report::Report;
use super::{below, beside};
use crate::error::CommandError;
use crate::hosts::{self, Folder, Host, Settings};
use crate::place;

const GROUP: &str = "wiring";

/// Settings that hold hooks of ours.
#[derive(Debug)]
pub(super) struct Wired {
    /// Whose settings they are.
    pub(super) host: &'static Host,
    /// How people are shown the settings.
    pub(super) shown: String,
    /// What the hooks run: the first one's, if they differ.
    pub(super) line: CommandLine,
    /// Whose settings they are, where they stand in the project itself.
    pub(super) own: Option<Scope>,
    /// How many seconds the host waits where an agent stops, by event.
    stops: Vec<(String, f64)>,
}

impl Wired {
    /// The state directory that is baked in.
    pub(super) fn store(&self) -> Option<PathBuf> {
        self.after("--store").map(PathBuf::from)
    }

    /// The project that is baked in, where this is another work tree of its repository.
    pub(super) fn home(&self, root: &Path) -> Option<PathBuf> {
        self.host.home_of(Path::new(self.after("--root")?), root)
    }

    fn after(&self, name: &str) -> Option<&String> {
        self.line.after(name)
    }

    /// The program, where the host would find it.
    pub(super) fn program(&self) -> Option<PathBuf> {
        place::started(&self.line)
    }
}

/// A settings file and whose it is; `None` for the machine's.
type Source = (Option<Scope>, PathBuf);

/// Looks at every settings file of a host; those that hold hooks of ours.
pub(super) fn look(host: &'static Host, (root, start): (&Path, &Path), report: &mut Report) -> Vec<Wired> {
    let managed = host.managed_files().into_iter().map(|path| (None, path));
    let scoped = host.settings_files(root).into_iter().map(|(scope, path)| (Some(scope), path));
    let wired = looked(host, managed.chain(scoped), root, report);
    if let Some((text, remedy)) = (host.open)().filter(|_| !wired.is_empty()) {
        report.warn(GROUP, text, remedy);
    }
    let counting = below::look(host, &wired, (root, start), report);
    if counting > 1 {
        let text = format!("everything is judged {counting} times: it is wired in several places");
        let scopes: Vec<&str> = host.scopes.iter().map(|scope| scope.name()).collect();
        report.fail(GROUP, text, format!("jackline uninit {} --scope {}", host.name, scopes.join("|")));
    }
    wired
}

/// Hosts that are here and do not ask. Where none does, nothing is judged; where some do, that may be meant so.
pub(super) fn unwired(used: &[&'static Host], wired: &[Wired], report: &mut Report) {
    if used.is_empty() {
        let remedy = format!("name the one you will use: `jackline init {}`", Host::names().join("|"));
        return report.fail(GROUP, "no host was found on this machine, and nothing is judged", remedy);
    }
    for host in used.iter().filter(|host| !wired.iter().any(|wired| wired.host.name == host.name)) {
        let text = format!("{} does not ask: no settings hold our hooks, and nothing is judged", host.title);
        let remedy = format!("jackline init {}", host.name);
        if wired.is_empty() {
            report.fail(GROUP, text, remedy);
        } else {
            report.warn(GROUP, text, remedy);
        }
    }
}

/// The machine's settings come first: they may say that no others count.
fn looked(host: &'static Host, sources: impl Iterator<Item = Source>, root: &Path, report: &mut Report) -> Vec<Wired> {
    let mut wired = Vec::new();
    let mut managed_only = false;
    for (scope, path) in sources {
        let shown = format!("{} ({})", place::shown(&path), scope.map_or("managed", Scope::name));
        match Settings::read(path.clone()).and_then(|settings| read(host, &settings)) {
            Err(error) => report.error(GROUP, error),
            Ok(survey) if scope.is_some() && managed_only && !survey.entries.is_empty() => {
                let text = format!("{shown}: our hooks do not run: the machine's settings allow only their own");
                report.warn(
                    GROUP,
                    text,
                    "have `allowManagedHooksOnly` taken out, or our hooks put into managed settings",
                );
            }
            Ok(survey) => {
                managed_only |= scope.is_none() && survey.managed_only;
                let found = judged((host, scope), (&path, &shown), root, &survey, report);
                beside::others(&shown, &survey, report);
                if found.is_some() {
                    trusted(host, &path, &shown, report);
                    in_folder(host, scope, root, &shown, report);
                    switched_off(host, root, report);
                }
                wired.extend(found);
            }
        }
    }
    wired
}

fn read(host: &Host, settings: &Settings) -> Result<Survey, CommandError> {
    let text = settings.text.as_deref().unwrap_or_default();
    let so = |fault: SettingsFault| settings.refused(&fault).so(host.at_broken.consequence(&fault));
    host.wiring.survey(text.as_bytes()).map_err(so)
}

/// Judges one settings file; `None` when it holds nothing of ours.
fn judged(
    (host, scope): (&'static Host, Option<Scope>),
    (path, shown): (&Path, &str),
    root: &Path,
    survey: &Survey,
    report: &mut Report,
) -> Option<Wired> {
    let failures = report.remarks.len();
    if let Some(setting) = survey.switched_off {
        report.fail(GROUP, format!("{shown}: `{setting}` switches every hook off"), format!("take `{setting}` out"));
    }
    let first = survey.entries.first()?;
    let stopping = survey.entries.iter().filter(|entry| entry.stops);
    let stops = stopping.filter_map(|entry| Some((entry.event.clone(), entry.timeout_s?))).collect();
    let own = scope.filter(|scope| host.settings_file(*scope, root).is_ok_and(|own| own == path));
    let wired = Wired { host, shown: shown.to_owned(), line: first.line.clone(), own, stops };
    if let Some(key) = &survey.refused {
        let text =
            format!("{shown}: the client refuses `{key}` as it is, and passes over the whole file, hooks included");
        report.fail(GROUP, text, format!("mend `{key}`"));
    }
    let missing = survey.missing();
    if !missing.is_empty() {
        let text = format!("{shown}: not asked about {}", missing.join(", "));
        report.fail(GROUP, text, "jackline init");
    }
    flaws(shown, &survey.entries, report);
    if survey.entries.iter().any(|entry| entry.line != first.line) {
        report.fail(GROUP, format!("{shown}: our hooks do not all run the same command"), "jackline init");
    }
    let other = wired.after("--root").filter(|baked| Path::new(baked) != root && wired.home(root).is_none());
    if let Some(baked) = other.filter(|_| scope == Some(Scope::Local)) {
        let text = format!("{shown}: wired for another project, `{baked}`, and judged by its definition");
        // Settings of another directory are brought up to date there.
        let there = path.ancestors().nth(2).filter(|_| own.is_none()).map(place::shown);
        report.fail(GROUP, text, there.map_or("jackline init".to_owned(), |dir| format!("cd {dir} && jackline init")));
    }
    if let Some(scope) = scope.filter(|scope| wired.after("--wired").map(String::as_str) != Some(scope.name())) {
        let text =
            format!("{shown}: our hooks lack `--wired {}`, so a change that takes them out would pass", scope.name());
        report.fail(GROUP, text, "jackline init");
    }
    if report.remarks.len() == failures {
        report.ok(GROUP, format!("{shown}: asked about {} events", survey.entries.len()));
    }
    if wired.store().is_none() {
        left_to_variables(shown, root, report);
    }
    if !survey.doubtful.is_empty() {
        let text = format!("{shown}: what the client makes of {} is not known", survey.doubtful.join(", "));
        let remedy =
            "if it refuses one, it passes over the whole file; `jackline log` shows whether a session was guarded";
        report.note(GROUP, text, remedy);
    }
    Some(wired)
}

/// Settings that are shared name no place of anybody's machine; then variables say where records are kept.
fn left_to_variables(shown: &str, root: &Path, report: &mut Report) {
    const REMEDY: &str = "wire your own settings, which name the place (`--scope user`)";
    if let Some(variable) = place::passed_over(root) {
        let text = format!("{shown}: `{variable}` leads into the project, and these hooks pass it over");
        report.warn(GROUP, text, format!("unset {variable}, or {REMEDY}"));
    }
    let text = format!("{shown}: these hooks keep their records where `JACKLINE_HOME` or `XDG_STATE_HOME` says");
    report.note(GROUP, text, REMEDY);
}

/// Whether the host would run the hooks in a file, where it wants a person's trust first.
fn trusted(host: &Host, path: &Path, shown: &str, report: &mut Report) {
    let Some((trust, file)) = host.trusting() else { return };
    let lacking = Settings::read(path.to_owned()).and_then(|hooks| {
        let text = hooks.text.clone().unwrap_or_default();
        let kept = Settings::read(file)?;
        let lacks = trust.lacks(kept.text.as_deref(), hosts::trusted_file(path, &text)?);
        lacks.map_err(|fault| kept.refused(&fault))
    });
    match lacking {
        Ok(None) => report.ok(GROUP, format!("{shown}: {} trusts the hooks", host.title)),
        Ok(Some(why)) => report.fail(GROUP, format!("{shown}: {why}"), format!("jackline init {}", host.name)),
        Err(error) => report.error(GROUP, error),
    }
}

/// Whether the host would run a project's own hooks in this folder.
fn in_folder(host: &Host, scope: Option<Scope>, root: &Path, shown: &str, report: &mut Report) {
    if scope != Some(Scope::Project) {
        return;
    }
    match (host.folder)(root) {
        Folder::Trusted => {}
        Folder::Unsaid { why, remedy } => {
            report.warn(GROUP, format!("{shown}: {} may ask before it runs these hooks: {why}", host.title), remedy);
        }
        Folder::Untrusted { why, remedy } => {
            report.fail(GROUP, format!("{shown}: {} does not run these hooks: {why}", host.title), remedy);
        }
    }
}

/// Whether the settings that keep trust, or a project's of the same kind, switch hooks off.
fn switched_off(host: &Host, root: &Path, report: &mut Report) {
    let (Some((trust, file)), Some(beside)) = (host.trusting(), host.trust.as_ref().map(|trust| trust.beside)) else {
        return;
    };
    // What is wrong with the one that keeps it was said with the trust.
    if let Ok(off) = off(file.clone(), |text| trust.off(text)) {
        told_off(&file, off, report);
    }
    for layer in host.trust.iter().flat_map(|trusting| (trusting.layers)()) {
        told_elsewhere(&layer, off(layer.clone(), |text| trust.off(text)), report);
    }
    let project = root.join(beside);
    match off(project.clone(), |text| trust.off(text)) {
        Ok(off) => told_off(&project, off, report),
        Err(error) => report.error(GROUP, error),
    }
}

/// Whether settings in other directories of the project, where a host may be started as well, switch its hooks off.
pub(super) fn around(host: &Host, root: &Path, dirs: &[PathBuf], report: &mut Report) {
    let look = |text: &str| Ok(host.wiring.survey(text.as_bytes())?.switched_off);
    for dir in dirs.iter().map(PathBuf::as_path).chain([root]) {
        for (path, form) in host.beside.iter().map(|(name, form)| (dir.join(name), form)) {
            surveyed(&path, *form, report);
        }
    }
    for (path, form) in (host.also)() {
        surveyed(&path, form, report);
    }
    for dir in dirs {
        let shared = host.settings_files(dir).into_iter().filter(|(_, path)| path.starts_with(dir));
        for (_, path) in shared {
            told_elsewhere(&path, off(path.clone(), look), report);
        }
        if let Some(trusting) = &host.trust {
            let path = dir.join(trusting.beside);
            told_elsewhere(&path, off(path.clone(), |text| trusting.how.off(text)), report);
        }
    }
}

/// Looks at a file that is not where our hooks stand: whether it switches them off, or has others.
fn surveyed(path: &Path, form: &dyn Wiring, report: &mut Report) {
    let mut seen = None;
    let look = |text: &str| {
        let survey = form.survey(text.as_bytes())?;
        let off = survey.switched_off;
        seen = Some(survey);
        Ok(off)
    };
    told_elsewhere(path, off(path.to_owned(), look), report);
    if let Some(survey) = seen {
        beside::others(&place::shown(path), &survey, report);
    }
}

/// Settings that cannot be read switch nothing off; nor may they count where the host is usually started.
fn told_elsewhere(path: &Path, off: Result<Option<&'static str>, CommandError>, report: &mut Report) {
    match off {
        Ok(off) => told_off(path, off, report),
        Err(error) => {
            let (why, hints) = error.into_parts();
            report.note(GROUP, why, hints.join("; "));
        }
    }
}

type Off = Result<Option<&'static str>, SettingsFault>;

/// The setting in a file that switches hooks off.
fn off(path: PathBuf, look: impl FnOnce(&str) -> Off) -> Result<Option<&'static str>, CommandError> {
    let settings = Settings::read(path)?;
    settings.text.as_deref().map_or(Ok(None), look).map_err(|fault| settings.refused(&fault))
}

fn told_off(path: &Path, off: Option<&'static str>, report: &mut Report) {
    if let Some(setting) = off {
        let text = format!("{}: `{setting}` switches every hook off", place::shown(path));
        report.fail(GROUP, text, format!("take `{setting}` out"));
    }
}

/// What is wrong with entries, each thing told once.
fn flaws(shown: &str, entries: &[Entry], report: &mut Report) {
    let mut told: Vec<(String, bool, Vec<&str>)> = Vec::new();
    for (entry, flaw) in entries.iter().flat_map(|entry| entry.flaws.iter().map(move |flaw| (entry, flaw))) {
        let text = flaw.to_string();
        match told.iter_mut().find(|(known, ..)| *known == text) {
            Some((_, _, events)) => events.push(&entry.event),
            None => told.push((text, flaw.fails_open(), vec![&entry.event])),
        }
    }
    for (text, open, events) in told {
        let text = format!("{shown}: the hook for {} {text}", events.join(", "));
        if open {
            report.fail(GROUP, text, "jackline init");
        } else {
            report.warn(GROUP, text, "jackline init");
        }
    }
}

/// Whether the host waits at a stop as long as the commands there may take, and no longer than anybody waits.
pub(super) fn waits(wired: &Wired, stack: &Stack, report: &mut Report) {
    let needed = needed_s(stack) as f64;
    for (event, seconds) in &wired.stops {
        let text = format!("{}: the hook for {event} has a `timeout` of {seconds} s", wired.shown);
        if *seconds < needed {
            let text =
                format!("{text}, and the commands of `completion` may take {needed} s: a stop would pass unjudged");
            report.fail(GROUP, text, "jackline init");
        } else if *seconds > STOP_TIMEOUT_S as f64 {
            report.warn(GROUP, format!("{text}, so a hung hook holds the agent up that long"), "jackline init");
        }
    }
}

/// What no settings of a user can close.
pub(super) fn holes(used: &[&'static Host], report: &mut Report) {
    const GROUP: &str = "known holes";
    for (hole, remedy) in used.iter().flat_map(|host| host.holes) {
        report.note(GROUP, *hole, *remedy);
    }
    report.note(
        GROUP,
        "between sessions whoever may write these settings may take the hooks out; only a running session defends them",
        "run `jackline doctor` now and then, or put the hooks into managed settings, which an administrator owns",
    );
}

#[cfg(test)]
mod tests {
    use super::super::report::Level;
    use super::*;
    use crate::hosts::claude::HOST as CLAUDE;
    use jackline_runtime::wiring::Timeouts;

    /// Looks at machine's settings and local ones; how many hold our hooks, and the worst that was told.
    #[track_caller]
    fn check(managed: &str, local: &str, want: usize, worst: (Level, &str)) {
        check_all(&[managed], local, want, worst);
    }

    /// The same with several files of the machine's.
    #[track_caller]
    fn check_all(managed: &[&str], local: &str, want: usize, worst: (Level, &str)) {
        let dir = tempfile::tempdir().unwrap();
        let written = |name: String, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let machines = managed.iter().enumerate().map(|(at, text)| (None, written(format!("managed-{at}.json"), text)));
        let own = (Some(Scope::Local), written("local.json".to_owned(), local));
        let mut report = Report::default();
        let wired = looked(&CLAUDE, machines.chain([own]), dir.path(), &mut report);
        assert_eq!(wired.len(), want, "{report:?}");
        let told = report.remarks.iter().max_by_key(|remark| remark.level).unwrap();
        assert!(told.level == worst.0 && told.text.contains(worst.1), "{report:?}");
    }

    #[test]
    fn the_machines_settings_wire_switch_off_and_rule_alone() {
        let hooks = |wired: &[&str]| {
            let arguments = ["hook", "claude", "--store", "/opt/store"].iter().chain(wired);
            let arguments = arguments.map(|word| (*word).to_owned()).collect();
            let line = CommandLine { program: "/opt/jackline".to_owned(), arguments };
            CLAUDE.wiring.add(None, &line, Timeouts::default()).unwrap()
        };
        let (ours, machines) = (hooks(&["--wired", "local"]), hooks(&[]));
        let alone = machines.replacen('{', "{ \"allowManagedHooksOnly\": true,", 1);
        check("{}", &ours, 1, (Level::Ok, "(local): asked about 12 events"));
        check("{}", &machines, 1, (Level::Fail, "(local): our hooks lack `--wired local`"));
        check("{}", &hooks(&["--wired", "user"]), 1, (Level::Fail, "(local): our hooks lack `--wired local`"));
        check(&machines, "{}", 1, (Level::Ok, "(managed): asked about 12 events"));
        check(&machines, &ours, 2, (Level::Ok, "asked about 12 events"));
        check(&alone, &ours, 1, (Level::Warn, "(local): our hooks do not run"));
        check("{\"allowManagedHooksOnly\": true}", &ours, 0, (Level::Warn, "(local): our hooks do not run"));
        check("{\"disableAllHooks\": true}", &ours, 1, (Level::Fail, "(managed): `disableAllHooks` switches"));
        check_all(&["{}", &machines], "{}", 1, (Level::Ok, "(managed): asked about 12 events"));
        check_all(
            &["{}", "{\"allowManagedHooksOnly\": true}"],
            &ours,
            0,
            (Level::Warn, "(local): our hooks do not run"),
        );
        check_all(&[&machines, "{\"disableAllHooks\": true}"], "{}", 1, (Level::Fail, "(managed): `disableAllHooks`"));
        check("{", &ours, 1, (Level::Fail, "the client passes over it"));
    }
}
