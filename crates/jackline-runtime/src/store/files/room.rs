//! How much a store can still take.

use std::io;
use std::path::Path;

/// Bytes that this user may still write where `root` lies, or would lie.
///
/// # Errors
/// When the disk does not tell.
pub fn room_bytes(root: &Path) -> io::Result<u64> {
    let there = root.ancestors().find(|dir| dir.exists()).unwrap_or(root);
    let disk = rustix::fs::statvfs(there)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_not_there_yet_has_the_room_of_what_is_above_it() {
        let dir = tempfile::tempdir().unwrap();
        assert!(room_bytes(&dir.path().join("none/below")).unwrap() > 0);
    }
}
