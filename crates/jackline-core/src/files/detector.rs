//! Whether a policy fires for the files that changed, and for which of them.

pub use super::matcher::{Changed, Changes};
use super::pattern::Pattern;
use super::policy::{Detection, Policy};
use super::resolver::expected;
use serde::{Deserialize, Serialize};

/// What a policy makes of the changed files; nothing at all when it is about none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    pub state: State,
    /// The files that fired it, in order.
    pub trigger_files: Vec<String>,
    /// What should have changed and did not, in order, each once.
    pub expected_files: Vec<String>,
    /// What kept it from firing.
    pub matched_files: Vec<String>,
    /// Which file asks for which, one by one.
    pub pairs: Vec<Pair>,
}

/// Whether a policy fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Fires,
    /// A safety pattern matched.
    Safe,
    /// Everything that corresponds changed too.
    Met,
}

/// A file, and the one that should have changed along with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    pub from: String,
    pub to: String,
}

/// Holds a policy against the changed files.
#[must_use]
pub fn detect(policy: &Policy, changes: &Changes) -> Option<Detected> {
    detect_among(policy, changes, |_| true, |_, _| true)
}

/// The same where only some of the changed files ask for something, and each is answered by some of them only.
#[must_use]
pub fn detect_among(
    policy: &Policy,
    changes: &Changes,
    asks: impl Fn(&str) -> bool,
    answers: impl Fn(&str, &str) -> bool,
) -> Option<Detected> {
    match &policy.detection {
        Detection::Trigger { trigger, safety } => {
            let trigger_files = changes.matching_any(trigger, |file| asks(&file.path));
            let safe =
                changes.matching_any(safety, |file| trigger_files.iter().all(|asking| answers(asking, &file.path)));
            Detected::plain(trigger_files, safe)
        }
        Detection::Created(patterns) => {
            Detected::plain(changes.matching_any(patterns, |file| file.created && asks(&file.path)), Vec::new())
        }
        Detection::Pair { trigger, expects } => {
            let mut found = Correspondence::default();
            let expected = |path: &str| expects.iter().any(|other| other.is_nearer(trigger) && other.matches(path));
            for file in changes.near(trigger).filter(|file| asks(&file.path) && !expected(&file.path)) {
                found.look(file, trigger, expects.iter(), (changes, &answers));
            }
            found.detected()
        }
        Detection::Set(patterns) => Some(set(patterns, changes, asks, answers)).and_then(Correspondence::detected),
    }
}

/// The same where directories cannot be listed: what a policy asks about may be new in them, so it fires for those.
#[must_use]
pub fn with_closed(policy: &Policy, seen: Option<Detected>, closed: &[String]) -> Option<Detected> {
    let asking: &[Pattern] = match &policy.detection {
        Detection::Trigger { trigger, .. } => trigger,
        Detection::Created(patterns) | Detection::Set(patterns) => patterns,
        Detection::Pair { trigger, .. } => std::slice::from_ref(trigger),
    };
    let asks = |dir: &&String| asking.iter().any(|pattern| may_match_below(pattern, dir));
    let hidden: Vec<String> = closed.iter().filter(asks).cloned().collect();
    if hidden.is_empty() || seen.as_ref().is_some_and(|seen| seen.state == State::Safe) {
        return seen;
    }
    let (pairs, expected_files, matched_files) = seen.as_ref().map_or_else(Default::default, |seen| {
        (seen.pairs.clone(), seen.expected_files.clone(), seen.matched_files.clone())
    });
    let known = seen.filter(|seen| seen.state == State::Fires).map(|seen| seen.trigger_files).unwrap_or_default();
    let mut trigger_files: Vec<String> = known.into_iter().chain(hidden).collect();
    trigger_files.sort_unstable();
    trigger_files.dedup();
    Some(Detected { state: State::Fires, trigger_files, expected_files, matched_files, pairs })
}

/// Whether a path below a directory may match, as far as what all of them begin with tells.
fn may_match_below(pattern: &Pattern, dir: &str) -> bool {
    let below = if dir.is_empty() { String::new() } else { format!("{dir}/") };
    below.starts_with(pattern.prefix()) || pattern.prefix().starts_with(&below)
}

/// Every file asks for what corresponds to it by the pattern that says most of it; of two such, by the first: `a_test.go`
/// is the test of `a.go`, and no source of its own, though `{path}.go` matches it too.
fn set(
    patterns: &[Pattern],
    changes: &Changes,
    asks: impl Fn(&str) -> bool,
    answers: impl Fn(&str, &str) -> bool,
) -> Correspondence {
    let mut found = Correspondence::default();
    for (at, pattern) in patterns.iter().enumerate() {
        let goes_before =
            |(place, other): &(usize, &Pattern)| other.is_nearer(pattern) || (*place < at && !pattern.is_nearer(other));
        let before: Vec<&Pattern> = patterns.iter().enumerate().filter(goes_before).map(|(_, other)| other).collect();
        let own = |file: &&Changed| asks(&file.path) && !before.iter().any(|other| other.matches(&file.path));
        for file in changes.near(pattern).filter(own) {
            let others = patterns.iter().filter(|other| !other.is_same(pattern));
            found.look(file, pattern, others, (changes, &answers));
        }
    }
    found
}

impl Detected {
    /// One that looks for no correspondence.
    fn plain(trigger_files: Vec<String>, matched_files: Vec<String>) -> Option<Self> {
        if trigger_files.is_empty() {
            return None;
        }
        let state = if matched_files.is_empty() { State::Fires } else { State::Safe };
        Some(Self { state, trigger_files, expected_files: Vec::new(), matched_files, pairs: Vec::new() })
    }
}

/// Correspondences as they are found.
#[derive(Default)]
struct Correspondence {
    asking: Vec<String>,
    met: Vec<String>,
    pairs: Vec<Pair>,
}

impl Correspondence {
    fn look<'p>(
        &mut self,
        file: &Changed,
        pattern: &Pattern,
        others: impl Iterator<Item = &'p Pattern>,
        (changes, answers): (&Changes, &impl Fn(&str, &str) -> bool),
    ) {
        let Some(captures) = pattern.captures(&file.path) else { return };
        self.asking.push(file.path.clone());
        for other in others {
            let wanted = expected(other, (&file.path, &captures), changes, |path| answers(&file.path, path));
            match wanted.met {
                Some(path) => self.met.push(path),
                None => self.pairs.push(Pair { from: file.path.clone(), to: wanted.shown }),
            }
        }
    }

    fn detected(mut self) -> Option<Detected> {
        if self.asking.is_empty() {
            return None;
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        let once = |mut paths: Vec<String>| {
            paths.sort_unstable();
            paths.dedup();
            paths
        };
        let (state, trigger_files) = if self.pairs.is_empty() {
            (State::Met, once(self.asking))
        } else {
            (State::Fires, once(self.pairs.iter().map(|pair| pair.from.clone()).collect()))
        };
        let expected_files = once(self.pairs.iter().map(|pair| pair.to.clone()).collect());
        Some(Detected { state, trigger_files, expected_files, matched_files: once(self.met), pairs: self.pairs })
    }
}

#[cfg(test)]
mod tests;
