//! MCP servers in a host's configuration: put behind the proxy, and taken out again, byte for byte.
//!
//! INVARIANT: what is put in front of a program's arguments follows their bracket directly, and a list that is made for
//! them opens with a space. So taking out can tell the two apart, and is the exact opposite of putting in.

mod own;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use jackline_core::tools::OWN_SERVER;
use serde_json::Value;

use super::edit::Edits;
use super::spans::{self, Item, Kind, Node};
use super::{CommandLine, SettingsFault, comments};

pub use own::{add_own, own, remove_own};

/// What a proxy's arguments begin with.
const PROXY: [&str; 2] = ["mcp", "proxy"];
/// What stands before the program of a server, and before its address.
const REST: &str = "--";
const URL: &str = "--url";
/// The same for a server whose transport is called so; it says what to write back.
const STREAMABLE: &str = "--streamable-http";
/// The same for one whose address stands under [`HTTP_URL_KEY`].
const HTTP_URL: &str = "--http-url";
/// What stands behind each of them where the address is in a variable, and what that is called then.
const IN_VARIABLE: &str = "-env";
const URL_VARIABLE: &str = "JACKLINE_URL";
const URL_KEY: &str = "url";
/// Where Gemini CLI and Qwen Code have an address of this transport.
const HTTP_URL_KEY: &str = "httpUrl";
const HEADER: &str = "--header-env";
/// What the variables are called that hold the headers of an address.
const VARIABLE: &str = "JACKLINE_HEADER_";
/// Where an entry says in which directory its program is started.
const CWD_KEY: &str = "cwd";
/// Where an entry has the variables of its program.
const ENV_KEY: &str = "env";

/// Where in a configuration servers stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place<'a> {
    /// Under `mcpServers`.
    Top,
    /// Under `servers`, with comments where one likes: VS Code's own form.
    Editor,
    /// Under `projects`, the project's root, `mcpServers`.
    Project(&'a str),
}

/// What runs the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub program: String,
    /// Options of every proxy.
    pub options: Vec<String>,
    /// Options of those that belong to one project.
    pub project: Vec<String>,
    /// Options of others that are started in a directory of their own; none where nobody can tell which project they are
    /// for, since their host starts the rest in it.
    pub apart: Option<Vec<String>>,
    /// The project by which they judge here.
    pub root: String,
}

/// A configuration after the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrapped {
    pub text: String,
    /// Whether servers are listed at any of the places, be it none.
    pub listed: bool,
    /// The servers that were changed.
    pub servers: Vec<String>,
    /// Those that could not be, and why.
    pub left: Vec<(String, &'static str)>,
}

/// Puts every server behind the proxy that is not yet.
///
/// # Errors
/// When the text is not plain JSON of the form that hosts read.
pub fn wrap(text: &str, places: &[Place<'_>], line: &Line) -> Result<Wrapped, SettingsFault> {
    let read = &*plain(text, places);
    change((text, read), places, |edits, place, item| {
        let mut words: Vec<String> = PROXY.iter().map(|word| (*word).to_owned()).collect();
        words.extend(named(item.key.as_deref().unwrap_or_default()));
        words.extend(line.options.iter().cloned());
        let (name, entry) = (item.key.as_deref().unwrap_or_default(), item.node.value(read));
        let apart = entry.get(CWD_KEY).is_some_and(|dir| !dir.is_null());
        match (place, apart) {
            (Place::Project(_), _) => words.extend(line.project.iter().cloned()),
            (_, true) => words.extend(line.apart.iter().flatten().cloned()),
            _ => {}
        }
        if own::line_beginning(&entry, PROXY).is_some_and(|proxy| astray(&proxy, name, &line.root).is_some()) {
            return Err("it is behind a proxy that judges by something else; `jackline doctor` says by what");
        }
        let ours = || [own::SERVE, PROXY].into_iter().any(|begins| own::line_beginning(&entry, begins).is_some());
        if name == OWN_SERVER && !ours() {
            return Err(
                "it has the name of Jackline's own server, and its tools would be taken for that one's; give it \
                        another name and run this again",
            );
        }
        let placed = matches!(place, Place::Project(_)) || !apart || line.apart.is_some();
        Change { text: read, edits, entry: &item.node }.put_in(&line.program, words, placed)
    })
}

/// The option that names a server; a name that looks like an option is written so that it is none.
fn named(name: &str) -> Vec<String> {
    if name.starts_with('-') { vec![format!("--name={name}")] } else { vec!["--name".to_owned(), name.to_owned()] }
}

/// Takes every server out from behind the proxy.
///
/// # Errors
/// When the text is not plain JSON of the form that hosts read.
pub fn unwrap(text: &str, places: &[Place<'_>]) -> Result<Wrapped, SettingsFault> {
    let read = &*plain(text, places);
    change((text, read), places, |edits, _, item| Change { text: read, edits, entry: &item.node }.take_out())
}

/// What runs the proxies before the servers that stand there, by the servers' names.
///
/// # Errors
/// When the text is not plain JSON of the form that the host reads.
pub fn proxied(text: &str, place: Place<'_>) -> Result<Vec<(String, CommandLine)>, SettingsFault> {
    if spans::blank(text.as_bytes()) {
        return Ok(Vec::new());
    }
    let text = &*plain(text, &[place]);
    let root = spans::along(text, &[place.keys()])?;
    let servers = place.servers(&root).map_or(&[][..], |servers| &servers.items);
    let line = |item: &Item| own::line_beginning(&item.node.value(text), PROXY);
    Ok(servers.iter().filter_map(|item| Some((item.key.clone()?, line(item)?))).collect())
}

/// How editors name the project that they have open.
const FOLDER: &str = "${workspaceFolder}";

/// How a proxy judges by something else than one that is put before that server here: a file may come with a clone.
#[must_use]
pub fn astray(line: &CommandLine, server: &str, root: &str) -> Option<String> {
    let own = line.arguments.iter().take_while(|word| *word != REST).map(String::as_str);
    let words: Vec<&str> = own.collect();
    let given = |option: &str| {
        let apart = words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1).copied());
        let joined = || words.iter().find_map(|word| word.strip_prefix(option)?.strip_prefix('='));
        apart.or_else(joined)
    };
    if let Some(file) = given("--definition") {
        return Some(format!("it judges by `{file}` alone, whatever was accepted or trusted"));
    }
    if let Some(other) = given("--workspace").filter(|named| *named != root && *named != FOLDER) {
        return Some(format!("it judges by the definition of `{other}`"));
    }
    match given("--name") {
        Some(name) if name == server => None,
        Some(name) => Some(format!("it calls the server `{name}`, so rules about `mcp__{server}__…` are not asked")),
        None => Some(format!("the server names itself, so rules about `mcp__{server}__…` may not be asked")),
    }
}

/// Whether a text lists servers in the editor's own form, and in no other.
#[must_use]
pub fn is_editors(text: &str) -> bool {
    let root = spans::along(&comments::blanked(text), &[Place::Editor.keys()]);
    root.is_ok_and(|root| Place::Editor.servers(&root).is_some() && Place::Top.servers(&root).is_none())
}

/// The text as its host reads it, where it stands: comments are blanks, if the host allows them.
fn plain<'t>(text: &'t str, places: &[Place<'_>]) -> Cow<'t, str> {
    if places.contains(&Place::Editor) { Cow::Owned(comments::blanked(text)) } else { Cow::Borrowed(text) }
}

/// What became of one server: changed, as it should be already, or left for a reason.
type Outcome = Result<bool, &'static str>;

/// Changes each server; `text` is what is edited, `read` the same as its host reads it.
fn change(
    (text, read): (&str, &str),
    places: &[Place<'_>],
    mut one: impl FnMut(&mut Edits<'_>, Place<'_>, &Item) -> Outcome,
) -> Result<Wrapped, SettingsFault> {
    let mut wrapped = Wrapped { text: text.to_owned(), ..Wrapped::default() };
    if spans::blank(text.as_bytes()) {
        return Ok(wrapped);
    }
    let root = spans::along(read, &places.iter().map(Place::keys).collect::<Vec<_>>())?;
    let mut edits = Edits::new(read, &root).onto(text);
    for place in places {
        let servers = place.servers(&root);
        wrapped.listed |= servers.is_some();
        for item in servers.map_or(&[][..], |servers| &servers.items) {
            let name = item.key.clone().unwrap_or_default();
            match one(&mut edits, *place, item) {
                Ok(true) => wrapped.servers.push(name),
                Ok(false) => {}
                Err(why) => wrapped.left.push((name, why)),
            }
        }
    }
    wrapped.text = edits.done();
    Ok(wrapped)
}

/// A change of one server's entry.
struct Change<'t, 'e, 'r> {
    text: &'t str,
    edits: &'e mut Edits<'r>,
    entry: &'t Node,
}

impl<'t> Change<'t, '_, '_> {
    fn item(&self, key: &str) -> Option<&'t Item> {
        self.entry.items.iter().find(|item| item.key.as_deref() == Some(key))
    }

    fn string(&self, key: &str) -> Option<String> {
        self.item(key)?.node.value(self.text).as_str().map(str::to_owned)
    }

    fn raw(&self, node: &Node) -> &'t str {
        self.text.get(node.span.clone()).unwrap_or_default()
    }

    /// What stands between a member's key and its value.
    fn between(&self, item: &Item) -> &'t str {
        self.text.get(item.key_span(self.text).end..item.node.span.start).unwrap_or(": ")
    }

    fn is_ours(&self) -> bool {
        let program = self.string("command").unwrap_or_default();
        let begins = self.words().iter().zip(PROXY).filter(|(word, wanted)| word == wanted).count() == PROXY.len();
        Path::new(&program).file_name().is_some_and(|name| name == "jackline") && begins
    }

    fn words(&self) -> Vec<String> {
        let items = self.item("args").map_or(&[][..], |args| &args.node.items);
        items.iter().map(|item| item.node.value(self.text).as_str().unwrap_or_default().to_owned()).collect()
    }

    /// `placed` where the proxy would find the project's definition.
    fn put_in(mut self, program: &str, words: Vec<String>, placed: bool) -> Outcome {
        if self.entry.kind != Kind::Object {
            return Err("it is no object");
        }
        if self.is_ours() {
            return Ok(false);
        }
        if own::line_of(&self.entry.value(self.text)).is_some() {
            return Err("it is Jackline's own server, which has its calls judged by itself");
        }
        if !placed {
            return Err(
                "it is started in a directory of its own (`cwd`), where no project's definition is found; name a project \
                        for it with `--workspace DIR`",
            );
        }
        if ["oauth", "headersHelper"].iter().any(|key| self.item(key).is_some()) {
            return Err("it signs in by itself, which the proxy does not do for it");
        }
        let (kind, addresses) = (self.string("type"), (self.item(URL_KEY), self.item(HTTP_URL_KEY)));
        let empty = |key: &&str| self.string(key).is_none_or(|text| text.is_empty());
        if ["command", URL_KEY, HTTP_URL_KEY].iter().filter(|key| self.item(key).is_some()).any(empty) {
            return Err("what runs it or where it is, is no text");
        }
        match (self.item("command"), addresses, kind.as_deref()) {
            // Copilot CLI calls it `local`.
            (Some(command), (None, None), None | Some("stdio" | "local")) => {
                self.put_in_program(command, program, words)
            }
            (None, (Some(url), None), None | Some("http")) => self.put_in_address(url, program, (words, URL)),
            (None, (None, Some(url)), None | Some("http")) => self.put_in_address(url, program, (words, HTTP_URL)),
            (None, (Some(url), None), Some("streamable-http")) => {
                self.put_in_address(url, program, (words, STREAMABLE))
            }
            (_, _, Some("sse")) => Err("its transport `sse` is an older one, which the proxy does not speak"),
            _ => Err("it has neither a plain `command` nor an `http` address"),
        }
    }

    fn put_in_program(&mut self, command: &Item, program: &str, mut words: Vec<String>) -> Outcome {
        words.push(REST.to_owned());
        let front = format!("{}, {}", quoted(&words), self.raw(&command.node));
        match self.item("args").map(|args| &args.node) {
            Some(args) if args.kind != Kind::Array => return Err("its `args` are no list"),
            Some(args) => {
                let comma = if args.items.is_empty() { "" } else { "," };
                self.edits.put(args.span.start + 1..args.span.start + 1, format!("{front}{comma}"));
            }
            None => {
                let made = format!(", \"args\"{}[ {front}]", self.between(command));
                self.edits.put(command.end()..command.end(), made);
            }
        }
        self.edits.put(command.node.span.clone(), Value::from(program).to_string());
        Ok(true)
    }

    fn put_in_address(&mut self, url: &Item, program: &str, (words, option): (Vec<String>, &'static str)) -> Outcome {
        if ["args", ENV_KEY].iter().any(|key| self.item(key).is_some()) {
            return Err("it has an address and `args` or `env` too");
        }
        let raw = self.raw(&url.node);
        let telling = url.node.value(self.text).as_str().is_some_and(is_telling);
        let mut front = if telling {
            quoted(&[words, vec![format!("{option}{IN_VARIABLE}"), URL_VARIABLE.to_owned()]].concat())
        } else {
            format!("{}, {}, {raw}", quoted(&words), Value::from(option))
        };
        let variable = format!("{}: {raw}", Value::from(URL_VARIABLE));
        let between = self.between(url);
        let mut env = String::new();
        if let Some(headers) = self.item("headers") {
            self.edits.put(headers.key_span(self.text), Value::from(ENV_KEY).to_string());
            if telling {
                let comma = if headers.node.items.is_empty() { "" } else { "," };
                self.edits.put(headers.node.span.start + 1..headers.node.span.start + 1, format!("{variable}{comma}"));
            }
            for (at, header) in headers.node.items.iter().enumerate() {
                let variable = format!("{VARIABLE}{}", at + 1);
                let given = format!("{}={variable}", header.key.as_deref().unwrap_or_default());
                front.push_str(&format!(", {}, {}", Value::from(HEADER), Value::from(given)));
                self.edits.put(header.key_span(self.text), Value::from(variable).to_string());
            }
        } else if telling {
            env = format!(", {}{between}{{ {variable}}}", Value::from(ENV_KEY));
        }
        if let Some(kind) = self.item("type") {
            self.edits.put(kind.node.span.clone(), "\"stdio\"");
        }
        let made = format!("\"command\"{between}{}, \"args\"{between}[{front}]{env}", Value::from(program));
        self.edits.put(url.start..url.end(), made);
        Ok(true)
    }

    fn take_out(mut self) -> Outcome {
        let (Some(command), Some(args)) = (self.item("command"), self.item("args")) else { return Ok(false) };
        if !self.is_ours() {
            return Ok(false);
        }
        let words = self.words();
        let after = |word: &str| args.node.items.get(words.iter().position(|known| known == word)? + 1);
        // A server's own arguments may hold anything, and stand last.
        if let Some(program) = after(REST) {
            return self.take_out_program(command, args, program);
        }
        let addresses =
            [(URL, URL_KEY, "http"), (HTTP_URL, HTTP_URL_KEY, "http"), (STREAMABLE, URL_KEY, "streamable-http")];
        let hidden = |option: &str| after(&format!("{option}{IN_VARIABLE}")).and_then(|_| self.hidden_url());
        let url = |option: &str| after(option).or_else(|| hidden(option));
        match addresses.iter().find_map(|(option, key, kind)| Some((url(option)?, *key, *kind))) {
            Some(address) => self.take_out_address(command, args, address),
            None => Err("it is behind a proxy that was changed by hand"),
        }
    }

    fn take_out_program(&mut self, command: &Item, args: &Item, program: &Item) -> Outcome {
        self.edits.put(command.node.span.clone(), self.raw(&program.node));
        let more = args.node.items.last().is_some_and(|last| last.start > program.start);
        if !more && args.node.opens_wide(self.text) {
            self.edits.put(command.end()..args.end(), "");
            return Ok(true);
        }
        let rest = self.text.get(program.end()..).unwrap_or_default();
        let comma = rest.find(',').filter(|_| more).map_or(0, |at| at + 1);
        self.edits.put(args.node.span.start + 1..program.end() + comma, "");
        Ok(true)
    }

    fn take_out_address(&mut self, command: &Item, args: &Item, (url, key, was): (&Item, &str, &str)) -> Outcome {
        if self.item("headers").is_some() {
            return Err(
                "it has `headers`, which its proxy does not send; give them with `--header-env`, or take them out",
            );
        }
        let made = format!("{}{}{}", Value::from(key), self.between(command), self.raw(&url.node));
        self.edits.put(command.start..args.end(), made);
        if let Some(kind) = self.item("type") {
            self.edits.put(kind.node.span.clone(), Value::from(was).to_string());
        }
        if !self.take_out_variable(args) {
            self.give_back_headers();
        }
        Ok(true)
    }

    /// The variable that holds an address, where that was made of it.
    fn hidden_url(&self) -> Option<&'t Item> {
        let words = self.words();
        let mut pairs = words.iter().zip(words.iter().skip(1));
        pairs.find(|(option, word)| option.ends_with(IN_VARIABLE) && *word == URL_VARIABLE)?;
        self.item(ENV_KEY)?.node.items.iter().find(|item| item.key.as_deref() == Some(URL_VARIABLE))
    }

    /// Takes the variable of an address out of a list that was made for it; whether there was one.
    fn take_out_variable(&mut self, args: &Item) -> bool {
        let (Some(env), Some(url)) = (self.item(ENV_KEY), self.hidden_url()) else { return false };
        if !env.node.opens_wide(self.text) || self.words().iter().any(|word| word == HEADER) {
            return false;
        }
        let follows = self.text.get(args.end()..env.start).is_some_and(|text| text.trim() == ",");
        if env.node.items.len() == 1 && follows {
            self.edits.put(args.end()..env.end(), "");
        } else {
            self.drop_variables(env, |item| item.start == url.start);
        }
        true
    }

    fn drop_variables(&mut self, env: &Item, is_gone: impl Fn(&Item) -> bool) {
        let gone: Vec<bool> = env.node.items.iter().map(is_gone).collect();
        self.edits.drop_items(&env.node, &gone);
    }

    /// The variables that were made of headers are headers again; those that a person gave the proxy since stay variables.
    fn give_back_headers(&mut self) {
        let Some(env) = self.item(ENV_KEY) else { return };
        let words = self.words();
        let given = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| *option == HEADER);
        let made: Vec<(&str, &str)> = given
            .filter_map(|(_, word)| word.rsplit_once('='))
            .filter(|(_, name)| name.starts_with(VARIABLE))
            .collect();
        let header =
            |item: &Item| made.iter().find(|(_, name)| item.key.as_deref() == Some(name)).map(|(header, _)| *header);
        let url = self.hidden_url();
        let is_url = |item: &Item| url.is_some_and(|url| url.start == item.start);
        let is_added = |item: &Item| header(item).is_none() && !is_url(item);
        let added: Vec<&Item> = env.node.items.iter().filter(|item| is_added(item)).collect();
        // An empty one was made of headers that were empty.
        if !added.is_empty() && !env.node.items.iter().any(|item| header(item).is_some()) {
            url.into_iter().for_each(|_| self.drop_variables(env, is_url));
            return;
        }
        self.edits.put(env.key_span(self.text), "\"headers\"");
        if !added.is_empty() {
            let raw = |item: &&Item| self.text.get(item.start..item.end()).unwrap_or_default();
            let own: Vec<&str> = added.iter().map(raw).collect();
            let own = format!(", {}{}{{{}}}", Value::from(ENV_KEY), self.between(env), own.join(", "));
            self.drop_variables(env, |item| is_url(item) || is_added(item));
            self.edits.put(env.end()..env.end(), own);
        } else if let Some(url) = url.filter(|url| env.node.items.first().is_some_and(|first| first.start == url.start))
        {
            let rest = self.text.get(url.end()..).unwrap_or_default();
            let comma = rest.find(',').filter(|_| env.node.items.len() > 1).map_or(0, |at| at + 1);
            self.edits.put(env.node.span.start + 1..url.end() + comma, "");
        } else if url.is_some() {
            self.drop_variables(env, is_url);
        }
        for (item, header) in env.node.items.iter().filter_map(|item| Some((item, header(item)?))) {
            self.edits.put(item.key_span(self.text), Value::from(header).to_string());
        }
    }
}

/// Whether an address may hold what others should not see, or what its host puts in first: the list of processes shows
/// what a program is started with.
fn is_telling(url: &str) -> bool {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next();
    url.contains('?') || url.contains("${") || authority.is_some_and(|authority| authority.contains('@'))
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| Value::from(word.as_str()).to_string()).collect::<Vec<_>>().join(", ")
}
