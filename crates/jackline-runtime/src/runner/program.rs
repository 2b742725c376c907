//! Which file a command's first word is.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The program, or why there is none. A bare name is looked for in `search`; a relative path below the workspace,
/// which it must not leave; an absolute one is taken as it is. `workspace` is canonical.
pub(super) fn find(word: &str, workspace: &Path, search: &OsStr) -> Result<PathBuf, String> {
    let path = Path::new(word);
    match word {
        "" => Err("the command has no program".to_owned()),
        _ if path.is_absolute() => executable(path).map(|()| path.to_owned()),
        _ if word.contains('/') => below(path, workspace),
        _ => on(word, workspace, search),
    }
}

fn below(path: &Path, workspace: &Path) -> Result<PathBuf, String> {
    let joined = workspace.join(path);
    let real = joined.canonicalize().map_err(|fault| format!("`{}` cannot be run: {fault}", path.display()))?;
    // By `..` or by a link: whoever may write the link would choose the program.
    if !real.starts_with(workspace) {
        return Err(format!("`{}` leads out of the workspace; name it by its absolute path", path.display()));
    }
    executable(&joined).map(|()| joined)
}

fn on(word: &str, workspace: &Path, search: &OsStr) -> Result<PathBuf, String> {
    // A link in a system's directory may lead back into the workspace.
    let outside = |found: &PathBuf| found.canonicalize().is_ok_and(|real| !real.starts_with(workspace));
    let candidates = env::split_paths(search).map(|dir| dir.join(word));
    candidates.filter(outside).find(|found| executable(found).is_ok()).ok_or_else(|| {
        format!(
            "`{word}` is in no directory of PATH outside the workspace; a program of the workspace is named by its path"
        )
    })
}

fn executable(path: &Path) -> Result<(), String> {
    let complain = |why: &str| Err(format!("`{}` cannot be run: {why}", path.display()));
    match fs::metadata(path) {
        Err(fault) => complain(&fault.to_string()),
        Ok(there) if !there.is_file() => complain("it is no file"),
        Ok(there) if there.permissions().mode() & 0o111 == 0 => complain("it is not executable"),
        Ok(_) => Ok(()),
    }
}
