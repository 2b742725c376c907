//! Whether what a definition says about feedback can be meant so.

use std::collections::BTreeSet;

use super::super::feedback::{PROVIDERS_MAX, faults};
use super::super::model::Model;
use super::super::place::At;
use super::{Check, clip};

impl Check<'_> {
    pub(super) fn feedback(&mut self, model: &Model, at: &At<'_>) {
        if model.feedback.len() > PROVIDERS_MAX {
            self.error(format!("more than {PROVIDERS_MAX} providers give feedback"), None, &At::Root.name("feedback"));
        }
        let mut names = BTreeSet::new();
        for (index, provider) in model.feedback.iter().enumerate() {
            let item = at.item(index);
            self.owner = format!("feedback {:?}: ", clip(provider.signature()));
            if let Some(name) = &provider.name {
                self.own_name("provider", name, &item.key("name"));
                if !names.insert(name) {
                    self.error("the name is used twice".to_owned(), None, &item.key("name"));
                }
            }
            for found in faults(provider, model) {
                let place = if found.key.is_empty() { item } else { item.key(found.key) };
                let told = self.tree.is_some_and(|tree| self.faults.error_inside(&place.span(tree)));
                if !told {
                    self.put(found.fault, &place);
                }
            }
        }
        self.owner.clear();
    }
}
