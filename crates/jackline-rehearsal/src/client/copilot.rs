//! Copilot CLI: offline, with a model of one's own, all of it in variables.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, json};

use super::{Client, KEY, MODEL, Play, Scripted};
use crate::model::Model;
use crate::stage::Stage;

/// One installed version.
#[derive(Debug, Clone)]
pub struct Copilot {
    pub program: Scripted,
    /// Where it unpacks itself at its first start.
    pub cache: PathBuf,
}

impl Client for Copilot {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        let mut command = self.program.command(stage, model);
        command.env("XDG_CACHE_HOME", &self.cache);
        command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
        command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url()));
        command.env("COPILOT_PROVIDER_API_KEY", KEY).env("COPILOT_MODEL", MODEL);
        command.args(["--output-format", "json", "--no-auto-update", "--allow-all-tools", "--allow-all-paths"]);
        if !play.servers.is_empty() {
            command.args(["--additional-mcp-config", &servers(play)]);
        }
        command.args(["-p", &play.prompt]);
        self.program.extend(&mut command, play);
        Ok(command)
    }
}

fn servers(play: &Play) -> String {
    let named =
        play.servers.iter().map(|(name, url)| (name.clone(), json!({"type": "http", "url": url, "tools": ["*"]})));
    json!({"mcpServers": named.collect::<Map<_, _>>()}).to_string()
}
