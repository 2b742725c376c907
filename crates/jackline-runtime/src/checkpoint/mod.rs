//! Signs checkpoints with a key that only its owner can read, and checks the signatures of others.
//!
//! Where the key lies is the caller's choice: outside the workspace, best under a user the agent is not.

mod kept;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use ed25519_dalek::{SECRET_KEY_LENGTH, Signature, Signer as _, SigningKey, VerifyingKey};
use jackline_core::{audit::Checkpoint, sha::Digest, time::Timestamp};
use thiserror::Error;

pub use kept::{KeptCheckpoints, default_key, kept_below};

/// Bytes read of a key file: 64 digits and a line end are expected, a little more shows that it is something else.
const KEY_FILE_BYTES_MAX: u64 = 128;

/// Why a checkpoint could not be signed or is not believed.
#[derive(Debug, Error)]
pub enum SignFault {
    #[error("key file `{path}` could not be {done}: {source}")]
    File { path: PathBuf, done: &'static str, source: io::Error },
    #[error("key file `{0}` is not a regular file")]
    NotAFile(PathBuf),
    #[error("key file `{path}` can be read or written by others (mode {mode:o})")]
    Exposed { path: PathBuf, mode: u32 },
    #[error("key file `{0}` does not hold 64 hexadecimal digits")]
    NotAKey(PathBuf),
    #[error("no random bytes for a new key: {0}")]
    Random(getrandom::Error),
    #[error("checkpoint was signed by another key than the trusted one")]
    WrongKey,
    #[error("signature does not fit the checkpoint")]
    WrongSignature,
}

impl SignFault {
    /// What the person can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Exposed { path, .. } => {
                Some(format!("run `chmod 600 {}`, or remove the key and start over", path.display()))
            }
            Self::NotAKey(path) | Self::NotAFile(path) => {
                Some(format!("move `{}` away; a new key is made", path.display()))
            }
            _ => None,
        }
    }
}

/// Who stands behind a checkpoint whose signature fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signer {
    /// The key that the caller trusts.
    Trusted,
    /// The key that the checkpoint names itself: nothing was changed since, but anybody may have signed.
    Unknown,
}

/// Loads the key at `path`, or makes one there that only its owner can read.
pub fn load_or_create_key(path: &Path) -> Result<SigningKey, SignFault> {
    match fs::symlink_metadata(path) {
        Ok(_) => load_key(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => create_key(path),
        Err(source) => Err(file_fault(path, "looked at", source)),
    }
}

/// Signs the head of a session's chain.
#[must_use]
pub fn sign(key: &SigningKey, session: &str, head: (u64, Digest), at: Timestamp) -> Checkpoint {
    let (seq, hash) = head;
    let public_key = key.verifying_key().to_bytes();
    let mut checkpoint = Checkpoint { session: session.to_owned(), seq, hash, at, public_key, signature: [0; 64] };
    checkpoint.signature = key.sign(&checkpoint.message()).to_bytes();
    checkpoint
}

/// Checks a signature, against the trusted key when there is one.
pub fn verify(checkpoint: &Checkpoint, trusted_public_key: Option<&[u8; 32]>) -> Result<Signer, SignFault> {
    if trusted_public_key.is_some_and(|trusted| *trusted != checkpoint.public_key) {
        return Err(SignFault::WrongKey);
    }
    let key = VerifyingKey::from_bytes(&checkpoint.public_key).map_err(|_| SignFault::WrongSignature)?;
    // Strict: weak keys, whose signatures fit many messages, are refused.
    key.verify_strict(&checkpoint.message(), &Signature::from_bytes(&checkpoint.signature))
        .map_err(|_| SignFault::WrongSignature)?;
    Ok(if trusted_public_key.is_some() { Signer::Trusted } else { Signer::Unknown })
}

fn file_fault(path: &Path, done: &'static str, source: io::Error) -> SignFault {
    SignFault::File { path: path.to_owned(), done, source }
}

fn load_key(path: &Path) -> Result<SigningKey, SignFault> {
    // Before opening: a pipe put in its place would hold us for ever.
    let seen = fs::symlink_metadata(path).map_err(|source| file_fault(path, "looked at", source))?;
    if !seen.is_file() {
        return Err(SignFault::NotAFile(path.to_owned()));
    }
    let file = File::open(path).map_err(|source| file_fault(path, "opened", source))?;
    refuse_exposed(path, &file)?;
    let mut text = Vec::new();
    file.take(KEY_FILE_BYTES_MAX).read_to_end(&mut text).map_err(|source| file_fault(path, "read", source))?;
    let digits = std::str::from_utf8(text.trim_ascii_end()).ok().and_then(Digest::parse);
    let secret: [u8; SECRET_KEY_LENGTH] = digits.ok_or_else(|| SignFault::NotAKey(path.to_owned()))?.0;
    Ok(SigningKey::from_bytes(&secret))
}

#[cfg(unix)]
fn refuse_exposed(path: &Path, file: &File) -> Result<(), SignFault> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata().map_err(|source| file_fault(path, "looked at", source))?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(SignFault::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_exposed(_path: &Path, _file: &File) -> Result<(), SignFault> {
    Ok(())
}

/// Writes a new key beside its place and links it there, so that nobody ever sees half a key.
fn create_key(path: &Path) -> Result<SigningKey, SignFault> {
    let (secret, name) = (random::<SECRET_KEY_LENGTH>()?, random::<8>()?);
    let draft = path.with_extension(format!("{:016x}.new", u64::from_le_bytes(name)));
    let written = write_draft(&draft, &secret).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(()) => Ok(SigningKey::from_bytes(&secret)),
        // Somebody else was first; their key is the one.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => load_key(path),
        Err(source) => Err(file_fault(path, "created", source)),
    }
}

fn random<const N: usize>() -> Result<[u8; N], SignFault> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(SignFault::Random)?;
    Ok(bytes)
}

fn write_draft(draft: &Path, secret: &[u8; SECRET_KEY_LENGTH]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    writeln!(file, "{}", Digest(*secret))?;
    file.sync_all()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn signed(key: &SigningKey) -> Checkpoint {
        sign(key, "s1", (12, Digest::of(b"head")), Timestamp(1_767_225_600_000))
    }

    fn key() -> SigningKey {
        SigningKey::from_bytes(&[7; 32])
    }

    #[test]
    fn a_key_is_made_once_and_kept_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.key");
        let made = load_or_create_key(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(load_or_create_key(&path).unwrap().to_bytes(), made.to_bytes());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a draft was left behind");
        let other = load_or_create_key(&folder.path().join("other.key")).unwrap();
        assert_ne!(other.to_bytes(), made.to_bytes());
    }

    #[test]
    fn of_parallel_makers_one_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let makers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| load_or_create_key(&path).unwrap().to_bytes())).collect();
            makers.into_iter().map(|maker| maker.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| key == &keys[0]));
    }

    #[track_caller]
    fn check(content: &str, mode: u32, want: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k");
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let got = load_or_create_key(&path).map(|_| ()).map_err(|fault| fault.to_string());
        let shown = path.display().to_string();
        assert_eq!(got.map_err(|text| text.replace(&shown, "K")), Err(want.to_owned()));
    }

    #[test]
    fn key_files_that_are_open_or_odd_are_refused() {
        let digits = "ab".repeat(32);
        check(&digits, 0o644, "key file `K` can be read or written by others (mode 644)");
        check(&digits, 0o640, "key file `K` can be read or written by others (mode 640)");
        check(&digits, 0o602, "key file `K` can be read or written by others (mode 602)");
        check("", 0o600, "key file `K` does not hold 64 hexadecimal digits");
        check(&digits.repeat(1000), 0o600, "key file `K` does not hold 64 hexadecimal digits");
        check("\u{0}\u{ff}", 0o600, "key file `K` does not hold 64 hexadecimal digits");
    }

    #[test]
    fn links_and_folders_are_no_key_files() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        load_or_create_key(&target).unwrap();
        symlink(&target, &link).unwrap();
        assert!(matches!(load_or_create_key(&link), Err(SignFault::NotAFile(_))));
        assert!(matches!(load_or_create_key(folder.path()), Err(SignFault::NotAFile(_))));
        assert!(matches!(load_or_create_key(&folder.path().join("none/key")), Err(SignFault::File { .. })));
    }

    #[test]
    fn a_signature_fits_its_checkpoint_alone() {
        let checkpoint = signed(&key());
        let trusted = key().verifying_key().to_bytes();
        assert_eq!(verify(&checkpoint, Some(&trusted)).unwrap(), Signer::Trusted);
        assert_eq!(verify(&checkpoint, None).unwrap(), Signer::Unknown);
        let read = Checkpoint::parse(&checkpoint.render()).unwrap();
        assert_eq!(verify(&read, Some(&trusted)).unwrap(), Signer::Trusted);
        let changes: [fn(&mut Checkpoint); 5] = [
            |it| it.session.push('x'),
            |it| it.seq -= 1,
            |it| it.hash.0[0] ^= 1,
            |it| it.at.0 += 1,
            |it| it.signature[40] ^= 1,
        ];
        for change in changes {
            let mut changed = checkpoint.clone();
            change(&mut changed);
            assert!(matches!(verify(&changed, Some(&trusted)), Err(SignFault::WrongSignature)));
            assert!(matches!(verify(&changed, None), Err(SignFault::WrongSignature)));
        }
    }

    #[test]
    fn another_signer_is_not_the_trusted_one() {
        let forged = signed(&SigningKey::from_bytes(&[8; 32]));
        let trusted = key().verifying_key().to_bytes();
        assert!(matches!(verify(&forged, Some(&trusted)), Err(SignFault::WrongKey)));
        let renamed = Checkpoint { public_key: trusted, ..forged };
        assert!(matches!(verify(&renamed, Some(&trusted)), Err(SignFault::WrongSignature)));
    }

    #[test]
    fn weak_keys_sign_nothing() {
        let mut weak = signed(&key());
        weak.public_key = [0; 32];
        weak.public_key[0] = 1;
        weak.signature = [0; 64];
        weak.signature[0] = 1;
        assert!(matches!(verify(&weak, None), Err(SignFault::WrongSignature)));
    }
}
