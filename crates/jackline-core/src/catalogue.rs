//! The tools that a surface knows from their server itself, with what their arguments must fit.
//!
//! It stands beside the definitions and is none: it makes tools known and gives them schemas, and it judges nothing.

use std::collections::BTreeMap;

use crate::definition::model::SchemaSource;
use crate::schema::Schema;
use crate::sha::Digest;

/// What a server offers, by the names under which its tools are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// Each tool with the JSON Schema of its arguments, where it has one that can be used.
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

    /// The texts of all schemas, by the digests that probes name them by.
    pub fn schemas(&self) -> impl Iterator<Item = (Digest, &str)> {
        self.tools.values().flatten().map(|text| (SchemaSource::digest(text), text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tools_of_one_name_have_no_schema() {
        let mut catalogue = Catalogue::default();
        catalogue.add("a", Some("{}".to_owned()));
        assert!(catalogue.schema("a").is_some() && catalogue.knows("a") && !catalogue.knows("b"));
        catalogue.add("a", Some("{\"type\":\"object\"}".to_owned()));
        assert!(catalogue.schema("a").is_none() && catalogue.knows("a"));
        assert_eq!(catalogue.schemas().count(), 0);
    }
}
