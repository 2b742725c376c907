//! Our own server in a host's configuration: added, found, and taken out again.
//!
//! An entry is ours when it has our server's name, its program's file name is `jackline` and its arguments begin with
//! `mcp serve`, wherever that program lies.

use std::path::Path;

use jackline_core::tools::OWN_SERVER;
use serde_json::{Value, json};

use super::super::edit::{Edits, Shape, fresh};
use super::super::spans::{self, Kind, Node};
use super::super::{CommandLine, Removed, SettingsFault};
use super::{Place, plain};

/// What the arguments of our server begin with.
pub(super) const SERVE: [&str; 2] = ["mcp", "serve"];
const SERVERS: &str = "mcpServers";
const EDITORS_SERVERS: &str = "servers";

impl Place<'_> {
    /// The keys that lead to the servers.
    pub(super) fn keys(&self) -> Vec<&str> {
        match self {
            Self::Top => vec![SERVERS],
            Self::Editor => vec![EDITORS_SERVERS],
            Self::Project(root) => vec!["projects", root, SERVERS],
        }
    }

    /// The servers in a configuration.
    pub(super) fn servers<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        self.keys().into_iter().try_fold(root, |at, key| at.member(key))
    }
}

/// The configuration with our server in it, and everything else as it was; a missing or empty file becomes a new one.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads, or another server has our name.
pub fn add_own(text: Option<&str>, place: Place<'_>, line: &CommandLine) -> Result<String, SettingsFault> {
    let entry = Shape::Object(vec![
        ("type", Shape::Leaf(json!("stdio"))),
        ("command", Shape::Leaf(json!(line.program))),
        ("args", Shape::Leaf(json!(line.arguments))),
    ]);
    let keys = place.keys();
    let Some(text) = text.filter(|text| !spans::blank(text.as_bytes())) else {
        let (first, rest) = nested(&keys, entry);
        return Ok(format!("{}\n", fresh(&[(first, rest)])));
    };
    match remove_own(text, place)? {
        _ if own(text, place)?.as_ref() == Some(line) => Ok(text.to_owned()),
        Removed::Nothing => insert((text, &*plain(text, &[place])), &keys, entry),
        Removed::Rest(rest) => add_own(Some(&rest), place, line),
        Removed::All => add_own(None, place, line),
    }
}

/// The first key, and what stands under it so that all the others lead to our entry.
fn nested<'k>(keys: &[&'k str], entry: Shape<'k>) -> (&'k str, Shape<'k>) {
    let (first, rest) = keys.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
    let inner = match rest {
        [] => (OWN_SERVER, entry),
        rest => nested(rest, entry),
    };
    (first, Shape::Object(vec![inner]))
}

/// Puts our entry where the keys lead; `text` is what is edited, `read` the same as its host reads it.
fn insert((text, read): (&str, &str), keys: &[&str], entry: Shape<'_>) -> Result<String, SettingsFault> {
    let root = spans::along(read, &[keys.to_vec()])?;
    let mut edits = Edits::new(read, &root).onto(text);
    let (mut at, mut left) = (&root, keys);
    while let Some((key, rest)) = left.split_first() {
        let Some(next) = at.member(key) else { break };
        if next.kind != Kind::Object {
            return Err(SettingsFault::WrongType { place: (*key).to_owned(), wanted: "an object" });
        }
        (at, left) = (next, rest);
    }
    if left.is_empty() {
        if at.member(OWN_SERVER).is_some() {
            let place = format!("{}.{OWN_SERVER}", keys.last().unwrap_or(&SERVERS));
            return Err(SettingsFault::NameTaken(place));
        }
        edits.add_members(at, &[(OWN_SERVER, entry)]);
    } else {
        edits.add_members(at, &[nested(left, entry)]);
    }
    Ok(edits.done())
}

/// The configuration without our server. Containers that were made for it go too.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads.
pub fn remove_own(text: &str, place: Place<'_>) -> Result<Removed, SettingsFault> {
    if own(text, place)?.is_none() {
        return Ok(Removed::Nothing);
    }
    let keys = place.keys();
    let read = plain(text, &[place]);
    let root = spans::along(&read, std::slice::from_ref(&keys))?;
    let mut edits = Edits::new(&read, &root).onto(text);
    let mut path: Vec<&Node> = vec![&root];
    for key in &keys {
        let Some(next) = path.last().and_then(|at| at.member(key)) else { return Ok(Removed::Nothing) };
        path.push(next);
    }
    // From our entry outwards, as long as what holds it was made for it.
    let mut going = OWN_SERVER;
    for (container, key) in path.iter().skip(1).rev().zip(keys.iter().rev()) {
        let gone: Vec<bool> = container.items.iter().map(|item| item.key.as_deref() == Some(going)).collect();
        if !edits.emptied(container, &gone) {
            return Ok(Removed::Rest(edits.done()));
        }
        going = key;
    }
    Ok(edits.left(&root, going))
}

/// What runs our server there, if it is there.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads.
pub fn own(text: &str, place: Place<'_>) -> Result<Option<CommandLine>, SettingsFault> {
    if spans::blank(text.as_bytes()) {
        return Ok(None);
    }
    let text = plain(text, &[place]);
    let root = spans::along(&text, &[place.keys()])?;
    let entry = place.servers(&root).and_then(|servers| servers.member(OWN_SERVER));
    Ok(entry.and_then(|entry| line_of(&entry.value(&text))))
}

/// What an entry runs, if that is our server.
pub(super) fn line_of(entry: &Value) -> Option<CommandLine> {
    line_beginning(entry, SERVE)
}

/// What an entry runs, if that is our program with arguments that begin so.
pub(super) fn line_beginning(entry: &Value, begins: [&str; 2]) -> Option<CommandLine> {
    let program = entry.get("command")?.as_str()?.to_owned();
    let words = entry.get("args")?.as_array()?.iter().map(|word| word.as_str().map(str::to_owned));
    let arguments = words.collect::<Option<Vec<String>>>()?;
    let ours = Path::new(&program).file_name().is_some_and(|name| name == "jackline");
    let so = arguments.iter().zip(begins).filter(|(word, wanted)| word == wanted).count() == begins.len();
    (ours && so).then_some(CommandLine { program, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> CommandLine {
        let arguments = ["mcp", "serve", "--store", "/s"].map(str::to_owned).to_vec();
        CommandLine { program: "/opt/jackline".to_owned(), arguments }
    }

    /// Adds, looks at the value, adds again and takes it back.
    #[track_caller]
    fn check(text: Option<&str>, place: Place<'_>, pointer: &str) {
        let added = add_own(text, place, &line()).unwrap();
        let value: Value = serde_json::from_str(&added).unwrap();
        let want = json!({"type": "stdio", "command": "/opt/jackline", "args": ["mcp", "serve", "--store", "/s"]});
        assert_eq!(value.pointer(pointer), Some(&want), "{added}");
        assert_eq!(own(&added, place).unwrap(), Some(line()));
        assert_eq!(add_own(Some(&added), place, &line()).unwrap(), added);
        let left = remove_own(&added, place).unwrap();
        assert_eq!(left, text.map_or(Removed::All, |text| Removed::Rest(text.to_owned())), "{added}");
    }

    #[test]
    fn our_server_is_added_and_taken_out_again() {
        let project = Place::Project("/ws");
        let (top, nested) = ("/mcpServers/jackline", "/projects/~1ws/mcpServers/jackline");
        check(None, Place::Top, top);
        check(None, project, nested);
        for text in ["{}", "{\"a\":1}", "{\n  \"a\": 1\n}\n", "{\"mcpServers\":{\"b\":{\"command\":\"c\"}}}"] {
            check(Some(text), Place::Top, top);
            check(Some(text), project, nested);
        }
        check(Some("{\n  \"projects\": {\n    \"/ws\": {\n      \"mcpServers\": {}\n    }\n  }\n}\n"), project, nested);
        check(Some("{\"projects\":{\"/other\":{}}}"), project, nested);
    }

    #[test]
    fn in_an_editors_list_comments_stay_where_they_are() {
        let at = "/servers/jackline";
        check(None, Place::Editor, at);
        check(Some("{\"inputs\":[]}"), Place::Editor, at);
        for text in [
            "// mine\n{\n  // \"not\" this\n  \"servers\": {\n    \"b\": { \"command\": \"c\" } // last, really\n  }\n}\n",
            "{ // nothing yet\n}\n",
            "{\n  \"servers\": { /* none */ }\n}\n",
        ] {
            let added = add_own(Some(text), Place::Editor, &line()).unwrap();
            assert_eq!(own(&added, Place::Editor).unwrap(), Some(line()), "{added}");
            assert_eq!(add_own(Some(&added), Place::Editor, &line()).unwrap(), added);
            assert_eq!(remove_own(&added, Place::Editor).unwrap(), Removed::Rest(text.to_owned()), "{added}");
        }
        assert!(add_own(Some("{ // mine\n}"), Place::Top, &line()).is_err(), "other hosts read no comments");
    }

    #[test]
    fn another_server_of_our_name_is_left_alone() {
        let text = r#"{"mcpServers":{"jackline":{"command":"npx","args":["x"]}}}"#;
        assert!(add_own(Some(text), Place::Top, &line()).is_err());
        assert_eq!(remove_own(text, Place::Top).unwrap(), Removed::Nothing);
        assert!(add_own(Some(r#"{"mcpServers":[]}"#), Place::Top, &line()).is_err());
    }

    #[test]
    fn an_older_entry_of_ours_is_replaced() {
        let text = r#"{"mcpServers":{"jackline":{"command":"/old/jackline","args":["mcp","serve"]},"b":{}}}"#;
        let added = add_own(Some(text), Place::Top, &line()).unwrap();
        assert_eq!(own(&added, Place::Top).unwrap(), Some(line()));
        assert!(added.contains("\"b\":{}") && !added.contains("/old/"), "{added}");
    }
}
