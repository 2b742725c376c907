//! Where everything stands on the page, in pixels: levels from left to right, each agent near those it is joined to.

use super::layers::Layers;
use super::order::{Order, Slot};
use super::{Picture, label};

/// Height of a line of text.
pub(super) const LINE_PX: i64 = 16;
/// Between the page's edge and anything on it.
pub(super) const MARGIN_PX: i64 = 24;
/// Room for the title and the names of levels.
const HEAD_PX: i64 = 84;
/// Between the text of a box and its border.
pub(super) const PADDING_PX: i64 = 12;
/// Between things of one column.
const GAP_PX: i64 = 18;
/// Between columns, without texts on edges.
const ALLEY_PX: i64 = 72;
/// Columns of a condition on an edge: enough to recognise it; the whole is a tooltip.
pub(super) const CONDITION_COLUMNS_MAX: usize = 22;
/// Room at both sides for edges that lead back.
const DETOUR_PX: i64 = 46;
/// Between edges that lead back, below everything else.
const LANE_PX: i64 = 12;
/// Lanes for edges that lead back: more share them.
const LANES_MAX: usize = 24;
/// Sweeps that move things towards their neighbours; little moves after so many.
const SWEEPS: usize = 6;

/// A box on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Rect {
    pub(super) x: i64,
    pub(super) y: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

impl Rect {
    pub(super) const fn middle(&self) -> i64 {
        self.y + self.height / 2
    }

    pub(super) const fn right(&self) -> i64 {
        self.x + self.width
    }
}

/// A page with everything in its place.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) width: i64,
    /// Where the lowest box ends.
    lowest: i64,
    /// Where the graph ends, edges that lead back included.
    pub(super) bottom: i64,
    /// A box for each slot; a bend's is as wide as its column and flat.
    pub(super) rects: Vec<Rect>,
    /// The middle of each column.
    pub(super) columns: Vec<i64>,
}

impl Page {
    pub(super) fn of(picture: &Picture, layers: &Layers, order: &Order) -> Self {
        let rects = vec![Rect::default(); order.slots.len()];
        let mut page = Self { width: 0, lowest: HEAD_PX, bottom: HEAD_PX, rects, columns: Vec::new() };
        page.size(picture, order);
        page.across(picture, layers, order);
        for sweep in 0..SWEEPS {
            page.sweep(order, sweep % 2 == 0);
        }
        page.settle(layers);
        page
    }

    fn rect(&self, slot: usize) -> Rect {
        self.rects.get(slot).copied().unwrap_or_default()
    }

    fn with(&mut self, slot: usize, change: impl FnOnce(&mut Rect)) {
        if let Some(rect) = self.rects.get_mut(slot) {
            change(rect);
        }
    }

    /// How large each box must be.
    fn size(&mut self, picture: &Picture, order: &Order) {
        for (at, slot) in order.slots.iter().enumerate() {
            let Slot::Node(node) = slot else { continue };
            let lines = picture.nodes.get(*node).map(label::lines).unwrap_or_default();
            let columns = lines.iter().map(|line| label::columns(line)).max().unwrap_or_default();
            self.with(at, |rect| {
                rect.width = wide(columns) + 2 * PADDING_PX;
                rect.height = px(lines.len()) * LINE_PX + 2 * PADDING_PX - LINE_PX / 4;
            });
        }
    }

    /// Columns from left to right, each as wide as its widest box, with room for conditions in front of it.
    fn across(&mut self, picture: &Picture, layers: &Layers, order: &Order) {
        let rooms = rooms(picture, layers);
        let mut x = MARGIN_PX;
        for (at, column) in order.columns.iter().enumerate() {
            x += if at == 0 { detour_room(layers) } else { rooms.get(at).copied().unwrap_or(ALLEY_PX) };
            let width = column.iter().map(|slot| self.rect(*slot).width).max().unwrap_or_default();
            for slot in column {
                self.with(*slot, |rect| (rect.x, rect.width) = (x, width));
            }
            self.columns.push(x + width / 2);
            x += width;
        }
        self.width = x + MARGIN_PX + detour_room(layers);
    }

    /// Moves the things of each column towards their neighbours, in order and without touching.
    fn sweep(&mut self, order: &Order, forward: bool) {
        let neighbours = if forward { &order.before } else { &order.behind };
        let columns: Vec<&Vec<usize>> =
            if forward { order.columns.iter().collect() } else { order.columns.iter().rev().collect() };
        for column in columns {
            let wanted: Vec<i64> = column.iter().map(|slot| self.wanted(*slot, neighbours.get(*slot))).collect();
            let mut next = i64::MIN;
            let mut drift = 0;
            for (slot, wanted) in column.iter().zip(&wanted) {
                let y = (*wanted).max(next);
                drift += *wanted - y;
                next = y + self.rect(*slot).height + GAP_PX;
                self.with(*slot, |rect| rect.y = y);
            }
            let drift = drift / px(column.len()).max(1);
            column.iter().for_each(|slot| self.with(*slot, |rect| rect.y += drift));
        }
    }

    /// The top that would put a slot level with its neighbours.
    fn wanted(&self, slot: usize, neighbours: Option<&Vec<usize>>) -> i64 {
        let own = self.rect(slot);
        match neighbours.filter(|neighbours| !neighbours.is_empty()) {
            Some(neighbours) => {
                let middles: i64 = neighbours.iter().map(|slot| self.rect(*slot).middle()).sum();
                middles / px(neighbours.len()) - own.height / 2
            }
            None => own.y,
        }
    }

    /// Moves everything below the head, and finds the bottom.
    fn settle(&mut self, layers: &Layers) {
        let top = self.rects.iter().map(|rect| rect.y).min().unwrap_or_default();
        for rect in &mut self.rects {
            rect.y += HEAD_PX - top;
        }
        self.lowest = self.rects.iter().map(|rect| rect.y + rect.height).max().unwrap_or(HEAD_PX);
        let lanes = layers.back.iter().filter(|back| **back).count();
        self.bottom = if lanes == 0 { self.lowest } else { self.lane(lanes.min(LANES_MAX)) };
    }

    /// The height of a lane below all boxes.
    pub(super) fn lane(&self, lane: usize) -> i64 {
        self.lowest + px(lane % LANES_MAX + 1) * LANE_PX
    }
}

/// Room at both sides for edges that lead back.
fn detour_room(layers: &Layers) -> i64 {
    if layers.back.contains(&true) { DETOUR_PX } else { 0 }
}

/// The room in front of each column: more where conditions are written.
fn rooms(picture: &Picture, layers: &Layers) -> Vec<i64> {
    let mut rooms = vec![ALLEY_PX; layers.count()];
    for edge in &picture.edges {
        let Some(condition) = &edge.condition else { continue };
        let columns = label::columns(&label::cut(condition, CONDITION_COLUMNS_MAX));
        let level = layers.level.get(edge.to).copied().unwrap_or_default();
        if let Some(room) = rooms.get_mut(level) {
            *room = (*room).max(wide(columns) + ALLEY_PX);
        }
    }
    rooms
}

/// How wide so many columns of text are: 7.3 pixels each.
pub(super) fn wide(columns: usize) -> i64 {
    px(columns) * 73 / 10
}

/// A count as pixels are counted.
pub(super) fn px(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
