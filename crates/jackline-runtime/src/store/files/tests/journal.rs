//! The journal: what was answered is there after a loss of power, and nothing else comes back.

use proptest::prelude::*;

use super::*;
use crate::store::Restored;
use crate::store::files::journal::Journal;
use crate::store::files::place::{JOURNAL, JOURNAL_NEXT};

/// Where a journal's label has the start of the machine in which it began, and, behind what was given back, its checksum.
const BOOT_AT: usize = 8 + 8 + 8 + 32;
const SUM_AT: usize = BOOT_AT + 40 + 16;

impl Fixture {
    /// Commits records until the session has a journal; the head then.
    fn with_journal(&self) -> Head {
        let mut head = self.store.load("s").unwrap().head;
        while !self.path(JOURNAL).exists() {
            head = pressed(&self.store, head, "grown", Sync::Full);
            assert!(head.offset < 64 << 10, "a journal is made early");
        }
        head
    }

    /// The power fails: of the log only `bytes` came to the disk, and the machine starts anew.
    fn fail_power(&self, bytes: u64) {
        OpenOptions::new().write(true).open(self.path("audit.jsonl")).unwrap().set_len(bytes).unwrap();
        self.start_anew();
    }

    /// Makes the journal one of an earlier start of the machine.
    fn start_anew(&self) {
        let mut label = fs::read(self.path(JOURNAL)).unwrap();
        label[BOOT_AT] ^= 1;
        let sum = crate::checksum::of(&[&label[..SUM_AT]]);
        label[SUM_AT..SUM_AT + 8].copy_from_slice(&sum.to_le_bytes());
        fs::write(self.path(JOURNAL), label).unwrap();
    }

    /// Up to where the log itself was pressed to disk.
    fn base(&self) -> u64 {
        let label = fs::read(self.path(JOURNAL)).unwrap();
        u64::from_le_bytes(label[8..16].try_into().unwrap())
    }
}

/// One more record.
#[track_caller]
fn pressed(store: &FileStore, head: Head, salt: &str, sync: Sync) -> Head {
    let step = Step::new("s", head, 1, salt);
    assert_eq!(store.commit("s", &Commit { sync, ..step.commit() }).unwrap(), Committed::Done);
    step.head
}

#[test]
fn what_was_answered_is_there_after_a_loss_of_power() {
    let fixture = Fixture::new();
    let mut head = fixture.with_journal();
    let durable = head;
    for _ in 0..5 {
        // A process for each, as hooks are.
        head = pressed(&fixture.other(), head, "later", Sync::Full);
    }
    assert_eq!(fixture.base(), durable.offset, "the log itself was not pressed again");
    let [log, journal] = ["audit.jsonl", JOURNAL].map(|file| fs::read(fixture.path(file)).unwrap());
    // Cut between records, in the middle of one, and at the last byte.
    for bytes in [durable.offset, durable.offset + 100, head.offset - 1] {
        fs::write(fixture.path(JOURNAL), &journal).unwrap();
        fixture.fail_power(bytes);
        let loaded = fixture.other().load("s").unwrap();
        assert_eq!((loaded.head, loaded.torn), (head, None), "cut at {bytes}");
        assert_eq!(fs::read(fixture.path("audit.jsonl")).unwrap(), log);
        assert_eq!(fixture.base(), head.offset, "the log was pressed, and the journal begins behind it");
    }
    let next = pressed(&fixture.other(), head, "after", Sync::Full);
    check_chain(&fixture.other(), "s", next);
}

#[test]
fn who_only_reads_sees_it_too() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let head = pressed(&fixture.store, durable, "later", Sync::Full);
    fixture.fail_power(durable.offset);
    check_chain(&fixture.other(), "s", head);
}

#[test]
fn a_log_that_somebody_cut_stays_cut() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    pressed(&fixture.store, durable, "later", Sync::Full);
    let log = OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap();
    log.set_len(durable.offset).unwrap();
    assert_eq!(fixture.other().load("s").unwrap().head, durable, "no power failed: nothing is hidden");
    log.set_len(durable.offset - 3).unwrap();
    assert!(fixture.other().load("s").unwrap().torn.is_some());
}

#[test]
fn what_is_damaged_is_written_over_and_what_follows_is_kept() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let head = pressed(&fixture.store, durable, "later", Sync::Full);
    let log = OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap();
    // Blocks that were given out and never written read as zeros on some file systems.
    log.write_all_at(&vec![0; usize::try_from(head.offset - durable.offset).unwrap()], durable.offset).unwrap();
    fixture.start_anew();
    assert_eq!(fixture.other().load("s").unwrap().head, head);
    check_chain(&fixture.other(), "s", head);
}

#[test]
fn what_somebody_wrote_into_the_log_is_not_hidden_after_a_start_either() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    pressed(&fixture.store, durable, "later", Sync::Full);
    let text = String::from_utf8(fs::read(fixture.path("audit.jsonl")).unwrap()).unwrap();
    let changed = text.replace("\"later\"", "\"never\"");
    assert_ne!(text, changed);
    fs::write(fixture.path("audit.jsonl"), &changed).unwrap();
    fixture.start_anew();
    drop(fixture.other().load("s"));
    drop(fixture.other().lines("s", 0));
    assert_eq!(fs::read_to_string(fixture.path("audit.jsonl")).unwrap(), changed);
}

#[test]
fn a_log_that_went_on_in_another_way_keeps_its_records() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    pressed(&fixture.store, durable, "cut away", Sync::Full);
    OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(durable.offset).unwrap();
    let other = pressed(&fixture.other(), durable, "instead", Sync::Os);
    fixture.start_anew();
    drop(fixture.other().lines("s", 0));
    assert_eq!(fixture.other().load("s").unwrap().head, other);
    let next = pressed(&fixture.other(), other, "after", Sync::Full);
    let salts = check_chain(&fixture.other(), "s", next);
    assert!(salts.ends_with(&["instead".to_owned(), "after".to_owned()]), "{salts:?}");
}

#[test]
fn writers_at_once_lose_nothing_to_a_loss_of_power() {
    let fixture = Fixture::new();
    let first = fixture.with_journal();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = fixture.other();
            scope.spawn(move || {
                for number in 0..60 {
                    let commit = || {
                        let step = Step::new("s", store.load("s").unwrap().head, 3, &format!("{writer}/{number}"));
                        store.commit("s", &Commit { sync: Sync::Full, ..step.commit() }).unwrap()
                    };
                    while commit() == Committed::Moved {}
                }
            });
        }
    });
    fixture.fail_power(fixture.base());
    let head = fixture.other().load("s").unwrap().head;
    assert_eq!(head.seq, first.seq + 4 * 60 * 3);
    check_chain(&fixture.other(), "s", head);
}

#[test]
fn records_left_to_the_system_are_durable_with_the_next() {
    for fresh in [false, true] {
        let fixture = Fixture::new();
        let durable = fixture.with_journal();
        let mut head = durable;
        for round in 0..4 {
            let (one, other) = (fixture.other(), fixture.other());
            let (outcome, next) = if fresh { (&one, &other) } else { (&fixture.store, &fixture.store) };
            head = pressed(outcome, head, "outcome", Sync::Os);
            head = pressed(next, head, &format!("next {round}"), Sync::Full);
        }
        fixture.fail_power(fixture.base());
        assert_eq!(fixture.other().load("s").unwrap().head, head, "fresh processes: {fresh}");
        check_chain(&fixture.other(), "s", head);
    }
}

#[test]
fn a_full_journal_begins_anew() {
    let fixture = Fixture::new();
    let mut head = fixture.with_journal();
    let first = fixture.base();
    while fixture.base() == first {
        head = pressed(&fixture.other(), head, "many", Sync::Full);
        assert!(head.offset < first + (1 << 20), "it is full some time");
    }
    assert!(fixture.base() > first + (100 << 10));
    // What an earlier round left behind the present one's end is not taken for its continuation.
    fixture.fail_power(fixture.base());
    assert_eq!(fixture.other().load("s").unwrap().head, head);
    assert_eq!(fs::metadata(fixture.path(JOURNAL)).unwrap().len(), 4096 + (128 << 10));
}

#[test]
fn a_journal_that_cannot_be_written_leaves_the_log_durable() {
    const FAIL: Fault = Fault::Fail(Errno::IO);
    const PASS: Fault = Fault::Pass;
    let cases: [&[Fault]; 3] = [
        // The append, the journal, the checkpoint, the journal once more, then the log itself.
        &[PASS, FAIL, PASS, FAIL, PASS],
        // What was begun cannot be made durable, and is pressed once more, by the journal or by the log.
        &[PASS, PASS, PASS, FAIL],
        &[PASS, PASS, PASS, FAIL, FAIL],
    ];
    for faults in cases {
        let fixture = Fixture::new();
        let step = Step::new("s", fixture.with_journal(), 1, "x");
        plan(faults);
        let commit = Commit { sync: Sync::Full, ..step.commit() };
        assert_eq!(fixture.store.commit("s", &commit).unwrap(), Committed::Done);
        plan(&[]);
        fixture.fail_power(fixture.base());
        assert_eq!(fixture.other().load("s").unwrap().head, step.head, "{faults:?}");
    }
}

#[test]
fn where_the_log_cannot_be_pressed_either_nothing_is_kept() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let step = Step::new("s", durable, 1, "x");
    let fail = Fault::Fail(Errno::IO);
    let pass = Fault::Pass;
    for faults in [&[pass, fail, pass, fail, fail][..], &[pass, pass, pass, fail, fail, fail]] {
        plan(faults);
        assert!(fixture.store.commit("s", &Commit { sync: Sync::Full, ..step.commit() }).is_err());
        plan(&[]);
        assert_eq!(fixture.other().load("s").unwrap().head, step.from);
    }
    done(&fixture.other(), &step);
}

#[test]
fn a_full_disk_keeps_nothing_of_a_commit() {
    let fixture = Fixture::new();
    let head = fixture.with_journal();
    let journal = fs::read(fixture.path(JOURNAL)).unwrap();
    let step = Step::new("s", head, 1, "x");
    for part in [0, 100] {
        plan(&[Fault::Short(part), Fault::Fail(Errno::NOSPC)]);
        assert!(fixture.other().commit("s", &Commit { sync: Sync::Full, ..step.commit() }).is_err());
        plan(&[]);
        assert_eq!(fs::metadata(fixture.path("audit.jsonl")).unwrap().len(), head.offset);
        assert_eq!(fs::read(fixture.path(JOURNAL)).unwrap(), journal, "nothing comes back after a loss of power");
    }
    done(&fixture.other(), &step);
}

#[test]
fn the_journal_of_another_log_changes_nothing() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    pressed(&fixture.store, durable, "later", Sync::Full);
    // As if the log had been replaced by one with other offsets, and the journal had stayed.
    let text = fs::read(fixture.path("audit.jsonl")).unwrap();
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(fixture.path("audit.jsonl"), &text[second..]).unwrap();
    fixture.start_anew();
    drop(fixture.other().load("s"));
    drop(fixture.other().lines("s", 0));
    assert_eq!(fs::read(fixture.path("audit.jsonl")).unwrap(), &text[second..]);
}

#[test]
fn a_log_whose_beginning_was_retired_gets_another_one() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let head = pressed(&fixture.store, durable, "later", Sync::Full);
    let word = |head: Head| Step::new("s", head, 1, "word").lines;
    let first = fixture.store.lines("s", 0).unwrap().next().unwrap().unwrap();
    let last = crate::store::link::head(&first, first.len() as u64 + 1).unwrap();
    let retired = fixture.store.retiring().unwrap();
    let retired = retired.records("s", &Retirement { last, carried: b"", word: &word }).unwrap().unwrap();
    assert_eq!(retired.seq, head.seq + 1);
    assert!(!fixture.path(JOURNAL).exists(), "its offsets are those of another log");
    let next = pressed(&fixture.other(), retired, "anew", Sync::Full);
    let later = pressed(&fixture.other(), next, "anew", Sync::Full);
    assert_eq!(fixture.base(), next.offset);
    fixture.fail_power(next.offset);
    assert_eq!(fixture.other().load("s").unwrap().head, later);
}

#[test]
fn a_journal_that_was_removed_makes_nothing_durable() {
    let fixture = Fixture::new();
    let head = fixture.with_journal();
    let place = Place::new(&fixture.store.root, "s").unwrap();
    let journal = Journal::open(&place, &place.root().unwrap().unwrap()).unwrap();
    let log = fs::File::open(fixture.path("audit.jsonl")).unwrap();
    assert!(journal.press(&log, head, b"{}\n"));
    fs::remove_file(fixture.path(JOURNAL)).unwrap();
    assert!(!journal.press(&log, head, b"{}\n"));
    // The log is pressed instead, whoever had it open and whoever had not.
    let next = pressed(&fixture.store, head, "one", Sync::Full);
    assert_eq!(fixture.base(), next.offset, "and there is another one");
    fs::remove_file(fixture.path(JOURNAL)).unwrap();
    let next = pressed(&fixture.other(), next, "other", Sync::Full);
    assert_eq!(fixture.base(), next.offset);
}

#[test]
fn sessions_that_are_short_have_none() {
    let fixture = Fixture::new();
    pressed(&fixture.store, Head::EMPTY, "a", Sync::Full);
    assert!(!fixture.path(JOURNAL).exists());
}

#[test]
fn a_planted_journal_is_none() {
    let fixture = Fixture::new();
    let head = fixture.with_journal();
    fs::remove_file(fixture.path(JOURNAL)).unwrap();
    symlink("/etc/passwd", fixture.path(JOURNAL)).unwrap();
    let next = pressed(&fixture.other(), head, "later", Sync::Full);
    assert!(fs::symlink_metadata(fixture.path(JOURNAL)).unwrap().is_file(), "it is made anew, and the link is gone");
    check_chain(&fixture.other(), "s", next);
}

#[test]
fn what_was_given_back_is_told_until_a_record_tells_of_it() {
    for sync in [Sync::Full, Sync::Os] {
        let fixture = Fixture::new();
        let durable = fixture.with_journal();
        let head = pressed(&fixture.store, durable, "later", Sync::Full);
        assert_eq!(fixture.other().load("s").unwrap().restored, None);
        fixture.fail_power(durable.offset + 7);
        let restored = Some(Restored { at: durable.offset, bytes: head.offset - durable.offset });
        assert_eq!(fixture.other().load("s").unwrap().restored, restored);
        // One that does not tell of it leaves that to the next.
        let untold = pressed(&fixture.other(), head, "untold", Sync::Full);
        assert_eq!(fixture.other().load("s").unwrap().restored, restored);
        let step = Step::new("s", untold, 1, "told");
        let told = fixture.other().commit("s", &Commit { restored, sync, ..step.commit() }).unwrap();
        assert_eq!((told, fixture.other().load("s").unwrap().restored), (Committed::Done, None));
        let next = pressed(&fixture.other(), step.head, "after", Sync::Full);
        fixture.fail_power(step.head.offset);
        assert_eq!(fixture.other().load("s").unwrap().head, next);
    }
}

#[test]
fn the_log_of_a_runtime_says_what_was_given_back() {
    let fixture = Fixture::new();
    let event = |number: usize| {
        let call = serde_json::json!({ "id": number.to_string(), "tool": "look", "args": { "number": number } });
        let event = serde_json::json!({ "event": "call.requested", "session": "s", "call": call });
        jackline_core::event::read(&event, jackline_core::time::Timestamp(0)).unwrap()
    };
    let handle = |number: usize| {
        let workspace = fixture.dir.path();
        let builder = crate::Runtime::builder().workspace(workspace).state(&fixture.store.root);
        let runtime = builder.definition_yaml("jackline: 1\n").build().unwrap();
        runtime.decide(&event(number));
    };
    let mut number = 0;
    while !fixture.path(JOURNAL).exists() {
        handle(number);
        number += 1;
    }
    handle(number);
    let whole = fs::read(fixture.path("audit.jsonl")).unwrap();
    fixture.fail_power(fixture.base());
    handle(number + 1);
    handle(number + 2);
    let log = fs::read(fixture.path("audit.jsonl")).unwrap();
    assert_eq!(log[..whole.len()], whole);
    let records = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let records: Vec<serde_json::Value> = records.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let repaired: Vec<_> = records.iter().filter(|record| record["kind"] == "session.repaired").collect();
    let [repaired] = repaired[..] else { panic!("it is told once: {repaired:?}") };
    let bytes = u64::try_from(whole.len()).unwrap() - repaired["data"]["restored_at"].as_u64().unwrap();
    assert_eq!(repaired["data"]["bytes"], bytes);
}

#[test]
fn a_journal_of_an_earlier_start_takes_nothing_more() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let head = pressed(&fixture.store, durable, "before", Sync::Full);
    fixture.start_anew();
    // The log lacks nothing, and goes on.
    let next = pressed(&fixture.other(), head, "after", Sync::Full);
    assert_eq!(fixture.base(), next.offset, "it began anew behind a log that was pressed itself");
    // What somebody cuts in this start stays cut.
    OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(head.offset).unwrap();
    assert_eq!(fixture.other().load("s").unwrap().head, head);
}

#[test]
fn a_hole_before_the_last_record_is_filled() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let hole = pressed(&fixture.store, durable, "lost", Sync::Full);
    let head = pressed(&fixture.store, hole, "kept", Sync::Full);
    let log = OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap();
    log.write_all_at(&vec![0; usize::try_from(hole.offset - durable.offset).unwrap()], durable.offset).unwrap();
    fixture.start_anew();
    assert_eq!(fixture.other().load("s").unwrap().head, head);
    check_chain(&fixture.other(), "s", head);
}

#[test]
fn a_journal_that_was_not_made_to_its_end_is_none() {
    let fixture = Fixture::new();
    let head = fixture.with_journal();
    for len in [0, 4096, 4096 + (128 << 10) - 1] {
        let journal = OpenOptions::new().write(true).open(fixture.path(JOURNAL)).unwrap();
        journal.set_len(len).unwrap();
        fs::write(fixture.path(JOURNAL_NEXT), "half").unwrap();
        let next = pressed(&fixture.other(), head, "later", Sync::Full);
        assert_eq!((fixture.base(), fixture.path(JOURNAL_NEXT).exists()), (next.offset, false), "{len} bytes");
        fs::OpenOptions::new().write(true).open(fixture.path("audit.jsonl")).unwrap().set_len(head.offset).unwrap();
    }
}

#[test]
fn a_journal_that_cannot_be_made_leaves_nothing() {
    let fixture = Fixture::new();
    let head = fixture.with_journal();
    fs::remove_file(fixture.path(JOURNAL)).unwrap();
    let step = Step::new("s", head, 1, "x");
    // The append, the checkpoint, the log pressed, an old one removed, and the disk is full.
    plan(&[Fault::Pass, Fault::Pass, Fault::Pass, Fault::Pass, Fault::Fail(Errno::NOSPC)]);
    assert_eq!(fixture.other().commit("s", &Commit { sync: Sync::Full, ..step.commit() }).unwrap(), Committed::Done);
    plan(&[]);
    assert!(!fixture.path(JOURNAL).exists() && !fixture.path(JOURNAL_NEXT).exists());
    let next = pressed(&fixture.other(), step.head, "y", Sync::Full);
    assert_eq!(fixture.base(), next.offset);
}

#[test]
fn a_journal_that_cannot_begin_anew_is_gone() {
    let fixture = Fixture::new();
    let durable = fixture.with_journal();
    let step = Step::new("s", durable, 1, "x");
    // The append, the journal, the checkpoint, the journal, the log itself; then nobody knows which label the disk has.
    let fail = Fault::Fail(Errno::IO);
    plan(&[Fault::Pass, fail, Fault::Pass, fail, Fault::Pass, fail]);
    let commit = Commit { sync: Sync::Full, ..step.commit() };
    assert_eq!(fixture.store.commit("s", &commit).unwrap(), Committed::Done);
    plan(&[]);
    assert!(!fixture.path(JOURNAL).exists());
    let next = pressed(&fixture.store, step.head, "y", Sync::Full);
    assert_eq!(fixture.base(), next.offset, "the same process makes another");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whoever commits in whatever order, and wherever the log ends when the power fails: nothing that was answered with
    /// `sync: full` is missing.
    #[test]
    fn no_order_of_writers_loses_what_was_answered(
        steps in prop::collection::vec((0..3_usize, any::<bool>(), 1..4_u64), 1..60),
        cut in 0.0..1.0_f64,
    ) {
        let fixture = Fixture::new();
        let stores = [fixture.other(), fixture.other().checkpoints_follow()];
        let mut head = fixture.with_journal();
        let mut answered = head;
        for (who, full, count) in steps {
            let fresh = fixture.other();
            let store = stores.get(who).unwrap_or(&fresh);
            prop_assert_eq!(store.load("s").unwrap().head, head);
            let step = Step::new("s", head, count * 3, "any");
            let sync = if full { Sync::Full } else { Sync::Os };
            prop_assert_eq!(store.commit("s", &Commit { sync, ..step.commit() }).unwrap(), Committed::Done);
            head = step.head;
            answered = if full { head } else { answered };
        }
        let (base, end) = (fixture.base(), head.offset);
        fixture.fail_power(base + ((end - base) as f64 * cut) as u64);
        let found = fixture.other().load("s").unwrap().head;
        prop_assert!(found.seq >= answered.seq, "{} of {}", found.seq, answered.seq);
        check_chain(&fixture.other(), "s", found);
    }
}
