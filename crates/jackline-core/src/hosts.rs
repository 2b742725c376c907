//! What is particular to hosts where a decision hangs on it. Their tools are in [`crate::tools`].

use crate::listing::MCP_HOST;

/// What we know of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    pub name: &'static str,
    /// Stops in a row that it lets us hold; it lets the next one through by itself.
    pub stops_held_max: Option<u32>,
    /// Whether its agent may write to a program that runs, and nothing tells us of it.
    pub writes_unseen: bool,
    /// Whether one terminal runs all commands of its agent, so that each begins where and as the one before ended.
    pub keeps_terminal: bool,
    /// Whether it tells what the agent said last.
    pub tells_last_words: bool,
    /// Whether a person can be asked about a call there: where nobody can, a question is a no.
    pub asks: bool,
    /// The tool by which an agent ends, where it does not end by speaking.
    pub ends_by: Option<&'static str>,
    /// Tools and arguments by which a sub-agent works where nobody is told of it.
    pub strays: &'static [Stray],
}

/// An argument by which what a tool starts works elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stray {
    pub tool: &'static str,
    pub argument: &'static str,
    pub when: When,
    pub away: Away,
}

/// Which values of it count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Any that says something.
    Any,
    /// One of these.
    Is(&'static [&'static str]),
    /// Texts with one of these in them.
    Has(&'static [&'static str]),
}

/// Where it works then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Away {
    /// In a directory that the host tells no hook.
    Directory,
    /// On another machine, where no hook of ours is asked.
    Machine,
}

const fn stray(tool: &'static str, argument: &'static str, when: When) -> Stray {
    Stray { tool, argument, when, away: Away::Directory }
}

const fn remote(tool: &'static str, argument: &'static str, when: When) -> Stray {
    Stray { away: Away::Machine, ..stray(tool, argument, when) }
}

const fn host(name: &'static str) -> Host {
    let (writes_unseen, keeps_terminal, tells_last_words, asks) = (false, false, true, true);
    let (stops_held_max, ends_by, strays) = (None, None, &[]);
    Host { name, stops_held_max, writes_unseen, keeps_terminal, tells_last_words, asks, ends_by, strays }
}

/// The hosts that are particular in something.
const HOSTS: &[Host] = &[
    Host { stops_held_max: Some(8), strays: STRAYS_OF_CLAUDE, ..host("claude") },
    Host { writes_unseen: true, asks: false, ..host("codex") },
    Host { stops_held_max: Some(8), tells_last_words: false, ..host("copilot") },
    Host { stops_held_max: Some(5), tells_last_words: false, asks: false, ..host("cursor") },
    Host { asks: false, ends_by: Some("complete_task"), ..host("gemini") },
    Host { asks: false, ..host(MCP_HOST) },
    Host { asks: false, ..host("opencode") },
    Host { stops_held_max: Some(8), strays: STRAYS_OF_QWEN, ..host("qwen") },
    Host { keeps_terminal: true, tells_last_words: false, ..host("vscode") },
];

const STRAYS_OF_CLAUDE: &[Stray] = &[
    remote("Agent", "isolation", When::Is(&["remote"])),
    // Its name in older versions.
    remote("Task", "isolation", When::Is(&["remote"])),
    remote("Workflow", "script", When::Has(&["'remote'", "\"remote\"", "`remote`"])),
    remote("RemoteTrigger", "action", When::Is(&["create", "create_webhook_trigger", "update", "run"])),
];

const STRAYS_OF_QWEN: &[Stray] = &[
    stray("agent", "working_dir", When::Any),
    stray("agent", "isolation", When::Any),
    stray("workflow", "script", When::Has(&["isolation", "workingDir"])),
];

fn named(host: Option<&str>) -> Option<&'static Host> {
    HOSTS.iter().find(|known| host == Some(known.name))
}

/// How many stops in a row are held on a host: what it lets through by itself shall be on record as let through.
#[must_use]
pub fn stops_held_max(host: Option<&str>, wanted: u32) -> u32 {
    named(host).and_then(|known| known.stops_held_max).map_or(wanted, |cap| wanted.min(cap))
}

/// Whether what a host's agent writes to a running program stays unseen.
#[must_use]
pub fn writes_unseen(host: Option<&str>) -> bool {
    named(host).is_some_and(|known| known.writes_unseen)
}

/// Whether what a command leaves behind in its shell is there for the next one.
#[must_use]
pub fn keeps_terminal(host: Option<&str>) -> bool {
    named(host).is_some_and(|known| known.keeps_terminal)
}

/// Whether a call is how an agent of a host's ends: a stop, which no limit refuses.
#[must_use]
pub fn ends_by(host: Option<&str>, tool: &str) -> bool {
    named(host).is_some_and(|known| known.ends_by == Some(tool))
}

/// The arguments by which what a tool of a host's starts works where nobody is told of it.
pub fn strays(host: Option<&str>, tool: &str) -> impl Iterator<Item = &'static Stray> {
    named(host).into_iter().flat_map(|known| known.strays).filter(move |stray| stray.tool == tool)
}

/// Whether a host tells what its agent said last; one that we do not know may.
#[must_use]
pub fn tells_last_words(host: Option<&str>) -> bool {
    named(host).is_none_or(|known| known.tells_last_words)
}

/// Whether a person can be asked about a call on a host; one that we do not know is told to.
#[must_use]
pub fn asks(host: Option<&str>) -> bool {
    named(host).is_none_or(|known| known.asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hosts_own_cap_holds_where_it_is_lower() {
        assert_eq!(stops_held_max(Some("claude"), 6), 6);
        assert_eq!(stops_held_max(Some("claude"), 100), 8);
        assert_eq!((stops_held_max(Some("my-loop"), 100), stops_held_max(None, 100)), (100, 100));
    }
}
