//! File policies at a stop: matching alone, a whole look with git, and the real program as a hook, side by side in one
//! run over a repository of 10,000 files; beside it the Python program that the design comes from, where it is installed.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on says so; it prints a table"
)]

#[path = "hook/spawn.rs"]
#[expect(dead_code, reason = "shared with the hook's benchmark, which needs more of it")]
mod spawn;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jackline_core::files::detector::{Changed, Changes, detect};
use jackline_runtime::files::{self, Folder, Question};
use spawn::Prepared;

/// Files of the repository.
const FILES: usize = 10_000;
/// Changed files and policies of each row.
const ROWS: [(usize, usize); 4] = [(10, 5), (100, 50), (1_000, 50), (10_000, 200)];
/// Directories that files and policies are spread over.
const DIRS: usize = 50;
/// How much older than its session a file is at least: of one that is hardly older every byte is read.
const OLDER: Duration = Duration::from_millis(3_100);

fn main() {
    if spawn::was_memory_probe() {
        return;
    }
    let quick = std::env::args().any(|word| word == "--quick");
    let rounds = if quick { 5 } else { 30 };
    let world = World::new();
    println!("a stop in a repository of {FILES} files, milliseconds (median of {rounds}), load {}", load());
    println!("| changed × policies | matching alone | git alone | a whole look | the hook | its memory | deepwork |");
    println!("|---|---|---|---|---|---|---|");
    for (changed, policies) in ROWS {
        world.set_up(changed, policies);
        let row = world.row(&format!("of-{changed}"), rounds);
        println!("| {changed} × {policies} | {row} |");
    }
}

struct World {
    _top: tempfile::TempDir,
    top: PathBuf,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let top = dir.path().canonicalize().expect("there");
        let world = Self { _top: dir, top };
        fs::create_dir_all(world.repo().join(".jackline/policies")).expect("made");
        fs::create_dir_all(world.top.join("home")).expect("made");
        (0..FILES).for_each(|number| world.write(&source(number), "x = 1\n"));
        world.write("jackline.yaml", "jackline: 1\n");
        world.write(".gitignore", ".deepwork/tmp\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.commit();
        world
    }

    fn repo(&self) -> PathBuf {
        self.top.join("repo")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.repo().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "gc.auto=0"]).args(words);
        let done = git.current_dir(self.repo()).env("HOME", self.top.join("home")).status().expect("git is there");
        assert!(done.success(), "git {words:?}");
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    /// So many policies, all committed, and so many files that changed since.
    fn set_up(&self, changed: usize, policies: usize) {
        self.git(&["checkout", "-q", "--", "src"]);
        for number in 0..policies {
            let (dir, text) = (number % DIRS, format!("Look at policy {number}."));
            let policy = format!(
                "---\nname: Policy {number}\ncompare_to: base\nset: ['src/d{dir}/{{path}}.py', 'tests/d{dir}/{{path}}_{number}.py']\n---\n{text}\n"
            );
            self.write(&format!(".jackline/policies/p{number}.md"), &policy);
            self.write(&format!(".deepwork/rules/p{number}.md"), &policy);
        }
        self.commit();
        self.settle();
        (0..changed).for_each(|number| self.write(&source(number), "x = 2\n"));
    }

    /// Has git write its index in a later second than that of the files: else it must read each of them, as a repository
    /// that was cloned or committed to a moment ago has it, until the next `git status`.
    fn settle(&self) {
        std::thread::sleep(Duration::from_millis(1_100));
        self.git(&["status", "--porcelain"]);
    }

    fn folder(&self) -> Folder {
        files::find(&self.repo(), None).expect("policies")
    }

    fn row(&self, session: &str, rounds: usize) -> String {
        let folder = self.folder();
        let home = self.top.join("home");
        let look = |folder: &Folder| files::look_at(folder, Some(&home), Question::default()).expect("a look");
        let fired = look(&folder);
        let changed: Vec<String> = fired.fired.iter().flat_map(|fired| fired.detected.trigger_files.clone()).collect();
        let changes =
            || Changes::new(changed.iter().map(|path| Changed { path: path.clone(), created: false }).collect());
        let read = files::policies(&folder);
        let changes = changes();
        let matching =
            median(rounds, || assert!(read.policies.iter().filter_map(|policy| detect(policy, &changes)).count() > 0));
        let quiet = self.quiet();
        let git = median(rounds, || drop(look(&quiet)));
        let whole = median(rounds, || drop(look(&folder)));
        std::thread::sleep(OLDER);
        let hook = median(rounds, || self.stop(session));
        let memory = spawn::memory(&self.hook(), &message(session, &self.repo())) as f64 / f64::from(1 << 20);
        let python = self.deepwork(rounds.min(5)).map_or("not installed".to_owned(), |ms| format!("{ms:.0}"));
        format!("{matching:.2} | {git:.1} | {whole:.1} | {hook:.1} | {memory:.1} MiB | {python}")
    }

    /// A folder whose one policy is about no file: what is left is git.
    fn quiet(&self) -> Folder {
        let dir = self.top.join("repo/.git/quiet");
        fs::create_dir_all(&dir).expect("made");
        fs::write(dir.join("none.md"), "---\ntrigger: nothing/**\n---\nx\n").expect("written");
        Folder { dir, shown: ".git/quiet".to_owned(), ..self.folder() }
    }

    fn hook(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jackline"));
        command.args(["hook", "claude"]).current_dir(self.repo()).env_clear();
        command.env("HOME", self.top.join("home")).env("CLAUDE_PROJECT_DIR", self.repo());
        command
    }

    fn stop(&self, session: &str) {
        let ended = Prepared::new(self.hook(), &message(session, &self.repo())).run();
        assert_eq!(ended.code, Some(0), "{}", ended.said);
    }

    /// The same stop for the Python program.
    fn deepwork(&self, rounds: usize) -> Option<f64> {
        let run = || {
            let mut command = Command::new("deepwork");
            command.args(["hook", "rules_check"]).current_dir(self.repo()).stdout(Stdio::null()).stderr(Stdio::null());
            command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        run().then(|| median(rounds, || assert!(run())))
    }
}

fn source(number: usize) -> String {
    format!("src/d{}/f{number}.py", number % DIRS)
}

fn message(session: &str, repo: &Path) -> String {
    let cwd = repo.display();
    // A prompt of its own each time would start the count of held stops anew; a sub-agent's stop is not judged.
    format!(
        "{{\"session_id\":\"{session}\",\"cwd\":\"{cwd}\",\"hook_event_name\":\"Stop\",\"stop_hook_active\":false,\"last_assistant_message\":\"done\"}}"
    )
}

/// Milliseconds, the median of some rounds after one that does not count.
fn median(rounds: usize, mut act: impl FnMut()) -> f64 {
    act();
    let mut all: Vec<f64> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all.get(rounds / 2).copied().unwrap_or_default()
}

/// How busy the machine is: what was measured on a busy one is an upper bound.
fn load() -> String {
    fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split(' ').next().map(str::to_owned))
        .unwrap_or_default()
}
