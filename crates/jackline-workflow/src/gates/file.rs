//! Gate `file`: no file is empty, cut short, or something else than its name says.

use super::outcome::Payload;
use super::{Facts, Gate, Outcome};

pub(super) fn judge(facts: &Facts) -> Outcome {
    if facts.files.is_empty() && facts.unverified.is_empty() {
        return Outcome::not_applicable(Gate::File);
    }
    let mut payload = Payload::default();
    for file in &facts.files {
        if let Some(broken) = &file.broken {
            payload.findings.push(format!("`{}`: {broken}", file.path));
            payload.files.push(file.path.clone());
            payload.makeable.extend(file.declared.clone());
        }
        payload.notes.extend(file.note.as_ref().map(|note| format!("`{}`: {note}", file.path)));
    }
    let seen = !payload.findings.is_empty();
    payload.findings.extend(facts.unverified.iter().cloned());
    let broken = "files are broken, or only stand in for the real ones";
    Outcome::of(Gate::File, if seen { broken } else { "not everything could be looked at" }, payload)
}
