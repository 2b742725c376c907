//! Where the policies are, and what they say. One bad file never switches the others off: it is told instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use jackline_core::definition::fault::draw;
use jackline_core::definition::yaml::Node;
use jackline_core::definition::{Fault, Faults, is_below, yaml};
use jackline_core::files::policy::{Action, POLICIES_MAX, POLICY_BYTES_MAX, Policy};
use jackline_core::files::promise::folded_name;
use jackline_core::files::seen::PolicyFault;
use jackline_core::files::settings::DIR_DEFAULT;

use super::legacy;
use crate::probes::fingerprint::small;
use crate::probes::git::Repository;

/// Where policies are looked for when nobody says, the first that is there.
pub const DIRS: [&str; 3] = [DIR_DEFAULT, ".deepwork/policies", ".deepwork/rules"];
/// The directory of the older layout, where it has anything.
const OLDER: &str = ".deepwork";
/// The settings file beside policies of that layout.
const CONFIG: &str = ".deepwork/config.yml";
/// Bytes of that file.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Directories walked up before giving up; no real tree is deeper.
const LEVELS_MAX: usize = 128;

/// A folder of policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// What paths are told from, and where commands run: the top of the repository.
    pub root: PathBuf,
    /// The folder itself.
    pub dir: PathBuf,
    /// The same from the root.
    pub shown: String,
    /// Show one policy at a time, as the settings beside them say.
    pub individual: bool,
    /// Folders with policies that are there and not read.
    pub passed_over: Vec<String>,
    /// What is wrong with the settings beside them.
    pub faults: Vec<PolicyFault>,
}

impl Folder {
    /// Where we write: the one place of the workspace.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.temporary().join("policy")
    }

    /// The directory around it, which may be someone else's too.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.dir.parent().unwrap_or(&self.dir).join("tmp")
    }

    /// A policy's file, from the root.
    #[must_use]
    pub fn file(&self, id: &str) -> String {
        format!("{}/{id}.md", self.shown)
    }

    /// Whether it is one of the older layout's, whose patterns meant something else.
    fn is_older(&self) -> bool {
        DIRS.iter().skip(1).any(|older| Path::new(&self.shown).ends_with(older))
    }

    /// Whether a policy's file is one of this folder; what is of no known file may be.
    #[must_use]
    pub fn holds(&self, file: &str) -> bool {
        file.is_empty() || file.rsplit_once('/').is_some_and(|(dir, _)| dir == self.shown)
    }

    /// One at some level of a repository, or of none.
    fn at(level: &Path, named: &str, repository: Option<&Repository>) -> Self {
        let top = repository.map_or(level, |repository| &repository.top);
        let dir: PathBuf = level.join(named).components().filter(|part| *part != Component::CurDir).collect();
        let shown = dir.strip_prefix(top).unwrap_or(&dir).display().to_string();
        let (individual, passed_over, faults) = (false, Vec::new(), Vec::new());
        Self { root: top.to_owned(), dir, shown, individual, passed_over, faults }
    }
}

/// What is there for a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    Folder(Box<Folder>),
    /// The settings of the older layout switch its policies off.
    Off,
    Nothing,
}

/// The folder that counts for a workspace: the named one, or the first of [`DIRS`] from there up to the top of the
/// repository. One look at each tells where there is none.
#[must_use]
pub fn find(root: &Path, named: Option<&str>) -> Option<Folder> {
    Levels::around(root).find(named)
}

/// The same, and whether there is none because it is switched off.
#[must_use]
pub fn look_for(root: &Path, named: Option<&str>) -> Place {
    Levels::around(root).look_for(named)
}

/// The directories from a workspace up to the top of its repository, beyond which nothing is about its files: looked at
/// once for all that is asked of them in one moment.
#[derive(Debug)]
pub struct Levels {
    pub(crate) root: PathBuf,
    pub(crate) repository: Option<Repository>,
    /// Each from the root upwards, and whether it has anything of the older layout.
    all: Vec<(PathBuf, bool)>,
}

impl Levels {
    /// Looks around a workspace.
    #[must_use]
    pub fn around(root: &Path) -> Self {
        let mut levels = Self { root: root.to_owned(), repository: None, all: Vec::new() };
        for (index, level) in root.ancestors().enumerate() {
            if index < LEVELS_MAX {
                levels.all.push((level.to_owned(), fs::symlink_metadata(level.join(OLDER)).is_ok()));
            }
            levels.repository = Repository::at(level);
            if levels.repository.is_some() {
                break;
            }
        }
        levels
    }

    /// The folder that counts here.
    pub(crate) fn find(&self, named: Option<&str>) -> Option<Folder> {
        match self.look_for(named) {
            Place::Folder(folder) => Some(*folder),
            Place::Off | Place::Nothing => None,
        }
    }

    fn look_for(&self, named: Option<&str>) -> Place {
        let Some(named) = named else {
            let found = self.all.iter().map(|(level, older)| self.found_at(level, *older));
            return found.into_iter().find(|found| *found != Place::Nothing).unwrap_or(Place::Nothing);
        };
        // A definition that says otherwise has a fault; one that was built in code is held to it here.
        let there = is_below(named) && self.root.join(named).is_dir();
        if there { Place::Folder(self.folder(&self.root, named).into()) } else { Place::Nothing }
    }

    fn folder(&self, level: &Path, named: &str) -> Folder {
        Folder::at(level, named, self.repository.as_ref())
    }

    /// The folders that settings of the older layout name, whether they are there or not: who makes one switches others
    /// off.
    pub(crate) fn wished(&self) -> impl Iterator<Item = PathBuf> {
        let older = self.all.iter().filter(|(_, older)| *older);
        older.filter_map(|(level, _)| Some(level.join(Config::read(level).wished?)))
    }

    /// What is at one level. A folder without a policy does not switch those of another off.
    fn found_at(&self, level: &Path, older: bool) -> Place {
        let dirs = DIRS.into_iter().filter(|dir| older || *dir == DIR_DEFAULT);
        let there: Vec<&str> = dirs.filter(|dir| level.join(dir).is_dir()).collect();
        let full: Vec<&str> = there.iter().copied().filter(|dir| holds_any(&level.join(dir))).collect();
        let first = full.first().or(there.first()).copied();
        let config = if !older || first == Some(DIR_DEFAULT) { Config::default() } else { Config::read(level) };
        let Some(named) = config.dir.or_else(|| first.map(str::to_owned)) else { return Place::Nothing };
        if config.off {
            return Place::Off;
        }
        let passed_over = full.iter().filter(|dir| **dir != named).map(|dir| (*dir).to_owned()).collect();
        let (individual, faults) = (config.individual, config.faults);
        Place::Folder(Box::new(Folder { individual, passed_over, faults, ..self.folder(level, &named) }))
    }
}

/// Whether a directory has a policy, going by names.
pub(super) fn holds_any(dir: &Path) -> bool {
    let mut entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|ending| ending == "md"))
}

/// What the settings of the older layout say.
#[derive(Debug, Default)]
struct Config {
    off: bool,
    dir: Option<String>,
    /// The same, whether it is there or not.
    wished: Option<String>,
    individual: bool,
    faults: Vec<PolicyFault>,
}

impl Config {
    fn read(level: &Path) -> Self {
        let path = level.join(CONFIG);
        let mut config = Self::default();
        if fs::symlink_metadata(&path).is_err() {
            return config;
        }
        let text = small(&path, CONFIG_BYTES_MAX).and_then(|bytes| String::from_utf8(bytes).ok());
        let Some(text) = text else {
            let message = format!("the settings cannot be read, or are longer than {CONFIG_BYTES_MAX} bytes");
            config.faults.push(told(CONFIG, &Fault::error(message)));
            return config;
        };
        let mut faults = Faults::default();
        let tree = yaml::read(&text, &mut faults);
        config.faults = faults.into_sorted().iter().map(|fault| told(CONFIG, fault)).collect();
        if let Some(policy) = tree.as_ref().and_then(|tree| tree.get("policy")) {
            config.take(level, policy);
        }
        config
    }

    fn take(&mut self, level: &Path, policy: &Node) {
        let mut wrong = |node: &Node, message: String| {
            self.faults.push(told(CONFIG, &Fault::error(message).at(node.span)));
        };
        if let Some(node) = policy.get("enabled") {
            match node.value {
                yaml::Value::Bool(enabled) => self.off = !enabled,
                _ => wrong(node, "`enabled` must be `true` or `false`".to_owned()),
            }
        }
        if let Some(node) = policy.get("policies_dir") {
            self.wished = node.text().filter(|dir| is_below(dir)).map(str::to_owned);
            match node.text() {
                Some(dir) if is_below(dir) && level.join(dir).is_dir() => self.dir = Some(dir.to_owned()),
                dir => wrong(
                    node,
                    format!("`policies_dir` names no folder of the workspace: `{}`", dir.unwrap_or_default()),
                ),
            }
        }
        if let Some(node) = policy.get("output_mode") {
            match node.text() {
                Some("individual") => self.individual = true,
                Some("batched") => {}
                mode => wrong(
                    node,
                    format!("`output_mode` must be `batched` or `individual`, found `{}`", mode.unwrap_or_default()),
                ),
            }
        }
    }
}

/// The policies of a folder in the order of their files, and what is wrong with others.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    pub policies: Vec<Policy>,
    pub faults: Vec<PolicyFault>,
}

/// Reads all policies of a folder.
#[must_use]
pub fn policies(folder: &Folder) -> Policies {
    let mut all = Policies { faults: folder.faults.clone(), ..Policies::default() };
    let mut files = match files(folder, &mut all.faults) {
        Ok(files) => files,
        Err(fault) => {
            all.faults.push(told(&folder.shown, &Fault::error(format!("the folder cannot be read: {fault}"))));
            Vec::new()
        }
    };
    files.sort_unstable();
    if files.len() > POLICIES_MAX {
        let message = format!("there are {} policies, and only {POLICIES_MAX} are read", files.len());
        all.faults.push(told(&folder.shown, &Fault::error(message)));
        files.truncate(POLICIES_MAX);
    }
    for id in &files {
        match read(folder, id) {
            Ok(policy) => {
                let older = Some(&policy).filter(|_| folder.is_older()).and_then(legacy::rooted);
                all.faults.extend(policy.warnings.iter().chain(&older).map(|fault| told(&folder.file(id), fault)));
                all.policies.push(policy);
            }
            Err(faults) => all.faults.extend(faults.iter().map(|fault| told(&folder.file(id), fault))),
        }
    }
    all.faults.extend(folder.passed_over.iter().map(|dir| {
        let message = format!("the policies here are not read, since `{}` is there", folder.shown);
        told(dir, &Fault::warning(message).help("move them there, or name a folder with `file_policies: {dir: …}`"))
    }));
    all.faults.extend(same_names(folder, &all.policies));
    all
}

/// The identifiers of the policies: files that end in `.md`, without that. One that looks like a policy and is passed over
/// is told.
fn files(folder: &Folder, faults: &mut Vec<PolicyFault>) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder.dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let shown = name.to_string_lossy();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && holds_any(&entry.path()) {
            let fault = Fault::warning("the policies in this folder are not read").help(format!(
                "move them to `{}` itself, or name the folder with `file_policies: {{dir: …}}`",
                folder.shown
            ));
            faults.push(told(&format!("{}/{shown}", folder.shown), &fault));
            continue;
        }
        let why = match name.to_str().map(|name| (name, name.strip_suffix(".md"))) {
            Some((name, _)) if name.starts_with('.') => continue,
            Some((_, Some(id))) => {
                found.push(id.to_owned());
                continue;
            }
            Some((name, None)) if !name.to_ascii_lowercase().ends_with(".md") => continue,
            Some(_) => "the policy is not read: its name must end in `.md`, in small letters",
            None if !name.as_encoded_bytes().to_ascii_lowercase().ends_with(b".md") => continue,
            None => "the policy is not read: its name is not UTF-8",
        };
        faults.push(told(&format!("{}/{shown}", folder.shown), &Fault::error(why.to_owned()).help("rename it")));
    }
    Ok(found)
}

fn read(folder: &Folder, id: &str) -> Result<Policy, Vec<Fault>> {
    let path = folder.root.join(folder.file(id));
    let Some(bytes) = small(&path, POLICY_BYTES_MAX as u64) else {
        let message = format!("the policy cannot be read, or is longer than {POLICY_BYTES_MAX} bytes");
        return Err(vec![Fault::error(message).help("it must be a plain file, and no link")]);
    };
    let text = String::from_utf8(bytes).map_err(|_| vec![Fault::error("the policy is not UTF-8")])?;
    Policy::parse(id, &text)
}

/// Two policies that go by one name are settled by one promise, which their owner should know.
fn same_names(folder: &Folder, policies: &[Policy]) -> Vec<PolicyFault> {
    let mut faults = Vec::new();
    // A promise may name a policy by its file, too.
    let mut by_file: BTreeMap<String, Vec<&Policy>> = BTreeMap::new();
    for policy in policies {
        by_file.entry(folded_name(&policy.id)).or_default().push(policy);
    }
    let mut earlier: BTreeMap<String, &Policy> = BTreeMap::new();
    for policy in policies {
        let name = folded_name(&policy.name);
        let of_file = || by_file.get(&name)?.iter().find(|other| other.id != policy.id).copied();
        let other = earlier.get(&name).copied().or_else(of_file);
        earlier.entry(name).or_insert(policy);
        if let Some(other) = other {
            let message = format!("the name `{}` is that of `{}.md` too", policy.name, other.id);
            let fault = Fault::warning(message).help("one promise settles both: give them names of their own");
            faults.push(told(&folder.file(&policy.id), &fault));
        }
    }
    faults
}

/// A fault of a policy's file drawn with the line it speaks of; nothing for one that is about no line.
#[must_use]
pub fn drawn(folder: &Folder, fault: &PolicyFault) -> Option<String> {
    let id = fault.file.strip_prefix(&folder.shown)?.strip_prefix('/')?.strip_suffix(".md")?;
    let source = small(&folder.root.join(&fault.file), POLICY_BYTES_MAX as u64)?;
    let source = String::from_utf8(source).ok()?;
    let all = Policy::parse(id, &source).map_or_else(|faults| faults, |policy| policy.warnings);
    let same = |known: &&Fault| known.span.is_some() && told(&fault.file, known) == *fault;
    let mut text = String::new();
    let level = if fault.warning { "warning" } else { "error" };
    draw(&mut text, level, all.iter().find(same)?, (&source, &fault.file));
    Some(text.trim_end().to_owned())
}

/// A fault as it is recorded and shown.
pub(super) fn told(file: &str, fault: &Fault) -> PolicyFault {
    PolicyFault {
        file: file.to_owned(),
        line: fault.span.map_or(1, |span| span.line),
        message: fault.message.clone(),
        help: fault.help.clone(),
        warning: fault.warning,
    }
}

/// The commands of all policies, as their owners wrote them, with the policies' files.
#[must_use]
pub fn commands(folder: &Folder) -> Vec<(String, Policy)> {
    let all = policies(folder).policies.into_iter();
    let with_command = all.filter(|policy| matches!(policy.action, Action::Command(_)));
    with_command.map(|policy| (folder.file(&policy.id), policy)).collect()
}
