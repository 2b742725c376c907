//! What defects were found in a run, and how often: learned from every worker, told to all of them.

use serde::{Deserialize, Serialize};

use super::Defect;

/// Patterns that are kept. When there are more, the one that was seen least goes.
const PATTERNS_MAX: usize = 64;
/// Patterns that are told: the most frequent ones.
const TOLD_MAX: usize = 8;

/// A defect that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    pub category: String,
    pub description: String,
    pub fix: String,
    /// How often.
    pub seen: u64,
    /// In whose answer last.
    pub agent: String,
}

/// The memory of one run. It can be kept and taken up again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    patterns: Vec<Pattern>,
}

impl Memory {
    /// Takes in what a critic found.
    pub fn learn(&mut self, agent: &str, defects: &[Defect]) {
        defects.iter().for_each(|defect| self.see(agent, defect));
    }

    fn see(&mut self, agent: &str, defect: &Defect) {
        let words = normal(&defect.description);
        let same = |one: &&mut Pattern| one.category == defect.category && normal(&one.description) == words;
        if let Some(pattern) = self.patterns.iter_mut().find(same) {
            pattern.seen += 1;
            agent.clone_into(&mut pattern.agent);
            return;
        }
        if self.patterns.len() >= PATTERNS_MAX {
            let least = self.patterns.iter().enumerate().min_by_key(|(_, pattern)| pattern.seen);
            if let Some(least) = least.map(|(at, _)| at) {
                self.patterns.remove(least);
            }
        }
        let Defect { category, description, fix } = defect.clone();
        self.patterns.push(Pattern { category, description, fix, seen: 1, agent: agent.to_owned() });
    }

    /// The patterns that everyone should know, the most frequent first.
    #[must_use]
    pub fn known(&self) -> Vec<Pattern> {
        let mut known = self.patterns.clone();
        known.sort_by_key(|pattern| std::cmp::Reverse(pattern.seen));
        known.truncate(TOLD_MAX);
        known
    }
}

/// The words of a description: capitals, blanks and signs make no other defect.
fn normal(description: &str) -> String {
    let words = description.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
