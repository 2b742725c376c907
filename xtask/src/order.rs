//! `cargo xtask order`: finds the functions that the hook runs, for the linker to put them beside one another.
//!
//! It plays common events to a build with names under valgrind and writes down every function that took part. The list
//! is kept in the repository, so that nobody who only builds needs valgrind. It ages without harm: a function that is
//! not on it lies with all others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::dist;
use crate::shell::{root, say};

/// What stands above the list.
const HEAD: &str = "# The functions that `jackline hook` runs, for build.rs; found by `cargo xtask order`.\n";
/// What begins a crate's name, with a hash that differs from compiler to compiler, so it is left open.
const CRATE: &str = "Cs";
/// What valgrind does not know by name: the program's beginning, and functions of the C library that are written in
/// assembly, which have a file rather than a section of their own.
const UNNAMED: &[&str] = &["file crt1.o", "__libc_start_main", "file memcpy.lo", "file memmove.lo", "file memset.lo"];

/// A tool, what it is given, and what it answered once it was run.
type Call = (&'static str, &'static str, &'static str);

/// Calls as agents make them all day; `~` is the workspace.
const CALLS: &[Call] = &[
    ("Bash", r#"{"command":"cargo fmt && cargo build --release && git status --short"}"#, r#"{"stdout":"done"}"#),
    ("Bash", r#"{"command":"cd src && ls -la | grep rs > /dev/null; cat 'a b.rs'"}"#, r#"{"stdout":"x"}"#),
    ("Bash", r#"{"command":"git push --force origin main"}"#, r#"{"stdout":""}"#),
    ("Read", r#"{"file_path":"~/src/one.rs"}"#, r#"{"type":"text"}"#),
    ("Edit", r#"{"file_path":"~/src/one.rs","old_string":"a","new_string":"b"}"#, r#"{"filePath":"~/src/one.rs"}"#),
    ("Write", r#"{"file_path":"~/src/new.rs","content":"fn f() {}\n"}"#, r#"{"type":"create"}"#),
    ("Grep", r#"{"pattern":"fn main","path":"~/src"}"#, r#"{"mode":"content","numFiles":1}"#),
];

/// Builds, plays, and writes the list.
pub(crate) fn run() -> Result<(), String> {
    let program = dist::build("profiling")?;
    let place = program.with_file_name("order");
    let ran = play(&program, &place);
    drop(fs::remove_dir_all(&place));
    let names = ranked(ran?);
    let list = root().join("crates/jackline/hook.order");
    let text = names.iter().fold(HEAD.to_owned(), |text, name| text + name + "\n");
    fs::write(&list, text).map_err(|fault| format!("`{}` cannot be written: {fault}", list.display()))?;
    say(&format!("== order: {} functions", names.len()));
    Ok(())
}

/// What most events run comes first, so that an event touches few pages of what others run.
fn ranked(times: BTreeMap<String, usize>) -> Vec<String> {
    let mut names: Vec<(String, usize)> = times.into_iter().collect();
    names.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let unnamed = UNNAMED.iter().map(|name| (*name).to_owned());
    unnamed.chain(names.into_iter().map(|(name, _)| name)).collect()
}

/// Plays each event once for its effects, and once more to see what is run when all files are there; says how many
/// events ran a function.
fn play(program: &Path, place: &Path) -> Result<BTreeMap<String, usize>, String> {
    let workspace = prepare(place).map_err(|fault| format!("`{}` cannot be used: {fault}", place.display()))?;
    let mut times = BTreeMap::new();
    for (round, traced) in [false, true].into_iter().enumerate() {
        for (number, call) in CALLS.iter().enumerate() {
            for event in ["PreToolUse", "PostToolUse"] {
                let message = message(&workspace, event, call, &format!("{round}-{number}"));
                for name in answer(program, place, &message, traced)? {
                    *times.entry(name).or_default() += 1;
                }
            }
        }
    }
    Ok(times)
}

fn prepare(place: &Path) -> std::io::Result<PathBuf> {
    let workspace = place.join("workspace");
    fs::create_dir_all(workspace.join("src"))?;
    fs::create_dir_all(place.join("home/.claude"))?;
    fs::write(workspace.join("src/one.rs"), "fn main() {}\n")?;
    fs::copy(root().join("crates/jackline/benches/rules.yaml"), workspace.join("jackline.yaml"))?;
    Ok(workspace)
}

fn message(workspace: &Path, event: &str, (tool, input, output): &Call, id: &str) -> String {
    let at = workspace.display().to_string();
    let (input, output) = (input.replace('~', &at), output.replace('~', &at));
    let answered = if event == "PostToolUse" { format!(r#","tool_response":{output}"#) } else { String::new() };
    format!(
        r#"{{"session_id":"order","transcript_path":"{at}/none.jsonl","cwd":"{at}","permission_mode":"default",
"hook_event_name":"{event}","tool_name":"{tool}","tool_input":{input},"tool_use_id":"toolu_{id}"{answered}}}"#
    )
}

/// Asks the hook; gives the functions it ran, where that is looked at.
fn answer(program: &Path, place: &Path, message: &str, traced: bool) -> Result<BTreeSet<String>, String> {
    let (profile, input) = (place.join("profile"), place.join("message"));
    let broken = |what: &str, fault: std::io::Error| format!("{what}: {fault}");
    fs::write(&input, message).map_err(|fault| broken("the message cannot be written", fault))?;
    let mut command = if traced { Command::new("valgrind") } else { Command::new(program) };
    if traced {
        command.args(["--tool=callgrind", "--demangle=no", "-q"]);
        command.arg(format!("--callgrind-out-file={}", profile.display())).arg(program);
    }
    let message = fs::File::open(&input).map_err(|fault| broken("the message cannot be read", fault))?;
    command.args(["hook", "claude"]).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", place.join("home"));
    command.env("JACKLINE_HOME", place.join("store")).env("CLAUDE_PROJECT_DIR", place.join("workspace"));
    command.stdin(message).stdout(Stdio::null()).current_dir(place.join("workspace"));
    let status = command.status().map_err(|fault| broken("valgrind is needed, and cannot be started", fault))?;
    if !status.success() {
        return Err(format!("the hook failed: {status}"));
    }
    if !traced {
        return Ok(BTreeSet::new());
    }
    let profile = fs::read_to_string(&profile).map_err(|fault| broken("the profile cannot be read", fault))?;
    Ok(functions(&profile))
}

/// The names in a profile, which gives each with the first line that mentions it; what has none is given by address.
fn functions(profile: &str) -> BTreeSet<String> {
    let named = profile.lines().filter_map(|line| line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn=")));
    let names = named.filter_map(|rest| rest.split_once(") ")).map(|(_, name)| name);
    names.filter(|name| !name.starts_with("0x") && !name.starts_with('(')).map(pattern).collect()
}

/// A name as it will be in every build: with the hash of each crate left open, and the number of a copy. What is recursive
/// is listed with its depth behind a quote. All names are of the form that tells the instances of a generic function apart
/// (`.cargo/config.toml`); with the other one, a name would fetch every instance there is.
fn pattern(name: &str) -> String {
    let name = name.split('\'').next().unwrap_or(name);
    let (name, copy) = match name.rsplit_once('.') {
        Some((name, _)) => (name, "*"),
        None => (name, ""),
    };
    let mut parts = name.split(CRATE);
    let mut open = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let hash = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        open.push_str(CRATE);
        open.push_str(if part.get(hash..).is_some_and(|rest| rest.starts_with('_')) { "*" } else { "" });
        open.push_str(part.get(if open.ends_with('*') { hash } else { 0 }..).unwrap_or_default());
    }
    open + copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_hash_and_their_depth() {
        let profile = "ob=(1) /x\nfn=(1) main\n0 5\ncfn=(2) _RNvNtCsaz6_4core3ptr4drop'2\nfn=(1)\nfn=(3) 0x40\n";
        let want = ["_RNvNtCs*_4core3ptr4drop", "main"].map(str::to_owned);
        assert_eq!(functions(profile), BTreeSet::from(want));
        assert_eq!(pattern("_RNvNtCsaz6eC2DG7lh_3std3env7__var_os.12"), "_RNvNtCs*_3std3env7__var_os*");
        assert_eq!(pattern("_RNvXCs1_1aNtCsB2_4CsDe"), "_RNvXCs*_1aNtCs*_4CsDe");
    }

    #[test]
    fn what_all_events_run_comes_first() {
        let times = [("a", 1), ("b", 3), ("c", 3)].map(|(name, times)| (name.to_owned(), times));
        assert_eq!(ranked(times.into())[UNNAMED.len()..], ["b", "c", "a"]);
    }
}
