//! The one table of tools that hosts bring along: what kind each is, and which arguments hold paths or commands.
//!
//! A definition's `tools.declare` goes before this table. A host that has no rows of its own may use any row.

#[cfg(test)]
mod tests;

use crate::definition::Kind;
use crate::glob;
use crate::listing::MCP_HOST;

/// A tool of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// The host whose tool it is; empty for names that any program may use.
    pub host: &'static str,
    pub name: &'static str,
    pub kind: Kind,
    /// Arguments that hold paths: `a`, `a.b`, `a[].b`; `gone:a` for what is not there afterwards, and all below it;
    /// `patch:a` for a patch text that names its files; `glob:a` for a pattern of paths, `within:a` for one of files whose content is shown.
    pub paths: &'static [&'static str],
    /// The argument that holds a shell text, `a` or `a.b`.
    pub command: Option<&'static str>,
    /// The language of that text, where no shell of ours reads it.
    pub language: Option<Language>,
    /// The argument that names the directory in which it runs. Where there is none, the host heeds none.
    pub directory: Option<&'static str>,
    /// Arguments that say nothing about what it does, beside those that say nothing anywhere.
    pub aside: &'static [&'static str],
    /// Members of its outcome that hold what the agent is shown, `a.b`; empty where every usual place is looked at.
    pub texts: &'static [&'static str],
    /// Where its outcome counts the lines of its text.
    pub counts: Option<Counts>,
    /// How its arguments ask for a part of a file.
    pub paging: Option<Paging>,
    /// Whether it takes any file of that name where nothing is at a path that does not begin at the top.
    pub seeks: bool,
    /// The argument that holds a prompt which the host submits later, as if a person had.
    pub schedules: Option<&'static str>,
}

/// A language that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Language {
    pub name: &'static str,
    /// The host's tool for texts that are.
    pub instead: &'static str,
}

/// Members of an outcome that count the lines of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Lines of the text that is there.
    pub shown: &'static str,
    /// The number of its first line, from 1.
    pub start: &'static str,
    /// Lines of the whole file. A newline at its end counts as one line more.
    pub total: &'static str,
}

/// Arguments that ask for a part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    pub offset: &'static str,
    pub limit: &'static str,
    /// What the first line's offset is: 0 or 1.
    pub first: u64,
    /// Lines that the tool shows when no limit is given.
    pub usual: u64,
}

/// How reads are paged by tools that do not say.
pub const PAGING_USUAL: Paging = Paging { offset: "offset", limit: "limit", first: 0, usual: 0 };

impl Tool {
    const fn shows(self, texts: &'static [&'static str]) -> Self {
        Self { texts, ..self }
    }

    const fn speaks(self, name: &'static str, instead: &'static str) -> Self {
        Self { language: Some(Language { name, instead }), ..self }
    }

    const fn works_in(self, directory: &'static str) -> Self {
        Self { directory: Some(directory), ..self }
    }

    const fn aside(self, aside: &'static [&'static str]) -> Self {
        Self { aside, ..self }
    }

    const fn counts(self, shown: &'static str, start: &'static str, total: &'static str) -> Self {
        Self { counts: Some(Counts { shown, start, total }), ..self }
    }

    const fn paged(self, paging: Paging) -> Self {
        Self { paging: Some(paging), ..self }
    }

    const fn seeking(self) -> Self {
        Self { seeks: true, ..self }
    }

    const fn schedules(self, prompt: &'static str) -> Self {
        Self { schedules: Some(prompt), ..self }
    }

    /// Whether it runs something that none of its arguments says.
    #[must_use]
    pub fn runs_unsaid(&self) -> bool {
        self.kind == Kind::Shell && self.command.is_none()
    }
}

const fn files(host: &'static str, name: &'static str, kind: Kind, paths: &'static [&'static str]) -> Tool {
    Tool { paths, ..plain(host, name, kind) }
}

const fn shell(host: &'static str, name: &'static str, command: &'static str) -> Tool {
    Tool { command: Some(command), ..plain(host, name, Kind::Shell) }
}

const fn plain(host: &'static str, name: &'static str, kind: Kind) -> Tool {
    let (command, language, directory, counts, paging, schedules) = (None, None, None, None, None, None);
    let (paths, aside, texts, seeks): (&[&str], &[&str], &[&str], bool) = (&[], &[], &[], false);
    Tool { host, name, kind, paths, command, language, directory, aside, texts, counts, paging, seeks, schedules }
}

/// What the names of servers' tools begin with.
pub const SERVED_FRONT: &str = "mcp__";

/// The name under which hosts know our own MCP server, and what its tools' names begin with there.
pub const OWN_SERVER: &str = "jackline";
const OWN_FRONT: &str = "mcp__jackline__";

/// The argument in which a hook, or a proxy, tells our own server which call of which session this is. What an agent
/// writes there is no argument of the tool's.
pub const OWN_ARGUMENT: &str = "_jackline";

/// Its tool that reads a file, as hosts name it.
pub const OWN_READ: &str = "mcp__jackline__read_file";

/// The argument of its tools that names a file or a directory, and what is meant where it is left out.
pub const OWN_PATH: &str = "path";
pub const OWN_PATH_USUAL: &str = ".";

/// How our own server pages.
const OWN_PAGING: Paging = Paging { offset: "offset", limit: "limit", first: 0, usual: 500 };

/// Argument names tried, in this order, for a tool that does not say where its paths are.
pub const PATH_ARGUMENTS: &[&str] =
    &["path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path", "filename", "file", "uri"];

/// Argument names tried for a shell tool that does not say where its text is.
pub const COMMAND_ARGUMENTS: &[&str] = &["command", "cmd", "script"];

/// How Copilot's tool for languages is called where it writes.
pub const LSP_RENAME: &str = "lsp_rename";

/// What Copilot's shell is told of how it is shown.
const COPILOT_ASIDE: &[&str] = &["initial_wait", "mode", "shellId"];

/// Every tool we know.
pub const TOOLS: &[Tool] = &[
    files("", "read_file", Kind::Read, &["path"]),
    files("", "write_file", Kind::Write, &["path"]),
    files("", "edit_file", Kind::Write, &["path"]),
    files("", "list_dir", Kind::List, &["path"]),
    files("", "search", Kind::Search, &["path"]),
    files("", "read_text_file", Kind::Read, &["path"]),
    files("", "read_multiple_files", Kind::Read, &["paths"]),
    files("", "read_media_file", Kind::Read, &["path"]),
    files("", "get_file_info", Kind::List, &["path"]),
    files("", "list_directory", Kind::List, &["path"]),
    files("", "list_directory_with_sizes", Kind::List, &["path"]),
    files("", "directory_tree", Kind::List, &["path"]),
    files("", "search_files", Kind::Search, &["path"]),
    files("", "create_directory", Kind::Write, &["path"]),
    files("", "create_file", Kind::Write, &["path"]),
    files("", "delete_file", Kind::Write, &["gone:path"]),
    files("", "delete_directory", Kind::Write, &["gone:path"]),
    files("", "remove_file", Kind::Write, &["gone:path"]),
    files("", "remove_directory", Kind::Write, &["gone:path"]),
    files("", "move_file", Kind::Write, &["gone:source", "destination"]),
    files("", "move_directory", Kind::Write, &["gone:source", "destination"]),
    files("", "rename_file", Kind::Write, &["gone:source", "gone:old_path", "destination", "new_path"]),
    files("claude", "Read", Kind::Read, &["file_path"])
        .shows(&["file.content"])
        .counts("file.numLines", "file.startLine", "file.totalLines")
        .paged(Paging { offset: "offset", limit: "limit", first: 1, usual: 2000 }),
    files("claude", "Write", Kind::Write, &["file_path"]),
    files("claude", "Edit", Kind::Write, &["file_path"]),
    files("claude", "MultiEdit", Kind::Write, &["file_path"]),
    files("claude", "NotebookEdit", Kind::Write, &["notebook_path"]),
    files("claude", "NotebookRead", Kind::Read, &["notebook_path"]),
    files("claude", "Grep", Kind::Search, &["path", "within:glob"]).shows(&["content", "filenames"]),
    files("claude", "Glob", Kind::Search, &["path", "glob:pattern"]).shows(&["filenames"]),
    files("claude", "LS", Kind::List, &["path"]),
    files("claude", "LSP", Kind::Search, &["filePath"]),
    shell("claude", "Bash", "command").shows(&["stdout", "stderr"]),
    shell("claude", "PowerShell", "command").speaks("PowerShell", "Bash").shows(&["stdout", "stderr"]),
    shell("claude", "Monitor", "command"),
    plain("claude", "BashOutput", Kind::Other),
    plain("claude", "KillShell", Kind::Other),
    plain("claude", "TaskOutput", Kind::Other),
    plain("claude", "TaskStop", Kind::Other),
    plain("claude", "WebFetch", Kind::Fetch),
    plain("claude", "WebSearch", Kind::Fetch),
    plain("claude", "Agent", Kind::Agent),
    plain("claude", "Task", Kind::Agent),
    plain("claude", "Workflow", Kind::Agent),
    plain("claude", "ListAgents", Kind::Other),
    plain("claude", "SendMessage", Kind::Other),
    plain("claude", "CronCreate", Kind::Other).schedules("prompt"),
    plain("claude", "CronDelete", Kind::Other),
    plain("claude", "CronList", Kind::Other),
    plain("claude", "ScheduleWakeup", Kind::Other).schedules("prompt"),
    plain("claude", "ReportFindings", Kind::Other),
    plain("claude", "Skill", Kind::Other),
    plain("claude", "SlashCommand", Kind::Other),
    plain("claude", "TodoWrite", Kind::Other),
    plain("claude", "TaskCreate", Kind::Other),
    plain("claude", "TaskUpdate", Kind::Other),
    plain("claude", "TaskList", Kind::Other),
    plain("claude", "TaskGet", Kind::Other),
    plain("claude", "AskUserQuestion", Kind::Other),
    plain("claude", "EnterPlanMode", Kind::Other),
    plain("claude", "ExitPlanMode", Kind::Other),
    plain("claude", "EnterWorktree", Kind::Other),
    plain("claude", "ExitWorktree", Kind::Other),
    plain("claude", "ToolSearch", Kind::Other),
    plain("claude", "ListMcpResourcesTool", Kind::Other),
    plain("claude", "ReadMcpResourceTool", Kind::Other),
    plain("claude", "ReadMcpResourceDirTool", Kind::Other),
    plain("claude", "WaitForMcpServers", Kind::Other),
    plain("claude", "PushNotification", Kind::Other),
    plain("claude", "RemoteTrigger", Kind::Other),
    plain("claude", "SendUserMessage", Kind::Other),
    plain("claude", "StructuredOutput", Kind::Other),
    shell("codex", "Bash", "command"),
    shell("codex", "exec_command", "cmd").works_in("workdir"),
    shell("codex", "shell", "command").works_in("workdir"),
    shell("codex", "write_stdin", "chars"),
    files("codex", "apply_patch", Kind::Write, &["patch:command", "patch:input"]),
    files("codex", "view_image", Kind::Read, &["path"]),
    plain("codex", "update_plan", Kind::Other),
    plain("codex", "spawn_agent", Kind::Agent),
    plain("codex", "send_input", Kind::Agent),
    plain("codex", "resume_agent", Kind::Agent),
    plain("codex", "wait_agent", Kind::Other),
    plain("codex", "wait", Kind::Other),
    plain("codex", "close_agent", Kind::Other),
    plain("codex", "request_user_input", Kind::Other),
    plain("codex", "get_goal", Kind::Other),
    plain("codex", "create_goal", Kind::Other),
    plain("codex", "update_goal", Kind::Other),
    plain("codex", "web_search", Kind::Fetch),
    plain("codex", "tool_search", Kind::Other),
    plain("codex", "list_mcp_resources", Kind::Other),
    plain("codex", "list_mcp_resource_templates", Kind::Other),
    plain("codex", "read_mcp_resource", Kind::Other),
    shell("gemini", "run_shell_command", "command").works_in("dir_path").aside(&["is_background", "delay_ms"]),
    files("gemini", "read_file", Kind::Read, &["file_path", "absolute_path"]),
    files("gemini", "read_many_files", Kind::Read, &["paths[]", "include[]"]),
    files("gemini", "write_file", Kind::Write, &["file_path"]),
    files("gemini", "replace", Kind::Write, &["file_path"]).seeking(),
    files("gemini", "list_directory", Kind::List, &["dir_path", "path"]),
    files("gemini", "glob", Kind::Search, &["dir_path", "path", "glob:pattern"]),
    files("gemini", "grep_search", Kind::Search, &["dir_path", "path", "within:include_pattern", "within:include"]),
    files("gemini", "search_file_content", Kind::Search, &["dir_path", "path"]),
    plain("gemini", "web_fetch", Kind::Fetch),
    plain("gemini", "google_web_search", Kind::Fetch),
    plain("gemini", "save_memory", Kind::Other),
    plain("gemini", "write_todos", Kind::Other),
    plain("gemini", "invoke_agent", Kind::Agent),
    plain("gemini", "complete_task", Kind::Other),
    plain("gemini", "activate_skill", Kind::Other),
    plain("gemini", "ask_user", Kind::Other),
    plain("gemini", "enter_plan_mode", Kind::Other),
    plain("gemini", "exit_plan_mode", Kind::Other),
    plain("gemini", "get_internal_docs", Kind::Other),
    plain("gemini", "list_background_processes", Kind::Other),
    plain("gemini", "list_mcp_resources", Kind::Other),
    plain("gemini", "read_background_output", Kind::Other),
    plain("gemini", "read_mcp_resource", Kind::Other),
    plain("gemini", "tracker_add_dependency", Kind::Other),
    plain("gemini", "tracker_create_task", Kind::Other),
    plain("gemini", "tracker_get_task", Kind::Other),
    plain("gemini", "tracker_list_tasks", Kind::Other),
    plain("gemini", "tracker_update_task", Kind::Other),
    plain("gemini", "tracker_visualize", Kind::Other),
    plain("gemini", "update_topic", Kind::Other),
    shell("qwen", "run_shell_command", "command").works_in("directory").aside(&["is_background"]),
    files("qwen", "read_file", Kind::Read, &["file_path", "absolute_path"]),
    files("qwen", "write_file", Kind::Write, &["file_path"]),
    files("qwen", "edit", Kind::Write, &["file_path"]),
    files("qwen", "notebook_edit", Kind::Write, &["notebook_path"]),
    files("qwen", "list_directory", Kind::List, &["path"]),
    files("qwen", "glob", Kind::Search, &["path", "glob:pattern"]),
    files("qwen", "grep_search", Kind::Search, &["path", "within:glob"]),
    shell("qwen", "monitor", "command").works_in("directory"),
    plain("qwen", "agent", Kind::Agent),
    plain("qwen", "list_agents", Kind::Other),
    plain("qwen", "get_goal", Kind::Other),
    plain("qwen", "update_goal", Kind::Other),
    plain("qwen", "skill", Kind::Other),
    plain("qwen", "tool_search", Kind::Other),
    plain("qwen", "tool_call", Kind::Other),
    plain("qwen", "todo_write", Kind::Other),
    plain("qwen", "ask_user_question", Kind::Other),
    plain("qwen", "create_sub_session", Kind::Other),
    plain("qwen", "cron_create", Kind::Other),
    plain("qwen", "cron_delete", Kind::Other),
    plain("qwen", "cron_list", Kind::Other),
    plain("qwen", "enter_plan_mode", Kind::Other),
    plain("qwen", "enter_worktree", Kind::Other),
    plain("qwen", "exec", Kind::Other),
    plain("qwen", "exit_plan_mode", Kind::Other),
    plain("qwen", "exit_worktree", Kind::Other),
    plain("qwen", "lsp", Kind::Other),
    plain("qwen", "loop_wakeup", Kind::Other),
    plain("qwen", "record_artifact", Kind::Other),
    plain("qwen", "record_source", Kind::Other),
    plain("qwen", "report_findings", Kind::Other),
    plain("qwen", "request_shutdown", Kind::Other),
    plain("qwen", "save_memory", Kind::Other),
    plain("qwen", "send_message", Kind::Other),
    plain("qwen", "structured_output", Kind::Other),
    plain("qwen", "task_create", Kind::Other),
    plain("qwen", "task_list", Kind::Other),
    plain("qwen", "task_stop", Kind::Other),
    plain("qwen", "task_update", Kind::Other),
    plain("qwen", "read_mcp_resource", Kind::Other),
    plain("qwen", "workflow", Kind::Agent),
    plain("qwen", "web_fetch", Kind::Fetch),
    plain("qwen", "web_search", Kind::Fetch),
    shell("opencode", "bash", "command").works_in("workdir"),
    // It says itself how far it read, so no limit is put in where none was asked for.
    files("opencode", "read", Kind::Read, &["filePath"]).shows(&["content"]).paged(Paging {
        offset: "offset",
        limit: "limit",
        first: 1,
        usual: 0,
    }),
    files("opencode", "write", Kind::Write, &["filePath"]),
    files("opencode", "edit", Kind::Write, &["filePath"]),
    files("opencode", "patch", Kind::Write, &["patch:patchText"]),
    files("opencode", "apply_patch", Kind::Write, &["patch:patchText"]),
    files("opencode", "multiedit", Kind::Write, &["filePath", "edits[].filePath"]),
    files("opencode", "list", Kind::List, &["path"]),
    files("opencode", "glob", Kind::Search, &["path", "glob:pattern"]),
    files("opencode", "grep", Kind::Search, &["path", "within:include"]),
    plain("opencode", "webfetch", Kind::Fetch),
    plain("opencode", "task", Kind::Agent),
    plain("opencode", "todowrite", Kind::Other),
    plain("opencode", "todoread", Kind::Other),
    plain("opencode", "question", Kind::Other),
    plain("opencode", "skill", Kind::Other),
    plain("opencode", "websearch", Kind::Fetch),
    plain("opencode", "codesearch", Kind::Fetch),
    plain("opencode", "invalid", Kind::Other),
    shell("cursor", "Shell", "command").works_in("working_directory").aside(&["block_until_ms"]),
    files("cursor", "Read", Kind::Read, &["file_path", "path"]),
    files("cursor", "Write", Kind::Write, &["file_path", "path"]),
    files("cursor", "StrReplace", Kind::Write, &["file_path", "path"]),
    files("cursor", "EditNotebook", Kind::Write, &["target_notebook", "file_path"]),
    files("cursor", "Delete", Kind::Write, &["gone:file_path", "gone:path"]),
    files("cursor", "LS", Kind::List, &["target_directory", "path"]),
    files("cursor", "Glob", Kind::Search, &["target_directory", "path", "glob:glob_pattern", "glob:pattern"]),
    files("cursor", "Grep", Kind::Search, &["path", "within:glob"]),
    files("cursor", "SemanticSearch", Kind::Search, &["target_directories[]"]),
    plain("cursor", "ReadLints", Kind::Other),
    plain("cursor", "Task", Kind::Agent),
    plain("cursor", "TodoWrite", Kind::Other),
    plain("cursor", "WebFetch", Kind::Fetch),
    plain("cursor", "WebSearch", Kind::Fetch),
    plain("cursor", "AskQuestion", Kind::Other),
    plain("cursor", "CreatePlan", Kind::Other),
    plain("cursor", "SwitchMode", Kind::Other),
    shell("vscode", "run_in_terminal", "command").aside(&["explanation", "goal", "isBackground"]),
    shell("vscode", "runTerminalCommand", "command"),
    shell("vscode", "send_to_terminal", "command"),
    plain("vscode", "get_terminal_output", Kind::Other),
    shell("vscode", "create_and_run_task", "task.command"),
    // What it runs stands in a file that an agent may write.
    plain("vscode", "run_task", Kind::Shell),
    files("vscode", "read_file", Kind::Read, &["filePath"]),
    files("vscode", "create_file", Kind::Write, &["filePath"]),
    files("vscode", "replace_string_in_file", Kind::Write, &["filePath"]),
    files("vscode", "multi_replace_string_in_file", Kind::Write, &["replacements[].filePath"]),
    files("vscode", "insert_edit_into_file", Kind::Write, &["filePath"]),
    files("vscode", "edit_notebook_file", Kind::Write, &["filePath"]),
    files("vscode", "editFiles", Kind::Write, &["files[]"]),
    files("vscode", "apply_patch", Kind::Write, &["patch:input"]),
    files("vscode", "create_directory", Kind::Write, &["dirPath"]),
    files("vscode", "list_dir", Kind::List, &["path"]),
    files("vscode", "file_search", Kind::Search, &["glob:query"]),
    files("vscode", "grep_search", Kind::Search, &["within:includePattern"]),
    plain("vscode", "semantic_search", Kind::Search),
    plain("vscode", "get_errors", Kind::Other),
    plain("vscode", "fetch_webpage", Kind::Fetch),
    plain("vscode", "runSubagent", Kind::Agent),
    plain("vscode", "manage_todo_list", Kind::Other),
    files("mcp", "read_file", Kind::Read, &["path"]).paged(OWN_PAGING),
    files("mcp", "write_file", Kind::Write, &["path"]),
    files("mcp", "edit_file", Kind::Write, &["path"]),
    files("mcp", "list_dir", Kind::List, &["path"]),
    files("mcp", "search", Kind::Search, &["path"]),
    plain("mcp", "todo_create", Kind::Other),
    plain("mcp", "todo_list", Kind::Other),
    plain("mcp", "todo_start", Kind::Other),
    plain("mcp", "todo_claim", Kind::Other),
    plain("mcp", "todo_verify", Kind::Other),
    plain("mcp", "fact_record", Kind::Other),
    plain("mcp", "fact_list", Kind::Other),
    plain("mcp", "fact_summarise", Kind::Other),
    plain("mcp", "fact_retract", Kind::Other),
    plain("mcp", "calls_list", Kind::Other),
    plain("mcp", "park", Kind::Other),
    plain("mcp", "guard_status", Kind::Other),
    shell("copilot", "bash", "command").aside(COPILOT_ASIDE),
    files("copilot", "view", Kind::Read, &["path"]),
    files("copilot", "create", Kind::Write, &["path"]),
    files("copilot", "edit", Kind::Write, &["path"]),
    files("copilot", "str_replace_editor", Kind::Write, &["path"]),
    shell("copilot", "Bash", "command").aside(COPILOT_ASIDE),
    files("copilot", "Read", Kind::Read, &["path"]),
    files("copilot", "Write", Kind::Write, &["path"]),
    // Some models are offered a tool for patches under the same name.
    files("copilot", "Edit", Kind::Write, &["path", "patch:input"]),
    files("copilot", "apply_patch", Kind::Write, &["patch:input"]),
    files("copilot", "Grep", Kind::Search, &["paths", "within:glob"]),
    files("copilot", "Glob", Kind::Search, &["paths", "glob:pattern"]),
    plain("copilot", "Agent", Kind::Agent),
    plain("copilot", "read_bash", Kind::Other),
    shell("copilot", "write_bash", "input"),
    plain("copilot", "stop_bash", Kind::Other),
    plain("copilot", "list_bash", Kind::Other),
    plain("copilot", "read_agent", Kind::Other),
    plain("copilot", "write_agent", Kind::Other),
    plain("copilot", "list_agents", Kind::Other),
    plain("copilot", "lsp", Kind::Other),
    // The same tool where it is told to rename something: which files it writes, no argument says.
    files("copilot", LSP_RENAME, Kind::Write, &["edits[].file"]),
    plain("copilot", "skill", Kind::Other),
    plain("copilot", "sql", Kind::Other),
    plain("copilot", "session_store_sql", Kind::Other),
    plain("copilot", "report_intent", Kind::Other),
    plain("copilot", "update_todo", Kind::Other),
    plain("copilot", "fetch_copilot_cli_documentation", Kind::Other),
    plain("copilot", "web_fetch", Kind::Fetch),
    plain("copilot", "web_search", Kind::Fetch),
];

/// How names of tools begin that leave nothing where they were told to work: the last word of a name is its object.
const GOING: &[&str] = &["delete", "remove", "move", "rename", "trash", "unlink"];

/// Arguments that say where something goes, not what.
const GOALS: &[&str] = &["destination", "dest", "target", "to", "new_path", "newPath"];

/// Whether a tool of this name leaves nothing at the path in this argument, for tools that only their owner declared.
#[must_use]
pub fn takes_away(name: &str, argument: &str) -> bool {
    let own = name.rsplit("__").next().unwrap_or(name).to_ascii_lowercase();
    GOING.iter().any(|verb| own.starts_with(verb)) && !GOALS.contains(&argument)
}

/// The row of a tool: our own server's, then the named host's, then the rows any program may use, then any host's.
#[must_use]
pub fn lookup(host: Option<&str>, name: &str) -> Option<&'static Tool> {
    if let Some(own) = own_row(name) {
        return Some(own);
    }
    // INVARIANT: no row is called so. Most calls at a proxy are, and reading the whole table costs more than the rest of it.
    if name.starts_with(SERVED_FRONT) {
        return None;
    }
    let named = || TOOLS.iter().filter(|tool| tool.name == name && (tool.host != MCP_HOST || host == Some(MCP_HOST)));
    named()
        .find(|tool| host.is_some_and(|host| tool.host == host))
        .or_else(|| named().find(|tool| tool.host.is_empty()))
        // What is said elsewhere on one host may be an argument on another.
        .or_else(|| named().find(|tool| !host.is_some_and(is_known_host) && !tool.runs_unsaid()))
}

/// Whether a row is one of the host's own, so that what it says is all that there is.
#[must_use]
pub fn is_native(host: Option<&str>, row: &Tool) -> bool {
    row.host == MCP_HOST || host.is_some_and(|host| row.host == host)
}

/// The tool of our own server that hosts know under this name.
fn own_row(name: &str) -> Option<&'static Tool> {
    let own = name.strip_prefix(OWN_FRONT)?;
    own_rows().find(|tool| tool.name == own)
}

/// The tools of our own server, by the names that it gives them.
pub fn own_rows() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().filter(|tool| tool.host == MCP_HOST)
}

/// The other name of a tool of our own server: it has one there, and one among a host's tools.
#[must_use]
pub fn other_name(host: Option<&str>, name: &str) -> Option<String> {
    let may_be = host == Some(MCP_HOST) && !name.starts_with(SERVED_FRONT);
    let at_server = || may_be && own_rows().any(|tool| tool.name == name);
    match own_row(name) {
        Some(own) => Some(own.name.to_owned()),
        None => at_server().then(|| format!("{OWN_FRONT}{name}")),
    }
}

/// Whether a call is one of our own server's, and is told by the server itself.
#[must_use]
pub fn is_at_own_server(host: Option<&str>, name: &str) -> bool {
    own_row(name).is_none() && other_name(host, name).is_some()
}

/// Whether all tools of a host are in the table. Those at the MCP proxy and at our own server are any server's.
fn is_known_host(host: &str) -> bool {
    host != MCP_HOST && TOOLS.iter().any(|tool| tool.host == host)
}

/// The row that an MCP tool's own name suggests (`mcp__files__write_file`): a guess, so it adds what is guarded and
/// never makes the tool a known one.
#[must_use]
pub fn guess(name: &str) -> Option<&'static Tool> {
    let own = name.strip_prefix("mcp__")?.rsplit("__").next()?;
    TOOLS.iter().find(|tool| tool.host.is_empty() && tool.name == own)
}

/// The other names that a server's tool may have, the host's own first. Some hosts write the server's name before the tool's with a mark
/// between that either may hold, so where one ends is not known.
#[must_use]
pub fn other_splits(host: Option<&str>, name: &str) -> Vec<String> {
    let (front, mark) = match host {
        Some("copilot") => ("", "-"),
        Some("gemini" | "vscode") => ("mcp_", "_"),
        _ => return Vec::new(),
    };
    let Some((server, own)) = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return Vec::new();
    };
    let joined = format!("{server}{mark}{own}");
    let splits = joined.match_indices(mark).filter_map(|(at, _)| Some((joined.get(..at)?, joined.get(at + 1..)?)));
    let whole = splits.filter(|(server, own)| !server.is_empty() && !own.is_empty());
    let others = whole.map(|(server, own)| format!("mcp__{server}__{own}")).filter(|other| other != name);
    std::iter::once(format!("{front}{joined}")).chain(others).collect()
}

/// What stands for the server in the name of a tool whose host does not say of which server it is.
pub const SOME_SERVER: &str = "cursor";

/// The own name of a tool whose host does not say of which server it is. It may be any server's.
#[must_use]
pub fn of_some_server<'n>(host: Option<&str>, name: &'n str) -> Option<&'n str> {
    let rest = name.strip_prefix("mcp__").filter(|_| host == Some("cursor"))?;
    rest.strip_prefix(SOME_SERVER)?.strip_prefix("__")
}

/// Whether a pattern of tools' names means a server's tool of this name, whatever the server.
#[must_use]
pub(crate) fn means_of_some_server(pattern: &str, own: &str) -> bool {
    let parts = pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    parts.is_some_and(|(_, wanted)| glob::text_matches(wanted, own))
}

/// Every name in the table, for suggestions and for `jackline check`.
#[must_use]
pub fn names() -> Vec<&'static str> {
    TOOLS.iter().map(|tool| tool.name).collect()
}
