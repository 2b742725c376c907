//! What a host runs beside our hooks, and what that may do to them: hooks of others, extensions, agents and skills with hooks of
//! their own.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jackline_core::instructions;
use jackline_runtime::wiring::Survey;

use super::report::Report;
use crate::hosts::{Host, listing};
use crate::place;

const GROUP: &str = "wiring";

/// Directories within directories of agents and skills that are looked into.
const DEPTH_MAX: usize = 3;
/// Bytes of such a file that are looked at: its front matter stands first.
const FRONT_BYTES_MAX: u64 = 64 * 1024;

/// Hooks of others that are asked about the same calls.
pub(super) fn others(shown: &str, survey: &Survey, report: &mut Report) {
    if survey.others > 0 {
        let text = format!(
            "{shown}: {} other hooks are asked before a call; what one rewrites is not judged again",
            survey.others
        );
        report.note(GROUP, text, "let none of them change a call, or answer `ask` to what shall be refused");
    }
}

/// Programs that a host runs by itself.
pub(super) fn extensions(host: &Host, root: &Path, report: &mut Report) {
    for file in (host.extensions)(root) {
        let text =
            format!("{}: {} runs it beside our hooks, and may take its answers", place::shown(&file), host.title);
        report.warn(GROUP, text, "look at what it does, or take it away: nothing of it is judged");
    }
}

/// Agents, skills and commands that bring hooks along.
pub(super) fn instructed(root: &Path, report: &mut Report) {
    let tops = [Some(root.to_owned()), place::home().filter(|home| home != root)];
    let usual =
        tops.into_iter().flatten().flat_map(|top| instructions::DIRECTORIES.iter().map(move |dir| top.join(dir)));
    for file in usual.chain(place::instructing()).flat_map(|dir| files_below(&dir, DEPTH_MAX)) {
        if let Some(key) = read(&file).and_then(|text| instructions::brings(&text)) {
            let text = format!("{}: `{key}` in its front matter runs something beside our hooks", place::shown(&file));
            report.warn(
                GROUP,
                text,
                "look at what it runs: a hook may rewrite a call that was judged, and nothing of it is",
            );
        }
    }
}

fn files_below(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in listing(dir) {
        if path.is_dir() && depth > 1 {
            files.extend(files_below(&path, depth - 1));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

fn read(file: &Path) -> Option<String> {
    // Looked at before it is opened: a pipe that was planted there would be waited for.
    std::fs::metadata(file).ok().filter(|there| there.is_file())?;
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(FRONT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
