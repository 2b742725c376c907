//! Which tools a call may be of, as far as names and kinds tell; nothing when that is none at all.

use super::super::model::{Kind, Matcher, Model};
use super::Together;
use crate::glob;
use crate::matcher::STEP_DEPTH_MAX;
use crate::tools;

/// Ways to be a call that are told apart; where there are more, any call counts as possible.
const WAYS_MAX: usize = 64;

/// One way to be a call.
#[derive(Debug, Clone, Default)]
struct Way {
    /// The tool's name, where it is a certain one.
    name: Option<String>,
    /// Patterns that the name must fit.
    globs: Vec<String>,
    /// The kinds it may be of; `None` for all.
    kinds: Option<Vec<Kind>>,
}

/// All ways that are left; `None` when they cannot be told.
type Ways = Option<Vec<Way>>;

pub(super) struct Tools<'a> {
    pub(super) model: &'a Model,
}

impl Tools<'_> {
    /// Why no call is of tools that fit all parts.
    pub(super) fn never(&self, parts: &Together<'_>) -> Option<String> {
        let ways = self.ways(parts, STEP_DEPTH_MAX)?;
        if ways.is_empty() {
            return Some("no tool fits all its conditions".to_owned());
        }
        if parts.iter().any(|part| looks_into_shells(part)) && !ways.iter().any(|way| way.may_be_of(Kind::Shell)) {
            return Some("it looks into shell texts, and none of its tools has one".to_owned());
        }
        let excluded = |not: &Matcher| only_tools(not) && ways.iter().all(|way| self.is_within(way, &not.tool));
        let excluded = parts.iter().filter_map(|part| part.not.as_deref()).any(excluded);
        excluded.then(|| "its `not` excludes every tool it is about".to_owned())
    }

    /// The ways to be a call that fits all parts. Recursion is bounded by the depth of matchers and of steps.
    fn ways(&self, parts: &Together<'_>, depth: u32) -> Ways {
        let mut left = vec![Way::default()];
        for part in parts {
            if !part.tool.is_empty() {
                left = both(&left, &union(part.tool.iter().map(|name| self.named(name, depth)))?)?;
            }
            if !part.any.is_empty() {
                let choices = part.any.iter().map(|choice| {
                    let mut inner = Together::new();
                    super::flatten(choice, &mut inner);
                    self.ways(&inner, depth)
                });
                // A choice that cannot be told leaves everything open.
                if let Some(choices) = union(choices) {
                    left = both(&left, &choices)?;
                }
            }
        }
        Some(left)
    }

    fn named(&self, name: &str, depth: u32) -> Ways {
        if let Some(kind) = name.strip_prefix('@') {
            return Some(vec![Way { kinds: Some(Kind::parse(kind).into_iter().collect()), ..Way::default() }]);
        }
        if let Some(step) = self.model.steps.iter().find(|step| step.name == name) {
            let mut parts = Together::new();
            super::flatten(&step.matcher, &mut parts);
            let ways = self.ways(&parts, depth.checked_sub(1)?)?;
            let shell = parts.iter().any(|part| looks_into_shells(part));
            return Some(ways.into_iter().filter(|way| !shell || way.may_be_of(Kind::Shell)).collect());
        }
        Some(vec![match glob::is_pattern(name) {
            true => Way { globs: vec![name.to_owned()], ..Way::default() },
            false => Way { name: Some(name.to_owned()), kinds: self.kinds_of(name), ..Way::default() },
        }])
    }

    /// The kinds of a tool: as declared here, or as any host has it. A name that neither knows may be of any kind,
    /// because another definition may declare it.
    fn kinds_of(&self, name: &str) -> Option<Vec<Kind>> {
        if let Some(kind) = self.model.tools.declared(name).and_then(|declaration| declaration.kind) {
            return Some(vec![kind]);
        }
        let mut kinds: Vec<Kind> = tools::TOOLS.iter().filter(|tool| tool.name == name).map(|tool| tool.kind).collect();
        if kinds.is_empty() {
            return None;
        }
        kinds.push(Kind::Other);
        Some(kinds)
    }

    /// Whether a call of this way is surely one of these names; steps are not looked into.
    fn is_within(&self, way: &Way, names: &[String]) -> bool {
        let step = |name: &str| self.model.steps.iter().any(|step| step.name == name);
        names.iter().any(|name| match (name.strip_prefix('@').map(Kind::parse), &way.name) {
            (Some(kind), _) => way.kinds.as_ref().is_some_and(|kinds| kinds.iter().all(|own| Some(*own) == kind)),
            (None, Some(own)) => !step(name) && glob::text_matches(name, own),
            (None, None) => false,
        })
    }
}

impl Way {
    fn may_be_of(&self, kind: Kind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// A call that is of both ways, if there may be one.
    fn and(&self, other: &Self) -> Option<Self> {
        let name = match (&self.name, &other.name) {
            (Some(one), Some(two)) if one != two => return None,
            (one, two) => one.clone().or_else(|| two.clone()),
        };
        let globs: Vec<String> = self.globs.iter().chain(&other.globs).cloned().collect();
        if name.as_ref().is_some_and(|name| !globs.iter().all(|pattern| glob::text_matches(pattern, name))) {
            return None;
        }
        let kinds = match (&self.kinds, &other.kinds) {
            (Some(one), Some(two)) => Some(one.iter().copied().filter(|kind| two.contains(kind)).collect()),
            (one, two) => one.clone().or_else(|| two.clone()),
        };
        kinds.as_ref().is_none_or(|kinds: &Vec<Kind>| !kinds.is_empty()).then_some(Self { name, globs, kinds })
    }
}

/// Whether a matcher holds for shell calls alone.
fn looks_into_shells(matcher: &Matcher) -> bool {
    matcher.command.is_some() || matcher.opaque
}

/// Whether a matcher looks at nothing but the tool.
fn only_tools(matcher: &Matcher) -> bool {
    *matcher == Matcher { tool: matcher.tool.clone(), ..Matcher::default() }
}

fn union(all: impl Iterator<Item = Ways>) -> Ways {
    let mut ways = Vec::new();
    for some in all {
        ways.extend(some?);
    }
    (ways.len() <= WAYS_MAX).then_some(ways)
}

fn both(one: &[Way], two: &[Way]) -> Ways {
    let ways: Vec<Way> = one.iter().flat_map(|first| two.iter().filter_map(|second| first.and(second))).collect();
    (ways.len() <= WAYS_MAX).then_some(ways)
}
