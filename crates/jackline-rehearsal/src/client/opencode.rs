//! OpenCode: its settings in a variable, so that the user's and the project's hold only what is rehearsed.

use std::io;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{Client, KEY, MODEL, Play, Scripted};
use crate::model::Model;
use crate::stage::Stage;

/// Nothing but the model is asked for.
const SWITCHES: &[&str] =
    &["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"];

/// One installed version.
#[derive(Debug, Clone)]
pub struct OpenCode(pub Scripted);

impl Client for OpenCode {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        // It fetches types for plugins into every directory of settings, and goes on without them.
        stage.write("home/.npmrc", "offline=true\nfetch-retries=0\n")?;
        let mut command =
            if play.then.is_empty() { self.0.command(stage, model) } else { self.staying(stage, model, play)? };
        command.env("OPENCODE_CONFIG_CONTENT", settings(model, play).to_string());
        command.envs(SWITCHES.iter().map(|name| (name, "1")));
        if play.then.is_empty() {
            command.args(["run", "--format", "json", "--auto"]);
            self.0.extend(&mut command, play);
            command.arg(&play.prompt);
        } else {
            self.0.extend(&mut command, play);
        }
        Ok(command)
    }

    fn stays(&self) -> bool {
        true
    }
}

impl OpenCode {
    /// A server, and what says the prompts to it.
    fn staying(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        stage.write("serve.mjs", include_str!("opencode.mjs"))?;
        let node = Scripted { program: self.0.node.join("node"), ..self.0.clone() };
        let mut command = node.command(stage, model);
        let prompts: Vec<&String> = std::iter::once(&play.prompt).chain(&play.then).collect();
        command.arg(stage.top().join("serve.mjs")).arg(&self.0.program).arg(json!(prompts).to_string());
        Ok(command)
    }
}

fn settings(model: &Model, play: &Play) -> Value {
    let name = format!("{MODEL}/{MODEL}");
    let servers = play.servers.iter().map(|(name, url)| (name.clone(), json!({"type": "remote", "url": url})));
    // Nobody is there to approve anything; `opencode run` is told so by an option.
    let permission = if play.then.is_empty() { json!({}) } else { json!({"*": "allow"}) };
    json!({
        "provider": {MODEL: {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{}/v1", model.url()), "apiKey": KEY},
            "models": {MODEL: {"name": MODEL}},
        }},
        "model": name, "small_model": name, "enabled_providers": [MODEL],
        "autoupdate": false, "share": "disabled", "snapshot": false,
        "permission": permission,
        "mcp": servers.collect::<Map<_, _>>(),
    })
}
