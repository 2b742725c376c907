//! Gate `structural_integrity`: documents hang together. Anchors stand at headings, references have one form, paragraphs
//! are not repeated, figures are referred to.

use std::collections::BTreeSet;

use super::outcome::Payload;
use super::{Facts, Gate, Outcome};

/// Characters of a document that is judged: shorter ones have no structure.
const DOCUMENT_CHARS_MIN: usize = 500;
/// Anchors that point nowhere, before it is no slip any more.
const ORPHANS_MIN: usize = 3;
/// Characters within which a heading must follow its anchor.
const ADJACENT_CHARS: usize = 80;
/// Characters of a paragraph that counts, and how many must count.
const PARAGRAPH_CHARS_MIN: usize = 120;
const PARAGRAPHS_MIN: usize = 5;
/// Characters by which a paragraph is recognised.
const PARAGRAPH_KEY_CHARS: usize = 180;
/// One repeated paragraph in so many is too much.
const REPEATED_ONE_IN: usize = 5;
/// Names of files that a run writes about itself.
const OWN_REPORTS: &[&str] = &["RUN_SUMMARY", "CRITIQUE"];
/// What an anchor begins with.
const ANCHOR: &str = "<a id=\"";
/// How captions name a figure, and how else a text may refer to it.
const FIGURES: &[(&str, &[&str])] =
    &[("Figure", &["figure", "fig.", "figures", "figs."]), ("Abbildung", &["abbildung", "abb."])];

pub(super) fn judge(facts: &Facts) -> Outcome {
    if !facts.files.iter().any(|file| file.document) {
        return Outcome::not_applicable(Gate::StructuralIntegrity);
    }
    let mut payload = Payload::default();
    for file in facts.files.iter().filter(|file| !file.structure.is_empty()) {
        payload.findings.extend(file.structure.iter().map(|found| format!("`{}`: {found}", file.path)));
        payload.files.push(file.path.clone());
    }
    Outcome::of(Gate::StructuralIntegrity, "documents do not hang together", payload)
}

/// Whether a file is a document of the run's.
pub(super) fn is_document(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let own = OWN_REPORTS.iter().any(|own| name.starts_with(own));
    matches!(super::format::suffix(path).as_str(), "md" | "markdown")
        && !own
        && text.chars().nth(DOCUMENT_CHARS_MIN - 1).is_some()
}

/// What is wrong with a document.
pub(super) fn examine(text: &str) -> Vec<String> {
    [orphans(text), references(text), repeated(text)].into_iter().flatten().chain(figures(text)).collect()
}

/// `<a id="x"></a>` belongs to a heading: in front of it, or in it.
fn orphans(text: &str) -> Option<String> {
    let (mut at, mut line) = (0, 0);
    let orphans = text.split(ANCHOR).filter_map(|rest| {
        let (begins, own) = (at == 0, line);
        line = rest.rfind('\n').map_or(line, |end| at + end + 1);
        at += rest.len() + ANCHOR.len();
        // One may also stand in the heading itself.
        let in_heading = || text.get(own..).is_some_and(|line| is_heading(line.trim_start_matches(' ')));
        if begins || in_heading() {
            return None;
        }
        let (id, rest) = rest.split_once('"')?;
        let rest = rest.trim_start().strip_prefix('>')?.trim_start().strip_prefix("</a>")?;
        let near: String = rest.chars().take(ADJACENT_CHARS).collect();
        (!is_heading(near.trim_start())).then_some(id)
    });
    let orphans: Vec<&str> = orphans.collect();
    (orphans.len() >= ORPHANS_MIN).then(|| {
        let first = orphans.first().copied().unwrap_or_default();
        format!("{} anchors stand at no heading, the first is `{first}`", orphans.len())
    })
}

fn is_heading(text: &str) -> bool {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    (1..=6).contains(&level)
        && rest.starts_with([' ', '\t'])
        && rest.trim_start_matches([' ', '\t']).starts_with(|c: char| !c.is_whitespace())
}

/// `[1] Author` and `[ref_author]` are two ways to refer; a document has one.
fn references(text: &str) -> Option<String> {
    let numbered = text.lines().any(|line| {
        let inner = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        inner
            .is_some_and(|(number, rest)| is_number(number) && rest.starts_with([' ', '\t']) && !rest.trim().is_empty())
    });
    let named = text.split("[ref_").skip(1).find_map(|rest| rest.split_once(']').map(|(name, _)| name));
    let named = named.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)));
    named.filter(|_| numbered).map(|name| format!("references are numbered and named at once, such as `[ref_{name}]`"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn repeated(text: &str) -> Option<String> {
    let paragraphs = paragraphs(text).into_iter().filter(|text| text.chars().nth(PARAGRAPH_CHARS_MIN).is_some());
    let keys: Vec<String> = paragraphs.map(|text| text.chars().take(PARAGRAPH_KEY_CHARS).collect()).collect();
    let unique: BTreeSet<&String> = keys.iter().collect();
    let repeated = keys.len() - unique.len();
    let many = keys.len() >= PARAGRAPHS_MIN && repeated * REPEATED_ONE_IN >= keys.len();
    many.then(|| format!("{repeated} of {} paragraphs are repeated", keys.len()))
}

/// What stands between lines without a word, whatever program ended the lines.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in text.lines().map(str::trim_end) {
        match paragraphs.last_mut() {
            Some(last) if !line.is_empty() => last.extend([line, "\n"]),
            _ => paragraphs.push(String::new()),
        }
    }
    paragraphs
}

/// Every figure with a caption (`**Figure 1:`) is mentioned elsewhere. What stands in a block of code is neither.
fn figures(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    let prose = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= fence;
        !fenced && !fence
    });
    let prose = prose.collect::<Vec<_>>().join("\n").to_lowercase();
    for (word, forms) in FIGURES {
        let (mut captions, mut mentions) = (BTreeSet::new(), BTreeSet::new());
        for (number, caption) in forms.iter().flat_map(|form| named(&prose, form)) {
            if caption {
                captions.insert(number)
            } else {
                mentions.insert(number)
            };
        }
        let alone = captions.difference(&mentions);
        found.extend(alone.map(|number| format!("{word} {number} has a caption and is mentioned nowhere")));
    }
    found
}

/// The numbers behind a word, and whether each is that of a caption.
fn named<'a>(prose: &'a str, word: &str) -> impl Iterator<Item = (&'a str, bool)> {
    prose.match_indices(word).filter_map(move |(at, found)| {
        let behind = prose.get(at + found.len()..).unwrap_or_default().trim_start();
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (number, rest) = behind.split_at_checked(digits).unwrap_or_default();
        let bold = prose.get(..at).is_some_and(|before| before.ends_with("**"));
        (!number.is_empty()).then_some((number, bold && rest.starts_with([':', '.'])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        assert_eq!(examine(text), wanted, "{text}");
    }

    #[test]
    fn anchors_stand_at_headings() {
        let orphan = "<a id=\"x\"></a>\ntext\n";
        check(&orphan.repeat(3), &["3 anchors stand at no heading, the first is `x`"]);
        check(&orphan.repeat(2), &[]);
        check(&"<a id=\"x\" > </a>\n\n## Head\n".repeat(5), &[]);
        check(&"## Head <a id=\"x\"></a>\n".repeat(5), &[]);
    }

    #[test]
    fn references_have_one_form() {
        check(
            "see [ref_smith]\n\n[1] Smith, 2020\n",
            &["references are numbered and named at once, such as `[ref_smith]`"],
        );
        check("see [1]\n\n[1] Smith, 2020\n", &[]);
        check("see [ref_smith]\n\n[ref_smith]: Smith\n", &[]);
    }

    #[test]
    fn paragraphs_are_not_repeated() {
        let long = |start: &str| format!("{start} {}", "words that fill a paragraph ".repeat(6));
        let mut paragraphs: Vec<String> = ["a", "b", "c", "d"].iter().map(|start| long(start)).collect();
        paragraphs.push(long("a"));
        for between in ["\n\n", "\r\n\r\n", "\n \t\n", "\n\n\n"] {
            check(&paragraphs.join(between), &["1 of 5 paragraphs are repeated"]);
        }
        paragraphs.push(long("e"));
        check(&paragraphs.join("\n\n"), &[]);
        check(&["short", "short", "short", "short", "short"].join("\n\n"), &[]);
    }

    #[test]
    fn figures_are_mentioned() {
        check("**Figure 1:** growth\n", &["Figure 1 has a caption and is mentioned nowhere"]);
        check("**Figure 1:** growth, unlike Figure 10\n", &["Figure 1 has a caption and is mentioned nowhere"]);
        check("As see Figure 1 shows.\n\n**Figure 1:** growth\n", &[]);
        check("see figure 1 and Fig. 2\n\n**Figure 1:** growth\n**Figure 2:** decline\n", &[]);
        check("```\n**Figure 1:** in code\n```\n", &[]);
        check("(vgl. Abbildung 2)\n\n**Abbildung 2.** Wachstum\n", &[]);
    }

    #[test]
    fn only_documents_are_judged() {
        let long = "x".repeat(500);
        assert!(is_document("a/report.md", &long));
        assert!(!is_document("report.md", "short"));
        assert!(!is_document("RUN_SUMMARY.md", &long));
        assert!(!is_document("report.txt", &long));
    }
}
