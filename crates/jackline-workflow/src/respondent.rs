//! Who is asked, as a workflow's files name it: an agent of the workflow, a command, or a model.

use serde_json::{Map, Value};

/// Whoever is named to judge, to criticise or to score.
#[derive(Debug, Clone, PartialEq)]
pub enum Respondent {
    /// An agent of the workflow, by its name: its own file says how it is asked.
    Agent(String),
    /// The words of a command.
    Command(Vec<String>),
    /// A model, as an agent's `model` names it.
    Model(Value),
}

/// Why nobody is named by what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unnamed {
    #[error("`{0}` must be the name of an agent, or a map with `command` or with a model's `provider` and `name`")]
    Shape(String),
    #[error("`{0}.command` must be a list of at least one text")]
    Command(String),
}

impl Respondent {
    /// Reads who is named under the first of these keys that a section has; none where it has none of them.
    ///
    /// # Errors
    /// When something stands there and names nobody.
    pub fn read(section: &Value, keys: &[&str]) -> Result<Option<Self>, Unnamed> {
        let Some((key, value)) = keys.iter().find_map(|key| Some((*key, section.get(key).filter(|it| !it.is_null())?)))
        else {
            return Ok(None);
        };
        match value {
            Value::String(agent) if !agent.trim().is_empty() => Ok(Some(Self::Agent(agent.trim().to_owned()))),
            Value::Object(members) => Self::of(key, members).map(Some),
            _ => Err(Unnamed::Shape(key.to_owned())),
        }
    }

    fn of(key: &str, members: &Map<String, Value>) -> Result<Self, Unnamed> {
        if let Some(command) = members.get("command") {
            let words = command.as_array().filter(|words| !words.is_empty());
            let words = words.and_then(|words| words.iter().map(|word| word.as_str().map(str::to_owned)).collect());
            return words.map(Self::Command).ok_or_else(|| Unnamed::Command(key.to_owned()));
        }
        if members.contains_key("provider") {
            return Ok(Self::Model(Value::Object(members.clone())));
        }
        Err(Unnamed::Shape(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(section: &Value, want: Result<Option<Respondent>, &str>) {
        let read = Respondent::read(section, &["judge", "model"]);
        assert_eq!(read.map_err(|fault| fault.to_string()), want.map_err(str::to_owned), "{section}");
    }

    #[test]
    fn agents_commands_and_models_are_named() {
        check(&json!({}), Ok(None));
        check(&json!({"judge": null, "model": "critic"}), Ok(Some(Respondent::Agent("critic".to_owned()))));
        let words = ["sh", "judge.sh"].map(str::to_owned).to_vec();
        check(&json!({"judge": {"command": ["sh", "judge.sh"]}}), Ok(Some(Respondent::Command(words))));
        let model = json!({"provider": "openai", "name": "m"});
        check(&json!({ "model": model }), Ok(Some(Respondent::Model(model))));
    }

    #[test]
    fn what_names_nobody_is_a_fault() {
        let shape =
            "`judge` must be the name of an agent, or a map with `command` or with a model's `provider` and `name`";
        for judge in [json!(1), json!(""), json!([]), json!({}), json!({"name": "m"})] {
            check(&json!({ "judge": judge }), Err(shape));
        }
        for command in [json!([]), json!("sh"), json!([1])] {
            let fault = "`judge.command` must be a list of at least one text";
            check(&json!({"judge": {"command": command}}), Err(fault));
        }
    }
}
