//! What may be said in a file of git's attributes, as far as it must be known to do without git.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::probes::fingerprint::small;

/// Bytes of one that is read; of a longer one it is not known what it says.
const ATTRIBUTES_BYTES_MAX: u64 = 1024 * 1024;
/// What says so, in whichever line.
const ENCODES: &[u8] = b"working-tree-encoding";

/// Whether git would wait for ever for what it says: a pipe answers nobody.
pub(super) fn is_pipe(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok_and(|meta| !meta.is_file() && !meta.is_dir() && !meta.is_symlink())
}

/// Whether it may say that files are kept in another encoding; one that is not there does not.
pub(super) fn may_encode(file: &Path) -> bool {
    match small(file, ATTRIBUTES_BYTES_MAX) {
        Some(text) => text.windows(ENCODES.len()).any(|window| window == ENCODES),
        None => !fs::symlink_metadata(file).is_err_and(|fault| fault.kind() == ErrorKind::NotFound),
    }
}
