//! Where the policies are, and what they say. One bad file never switches the others off: it is told instead.

use std::fs;
use std::path::{Path, PathBuf};

use jackline_core::definition::fault::draw;
use jackline_core::definition::{Fault, Faults, yaml};
use jackline_core::files::policy::{Action, POLICIES_MAX, POLICY_BYTES_MAX, Policy};
use jackline_core::files::promise::folded_name;
use jackline_core::files::seen::PolicyFault;

use crate::probes::fingerprint::small;
use crate::probes::git::Repository;

/// Where policies are looked for when nobody says, the first that is there.
pub const DIRS: [&str; 3] = [".jackline/policies", ".deepwork/policies", ".deepwork/rules"];
/// The settings file beside policies of the older layout.
const CONFIG: &str = ".deepwork/config.yml";
/// Bytes of that file.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Directories walked up before giving up; no real tree is deeper.
const LEVELS_MAX: usize = 128;

/// A folder of policies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// What paths are told from, and where commands run.
    pub root: PathBuf,
    /// The folder itself.
    pub dir: PathBuf,
    /// The same from the root.
    pub shown: String,
    /// Show one policy at a time, as the settings beside them say.
    pub individual: bool,
    /// Folders that are there and not read.
    pub passed_over: Vec<String>,
}

impl Folder {
    /// Where we write: the one place of the workspace.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.temporary().join("policy")
    }

    /// The directory around it, which git is told to ignore.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.dir.parent().unwrap_or(&self.dir).join("tmp")
    }

    /// A policy's file, from the root.
    #[must_use]
    pub fn file(&self, id: &str) -> String {
        format!("{}/{id}.md", self.shown)
    }
}

/// The folder that counts for a workspace: the named one, or the first of [`DIRS`] from there up to the top of the
/// repository. One look at each tells where there is none.
#[must_use]
pub fn find(root: &Path, named: Option<&str>) -> Option<Folder> {
    if let Some(named) = named {
        let dir = root.join(named);
        return dir.is_dir().then(|| Folder { shown: named.to_owned(), dir, ..at(root) });
    }
    for root in root.ancestors().take(LEVELS_MAX) {
        if let Some(folder) = found_at(root) {
            return folder;
        }
        // Above the repository nothing is about its files.
        if Repository::at(root).is_some() {
            return None;
        }
    }
    None
}

/// What is at one level: a folder; none, though there could be one, since it is switched off; or nothing.
fn found_at(root: &Path) -> Option<Option<Folder>> {
    let there: Vec<&str> = DIRS.into_iter().filter(|dir| root.join(dir).is_dir()).collect();
    let config = if there.first() == DIRS.first() { Config::default() } else { Config::read(root) };
    let own = config.dir.filter(|dir| root.join(dir).is_dir());
    let shown = own.or_else(|| there.first().map(|dir| (*dir).to_owned()))?;
    if config.off {
        return Some(None);
    }
    let passed_over = there.iter().filter(|dir| **dir != shown).map(|dir| (*dir).to_owned()).collect();
    Some(Some(Folder { dir: root.join(&shown), shown, individual: config.individual, passed_over, ..at(root) }))
}

fn at(root: &Path) -> Folder {
    let (shown, individual, passed_over) = (String::new(), false, Vec::new());
    Folder { root: root.to_owned(), dir: root.to_owned(), shown, individual, passed_over }
}

/// What the settings of the older layout say.
#[derive(Debug, Default)]
struct Config {
    off: bool,
    dir: Option<String>,
    individual: bool,
}

impl Config {
    fn read(root: &Path) -> Self {
        let text = small(&root.join(CONFIG), CONFIG_BYTES_MAX).and_then(|bytes| String::from_utf8(bytes).ok());
        let tree = text.and_then(|text| yaml::read(&text, &mut Faults::default()));
        let policy = tree.as_ref().and_then(|tree| tree.get("policy"));
        let text = |key: &str| policy.and_then(|policy| policy.get(key)?.text().map(str::to_owned));
        let inside = |dir: &String| !dir.starts_with('/') && !dir.split('/').any(|part| part == "..");
        Self {
            off: policy
                .and_then(|policy| policy.get("enabled"))
                .is_some_and(|node| node.value == yaml::Value::Bool(false)),
            dir: text("policies_dir").filter(inside),
            individual: text("output_mode").as_deref() == Some("individual"),
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
    let mut all = Policies::default();
    let mut files = match files(&folder.dir) {
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
                all.faults.extend(policy.warnings.iter().map(|fault| told(&folder.file(id), fault)));
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

/// The identifiers of the policies: files that end in `.md`, without that.
fn files(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".md"));
        found.extend(id.filter(|id| !id.starts_with('.')).map(str::to_owned));
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
    for (at, policy) in policies.iter().enumerate() {
        let name = folded_name(&policy.name);
        let earlier = policies.iter().take(at).find(|other| folded_name(&other.name) == name);
        // A promise may name a policy by its file, too.
        let by_file = || policies.iter().find(|other| other.id != policy.id && folded_name(&other.id) == name);
        if let Some(other) = earlier.or_else(by_file) {
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
