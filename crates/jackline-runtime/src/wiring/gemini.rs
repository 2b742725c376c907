//! Gemini CLI's hooks: which events ask us, and what of its settings would leave a session unguarded.

use serde_json::Value;

use super::hooks::{Form, HookEvent, NO_STARTUP_FILES, Survey};
use super::shield::Shield;

/// Every event that asks us. `PreCompress` comes before every turn of the model and says nothing.
const EVENTS: [HookEvent; 6] = [
    HookEvent::gate("BeforeTool"),
    HookEvent::other("AfterTool"),
    HookEvent::other("BeforeAgent"),
    HookEvent::other("SessionStart"),
    HookEvent::other("SessionEnd"),
    HookEvent::stop("AfterAgent"),
];

/// How its settings name hooks; it waits so many milliseconds.
pub const FORM: Form = Form {
    named: true,
    shield: Some(Shield::Plain),
    env: NO_STARTUP_FILES,
    timeout: ("timeout", 1000),
    comments: true,
    beside,
    ..Form::usual("gemini", &EVENTS)
};

/// Hooks can be switched off as a whole, or by their names.
fn beside(settings: &Value, survey: &mut Survey) {
    let config = settings.get("hooksConfig");
    let off = config.and_then(|config| config.get("enabled")).is_some_and(|enabled| *enabled != Value::Bool(true));
    let named = config.and_then(|config| config.get("disabled")).and_then(Value::as_array);
    let ours = named.into_iter().flatten().any(|name| name.as_str().is_none_or(|name| name.contains("jackline")));
    if off {
        survey.switched_off = Some("hooksConfig.enabled");
    } else if ours {
        survey.switched_off = Some("hooksConfig.disabled");
    }
}
