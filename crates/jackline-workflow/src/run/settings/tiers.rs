//! Who looks at answers: judges, critics, and whoever scores. All of them optional.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::AgentSettings;
use crate::respondent::Respondent;
use crate::run::command::Command;
use crate::run::model::{Means, ModelAgent};
use crate::run::worker::Worker;
use crate::{critique, evaluation, judge};

/// Who looks at answers.
#[derive(Debug, Default)]
pub(crate) struct Tiers {
    pub(crate) judge: Option<(judge::Settings, Named)>,
    /// Without a critic no answer has a score.
    pub(crate) critique: Option<(critique::Settings, Option<Named>)>,
    /// Without a judge rubrics have no score.
    pub(crate) evaluation: Option<(evaluation::Settings, Option<Named>)>,
}

/// Somebody who can be asked.
#[derive(Debug)]
pub(crate) enum Named {
    /// An agent of the workflow.
    Agent(String),
    Own(Box<dyn Worker>),
}

impl Named {
    /// Who answers, and what it is called.
    pub(crate) fn worker<'a>(
        &'a self,
        agents: &'a BTreeMap<String, AgentSettings>,
    ) -> Option<(&'a str, &'a dyn Worker)> {
        match self {
            Self::Agent(name) => Some((name, agents.get(name)?.worker.as_deref().ok()?)),
            Self::Own(worker) => Some(("", worker.as_ref())),
        }
    }

    fn of(
        respondent: &Respondent,
        agents: &BTreeMap<String, AgentSettings>,
        means: &Means<'_>,
    ) -> Result<Self, String> {
        match respondent {
            Respondent::Agent(name) => match agents.get(name).map(|agent| (&agent.worker, agent.speaks_json)) {
                None => Err(format!("names the agent `{name}`, which has no file that could be run")),
                Some((Err(why), _)) => Err(format!("names the agent `{name}`, which {why}")),
                Some((_, false)) => Err(format!("names the agent `{name}`, which answers with a text instead of JSON")),
                Some((Ok(_), true)) => Ok(Self::Agent(name.clone())),
            },
            Respondent::Command(words) => {
                let command = Command::of(&json!({"runtime": {"command": words}}));
                command.map(|command| Self::Own(Box::new(command))).ok_or_else(|| "names no command".to_owned())
            }
            Respondent::Model(model) => {
                let model = ModelAgent::of(model, (String::new(), None), means);
                model.map(|model| Self::Own(Box::new(model))).map_err(|why| format!("cannot be asked: {why}"))
            }
        }
    }
}

impl Tiers {
    pub(super) fn read(
        root: &Value,
        agents: &BTreeMap<String, AgentSettings>,
        means: &Means<'_>,
        out: &mut Vec<String>,
    ) -> Self {
        let mut named = |what: &str, respondent: Option<&Respondent>| {
            let named = Named::of(respondent?, agents, means);
            named.map_err(|why| out.push(format!("`{what}` {why}"))).ok()
        };
        let Read { judging, critique, scoring } = Read::of(root);
        let judge = judging
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .and_then(|settings| Some((settings.clone(), named("validation.llm.judge", Some(&settings.judge))?)));
        let criticise = critique
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map(|settings| (settings.clone(), named("critique.critic", settings.critic.as_ref())));
        let evaluation = scoring
            .as_ref()
            .ok()
            .and_then(Option::as_ref)
            .map(|settings| (settings.clone(), named("evaluation.rubric_judge", settings.judge.as_ref())));
        out.extend([judging.err(), critique.err(), scoring.err()].into_iter().flatten());
        Self { judge, critique: criticise, evaluation }
    }
}

/// The three sections as they are read, or why they cannot be.
struct Read {
    judging: Result<Option<judge::Settings>, String>,
    critique: Result<Option<critique::Settings>, String>,
    scoring: Result<Option<evaluation::Settings>, String>,
}

impl Read {
    fn of(root: &Value) -> Self {
        let section = |pointers: &[&str]| {
            let found = pointers.iter().find_map(|pointer| root.pointer(pointer));
            found.cloned().unwrap_or_else(|| json!({}))
        };
        let judging = section(&["/orchestration/delegation_loop/validation/llm", "/orchestration/validation/llm"]);
        let critique = section(&["/orchestration/delegation_loop/critique"]);
        let scoring = section(&["/observability/evaluation"]);
        Self {
            judging: judge::Settings::read(&judging).map_err(|fault| fault.to_string()),
            critique: critique::Settings::read(&critique).map_err(|fault| fault.to_string()),
            scoring: evaluation::Settings::read(&scoring).map_err(|fault| fault.to_string()),
        }
    }
}

/// What a run would refuse about who looks at answers, as far as the manifest and the names of agents tell.
pub(super) fn unusable(root: &Value, agents: &[&str]) -> Vec<String> {
    let Read { judging, critique, scoring } = Read::of(root);
    let named = [
        ("validation.llm.judge", judging.as_ref().ok().and_then(|read| Some(&read.as_ref()?.judge))),
        ("critique.critic", critique.as_ref().ok().and_then(|read| read.as_ref()?.critic.as_ref())),
        ("evaluation.rubric_judge", scoring.as_ref().ok().and_then(|read| read.as_ref()?.judge.as_ref())),
    ];
    let nobody = named.into_iter().filter_map(|(what, named)| match named {
        Some(Respondent::Agent(name)) if !agents.contains(&name.as_str()) => {
            Some(format!("`{what}` names the agent `{name}`, which has no file"))
        }
        _ => None,
    });
    let nobody: Vec<String> = nobody.collect();
    [judging.err(), critique.err(), scoring.err()].into_iter().flatten().chain(nobody).collect()
}
