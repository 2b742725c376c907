//! Checkpoints that are left for later.

use super::*;
use crate::store::STATE_BYTES_MAX;

#[test]
fn a_checkpoint_that_is_left_is_written_when_there_is_time() {
    let fixture = Fixture::new();
    let store = fixture.other().checkpoints_follow();
    let head = grow(&store, "s", 2, "a");
    fixture.check(head, None, 2, None);
    store.catch_up(&state_at);
    fixture.check(head, Some(2), 0, None);
    let head = grow(&store, "s", 3, "b");
    fixture.check(head, Some(2), 3, None);
    store.catch_up(&state_at);
    store.catch_up(&state_at);
    fixture.check(head, Some(5), 0, None);
}

#[test]
fn a_checkpoint_that_is_left_gives_way_to_a_newer_one() {
    let fixture = Fixture::new();
    let store = fixture.other().checkpoints_follow();
    grow(&store, "s", 2, "a");
    let head = grow(&fixture.store, "s", 1, "b");
    store.catch_up(&state_at);
    fixture.check(head, Some(3), 0, None);
    // The slot that is written next is the older one.
    let head = grow(&store, "s", 1, "c");
    fixture.check(head, Some(3), 1, None);
    store.catch_up(&state_at);
    fixture.check(head, Some(4), 0, None);
}

#[test]
fn checkpoints_that_are_left_do_not_fall_far_behind() {
    let fixture = Fixture::new();
    let stores = [fixture.other().checkpoints_follow(), fixture.other().checkpoints_follow()];
    for turn in 0..100 {
        grow(&stores[turn % 2], "s", 1, "a");
        let loaded = fixture.other().load("s").unwrap();
        assert!(loaded.tail.count() <= 16, "{turn}");
    }
}

#[test]
fn a_checkpoint_whose_state_nobody_knows_stays_left() {
    let fixture = Fixture::new();
    let store = fixture.other().checkpoints_follow();
    let head = grow(&store, "s", 2, "a");
    store.catch_up(&|_, _| None);
    fixture.check(head, None, 2, None);
    store.catch_up(&|_, _| Some(vec![0; STATE_BYTES_MAX + 1]));
    fixture.check(head, None, 2, None);
    let head = grow(&store, "s", 1, "b");
    store.catch_up(&state_at);
    fixture.check(head, Some(3), 0, None);
}

#[test]
fn a_session_that_waits_for_its_checkpoint_is_closed_last() {
    let fixture = Fixture::new();
    let store = fixture.other().checkpoints_follow();
    let head = grow(&store, "s", 2, "a");
    for other in 0..2 * SESSIONS_OPEN_MAX {
        grow(&store, &format!("other-{other}"), 1, "a");
        store.catch_up(&|session, head| state_at(session, head).filter(|_| session != "s"));
    }
    fixture.check(head, None, 2, None);
    store.catch_up(&state_at);
    fixture.check(head, Some(2), 0, None);
}

#[test]
fn however_many_wait_only_so_many_are_open() {
    let fixture = Fixture::new();
    let store = fixture.other().checkpoints_follow();
    let head = grow(&store, "s", 2, "a");
    for other in 0..SESSIONS_OPEN_MAX {
        grow(&store, &format!("other-{other}"), 1, "a");
    }
    assert_eq!(store.opened().len(), SESSIONS_OPEN_MAX);
    // What was left of the one that went is folded again.
    store.catch_up(&state_at);
    fixture.check(head, None, 2, None);
    fixture.check(grow(&store, "s", 1, "b"), None, 3, None);
}
