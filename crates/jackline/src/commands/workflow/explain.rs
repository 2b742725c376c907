//! `jackline workflow explain`: a rule with its reasons and examples.

use jackline_workflow::report;
use jackline_workflow::rules::{self, RULES};

use crate::error::CommandError;
use crate::screen;

/// Explain a rule, with a good and a bad example; without one, list them all
#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The rule, such as R6
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), CommandError> {
        let Some(id) = &self.rule else {
            let row = |rule: &&rules::Rule| format!("{:<4}  {:<7}  {}\n", rule.id, rule.level.name(), rule.summary);
            return Ok(screen::show(&RULES.iter().map(row).collect::<String>())?);
        };
        let rule = rules::find(id).ok_or_else(|| {
            CommandError::input(format!("there is no rule `{id}`")).hint("rules are R1 to R32, and `load`")
        })?;
        Ok(screen::show(&report::explain(rule))?)
    }
}
