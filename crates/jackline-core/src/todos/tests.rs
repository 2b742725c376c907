//! Every transition from every state: those that are legal lead where they should, the others nowhere.

use super::state::By;
use super::*;

const AT: Timestamp = Timestamp(1_000);
const MARK: Mark = Mark { writes: 0, acts: 0, tree: None };

fn pending(checks: Vec<Check>) -> Todo {
    Todo::new(Id::derive("todo", "s", 0, AT), "fix lint".into(), Author::Agent, checks, AT)
}

fn one() -> Vec<Check> {
    vec![Check::FileExists("a".into())]
}

fn in_progress() -> Todo {
    pending(one()).started(AT, 1).expect("legal")
}

fn claimed() -> Todo {
    in_progress().claimed(AT, Vec::new()).expect("legal")
}

fn passed() -> Vec<Outcome> {
    one().iter().map(|check| Outcome::pass(check, "there")).collect()
}

fn failed() -> Vec<Outcome> {
    one().iter().map(|check| Outcome::fail(check, "gone")).collect()
}

fn consent() -> Consent {
    Consent { reason: "seen".into(), by: "dev".into() }
}

fn verified() -> Todo {
    claimed().verified(AT, passed(), MARK).expect("legal")
}

fn needs_human() -> Todo {
    (0..FAILURES_MAX).fold(claimed(), |todo, _| todo.verified(AT, failed(), MARK).expect("claimed still"))
}

/// Where each transition leads from a todo: start, claim, verify, approve, reject, waive.
fn leads(todo: &Todo) -> [Option<&'static str>; 6] {
    let name = |todo: Option<Todo>| todo.map(|todo| todo.state.name());
    [
        name(todo.started(AT, 1)),
        name(todo.claimed(AT, Vec::new())),
        name(todo.verified(AT, passed(), MARK)),
        name(todo.approved(AT, consent())),
        name(todo.rejected(AT, 2, consent())),
        name(todo.waived(AT, consent())),
    ]
}

#[test]
fn only_legal_transitions_exist() {
    let (w, v, i) = (Some("waived"), Some("verified"), Some("in_progress"));
    assert_eq!(leads(&pending(one())), [i, None, None, None, None, w]);
    assert_eq!(leads(&in_progress()), [None, Some("claimed"), None, None, None, w]);
    assert_eq!(leads(&claimed()), [None, None, v, v, i, w]);
    assert_eq!(leads(&needs_human()), [None, None, None, v, i, w]);
    assert_eq!(leads(&verified()), [None; 6]);
    assert_eq!(leads(&pending(one()).waived(AT, consent()).expect("legal")), [None; 6]);
}

#[test]
fn the_third_failure_needs_a_person_and_a_new_claim_does_not_start_anew() {
    let twice = (0..2).fold(claimed(), |todo, _| todo.verified(AT, failed(), MARK).expect("claimed still"));
    assert_eq!((twice.state.name(), twice.failures), ("claimed", 2));
    let again = twice.rejected(AT, 2, consent()).and_then(|todo| todo.claimed(AT, Vec::new())).expect("legal");
    let third = again.verified(AT, failed(), MARK).expect("claimed");
    assert_eq!((third.state.name(), third.failures), ("needs_human", 3));
    let once_more = third.rejected(AT, 3, consent()).and_then(|todo| todo.claimed(AT, Vec::new())).expect("legal");
    assert_eq!(once_more.verified(AT, failed(), MARK).expect("claimed").state.name(), "needs_human");
}

#[test]
fn no_checks_are_never_verified_by_the_runtime() {
    let todo = pending(Vec::new()).started(AT, 1).and_then(|todo| todo.claimed(AT, Vec::new())).expect("legal");
    assert_eq!(todo.verified(AT, Vec::new(), MARK).expect("claimed").state.name(), "claimed");
    assert_eq!(todo.approved(AT, consent()).expect("legal").state.name(), "verified");
}

#[test]
fn what_the_runtime_verified_is_looked_at_again_and_what_a_person_did_is_not() {
    let reopened = verified().looked_at_again(AT, 9, failed(), MARK).expect("by the runtime");
    assert_eq!(reopened.state.name(), "in_progress");
    assert_eq!(reopened.state.work().map(state::InProgress::step), Some(9), "older evidence is too old");
    let changed = Mark { writes: 7, acts: 0, tree: None };
    let confirmed = verified().looked_at_again(AT, 9, passed(), changed).expect("by the runtime");
    assert!(matches!(&confirmed.state, State::Verified(verified) if *verified.by() == By::Runtime(changed)));
    let by_person = claimed().approved(AT, consent()).expect("legal");
    assert_eq!(by_person.looked_at_again(AT, 9, failed(), MARK), None);
}

#[test]
fn what_may_have_changed_files_counts_as_a_change() {
    let tree = |bytes: &[u8]| Mark { tree: Some(Digest::of(bytes)), ..MARK };
    assert!(!tree(b"a").differs(&tree(b"a")));
    assert!(tree(b"a").differs(&tree(b"b")));
    assert!(tree(b"a").differs(&Mark { acts: 1, ..tree(b"a") }), "files that git ignores may be others");
    assert!(MARK.differs(&Mark { writes: 1, ..MARK }));
    assert!(!MARK.differs(&MARK) && MARK.differs(&tree(b"a")) && tree(b"a").differs(&MARK));
    let unclear = Mark { tree: Some(Digest::ZERO), ..MARK };
    assert!(unclear.differs(&unclear), "what cannot be told never equals");
}

#[test]
fn what_a_sent_back_claim_rested_on_proves_nothing_as_it_was() {
    let file = |content: &[u8]| Evidence {
        at: AT,
        what: evidence::What::File { path: "f".into(), sha256: Digest::of(content) },
    };
    let sent_back = in_progress().claimed(AT, vec![file(b"a")]).and_then(|todo| todo.rejected(AT, 2, consent()));
    let sent_back = sent_back.expect("legal");
    assert!(sent_back.was_refused(&file(b"a")) && !sent_back.was_refused(&file(b"b")));
    assert_eq!(sent_back.label(80), "fix lint (in_progress, sent back: seen)");
    let twice = sent_back.claimed(AT, vec![file(b"b")]).and_then(|todo| todo.rejected(AT, 2, consent()));
    assert!(twice.is_some_and(|todo| todo.was_refused(&file(b"a")) && todo.was_refused(&file(b"b"))));
}

#[test]
fn todos_stay_small_at_every_bound() {
    let long = "x".repeat(200);
    let check = |n: usize| Check::FileExists(format!("{n}{}", "y".repeat(80)));
    let mut todos = Todos::default();
    for n in 0..TODOS_MAX as u64 {
        let checks: Vec<Check> = (0..CHECKS_MAX).map(check).collect();
        let results = checks.iter().map(|check| Outcome::fail(check, &"z".repeat(1_000))).collect();
        let todo = Todo::new(Id::derive("todo", "s", n, AT), long.clone(), Author::Agent, checks, AT);
        todos.keep(&Todo { results, ..todo });
    }
    assert!(todos.bytes() <= TODOS_BYTES_MAX, "{}", todos.bytes());
    let bytes = postcard::to_stdvec(&todos).expect("plain data").len();
    assert!(bytes < 288 * 1024, "{bytes}");
}
