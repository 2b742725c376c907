//! The definitions of a workspace: machine, user and project, with the memory of what its owner accepted.
//!
//! A changed project definition that only tightens is accepted at once. One that loosens is judged beside the
//! accepted one until `jackline trust`. Of any of them, one that is unreadable or gone leaves the last one in force.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jackline_core::definition::model::Mode;
use jackline_core::definition::{self, Model, attempts, held_less, loosenings};
use jackline_core::packs::layers as pack_layers;
use jackline_core::session::Pin;
use jackline_core::sha::Digest;
use jackline_core::stack::{Layer, Origin, Stack};

use super::discover::{LEVELS_MAX, is_missing};
use super::{
    Acceptance, Accepted, DEFINITION_FILE, DefinitionFault, Definitions, Kept, Scripts, Standing, discover, file,
    packs, rego, schemas,
};
use crate::trees::Tree;

/// Bytes of a definition that are read at all; the reader refuses more than one mebibyte.
const FILE_BYTES_MAX: usize = (1 << 20) + 1;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The state directory.
    pub home: PathBuf,
    /// Where the host is at home; the walk up starts here.
    pub start: PathBuf,
    /// Where a session begins in another work tree of the repository: it is judged there, and at home here.
    pub tree: Option<Tree>,
    /// A definition named on the command line or by the environment: no walk.
    pub named: Option<PathBuf>,
    pub user: Option<PathBuf>,
    pub machine: Option<PathBuf>,
}

/// Finds definitions in the workspace and remembers what was accepted.
#[derive(Debug)]
pub struct Found {
    places: Places,
    kept: Kept,
    accepted: Accepted,
    /// The last stack, by the texts it was made of.
    last: Mutex<Option<(Digest, Arc<Standing>)>>,
}

/// A definition file as it lies there.
#[derive(Debug)]
enum Present {
    Good { text: String, model: Box<Model>, digest: Digest },
    Bad(DefinitionFault),
}

impl Found {
    #[must_use]
    pub fn new(places: Places) -> Self {
        let (kept, accepted) = (Kept::below(&places.home), Accepted::below(&places.home));
        Self { places, kept, accepted, last: Mutex::new(None) }
    }

    /// The same, but nothing is remembered: neither texts nor what is accepted. An empty home holds nothing.
    #[must_use]
    pub fn read_only(places: Places) -> Self {
        let found = Self::new(places);
        Self { kept: found.kept.read_only(), accepted: found.accepted.read_only(), ..found }
    }

    /// The project's definition, for a pinned session or a beginning one.
    #[must_use]
    pub fn project(&self, pin: Option<&Pin>, named: Option<&str>) -> Option<PathBuf> {
        if let Some(pin) = pin {
            return pin.definition.as_ref().map(PathBuf::from);
        }
        let named = named.map(|named| self.places.start.join(named)).or_else(|| self.places.named.clone());
        let here = || discover(&self.places.start).or_else(|| self.remembered());
        named.or_else(here).or_else(|| discover(&self.places.tree.as_ref()?.other))
    }

    /// A definition that was accepted here once and is gone: it stays in force.
    fn remembered(&self) -> Option<PathBuf> {
        let places = self.places.start.ancestors().map(|dir| dir.join(DEFINITION_FILE));
        places.take(LEVELS_MAX).find(|path| self.accepted.of(path).is_some())
    }

    fn read(&self, path: &Path) -> Present {
        let text = match read_text(path) {
            Ok(text) => text,
            Err(why) => return Present::Bad(DefinitionFault::Unreadable { path: path.to_owned(), why }),
        };
        match self.kept.model(&text) {
            Ok((model, digest)) => Present::Good { text, model: Box::new(model), digest },
            Err(faults) => Present::Bad(DefinitionFault::Faulty { path: path.to_owned(), source_text: text, faults }),
        }
    }

    /// The layers of the project's definition, with what is remembered of it.
    fn project_layers(&self, path: &Path, standing: &mut Standing) -> Result<(), DefinitionFault> {
        let accepted = self.accepted.of(path);
        let scripts = accepted.as_ref().map(|accepted| accepted.scripts.clone());
        standing.scripts = Scripts::Trusted(scripts.unwrap_or_default());
        let before = || accepted.as_ref().and_then(|accepted| self.accepted_layer(path, accepted));
        match self.read(path) {
            Present::Good { text, model, digest } => {
                let known = accepted.as_ref().filter(|known| known.digest() == Some(digest));
                let trusted = known.is_some_and(|known| known.trusted);
                if known.is_none() {
                    let before = if accepted.is_some() { before() } else { self.around(path) };
                    self.weigh(path, (&model, digest), before, standing);
                }
                if model.mode == Mode::Observe && !trusted {
                    let why = "`mode: observe` counts only after `jackline trust`; until then everything is enforced";
                    standing.notices.push(why.to_owned());
                }
                if !trusted && !model.commands().is_empty() {
                    let why = "the definition's commands are skipped, and count as failed, until `jackline trust`";
                    standing.notices.push(why.to_owned());
                }
                if !trusted && !model.own.allow.is_empty() {
                    standing.notices.push("`self.allow` counts only after `jackline trust`".to_owned());
                }
                let less = held_less(&model).join("; ");
                if !trusted && !less.is_empty() {
                    standing
                        .notices
                        .push(format!("`checks` counts only after `jackline trust` where it loosens ({less})"));
                }
                let layer = Layer::new(*model, digest, Origin::Project, trusted).from_dir(dir_of(path));
                standing.push(layer, text);
                Ok(())
            }
            Present::Bad(fault) => {
                let Some((mut layer, text)) = before() else { return Err(fault) };
                layer.origin = Origin::Project;
                let next = if matches!(fault, DefinitionFault::Faulty { .. }) { "; run `jackline check`" } else { "" };
                standing.notices.push(format!("{fault}; the last accepted definition stays in force{next}"));
                standing.push(layer, text);
                Ok(())
            }
        }
    }

    /// What was accepted further up and is there still. A definition that nobody has seen takes its place only where it is
    /// no looser: else whoever may write a file could have the next session in its directory judged by their own.
    fn around(&self, path: &Path) -> Option<(Layer, String)> {
        let above = path.ancestors().skip(2).take(LEVELS_MAX).map(|dir| dir.join(DEFINITION_FILE));
        let mut above = above.filter(|outer| !is_missing(outer));
        above.find_map(|outer| self.accepted_layer(&outer, &self.accepted.of(&outer)?))
    }

    /// Accepts a definition that is new or only tightens; keeps the accepted one beside one that loosens.
    fn weigh(
        &self,
        path: &Path,
        (model, digest): (&Model, Digest),
        before: Option<(Layer, String)>,
        standing: &mut Standing,
    ) {
        let Some((layer, text)) = before else {
            return self.accept(path, &digest, standing);
        };
        let looser = loosenings(&layer.model, model);
        if looser.is_empty() {
            return self.accept(path, &digest, standing);
        }
        let shown = looser.join("; ");
        standing
            .notices
            .push(format!("`{}` is looser than what was accepted ({shown}); run `jackline trust`", path.display()));
        standing.push(layer, text);
    }

    fn accept(&self, path: &Path, digest: &Digest, standing: &mut Standing) {
        let acceptance = Acceptance::new(path, digest, false, crate::clock::now());
        if let Err(fault) = self.accepted.remember(path, &acceptance) {
            standing.notices.push(format!("the accepted definition could not be remembered: {fault}"));
        }
    }

    fn accepted_layer(&self, path: &Path, accepted: &Acceptance) -> Option<(Layer, String)> {
        let digest = accepted.digest()?;
        let text = self.kept.text(&digest)?;
        let (model, digest) = self.kept.model(&text).ok()?;
        let layer = Layer::new(model, digest, Origin::Accepted, accepted.trusted);
        Some((layer.from_dir(dir_of(path)), text))
    }

    /// Where definitions of the machine and of the user are.
    fn wider(&self) -> impl Iterator<Item = (&Path, Origin)> {
        let wider = [(&self.places.machine, Origin::Machine), (&self.places.user, Origin::User)];
        wider.into_iter().filter_map(|(path, origin)| Some((path.as_deref()?, origin)))
    }

    /// One of those, as it is now: whoever owns it may change it, so what is read last counts. What is gone or broken stays
    /// in force as it was; one that was broken from the beginning is in nobody's favour, so it refuses.
    fn wider_layer(&self, path: &Path, origin: Origin, standing: &mut Standing) -> Result<(), DefinitionFault> {
        let known = self.accepted.of(path);
        let gone = is_missing(path);
        if gone && known.is_none() {
            return Ok(());
        }
        match self.read(path) {
            Present::Good { text, model, digest } => {
                if known.and_then(|known| known.digest()) != Some(digest) {
                    self.accept(path, &digest, standing);
                }
                standing.push(Layer::new(*model, digest, origin, true).from_dir(dir_of(path)), text);
            }
            Present::Bad(fault) => {
                let before = known.and_then(|known| self.accepted_layer(path, &known));
                let Some((mut layer, text)) = before else { return if gone { Ok(()) } else { Err(fault) } };
                let next = if gone { "`jackline trust` lets it go" } else { "mend it" };
                standing.notices.push(format!("{fault}; what it said last stays in force; {next}"));
                (layer.origin, layer.trusted) = (origin, true);
                standing.push(layer, text);
            }
        }
        Ok(())
    }

    /// Definitions of the machine and of the user that are gone and stay in force.
    #[must_use]
    pub fn gone(&self) -> Vec<PathBuf> {
        let stays = |path: &&Path| is_missing(path) && self.accepted.of(path).is_some();
        self.wider().map(|(path, _)| path).filter(stays).map(Path::to_owned).collect()
    }
}

impl Definitions for Found {
    // Its stack is given back before anybody judges: each page that is deeper costs a fault.
    #[inline(never)]
    fn stack(&self, pin: Option<&Pin>, named: Option<&str>) -> Result<Arc<Standing>, DefinitionFault> {
        let mut standing = Standing { kept: Some(self.kept.clone()), ..Standing::default() };
        for (path, origin) in self.wider() {
            self.wider_layer(path, origin, &mut standing)?;
        }
        let project = self.project(pin, named);
        match &project {
            Some(path) => self.project_layers(path, &mut standing)?,
            None if standing.stack.layers.is_empty() => {
                return Err(DefinitionFault::Missing(self.places.start.clone()));
            }
            None => standing.scripts = self.accepted.without_definition(&self.places.start),
        }
        standing.report_attempts();
        standing.stack.root = root(pin, project.as_deref(), &self.places.start);
        match pin {
            Some(pin) => {
                standing.first_root = Some(&pin.home).filter(|home| **home != pin.root).map(PathBuf::from);
                standing.stack.back = self.begun(&pin.home);
            }
            None => self.begin_in_tree(&mut standing),
        }
        standing.stack.path = project.map(|path| path.display().to_string());
        Ok(self.shared(standing))
    }

    fn files(&self, pin: &Pin) -> Vec<PathBuf> {
        self.wider().map(|(path, _)| path.to_owned()).chain(self.project(Some(pin), None)).collect()
    }

    fn root(&self, pin: Option<&Pin>) -> Option<String> {
        let root = root(pin, self.project(pin, None).as_deref(), &self.places.start);
        Some(self.begun(&root).filter(|_| pin.is_none()).unwrap_or(root))
    }
}

impl Found {
    /// The root in the other work tree, where a session begins in one.
    fn begun(&self, home: &str) -> Option<String> {
        let tree = self.places.tree.as_ref()?;
        tree.counterpart(Path::new(home)).map(|root| root.display().to_string())
    }

    fn begin_in_tree(&self, standing: &mut Standing) {
        let Some(root) = self.begun(&standing.stack.root) else { return };
        let home = std::mem::replace(&mut standing.stack.root, root);
        standing.first_root = Some(PathBuf::from(&home));
        standing.stack.home = Some(home);
    }

    /// The same standing as last time, when nothing changed, so that callers can tell cheaply.
    fn shared(&self, standing: Standing) -> Arc<Standing> {
        let digest = Digest::of_parts([
            standing.stack.digest().0.as_slice(),
            standing.stack.root.as_bytes(),
            standing.first_root.as_ref().map_or(&[][..], |root| root.as_os_str().as_encoded_bytes()),
            standing.notices.join("\n").as_bytes(),
            trust_in(&standing).as_bytes(),
        ]);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((known, same)) if *known == digest => Arc::clone(same),
            _ => {
                let standing = Arc::new(standing);
                *last = Some((digest, Arc::clone(&standing)));
                standing
            }
        }
    }
}

/// What is trusted of a standing, as a text: it changes while the definitions stay as they are.
fn trust_in(standing: &Standing) -> String {
    let layers: String = standing.stack.layers.iter().map(|layer| if layer.trusted { '+' } else { '-' }).collect();
    match &standing.scripts {
        Scripts::Given => layers,
        Scripts::Trusted(known) => known.iter().fold(layers, |all, (path, content)| format!("{all}\n{path} {content}")),
    }
}

impl Standing {
    /// Puts a layer on the stack, and the packs it uses after it; one that is there already, just so, is not repeated.
    fn push(&mut self, layer: Layer, text: String) {
        let (files, notices) = named_files(&layer.model, Path::new(&layer.dir));
        self.files.extend(files.into_iter().filter(|file| !self.files.contains(file)).collect::<Vec<_>>());
        self.notices.extend(notices.into_iter().filter(|notice| !self.notices.contains(notice)).collect::<Vec<_>>());
        let packs = pack_layers(&layer, &packs::content);
        self.texts.push((layer.digest, Cow::Owned(text)));
        self.stack.layers.push(layer);
        for pack in packs {
            if !self.stack.layers.iter().any(|known| known.same(&pack)) {
                self.texts.push((pack.digest, Cow::Borrowed(pack.pack().map(|pack| pack.text).unwrap_or_default())));
                self.stack.layers.push(pack);
            }
        }
    }

    /// Says what the project's definition asks for that a wider one does not grant; the strictest wins all the same.
    fn report_attempts(&mut self) {
        let layers = &self.stack.layers;
        let Some(project) = layers.iter().find(|layer| layer.origin == Origin::Project) else { return };
        let wider = layers.iter().filter(|layer| matches!(layer.origin, Origin::Machine | Origin::User));
        let refused: Vec<String> = wider.flat_map(|layer| attempts(&layer.model, &project.model)).collect();
        if !refused.is_empty() {
            let shown = refused.join("; ");
            self.notices.push(format!("the project's definition cannot loosen a wider one ({shown})"));
        }
    }

    /// A standing of one definition that is trusted as it is given, with the files it names in the workspace.
    ///
    /// # Errors
    /// All faults of the text and of the files it names.
    pub fn given(root: &Path, text: &str) -> Result<Self, Vec<definition::Fault>> {
        Self::given_from(root, root, text, None)
    }

    /// The same for a definition that lies in a directory, where the files it names are; with somewhere to keep them,
    /// the checked model is kept for the next process.
    ///
    /// # Errors
    /// All faults of the text and of the files it names.
    pub fn given_from(
        root: &Path,
        dir: &Path,
        text: &str,
        kept: Option<&Kept>,
    ) -> Result<Self, Vec<definition::Fault>> {
        let model = match kept {
            Some(kept) => kept.model(text)?.0,
            None => definition::parse(text, &jackline_core::tools::names())?.model,
        };
        let digest = Digest::of(text.as_bytes());
        let standing = Self::of(root, dir, (model, digest), Some(text))?;
        Ok(Self { kept: kept.cloned(), ..standing })
    }

    /// The same for a definition built in code; one without a text is known by its typed form.
    ///
    /// # Errors
    /// All faults of the files it names.
    pub fn built(root: &Path, model: Model) -> Result<Self, Vec<definition::Fault>> {
        let digest = Digest::of(&postcard::to_stdvec(&model).unwrap_or_default());
        Self::of(root, root, (model, digest), None)
    }

    fn of(
        root: &Path,
        dir: &Path,
        (model, digest): (Model, Digest),
        text: Option<&str>,
    ) -> Result<Self, Vec<definition::Fault>> {
        let mut faults = schemas::schema_faults(&model, text, dir);
        let (unusable, notices) = rego::faults_and_notices(&model, text, dir);
        faults.extend(unusable);
        if !faults.is_empty() {
            return Err(faults);
        }
        let layer = Layer::new(model, digest, Origin::Project, true).from_dir(dir.display().to_string());
        let stack = Stack { root: root.display().to_string(), ..Stack::default() };
        let mut standing = Self { stack, scripts: Scripts::Given, ..Self::default() };
        standing.push(layer, text.unwrap_or_default().to_owned());
        // What was built in code has no text that could be kept.
        standing.texts.retain(|(known, _)| text.is_some() || *known != digest);
        standing.notices.extend(notices);
        Ok(standing)
    }
}

/// The files that a definition names, and what people should know of those that are not there.
fn named_files(model: &Model, dir: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut notices) = schemas::files(model, dir);
    let (policies, more) = rego::files(model, dir);
    files.extend(policies);
    notices.extend(more);
    (files, notices)
}

/// Where the files that a definition names are looked for.
fn dir_of(path: &Path) -> String {
    path.parent().unwrap_or(path).display().to_string()
}

/// The workspace root: pinned, else the directory of the project's definition, else where the host is at home.
fn root(pin: Option<&Pin>, project: Option<&Path>, start: &Path) -> String {
    match (pin, project.and_then(Path::parent)) {
        (Some(pin), _) => pin.root.clone(),
        (None, Some(dir)) if start.starts_with(dir) => dir.display().to_string(),
        (None, _) => start.display().to_string(),
    }
}

/// The text of a definition that was found; what is no regular file is not waited for.
///
/// # Errors
/// Why it cannot be read.
pub fn read_text(path: &Path) -> Result<String, String> {
    let bytes = file::read(path, FILE_BYTES_MAX).map_err(|fault| fault.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
