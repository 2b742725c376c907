//! The queue on a real disk: its files, their modes, and damage.

use super::*;
use jackline_core::sha::Digest;
use jackline_core::time::Timestamp;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn folder(root: &Path) -> Folder {
    fs::create_dir_all(root.join(".jackline/policies")).unwrap();
    super::super::folder::find(root, None).unwrap()
}

fn entry(status: Status) -> Entry {
    Entry {
        policy_name: "p".to_owned(),
        trigger_hash: "0123456789ab".to_owned(),
        status,
        created_at: "2026-01-01T00:00:00.000Z".to_owned(),
        evaluated_at: None,
        baseline_ref: "abc".to_owned(),
        trigger_files: vec!["src/a.py".to_owned()],
        expected_files: Vec::new(),
        matched_files: Vec::new(),
        action_result: None,
        content_digest: Digest::of(b"a"),
        settled_by: None,
        session: "s".to_owned(),
        name: "P".to_owned(),
        file: String::new(),
        tree: None,
    }
}

fn names(folder: &Folder) -> Vec<String> {
    let all = fs::read_dir(folder.state().join("queue")).unwrap().flatten();
    let mut names: Vec<String> = all.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn an_entry_has_one_file_which_its_owner_alone_can_read() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(&dir.path().canonicalize().unwrap());
    let queue = Queue::of(&folder);
    let redactor = Redactor::new([]);
    queue.write(&[Write::Entry(Box::new(entry(Status::Queued)))], &redactor).unwrap();
    assert_eq!(names(&folder), ["0123456789ab.queued.json"]);
    let (file, mode) = (folder.state().join("queue/0123456789ab.queued.json"), |path: &Path| {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    });
    assert_eq!((mode(&file), mode(&folder.state().join("queue"))), (0o600, 0o700));
    assert_eq!(fs::read_to_string(folder.state().join(".gitignore")).unwrap(), "*\n");
    let settle = Write::Settle {
        tree: None,
        file: String::new(),
        hash: "0123456789ab".to_owned(),
        status: Status::Passed,
        by: SettledBy::Satisfied,
        at: Timestamp(0),
    };
    queue.write(&[settle], &redactor).unwrap();
    assert_eq!(names(&folder), ["0123456789ab.passed.json"]);
    let Found::Entry(settled) = queue.get("0123456789ab") else { panic!("gone") };
    assert_eq!((settled.settled_by, settled.trigger_files.len()), (Some(SettledBy::Satisfied), 1));
    let summary = fs::read_to_string(folder.state().join("policy_state.json")).unwrap();
    assert!(summary.contains("\"passed\": 1"), "{summary}");
    assert_eq!(queue.clear().unwrap(), 1);
    assert!(!folder.state().exists());
}

#[test]
fn a_damaged_entry_is_taken_away_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(&dir.path().canonicalize().unwrap());
    let queue = Queue::of(&folder);
    queue.write(&[Write::Entry(Box::new(entry(Status::Passed)))], &Redactor::new([])).unwrap();
    let file = folder.state().join("queue/0123456789ab.passed.json");
    for damage in ["{\"half", "{}", "null"] {
        fs::write(&file, damage).unwrap();
        assert_eq!(queue.get("0123456789ab"), Found::Corrupt("0123456789ab.passed.json".to_owned()), "{damage}");
        assert_eq!(queue.get("0123456789ab"), Found::Nothing);
    }
    // A status in the name that the entry does not have is damage, too.
    queue.write(&[Write::Entry(Box::new(entry(Status::Queued)))], &Redactor::new([])).unwrap();
    fs::rename(folder.state().join("queue/0123456789ab.queued.json"), &file).unwrap();
    assert!(matches!(queue.all(), (entries, corrupt) if entries.is_empty() && corrupt.len() == 1));
}

#[test]
fn nothing_is_written_through_a_link() {
    let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder(&dir.path().canonicalize().unwrap());
    symlink(elsewhere.path(), folder.temporary()).unwrap();
    assert!(Queue::of(&folder).write(&[Write::Entry(Box::new(entry(Status::Queued)))], &Redactor::new([])).is_err());
    assert!(!elsewhere.path().join("policy/queue/0123456789ab.queued.json").exists());
}

#[test]
fn outstanding_entries_are_read_like_single_ones_and_damage_is_left_to_those() {
    let dir = tempfile::tempdir().unwrap();
    let folder = folder(&dir.path().canonicalize().unwrap());
    let queue = Queue::of(&folder);
    assert_eq!(queue.outstanding(), Outstanding::default(), "there is no queue yet");
    let other = Entry { trigger_hash: "ba9876543210".to_owned(), ..entry(Status::Passed) };
    let writes = [entry(Status::Queued), other].map(|entry| Write::Entry(Box::new(entry)));
    queue.write(&writes, &Redactor::new([])).unwrap();
    let damaged = folder.state().join("queue/ffffffffffff.queued.json");
    fs::write(&damaged, "{").unwrap();
    let read = queue.outstanding();
    assert_eq!(read.entries.keys().collect::<Vec<_>>(), ["0123456789ab"]);
    assert_eq!(read.damaged, ["ffffffffffff"]);
    let entry = read.entries.into_values().next().unwrap();
    assert_eq!(queue.glance("0123456789ab"), Found::Entry(Box::new(entry)));
    assert!(damaged.exists());
    for number in 0..OUTSTANDING_MAX {
        fs::write(folder.state().join(format!("queue/{number:012x}.queued.json")), "{").unwrap();
    }
    assert_eq!(queue.outstanding(), Outstanding::default(), "nobody needs so many");
}
