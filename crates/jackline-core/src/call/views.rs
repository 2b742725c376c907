//! A call as each definition in force sees it: what one declares of a tool is not the word of another.
//!
//! A definition goes by what it declares itself, else by what a wider one declares, else by what is known of the tool.
//! So no declaration makes a tool known to a definition that lacks it, or takes a kind or a path away from it.

use super::View;
use crate::definition::model::Declaration;
use crate::event::Call;
use crate::stack::{Layer, Stack};
use crate::tools;

/// A call as the layers of a stack see it; nearly always all of them see the same.
#[derive(Debug, Clone)]
pub struct Views<'a> {
    /// What is gone by where no layer is asked: what the widest one sees, unless that is nothing.
    pub first: View<'a>,
    others: Vec<View<'a>>,
    /// For each layer the number of its view, the first being 0; empty where there is only one.
    own: Vec<usize>,
}

impl<'a> Views<'a> {
    /// Looks at a call from `dir`.
    #[must_use]
    pub fn new(call: &'a Call, host: Option<&str>, dir: &str, stack: &Stack) -> Self {
        let seen = |declared: Option<&Declaration>| {
            let mut view = View::new(call, host, dir, declared);
            view.unknown = call.unlisted || view.unknown && !stack.offers(&call.tool);
            view
        };
        if stack.layers.iter().all(|layer| layer.model.tools.declare.is_empty()) {
            return Self { first: seen(None), others: Vec::new(), own: Vec::new() };
        }
        let said = Said::of(call, host, stack);
        let mut views = said.different.into_iter().map(seen);
        let first = views.next().unwrap_or_else(|| seen(None));
        Self { first, others: views.collect(), own: said.own }
    }

    /// Every way in which the call is seen, the first first.
    pub fn all(&self) -> impl Iterator<Item = &View<'a>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Whether all layers see the same.
    #[must_use]
    pub const fn agree(&self) -> bool {
        self.others.is_empty()
    }

    /// The call as a layer of this stack sees it by itself.
    #[must_use]
    pub fn of(&self, stack: &Stack, layer: &Layer) -> &View<'a> {
        if self.agree() {
            return &self.first;
        }
        let at = stack.layers.iter().position(|known| std::ptr::eq(known, layer));
        let number = at.and_then(|at| self.own.get(at)).copied().unwrap_or_default();
        number.checked_sub(1).and_then(|number| self.others.get(number)).unwrap_or(&self.first)
    }

    /// What others declare of the tool, beside what this layer goes by itself: it adds what may be guarded.
    pub fn declared_by_others<'v>(&'v self, own: &'v View<'a>) -> impl Iterator<Item = &'v View<'a>> {
        self.all().filter(move |view| view.declared && !std::ptr::eq(*view, own))
    }
}

/// What layers say of a tool.
struct Said<'s> {
    /// Each different thing once.
    different: Vec<Option<&'s Declaration>>,
    /// For each layer the number of what it goes by.
    own: Vec<usize>,
}

impl<'s> Said<'s> {
    fn of(call: &Call, host: Option<&str>, stack: &'s Stack) -> Self {
        let mut maybe = tools::other_splits(host, &call.tool);
        if let Some(own) = tools::of_some_server(host, &call.tool) {
            let declared = stack.layers.iter().flat_map(|layer| layer.model.tools.declare.keys());
            maybe.extend(declared.filter(|name| tools::means_of_some_server(name, own)).cloned());
        }
        let names: Vec<&str> = std::iter::once(&call.tool).chain(&maybe).map(String::as_str).collect();
        let in_table = tools::lookup(host, &call.tool).is_some();
        let told = |declared: &&Declaration| !in_table || declared.kind.is_some() || !declared.path.is_empty();
        let gone_by: Vec<Option<&Declaration>> =
            (0..stack.layers.len()).map(|at| stack.declaration(at, &names).filter(told)).collect();
        let known = in_table || names.iter().any(|name| tools::guess(name).is_some());
        let widest = gone_by.first().copied().flatten();
        // Where nothing is known of a tool, whatever is declared of it can only add.
        let first = if known { widest } else { widest.or_else(|| gone_by.iter().find_map(|declared| *declared)) };
        let mut different = vec![first];
        let own = gone_by.iter().map(|declared| number(&mut different, *declared)).collect();
        Self { different, own }
    }
}

/// The number of what a layer goes by among what is known already; something new gets the next.
fn number<'s>(different: &mut Vec<Option<&'s Declaration>>, declared: Option<&'s Declaration>) -> usize {
    let said = |declared: Option<&'s Declaration>| declared.map(|declared| (declared.kind, &declared.path));
    if let Some(at) = different.iter().position(|known| said(*known) == said(declared)) {
        return at;
    }
    different.push(declared);
    different.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Kind;
    use crate::sha::Digest;
    use crate::stack::Origin;
    use serde_json::json;

    fn layer(tools: &str, origin: Origin) -> Layer {
        let text = format!("jackline: 1\ntools: {{ {tools} }}\n");
        let model = crate::definition::parse(&text, &tools::names()).expect("fine").model;
        Layer::new(model, Digest::of(text.as_bytes()), origin, true)
    }

    /// Whether each layer knows the tool and as what, and how many different views there are.
    fn seen(tool: &str, layers: Vec<Layer>) -> (Vec<(bool, Kind)>, usize) {
        let stack = Stack { layers, ..Stack::default() };
        let call = Call::new(tool, json!({"path": "a", "command": "rm a"}));
        let views = Views::new(&call, Some("claude"), "/ws", &stack);
        let of = |layer| {
            let view = views.of(&stack, layer);
            (!view.unknown, view.kind)
        };
        (stack.layers.iter().map(of).collect(), views.all().count())
    }

    #[test]
    fn a_declaration_is_the_word_of_its_own_layer_and_of_narrower_ones() {
        let silent = |origin| layer("", origin);
        let says = |what: &str, origin| layer(&format!("declare: {{ {what} }}"), origin);
        let (wide, own, before) = (Origin::User, Origin::Project, Origin::Accepted);
        let (known, unknown) = (|kind| (true, kind), |kind| (false, kind));
        // What a project says does not count for its user, nor what a change of it says for what was accepted.
        let evil = || says("evil: {}", own);
        assert_eq!(seen("evil", vec![silent(wide), evil()]), (vec![unknown(Kind::Other), known(Kind::Other)], 2));
        assert_eq!(seen("evil", vec![silent(before), evil()]), (vec![unknown(Kind::Other), known(Kind::Other)], 2));
        // What a user says counts for every project that says nothing else.
        let users = || says("sh: { kind: shell }", wide);
        assert_eq!(seen("sh", vec![users(), silent(own)]), (vec![known(Kind::Shell); 2], 1));
        let both = vec![users(), says("sh: { kind: other }", own)];
        assert_eq!(seen("sh", both), (vec![known(Kind::Shell), known(Kind::Other)], 2));
        // What is known or guessed of a tool stays.
        let guessed = says("mcp__fs__write_file: { kind: other }", own);
        assert_eq!(
            seen("mcp__fs__write_file", vec![silent(wide), guessed]),
            (vec![unknown(Kind::Write), known(Kind::Other)], 2)
        );
        let bash = says("Bash: { kind: other }", own);
        assert_eq!(seen("Bash", vec![silent(wide), bash]), (vec![known(Kind::Shell), known(Kind::Other)], 2));
        // What says nothing of a known tool's kind and paths makes no difference, and one layer never differs.
        let schema = says("Bash: { schema: { type: object } }", own);
        assert_eq!(seen("Bash", vec![silent(wide), schema]), (vec![known(Kind::Shell); 2], 1));
        assert_eq!(seen("evil", vec![evil()]), (vec![known(Kind::Other)], 1));
    }

    #[test]
    fn a_declaration_without_a_kind_leaves_what_a_name_suggests() {
        let schema = layer("declare: { mcp__fs__write_file: { schema: { type: object } } }", Origin::Project);
        assert_eq!(seen("mcp__fs__write_file", vec![schema]), (vec![(true, Kind::Write)], 1));
    }
}
