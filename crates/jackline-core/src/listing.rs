//! What an MCP server says it offers, and what a session remembers of it: a server that changes its tools while a
//! session runs may have changed what a trusted name does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::event::{EventFault, TOOL_NAME_BYTES_MAX};
use crate::session::Session;
use crate::sha::{Digest, Key};

/// The host of events that our MCP proxy tells.
pub const MCP_HOST: &str = "mcp";

/// Tools of one server: real ones have up to some hundred, and a session remembers a key of each.
pub const TOOLS_MAX: usize = 512;
/// Servers that a session remembers; the one told of longest ago makes room, and is new when it comes back.
pub const SERVERS_MAX: usize = 16;
/// Tools remembered over all servers, so that the state stays small; the server told of longest ago goes first.
pub const PINNED_MAX: usize = 1024;
/// Changed tools of one server that are remembered by name; where there are more, all of its tools count as changed.
pub const CHANGED_MAX: usize = 64;
/// The name under which tools beyond those that are remembered one by one are listed as one.
pub const REST: &str = "(more)";
/// Changed tools that a text names.
const NAMED_MAX: usize = 10;

/// The tools of one server, as it lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The server's name, as it stands in `mcp__NAME__tool`.
    pub server: String,
    pub tools: Vec<Listed>,
}

/// One tool, and a digest of all that is said of it: description, schemas, annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub digest: Digest,
}

/// What a session remembers of a server's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    pub server: String,
    /// A key of each tool with what is said of it.
    pub tools: BTreeSet<Key>,
    /// Keys of the names of tools that were changed or added since the first list.
    pub changed: BTreeSet<Key>,
    /// More were changed than are remembered.
    pub all_changed: bool,
}

/// The name under which a tool of a server is judged.
#[must_use]
pub fn tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

impl Listing {
    /// Reads the members of an event.
    ///
    /// # Errors
    /// The first thing about it that cannot be understood.
    pub(crate) fn read(fields: &Map<String, Value>) -> Result<Self, EventFault> {
        let server = fields.get("server").and_then(Value::as_str).filter(|server| is_name(server));
        let server = server.ok_or(EventFault::Wrong("server", "between 1 and 256 bytes long"))?.to_owned();
        let tools = fields.get("tools").and_then(Value::as_array).filter(|tools| tools.len() <= TOOLS_MAX);
        let tools = tools.ok_or(EventFault::Wrong("tools", "a list of at most 512 tools"))?;
        let tools: Option<Vec<Listed>> = tools.iter().map(Listed::read).collect();
        Ok(Self { server, tools: tools.ok_or(EventFault::Wrong("tools", "a list of {name, digest}"))? })
    }

    /// Its JSON form.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let tools: Vec<Value> =
            self.tools.iter().map(|tool| json!({ "name": tool.name, "digest": tool.digest })).collect();
        json!({ "server": self.server, "tools": tools, "digest": self.digest() })
    }

    /// One digest for all of it, whatever the order.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_parts(self.keys().iter().map(|key| key.0.as_slice()))
    }

    fn keys(&self) -> BTreeSet<Key> {
        self.tools.iter().map(Listed::key).collect()
    }
}

impl Listed {
    fn read(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str().filter(|name| is_name(name))?.to_owned();
        Some(Self { name, digest: Digest::parse(value.get("digest")?.as_str()?)? })
    }

    fn key(&self) -> Key {
        Digest::of_parts([self.name.as_bytes(), self.digest.0.as_slice()]).short()
    }
}

fn is_name(text: &str) -> bool {
    (1..=TOOL_NAME_BYTES_MAX).contains(&text.len())
}

fn name_key(server: &str, tool: &str) -> Key {
    Digest::of(tool_name(server, tool).as_bytes()).short()
}

/// How a list differs from the one that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// What is remembered from now on.
    pub(crate) served: Served,
    /// What a person is told; nothing where the server is new.
    pub(crate) told: Option<String>,
}

impl Served {
    /// Whether a tool was changed or added since the first list.
    #[must_use]
    pub fn is_changed(&self, tool: &str) -> bool {
        let ours = || tool.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(self.server.as_str()));
        self.changed.contains(&Digest::of(tool.as_bytes()).short())
            || self.all_changed && ours().is_some_and(|rest| rest.starts_with("__"))
    }

    /// What a new list changes; nothing when it is the same.
    pub(crate) fn compare(known: Option<&Self>, listing: &Listing) -> Option<Difference> {
        let tools = listing.keys();
        let Some(known) = known else {
            let served = Self { server: listing.server.clone(), tools, ..Self::default() };
            return Some(Difference { served, told: None });
        };
        if known.tools == tools {
            return None;
        }
        let fresh: Vec<&Listed> = listing.tools.iter().filter(|tool| !known.tools.contains(&tool.key())).collect();
        let mut changed = known.changed.clone();
        changed.extend(fresh.iter().map(|tool| name_key(&listing.server, &tool.name)));
        // Which of those that are listed as one has changed cannot be told.
        let rest = fresh.iter().any(|tool| tool.name == REST);
        let all_changed = known.all_changed || rest || changed.len() > CHANGED_MAX;
        if all_changed {
            changed.clear();
        }
        let told = Some(told(&listing.server, &fresh));
        Some(Difference { served: Self { server: known.server.clone(), tools, changed, all_changed }, told })
    }
}

impl Session {
    /// What is remembered of an MCP server's tools.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Served> {
        self.servers.iter().find(|served| served.server == name)
    }
}

fn told(server: &str, fresh: &[&Listed]) -> String {
    let names: Vec<String> = fresh.iter().take(NAMED_MAX).map(|tool| format!("'{}'", tool.name)).collect();
    let more = fresh.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if names.is_empty() {
        return format!("MCP server '{server}' changed its tools while the session runs: some are gone.");
    }
    format!(
        "MCP server '{server}' changed its tools while the session runs: {}{more} differ or are new.",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(tools: &[(&str, &str)]) -> Listing {
        let tools =
            tools.iter().map(|(name, said)| Listed { name: (*name).to_owned(), digest: Digest::of(said.as_bytes()) });
        Listing { server: "files".to_owned(), tools: tools.collect() }
    }

    #[test]
    fn the_order_of_tools_does_not_matter_and_what_is_said_of_them_does() {
        let first = Served::compare(None, &listing(&[("a", "1"), ("b", "2")])).unwrap();
        assert_eq!(first.told, None);
        assert_eq!(Served::compare(Some(&first.served), &listing(&[("b", "2"), ("a", "1")])), None);
        let second = Served::compare(Some(&first.served), &listing(&[("a", "1"), ("b", "3"), ("c", "1")])).unwrap();
        assert!(second.told.as_deref().is_some_and(|told| told.contains("'b', 'c' differ or are new")), "{second:?}");
        assert!(second.served.is_changed("mcp__files__b") && second.served.is_changed("mcp__files__c"));
        assert!(!second.served.is_changed("mcp__files__a") && !second.served.is_changed("mcp__other__b"));
    }

    #[test]
    fn what_was_changed_stays_changed() {
        let first = Served::compare(None, &listing(&[("a", "1")])).unwrap().served;
        let second = Served::compare(Some(&first), &listing(&[("a", "2")])).unwrap().served;
        let back = Served::compare(Some(&second), &listing(&[("a", "1")])).unwrap().served;
        assert!(back.is_changed("mcp__files__a"));
    }

    #[test]
    fn a_change_among_those_that_are_listed_as_one_changes_everything() {
        let first = Served::compare(None, &listing(&[("a", "1"), (REST, "1")])).unwrap().served;
        let second = Served::compare(Some(&first), &listing(&[("a", "1"), (REST, "2")])).unwrap().served;
        assert!(second.is_changed("mcp__files__t0599") && second.is_changed("mcp__files__a"));
    }

    #[test]
    fn too_many_changes_change_everything() {
        let first = Served::compare(None, &listing(&[("a", "1")])).unwrap().served;
        let names: Vec<String> = (0..=CHANGED_MAX).map(|n| format!("t{n}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        let second = Served::compare(Some(&first), &listing(&many)).unwrap();
        assert!(second.told.as_deref().is_some_and(|told| told.contains("and 55 more")), "{second:?}");
        assert!(second.served.changed.is_empty() && second.served.is_changed("mcp__files__any"));
        assert!(!second.served.is_changed("mcp__files2__any"));
    }
}
