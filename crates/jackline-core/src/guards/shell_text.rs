//! Shell texts that cannot be looked into, where a policy wants to.

use super::{Context, observed};
use crate::code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::Opaque;
use crate::shell::ShellText;
use crate::stack::Layer;

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let Some(text) = &context.view.shell else { return Vec::new() };
    let layers = context.stack.layers.iter().filter(|layer| layer.looks_inside());
    layers.filter_map(|layer| judge_text(text, layer).map(|finding| observed(finding, layer))).collect()
}

fn judge_text(text: &ShellText, layer: &Layer) -> Option<Finding> {
    match text {
        ShellText::Unparsable(why) => {
            let reason = format!("This shell text cannot be parsed ({why}); write it more simply.");
            Some(
                Finding::deny("shell", code::SHELL_UNPARSABLE, reason)
                    .suggest("write it as one or several plain commands"),
            )
        }
        ShellText::Reading(reading) => opaque(reading.opaque.as_deref()?, layer),
    }
}

fn opaque(why: &str, layer: &Layer) -> Option<Finding> {
    let verdict = match layer.model.shell.opaque {
        Opaque::Allow => return None,
        Opaque::Ask => Verdict::Ask,
        Opaque::Deny => Verdict::Deny,
    };
    let reason = format!("What this shell text runs cannot be known beforehand ({why}).");
    let finding = Finding::deny("shell", code::SHELL_OPAQUE, reason).verdict(verdict);
    Some(finding.suggest("name the program literally, or run the steps one by one"))
}
