//! Which file of the C library a function is in: it was compiled with a section for each file, not for each function.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The archives that the plain build takes its C library and its unwinder from.
const ARCHIVES: [&str; 3] = ["libc.a", "libm.a", "libgcc_eh.a"];

/// The names in them, each with its file.
pub(super) fn members() -> Result<BTreeMap<String, String>, String> {
    let mut members = BTreeMap::new();
    for archive in ARCHIVES {
        let path = said(Command::new("cc").arg(format!("-print-file-name={archive}")))?;
        let path = path.trim();
        // A compiler that does not know it says the name alone.
        if Path::new(path).is_absolute() {
            let listed = said(Command::new("nm").args(["--print-file-name", "--defined-only", path]))?;
            members.extend(listed.lines().filter_map(member));
        }
    }
    Ok(members)
}

/// A name and its file, from a line `archive:file:address type name`. One of another type is no function.
fn member(line: &str) -> Option<(String, String)> {
    let (place, symbol) = line.rsplit_once(':')?;
    let (_, file) = place.rsplit_once(':')?;
    let mut words = symbol.split_whitespace().skip(1);
    let (kind, name) = (words.next()?, words.next()?);
    ["T", "t", "W", "i"].contains(&kind).then(|| (name.to_owned(), file.to_owned()))
}

fn said(command: &mut Command) -> Result<String, String> {
    let said = command.output().map_err(|fault| format!("{command:?} cannot be started: {fault}"))?;
    String::from_utf8(said.stdout).map_err(|fault| format!("{command:?}: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_their_files() {
        let found = |line| member(line).map(|(name, file)| format!("{name} in {file}"));
        assert_eq!(found("/lib/libc.a:read.o:0000000000000000 T __read").as_deref(), Some("__read in read.o"));
        assert_eq!(found("/lib/libc.a:time.o:0000000000000000 i time").as_deref(), Some("time in time.o"));
        assert_eq!(found("/lib/libc.a:read.o:0000000000000010 r table"), None);
        assert_eq!(found(""), None);
    }
}
