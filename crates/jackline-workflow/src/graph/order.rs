//! In which order things stand in their column, so that few edges cross: each goes to the middle of its neighbours, a few
//! times over. Edges that pass through columns have a bend in each.

use super::Picture;
use super::layers::Layers;

/// Bends of all edges: a long chain with many long edges could have millions, and then straight lines must do.
const BENDS_MAX: usize = 20_000;
/// Sweeps over all columns; the order hardly changes after so many.
const SWEEPS: usize = 8;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Node(usize),
    /// Where an edge passes.
    Bend(usize),
}

/// Slots by number, the columns they stand in, and which of them are joined.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) slots: Vec<Slot>,
    /// The slots of each column, from top to bottom.
    pub(super) columns: Vec<Vec<usize>>,
    /// Neighbours of each slot in the columns before and behind it.
    pub(super) before: Vec<Vec<usize>>,
    pub(super) behind: Vec<Vec<usize>>,
    /// The slots along each edge, from its first node to its last; empty for those that lead back.
    pub(super) routes: Vec<Vec<usize>>,
}

impl Order {
    pub(super) fn of(picture: &Picture, layers: &Layers) -> Self {
        let slots: Vec<Slot> = (0..picture.nodes.len()).map(Slot::Node).collect();
        let nothing = vec![Vec::new(); slots.len()];
        let mut order =
            Self { slots, columns: layers.columns(), before: nothing.clone(), behind: nothing, routes: Vec::new() };
        for (at, edge) in picture.edges.iter().enumerate() {
            let route = if layers.is_back(at) { Vec::new() } else { order.route(at, (edge.from, edge.to), layers) };
            for pair in route.windows(2) {
                if let [one, other] = pair {
                    push(&mut order.behind, *one, *other);
                    push(&mut order.before, *other, *one);
                }
            }
            order.routes.push(route);
        }
        for sweep in 0..SWEEPS {
            order.sweep(sweep % 2 == 0);
        }
        order
    }

    /// The slots of an edge, with a bend in every column between its ends.
    fn route(&mut self, edge: usize, (from, to): (usize, usize), layers: &Layers) -> Vec<usize> {
        let level = |node: usize| layers.level.get(node).copied().unwrap_or_default();
        let between = level(from) + 1..level(to);
        let bends = self.slots.len().saturating_sub(layers.level.len());
        if bends + between.len() > BENDS_MAX {
            return vec![from, to];
        }
        let mut route = vec![from];
        for column in between {
            let slot = self.slots.len();
            self.slots.push(Slot::Bend(edge));
            self.before.push(Vec::new());
            self.behind.push(Vec::new());
            push(&mut self.columns, column, slot);
            route.push(slot);
        }
        route.push(to);
        route
    }

    /// Sorts every column by the middle of its neighbours in the one before it, or behind it.
    fn sweep(&mut self, forward: bool) {
        let mut at = vec![0; self.slots.len()];
        let neighbours = if forward { &self.before } else { &self.behind };
        let columns = self.columns.len();
        for step in 0..columns {
            let column = if forward { step } else { columns - 1 - step };
            let Some(slots) = self.columns.get_mut(column) else { continue };
            slots.iter().enumerate().for_each(|(own, slot)| set(&mut at, *slot, own));
            let mut middles: Vec<(usize, usize)> =
                slots.iter().map(|slot| (middle(neighbours.get(*slot), &at, *slot), *slot)).collect();
            middles.sort_by_key(|(middle, _)| *middle);
            *slots = middles.into_iter().map(|(_, slot)| slot).collect();
            slots.iter().enumerate().for_each(|(own, slot)| set(&mut at, *slot, own));
        }
    }
}

fn set(at: &mut [usize], slot: usize, place: usize) {
    if let Some(at) = at.get_mut(slot) {
        *at = place;
    }
}

fn push(lists: &mut [Vec<usize>], list: usize, slot: usize) {
    if let Some(list) = lists.get_mut(list) {
        list.push(slot);
    }
}

/// The mean place of neighbours, in hundredths; the own place for a slot that has none.
fn middle(neighbours: Option<&Vec<usize>>, at: &[usize], own: usize) -> usize {
    let place = |slot: usize| at.get(slot).copied().unwrap_or_default() * 100;
    match neighbours.filter(|neighbours| !neighbours.is_empty()) {
        Some(neighbours) => neighbours.iter().map(|slot| place(*slot)).sum::<usize>() / neighbours.len(),
        None => place(own),
    }
}
