//! Looks at a run's files: the one part of the gates that touches them. It stays inside the run's directories, follows no
//! link out of them, and notes what it could not see.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use super::facts::{Examined, Facts, State};
use super::format::{self, Content};
use super::required::{self, DELIVERABLES_MAX, Deliverable, Root};
use super::{Run, decoded, placeholder, structural_integrity};

/// Files and directories that are looked at: a run that leaves more is not verified by looking at some.
const ENTRIES_MAX: usize = 10_000;
/// Bytes that are read of all files together: some seconds of reading.
const RUN_BYTES_MAX: u64 = 1 << 30;
/// Directories inside one another; no tool writes deeper trees, and links could make endless ones.
const DEPTH_MAX: usize = 32;
/// Bytes of a text that is read whole. Longer texts are no reading matter, and are not verified.
const TEXT_BYTES_MAX: u64 = 32 << 20;
/// Bytes of any other file that are read: enough to see what it is.
const HEAD_BYTES_MAX: u64 = 64 << 10;

/// Bytes of a file's end: what closes a picture stands in them, and some programs write blanks behind it.
const END_BYTES: u64 = 1 << 10;

/// Looks at all that the gates of a run ask about; relative directories are seen from `base`.
#[must_use]
pub fn look(run: &Run, base: &Path) -> Facts {
    let output = run.output_dir.as_deref().map(|dir| base.join(dir));
    let workspace = run.workspace_dir.as_deref().map(|dir| base.join(dir));
    let mut look = Look::new(output.as_deref(), workspace.as_deref());
    if let Some((_, declared)) = required::of(run) {
        look.declared(&declared);
    }
    if let Some(output) = look.output.clone() {
        look.walk(&output, Root::Output);
    }
    if let Some(workspace) = look.workspace.clone() {
        look.walk(&workspace.join("outputs"), Root::Workspace);
    }
    look.facts
}

struct Look {
    /// The run's directories, without links; `None` for one that is not there.
    output: Option<PathBuf>,
    workspace: Option<PathBuf>,
    seen: BTreeSet<PathBuf>,
    entries: usize,
    bytes: u64,
    facts: Facts,
}

impl Look {
    fn new(output: Option<&Path>, workspace: Option<&Path>) -> Self {
        let mut facts = Facts::default();
        let mut real = |dir: Option<&Path>| match dir.map(fs::canonicalize)? {
            Ok(dir) => Some(dir),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let dir = dir.unwrap_or(Path::new("")).display();
                facts.unverified.push(format!("`{dir}` cannot be looked at: {error}"));
                None
            }
        };
        let (output, workspace) = (real(output), real(workspace));
        Self { output, workspace, seen: BTreeSet::new(), entries: 0, bytes: 0, facts }
    }

    const fn root(&self, root: Root) -> Option<&PathBuf> {
        match root {
            Root::Output => self.output.as_ref(),
            Root::Workspace => self.workspace.as_ref(),
        }
    }

    fn declared(&mut self, declared: &[Deliverable]) {
        for deliverable in declared.iter().take(DELIVERABLES_MAX) {
            let state = self.state(deliverable);
            self.facts.declared.push((deliverable.declared.clone(), state));
        }
        if declared.len() > DELIVERABLES_MAX {
            let more = format!("more than {DELIVERABLES_MAX} deliverables are declared");
            self.facts.declared.push((more.clone(), State::Unknown(more)));
        }
    }

    fn state(&mut self, deliverable: &Deliverable) -> State {
        let Some(path) = &deliverable.path else {
            return if deliverable.named { State::Outside } else { State::Nameless };
        };
        let Some(root) = self.root(deliverable.root) else { return State::Absent };
        let real = match fs::canonicalize(root.join(path)) {
            Ok(real) => real,
            Err(error) => return absent_or_unknown(&error),
        };
        if !self.is_inside(&real) {
            return State::Outside;
        }
        match fs::metadata(&real) {
            Ok(metadata) if !metadata.is_file() => State::Absent,
            Ok(metadata) => {
                self.file(&real, path, (deliverable.root, Some(&deliverable.declared)));
                if metadata.len() == 0 { State::Empty } else { State::There }
            }
            Err(error) => absent_or_unknown(&error),
        }
    }

    /// INVARIANT: both the path and the directories are without links.
    fn is_inside(&self, real: &Path) -> bool {
        [&self.output, &self.workspace].into_iter().flatten().any(|root| real.starts_with(root))
    }

    /// Every file below a directory. Hidden ones belong to tools, not to the run.
    fn walk(&mut self, top: &Path, root: Root) {
        let mut waiting = vec![(top.to_owned(), 0)];
        while let Some((dir, depth)) = waiting.pop() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound && depth == 0 => return,
                Err(error) => {
                    self.unverified(&dir, top, &error.to_string());
                    continue;
                }
            };
            let entries = entries.take(ENTRIES_MAX + 1);
            let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
            paths.sort();
            for path in paths.into_iter().filter(|path| !is_hidden(path)) {
                self.entries += 1;
                if self.entries > ENTRIES_MAX {
                    return self.facts.unverified.push(format!("there are more than {ENTRIES_MAX} files"));
                }
                self.entry(&path, (top, root), depth, &mut waiting);
            }
        }
    }

    fn entry(&mut self, path: &Path, (top, root): (&Path, Root), depth: usize, waiting: &mut Vec<(PathBuf, usize)>) {
        let linked = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
        let Ok(real) = fs::canonicalize(path) else { return self.unverified(path, top, "it leads nowhere") };
        if !self.is_inside(&real) {
            return self.unverified(path, top, "it leads out of the run's directories");
        }
        if real.is_dir() {
            // A link to a directory inside is walked where the directory is.
            match linked {
                true => {}
                false if depth >= DEPTH_MAX => self.unverified(path, top, "it is too deep"),
                false => waiting.push((path.to_owned(), depth + 1)),
            }
        } else if real.is_file() {
            let shown = path.strip_prefix(top).unwrap_or(path).to_string_lossy().into_owned();
            self.file(&real, &shown, (root, None));
        } else {
            self.unverified(path, top, "it is no file");
        }
    }

    fn unverified(&mut self, path: &Path, top: &Path, why: &str) {
        let shown = path.strip_prefix(top).unwrap_or(path).display();
        self.facts.unverified.push(format!("`{shown}` cannot be verified: {why}"));
    }

    /// Looks into a file, once.
    fn file(&mut self, real: &Path, shown: &str, (root, declared): (Root, Option<&str>)) {
        if !self.seen.insert(real.to_owned()) {
            return;
        }
        if self.bytes > RUN_BYTES_MAX {
            let why = format!("`{shown}` cannot be verified: the files have more than {RUN_BYTES_MAX} bytes");
            return self.facts.unverified.push(why);
        }
        match read(real, format::is_text(shown) || declared.is_some()) {
            Ok((size, bytes, end)) => {
                self.bytes += bytes.len() as u64;
                let content = Content { path: shown, size, bytes: &bytes, end: &end };
                let unread = unread(content, declared.is_some());
                self.facts.unverified.extend(unread.map(|why| format!("`{shown}` cannot be verified: {why}")));
                self.facts.files.push(examined(content, root, declared));
            }
            Err(error) => self.facts.unverified.push(format!("`{shown}` cannot be verified: {error}")),
        }
    }
}

fn absent_or_unknown(error: &io::Error) -> State {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => State::Absent,
        _ => State::Unknown(error.to_string()),
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// The size of a file, all of it or its beginning, and its end.
fn read(path: &Path, whole: bool) -> io::Result<(u64, Vec<u8>, Vec<u8>)> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let most = if whole && size <= TEXT_BYTES_MAX { TEXT_BYTES_MAX } else { HEAD_BYTES_MAX };
    let mut bytes = Vec::new();
    (&mut file).take(most).read_to_end(&mut bytes)?;
    let mut end = Vec::new();
    file.seek(io::SeekFrom::Start(size.saturating_sub(END_BYTES)))?;
    file.take(END_BYTES).read_to_end(&mut end)?;
    Ok((size, bytes, end))
}

/// Why a file that must be searched was not. Declared files must be, unless they hold no text.
fn unread(content: Content<'_>, declared: bool) -> Option<String> {
    let must = format::is_text(content.path) || declared && !format::is_binary(content);
    if !must {
        return None;
    }
    if content.size > content.bytes.len() as u64 {
        return Some(format!("it has more than {TEXT_BYTES_MAX} bytes"));
    }
    decoded::text(content.bytes).is_none().then(|| "it is no text".to_owned())
}

/// What the gates will ask of a file's content. Declared files are searched whatever their suffix.
fn examined(content: Content<'_>, root: Root, declared: Option<&str>) -> Examined {
    let form = format::examine(content);
    let binary = declared.is_some() && format::is_binary(content);
    let searched = format::is_text(content.path) || declared.is_some() && !binary;
    let text = if searched { decoded::text(content.bytes) } else { None };
    let text = text.as_deref().unwrap_or_default();
    let document = structural_integrity::is_document(content.path, text);
    Examined {
        path: content.path.to_owned(),
        bytes: content.size,
        declared: declared.map(str::to_owned),
        in_output: root == Root::Output,
        broken: form.broken,
        note: form.note.or_else(|| binary.then(|| "holds no text, and was not searched".to_owned())),
        placeholders: placeholder::in_text(text, format::comments(content.path)),
        structure: if document { structural_integrity::examine(text) } else { Vec::new() },
        document,
    }
}
