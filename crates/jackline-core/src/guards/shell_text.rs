//! Shell texts that cannot be looked into, where a policy wants to; and programs that wait for what they do, where what
//! an agent writes to them stays unseen; and texts that leave a terminal otherwise than we shall take it to be.

use super::{Context, observed};
use crate::code;
use crate::decision::{Finding, Verdict};
use crate::definition::model::Opaque;
use crate::hosts::{keeps_terminal, writes_unseen};
use crate::shell::{Dir, Reading, ShellText};
use crate::stack::Layer;
use crate::tools::{Language, Tool};

pub(crate) fn judge(context: &Context<'_>) -> Vec<Finding> {
    let Some(text) = &context.view.shell else { return Vec::new() };
    let layers = || context.stack.layers.iter();
    // Self-protection needs no policy, and this is a way around it. What is not known may wait as well.
    let unseen = writes_unseen(context.event.host.as_deref());
    let kept = keeps_terminal(context.event.host.as_deref());
    // In a terminal that is kept, the next command goes to whoever waits there.
    let waits = layers().filter(|_| unseen || kept).filter_map(|layer| Some((waiting(text, layer)?, layer)));
    let texts = layers().filter(|layer| layer.looks_inside() || unseen && !layer.is_pack());
    let texts = texts.filter_map(|layer| Some((judge_text(text, layer, context.view.row)?, layer)));
    let left = layers().filter(|_| kept).filter_map(|layer| Some((left_behind(context, text, layer)?, layer)));
    waits.chain(texts).chain(left).map(|(finding, layer)| observed(finding, layer)).collect()
}

/// Every command is judged as if it began where its message says, with every name as it is.
fn left_behind(context: &Context<'_>, text: &ShellText, layer: &Layer) -> Option<Finding> {
    let ShellText::Reading(Reading { leaves: Some(left), .. }) = text else { return None };
    let here = context.event.cwd.as_deref();
    let plain = |place: &str| place.strip_suffix("/.").unwrap_or(place).trim_end_matches('/').to_owned();
    let is_here = |dir: &Dir| matches!(dir, Dir::At(place) if Some(plain(place).as_str()) == here);
    let what = match left.dirs.iter().all(is_here) {
        false => "another directory",
        true if left.names => "another meaning of a name",
        true => return None,
    };
    let reason = format!("This shell text leaves {what} in the terminal, where the next command runs.");
    let finding = Finding::deny("shell", code::SHELL_LEFT_BEHIND, reason).verdict(unknowable(layer)?);
    Some(finding.suggest("put it into parentheses, as in `(cd dir && command)`"))
}

fn waiting(text: &ShellText, layer: &Layer) -> Option<Finding> {
    let ShellText::Reading(Reading { waits: Some(program), .. }) = text else { return None };
    let reason = format!("`{program}` waits for what it shall do, and what is written to it later is not seen.");
    let finding = Finding::deny("shell", code::SHELL_INTERACTIVE, reason).verdict(unknowable(layer)?);
    Some(finding.suggest("give it what it shall do as arguments or in a file, in one command"))
}

/// What becomes of something that cannot be known beforehand.
fn unknowable(layer: &Layer) -> Option<Verdict> {
    match layer.model.shell.opaque {
        Opaque::Allow => None,
        Opaque::Ask => Some(Verdict::Ask),
        Opaque::Deny => Some(Verdict::Deny),
    }
}

fn judge_text(text: &ShellText, layer: &Layer, row: Option<&Tool>) -> Option<Finding> {
    match text {
        ShellText::Unparsable(why) => Some(unparsable("shell", why, row)),
        ShellText::Reading(reading) => opaque(reading.opaque.as_deref()?, layer),
    }
}

/// A text that cannot be parsed, as this guard sees it. One in another language is not to be written more simply.
pub(super) fn unparsable(guard: &str, why: &str, row: Option<&Tool>) -> Finding {
    if let Some(Language { name, instead }) = row.and_then(|row| row.language) {
        let reason = format!("This text is in {name}, which is not read: what it does cannot be told.");
        return Finding::deny(guard, code::SHELL_UNPARSABLE, reason).suggest(format!("use the `{instead}` tool"));
    }
    let reason = format!("This shell text cannot be parsed ({why}); write it more simply.");
    Finding::deny(guard, code::SHELL_UNPARSABLE, reason).suggest("write it as one or several plain commands")
}

fn opaque(why: &str, layer: &Layer) -> Option<Finding> {
    let verdict = unknowable(layer)?;
    let reason = format!("What this shell text runs cannot be known beforehand ({why}).");
    let finding = Finding::deny("shell", code::SHELL_OPAQUE, reason).verdict(verdict);
    Some(finding.suggest("name the program literally, or run the steps one by one"))
}
