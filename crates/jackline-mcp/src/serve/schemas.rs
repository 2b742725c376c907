//! What goes into our tools and comes out of them, as JSON Schema 2020-12. Closed objects: a member that nobody knows is a
//! mistake, and is told.
//!
//! Lengths that an operation bounds by itself are left to it: it says what is wrong with them in words.

use serde_json::{Map, Value, json};

/// A closed object; members that end in `?` may be left out.
fn object(members: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).filter(|name| !name.ends_with('?')).collect();
    let properties: Map<String, Value> =
        members.iter().map(|(name, schema)| (name.trim_end_matches('?').to_owned(), schema.clone())).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// What comes out: this, or an error.
fn answer(members: &[(&str, Value)]) -> Value {
    let error = object(&[
        ("code", told("string", "stable, for machines: docs/reference/codes.md")),
        ("reason", plain("string")),
        ("suggestions", list(plain("string"))),
        // Of a todo whose checks did not pass: what came of them.
        ("id?", plain("string")),
        ("status?", plain("string")),
        ("results?", list(json!({ "type": "object" }))),
        advice(),
    ]);
    let members: Vec<(&str, Value)> = members.iter().cloned().chain([advice()]).collect();
    json!({ "type": "object", "oneOf": [object(&members), error] })
}

/// What is to be said beside a result; some clients show models nothing but structured content.
fn advice() -> (&'static str, Value) {
    ("feedback?", plain("string"))
}

fn plain(kind: &str) -> Value {
    json!({ "type": kind })
}

fn told(kind: &str, about: &str) -> Value {
    json!({ "type": kind, "description": about })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// A whole number of at least so much.
fn whole(least: u64, about: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "description": about })
}

/// A value or none; not as a list of types, which not every client reads.
fn maybe(kind: &str) -> Value {
    json!({ "anyOf": [plain(kind), plain("null")] })
}

/// A path as tools take it.
fn path(about: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": about })
}

const PATH: &str = "absolute, or from the workspace's root";

pub(super) fn nothing() -> Value {
    object(&[])
}

fn check() -> Value {
    let text = || plain("string");
    let pull = || object(&[("repo", told("string", "owner/name")), ("number", whole(1, "of the pull request"))]);
    json!({
        "type": "object",
        "description": "one check: its type, and what it takes",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": {
            "command_exit_zero": { "type": "array", "items": text(), "minItems": 1, "description": "program and arguments" },
            "file_exists": told("string", PATH),
            "file_contains": object(&[("path", text()), ("text", text())]),
            "file_absent": told("string", PATH),
            "git_commit_exists": object(&[("sha", text())]),
            "git_clean": object(&[]),
            "git_branch_pushed": object(&[("branch?", text()), ("remote?", text())]),
            "pr_exists": pull(),
            "pr_merged": pull(),
            "http_status": object(&[("url", text()), ("status", whole(100, "the status it must answer with"))]),
            "call_succeeded": object(&[("tool", told("string", "a tool or a step"))]),
        },
    })
}

pub(super) fn todo_create() -> Value {
    object(&[("content", told("string", "what is to be done")), ("checks?", list(check()))])
}

pub(super) fn todo_named() -> Value {
    object(&[("id", told("string", "the todo's id"))])
}

pub(super) fn todo_claim() -> Value {
    let piece = json!({
        "type": "object",
        "description": "one of: call (an id from calls_list), command (the latest run of it), file, commit",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": {
            "call": plain("string"),
            "command": plain("string"),
            "file": plain("string"),
            "commit": plain("string"),
        },
    });
    object(&[
        ("id", told("string", "the todo's id")),
        ("explanation", told("string", "what was done, and how it was made sure")),
        ("evidence?", list(piece)),
    ])
}

pub(super) fn todo_answer() -> Value {
    let result =
        object(&[("check", json!({ "type": "object" })), ("passed", plain("boolean")), ("message", plain("string"))]);
    answer(&[("id", plain("string")), ("status", plain("string")), ("results?", list(result))])
}

pub(super) fn todos() -> Value {
    let todo = json!({
        "type": "object",
        "properties": { "id": plain("string"), "content": plain("string"), "status": plain("string") },
        "required": ["id", "content", "status", "author", "checks", "evidence", "results"],
    });
    answer(&[("todos", list(todo))])
}

pub(super) fn fact_record() -> Value {
    object(&[("text", told("string", "what was found out")), ("sources", list(told("string", "the id of a call")))])
}

pub(super) fn fact_summarise() -> Value {
    object(&[("ids", list(told("string", "the id of a fact"))), ("text", plain("string"))])
}

pub(super) fn fact_retract() -> Value {
    object(&[("id", told("string", "the fact's id")), ("reason", plain("string"))])
}

pub(super) fn fact_kept() -> Value {
    answer(&[("id", plain("string")), ("sources", list(told("string", "the id of a call")))])
}

pub(super) fn fact_gone() -> Value {
    answer(&[("id", plain("string"))])
}

pub(super) fn facts() -> Value {
    let fact = object(&[
        ("id", plain("string")),
        ("text", plain("string")),
        ("sources", list(plain("string"))),
        ("summarises", list(plain("string"))),
        ("recorded_at", plain("string")),
    ]);
    answer(&[("facts", list(fact))])
}

pub(super) fn calls_list() -> Value {
    object(&[
        ("command?", told("string", "only calls that ran this command, by its beginning")),
        ("tool?", told("string", "only calls of this tool or step")),
        ("last?", whole(1, "how many, from the end; 10 unless given, 50 at most")),
    ])
}

pub(super) fn calls() -> Value {
    let call = object(&[
        ("id", maybe("string")),
        ("tool", plain("string")),
        ("command", maybe("string")),
        ("agent", plain("string")),
        ("at", plain("string")),
        ("step", plain("integer")),
        ("status", plain("string")),
        ("exit_code", maybe("integer")),
        ("files_written_since", plain("boolean")),
    ]);
    answer(&[("calls", list(call))])
}

pub(super) fn park() -> Value {
    object(&[("reason", json!({ "type": "string", "minLength": 1, "description": "what is in the way" }))])
}

pub(super) fn parked() -> Value {
    answer(&[("parked", plain("boolean"))])
}

pub(super) fn status() -> Value {
    let limit = json!({ "type": "object", "required": ["kind", "used", "limit", "exhausted"] });
    answer(&[
        ("session", plain("string")),
        ("definition", object(&[("path", maybe("string")), ("digest", plain("string"))])),
        ("enforced", maybe("string")),
        ("calls", plain("integer")),
        ("limits", list(limit)),
        ("constraints", list(plain("object"))),
        ("halted", maybe("object")),
        ("todos", object(&[("total", plain("integer")), ("open", plain("integer"))])),
        ("facts", plain("integer")),
    ])
}

pub(super) fn read_file() -> Value {
    object(&[
        ("path", path(PATH)),
        ("offset?", whole(0, "lines to skip; 0 unless given")),
        ("limit?", whole(1, "lines to show; no more than the owner's bound are")),
        ("from_byte?", whole(0, "bytes of the first line to skip, where it was cut; 0 unless given")),
    ])
}

pub(super) fn page() -> Value {
    answer(&[
        ("path", plain("string")),
        ("content", plain("string")),
        ("start_line", told("integer", "the number of the first line shown, from 1")),
        ("lines_shown", plain("integer")),
        ("lines_remaining", plain("integer")),
        ("has_more", plain("boolean")),
        (
            "next_offset",
            json!({ "anyOf": [told("integer", "the offset of the next page; a line that is cut is passed by"), plain("null")] }),
        ),
        ("total_lines", plain("integer")),
        ("line_cut", told("boolean", "the last line shown is longer than is shown of it")),
        (
            "next_byte",
            json!({ "anyOf": [told("integer", "where the rest of that line begins, as `from_byte`; its `offset` is start_line + lines_shown - 2"), plain("null")] }),
        ),
    ])
}

pub(super) fn write_file() -> Value {
    object(&[("path", path(PATH)), ("content", plain("string"))])
}

pub(super) fn written() -> Value {
    answer(&[("path", plain("string")), ("bytes", plain("integer")), ("created", plain("boolean"))])
}

pub(super) fn edit_file() -> Value {
    object(&[
        ("path", path(PATH)),
        ("old_text", json!({ "type": "string", "minLength": 1, "description": "as it stands in the file, exactly" })),
        ("new_text", plain("string")),
        ("replace_all?", told("boolean", "replace it wherever it stands")),
    ])
}

pub(super) fn edited() -> Value {
    answer(&[("path", plain("string")), ("replaced", plain("integer")), ("bytes", plain("integer"))])
}

pub(super) fn list_dir() -> Value {
    object(&[
        ("path?", path("the workspace's root unless given")),
        ("offset?", whole(0, "entries to skip")),
        ("limit?", whole(1, "entries to show; 500 at most")),
    ])
}

pub(super) fn listed() -> Value {
    let entry = object(&[
        ("name", plain("string")),
        ("kind", json!({ "enum": ["file", "directory", "link", "other"] })),
        ("bytes", maybe("integer")),
    ]);
    answer(&[
        ("path", plain("string")),
        ("entries", list(entry)),
        ("total", plain("integer")),
        ("has_more", plain("boolean")),
        ("next_offset", maybe("integer")),
    ])
}

pub(super) fn search() -> Value {
    object(&[
        (
            "pattern",
            json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": "a regular expression" }),
        ),
        ("path?", path("a file, or a directory to search below; the workspace's root unless given")),
        (
            "glob?",
            json!({ "type": "string", "minLength": 1, "maxLength": 1024, "description": "only files like this: `*.rs`" }),
        ),
        ("literal?", told("boolean", "the pattern is a plain text")),
        ("ignore_case?", plain("boolean")),
        ("limit?", whole(1, "matching lines to show; 200 unless given, 1000 at most")),
    ])
}

pub(super) fn found() -> Value {
    let found = object(&[("path", plain("string")), ("line", plain("integer")), ("text", plain("string"))]);
    answer(&[
        ("matches", list(found)),
        ("files_searched", plain("integer")),
        ("files_skipped", told("integer", "files that could not be searched to their end")),
        ("has_more", told("boolean", "there may be more than is shown: narrow the search")),
    ])
}
