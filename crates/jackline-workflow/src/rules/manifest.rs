//! R1 and R2: what the manifest says of itself.

use jackline_core::definition::fault::quoted;
use jackline_core::definition::yaml::{Node, Value};
use jackline_core::definition::{Fault, Span, found};

use super::{MANIFEST, Rule, agents, manifest_part, wrong};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::{at, entry_at};
use crate::semver;

/// Names of workflows.
pub const WORKFLOW_NAME: &str = "^[a-z][a-z0-9_-]{0,62}[a-z0-9]$";
/// Characters of a workflow's name: it is part of paths and addresses.
const NAME_CHARS_MAX: usize = 64;

pub(super) static VERSION: Rule = Rule {
    id: "R1",
    level: Level::Error,
    category: "Manifest",
    summary: "`awp` is a semantic version",
    text: "`awp` in `workflow.awp.yaml` is a text that follows the grammar of Semantic Versioning 2.0.0: three numbers \
without leading zeros, then perhaps a pre-release after `-` and a build after `+`. In YAML it needs no quotes as soon as it \
has two dots; `1.0` without them is a number.

Other versions (`workflow.version`, `awp_agent`, `identity.version`) that do not follow the grammar are warnings.",
    good: manifest_part("awp: \"1.0.0\"\n"),
    bad: manifest_part("awp: \"1.0\"          # the patch version is missing\n"),
    check: version,
};

pub(super) static NAME: Rule = Rule {
    id: "R2",
    level: Level::Error,
    category: "Manifest",
    summary: "The workflow's name is well-formed",
    text: "`workflow.name` matches `^[a-z][a-z0-9_-]{0,62}[a-z0-9]$`: 2 to 64 lowercase letters, digits, `-` and `_`, \
beginning with a letter and ending with a letter or digit.",
    good: manifest_part("workflow:\n  name: research-and-write\n"),
    bad: manifest_part("workflow:\n  name: Research-And-Write   # capitals\n"),
    check: name,
};

/// The place of something that is missing in a map: its beginning.
pub(super) const fn start(node: &Node) -> Span {
    Span { end: node.span.start, ..node.span }
}

fn version(flow: &Workflow, out: &mut Found) {
    if let Some(manifest) = flow.manifest() {
        match manifest.root.get("awp") {
            Some(node) => out_if(out, MANIFEST, no_version("awp", node)),
            None => {
                let fault = Fault::error("`awp` is missing").at(start(manifest.root));
                out.put(MANIFEST, fault.help("begin the file with `awp: \"1.0.0\"`"));
            }
        }
        warn(out, MANIFEST, "version", at(manifest.root, &["workflow", "version"]));
    }
    for (agent, config) in agents(flow) {
        warn(out, agent.file, "awp_agent", config.root.get("awp_agent"));
        warn(out, agent.file, "version", at(config.root, &["identity", "version"]));
    }
}

pub(super) fn out_if(out: &mut Found, file: usize, fault: Option<Fault>) {
    if let Some(fault) = fault {
        out.put(file, fault);
    }
}

fn no_version(label: &str, node: &Node) -> Option<Fault> {
    let Some(text) = node.text() else {
        let near = semver::nearest(&found(node)).map(|near| format!("write `\"{near}\"`"));
        return wrong(label, "a text such as `1.0.0`", node).map(|fault| fault.help_if(near));
    };
    if semver::is_version(text) {
        return None;
    }
    let message = format!("`{label}` must be a semantic version, found {}", quoted(text));
    let help =
        semver::nearest(text).map_or_else(|| "a version is like `1.0.0`".to_owned(), |near| format!("write `{near}`"));
    Some(Fault::error(message).at(node.span).help(help))
}

fn warn(out: &mut Found, file: usize, label: &str, node: Option<&Node>) {
    if let Some(fault) = node.filter(|node| node.value != Value::Null).and_then(|node| no_version(label, node)) {
        out.put(file, Fault { warning: true, ..fault });
    }
}

fn name(flow: &Workflow, out: &mut Found) {
    let Some(manifest) = flow.manifest() else { return };
    let Some(node) = at(manifest.root, &["workflow", "name"]) else {
        let place = entry_at(manifest.root, &["workflow"]).map_or_else(|| start(manifest.root), |entry| entry.key_span);
        out.put(
            MANIFEST,
            Fault::error("`workflow.name` is missing").at(place).help("name it, such as `name: my-workflow`"),
        );
        return;
    };
    let Some(text) = node.text() else { return out_if(out, MANIFEST, wrong("name", "a text", node)) };
    if let Some((why, help)) = misnamed(text, NAME_CHARS_MAX, "-_") {
        out.put(
            MANIFEST,
            Fault::error(format!("the workflow's name {} {why}", quoted(text))).at(node.span).help_if(help),
        );
    }
}

/// What is wrong with a name of lowercase letters, digits and `marks`, and what to write instead.
pub(super) fn misnamed(text: &str, chars_max: usize, marks: &str) -> Option<(String, Option<String>)> {
    let letter = |c: char| c.is_ascii_lowercase();
    let plain = |c: char| letter(c) || c.is_ascii_digit();
    let count = text.chars().count();
    let mended = || mended(text, marks).filter(|name| name.chars().count() <= chars_max && !text.contains("{{"));
    let help = || mended().map(|name| format!("write `{name}`"));
    if let Some(odd) = text.chars().find(|c| !plain(*c) && !marks.contains(*c)) {
        let why = if odd.is_ascii_uppercase() {
            "has capitals".to_owned()
        } else {
            format!("must not contain {}", quoted(&odd.to_string()))
        };
        return Some((why, help()));
    }
    if !text.starts_with(letter) {
        return Some(("must begin with a letter".to_owned(), None));
    }
    if count < 2 || count > chars_max {
        return Some((format!("must have 2 to {chars_max} characters, it has {count}"), None));
    }
    (!text.ends_with(plain)).then(|| ("must end with a letter or digit".to_owned(), help()))
}

/// The nearest name that is well-formed.
fn mended(text: &str, marks: &str) -> Option<String> {
    let mark = marks.chars().next()?;
    let swap = |c: char| if c.is_ascii_alphanumeric() || marks.contains(c) { c.to_ascii_lowercase() } else { mark };
    if text.chars().any(|c| c.is_alphabetic() && !c.is_ascii()) {
        return None;
    }
    let name: String = text.chars().map(swap).collect();
    let name = name.trim_matches(|c: char| marks.contains(c)).to_owned();
    misnamed_plainly(&name, marks).then_some(name)
}

fn misnamed_plainly(name: &str, marks: &str) -> bool {
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with(|c: char| marks.contains(c))
}
