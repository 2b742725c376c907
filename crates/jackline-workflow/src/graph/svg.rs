//! A picture as SVG: drawn by ourselves, readable on light and dark screens, by people and by screen readers.

use std::fmt::Write as _;

use super::layers::Layers;
use super::order::Order;
use super::place::{CONDITION_COLUMNS_MAX, LINE_PX, MARGIN_PX, PADDING_PX, Page, Rect, px, wide};
use super::{Edge, Node, Picture, Standing, label};
use crate::visible::escaped;

/// Findings told below the graph; every box has its own as a tooltip.
const TOLD_MAX: usize = 40;
/// Columns of a finding below the graph.
const TOLD_COLUMNS_MAX: usize = 160;
/// Agents named in the description for screen readers.
const DESCRIBED_MAX: usize = 200;
/// Columns of a line of a tooltip, and of a name that is read aloud: longer ones are no help.
const TOOLTIP_COLUMNS_MAX: usize = 300;
/// Columns of the title: what the narrowest page has room for.
const TITLE_COLUMNS_MAX: usize = 46;
/// The narrowest page, so that its head fits.
const PAGE_PX_MIN: i64 = 480;

/// Colours for light screens, then for dark ones. Each has at least the contrast that reading small text needs.
const STYLE: &str = "\
text{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:12px;fill:#1f2328}
.page{fill:#ffffff}.title{font-size:15px;font-weight:600}.muted{fill:#59636e}.id{font-weight:600}
rect.node{fill:#f6f8fa;stroke:#59636e;stroke-width:1.2}
rect.error{fill:#ffebe9;stroke:#cf222e;stroke-width:2.4}text.error{fill:#a40e26}
rect.warning{fill:#fff8c5;stroke:#9a6700;stroke-width:2.4}text.warning{fill:#7d4e00}
rect.missing{fill:none;stroke-dasharray:5 4}
.edge{fill:none;stroke:#59636e;stroke-width:1.3}.head{fill:#59636e}
.edge.back{stroke:#cf222e;stroke-width:1.8;stroke-dasharray:6 4}.head.back{fill:#cf222e}
.condition{font-size:11px;font-style:italic}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.page{fill:#0d1117}.muted{fill:#9198a1}
rect.node{fill:#161b22;stroke:#9198a1}
rect.error{fill:#3a1416;stroke:#ff7b72}text.error{fill:#ffa198}
rect.warning{fill:#2d2206;stroke:#d29922}text.warning{fill:#e3b341}
rect.missing{fill:none}
.edge{stroke:#9198a1}.head{fill:#9198a1}.edge.back{stroke:#ff7b72}.head.back{fill:#ff7b72}
}
";

pub(super) fn draw(picture: &Picture, layers: &Layers) -> String {
    let order = Order::of(picture, layers);
    let page = Page::of(picture, layers, &order);
    let told: Vec<(&str, String)> = told(picture);
    let width = page.width.max(PAGE_PX_MIN).max(widest(&told));
    let height = page.bottom + MARGIN_PX + px(told.len()) * LINE_PX + MARGIN_PX;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title desc\">\n"
    );
    let _ = writeln!(text, "<title id=\"title\">{}</title>", escaped(&label::cut(&picture.title, TOOLTIP_COLUMNS_MAX)));
    let _ = writeln!(text, "<desc id=\"desc\">{}</desc>", escaped(&described(picture, layers)));
    let _ = write!(text, "<style>\n{STYLE}</style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n");
    draw_head(&mut text, picture, layers, &page);
    draw_edges(&mut text, picture, layers, (&order, &page));
    for (node, rect) in picture.nodes.iter().zip(&page.rects) {
        draw_node(&mut text, node, *rect);
    }
    for (line, (class, told)) in told.iter().enumerate() {
        let y = page.bottom + MARGIN_PX + px(line + 1) * LINE_PX;
        write_text(&mut text, class, (MARGIN_PX, y), told);
    }
    text.push_str("</svg>\n");
    text
}

fn widest(told: &[(&str, String)]) -> i64 {
    let columns = told.iter().map(|(_, told)| label::columns(told)).max().unwrap_or_default();
    wide(columns) + 2 * MARGIN_PX
}

/// The findings below the graph, each with its class.
fn told(picture: &Picture) -> Vec<(&'static str, String)> {
    let all = picture.all_marks().map(|(node, mark)| {
        let class = if mark.warning { "warning" } else { "error" };
        (class, label::cut(&label::told(node, mark), TOLD_COLUMNS_MAX))
    });
    let mut told: Vec<_> = all.take(TOLD_MAX).collect();
    let more = picture.all_marks().count().saturating_sub(TOLD_MAX);
    told.extend((more > 0).then(|| ("muted", format!("and {more} more"))));
    told
}

/// What a screen reader says: size, findings, and the agents of each level.
fn described(picture: &Picture, layers: &Layers) -> String {
    let mut text = picture.summary(layers);
    let mut room = DESCRIBED_MAX;
    for (level, column) in layers.columns().iter().enumerate() {
        let nodes = column.iter().take(room).filter_map(|node| picture.nodes.get(*node));
        let names: Vec<String> = nodes.map(|node| label::cut(&node.id, TOOLTIP_COLUMNS_MAX)).collect();
        room -= names.len();
        if names.is_empty() {
            break;
        }
        let more = if names.len() < column.len() { " and more" } else { "" };
        let _ = write!(text, ". Level {level}: {}{more}", names.join(", "));
    }
    text
}

fn draw_head(text: &mut String, picture: &Picture, layers: &Layers, page: &Page) {
    write_text(text, "title", (MARGIN_PX, 30), &label::cut(&picture.title, TITLE_COLUMNS_MAX));
    write_text(text, "muted", (MARGIN_PX, 48), &picture.summary(layers));
    for (level, x) in page.columns.iter().enumerate() {
        let _ = writeln!(text, "<text class=\"muted\" x=\"{x}\" y=\"74\" text-anchor=\"middle\">level {level}</text>");
    }
}

fn write_text(text: &mut String, class: &str, (x, y): (i64, i64), said: &str) {
    let _ = writeln!(text, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(said));
}

fn draw_node(text: &mut String, node: &Node, rect: Rect) {
    let standing = Standing::of(node).class();
    let Rect { x, y, width, height } = rect;
    let _ = writeln!(text, "<g><title>{}</title>", escaped(&tooltip(node)));
    let _ = writeln!(
        text,
        "<rect class=\"node {standing}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
    );
    let lines = label::lines(node);
    let marked = lines.len() - usize::from(!node.marks.is_empty());
    for (at, line) in lines.iter().enumerate() {
        let class = if at == 0 {
            "id"
        } else if at >= marked {
            standing
        } else {
            "muted"
        };
        write_text(text, class, (x + PADDING_PX, y + PADDING_PX / 2 + px(at + 1) * LINE_PX), line);
    }
    text.push_str("</g>\n");
}

/// All that is known of an agent.
fn tooltip(node: &Node) -> String {
    let mut lines = vec![node.id.clone()];
    lines.extend(node.condition.as_ref().map(|condition| format!("when {condition}")));
    lines.extend(node.note.clone());
    lines.extend(node.marks.iter().take(TOLD_MAX).map(|mark| label::told(None, mark)));
    lines.iter().map(|line| label::cut(line, TOOLTIP_COLUMNS_MAX)).collect::<Vec<_>>().join("\n")
}

fn draw_edges(text: &mut String, picture: &Picture, layers: &Layers, (order, page): (&Order, &Page)) {
    let rect = |slot: usize| page.rects.get(slot).copied().unwrap_or_default();
    let mut lanes = 0;
    // Written last, so that no edge goes through them.
    let mut conditions = String::new();
    for (at, edge) in picture.edges.iter().enumerate() {
        let (from, to) = (rect(edge.from), rect(edge.to));
        if layers.is_back(at) {
            let lane = page.lane(lanes);
            draw_edge(text, to, (" back", &detoured(from, to, lane)));
            draw_condition(&mut conditions, edge, (to.x, lane));
            lanes += 1;
            continue;
        }
        let route = order.routes.get(at).map_or(&[][..], Vec::as_slice);
        let rects: Vec<Rect> = route.iter().map(|slot| rect(*slot)).collect();
        let last = rects.iter().rev().nth(1).copied().unwrap_or(from);
        let halfway = (i64::midpoint(last.right(), to.x), i64::midpoint(last.middle(), to.middle()));
        draw_edge(text, to, ("", &along(&rects)));
        draw_condition(&mut conditions, edge, halfway);
    }
    text.push_str(&conditions);
}

fn draw_edge(text: &mut String, to: Rect, (class, path): (&str, &str)) {
    let _ = writeln!(text, "<path class=\"edge{class}\" d=\"{path}\"/>");
    let _ = writeln!(text, "<path class=\"head{class}\" d=\"M{} {}l-8 -4v8z\"/>", to.x, to.middle());
}

/// An edge's condition around a point.
fn draw_condition(text: &mut String, edge: &Edge, (x, y): (i64, i64)) {
    let Some(condition) = &edge.condition else { return };
    let shown = label::cut(condition, CONDITION_COLUMNS_MAX);
    let width = wide(label::columns(&shown));
    let shown = escaped(&shown);
    let whole = escaped(&label::cut(condition, TOOLTIP_COLUMNS_MAX));
    let (left, top) = (x - width / 2, y - LINE_PX / 2);
    let _ = writeln!(
        text,
        "<rect class=\"page\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{LINE_PX}\" opacity=\"0.85\"/>\
         <text class=\"condition\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{shown}<title>{whole}</title></text>",
        y + 4
    );
}

/// From box to box, straight through the flat ones.
fn along(rects: &[Rect]) -> String {
    let mut path = String::new();
    for pair in rects.windows(2) {
        let [one, other] = pair else { continue };
        let (x, y, to_x, to_y) = (one.right(), one.middle(), other.x, other.middle());
        if path.is_empty() {
            let _ = write!(path, "M{x} {y}");
        } else {
            let _ = write!(path, "H{x}");
        }
        let half = (to_x - x) / 2;
        let _ = write!(path, "C{} {y} {} {to_y} {to_x} {to_y}", x + half, to_x - half);
    }
    path
}

/// Out to the right, below everything, and in from the left.
fn detoured(from: Rect, to: Rect, lane: i64) -> String {
    let (x, y, to_x, to_y) = (from.right(), from.middle(), to.x, to.middle());
    let (out, into) = (x + 40, to_x - 40);
    let (begin, end) = (x - 10, to_x + 10);
    format!("M{x} {y}C{out} {y} {out} {lane} {begin} {lane}H{end}C{into} {lane} {into} {to_y} {to_x} {to_y}")
}
