//! File policies as nobody should write them: nothing makes the reader, the matcher or the texts panic.

use std::time::{Duration, Instant};

use jackline_core::files::detector::{Changed, Changes, detect};
use jackline_core::files::policy::{Action, Policy};
use jackline_core::files::promise::promised;
use jackline_core::files::queue::trigger_hash;
use jackline_core::files::text::filled;
use jackline_core::sha::Digest;

/// Texts that the mutations begin with.
const SEEDS: [&str; 5] = [
    "---\nname: README Accuracy\ntrigger: src/**/*.py\nsafety: README.md\ncompare_to: prompt\n---\nVerify {trigger_files}.\n",
    "---\nset: [\"src/{path}.py\", \"tests/{path}_test.py\"]\n---\nWrite {expected_files}.\n",
    "---\npair: {trigger: \"api/{name}.py\", expects: [\"docs/{name}.{md,txt}\", \"s/{**x}/*\"]}\n---\nx\n",
    "---\ncreated: [\"**/[a-z]?*.{js,ts}\"]\naction:\n  command: ruff format '{file}' --root={repo_root}\n---\n",
    "---\ntrigger: a\naction: {command: [x, \"{files}\"], run_for: all_matches}\n---\n",
];
/// What mutations put in: everything that means something, and some that does not.
const PIECES: [&str; 36] = [
    "{",
    "}",
    "{path}",
    "{**}",
    "{*}",
    "{a,b}",
    "{a}",
    "**",
    "*",
    "?",
    "[",
    "]",
    "[!a-",
    "\\",
    "/",
    "..",
    ",",
    "---",
    "\n",
    "\r\n",
    ":",
    "- ",
    "'",
    "\"",
    "&x",
    "*x",
    "|\n  ",
    "\u{feff}",
    "é",
    "\u{1f600}",
    "\0",
    "  ",
    "trigger: ",
    "<promise>",
    "</promise>",
    "✓",
];

/// A source of numbers that is the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        let digest = Digest::of(&self.0.to_le_bytes()).0;
        self.0 += 1;
        let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        usize::try_from(number % sides.max(1) as u64).unwrap_or_default()
    }

    fn mutated(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.roll(6) {
            let at = self.roll(chars.len() + 1);
            match self.roll(3) {
                0 => drop(chars.splice(at..at, PIECES[self.roll(PIECES.len())].chars())),
                1 => drop(chars.drain(at..(at + self.roll(8)).min(chars.len()))),
                _ => {
                    let copied: Vec<char> =
                        chars.iter().skip(self.roll(chars.len())).take(self.roll(20)).copied().collect();
                    drop(chars.splice(at..at, copied));
                }
            }
        }
        chars.into_iter().collect()
    }
}

/// One policy from its text to what an agent would be shown; whether it could be read.
fn whole(text: &str, dice: &mut Dice) -> bool {
    let _ = promised(text);
    let Ok(policy) = Policy::parse("p", text) else { return false };
    let path = |dice: &mut Dice| -> String { dice.mutated("src/a/b.py").replace('\0', "") };
    let files = (0..4).map(|_| Changed { path: path(dice), created: dice.roll(2) == 0 }).collect();
    if let Some(seen) = detect(&policy, &Changes::new(files)) {
        let _ = (
            trigger_hash(&policy.id, &seen.trigger_files, "x"),
            filled(&policy.body, &seen.trigger_files, &seen.expected_files),
        );
        if let Action::Command(command) = &policy.action {
            let _ = command.runs(&seen.trigger_files, "/repo");
        }
    }
    true
}

fn run(until: impl Fn(usize) -> bool) -> (usize, usize) {
    let (mut dice, mut texts, mut read) = (Dice(7), 0, 0);
    while until(texts) {
        let seed = SEEDS[dice.roll(SEEDS.len())];
        let text = dice.mutated(seed);
        read += usize::from(whole(&text, &mut dice));
        texts += 1;
    }
    (texts, read)
}

#[test]
fn no_text_of_a_policy_makes_anything_panic() {
    let (texts, read) = run(|texts| texts < 3_000);
    assert!(read > texts / 50, "most mutations broke the text: {read} of {texts}");
}

/// `cargo test -p jackline --test properties -- --ignored no_text_of_a_policy_makes_anything_panic_in_ten_minutes`
#[test]
#[ignore = "takes ten minutes"]
fn no_text_of_a_policy_makes_anything_panic_in_ten_minutes() {
    let end = Instant::now() + Duration::from_secs(600);
    let (texts, read) = run(|_| Instant::now() < end);
    assert!(texts > 0 && read > 0);
}
