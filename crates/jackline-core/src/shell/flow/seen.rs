//! Files that a text shows whole before it changes them: `cat F && sed -i .. F`.

use super::super::tree::Pipeline;
use super::super::{Dir, Touch};
use super::Node;
use crate::path::Role;

/// Files that the parts of a chain have shown whole so far. Each part runs only if those before it succeeded.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<(String, Dir)>);

impl Seen {
    /// Marks what the next part changes of that, and goes on with what it shows. A part that may do anything else leaves
    /// nothing known: it may have changed a file meanwhile.
    pub(super) fn follow(&mut self, part: &Pipeline, touches: &mut [Touch]) {
        for touch in touches.iter_mut().filter(|touch| touch.role == Role::Write) {
            touch.seen |= self.holds(touch);
        }
        let shows = |touch: &Touch| touch.role == Role::Read && touch.whole && touch.path.known();
        let harmless = touches.iter().all(|touch| touch.role == Role::Read || touch.seen);
        if !is_simple(part) || !harmless || !touches.iter().any(|touch| touch.seen || shows(touch)) {
            self.0.clear();
            return;
        }
        let shown = touches.iter().filter(|touch| shows(touch));
        self.0.extend(shown.map(|touch| (touch.path.text.clone(), touch.dir.clone())));
    }

    fn holds(&self, touch: &Touch) -> bool {
        touch.path.known() && self.0.iter().any(|(path, dir)| *path == touch.path.text && *dir == touch.dir)
    }
}

/// Whether it is one command, whose success is its own.
fn is_simple(part: &Pipeline) -> bool {
    !part.negated && matches!(part.nodes.as_slice(), [Node::Simple(_)])
}
