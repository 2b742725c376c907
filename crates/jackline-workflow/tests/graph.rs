//! Pictures of graphs: goldens of every format (`JACKLINE_UPDATE=1` writes them anew), and what must hold for any graph.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use jackline_workflow::graph::{EDGES_MAX, Mark, NODES_MAX, Node, Picture};

fn mark(rule: &str, message: &str, warning: bool) -> Mark {
    Mark { rule: rule.to_owned(), message: message.to_owned(), warning }
}

/// A graph from lines of an id and what it waits for.
fn graph(title: &str, lines: &[(&str, &[&str])]) -> Picture {
    let mut picture = Picture::new(title);
    let nodes: Vec<usize> = lines.iter().map(|(id, _)| picture.add(Node::new(*id)).unwrap()).collect();
    for (node, (_, waits)) in nodes.into_iter().zip(lines) {
        waits.iter().for_each(|id| picture.depend(node, id, None));
    }
    picture
}

fn research() -> Picture {
    let mut picture = Picture::new("research-and-write");
    let plan = picture.add(Node::new("planner")).unwrap();
    let search = picture.add(Node { note: Some("loops, 5 at most".to_owned()), ..Node::new("searcher") }).unwrap();
    let read = picture.add(Node::new("reader")).unwrap();
    let condition = Some("state.searcher.confidence < 0.5".to_owned());
    let check = picture.add(Node { condition, ..Node::new("fact_checker") }).unwrap();
    let write = picture.add(Node::new("writer")).unwrap();
    let edit = picture.add(Node::new("editor")).unwrap();
    for (node, id, condition) in [
        (search, "planner", None),
        (read, "planner", Some("plan.documents")),
        (check, "searcher", None),
        (check, "reader", Some("reader.found > 0")),
        (write, "fact_checker", None),
        (write, "planner", None),
        (edit, "writer", Some("success")),
        (edit, "illustrator", None),
    ] {
        picture.depend(node, id, condition.map(str::to_owned));
    }
    picture.mark(Some(edit), mark("R7", "`editor` depends on `illustrator`, which is not in the graph", false));
    picture.mark(Some(plan), mark("R3", "the class is named `Planner`, not `Agent`", true));
    picture.mark(None, mark("R1", "`awp` is `1.0`, which is no version", false));
    picture
}

fn cycle() -> Picture {
    let mut picture = graph("cycle", &[("a", &["c"]), ("b", &["a"]), ("c", &["b"]), ("d", &["c", "d"]), ("e", &[])]);
    let place = picture.place("a");
    picture.mark(place, mark("R6", "`a` waits for itself: a → c → b → a", false));
    picture
}

/// Names that mean something to one format or another.
fn hostile() -> Picture {
    let names = [
        "a\"b",
        "<script>alert(1)</script>",
        "a&amp;b",
        "line\nbreak",
        "\u{202e}desrever",
        "back\\slash\\N",
        "]]><!--",
        "naïve 研究 🦀",
        "end",
        "1. list",
        "`code`",
        "#quot;",
        "a|b",
        "{x}",
        "%%",
        "",
        "nul\0\u{1b}[31m",
    ];
    let mut picture = Picture::new("</title><&\"\n%%{init: {}}%%");
    for (at, name) in names.iter().enumerate() {
        let node = Node { condition: Some((*name).to_owned()), ..Node::new(*name) };
        let node = picture.add(node).unwrap();
        if let Some(before) = at.checked_sub(1).and_then(|at| names.get(at)) {
            picture.depend(node, before, Some((*before).to_owned()));
        }
        picture.mark(Some(node), mark("R12", name, at % 2 == 0));
    }
    picture
}

/// Fifty agents in stages, with edges that skip some.
fn fifty() -> Picture {
    let ids: Vec<String> = (0..50).map(|at| format!("agent_{at:02}")).collect();
    let mut picture = Picture::new("fifty");
    let nodes: Vec<usize> = ids.iter().map(|id| picture.add(Node::new(id)).unwrap()).collect();
    for node in nodes.into_iter().skip(6) {
        for waits in [node - 6 + node % 3, node - 5, node.saturating_sub(7 + node % 11)] {
            if waits < node {
                picture.depend(node, ids.get(waits).unwrap(), (node % 9 == 0).then(|| format!("score > 0.{waits}")));
            }
        }
    }
    picture
}

#[track_caller]
fn golden(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graph").join(name);
    if std::env::var_os("JACKLINE_UPDATE").is_some() {
        fs::write(&path, drawn).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == drawn, "{name} is drawn differently now; if it is better, write it anew with JACKLINE_UPDATE=1");
}

#[test]
fn pictures_look_as_they_did() {
    for (name, picture) in [("research", research()), ("cycle", cycle()), ("hostile", hostile()), ("fifty", fifty())] {
        golden(&format!("{name}.mmd"), &picture.to_mermaid());
        golden(&format!("{name}.dot"), &picture.to_dot());
        golden(&format!("{name}.svg"), &picture.to_svg());
    }
}

#[test]
fn levels_are_the_longest_ways() {
    let picture = graph("g", &[("d", &["a", "c"]), ("a", &[]), ("c", &["b"]), ("b", &["a"]), ("e", &[])]);
    let drawn = picture.to_mermaid();
    let levels: Vec<&str> = drawn.split("subgraph ").skip(1).collect();
    let wanted = [("level0", "\"a\"\"e\""), ("level1", "\"b\""), ("level2", "\"c\""), ("level3", "\"d\"")];
    assert_eq!(levels.len(), wanted.len());
    for (level, (name, nodes)) in levels.iter().zip(wanted) {
        let ids: String = level.lines().skip(1).take_while(|line| line.trim() != "end").map(bracketed).collect();
        assert_eq!((level.split('[').next().unwrap(), ids.as_str()), (name, nodes));
    }
}

fn bracketed(line: &str) -> &str {
    line.split(['[', ']']).nth(1).unwrap()
}

#[test]
fn cycles_are_drawn_and_what_leads_back_is_marked() {
    let picture = cycle();
    assert_eq!(picture.to_svg().matches("class=\"edge back\"").count(), 2);
    assert_eq!(picture.to_mermaid().matches("-.->").count(), 2);
    assert_eq!(picture.to_dot().matches("constraint=false").count(), 2);
    assert!(picture.to_svg().contains("error R6 (a): `a` waits for itself"));
}

#[test]
fn a_missing_agent_is_drawn_as_missing() {
    let picture = graph("g", &[("a", &["nobody"])]);
    assert!(picture.to_svg().contains("class=\"node missing\""));
    assert!(picture.to_svg().contains("not in the graph"));
    assert!(picture.to_mermaid().contains("class n1 missing"));
}

#[test]
fn twice_used_names_are_two_boxes() {
    let picture = graph("g", &[("a", &[]), ("a", &["a"])]);
    assert_eq!(picture.to_svg().matches("class=\"node fine\"").count(), 2);
    assert_eq!(picture.to_mermaid().matches("n0 --> n1").count(), 1);
}

#[test]
fn an_empty_graph_has_a_picture_too() {
    let picture = Picture::new("empty");
    assert!(picture.to_svg().contains("0 agents, 0 dependencies, 0 levels"));
    assert!(picture.to_mermaid().starts_with("flowchart LR\n"));
    assert!(picture.to_dot().ends_with("}\n"));
}

/// Names are data: whatever they are, a drawing has the tags that it has without them.
#[test]
fn no_name_escapes_its_label() {
    let picture = hostile();
    let svg = picture.to_svg();
    assert!(!svg.contains("<script") && !svg.contains("<!--") && !svg.contains("]]>") && !svg.contains('\u{202e}'));
    assert!(svg.chars().all(|c| !c.is_control() || c == '\n'));
    let count = |open: &str| svg.matches(open).count();
    assert_eq!((count("<g>"), count("</g>"), count("<rect class=\"node")), (17, 17, 17));
    let dot = picture.to_dot();
    for line in dot.lines().filter(|line| line.trim_start().starts_with('n') && line.contains("label=")) {
        assert_eq!(unescaped_quotes(line) % 2, 0, "{line}");
        assert!(line.ends_with("];"), "{line}");
    }
    for line in picture.to_mermaid().lines().filter(|line| line.contains("[\"") || line.contains("|\"")) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
}

fn unescaped_quotes(line: &str) -> usize {
    let mut escaped = false;
    line.chars()
        .filter(|c| {
            let counts = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            counts
        })
        .count()
}

#[test]
fn large_graphs_are_drawn_in_time_and_say_what_is_left_out() {
    let many = NODES_MAX + 5;
    let mut picture = Picture::new("many");
    let nodes: Vec<Option<usize>> = (0..many).map(|at| picture.add(Node::new(format!("n{at}")))).collect();
    for node in nodes.into_iter().flatten() {
        for step in 1..=6_usize {
            picture.depend(node, &format!("n{}", node.saturating_sub(step * step * step)), None);
        }
    }
    let begun = Instant::now();
    let drawn = [picture.to_svg(), picture.to_mermaid(), picture.to_dot()];
    assert!(begun.elapsed() < Duration::from_secs(20), "took {:?}", begun.elapsed());
    let wanted = format!("not drawn: 5 agents, {} dependencies", NODES_MAX * 6 - EDGES_MAX);
    assert!(drawn.iter().all(|drawn| drawn.contains(&wanted)), "{wanted}");
    assert!(drawn.iter().all(|drawn| drawn.len() < 8 << 20));
}
