//! Codex's trust in hooks: it runs one only if a person's settings hold the digest of the very entry, under its place.
//!
//! Kept in its `config.toml`, one table per entry: `[hooks.state."FILE:event:group:index"]` with `trusted_hash`. When
//! our entries come, change or go, trust follows: in ours, and in a person's own that stand elsewhere afterwards.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::config::{Config, States, header, quoted};
use super::placed::{Placed, placed};
use crate::wiring::{Rewired, SettingsFault, Trust, TrustedFile};

/// Its trust.
pub const TRUST: Tables = Tables;

/// Trust kept in tables of `config.toml`.
#[derive(Debug, Clone, Copy)]
pub struct Tables;

impl Trust for Tables {
    fn follow(&self, text: Option<&str>, wired: Rewired<'_>) -> Result<Option<String>, SettingsFault> {
        let before = text.unwrap_or_default();
        let config = Config::read(before)?;
        let change = Change::of(&config.states(), wired)?;
        let after = change.made(&config, text);
        let read = Config::read(&after).map_err(|_| SettingsFault::TrustOtherwise)?;
        if read.states() != change.wanted(config.states()) || read.rest() != config.rest() {
            return Err(SettingsFault::TrustOtherwise);
        }
        let is_ours_alone = after.is_empty() && before.starts_with('[');
        Ok(Some(after).filter(|_| text.is_some() && !is_ours_alone || !change.trusted.is_empty()))
    }

    fn off(&self, text: &str) -> Result<Option<&'static str>, SettingsFault> {
        Ok(Config::read(text)?.off())
    }

    fn lacks(&self, text: Option<&str>, wired: TrustedFile<'_>) -> Result<Option<String>, SettingsFault> {
        let config = Config::read(text.unwrap_or_default())?;
        let states = config.states();
        let (mut ours, mut untrusted) = (0, 0);
        for hook in placed(Some(wired.text))?.iter().filter(|hook| hook.ours) {
            ours += 1;
            let digest = hook.digest.as_deref();
            untrusted += usize::from(!digest.is_some_and(|digest| is_trusted(&states, &hook.key(wired.file), digest)));
        }
        Ok((untrusted > 0).then(|| format!("{untrusted} of our {ours} hooks are not trusted, and so not run")))
    }
}

/// Whether a hook of this digest would run.
fn is_trusted(states: &States, key: &str, digest: &str) -> bool {
    let Some(state) = states.get(key) else { return false };
    let enabled = state.get("enabled").is_none_or(|enabled| *enabled == Value::Bool(true));
    enabled && state.get("trusted_hash").and_then(Value::as_str) == Some(digest)
}

/// What is to be done to what is trusted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Change {
    /// Trust that goes: in entries of ours that are not there any more.
    dropped: BTreeSet<String>,
    /// Trust in a person's own hooks that stand elsewhere now.
    moved: Vec<(String, String)>,
    /// Trust in our entries that is not there yet, with the digest.
    trusted: Vec<(String, String)>,
}

impl Change {
    fn of(states: &States, wired: Rewired<'_>) -> Result<Self, SettingsFault> {
        let (old, new) = (placed(wired.before)?, placed(wired.after)?);
        let ours = || new.iter().filter(|hook| hook.ours);
        let kept: BTreeSet<String> = ours().map(|hook| hook.key(wired.file)).collect();
        let moved = moved(&old, &new, wired.file, states);
        let left = |key: &String| !kept.contains(key) && !moved.iter().any(|(from, _)| from == key);
        let dropped = gone(&old, &new, wired.file, states).into_iter().filter(left).collect();
        let is_new = |(key, digest): &(String, String)| {
            !is_trusted(states, key, digest) || moved.iter().any(|(from, _)| from == key)
        };
        let digests = ours().filter_map(|hook| Some((hook.key(wired.file), hook.digest.clone()?)));
        Ok(Self { dropped, trusted: digests.filter(is_new).collect(), moved })
    }

    /// What shall be trusted afterwards.
    fn wanted(&self, states: States) -> States {
        let mut wanted = states.clone();
        wanted.retain(|key, _| !self.dropped.contains(key) && !self.moved.iter().any(|(from, _)| from == key));
        for (from, to) in &self.moved {
            wanted.extend(states.get(from).map(|state| (to.clone(), state.clone())));
        }
        wanted.extend(self.trusted.iter().map(|(key, digest)| (key.clone(), json!({ "trusted_hash": digest }))));
        wanted
    }

    /// The text with all of it done, as well as its form allows.
    fn made(&self, config: &Config<'_>, text: Option<&str>) -> String {
        let mut edits = Edits { text: text.unwrap_or_default(), line_end: config.line_end(), list: Vec::new() };
        let stays = |key: &String| !self.moved.iter().any(|(from, _)| from == key);
        let mut added = Vec::new();
        for (key, digest) in &self.trusted {
            match config.block(key).filter(|_| stays(key)) {
                Some(block) => edits.rewrite(block, key, digest),
                None => added.push((key, digest)),
            }
        }
        self.dropped.iter().filter_map(|key| config.block(key)).for_each(|block| edits.drop(block));
        for (from, to) in &self.moved {
            edits.list.extend(config.key_span(from).map(|span| (span, quoted(to))));
        }
        edits.done(&added, text.is_none())
    }
}

/// Trust in others' hooks that stand elsewhere now: we never change their order.
fn moved(old: &[Placed], new: &[Placed], file: &str, states: &States) -> Vec<(String, String)> {
    let others = |all: &[Placed], event: &str| -> Vec<String> {
        all.iter().filter(|hook| !hook.ours && hook.event == event).map(|hook| hook.key(file)).collect()
    };
    let events: BTreeSet<&str> = old.iter().map(|hook| hook.event.as_str()).collect();
    let pairs = events.into_iter().flat_map(|event| others(old, event).into_iter().zip(others(new, event)));
    pairs.filter(|(from, to)| from != to && states.contains_key(from)).collect()
}

/// Keys of this file under which nothing but entries of ours was trusted.
fn gone(old: &[Placed], new: &[Placed], file: &str, states: &States) -> BTreeSet<String> {
    let ours = || old.iter().chain(new).filter(|hook| hook.ours);
    let digests: BTreeSet<&str> = ours().filter_map(|hook| hook.digest.as_deref()).collect();
    let of_file = |key: &str| key.strip_prefix(file).is_some_and(|place| place.starts_with(':'));
    let was_ours = |key: &str| old.iter().any(|hook| hook.ours && hook.key(file) == key);
    let is_ours =
        |state: &Value| state.get("trusted_hash").and_then(Value::as_str).is_some_and(|hash| digests.contains(hash));
    let found = states.iter().filter(|(key, state)| of_file(key) && (was_ours(key) || is_ours(state)));
    found.map(|(key, _)| key.clone()).collect()
}

/// Edits of a `config.toml`.
///
/// INVARIANT: an empty line comes before each table that is added, except in a file that is made for them, and where a
/// text has no line break at its end it has none afterwards. So taking away is the exact opposite of adding.
struct Edits<'a> {
    text: &'a str,
    line_end: &'static str,
    list: Vec<(Range<usize>, String)>,
}

impl Edits<'_> {
    fn rewrite(&mut self, block: Range<usize>, key: &str, digest: &str) {
        let ends = self.text.get(block.clone()).is_some_and(|lines| lines.ends_with('\n'));
        let lines = self.lines(key, digest);
        self.list.push((block, if ends { lines } else { lines.trim_end().to_owned() }));
    }

    /// Takes lines out, and the empty line before them.
    fn drop(&mut self, block: Range<usize>) {
        let before = self.text.get(..block.start).unwrap_or_default();
        let above = before.strip_suffix(self.line_end).filter(|above| above.is_empty() || above.ends_with('\n'));
        self.list.push((above.map_or(block.start, str::len)..block.end, String::new()));
    }

    fn lines(&self, key: &str, digest: &str) -> String {
        let end = self.line_end;
        format!("{}{end}trusted_hash = \"{digest}\"{end}", header(key))
    }

    fn done(mut self, added: &[(&String, &String)], is_new: bool) -> String {
        self.list.sort_by_key(|(span, _)| span.start);
        let mut after = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (span, new) in &self.list {
            after.push_str(self.text.get(copied..span.start).unwrap_or_default());
            after.push_str(new);
            copied = span.end;
        }
        let left = self.text.get(copied..).unwrap_or_default();
        after.push_str(left);
        let open = !self.text.is_empty() && !self.text.ends_with('\n');
        if open && !after.ends_with('\n') && !added.is_empty() {
            after.push_str(self.line_end);
        }
        for (at, (key, digest)) in added.iter().enumerate() {
            let space = if at == 0 && is_new { "" } else { self.line_end };
            after.push_str(space);
            after.push_str(&self.lines(key, digest));
        }
        let cut = open.then(|| after.strip_suffix(self.line_end)).flatten();
        cut.map(str::to_owned).unwrap_or(after)
    }
}

#[cfg(test)]
mod tests;
