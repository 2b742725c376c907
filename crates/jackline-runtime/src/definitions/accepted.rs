//! What the owner accepted: the last definition in force per workspace, by content, and whether it is trusted.
//!
//! Kept below the state directory, outside the workspace, where the agent may not write.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Scripts, file};

/// Bytes of a kept acceptance: a path, a digest, a time, and some hundred scripts.
const ACCEPTANCE_BYTES_MAX: usize = 64 << 10;

/// What is remembered of a workspace's definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// The definition's place.
    pub path: String,
    /// `sha256:…` of the accepted text.
    pub digest: String,
    /// Whether the owner said so with `jackline trust`; else it was the first one seen, or only tightened.
    pub trusted: bool,
    pub at: String,
    /// The files of the workspace that commands run, as they were when they were trusted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scripts: BTreeMap<String, String>,
}

impl Acceptance {
    #[must_use]
    pub fn new(path: &Path, digest: &Digest, trusted: bool, at: Timestamp) -> Self {
        let (path, digest, at) = (path.display().to_string(), format!("sha256:{digest}"), at.to_string());
        Self { path, digest, trusted, at, scripts: BTreeMap::new() }
    }

    /// The same, with the scripts that are trusted along with it.
    #[must_use]
    pub fn with_scripts(self, scripts: BTreeMap<String, String>) -> Self {
        Self { scripts, ..self }
    }

    /// The accepted text's digest.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        Digest::parse(self.digest.strip_prefix("sha256:")?)
    }
}

/// Accepted definitions by the place of their file.
#[derive(Debug, Clone)]
pub struct Accepted {
    root: PathBuf,
    keeps: bool,
}

impl Accepted {
    /// What a person trusted in a workspace that has no definition of its own: the commands of its file policies.
    #[must_use]
    pub fn without_definition(&self, workspace: &Path) -> Scripts {
        let known = self.of(&Self::place_without_definition(workspace));
        Scripts::Trusted(known.map(|known| known.scripts).unwrap_or_default())
    }

    /// What stands for such a workspace. It is no definition's place, so that none is taken for gone.
    #[must_use]
    pub fn place_without_definition(workspace: &Path) -> PathBuf {
        workspace.join(".jackline")
    }

    /// Acceptances kept below a state directory.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self { root: home.join("accepted"), keeps: true }
    }

    /// The same, without remembering anything further.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { keeps: false, ..self }
    }

    /// What was accepted for a definition's place.
    #[must_use]
    pub fn of(&self, definition: &Path) -> Option<Acceptance> {
        // A state directory is absolute; without one there is nothing to look for.
        let kept = Some(self.file(definition)).filter(|kept| kept.is_absolute())?;
        serde_json::from_slice(&file::read(&kept, ACCEPTANCE_BYTES_MAX).ok()?).ok()
    }

    /// Remembers an acceptance.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn remember(&self, definition: &Path, acceptance: &Acceptance) -> std::io::Result<()> {
        if !self.keeps {
            return Ok(());
        }
        crate::private::create_dir(&self.root)?;
        let file = self.file(definition);
        let beside = file.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_vec_pretty(acceptance)?;
        let mut new = crate::private::create_file(&beside)?;
        new.write_all(&text)?;
        new.sync_all()?;
        fs::rename(&beside, &file)
    }

    /// Remembers nothing of a definition's place any more.
    ///
    /// # Errors
    /// When the state directory cannot be written.
    pub fn forget(&self, definition: &Path) -> std::io::Result<()> {
        fs::remove_file(self.file(definition))
    }

    fn file(&self, definition: &Path) -> PathBuf {
        let key = Digest::of(definition.as_os_str().as_encoded_bytes());
        self.root.join(format!("{key}.json"))
    }
}
