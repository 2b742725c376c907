//! The names of servers' tools: elsewhere, and in definitions, `mcp__server__tool`. Where a host's own name does not say
//! where the server's name ends, the likeliest place is taken, and the core looks at the others too.

use jackline_core::tools;
use serde_json::Value;

/// `server-tool`, for a tool that is none of the host's own: tools' names seldom hold a dash, servers' often do.
pub(super) fn before_dash(host: &str, tool: Value) -> Value {
    renamed(host, tool, |name| name.rsplit_once('-'))
}

/// `mcp_server_tool`: tools' names often hold the mark between, servers' seldom.
pub(super) fn after_mcp(host: &str, tool: Value) -> Value {
    renamed(host, tool, |name| name.strip_prefix("mcp_")?.split_once('_'))
}

fn renamed(host: &str, tool: Value, split: fn(&str) -> Option<(&str, &str)>) -> Value {
    let named = tool.as_str().filter(|name| !name.starts_with("mcp__") && tools::lookup(Some(host), name).is_none());
    let parts = named.and_then(split).filter(|(server, own)| !server.is_empty() && !own.is_empty());
    parts.map(|(server, own)| Value::from(format!("mcp__{server}__{own}"))).unwrap_or(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_servers_tool_is_named_as_everywhere() {
        let dash = |name: &str| before_dash("copilot", json!(name));
        assert_eq!(dash("notes-note"), "mcp__notes__note");
        assert_eq!(dash("github-mcp-server-list_issues"), "mcp__github-mcp-server__list_issues");
        assert_eq!((dash("Bash"), dash("nosuch"), dash("-x")), (json!("Bash"), json!("nosuch"), json!("-x")));
        let mcp = |name: &str| after_mcp("vscode", json!(name));
        assert_eq!(mcp("mcp_files_write_file"), "mcp__files__write_file");
        assert_eq!((mcp("run_in_terminal"), mcp("mcp__a__b")), (json!("run_in_terminal"), json!("mcp__a__b")));
    }
}
