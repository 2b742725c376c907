//! Looks at the world for the core: answers its probes about files and the work tree.
//!
//! Nothing is written, nothing of the workspace is run, nothing is remembered between two answers. What cannot be
//! told is [`Fact::Unknown`], which the core takes as the dangerous answer.

pub(crate) mod below;
mod contains;
pub(crate) mod exit;
pub(crate) mod fingerprint;
pub(crate) mod fold;
pub(crate) mod git;
mod identity;
mod index;
mod lands;
mod meets;
mod own;
mod protected;
mod rego;
mod repository;
mod schema;
mod searched;
mod settings;
mod through;
mod usage;
mod walk;
pub(crate) mod worktree;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jackline_core::catalogue::Catalogue;
use jackline_core::event::Event;
use jackline_core::probe::{Fact, Probe};

use crate::wiring::CommandLine;
use git::Git;
pub use own::{OwnPath, own_between, own_moved, own_paths, own_program, own_settings};
pub use schema::{Inline, inline as inline_schemas};
pub use settings::answer as settings;

/// Answers probes; the runtime asks one at a time, outside any lock.
pub trait Prober: Send + Sync {
    /// What was seen; never fails, because not knowing is an answer too. What is asked about may be in the event.
    fn answer(&self, probe: &Probe, event: &Event) -> Fact;
}

/// Where to look, and what there is ours.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The workspace root, absolute.
    pub root: PathBuf,
    /// The root at the session's beginning, absolute, where the host has moved to another since.
    pub first_root: Option<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// Absolute files and directories that are ours or a host's.
    pub own: Vec<OwnPath>,
    /// Where hosts have agents and skills, besides the directories that are known by their names.
    pub instructing: Vec<PathBuf>,
    /// Schemas that are written into the definitions in force.
    pub schemas: Inline,
}

/// Answers probes about one workspace of this machine.
#[derive(Debug)]
pub struct WorkspaceProber {
    ground: Ground,
    /// Whether names are compared without case here; a property of the disk, so looked up once.
    folds: OnceLock<bool>,
    /// The git program, searched for when a work tree is first asked for.
    git: OnceLock<Option<Git>>,
    /// Schemas that were asked for.
    shelf: schema::Shelf,
    /// What the server that is called says of its tools.
    catalogue: Option<Arc<Catalogue>>,
    /// Rego policies that were asked.
    policies: rego::Policies,
    /// What the host runs to ask us, where it is a host that does.
    line: Option<CommandLine>,
}

impl WorkspaceProber {
    /// A prober that looks from this ground.
    #[must_use]
    pub fn new(ground: Ground) -> Self {
        let (shelf, policies) = (schema::Shelf::default(), rego::Policies::default());
        let (folds, git) = (OnceLock::new(), OnceLock::new());
        Self { ground, folds, git, shelf, catalogue: None, policies, line: None }
    }

    /// The same, for a hook that was started by this command line.
    #[must_use]
    pub fn started_by(mut self, line: Option<CommandLine>) -> Self {
        self.line = line;
        self
    }

    /// The same, where calls go to a server that offers this.
    #[must_use]
    pub fn offered(mut self, catalogue: Option<Arc<Catalogue>>) -> Self {
        self.catalogue = catalogue;
        self
    }

    fn folds(&self) -> bool {
        let tops = || std::iter::once(&self.ground.root).chain(&self.ground.home);
        *self.folds.get_or_init(|| tops().any(|top| fold::folds(top)))
    }

    fn work_tree(&self) -> Fact {
        self.git().map_or(Fact::Absent, |git| worktree::answer(git, &self.ground.root))
    }

    pub(crate) fn git(&self) -> Option<&Git> {
        let home = self.ground.home.as_deref();
        self.git.get_or_init(|| Git::find(&self.ground.root, home)).as_ref()
    }
}

impl Prober for WorkspaceProber {
    fn answer(&self, probe: &Probe, event: &Event) -> Fact {
        match probe {
            Probe::Identity { path, dir } => identity::answer(&self.ground, self.folds(), dir, path),
            Probe::Meant { path, dir, readings } => identity::meant(&self.ground, self.folds(), dir, (path, readings)),
            Probe::Fingerprint { path } => fingerprint::answer(Path::new(path)),
            Probe::LastByte { path } => fingerprint::last_byte(Path::new(path)),
            Probe::WorkTree => self.work_tree(),
            Probe::Settings { file, wired } => settings(Path::new(file), *wired, self.line.as_ref()),
            Probe::Usage { file, mark, from_end } => usage::answer(file, mark.as_ref(), *from_end),
            Probe::Rego { file, about } => self.policies.answer(&self.ground.root.join(file), about, event),
            Probe::Schema { schema, target } => {
                let offered =
                    self.catalogue.as_deref().and_then(|known| known.text(schema, event.call()?.tool.as_str()));
                match offered {
                    Some(text) => self.shelf.answer_offered(text, *target, event),
                    None => self.shelf.answer(&self.ground.schemas, schema, *target, event),
                }
            }
            Probe::Lands { from, named, follows, into, patterns } => {
                let (from, named) = (Path::new(from), named.as_deref());
                lands::answer(&lands::Copy { from, named, follows: *follows, into }, patterns)
            }
            Probe::Meets { dir, inside, pattern, dots, makes, patterns } => {
                let (dir, dots, makes) = (Path::new(dir), *dots, *makes);
                meets::answer(&meets::Expansion { dir, inside, pattern, dots, makes }, patterns.as_deref())
            }
            Probe::Expands { dir, pattern, dots } => meets::files(Path::new(dir), pattern, *dots),
            Probe::Searches { dir, inside, pattern, search, patterns } => {
                let place = searched::Place { dir: Path::new(dir), inside, pattern };
                searched::answer(|| self.git(), &place, (search.as_ref(), patterns))
            }
            Probe::Contains { path, text } => contains::answer(Path::new(path), text),
            Probe::Git { question } => {
                self.git().map_or_else(repository::absent, |git| repository::answer(git, &self.ground.root, question))
            }
            // They are no matter of the workspace: whoever keeps them answers.
            Probe::Exceptions { .. } => Fact::Absent,
            Probe::Files { .. } => Fact::Absent,
            Probe::Counts | Probe::Calls { .. } | Probe::Web { .. } => {
                Fact::Unknown("it is no matter of the workspace".to_owned())
            }
            Probe::Scripts { .. } => Fact::Unknown("it cannot be told what it runs".to_owned()),
            Probe::Run { .. } => Fact::Unknown("looking runs no commands".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Levels;
    use jackline_core::probe::There;
    use jackline_core::sha::Digest;
    use std::fs;

    #[test]
    fn a_prober_can_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<WorkspaceProber>();
        shared::<Box<dyn Prober>>();
    }

    fn event() -> Event {
        let event = serde_json::json!({ "event": "prompt.submitted", "session": "s" });
        jackline_core::event::read(&event, jackline_core::time::Timestamp(0)).unwrap()
    }

    #[test]
    fn every_probe_has_its_answer() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        let (root, home, store) = (top.join("ws"), top.join("home"), top.join("store"));
        for place in [&root, &home, &store] {
            fs::create_dir(place).unwrap();
        }
        fs::write(root.join("jackline.yaml"), "jackline: 1\n").unwrap();
        let own = own_paths(&Levels::around(&root), Some(&home), Some(&store), Some(&root.join("jackline.yaml")), &[]);
        let prober = WorkspaceProber::new(Ground {
            root,
            first_root: None,
            home: Some(home),
            own,
            instructing: Vec::new(),
            schemas: Inline::new(),
        });
        let event = event();
        let definition = Probe::Identity { path: "../ws/jackline.yaml".into(), dir: ".".into() };
        let Fact::Identity(identity) = prober.answer(&definition, &event) else { panic!("no identity") };
        assert_eq!(identity.inside.as_deref(), Some("jackline.yaml"));
        assert_eq!(identity.ours.as_deref(), Some("the definition"));
        assert_eq!(identity.there, There::File);
        let path = identity.path;
        let content = prober.answer(&Probe::Fingerprint { path: path.clone() }, &event);
        assert_eq!(content, Fact::Content(Some(Digest::of(b"jackline: 1\n"))));
        let last = prober.answer(&Probe::LastByte { path: path.clone() }, &event);
        assert_eq!(last, Fact::Content(Some(Digest::of(b"\n"))));
        fs::write(&path, "").unwrap();
        assert_eq!(prober.answer(&Probe::LastByte { path }, &event), Fact::Content(None));
        assert_eq!(prober.answer(&Probe::WorkTree, &event), Fact::Absent);
        let log = top.join("store/s/audit.jsonl");
        let log = Probe::Identity { path: log.to_str().unwrap().into(), dir: "".into() };
        let Fact::Identity(identity) = prober.answer(&log, &event) else { panic!("no identity") };
        assert_eq!(identity.ours.as_deref(), Some("Jackline's store"));
        assert_eq!(identity.inside, None);
    }
}
