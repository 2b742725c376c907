//! What the server offers: learned from the lists that the client asks for, and asked for where it did not.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jackline_core::catalogue::Catalogue;
use jackline_core::json::canonical;
use jackline_core::listing::{Listed, Listing, TOOLS_MAX, tool_name};
use jackline_core::sha::Digest;
use serde_json::Value;

use super::judge::safe;

/// Tools that are known of one server, over all pages; a server with more is one that floods.
const CATALOGUE_MAX: usize = 4096;
/// Pages of one list that we ask for.
pub(super) const PAGES_MAX: usize = 64;
/// Milliseconds for one page of a list that we ask for; a call waits for it.
pub(super) const PAGE_MS_MAX: u64 = 10_000;
/// Milliseconds until a list is asked for again that did not hold a tool, or did not come.
const AGAIN_MS: u64 = 5_000;
/// The name under which tools beyond those that a session remembers are remembered as one.
const REST: &str = "(more)";

/// A list as far as it came.
#[derive(Debug, Default)]
struct State {
    tools: BTreeMap<String, Tool>,
    /// Pages of a list that has not ended.
    pages: Vec<Value>,
    /// The list was seen to its end, and nobody said that it changed.
    complete: bool,
    /// When we last asked ourselves.
    asked: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Tool {
    digest: Digest,
    schema: Option<String>,
}

/// What is known of the server's tools.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<State>);

impl Listings {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a page; whether the list is whole now.
    pub(super) fn page(&self, first: bool, result: &Value) -> bool {
        let mut state = self.state();
        if first {
            state.pages.clear();
        }
        let Some(tools) = result.get("tools").and_then(Value::as_array) else { return false };
        let room = CATALOGUE_MAX.saturating_sub(state.pages.len());
        state.pages.extend(tools.iter().take(room).cloned());
        if next_cursor(result).is_some() {
            return false;
        }
        state.tools = state.pages.drain(..).filter_map(|tool| Some((name(&tool)?, Tool::of(&tool)))).collect();
        state.complete = true;
        true
    }

    /// The server says that its list changed.
    pub(super) fn changed(&self) {
        let mut state = self.state();
        state.complete = false;
        state.asked = None;
    }

    /// Whether to ask for the list before a call of this tool; not again and again where that does not help.
    pub(super) fn is_wanted(&self, tool: &str) -> bool {
        let mut state = self.state();
        let known = state.complete && state.tools.contains_key(tool);
        let lately = state.asked.is_some_and(|asked| asked.elapsed() < Duration::from_millis(AGAIN_MS));
        if known || lately {
            return false;
        }
        state.asked = Some(Instant::now());
        true
    }

    /// What the runtime judges by, and what a session remembers.
    pub(super) fn offered(&self, server: &str) -> (Catalogue, Listing) {
        let state = self.state();
        let mut catalogue = Catalogue::default();
        for (name, tool) in &state.tools {
            catalogue.add(tool_name(server, &safe(name)), tool.schema.clone());
        }
        (catalogue, listing(server, &state.tools))
    }
}

fn listing(server: &str, tools: &BTreeMap<String, Tool>) -> Listing {
    let listed = |(name, tool): (&String, &Tool)| Listed { name: safe(name), digest: tool.digest };
    let fits = if tools.len() > TOOLS_MAX { TOOLS_MAX - 1 } else { TOOLS_MAX };
    let mut all: Vec<Listed> = tools.iter().take(fits).map(listed).collect();
    if tools.len() > fits {
        let rest = tools.iter().skip(fits).flat_map(|(name, tool)| [name.as_bytes(), tool.digest.0.as_slice()]);
        all.push(Listed { name: REST.to_owned(), digest: Digest::of_parts(rest) });
    }
    Listing { server: server.to_owned(), tools: all }
}

impl Tool {
    /// All that is said of a tool, but for what servers note beside it.
    fn of(tool: &Value) -> Self {
        let mut said = tool.clone();
        if let Value::Object(said) = &mut said {
            said.remove("_meta");
        }
        let schema = tool.get("inputSchema").filter(|schema| schema.is_object()).map(Value::to_string);
        Self { digest: Digest::of(&canonical(&said)), schema }
    }
}

fn name(tool: &Value) -> Option<String> {
    /// Bytes of a tool's name; hosts take some sixty.
    const NAME_BYTES_MAX: usize = 200;
    let name = tool.get("name")?.as_str()?;
    (1..=NAME_BYTES_MAX).contains(&name.len()).then(|| name.to_owned())
}

/// What asks for the next page, where there is one.
pub(super) fn next_cursor(result: &Value) -> Option<&Value> {
    result.get("nextCursor").filter(|cursor| cursor.is_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_list_is_known_once_its_last_page_came() {
        let listings = Listings::default();
        assert!(listings.is_wanted("a"));
        assert!(!listings.is_wanted("a"), "asked a moment ago");
        assert!(!listings.page(true, &json!({"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "2"})));
        assert!(listings.page(false, &json!({"tools": [{"name": "b.c", "inputSchema": {"type": "object"}}]})));
        let (catalogue, listing) = listings.offered("s");
        assert!(catalogue.knows("mcp__s__a") && catalogue.schema("mcp__s__b_c").is_some());
        assert_eq!(listing.tools.len(), 2);
        listings.changed();
        assert!(!listings.page(true, &json!({"tools": "none"})));
    }

    #[test]
    fn notes_beside_a_tool_do_not_change_it_and_its_description_does() {
        let digest = |tool: Value| Tool::of(&tool).digest;
        let plain = digest(json!({"name": "a", "description": "d"}));
        assert_eq!(plain, digest(json!({"name": "a", "description": "d", "_meta": {"at": 1}})));
        assert_ne!(plain, digest(json!({"name": "a", "description": "e"})));
    }

    #[test]
    fn more_tools_than_are_remembered_are_remembered_as_one() {
        let tools: Vec<Value> = (0..TOOLS_MAX + 9).map(|n| json!({"name": format!("t{n:04}")})).collect();
        let offered = |tools: &[Value]| {
            let listings = Listings::default();
            assert!(listings.page(true, &json!({ "tools": tools })));
            listings.offered("s").1
        };
        let before = offered(&tools);
        assert_eq!(before.tools.len(), TOOLS_MAX);
        let mut after = tools.clone();
        after.last_mut().unwrap()["description"] = json!("another");
        assert_ne!(before.digest(), offered(&after).digest());
    }
}
