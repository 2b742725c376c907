//! Gemini CLI: its settings beside what the user's hold already, because it takes no others from a directory that is not
//! the administrator's.

use std::io;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::{Client, KEY, Play, Scripted};
use crate::model::Model;
use crate::stage::Stage;

/// A model that the client knows: for any other it asks around first.
const KNOWN_MODEL: &str = "gemini-2.5-flash";

/// The user's settings, below the stage.
const SETTINGS: &str = "home/.gemini/settings.json";

/// One installed version.
#[derive(Debug, Clone)]
pub struct Gemini(pub Scripted);

impl Client for Gemini {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        let held = stage.read(SETTINGS).and_then(|text| serde_json::from_str(&text).ok());
        let mut all: Map<String, Value> = held.unwrap_or_default();
        all.extend(settings(play));
        stage.write(SETTINGS, &Value::Object(all).to_string())?;
        let mut command = self.0.command(stage, model);
        command.env("GEMINI_API_KEY", KEY).env("GOOGLE_GEMINI_BASE_URL", model.url());
        command.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        command.args(["-m", KNOWN_MODEL, "--approval-mode", "yolo", "-o", "stream-json", "-p", &play.prompt]);
        self.0.extend(&mut command, play);
        Ok(command)
    }
}

fn settings(play: &Play) -> Map<String, Value> {
    let servers = play.servers.iter().map(|(name, url)| (name.clone(), json!({"httpUrl": url, "trust": true})));
    let settings = [
        ("security", json!({"auth": {"selectedType": "gemini-api-key"}})),
        ("privacy", json!({"usageStatisticsEnabled": false})),
        ("telemetry", json!({"enabled": false})),
        ("general", json!({"disableAutoUpdate": true, "enableAutoUpdate": false})),
        ("mcpServers", servers.collect::<Map<_, _>>().into()),
    ];
    settings.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
}
