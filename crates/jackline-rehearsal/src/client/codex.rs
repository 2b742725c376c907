//! Codex: all settings on the command line, so that its files hold only what is rehearsed.

use std::io;
use std::process::Command;

use super::{Client, KEY, MODEL, Play, Scripted};
use crate::model::Model;
use crate::stage::Stage;

/// One installed version.
#[derive(Debug, Clone)]
pub struct Codex(pub Scripted);

impl Client for Codex {
    fn command(&self, stage: &Stage, model: &Model, play: &Play) -> io::Result<Command> {
        let mut command = self.0.command(stage, model);
        command.env("SCRIPTED_KEY", KEY).args(["exec", "--json"]);
        let provider = format!(
            "model_providers.{MODEL}={{name=\"{MODEL}\",base_url=\"{}/v1\",wire_api=\"responses\",\
             env_key=\"SCRIPTED_KEY\",request_max_retries=0,stream_max_retries=0}}",
            model.url()
        );
        let trusted = format!("projects={{\"{}\"={{trust_level=\"trusted\"}}}}", stage.repo().display());
        for setting in [
            &format!("model=\"{}\"", play.model.as_deref().unwrap_or(MODEL)),
            &format!("model_provider=\"{MODEL}\""),
            &provider,
            &trusted,
            "approval_policy=\"never\"",
            "sandbox_mode=\"danger-full-access\"",
            // Nothing but the model is asked for: no updates, no catalogues of plugins, no remote services.
            "analytics.enabled=false",
            "check_for_update_on_startup=false",
            "features.plugins=false",
            "features.remote_plugin=false",
            "features.apps=false",
        ] {
            command.args(["-c", setting]);
        }
        for (name, url) in &play.servers {
            command.args(["-c", &format!("mcp_servers.{name}.url=\"{url}\"")]);
        }
        self.0.extend(&mut command, play);
        command.arg(&play.prompt);
        Ok(command)
    }
}
