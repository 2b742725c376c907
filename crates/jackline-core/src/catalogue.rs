//! The tools that a surface knows from their server itself, with what their arguments must fit.
//!
//! It stands beside the definitions and is none: it makes tools known and gives them schemas, and it judges nothing.

use std::collections::BTreeMap;

use crate::definition::model::SchemaSource;
use crate::schema::Schema;

/// What a server offers, by the names under which its tools are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Each tool with the JSON Schema of its arguments, where it says.
    tools: BTreeMap<String, Option<String>>,
}

impl Catalogue {
    /// Adds a tool. Two tools of one name have no schema: which one is meant cannot be told.
    pub fn add(&mut self, name: impl Into<String>, schema: Option<String>) {
        let name = name.into();
        let schema = schema.filter(|_| !self.tools.contains_key(&name));
        self.tools.insert(name, schema);
    }

    #[must_use]
    pub fn knows(&self, tool: &str) -> bool {
        self.tools.contains_key(tool)
    }

    /// Every name in it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// What the arguments of a tool must fit.
    #[must_use]
    pub fn schema(&self, tool: &str) -> Option<Schema> {
        self.tools.get(tool)?.as_deref().map(|text| Schema::Inline(SchemaSource::digest(text)))
    }

    /// The text of that schema, where it is the one that is asked for.
    #[must_use]
    pub fn text(&self, schema: &Schema, tool: &str) -> Option<&str> {
        let text = self.tools.get(tool)?.as_deref()?;
        (*schema == Schema::Inline(SchemaSource::digest(text))).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tools_of_one_name_have_no_schema() {
        let mut catalogue = Catalogue::default();
        catalogue.add("a", Some("{}".to_owned()));
        let schema = catalogue.schema("a").unwrap();
        assert_eq!((catalogue.text(&schema, "a"), catalogue.text(&schema, "b")), (Some("{}"), None));
        assert!(catalogue.knows("a") && !catalogue.knows("b"));
        catalogue.add("a", Some("{\"type\":\"object\"}".to_owned()));
        assert!(catalogue.schema("a").is_none() && catalogue.knows("a"));
    }
}
