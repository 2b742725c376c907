//! A picture as a Mermaid flowchart.

use std::fmt::Write as _;

use super::layers::Layers;
use super::{Picture, Standing, label};

/// Columns of a condition on an edge.
const CONDITION_COLUMNS_MAX: usize = 40;
/// Columns of a line of its own: the title, a finding.
const LINE_COLUMNS_MAX: usize = 160;
/// Findings told in comments; Mermaid takes 50,000 characters by default.
const TOLD_MAX: usize = 40;

pub(super) fn draw(picture: &Picture, layers: &Layers) -> String {
    let mut text = String::from("flowchart LR\n");
    let _ = writeln!(text, "  accTitle: {}", line(&picture.title));
    let _ = writeln!(text, "  accDescr: {}", picture.summary(layers));
    for (level, column) in layers.columns().iter().enumerate() {
        let _ = writeln!(text, "  subgraph level{level}[\"level {level}\"]");
        column.iter().for_each(|node| draw_node(&mut text, picture, *node));
        text.push_str("  end\n");
    }
    draw_edges(&mut text, picture, layers);
    draw_classes(&mut text, picture);
    // Mermaid has no place for a list below a graph.
    for (node, mark) in picture.all_marks().take(TOLD_MAX) {
        let _ = writeln!(text, "  %% {}", line(&label::told(node, mark)));
    }
    text
}

fn draw_node(text: &mut String, picture: &Picture, at: usize) {
    let lines = picture.nodes.get(at).map(label::lines).unwrap_or_default();
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    let _ = writeln!(text, "    n{at}[\"{}\"]", lines.join("<br/>"));
}

fn draw_edges(text: &mut String, picture: &Picture, layers: &Layers) {
    for (at, edge) in picture.edges.iter().enumerate() {
        let arrow = if layers.is_back(at) { "-.->" } else { "-->" };
        let condition = edge.condition.as_ref().map(|condition| label::cut(condition, CONDITION_COLUMNS_MAX));
        let condition = condition.map(|condition| format!("|\"{}\"|", escaped(&condition))).unwrap_or_default();
        let _ = writeln!(text, "  n{} {arrow}{condition} n{}", edge.from, edge.to);
    }
    let back: Vec<String> =
        (0..picture.edges.len()).filter(|at| layers.is_back(*at)).map(|at| at.to_string()).collect();
    if !back.is_empty() {
        let _ = writeln!(text, "  linkStyle {} stroke:#d1242f,stroke-width:2px", back.join(","));
    }
}

/// Only borders have colours: the theme around the picture is light or dark, and we do not know which.
fn draw_classes(text: &mut String, picture: &Picture) {
    const CLASSES: &[(Standing, &str)] = &[
        (Standing::Broken, "stroke:#d1242f,stroke-width:3px"),
        (Standing::Warned, "stroke:#bf8700,stroke-width:3px"),
        (Standing::Missing, "stroke-dasharray:5 4"),
    ];
    for (standing, style) in CLASSES {
        let nodes = picture.nodes.iter().enumerate().filter(|(_, node)| Standing::of(node) == *standing);
        let names: Vec<String> = nodes.map(|(at, _)| format!("n{at}")).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "  classDef {} {style}", standing.class());
            let _ = writeln!(text, "  class {} {}", names.join(","), standing.class());
        }
    }
}

/// A text in quotes. What Mermaid or Markdown could take for more than text is written as its number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut numbered = true;
    for c in text.chars() {
        // `1.`, `-` or `+` at the beginning would be a list.
        let list = numbered && matches!(c, '.' | ')' | '-' | '+');
        numbered &= c.is_ascii_digit();
        if !list && (c.is_alphanumeric() || !c.is_ascii() || " .,:=()/'+_-".contains(c)) {
            escaped.push(c);
        } else {
            let _ = write!(escaped, "#{};", u32::from(c));
        }
    }
    escaped
}

/// A text that must end with its line and has no quotes: a title, a comment.
fn line(text: &str) -> String {
    label::cut(text, LINE_COLUMNS_MAX).replace(['{', '}', ';', '#', '%'], "_")
}
