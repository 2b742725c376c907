//! `jackline init`: wires hosts to ask us, and writes a definition to begin with.

mod asked;
mod scoped;

use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;
use jackline_runtime::definitions::{Acceptance, Accepted, DEFINITION_FILE, Kept, discover};
use jackline_runtime::wiring::{Scope, Timeouts, servers};
use jackline_runtime::{clock, private, replace};

use crate::error::CommandError;
use crate::hosts::{self, AtFailure, Host, Oldest, ScopeName, Settings, Version, chosen, hook_line, server_line};
use crate::place::{self, Where};
use crate::{diff, person, screen, starter};

/// Wire the hosts that are here, and write a definition to begin with
///
/// Shows what it changes and changes nothing else; running it again changes nothing. The project is the nearest
/// directory upwards with a definition or a repository, unless `--workspace` names one.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Which hosts, by name (default: every one that is found)
    #[arg(value_name = "HOST")]
    hosts: Vec<String>,
    /// Whose settings hold the wiring (default: where it is already, else the narrowest of yours)
    #[arg(long, value_enum)]
    scope: Option<ScopeName>,
    /// Also register our MCP server: todos, facts and guarded workspace files (where a host's servers cannot be written,
    /// it says what to add to them)
    #[arg(long)]
    mcp: bool,
    /// Also trust the definition that is there (asks on a terminal)
    #[arg(long)]
    trust: bool,
    /// Only show what would be changed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    at: Where,
}

/// What is to be done, all of it known before anything is written.
struct Plan {
    root: PathBuf,
    state: PathBuf,
    /// The definition to be written.
    starter: Option<(PathBuf, String)>,
    /// Settings to be replaced.
    settings: Vec<(Settings, String)>,
    /// Whether settings name this program by its place; a project's name it by its name.
    names_program: bool,
    /// Hosts whose hooks a person has to trust by themselves.
    untrusted: Vec<&'static str>,
}

impl Init {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        person::outside_a_session()?;
        let root = self.at.project()?;
        let hosts = self.chosen(&root)?;
        let mut plan = Plan {
            state: self.at.state()?,
            starter: None,
            settings: Vec::new(),
            names_program: false,
            untrusted: Vec::new(),
            root,
        };
        let left = self.wire_each(&hosts, &mut plan)?;
        if plan.names_program {
            warn_of_build_directory(&program()?);
        }
        if place::leads_into(&plan.state, &plan.root) {
            let shown = place::shown(&plan.state);
            screen::complain(&format!("warning: records would be kept in the project itself (`{shown}`)"));
            screen::complain("  help: name a directory outside of it, or none: `--store`, `JACKLINE_HOME`");
        }
        let there = discover(&plan.root);
        if there.is_none() && self.wants_definition(&plan.root) {
            plan.starter = Some((plan.root.join(DEFINITION_FILE), starter::text(&plan.root)));
        }
        if let Some(there) = &there {
            asked::warn_of_faults(there, &plan.state);
        }
        if let Some(there) = there.as_ref().filter(|_| !self.dry_run) {
            asked::trust(there, &self.at, &plan.state, self.trust)?;
        }
        plan.show(self.dry_run)?;
        if self.dry_run {
            screen::line("nothing was written (`--dry-run`)")?;
        } else {
            plan.carry_out()?;
        }
        chosen::left_alone("not wired", &left)?;
        left_untrusted(&plan.untrusted)
    }

    /// Plans every host; those that cannot be wired, when others can. One host's odd settings leave no other unguarded.
    fn wire_each(&self, hosts: &[&'static Host], plan: &mut Plan) -> Result<Vec<&'static str>, CommandError> {
        chosen::each(hosts, |host| {
            let before = plan.settings.len();
            self.wire(host, plan).inspect_err(|_| plan.settings.truncate(before))
        })
    }

    /// Wiring all of a user's projects from some directory does not make that directory a project.
    fn wants_definition(&self, root: &Path) -> bool {
        self.scope != Some(ScopeName::User) || root.join(".git").exists()
    }

    fn chosen(&self, root: &Path) -> Result<Vec<&'static Host>, CommandError> {
        let mut hosts = chosen::named(&self.hosts)?;
        if hosts.is_empty() {
            hosts = hosts::used(root);
        }
        if hosts.is_empty() {
            return Err(CommandError::input("no host was found on this machine")
                .hint(format!("name the one you will use: `jackline init {}`", Host::names().join("|"))));
        }
        Ok(hosts)
    }

    /// Plans the wiring of one host.
    fn wire(&self, host: &'static Host, plan: &mut Plan) -> Result<(), CommandError> {
        screen::line(&described(host))?;
        let (wired, unread) = wired(host, &plan.root);
        let scope = self.scope(host, &wired)?;
        // The host passes over such a file; the one to be changed is refused below.
        unread.iter().filter(|(other, _)| *other != scope).for_each(|(_, error)| error.warn());
        let program = program()?;
        let file = host.settings_file(scope, &plan.root)?;
        if let Some((_, shared)) = wired.iter().find(|(there, path)| *there == scope && *path != file) {
            let shown = place::shown(shared);
            return Ok(screen::line(&format!("  wiring: {shown} ({}), for all of the repository", scope.name()))?);
        }
        plan.names_program |= scope != Scope::Project;
        let settings = Settings::read(file)?;
        let line = hook_line(host, scope, &program, (&plan.state, &plan.root))?;
        let after = host.wiring.add(settings.text.as_deref(), &line, Timeouts::default());
        let after = after.map_err(|fault| settings.refused(&fault))?;
        screen::line(&format!("  wiring: {} ({})", place::shown(&settings.path), scope.name()))?;
        scoped::note(host, scope, &plan.root, &settings.path);
        if let Some(setting) = host.wiring.survey(after.as_bytes()).ok().and_then(|survey| survey.switched_off) {
            screen::complain(&format!("warning: `{setting}` in these settings switches every hook off"));
            screen::complain(&format!("  help: take `{setting}` out"));
        }
        if let Some((what, remedy)) = (host.open)() {
            screen::complain(&format!("warning: {what}"));
            screen::complain(&format!("  help: {remedy}"));
        }
        if let Err(error) = trust(host, &settings, &after, plan) {
            error.warn();
            plan.untrusted.push(host.title);
        }
        if settings.text.as_deref() != Some(after.as_str()) {
            plan.settings.push((settings, after));
        }
        if self.mcp {
            self.register(host, scope, &program, plan)?;
        } else {
            scoped::note_exit(host, &plan.root);
        }
        Ok(())
    }

    /// Plans the registration of our MCP server, in the scope of the hooks.
    fn register(&self, host: &Host, scope: Scope, program: &Path, plan: &mut Plan) -> Result<(), CommandError> {
        let Some(servers) = host.servers else {
            let line = server_line(None, scope, program, (&plan.state, &plan.root))?.in_shell();
            screen::complain(&format!("note: our MCP server is not registered with {}", host.title));
            screen::complain(&format!("  help: add this command to its servers yourself: `{line}`"));
            return Ok(());
        };
        let root = plan.root.clone();
        let listed = servers(scope, &root)?;
        let line = server_line(listed.workspace, scope, program, (&plan.state, &root))?;
        let add = |settings: &Settings, text: Option<&str>| {
            servers::add_own(text, listed.place, &line).map_err(|fault| settings.refused(&fault))
        };
        screen::line(&format!("  MCP server: {} ({})", place::shown(&listed.file), scope.name()))?;
        // Hosts share a project's list.
        if let Some((settings, after)) = plan.settings.iter_mut().find(|(known, _)| known.path == listed.file) {
            *after = add(settings, Some(after.as_str()))?;
            return Ok(());
        }
        let settings = Settings::read_servers(listed.file)?;
        let after = add(&settings, settings.text.as_deref())?;
        if settings.text.as_deref() != Some(after.as_str()) {
            plan.settings.push((settings, after));
        }
        Ok(())
    }

    /// Where it is wired already; a second wiring would judge every call twice.
    fn scope(&self, host: &Host, wired: &[(Scope, PathBuf)]) -> Result<Scope, CommandError> {
        let asked = self.scope.map(ScopeName::scope);
        let name = host.name;
        let Some((there, path)) = wired.iter().find(|(scope, _)| Some(*scope) != asked).or(wired.first()) else {
            return Ok(asked.unwrap_or(host.usual_scope()));
        };
        let remedy = format!("`jackline uninit {name} --scope {}` takes it out there", there.name());
        match asked {
            Some(asked) if asked != *there => {
                let why = format!("{name} is wired already in `{}` ({})", place::shown(path), there.name());
                Err(CommandError::input(why).hint(format!("a second wiring would judge everything twice; {remedy}")))
            }
            None if wired.len() > 1 => {
                let why = format!("{name} is wired in {} places, and everything is judged twice", wired.len());
                Err(CommandError::input(why).hint(remedy))
            }
            _ => Ok(*there),
        }
    }
}

impl Plan {
    /// Shows the changes; a whole new definition only to someone who does not get the file itself.
    fn show(&self, whole: bool) -> Result<(), CommandError> {
        if let Some((path, text)) = &self.starter {
            let tests = starter::commands(&self.root).first().copied();
            let tests = tests.map(|test| format!(", with commits after `{}`", test.trim_end_matches('*')));
            screen::line(&format!("definition: {} (new{})", place::shown(path), tests.unwrap_or_default()))?;
            if whole {
                screen::line(&diff::unified(&place::shown(path), None, Some(text)))?;
            }
        } else if let Some(path) = discover(&self.root) {
            screen::line(&format!("definition: {} (yours, left as it is)", place::shown(&path)))?;
        } else {
            screen::line(
                "definition: none here; nothing is judged where there is none (`jackline init` in a project)",
            )?;
        }
        for (settings, after) in &self.settings {
            let shown = place::shown(&settings.path);
            screen::line(&diff::unified(&shown, settings.text.as_deref(), Some(after)))?;
        }
        Ok(())
    }

    fn carry_out(&self) -> Result<(), CommandError> {
        if self.starter.is_none() && self.settings.is_empty() {
            return Ok(screen::line("nothing to do: all of it is there")?);
        }
        self.settings.iter().try_for_each(|(settings, _)| settings.meant())?;
        self.prepare_state()?;
        if let Some((path, text)) = &self.starter {
            self.write_starter(path, text)?;
        }
        for (settings, after) in &self.settings {
            settings.replace(Some(after))?;
            screen::line(&format!("wrote {}", place::shown(&settings.path)))?;
        }
        Ok(screen::line(
            "\nnext: `jackline doctor` tries it out; then start a new session of the agent, since running ones may not know it",
        )?)
    }

    /// A hook that cannot keep a record denies everything, so nothing is wired to a store that cannot be written.
    fn prepare_state(&self) -> Result<(), CommandError> {
        private::create_dir(&self.state).and_then(|()| replace::writable(&self.state)).map_err(|fault| {
            let why = format!("the state directory `{}` cannot be written: {fault}", self.state.display());
            CommandError::internal(why).hint("name another one with `--store DIR`; nothing was changed")
        })
    }

    /// Writes the definition and trusts it: we wrote it ourselves, for the person who asked for it.
    fn write_starter(&self, path: &Path, text: &str) -> Result<(), CommandError> {
        let unwritable = |fault| CommandError::internal(format!("`{}` cannot be written: {fault}", place::shown(path)));
        replace::write(path, text).map_err(unwritable)?;
        let digest: Digest = match Kept::below(&self.state).model(text) {
            Ok((_, digest)) => digest,
            Err(faults) => return Err(CommandError::internal(format!("the starter has {} faults", faults.len()))),
        };
        Accepted::below(&self.state).remember(path, &Acceptance::new(path, &digest, true, clock::now()))?;
        Ok(screen::line(&format!("wrote {} (trusted)", place::shown(path)))?)
    }
}

/// Plans a person's trust in the hooks, where the host wants one: whoever runs this asks for them.
fn trust(host: &Host, hooks: &Settings, after: &str, plan: &mut Plan) -> Result<(), CommandError> {
    let Some((trust, file)) = host.trusting() else { return Ok(()) };
    let settings = Settings::read(file)?;
    let after = trust.follow(settings.text.as_deref(), hosts::rewired(hooks, Some(after))?);
    let after = after.map_err(|fault| settings.refused(&fault))?;
    screen::line(&format!("  trust: {}", place::shown(&settings.path)))?;
    if let Some(after) = after.filter(|after| settings.text.as_ref() != Some(after)) {
        plan.settings.push((settings, after));
    }
    Ok(())
}

/// Fails for hosts that run hooks only once a person trusts them, where that could not be written down.
fn left_untrusted(hosts: &[&str]) -> Result<(), CommandError> {
    if hosts.is_empty() {
        return Ok(());
    }
    Err(CommandError::input(format!("not trusted yet, and not run until they are: the hooks of {}", hosts.join(", ")))
        .hint("trust them in the host itself (`/hooks`); or mend what the warning above says, and run it again"))
}

/// What is known of a host, for the first line.
fn described(host: &Host) -> String {
    let Some(program) = host.found() else {
        let missing = host.program.map_or_else(|| "no program of it can be asked".to_owned(), missing);
        return format!("{}: {missing}", host.title);
    };
    let shown = program.display();
    let version = match Version::of(&program) {
        Ok(version) => version,
        Err(why) => return format!("{} ({shown}): its version cannot be told: {why}", host.title),
    };
    let named = format!("{} {version} ({shown})", host.title);
    match (host.basis.too_old(version), host.at_failure) {
        (Some(Oldest { version, before }), _) => {
            format!("{named}\n  warning: it is too old: versions before {version} {before}; update it")
        }
        (None, AtFailure::Passes { .. }) if host.basis.older_than(version).is_some() => {
            let less = host.basis.oldest().map_or("may run no hooks at all", |_| "may do less");
            format!("{named}\n  warning: it is older than what was tried, and {less}; update it")
        }
        (None, AtFailure::Passes { when, .. }) => format!("{named}\n  warning: it lets a call pass when {when}"),
        (None, AtFailure::Blocks { .. }) => named,
    }
}

fn missing(program: &str) -> String {
    format!("`{program}` is not on PATH; it will be asked once it is installed")
}

type Placed<T> = Vec<(Scope, T)>;

/// Where a host is wired already, and which of its settings cannot be read.
fn wired(host: &Host, root: &Path) -> (Placed<PathBuf>, Placed<CommandError>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for (scope, path) in host.settings_files(root) {
        let survey = Settings::read(path.clone()).and_then(|settings| {
            let text = settings.text.as_deref().unwrap_or_default();
            host.wiring.survey(text.as_bytes()).map_err(|fault| settings.refused(&fault))
        });
        match survey {
            Ok(survey) if survey.entries.is_empty() => {}
            Ok(_) => found.push((scope, path)),
            Err(error) => unread.push((scope, error)),
        }
    }
    (found, unread)
}

/// This program, as settings shall name it.
fn program() -> Result<PathBuf, CommandError> {
    let program = place::lasting(place::this_program()?);
    if program.file_name().is_some_and(|name| name == "jackline") {
        return Ok(program);
    }
    Err(CommandError::input(format!("this program is called `{}`", program.display()))
        .hint("its file must be named `jackline`, so that its hooks are known as ours"))
}

fn warn_of_build_directory(program: &Path) {
    if program.parent().is_some_and(|dir| dir.join(".fingerprint").is_dir()) {
        screen::complain(&format!("warning: `{}` lies in a build directory", program.display()));
        screen::complain(
            "  help: once it is cleaned, hosts block every call or judge none; install it and run this again",
        );
    }
}
