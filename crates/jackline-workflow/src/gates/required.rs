//! Which deliverables a plan declares, and where each of them belongs.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Run;
use super::run::Subtask;

/// Deliverables that are looked at: no plan that people read has more.
pub(super) const DELIVERABLES_MAX: usize = 1_000;
/// Characters of a path in a sentence: what file systems take at most.
const PATH_CHARS_MAX: usize = 4_096;
/// Words that a path in a sentence begins behind.
const ANCHORS: &[(&str, Root)] = &[("_output_dir", Root::Output), ("_workspace_dir", Root::Workspace)];

/// Begins paths that belong to the workspace, where nothing else says so.
const INPUTS: &str = "inputs/";

/// Where deliverables were declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    RequiredOutputs,
    /// In the words of the success criteria, the description or the task.
    SuccessCriteria,
}

impl Source {
    /// Its name in events.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RequiredOutputs => "required_outputs",
            Self::SuccessCriteria => "success_criteria",
        }
    }
}

/// One of the run's directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    Output,
    Workspace,
}

/// A deliverable as it was declared, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deliverable {
    pub(super) declared: String,
    pub(super) root: Root,
    /// Its path in that directory; `None` when it names no place inside.
    pub(super) path: Option<String>,
    /// Whether it is a name at all.
    pub(super) named: bool,
}

/// The deliverables that a run declares. The first source that names any counts, and what repairs ask for beside it.
pub(super) fn of(run: &Run) -> Option<(Source, Vec<Deliverable>)> {
    let (repairs, planned): (Vec<&Subtask>, Vec<&Subtask>) =
        run.plan.subtasks.iter().partition(|subtask| subtask.repair);
    let repaired = || repairs.iter().flat_map(|subtask| listed(run, subtask));
    // One more than are looked at, so that too many are noticed.
    let with_repairs = |source, found: Vec<Deliverable>| {
        (source, unique(found.into_iter().chain(repaired()).take(DELIVERABLES_MAX + 1).collect()))
    };
    let listed: Vec<Deliverable> = planned.iter().flat_map(|subtask| listed(run, subtask)).collect();
    if !listed.is_empty() {
        return Some(with_repairs(Source::RequiredOutputs, listed));
    }
    // INVARIANT: a repair is ours and asks for what was missed. It takes away nothing that the plan declares in its words.
    let criteria = planned.iter().flat_map(|subtask| texts(&subtask.success_criteria));
    let descriptions = planned.iter().flat_map(|subtask| texts(&subtask.description));
    let said = criteria.chain(descriptions).chain([run.task.as_str()]);
    let scraped: Vec<Deliverable> = said.flat_map(scraped).take(DELIVERABLES_MAX + 1).collect();
    let source = if scraped.is_empty() { Source::RequiredOutputs } else { Source::SuccessCriteria };
    Some(with_repairs(source, scraped)).filter(|(_, found)| !found.is_empty())
}

fn unique(found: Vec<Deliverable>) -> Vec<Deliverable> {
    let mut unique: Vec<Deliverable> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for deliverable in found {
        if seen.insert((deliverable.root, deliverable.path.clone(), deliverable.declared.clone())) {
            unique.push(deliverable);
        }
    }
    unique
}

/// A text, or the texts of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let one = value.as_str();
    let many = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many)
}

fn listed<'a>(run: &'a Run, subtask: &'a Subtask) -> impl Iterator<Item = Deliverable> + 'a {
    let items = match &subtask.required_outputs {
        Value::Null => &[][..],
        Value::Array(items) => items,
        other => std::slice::from_ref(other),
    };
    items.iter().map(|item| declared(run, item))
}

/// An entry of `required_outputs`. One that is no text names no place, and so cannot be there.
fn declared(run: &Run, item: &Value) -> Deliverable {
    let Some(text) = item.as_str() else {
        return Deliverable { declared: item.to_string(), root: Root::Output, path: None, named: false };
    };
    let text = text.trim();
    let anchored = ANCHORS.iter().find_map(|(anchor, root)| Some((text.strip_prefix(anchor)?, *root)));
    let inside = |dir: &Option<String>| text.strip_prefix(dir.as_deref()?.trim_end_matches('/'))?.strip_prefix('/');
    let (rest, root) = anchored
        .or_else(|| inside(&run.output_dir).map(|rest| (rest, Root::Output)))
        .or_else(|| inside(&run.workspace_dir).map(|rest| (rest, Root::Workspace)))
        .unwrap_or_else(|| (text, if text.starts_with(INPUTS) { Root::Workspace } else { Root::Output }));
    Deliverable { declared: text.to_owned(), root, path: within(rest), named: !text.is_empty() }
}

/// A path inside a directory, without ways out.
fn within(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let fine = !parts.is_empty() && !parts.contains(&"..") && !path.contains('\0') && !path.contains('\\');
    fine.then(|| parts.join("/"))
}

/// Paths that a sentence names behind an anchor: `_output_dir/report.md`, `_output_dir + '/report.md'`.
fn scraped(text: &str) -> Vec<Deliverable> {
    let mut found = Vec::new();
    for (anchor, root) in ANCHORS {
        for (at, _) in text.match_indices(anchor).take(DELIVERABLES_MAX + 1) {
            let behind = text.get(at + anchor.len()..).unwrap_or_default();
            if let Some(path) = path_behind(behind) {
                // What would be looked for elsewhere says where it belongs: a repair names it as it is declared.
                let plain = *root == Root::Output && !path.starts_with(INPUTS);
                let declared = if plain { path.to_owned() } else { format!("{anchor}/{path}") };
                found.push((at, Deliverable { declared, root: *root, path: within(path), named: true }));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, deliverable)| deliverable).collect()
}

/// The path behind an anchor; it has a suffix, or it is none.
fn path_behind(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['}', ']', ')', '\'', '"', '`']).trim_start();
    let text = text.strip_prefix('+').map_or(text, str::trim_start);
    let text = text.trim_start_matches(['\'', '"']).strip_prefix('/')?.trim_start();
    let end =
        text.bytes().take(PATH_CHARS_MAX).take_while(|c| c.is_ascii_alphanumeric() || b"_./-".contains(c)).count();
    let path = text.get(..end)?.trim_end_matches(['.', '/', '-']);
    let (stem, suffix) = path.rsplit_once('.')?;
    let fine = !suffix.is_empty() && suffix.chars().all(|c| c.is_ascii_alphanumeric()) && !stem.is_empty();
    fine.then_some(path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A root and a path in it.
    type Place = (Root, Option<&'static str>);

    #[track_caller]
    fn check(run: &Value, wanted: Option<(Source, &[Place])>) {
        let found = of(&Run::read(run.to_string().as_bytes()).unwrap());
        let got = found
            .map(|(source, found)| (source, found.into_iter().map(|one| (one.root, one.path)).collect::<Vec<_>>()));
        let wanted = wanted.map(|(source, wanted)| {
            (source, wanted.iter().map(|(root, path)| (*root, path.map(str::to_owned))).collect::<Vec<_>>())
        });
        assert_eq!(got, wanted, "{run}");
    }

    fn planned(subtask: &Value) -> Value {
        json!({"output_dir": "/run/out", "workspace_dir": "/run/ws", "plan": {"subtasks": [subtask]}})
    }

    #[test]
    fn listed_outputs_are_paths_inside_the_run() {
        let subtask = json!({"required_outputs": [
            "report.md", "./a//b.csv", "/top.md", "/run/out/c.md", "/run/ws/d.md", "inputs/e.txt", "_workspace_dir/f.md",
            "../escape.md", "a/../../b.md", 7, "",
        ]});
        let wanted: &[Place] = &[
            (Root::Output, Some("report.md")),
            (Root::Output, Some("a/b.csv")),
            (Root::Output, Some("top.md")),
            (Root::Output, Some("c.md")),
            (Root::Workspace, Some("d.md")),
            (Root::Workspace, Some("inputs/e.txt")),
            (Root::Workspace, Some("f.md")),
            (Root::Output, None),
            (Root::Output, None),
            (Root::Output, None),
            (Root::Output, None),
        ];
        check(&planned(&subtask), Some((Source::RequiredOutputs, wanted)));
    }

    #[test]
    fn criteria_name_paths_behind_an_anchor() {
        let subtask = json!({
            "success_criteria": "writes {_output_dir}/report.md. And _output_dir + '/data/x.csv'; about example.com",
            "description": "reads _workspace_dir/in.json, not _output_dir/nothing or other/file.txt",
        });
        let wanted: &[Place] = &[
            (Root::Output, Some("report.md")),
            (Root::Output, Some("data/x.csv")),
            (Root::Workspace, Some("in.json")),
        ];
        check(&planned(&subtask), Some((Source::SuccessCriteria, wanted)));
    }

    #[test]
    fn repairs_add_to_what_is_declared() {
        let planned = |own: Value| {
            let repair = json!({"id": "repair_auto_2", "repair": true, "required_outputs": ["b.md", "_workspace_dir/in.json"],
                "success_criteria": ["`_output_dir/other.md` is not there"]});
            json!({"plan": {"subtasks": [own, repair]}})
        };
        let criteria =
            json!({"success_criteria": "writes _output_dir/a.md, _output_dir/b.md and _workspace_dir/in.json"});
        let wanted: &[Place] =
            &[(Root::Output, Some("a.md")), (Root::Output, Some("b.md")), (Root::Workspace, Some("in.json"))];
        check(&planned(criteria), Some((Source::SuccessCriteria, wanted)));
        check(&planned(json!({"required_outputs": ["a.md"]})), Some((Source::RequiredOutputs, wanted)));
        check(&planned(json!({})), Some((Source::RequiredOutputs, &wanted[1..])));
    }

    #[test]
    fn a_repair_asks_for_what_is_declared_where_it_belongs() {
        let told = "writes _output_dir/inputs/a.md, _workspace_dir/b.md and _output_dir/c.md";
        let run = Run::read(planned(&json!({ "success_criteria": told })).to_string().as_bytes()).unwrap();
        let (_, declared) = of(&run).unwrap();
        let names: Vec<&str> = declared.iter().map(|one| one.declared.as_str()).collect();
        let repair = planned(&json!({"required_outputs": names}));
        let repaired = of(&Run::read(repair.to_string().as_bytes()).unwrap()).unwrap().1;
        assert_eq!(repaired, declared);
    }

    #[test]
    fn a_plan_may_declare_nothing() {
        check(&planned(&json!({"description": "write about example.com", "required_outputs": []})), None);
        check(&json!({}), None);
    }
}
