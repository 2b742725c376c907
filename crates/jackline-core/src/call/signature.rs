//! What a call is, for telling repetition: two that do the same have one signature, however they are spelled.

use serde_json::Value;

use super::{Touch, View};
use crate::definition::Kind;
use crate::path;
use crate::session::Key;
use crate::sha::Digest;
use crate::tools::Tool;

/// Keys that say nothing about what a call does.
const VOLATILE: &[&str] = &["request_id", "_meta"];
/// The same for shell tools.
const VOLATILE_SHELL: &[&str] = &["description", "timeout", "run_in_background"];

/// What a call is, for telling repetition: action, tool, arguments without volatile keys, target path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub key: Key,
    pub target: String,
}

impl View<'_> {
    /// The tool's name as its signature has it: that of our own server's is the one it has there.
    fn signed_name(&self) -> &str {
        self.other.as_deref().filter(|_| !self.served).unwrap_or(&self.call.tool)
    }

    /// The call's signature, with paths as seen from the workspace root.
    #[must_use]
    pub fn signature(&self, root: &str) -> Signature {
        let mut args = self.call.args.clone();
        if let Value::Object(fields) = &mut args {
            fields.retain(|key, _| {
                let key = key.as_str();
                let aside = |row: &Tool| row.aside.contains(&key);
                !(VOLATILE.contains(&key)
                    || self.kind == Kind::Shell && (VOLATILE_SHELL.contains(&key) || self.row.is_some_and(aside)))
            });
        }
        for touch in self.here().filter(|touch| !touch.dynamic && self.kind != Kind::Shell) {
            normalise(&mut args, &touch.path, &workspace_path(root, touch));
        }
        let target = self.here().next().map(|touch| workspace_path(root, touch)).unwrap_or_default();
        let args = Digest::of(&crate::json::canonical(&args)).hex();
        let parts = ["v1", &self.call.action, self.signed_name(), &args, &target];
        Signature { key: Digest::of(parts.join("\n").as_bytes()).short(), target }
    }
}

fn workspace_path(root: &str, touch: &Touch) -> String {
    let absolute = path::join(&path::join(root, &touch.dir), &touch.path);
    path::below(root, &absolute).map_or(absolute.clone(), str::to_owned)
}

fn normalise(value: &mut Value, written: &str, normal: &str) {
    match value {
        Value::String(text) if text == written => normal.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, written, normal)),
        Value::Object(fields) => fields.values_mut().for_each(|item| normalise(item, written, normal)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Call;
    use serde_json::json;

    #[test]
    fn signatures_see_through_spelling() {
        let sign = |tool: &str, args: Value| {
            let call = Call::new(tool, args);
            View::new(&call, None, "/ws", None).signature("/ws").key
        };
        assert_eq!(sign("read_file", json!({"path": "./a"})), sign("read_file", json!({"path": "/ws/a"})));
        assert_eq!(sign("x", json!({"n": 1, "m": 2})), sign("x", json!({"m": 2, "n": 1.0})));
        assert_ne!(sign("x", json!({"n": 1})), sign("x", json!({"n": "1"})));
        assert_ne!(
            sign("read_file", json!({"path": "a", "offset": 0})),
            sign("read_file", json!({"path": "a", "offset": 9}))
        );
        assert_eq!(sign("Bash", json!({"command": "ls", "timeout": 1})), sign("Bash", json!({"command": "ls"})));
        let at = |host: &str, tool: &str| {
            let call = Call::new(tool, json!({"path": "a"}));
            View::new(&call, Some(host), "/ws", None).signature("/ws").key
        };
        assert_eq!(at("claude", "mcp__jackline__read_file"), at("mcp", "read_file"));
        assert_ne!(at("claude", "mcp__notes__read_file"), at("mcp", "read_file"));
    }
}
