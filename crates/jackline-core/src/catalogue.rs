//! The tools that a surface knows from their server itself, with what their arguments must fit.
//!
//! It stands beside the definitions and is none: it makes tools known and gives them schemas, and it judges nothing.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::definition::model::SchemaSource;
use crate::schema::Schema;

/// What a server offers, by the names under which its tools are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Each tool with the JSON Schema of its arguments, where it says.
    tools: BTreeMap<String, Option<Offered>>,
    /// Names that several tools have.
    doubled: BTreeSet<String>,
    /// Why nobody can tell what is offered.
    unread: Option<String>,
}

/// A schema as text, and as it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offered {
    text: String,
    schema: Schema,
}

impl Offered {
    fn of(text: String) -> Self {
        Self { schema: Schema::Inline(SchemaSource::digest(&text)), text }
    }
}

impl Catalogue {
    /// What is known of a server whose list of tools could not be read, for this reason: nothing.
    #[must_use]
    pub fn unread(why: impl Into<String>) -> Self {
        Self { unread: Some(why.into()), ..Self::default() }
    }

    /// Adds a tool. Of two tools of one name neither can be called: which one is meant cannot be told.
    pub fn add(&mut self, name: impl Into<String>, schema: Option<String>) {
        match self.tools.entry(name.into()) {
            Entry::Occupied(known) => {
                self.doubled.insert(known.key().clone());
            }
            Entry::Vacant(free) => {
                free.insert(schema.map(Offered::of));
            }
        }
    }

    /// Whether a tool is offered, or may be for all that is known.
    #[must_use]
    pub fn knows(&self, tool: &str) -> bool {
        self.unread.is_some() || self.tools.contains_key(tool)
    }

    /// Why it cannot be told what a call of this tool would do.
    #[must_use]
    pub fn unclear(&self, tool: &str) -> Option<String> {
        let doubled = || format!("The server offers several tools that are all '{tool}' here.");
        let unread = self.unread.as_ref().map(|why| format!("What tools the server offers cannot be told: {why}."));
        unread.or_else(|| self.doubled.contains(tool).then(doubled))
    }

    /// Whether a tool stands in the list.
    #[must_use]
    pub fn lists(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Every name in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// What the arguments of a tool must fit.
    #[must_use]
    pub fn schema(&self, tool: &str) -> Option<Schema> {
        self.tools.get(tool)?.as_ref().map(|offered| offered.schema.clone())
    }

    /// The text of that schema, where it is the one that is asked for.
    #[must_use]
    pub fn text(&self, schema: &Schema, tool: &str) -> Option<&str> {
        self.tools.get(tool)?.as_ref().filter(|offered| offered.schema == *schema).map(|offered| offered.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_tools_of_one_name_neither_is_clear() {
        let mut catalogue = Catalogue::default();
        catalogue.add("a", Some("{}".to_owned()));
        let schema = catalogue.schema("a").unwrap();
        assert_eq!((catalogue.text(&schema, "a"), catalogue.text(&schema, "b")), (Some("{}"), None));
        assert!(catalogue.knows("a") && !catalogue.knows("b"));
        assert_eq!(catalogue.unclear("a"), None);
        catalogue.add("a", Some("{\"type\":\"object\"}".to_owned()));
        assert!(catalogue.unclear("a").is_some() && catalogue.knows("a") && catalogue.unclear("b").is_none());
        let unread = Catalogue::unread("it has no end");
        assert!(unread.knows("a") && unread.unclear("a").is_some_and(|why| why.contains("it has no end")));
    }
}
