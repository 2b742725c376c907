//! The table holds together, and names are found in it.

use super::*;

#[track_caller]
fn check(host: Option<&str>, name: &str, want: Option<(Kind, &[&str])>) {
    assert_eq!(lookup(host, name).map(|tool| (tool.kind, tool.paths)), want, "{host:?} {name}");
}

#[test]
fn the_named_host_comes_first() {
    check(Some("claude"), "Write", Some((Kind::Write, &["file_path"])));
    check(Some("gemini"), "write_file", Some((Kind::Write, &["file_path"])));
    check(None, "write_file", Some((Kind::Write, &["path"])));
    check(None, "Bash", Some((Kind::Shell, &[])));
    check(Some("codex"), "Write", None);
    check(Some("my-loop"), "Write", Some((Kind::Write, &["file_path"])));
    check(None, "deploy", None);
    assert_eq!(guess("mcp__files__write_file").map(|tool| tool.kind), Some(Kind::Write));
    assert_eq!(guess("mcp__files__frobnicate"), None);
    assert_eq!(guess("write_file"), None);
}

#[test]
fn no_row_has_the_name_of_a_servers_tool() {
    assert!(TOOLS.iter().all(|tool| !tool.name.starts_with(SERVED_FRONT)));
    check(Some("mcp"), "mcp__files__read_file", None);
    assert_eq!(other_name(Some("mcp"), "mcp__files__read_file"), None);
}

#[test]
fn tools_of_our_own_server_have_two_names() {
    check(Some("claude"), "mcp__jackline__edit_file", Some((Kind::Write, &["path"])));
    check(Some("mcp"), "todo_claim", Some((Kind::Other, &[])));
    check(None, "todo_claim", None);
    check(Some("mcp"), "Bash", Some((Kind::Shell, &[])));
    check(Some("claude"), "mcp__jackline__deploy", None);
    let other = |host: Option<&str>, name: &str| other_name(host, name);
    assert_eq!(other(Some("claude"), "mcp__jackline__park").as_deref(), Some("park"));
    assert_eq!(other(Some("mcp"), "park").as_deref(), Some("mcp__jackline__park"));
    assert_eq!(other(Some("mcp"), "mcp__jackline__park").as_deref(), Some("park"));
    assert_eq!((other(None, "park"), other(Some("mcp"), "mcp__notes__park")), (None, None));
    assert!(is_at_own_server(Some("mcp"), "park") && !is_at_own_server(Some("mcp"), "mcp__jackline__park"));
}

#[test]
fn where_a_servers_name_ends_is_not_always_known() {
    assert_eq!(
        other_splits(Some("copilot"), "mcp__my-files__write-file"),
        ["my-files-write-file", "mcp__my__files-write-file", "mcp__my-files-write__file"]
    );
    assert_eq!(other_splits(Some("vscode"), "mcp__a__b_c"), ["mcp_a_b_c", "mcp__a_b__c"]);
    assert!(other_splits(Some("claude"), "mcp__a__b_c").is_empty() && other_splits(Some("vscode"), "x_y").is_empty());
}

#[test]
fn a_tool_without_its_server_may_be_any_servers() {
    assert_eq!(of_some_server(Some("cursor"), "mcp__cursor__drop_table"), Some("drop_table"));
    assert_eq!(of_some_server(Some("cursor"), "mcp__db__drop_table"), None);
    assert_eq!(of_some_server(Some("claude"), "mcp__cursor__drop_table"), None);
    let means = |pattern: &str| means_of_some_server(pattern, "drop_table");
    assert!(means("mcp__db__drop_table") && means("mcp__{a,b}__drop_*") && !means("mcp__db__list"));
    assert!(!means("drop_table"), "a tool of the host's own");
}

#[test]
fn no_row_stands_twice() {
    let mut seen = std::collections::BTreeSet::new();
    for tool in TOOLS {
        assert!(seen.insert((tool.host, tool.name)), "{} {}", tool.host, tool.name);
    }
}
