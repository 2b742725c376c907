//! Gate `deliverable`: a task that asks for a picture, a report or a table leaves a file of some size behind.

use super::outcome::Payload;
use super::{Facts, Gate, Outcome, Run};

/// A file of fewer bytes is no picture, report or table.
const DELIVERABLE_BYTES_MIN: u64 = 512;

/// Words of a task that ask for a file, in English and German.
const HINTS: &[&str] = &[
    "image",
    "picture",
    "photo",
    "illustration",
    "logo",
    "bild",
    "bilder",
    "foto",
    "zeichnung",
    "zeichnungen",
    "grafik",
    "grafiken",
    "pdf",
    "document",
    "report",
    "dokument",
    "dokumente",
    "bericht",
    "berichte",
    "chart",
    "plot",
    "graph",
    "diagram",
    "figure",
    "diagramm",
    "diagramme",
    "video",
    "animation",
    "gif",
    "audio",
    "sound",
    "mp3",
    "wav",
    "dataset",
    "csv",
    "spreadsheet",
    "table",
    "tabelle",
    "tabellen",
];

pub(super) fn judge(run: &Run, facts: &Facts) -> Outcome {
    let Some(hint) = hint(&run.task) else {
        return Outcome::not_applicable(Gate::Deliverable);
    };
    if facts.files.iter().any(|file| file.in_output && file.bytes >= DELIVERABLE_BYTES_MIN) {
        return Outcome::passed(Gate::Deliverable, Payload::default());
    }
    let finding =
        format!("the task asks for `{hint}`, and no file of the output directory has {DELIVERABLE_BYTES_MIN} bytes");
    let payload = Payload { findings: vec![finding], ..Payload::default() };
    Outcome::rejected(Gate::Deliverable, "the task asks for a file and none was made", payload)
}

/// The first word that asks for a file. Whole words only: `geography` asks for no graph.
fn hint(task: &str) -> Option<&'static str> {
    let task = task.to_lowercase();
    let words = task.split(|c: char| !c.is_alphanumeric());
    words.filter_map(|word| HINTS.iter().find(|hint| is_form_of(word, hint))).copied().next()
}

/// A word itself, or with the plural that most have.
fn is_form_of(word: &str, hint: &str) -> bool {
    word.strip_prefix(hint).is_some_and(|ending| matches!(ending, "" | "s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_ask_for_files() {
        for (task, wanted) in [
            ("Write a Report.", Some("report")),
            ("make two charts", Some("chart")),
            ("zwei Berichte, bitte", Some("berichte")),
            ("Erstelle Bilder", Some("bilder")),
            ("about geography, stable gifts, and surrender", None),
            ("the reporter reported", None),
            ("", None),
        ] {
            assert_eq!(hint(task), wanted, "{task}");
        }
    }
}
