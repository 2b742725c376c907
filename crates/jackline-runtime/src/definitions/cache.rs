//! Checked definitions kept as typed data by the hash of their text, so that a hook does not parse YAML again.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jackline_core::definition::{self, Model};
use jackline_core::sha::Digest;
use jackline_core::tools;

use super::file;
use super::schemas::inline_faults;
use crate::checksum;

/// Bytes of a kept text or model; a definition is bounded to one mebibyte of text and its model is smaller.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The form in which a model is kept; another form of the same version must not be taken for this one.
const FORMAT: u8 = 3;

/// Definitions kept by digest below the state directory: their texts, and their checked models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    root: PathBuf,
    keeps: bool,
}

impl Kept {
    /// Definitions kept below a state directory.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self { root: home.join("definitions"), keeps: true }
    }

    /// The same, without keeping anything further.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { keeps: false, ..self }
    }

    /// The checked model of a text, from the cache or by reading it.
    ///
    /// # Errors
    /// All faults of the text.
    pub fn model(&self, text: &str) -> Result<(Model, Digest), Vec<definition::Fault>> {
        let digest = Digest::of(text.as_bytes());
        if let Some(model) = self.cached(&digest) {
            // The model was whole; whether the text is, nobody has looked yet.
            drop(self.write_once(&self.text_path(&digest), text.as_bytes()));
            return Ok((model, digest));
        }
        let parsed = definition::parse(text, &tools::names())?;
        let faults = inline_faults(&parsed.model, Some(text));
        if !faults.is_empty() {
            return Err(faults);
        }
        self.keep(&digest, text, &parsed.model);
        Ok((parsed.model, digest))
    }

    /// The text of a definition that was in force once.
    #[must_use]
    pub fn text(&self, digest: &Digest) -> Option<String> {
        let path = Some(self.text_path(digest)).filter(|path| path.is_absolute())?;
        let text = file::read_ours(&path, KEPT_BYTES_MAX).ok()?;
        (Digest::of(&text) == *digest).then_some(text).and_then(|text| String::from_utf8(text).ok())
    }

    fn cached(&self, digest: &Digest) -> Option<Model> {
        let path = Some(self.model_path(digest)).filter(|path| path.is_absolute())?;
        let bytes = file::read_ours(&path, KEPT_BYTES_MAX).ok()?;
        let (seal, model) = bytes.split_first_chunk()?;
        // The seal binds the model to its text and to this version of the format: anything else is read anew.
        (*seal == Self::seal(digest, model)).then(|| postcard::from_bytes(model).ok()).flatten()
    }

    /// A checksum against damage. It is no defence: whoever may write here may seal what they wrote.
    fn seal(digest: &Digest, model: &[u8]) -> [u8; 8] {
        checksum::of(&[env!("CARGO_PKG_VERSION").as_bytes(), &[FORMAT], &digest.0, model]).to_le_bytes()
    }

    /// Keeps text and model; a directory that cannot be written only costs the next process its time.
    pub fn keep(&self, digest: &Digest, text: &str, model: &Model) {
        let Ok(model) = postcard::to_stdvec(model) else { return };
        let sealed = [Self::seal(digest, &model).as_slice(), &model].concat();
        drop(self.write_once(&self.text_path(digest), text.as_bytes()));
        drop(self.write_once(&self.model_path(digest), &sealed));
    }

    /// Writes a file whole or not at all: beside its place first, then renamed. Every process asks, and a new file
    /// would cost each of them a millisecond, so one that has this content already is left alone.
    fn write_once(&self, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
        if !self.keeps || file::read_ours(path, KEPT_BYTES_MAX).is_ok_and(|kept| kept == bytes) {
            return Ok(());
        }
        crate::private::create_dir(&self.root)?;
        let beside = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = crate::private::create_file(&beside)?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            drop(fs::remove_file(&beside));
        }
        written
    }

    /// Keeps a text alone.
    pub fn keep_text(&self, digest: &Digest, text: &str) {
        // Asked of each pack at every event, so a look must do: what is damaged is not believed when it is read.
        if !fs::symlink_metadata(self.text_path(digest)).is_ok_and(|there| there.is_file()) {
            drop(self.write_once(&self.text_path(digest), text.as_bytes()));
        }
    }

    fn text_path(&self, digest: &Digest) -> PathBuf {
        self.root.join(format!("{digest}.yaml"))
    }

    fn model_path(&self, digest: &Digest) -> PathBuf {
        self.root.join(format!("{digest}.{}.model", env!("CARGO_PKG_VERSION")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_already_is_left_alone_and_what_is_not_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Kept::below(dir.path());
        let text = "jackline: 1\n";
        let (model, digest) = kept.model(text).unwrap();
        let path = kept.text_path(&digest);
        let written = fs::metadata(&path).unwrap();
        kept.keep(&digest, text, &model);
        let inode = |metadata: &fs::Metadata| std::os::unix::fs::MetadataExt::ino(metadata);
        assert_eq!(inode(&fs::metadata(&path).unwrap()), inode(&written), "it was written again");
        for damaged in ["", "jackline: 2\n", "jackline: 1\nmode: observe\n"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(kept.text(&digest), None);
            kept.keep(&digest, text, &model);
            assert_eq!(kept.text(&digest).as_deref(), Some(text));
        }
    }
}
