//! The state of a session as it is kept: written without names of fields, so that every field is always written.

use jackline_core::files::memory::{Heard, Kept, Remembered};
use jackline_core::files::queue::{SettledBy, Status};
use jackline_core::files::seen::{Baseline, Noted};
use jackline_core::session::Session;
use jackline_core::sha::{Digest, Key};
use jackline_core::time::Timestamp;

fn kept(said: Option<Key>, tree: Option<&str>) -> Kept {
    Kept {
        policy: "rule".to_owned(),
        hash: "0123456789ab".to_owned(),
        content: Digest::of(b"content"),
        status: Status::Passed,
        by: said.map(|_| SettledBy::Promise),
        name: "Rule".to_owned(),
        file: ".jackline/policies/rule.md".to_owned(),
        reference: "base".to_owned(),
        files: vec!["src/a.py".to_owned()],
        prompt: false,
        at: Timestamp(1),
        said,
        tree: tree.map(str::to_owned),
    }
}

fn baseline(tree: Option<&str>) -> Baseline {
    Baseline {
        file: "prompt_1-0.json".to_owned(),
        digest: Digest::of(b"baseline"),
        reference: "1".to_owned(),
        commit: None,
        unkept: tree.map(|_| "a full disk".to_owned()),
        tree: tree.map(str::to_owned),
    }
}

#[test]
fn what_is_remembered_of_file_policies_is_read_back() {
    let files = Remembered {
        kept: vec![kept(None, None), kept(Some(Key([7; 16])), Some("/tree")), kept(None, Some("/tree"))],
        baseline: Some(baseline(None)),
        heard: vec![Heard { file: Key([1; 16]), offset: 5 }],
        elsewhere: Some(baseline(Some("/tree"))),
        policies: 3,
        noted: vec![Noted { file: "p.md".to_owned(), digest: Key([2; 16]) }],
    };
    let session = Session { files, ..Session::default() };
    let read = Session::decode(&session.encode()).expect("it is readable");
    assert_eq!(read.files, session.files);
}
