//! What the server offers: learned from the lists that the client asks for, and asked for where it did not.
//!
//! A list that cannot be read to its end is none: then it cannot be told what a call does, and the guards hear of that.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jackline_core::catalogue::Catalogue;
use jackline_core::json::canonical;
use jackline_core::listing::{Listed, Listing, REST, TOOLS_MAX, tool_name};
use jackline_core::sha::Digest;
use serde_json::Value;

use super::judge::safe;
use crate::message::is_disguised;

/// Tools that are known of one server, over all pages; a server with more is one that floods.
const CATALOGUE_MAX: usize = 4096;
/// Pages of one list that we ask for.
pub(super) const PAGES_MAX: usize = 64;
/// Milliseconds for a whole list that we ask for; a call waits for it.
pub(super) const LIST_MS_MAX: u64 = 10_000;
/// Milliseconds until a list is asked for again that did not hold a tool, or did not come.
const AGAIN_MS: u64 = 5_000;

/// How the keys of a tool's `_meta` begin that Claude Code reads: words to find it by, and how much of it is shown.
const HOST_NOTES: &str = "anthropic/";

/// What a list consists of.
const MEMBERS: [&str; 2] = ["tools", "nextCursor"];

/// Who asked for a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    Client,
    /// We did, when the server had said so many times that its list changed.
    Us(u64),
}

/// A list as far as it came.
#[derive(Debug, Default)]
struct State {
    tools: BTreeMap<String, Tool>,
    /// Pages of the client's list and of ours that have not ended.
    begun: [Option<Vec<(String, Tool)>>; 2],
    /// What the client was shown of lists that have not ended, while none was known to its end.
    shown: BTreeMap<String, Tool>,
    /// The list was seen to its end, and nobody said that it changed.
    complete: bool,
    /// Why it is not.
    fault: Option<String>,
    /// Something is known that was not told yet.
    news: bool,
    /// When we last asked ourselves.
    asked: Option<Instant>,
    /// How often the server said that its list changed.
    changes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Tool {
    digest: Digest,
    schema: Option<String>,
    /// The server says more than one thing of it.
    doubled: bool,
}

/// What is known of the server's tools.
#[derive(Debug, Default)]
pub(super) struct Listings(Mutex<State>);

impl Listings {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a page; whether more are to come. Or why the list cannot be read.
    pub(super) fn page(&self, asker: Asker, first: bool, result: &Value) -> Result<bool, String> {
        let mut state = self.state();
        let taken = state.take(asker, first, result);
        taken.inspect_err(|why| state.fail(why))
    }

    /// There is no list, for this reason; what was known before stands, unless someone said that it changed.
    pub(super) fn missed(&self, why: &str) {
        let mut state = self.state();
        if !state.complete {
            state.fail(why);
        }
    }

    /// The client was to be shown a list that cannot be read.
    pub(super) fn unreadable(&self, why: &str) {
        self.state().fail(why);
    }

    /// The server says that its list changed.
    pub(super) fn changed(&self) {
        let mut state = self.state();
        state.fail("it said that they changed");
        state.asked = None;
        state.changes += 1;
    }

    /// How often it said so.
    pub(super) fn changes(&self) -> u64 {
        self.state().changes
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

    /// Whether the server's list is known, and this is no name in it.
    pub(super) fn lacks(&self, tool: &str) -> bool {
        let state = self.state();
        state.complete && !state.tools.contains_key(tool)
    }

    /// What a tool's arguments must fit, as the server says.
    pub(super) fn schema(&self, tool: &str) -> Option<String> {
        self.state().tools.get(tool)?.schema.clone()
    }

    /// What the runtime judges by and what a session remembers, where that is news.
    pub(super) fn news(&self, server: &str) -> Option<(Catalogue, Option<Listing>)> {
        let mut state = self.state();
        if !std::mem::take(&mut state.news) {
            return None;
        }
        if !state.complete {
            return Some((Catalogue::unread(state.fault.as_deref().unwrap_or("no list came")), None));
        }
        let mut catalogue = Catalogue::default();
        for (name, tool) in &state.tools {
            let name = tool_name(server, &safe(name));
            // Twice is once too often, which is what it is to say.
            (0..=usize::from(tool.doubled)).for_each(|_| catalogue.add(name.clone(), tool.schema.clone()));
        }
        Some((catalogue, Some(listing(server, &state.tools))))
    }
}

impl State {
    fn fail(&mut self, why: &str) {
        self.complete = false;
        self.news = true;
        self.shown.clear();
        self.fault = Some(why.to_owned());
    }

    fn take(&mut self, asker: Asker, first: bool, result: &Value) -> Result<bool, String> {
        let (page, more) = (tools(result)?, next_cursor(result)?.is_some());
        if asker == Asker::Client {
            self.show(&page)?;
        }
        let [of_client, of_us] = &mut self.begun;
        let begun = if asker == Asker::Client { of_client } else { of_us };
        if first {
            *begun = Some(Vec::new());
        }
        // A page of a list whose beginning nobody saw is no list.
        let Some(pages) = begun else { return Ok(more) };
        pages.extend(page);
        if pages.len() > CATALOGUE_MAX {
            *begun = None;
            return Err(format!("there are more than {CATALOGUE_MAX}"));
        }
        // Our own list is read by who waits for it, and what the server said behind it may have been taken before.
        if matches!(asker, Asker::Us(since) if since != self.changes) {
            *begun = None;
            return Err("it said that they changed".to_owned());
        }
        if !more {
            let pages = begun.take().unwrap_or_default();
            self.end(pages);
        }
        Ok(more)
    }

    /// The client is shown a page. What differs in it from the list that is known is changed by that alone.
    fn show(&mut self, page: &[(String, Tool)]) -> Result<(), String> {
        for (name, tool) in page {
            let known = if self.complete { &mut self.tools } else { &mut self.shown };
            let before = known.insert(name.clone(), tool.clone());
            self.news |= self.complete && before.as_ref() != Some(tool);
            if known.len() > CATALOGUE_MAX {
                return Err(format!("there are more than {CATALOGUE_MAX}"));
            }
            if let (Some(before), false) = (before, self.complete) {
                known.entry(name.clone()).and_modify(|tool| tool.join(&before));
            }
        }
        Ok(())
    }

    /// A list came to its end.
    fn end(&mut self, pages: Vec<(String, Tool)>) {
        let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
        for (name, tool) in pages {
            match tools.get_mut(&name) {
                Some(known) => known.join(&tool),
                None => drop(tools.insert(name, tool)),
            }
        }
        for (name, tool) in std::mem::take(&mut self.shown) {
            match tools.get_mut(&name) {
                Some(known) => known.join(&tool),
                None => drop(tools.insert(name, Tool { doubled: true, ..tool })),
            }
        }
        self.news |= !self.complete || self.tools != tools;
        self.tools = tools;
        self.complete = true;
        self.fault = None;
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
    /// All that is said of a tool; of what servers note beside it, only what a host reads.
    fn of(tool: &Value) -> Self {
        let mut said = tool.clone();
        if let Value::Object(said) = &mut said
            && let Some(noted) = said.remove("_meta")
        {
            let noted = noted.as_object().into_iter().flatten().filter(|(key, _)| key.starts_with(HOST_NOTES));
            said.extend(noted.map(|(key, value)| (key.clone(), value.clone())));
        }
        // What is no schema is not left out: that it is none is told when it is asked for.
        let schema = tool.get("inputSchema").filter(|schema| !schema.is_null()).map(Value::to_string);
        Self { digest: Digest::of(&canonical(&said)), schema, doubled: false }
    }

    /// Something else is said of it too.
    fn join(&mut self, other: &Self) {
        if self.digest != other.digest || other.doubled {
            let digest = Digest::of_parts([self.digest.0.as_slice(), other.digest.0.as_slice()]);
            *self = Self { digest, schema: None, doubled: true };
        }
    }
}

fn tools(result: &Value) -> Result<Vec<(String, Tool)>, String> {
    if result.as_object().is_some_and(|fields| is_disguised(fields, &MEMBERS)) {
        return Err("a member is spelled in other letters, which some would take for it".to_owned());
    }
    let tools = result.get("tools").and_then(Value::as_array).ok_or("`tools` is no list")?;
    tools.iter().map(|tool| Ok((name(tool)?, Tool::of(tool)))).collect()
}

fn name(tool: &Value) -> Result<String, String> {
    /// Bytes of a tool's name; hosts take some sixty.
    const NAME_BYTES_MAX: usize = 200;
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    if !(1..=NAME_BYTES_MAX).contains(&name.len()) {
        return Err(format!("a tool has no name of 1 to {NAME_BYTES_MAX} bytes"));
    }
    Ok(name.to_owned())
}

/// What asks for the next page, where there is one.
pub(super) fn next_cursor(result: &Value) -> Result<Option<&Value>, String> {
    match result.get("nextCursor") {
        None | Some(Value::Null) => Ok(None),
        // Some servers end their lists so, and clients take it for the end.
        Some(Value::String(cursor)) if cursor.is_empty() => Ok(None),
        Some(cursor @ Value::String(_)) => Ok(Some(cursor)),
        Some(_) => Err("`nextCursor` is no text".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Asker::{Client, Us};
    use super::*;
    use serde_json::json;

    fn tool(name: &str, about: &str) -> Value {
        json!({"name": name, "description": about, "inputSchema": {"type": "object"}})
    }

    #[test]
    fn a_list_is_known_once_its_last_page_came() {
        let listings = Listings::default();
        assert!(listings.is_wanted("a"));
        assert!(!listings.is_wanted("a"), "asked a moment ago");
        let first = json!({"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "2"});
        assert_eq!(listings.page(Us(0), true, &first), Ok(true));
        assert!(listings.news("s").is_none() && !listings.lacks("x"));
        assert_eq!(listings.page(Us(0), false, &json!({"tools": [tool("b.c", "")], "nextCursor": ""})), Ok(false));
        let (catalogue, listing) = listings.news("s").unwrap();
        assert!(catalogue.knows("mcp__s__a") && catalogue.schema("mcp__s__b_c").is_some());
        assert_eq!(listing.unwrap().tools.len(), 2);
        assert!(listings.news("s").is_none() && listings.lacks("b_c") && !listings.lacks("b.c"));
        listings.changed();
        assert!(listings.news("s").unwrap().0.unclear("mcp__s__a").is_some());
    }

    #[test]
    fn a_list_that_changed_behind_its_last_page_is_none() {
        let listings = Listings::default();
        let since = listings.changes();
        listings.changed();
        assert!(listings.page(Us(since), true, &json!({"tools": [tool("a", "")]})).is_err());
        assert!(listings.is_wanted("a") && listings.news("s").unwrap().0.unclear("mcp__s__a").is_some());
        assert_eq!(listings.page(Us(listings.changes()), true, &json!({"tools": [tool("a", "")]})), Ok(false));
    }

    #[test]
    fn what_a_host_reads_beside_a_tool_is_part_of_it() {
        let of = |meta: Value| {
            let mut tool = tool("a", "as ever");
            tool["_meta"] = meta;
            Tool::of(&tool)
        };
        assert_eq!(of(json!({"seen": 1})), of(json!({"seen": 2})));
        assert_eq!(of(json!({"seen": 1})), Tool::of(&tool("a", "as ever")));
        assert_ne!(of(json!({"anthropic/searchHint": "mail"})), of(json!({"anthropic/searchHint": "keys"})));
    }

    #[test]
    fn what_cannot_be_read_is_no_list() {
        let many: Vec<Value> = (0..=CATALOGUE_MAX).map(|n| tool(&format!("t{n}"), "")).collect();
        for wrong in [
            json!({"tools": null}),
            json!({}),
            json!({"tools": [{"name": 5}]}),
            json!({"tools": [], "nextCursor": 7}),
            json!({"tools": [tool("a", "")], "Tools": [tool("a", "another")]}),
            json!({"tools": [tool("a", "")], "nextcursor": "2"}),
            json!({"tools": many}),
        ] {
            let listings = Listings::default();
            assert_eq!(listings.page(Us(0), true, &json!({"tools": [tool("a", "")]})), Ok(false));
            listings.news("s");
            assert!(listings.page(Client, true, &wrong).is_err());
            assert!(listings.news("s").unwrap().0.unclear("mcp__s__a").is_some(), "what was known does not stand");
        }
        let listings = Listings::default();
        listings.missed("it has no end");
        assert!(listings.news("s").unwrap().0.unclear("mcp__s__a").is_some());
    }

    #[test]
    fn a_page_that_the_client_is_shown_changes_what_is_known() {
        let listings = Listings::default();
        let page = |about: &str| json!({"tools": [tool("a", about)], "nextCursor": "2"});
        assert_eq!(listings.page(Us(0), true, &json!({"tools": [tool("a", "1"), tool("b", "1")]})), Ok(false));
        let (_, before) = listings.news("s").unwrap();
        assert_eq!(listings.page(Client, true, &page("1")), Ok(true));
        assert!(listings.news("s").is_none());
        assert_eq!(listings.page(Client, true, &page("2")), Ok(true));
        let (_, after) = listings.news("s").unwrap();
        assert!(before.unwrap().digest() != after.unwrap().digest());
    }

    #[test]
    fn two_things_that_are_said_of_one_tool_are_unclear() {
        let unclear = |listings: &Listings| listings.news("s").unwrap().0.unclear("mcp__s__a_b").is_some();
        let twice = |one: Value, two: Value| {
            let listings = Listings::default();
            assert_eq!(listings.page(Us(0), true, &json!({"tools": [one, two]})), Ok(false));
            unclear(&listings)
        };
        assert!(twice(tool("a_b", "1"), tool("a_b", "2")) && twice(tool("a_b", "1"), tool("a.b", "1")));
        assert!(!twice(tool("a_b", "1"), tool("a_b", "1")) && !twice(tool("a_b", "1"), tool("c", "1")));
        let shown = Listings::default();
        assert_eq!(shown.page(Client, true, &json!({"tools": [tool("a_b", "1")], "nextCursor": "2"})), Ok(true));
        assert_eq!(shown.page(Us(0), true, &json!({"tools": [tool("a_b", "2")]})), Ok(false));
        assert!(unclear(&shown), "the client was shown something else");
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
            assert_eq!(listings.page(Us(0), true, &json!({ "tools": tools })), Ok(false));
            listings.news("s").unwrap().1.unwrap()
        };
        let before = offered(&tools);
        assert_eq!(before.tools.len(), TOOLS_MAX);
        let mut after = tools.clone();
        after.last_mut().unwrap()["description"] = json!("another");
        assert_ne!(before.digest(), offered(&after).digest());
    }
}
