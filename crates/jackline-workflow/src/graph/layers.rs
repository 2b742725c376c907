//! The level of each agent: one more than the highest of those it waits for. Edges that lead back do not count.

use super::Picture;

/// The levels of a graph, and which of its edges lead back into a cycle.
#[derive(Debug)]
pub(super) struct Layers {
    /// The level of each node.
    pub(super) level: Vec<usize>,
    /// Whether each edge leads back to a node that it comes from.
    pub(super) back: Vec<bool>,
}

impl Layers {
    pub(super) fn of(picture: &Picture) -> Self {
        let leaving = leaving(picture);
        let back = Search::new(picture, &leaving).run();
        let level = levels(picture, &leaving, &back);
        Self { level, back }
    }

    pub(super) fn count(&self) -> usize {
        self.level.iter().max().map_or(0, |last| last + 1)
    }

    /// The nodes of each level, in their order.
    pub(super) fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns = vec![Vec::new(); self.count()];
        for (node, level) in self.level.iter().enumerate() {
            if let Some(column) = columns.get_mut(*level) {
                column.push(node);
            }
        }
        columns
    }

    pub(super) fn is_back(&self, edge: usize) -> bool {
        self.back.get(edge).copied().unwrap_or_default()
    }
}

/// The edges that leave each node.
fn leaving(picture: &Picture) -> Vec<Vec<usize>> {
    let mut leaving = vec![Vec::new(); picture.nodes.len()];
    for (at, edge) in picture.edges.iter().enumerate() {
        if let Some(edges) = leaving.get_mut(edge.from) {
            edges.push(at);
        }
    }
    leaving
}

/// Where a depth-first search is with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Never,
    /// On the path to where the search is now.
    Open,
    Done,
}

/// Finds the edges that lead back, without recursion: a cycle may have thousands of nodes.
struct Search<'a> {
    picture: &'a Picture,
    leaving: &'a [Vec<usize>],
    seen: Vec<Seen>,
    back: Vec<bool>,
}

impl<'a> Search<'a> {
    fn new(picture: &'a Picture, leaving: &'a [Vec<usize>]) -> Self {
        let (seen, back) = (vec![Seen::Never; picture.nodes.len()], vec![false; picture.edges.len()]);
        Self { picture, leaving, seen, back }
    }

    /// Begins where nothing is waited for, so that what leads back is what a reader would say leads back.
    fn run(mut self) -> Vec<bool> {
        let mut waits = vec![false; self.picture.nodes.len()];
        for edge in &self.picture.edges {
            if let Some(waits) = waits.get_mut(edge.to) {
                *waits = true;
            }
        }
        let first = waits.iter().enumerate().filter(|(_, waits)| !**waits).map(|(node, _)| node);
        let roots: Vec<usize> = first.chain(0..waits.len()).collect();
        for root in roots {
            self.from(root);
        }
        self.back
    }

    fn from(&mut self, root: usize) {
        if self.at(root) != Seen::Never {
            return;
        }
        self.set(root, Seen::Open);
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some(edge) = self.leaving.get(*node).and_then(|edges| edges.get(*next)).copied() else {
                let node = *node;
                self.set(node, Seen::Done);
                path.pop();
                continue;
            };
            *next += 1;
            let to = self.picture.edges.get(edge).map_or(root, |edge| edge.to);
            match self.at(to) {
                Seen::Never => {
                    self.set(to, Seen::Open);
                    path.push((to, 0));
                }
                Seen::Open => {
                    if let Some(back) = self.back.get_mut(edge) {
                        *back = true;
                    }
                }
                Seen::Done => {}
            }
        }
    }

    fn at(&self, node: usize) -> Seen {
        self.seen.get(node).copied().unwrap_or(Seen::Done)
    }

    fn set(&mut self, node: usize, seen: Seen) {
        if let Some(slot) = self.seen.get_mut(node) {
            *slot = seen;
        }
    }
}

fn levels(picture: &Picture, leaving: &[Vec<usize>], back: &[bool]) -> Vec<usize> {
    let forward = |edge: usize| !back.get(edge).copied().unwrap_or_default();
    let mut level = vec![0; picture.nodes.len()];
    let mut waits = vec![0_usize; picture.nodes.len()];
    for (_, edge) in picture.edges.iter().enumerate().filter(|(at, _)| forward(*at)) {
        if let Some(waits) = waits.get_mut(edge.to) {
            *waits += 1;
        }
    }
    let mut ready: Vec<usize> = (0..waits.len()).filter(|node| waits.get(*node) == Some(&0)).collect();
    while let Some(node) = ready.pop() {
        let own = level.get(node).copied().unwrap_or_default();
        let edges = leaving.get(node).into_iter().flatten().filter(|edge| forward(**edge));
        for edge in edges.filter_map(|edge| picture.edges.get(*edge)) {
            let (Some(level), Some(waits)) = (level.get_mut(edge.to), waits.get_mut(edge.to)) else { continue };
            *level = (*level).max(own + 1);
            *waits -= 1;
            if *waits == 0 {
                ready.push(edge.to);
            }
        }
    }
    level
}
