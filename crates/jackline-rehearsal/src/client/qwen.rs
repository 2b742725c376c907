//! Qwen Code: its settings as the machine's, so that the user's and the project's hold only what is rehearsed.

use std::io;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{Client, KEY, MODEL, Play, Scripted};
use crate::model::Model;
use crate::stage::Stage;

/// One installed version.
#[derive(Debug, Clone)]
pub struct Qwen(pub Scripted);

impl Client for Qwen {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        stage.write("qwen.json", &settings(play).to_string())?;
        let mut command = self.0.command(stage, model);
        command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", format!("{}/v1", model.url()));
        command.env("OPENAI_MODEL", MODEL).env("QWEN_CODE_NO_RELAUNCH", "true");
        command.env("QWEN_CODE_SYSTEM_SETTINGS_PATH", stage.top().join("qwen.json"));
        command.args(["--auth-type", "openai", "-m", MODEL, "--approval-mode", "yolo", "-o", "stream-json"]);
        command.args(["-p", &play.prompt]);
        self.0.extend(&mut command, play);
        Ok(command)
    }
}

fn settings(play: &Play) -> Value {
    let servers = play.servers.iter().map(|(name, url)| (name.clone(), json!({"httpUrl": url, "trust": true})));
    json!({
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
        // It would ask the model in the background, and use up turns.
        "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
        "mcpServers": servers.collect::<Map<_, _>>(),
    })
}
