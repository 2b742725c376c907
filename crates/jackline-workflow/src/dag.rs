//! Who waits for whom: levels of a graph that has an order, the shortest cycles of one that has none. Linear in its size.

use std::collections::VecDeque;

use jackline_core::definition::Span;

/// Edges looked at in search of a shorter cycle. A graph is tangled beyond reading long before; the shortest cycle seen
/// until then is told.
const SEARCH_EDGES_MAX: usize = 20_000_000;

/// One dependency: what is waited for, and where that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    pub to: usize,
    pub span: Span,
}

/// Vertices by number, each with what it waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dag {
    edges: Vec<Vec<Edge>>,
}

/// A cycle: its vertices in order, each waiting for the next and the last for the first, each with the edge that says so.
pub(crate) type Cycle = Vec<(usize, Edge)>;

impl Dag {
    /// A graph of these vertices.
    #[must_use]
    pub const fn new(edges: Vec<Vec<Edge>>) -> Self {
        Self { edges }
    }

    fn of(&self, vertex: usize) -> &[Edge] {
        self.edges.get(vertex).map(Vec::as_slice).unwrap_or_default()
    }

    /// The level of each vertex: one above the highest of those it waits for. What lies on a cycle, or waits for one, is
    /// put on the level at which it is stuck.
    #[must_use]
    pub fn levels(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.edges.iter().map(Vec::len).collect();
        let mut waiters: Vec<Vec<usize>> = vec![Vec::new(); self.edges.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                if let Some(list) = waiters.get_mut(edge.to) {
                    list.push(from);
                }
            }
        }
        let mut levels = vec![0; self.edges.len()];
        let mut ready: VecDeque<usize> = (0..self.edges.len()).filter(|at| self.of(*at).is_empty()).collect();
        while let Some(vertex) = ready.pop_front() {
            let above = levels.get(vertex).copied().unwrap_or(0) + 1;
            for waiter in waiters.get(vertex).into_iter().flatten().copied() {
                if let (Some(level), Some(left)) = (levels.get_mut(waiter), waiting.get_mut(waiter)) {
                    *level = above.max(*level);
                    *left -= 1;
                    if *left == 0 {
                        ready.push_back(waiter);
                    }
                }
            }
        }
        levels
    }

    /// The shortest cycle of each knot: of each set of vertices that all wait for one another.
    #[must_use]
    pub(crate) fn cycles(&self) -> Vec<Cycle> {
        let knots = Knots::of(self);
        let count = self.edges.len();
        let (seen, came) = (vec![UNSEEN; count], vec![None; count]);
        let mut search = Search { dag: self, group_of: &knots.group_of, seen, came, left: SEARCH_EDGES_MAX };
        knots.groups.iter().filter_map(|group| search.shortest(group)).collect()
    }
}

/// The cycle beginning with its smallest vertex, the one that was declared first.
fn turned(mut cycle: Cycle) -> Cycle {
    let first = cycle.iter().enumerate().min_by_key(|(_, (vertex, _))| *vertex).map_or(0, |(at, _)| at);
    cycle.rotate_left(first);
    cycle
}

/// A search in breadth, with books that serve one start after the other.
struct Search<'a> {
    dag: &'a Dag,
    group_of: &'a [usize],
    /// By which start a vertex was seen.
    seen: Vec<usize>,
    /// From where, and by which edge.
    came: Vec<Option<(usize, Edge)>>,
    /// Edges that may still be looked at.
    left: usize,
}

impl Search<'_> {
    /// The edges of a vertex that stay in its knot.
    fn ways(&self, vertex: usize) -> impl Iterator<Item = Edge> {
        let own = move |edge: &&Edge| self.group_of.get(edge.to) == self.group_of.get(vertex);
        self.dag.of(vertex).iter().filter(own).copied()
    }

    /// The shortest cycle within a knot.
    fn shortest(&mut self, group: &[usize]) -> Option<Cycle> {
        // A cycle that is not the whole knot is left somewhere: it holds a vertex with two ways on.
        let forks = group.iter().filter(|vertex| self.ways(**vertex).nth(1).is_some());
        let starts: Vec<usize> = forks.chain(group.first()).copied().collect();
        let mut best: Option<Cycle> = None;
        for start in starts {
            let most = best.as_ref().map_or(usize::MAX, Vec::len);
            if most <= 1 || (self.left == 0 && best.is_some()) {
                break;
            }
            best = self.from(start, most).or(best);
        }
        best.map(turned)
    }

    /// The shortest way from a vertex back to itself, if it is shorter than `most`.
    fn from(&mut self, start: usize, most: usize) -> Option<Cycle> {
        let mut waiting = VecDeque::from([(start, 1)]);
        while let Some((vertex, length)) = waiting.pop_front() {
            if length >= most {
                return None;
            }
            let ways: Vec<Edge> = self.ways(vertex).collect();
            self.left = self.left.saturating_sub(ways.len());
            for edge in ways {
                if edge.to == start {
                    return Some(self.way(start, (vertex, edge)));
                }
                if let (Some(seen), Some(came)) = (self.seen.get_mut(edge.to), self.came.get_mut(edge.to))
                    && *seen != start
                {
                    *seen = start;
                    *came = Some((vertex, edge));
                    waiting.push_back((edge.to, length + 1));
                }
            }
        }
        None
    }

    fn way(&self, start: usize, last: (usize, Edge)) -> Cycle {
        let mut way = vec![last];
        while let Some((vertex, _)) = way.last().copied().filter(|(vertex, _)| *vertex != start) {
            match self.came.get(vertex).copied().flatten() {
                Some(before) => way.push(before),
                None => break,
            }
        }
        way.reverse();
        way
    }
}

/// Sets of vertices that all wait for one another, by Tarjan's algorithm with a stack of its own.
struct Knots {
    group_of: Vec<usize>,
    groups: Vec<Vec<usize>>,
}

/// The books of the algorithm.
struct Walk<'a> {
    dag: &'a Dag,
    order: Vec<usize>,
    low: Vec<usize>,
    stack: Vec<usize>,
    count: usize,
    group_of: Vec<usize>,
    groups: Vec<Vec<usize>>,
}

const UNSEEN: usize = usize::MAX;

impl Knots {
    fn of(dag: &Dag) -> Self {
        let none = vec![UNSEEN; dag.edges.len()];
        let (order, low, group_of) = (none.clone(), none.clone(), none);
        let mut walk = Walk { dag, order, low, stack: Vec::new(), count: 0, group_of, groups: Vec::new() };
        for vertex in 0..dag.edges.len() {
            if walk.order.get(vertex) == Some(&UNSEEN) {
                walk.from(vertex);
            }
        }
        let knotted = |group: &Vec<usize>| {
            let alone = group.first().filter(|_| group.len() == 1);
            alone.is_none_or(|vertex| dag.of(*vertex).iter().any(|edge| edge.to == *vertex))
        };
        let mut groups: Vec<Vec<usize>> = walk.groups.into_iter().filter(knotted).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort_unstable();
        Self { group_of: walk.group_of, groups }
    }
}

impl Walk<'_> {
    fn from(&mut self, start: usize) {
        let mut open = vec![(start, 0)];
        self.enter(start);
        while let Some((vertex, next)) = open.pop() {
            let Some(edge) = self.dag.of(vertex).get(next).copied() else {
                self.leave(vertex, open.last().map(|(parent, _)| *parent));
                continue;
            };
            open.push((vertex, next + 1));
            match (self.order.get(edge.to), self.group_of.get(edge.to)) {
                (Some(&UNSEEN), _) => {
                    self.enter(edge.to);
                    open.push((edge.to, 0));
                }
                (Some(&order), Some(&UNSEEN)) => self.lower(vertex, order),
                _ => {}
            }
        }
    }

    fn enter(&mut self, vertex: usize) {
        for list in [&mut self.order, &mut self.low] {
            if let Some(slot) = list.get_mut(vertex) {
                *slot = self.count;
            }
        }
        self.count += 1;
        self.stack.push(vertex);
    }

    fn lower(&mut self, vertex: usize, to: usize) {
        if let Some(low) = self.low.get_mut(vertex) {
            *low = to.min(*low);
        }
    }

    fn leave(&mut self, vertex: usize, parent: Option<usize>) {
        let low = self.low.get(vertex).copied().unwrap_or_default();
        if let Some(parent) = parent {
            self.lower(parent, low);
        }
        if self.order.get(vertex) != Some(&low) {
            return;
        }
        let mut group = Vec::new();
        while let Some(member) = self.stack.pop() {
            if let Some(slot) = self.group_of.get_mut(member) {
                *slot = self.groups.len();
            }
            group.push(member);
            if member == vertex {
                break;
            }
        }
        self.groups.push(group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dag(edges: &[&[usize]]) -> Dag {
        let edge = |to: &usize| Edge { to: *to, span: Span::default() };
        Dag::new(edges.iter().map(|list| list.iter().map(edge).collect()).collect())
    }

    fn cycles(edges: &[&[usize]]) -> Vec<Vec<usize>> {
        let vertices = |cycle: Cycle| cycle.into_iter().map(|(vertex, _)| vertex).collect();
        dag(edges).cycles().into_iter().map(vertices).collect()
    }

    #[test]
    fn levels_are_one_above_what_is_waited_for() {
        assert_eq!(dag(&[&[], &[0], &[0], &[1, 2], &[0, 3]]).levels(), [0, 1, 1, 2, 3]);
        assert_eq!(dag(&[]).levels(), [0; 0]);
    }

    #[test]
    fn the_shortest_cycle_of_each_knot_is_found() {
        assert_eq!(cycles(&[&[], &[0]]), [[0; 0]; 0]);
        assert_eq!(cycles(&[&[0]]), [[0]]);
        assert_eq!(cycles(&[&[2], &[0], &[1]]), [[0, 2, 1]]);
        assert_eq!(cycles(&[&[1], &[2, 0], &[0]]), [[0, 1]]);
        assert_eq!(cycles(&[&[1], &[0], &[3], &[2], &[0]]), [[0, 1], [2, 3]]);
        assert_eq!(cycles(&[&[1], &[2], &[3], &[0, 1]]), [[1, 2, 3]]);
    }

    #[test]
    fn a_ring_and_a_tangle_end_soon() {
        let count = 20_000;
        let ring: Vec<Vec<Edge>> =
            (0..count).map(|at| vec![Edge { to: (at + 1) % count, span: Span::default() }]).collect();
        assert_eq!(Dag::new(ring).cycles()[0].len(), count);
        let chords =
            |at: usize| [1, 3, 7, 11].map(|far| Edge { to: (at + far) % count, span: Span::default() }).to_vec();
        assert!(Dag::new((0..count).map(chords).collect()).cycles()[0].len() <= count / 11 + 4);
    }

    /// Whether a cycle of this length begins anywhere, by trying everything.
    fn shortest_by_force(edges: &[Vec<usize>]) -> Option<usize> {
        let step = |set: &[bool]| {
            let mut next = vec![false; edges.len()];
            for (at, _) in set.iter().enumerate().filter(|(_, there)| **there) {
                edges[at].iter().for_each(|to| next[*to] = true);
            }
            next
        };
        let from = |start: usize| {
            let mut set = vec![false; edges.len()];
            set[start] = true;
            (1..=edges.len()).find(|_| {
                set = step(&set);
                set[start]
            })
        };
        (0..edges.len()).filter_map(from).min()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn cycles_are_cycles_and_the_shortest(edges in prop::collection::vec(prop::collection::vec(0usize..9, 0..4), 9)) {
            let slices: Vec<&[usize]> = edges.iter().map(Vec::as_slice).collect();
            let graph = dag(&slices);
            let found = graph.cycles();
            prop_assert_eq!(found.iter().map(Vec::len).min(), shortest_by_force(&edges));
            for cycle in found {
                for (at, (vertex, edge)) in cycle.iter().enumerate() {
                    prop_assert_eq!(edge.to, cycle[(at + 1) % cycle.len()].0);
                    prop_assert!(edges[*vertex].contains(&edge.to));
                }
            }
        }
    }
}
