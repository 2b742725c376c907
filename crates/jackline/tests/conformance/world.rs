//! The workspace of a case: made, changed and looked at on a real disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::case::{Case, Step, texts};

pub(crate) struct World {
    _top: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) store: PathBuf,
    pub(crate) home: PathBuf,
    /// The definition, with its placeholders filled in.
    pub(crate) definition: String,
    /// What earlier decisions are quoted by.
    kept: RefCell<BTreeMap<String, String>>,
}

impl World {
    pub(crate) fn new(case: &Case) -> Self {
        let top = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| top.path().canonicalize().expect("there").join(name);
        let mut world = Self {
            root: path("workspace"),
            outside: path("outside"),
            store: path("store"),
            home: path("home"),
            definition: String::new(),
            kept: RefCell::default(),
            _top: top,
        };
        for dir in [&world.root, &world.outside, &world.home] {
            fs::create_dir(dir).expect("made");
        }
        world.definition = world.fill(&case.definition).to_string();
        fs::write(world.root.join("jackline.yaml"), &world.definition).expect("written");
        for dir in &case.dirs {
            fs::create_dir_all(world.root.join(dir)).expect("made");
        }
        for (name, content) in &case.workspace {
            write(&world.root.join(name), content);
        }
        for (name, content) in &case.home {
            write(&world.home.join(name), content);
        }
        for (name, target) in &case.links {
            symlink(world.fill_text(target), world.root.join(name)).expect("linked");
        }
        world
    }

    pub(crate) fn change(&self, change: &Value) {
        for (name, content) in texts(&change["write"]) {
            write(&self.root.join(name), &content);
        }
        for name in change["delete"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            fs::remove_file(self.root.join(name)).expect("removed");
        }
        for name in change["mkdir"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            fs::create_dir_all(self.root.join(name)).expect("made");
        }
        for (name, target) in texts(&change["link"]) {
            symlink(self.fill_text(&target), self.root.join(name)).expect("linked");
        }
    }

    /// The line that a step sends.
    pub(crate) fn line(&self, step: &Step) -> String {
        match (&step.raw, &step.event) {
            (Some(raw), _) => self.fill_text(raw),
            (None, Some(event)) => self.fill(event).to_string(),
            (None, None) => panic!("a step has an event or a raw line"),
        }
    }

    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(key, item)| (self.fill_text(key), self.fill(item))).collect(),
            other => other.clone(),
        }
    }

    fn fill_text(&self, text: &str) -> String {
        let path = |path: &Path| path.display().to_string();
        let text = text.replace("${WORKSPACE}", &path(&self.root)).replace("${OUTSIDE}", &path(&self.outside));
        self.kept.borrow().iter().fold(text, |text, (name, kept)| text.replace(&format!("${{{name}}}"), kept))
    }

    /// Keeps parts of a decision for the texts of later steps.
    pub(crate) fn keep(&self, step: &Step, answer: &Value) {
        for (name, pointer) in &step.keep {
            let kept = answer.pointer(pointer).and_then(Value::as_str);
            let kept = kept.unwrap_or_else(|| panic!("nothing is at {pointer} of {answer}"));
            self.kept.borrow_mut().insert(name.clone(), kept.to_owned());
        }
    }

    pub(crate) fn check_after(&self, case: &Case) -> Result<(), String> {
        for (name, content) in &case.after {
            let found = fs::read_to_string(self.root.join(name)).unwrap_or_default();
            if found != *content {
                return Err(format!("afterwards `{name}` holds {found:?}"));
            }
        }
        Ok(())
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    fs::write(path, content).expect("written");
}
