//! A picture as a graph for Graphviz.

use std::fmt::Write as _;

use super::layers::Layers;
use super::{Node, Picture, Standing, label};

/// Columns of a condition on an edge.
const CONDITION_COLUMNS_MAX: usize = 40;
/// Columns of a line of a tooltip.
const TOOLTIP_COLUMNS_MAX: usize = 300;
/// Findings in a tooltip.
const MARKS_MAX: usize = 40;
/// Columns of a finding that belongs to no agent.
const MARK_COLUMNS_MAX: usize = 120;
/// Columns of the title.
const TITLE_COLUMNS_MAX: usize = 100;

pub(super) fn draw(picture: &Picture, layers: &Layers) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&label::cut(&picture.title, TITLE_COLUMNS_MAX)));
    text.push_str("  graph [rankdir=LR, bgcolor=\"white\", fontname=\"monospace\", labelloc=t");
    let _ = writeln!(text, ", label={}];", quoted(&heading(picture, layers)));
    text.push_str("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#57606a\", fontname=\"monospace\"];\n");
    text.push_str("  edge [color=\"#57606a\", fontname=\"monospace\", fontsize=10];\n");
    for (level, column) in layers.columns().iter().enumerate() {
        let _ = writeln!(text, "  {{ rank=same; // level {level}");
        column.iter().for_each(|node| draw_node(&mut text, picture, *node));
        text.push_str("  }\n");
    }
    draw_edges(&mut text, picture, layers);
    draw_marks(&mut text, picture);
    text.push_str("}\n");
    text
}

fn heading(picture: &Picture, layers: &Layers) -> String {
    format!("{}\n{}", label::cut(&picture.title, TITLE_COLUMNS_MAX), picture.summary(layers))
}

fn draw_node(text: &mut String, picture: &Picture, at: usize) {
    let Some(node) = picture.nodes.get(at) else { return };
    let look = match Standing::of(node) {
        Standing::Fine => "",
        Standing::Missing => ", style=\"rounded,dashed\"",
        Standing::Warned => ", fillcolor=\"#fff8c5\", color=\"#9a6700\", penwidth=2",
        Standing::Broken => ", fillcolor=\"#ffebe9\", color=\"#cf222e\", penwidth=2",
    };
    let lines = label::lines(node).join("\n");
    let _ = writeln!(text, "    n{at} [label={}, tooltip={}{look}];", quoted(&lines), quoted(&tooltip(node)));
}

/// All that is known of an agent.
fn tooltip(node: &Node) -> String {
    let own = label::cut(&node.id, TOOLTIP_COLUMNS_MAX);
    let marks = node.marks.iter().take(MARKS_MAX).map(|mark| label::cut(&label::told(None, mark), TOOLTIP_COLUMNS_MAX));
    std::iter::once(own).chain(marks).collect::<Vec<_>>().join("\n")
}

/// What belongs to no agent, in a box of its own.
fn draw_marks(text: &mut String, picture: &Picture) {
    let told = |mark| label::cut(&label::told(None, mark), MARK_COLUMNS_MAX);
    let mut lines: Vec<String> = picture.marks.iter().take(MARKS_MAX).map(told).collect();
    let more = picture.marks.len().saturating_sub(MARKS_MAX);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    if !lines.is_empty() {
        let label = quoted(&lines.join("\n"));
        let _ =
            writeln!(text, "  findings [shape=note, style=filled, fillcolor=\"#ffffff\", fontsize=10, label={label}];");
    }
}

fn draw_edges(text: &mut String, picture: &Picture, layers: &Layers) {
    for (at, edge) in picture.edges.iter().enumerate() {
        let mut look = Vec::new();
        if let Some(condition) = &edge.condition {
            look.push(format!("label={}", quoted(&label::cut(condition, CONDITION_COLUMNS_MAX))));
        }
        if layers.is_back(at) {
            look.push("style=dashed, color=\"#cf222e\", constraint=false".to_owned());
        }
        let look = if look.is_empty() { String::new() } else { format!(" [{}]", look.join(", ")) };
        let _ = writeln!(text, "  n{} -> n{}{look};", edge.from, edge.to);
    }
}

/// A text in quotes. A backslash would begin an escape of Graphviz's own, such as the node's name.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            // Graphviz reads entities of HTML in plain texts too.
            '&' => quoted.push_str("&amp;"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
