//! Why a text is no YAML: what the parser says, at a place and in words that help.

use granit_parser::{ErrorKind, ScanError};

use super::fault::{Fault, Span};
use super::yaml::{DEPTH_MAX, place};

/// What is wrong with a text that the parser gave up on.
pub(super) fn fault(source: &str, error: &ScanError) -> Fault {
    tabbed(source, error).unwrap_or_else(|| unreadable(error))
}

/// A tab among the blanks that a line begins with, where reading went wrong: the parser tells of the line before.
fn tabbed(source: &str, error: &ScanError) -> Option<Fault> {
    let from = error.marker().line().saturating_sub(1);
    let mut start: usize = source.split_inclusive('\n').take(from).map(str::len).sum();
    for (number, line) in source.split_inclusive('\n').enumerate().skip(from).take(2) {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tab = line.get(..indent).unwrap_or_default().find('\t');
        if let Some(tab) = tab {
            let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            let at = start + tab;
            let span = Span { start: at, end: at + 1, line: small(number + 1), column: small(tab + 1) };
            return Some(
                Fault::error("the file is not YAML: a tab indents this line").at(span).help("indent with spaces"),
            );
        }
        start += line.len();
    }
    None
}

fn unreadable(error: &ScanError) -> Fault {
    let marker = *error.marker();
    let info = error.info();
    let fault = match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(),
        ErrorKind::UnexpectedCharacter { character: '\0' } => {
            Fault::error("the file is not YAML: it ends within a value").help("is a quote or a bracket never closed?")
        }
        _ => Fault::error(format!("the file is not YAML: {}", info.trim_end_matches('.').replace('\n', " "))),
    };
    let indented = info.contains("mapping values are not allowed");
    let help = "is the line indented too far, or does the value before hold `: ` without quotes?";
    let flow = info.contains("parsing a flow ");
    let quote = "quote values that have braces, brackets or commas: `\"src/{path}.py\"`";
    let help = indented.then_some(help).or(flow.then_some(quote));
    fault.help_if(help.map(str::to_owned)).at(place(marker, marker))
}

pub(super) fn too_deep() -> Fault {
    Fault::error(format!("lists and maps are nested deeper than {DEPTH_MAX}"))
}
