//! The texts that agents are shown, to the byte, and their bounds.

use super::*;
use crate::files::detector::{Pair, State};
use crate::files::policy::CompareTo;
use crate::sha::Digest;

fn firing(name: &str, pairs: &[(&str, &str)], instructions: &str) -> Firing {
    let pair = |(from, to): &(&str, &str)| Pair { from: (*from).to_owned(), to: (*to).to_owned() };
    Firing {
        policy: name.to_lowercase(),
        name: name.to_owned(),
        file: String::new(),
        tree: None,
        state: State::Fires,
        hash: String::new(),
        baseline_ref: String::new(),
        compare_to: CompareTo::Base,
        content: Digest::ZERO,
        trigger_files: Vec::new(),
        expected_files: Vec::new(),
        matched_files: Vec::new(),
        pairs: pairs.iter().map(pair).collect(),
        left_out: 0,
        pairs_left_out: 0,
        command: None,
        idle: false,
        instructions: instructions.to_owned(),
        backed: None,
        failed: None,
    }
}

#[test]
fn policies_are_grouped_with_an_arrow_for_each_pair() {
    let pairing =
        prompt(&firing("Pairing", &[("src/a.py", "tests/a_test.py"), ("src/b.py", "tests/b_test.py")], "Write it."));
    let readme = prompt(&firing("README Accuracy", &[], "Source files changed. Verify README.md is accurate."));
    assert_eq!(
        whole(&[pairing.clone(), readme], false, None),
        "The following policies require attention:\n\n## Pairing\nsrc/a.py → tests/a_test.py\nsrc/b.py → \
         tests/b_test.py\n\nWrite it.\n\n## README Accuracy\nSource files changed. Verify README.md is accurate.\n\nDo what \
         they ask. Where you have looked and nothing needs to change, write `<promise>Pairing</promise>` in a message \
         (each policy by its own name): it is recorded as your word, and the owner sees it; if you cannot: end your turn \
         with `<park>why</park>` in your last message, which tells the owner."
    );
    let alone = whole(&[pairing.clone(), prompt(&firing("Second", &[], "x"))], true, None);
    assert!(alone.contains("## Pairing") && !alone.contains("## Second"), "{alone}");
    assert!(alone.contains("\n1 more: Second\n"), "{alone}");
}

#[test]
fn it_is_bounded_and_counts_what_it_leaves_out() {
    let names: Vec<String> = (0..500).map(|number| format!("src/{number}.py")).collect();
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "t")).collect();
    let long = prompt(&firing("Long", &pairs, &"ü".repeat(4000)));
    assert!(long.text.contains("\nand 480 more\n"), "{}", long.text);
    let sections: Vec<Section> = (0..300).map(|_| long.clone()).collect();
    let text = whole(&sections, false, None);
    assert!(text.len() <= TEXT_BYTES_MAX + 512, "{}", text.len());
    assert!(text.contains("more: Long, Long"), "{text}");
    assert!(text.contains("the owner sees it;") && text.ends_with("tells the owner."), "the ways out are always told");
}

#[test]
fn files_stand_in_their_places_once() {
    let files = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let body = "Look at {trigger_file} of {trigger_files}; {expected_files}, {other}, {trigger_file";
    assert_eq!(
        filled(body, &files(&["{expected_files}", "b\nc"]), &files(&["t"])),
        "Look at {expected_files} of {expected_files}, b\u{fffd}c; t, {other}, {trigger_file"
    );
    let many: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    assert!(filled("{trigger_files}", &many, &[]).ends_with("19 and 10 more"));
}

#[test]
fn a_failed_command_says_how_it_ended_and_what_it_printed() {
    let failure = |command: &str, stdout: &str| Failure {
        command: command.to_owned(),
        told: "it exited with 3".to_owned(),
        exit_code: Some(3),
        stdout: stdout.to_owned(),
        stderr: String::new(),
        stdout_kept: None,
        stderr_kept: None,
    };
    let acted = Acted {
        policy: "lint".to_owned(),
        hash: String::new(),
        passed: false,
        skipped: false,
        waits: false,
        changed: false,
        content: Digest::ZERO,
        failures: vec![failure("lint a", "bad\n"), failure("lint b", "")],
        failed: 3,
        unsteady: vec!["c".to_owned()],
        rewrote: Vec::new(),
        rewrote_more: 0,
    };
    assert_eq!(
        command(&firing("Lint", &[], ""), &acted).text,
        "## Lint\nCommand: lint a\nIt did not pass: it exited with 3\nStdout:\nbad\n\nCommand: lint b\nIt did not pass: it \
         exited with 3\n(no output)\n\nand 1 more runs that did not go well\nRunning it again changed files once more, and \
         it must not: c"
    );
}

#[test]
fn a_command_with_many_files_leaves_room_for_what_came_of_it() {
    let files: Vec<String> = (0..100).map(|n| format!("src/component_{n:03}/implementation_of_it.py")).collect();
    let failure = Failure {
        command: format!("c {}", files.join(" ")),
        told: "it exited with 3".to_owned(),
        exit_code: Some(3),
        stdout: "WHY IT FAILED\n".to_owned(),
        stderr: String::new(),
        stdout_kept: None,
        stderr_kept: None,
    };
    let total = failure.command.len();
    let acted = Acted {
        policy: "p".to_owned(),
        hash: String::new(),
        passed: false,
        skipped: false,
        waits: false,
        changed: false,
        content: Digest::ZERO,
        failures: vec![failure],
        failed: 1,
        unsteady: Vec::new(),
        rewrote: Vec::new(),
        rewrote_more: 0,
    };
    let text = command(&firing("P", &[], "Mend it."), &acted).text;
    let cut = format!(
        "… ({} more bytes)\nIt did not pass: it exited with 3\nStdout:\nWHY IT FAILED",
        total - COMMAND_BYTES_MAX
    );
    assert!(text.contains(&cut), "{text}");
    assert!(text.ends_with("Mend it."), "{text}");
}

#[test]
fn a_host_that_tells_no_words_is_told_of_no_promise() {
    let text = whole(&[prompt(&firing("A", &[], "x"))], false, None);
    let told = unspoken(&format!("{text}\n→ park"));
    assert!(!told.contains("<promise>") && told.contains("`jackline allow`") && told.ends_with("\n→ park"), "{told}");
    assert_eq!(unspoken("something else"), "something else");
}

#[test]
fn all_are_shown_while_stops_are_held() {
    let many: Vec<Section> = (0..10).map(|number| prompt(&firing(&format!("P{number}"), &[], "Look."))).collect();
    let shown = |sections: &[Section], stops: u32| {
        let text = whole(sections, true, Some(stops));
        sections.iter().filter(|section| text.contains(&format!("## {}\n", section.name))).count()
    };
    let mut left = many.len();
    for stops in (1..=6).rev() {
        left -= shown(many.get(many.len() - left..).unwrap(), stops);
    }
    assert_eq!(left, 0);
    assert_eq!((shown(&many, 10), shown(&many, 6), shown(&many, 1), shown(&many, 0)), (1, 2, 10, 10));
}

#[test]
fn long_ones_share_the_text_and_say_where_to_read_on() {
    let long = |number: usize| Firing {
        file: format!(".jackline/policies/p{number}.md"),
        ..firing(&format!("P{number}"), &[], &"word ".repeat(1000))
    };
    let one = prompt(&long(0));
    assert!(one.text.len() <= SECTION_BYTES_MAX && one.text.ends_with("… (read on in `.jackline/policies/p0.md`)"));
    let sections: Vec<Section> = (0..60).map(|number| prompt(&long(number))).collect();
    let text = whole(&sections, false, Some(6));
    assert!(text.len() <= TEXT_BYTES_MAX + LEFT_OUT_BYTES_MAX + 32, "{}", text.len());
    assert!(text.contains("(read on in `.jackline/policies/p9.md`)\n\n50 more: P10, "), "{text}");
    assert_eq!(whole(&sections, false, None).matches("read on in").count(), 1);
    let few = whole(sections.get(..20).unwrap(), true, Some(1));
    assert_eq!(few.matches("read on in").count() + few.matches("## P").count(), 40, "{few}");
}

#[test]
fn long_lists_are_cut_between_names_and_counted() {
    let names: Vec<String> = (0..20).map(|number| format!("src/{}/{number:02}.py", "d".repeat(200))).collect();
    let list = filled("{trigger_files}", &names, &[]);
    assert!(list.len() < LISTED_BYTES_MAX + 64, "{}", list.len());
    assert!(list.ends_with("/03.py and 16 more"), "{list}");
    let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    let section = prompt(&firing("Long", &pairs, "Write it.")).text;
    assert!(section.ends_with("/03.py\nand 16 more\n\nWrite it."), "{section}");
    let sections: Vec<Section> = names.iter().map(|name| prompt(&firing(name, &[], &"x".repeat(4000)))).collect();
    let text = whole(&sections, false, None);
    assert!(text.contains("\n19 more: src/d") && text.contains("/01.py and 18 more\n"), "{text}");
    let one = filled("{trigger_files}", &["ü".repeat(2000)], &[]);
    assert!(one.ends_with("ü…") && one.len() <= LISTED_BYTES_MAX + "…".len(), "{}", one.len());
}
