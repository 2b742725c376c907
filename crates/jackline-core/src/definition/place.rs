//! Where in a definition something is: a path of keys and items, looked up in the tree when a fault is found.

use super::fault::Span;
use super::yaml::Node;

/// A place, as a chain up to the root that lives on the stack.
#[derive(Debug, Clone, Copy)]
pub(super) enum At<'a> {
    Root,
    /// The value under a key.
    Key(&'a At<'a>, &'a str),
    /// The key itself.
    Name(&'a At<'a>, &'a str),
    Item(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    /// The value under a key of this place.
    #[must_use]
    pub(super) const fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    /// A key of this place.
    #[must_use]
    pub(super) const fn name(&'a self, key: &'a str) -> Self {
        Self::Name(self, key)
    }

    /// An item of this place.
    #[must_use]
    pub(super) const fn item(&'a self, index: usize) -> Self {
        Self::Item(self, index)
    }

    /// The place in a tree; where it is not spelled out there (a default, one text instead of a list), what holds it.
    #[must_use]
    pub(super) fn span(&self, root: &Node) -> Span {
        match self {
            Self::Name(parent, key) => {
                let node = parent.node(root);
                node.entry(key).map_or(node.span, |entry| entry.key_span)
            }
            _ => self.node(root).span,
        }
    }

    fn node<'t>(&self, root: &'t Node) -> &'t Node {
        match self {
            Self::Root => root,
            Self::Key(parent, key) | Self::Name(parent, key) => {
                let node = parent.node(root);
                node.get(key).unwrap_or(node)
            }
            Self::Item(parent, index) => {
                let node = parent.node(root);
                node.items().get(*index).unwrap_or(node)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fault::Faults, yaml};
    use super::*;

    #[test]
    fn places_are_found_or_what_holds_them() {
        let source = "a:\n  - {b: one}\n  - {b: [x, y]}\n";
        let root = yaml::read(source, &mut Faults::default()).unwrap();
        let text = |at: &At<'_>| {
            let span = at.span(&root);
            &source[span.start..span.end]
        };
        let list = At::Root.key("a");
        let (first, second) = (list.item(0), list.item(1));
        assert_eq!(text(&second.key("b").item(1)), "y");
        assert_eq!(text(&first.key("b").item(7)), "one");
        assert_eq!(text(&first.name("b")), "b");
        assert_eq!(text(&first.key("c")), "{b: one}");
    }
}
