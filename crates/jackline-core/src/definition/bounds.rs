//! The keys `reads` and `outputs`: how much of a result an agent is shown at once.

use serde::{Deserialize, Serialize};

use super::yaml::{Node, Value};

/// Lines that a bound may name: beyond this nobody reads, and nothing is bounded in practice.
pub const LINES_BOUND_MAX: u64 = 1_000_000;
/// Bytes that a bound may name: an event is no longer, so a larger one bounds nothing.
pub const BYTES_BOUND_MAX: u64 = 16 << 20;

/// How much of a text is shown at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    pub lines_max: u64,
    pub bytes_max: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lines_max: 500, bytes_max: 256 * 1024 }
    }
}

impl Bounds {
    /// The bounds that hold where both are in force.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { lines_max: self.lines_max.min(other.lines_max), bytes_max: self.bytes_max.min(other.bytes_max) }
    }

    /// The same, so many times wider.
    #[must_use]
    pub fn widened(self, factor: u32) -> Self {
        let factor = u64::from(factor.max(1));
        Self {
            lines_max: self.lines_max.saturating_mul(factor).min(LINES_BOUND_MAX),
            bytes_max: self.bytes_max.saturating_mul(factor).min(BYTES_BOUND_MAX),
        }
    }

    /// What cannot be meant by these, as key and complaint.
    pub(super) fn faults(self) -> impl Iterator<Item = (&'static str, String)> {
        let each = [("lines_max", self.lines_max, LINES_BOUND_MAX), ("bytes_max", self.bytes_max, BYTES_BOUND_MAX)];
        each.into_iter().filter_map(|(key, value, most)| match value {
            0 => Some((key, "must be greater than 0".to_owned())),
            value if value > most => Some((key, format!("must be at most {most}"))),
            _ => None,
        })
    }
}

/// Reads either key; what it does not name has its default.
pub(super) fn read(node: Option<&Node>) -> Option<Bounds> {
    let node = node?;
    let number = |key: &str| match node.get(key)?.value {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    };
    let default = Bounds::default();
    Some(Bounds {
        lines_max: number("lines_max").unwrap_or(default.lines_max),
        bytes_max: number("bytes_max").unwrap_or(default.bytes_max),
    })
}

/// What new bounds show more of than the old ones, as sentence fragments.
pub(super) fn loosenings(what: &str, old: Option<Bounds>, new: Option<Bounds>) -> Vec<String> {
    let (old, new) = match (old, new) {
        (None, _) => return Vec::new(),
        (Some(_), None) => return vec![format!("{what} was removed")],
        (Some(old), Some(new)) => (old, new),
    };
    let each = [("lines_max", old.lines_max, new.lines_max), ("bytes_max", old.bytes_max, new.bytes_max)];
    let rose = each.into_iter().filter(|(_, old, new)| new > old);
    rose.map(|(key, old, new)| format!("{what}.{key} rose from {old} to {new}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{DefinitionBuilder, attempts, loosenings, parse};
    use super::*;

    fn model(source: &str) -> crate::definition::Model {
        parse(&format!("jackline: 1\n{source}\n"), &[]).unwrap_or_else(|faults| panic!("{source}: {faults:#?}")).model
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        assert_eq!(model("").reads, None);
        assert_eq!(model("reads: {}").reads, Some(Bounds { lines_max: 500, bytes_max: 262_144 }));
        assert_eq!(model("outputs: {lines_max: 7}").outputs, Some(Bounds { lines_max: 7, bytes_max: 262_144 }));
    }

    #[track_caller]
    fn check_faults(source: &str, want: &str) {
        let faults = parse(&format!("jackline: 1\n{source}\n"), &[]).unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>(), [want], "{source}");
    }

    #[test]
    fn bounds_that_bound_nothing_are_faults() {
        check_faults("reads: {lines_max: 0}", "`lines_max` must be at least 1, found 0");
        check_faults("outputs: {bytes_max: 99999999999}", "`bytes_max` must be at most 16777216, found 99999999999");
        let built = |lines_max| DefinitionBuilder::new().reads(Bounds { lines_max, ..Bounds::default() }).build();
        assert_eq!(built(0).unwrap_err().faults[0].message, "`reads.lines_max` must be greater than 0");
        assert_eq!(
            built(LINES_BOUND_MAX + 1).unwrap_err().faults[0].message,
            "`reads.lines_max` must be at most 1000000"
        );
        assert_eq!(built(3).unwrap().reads, model("reads: {lines_max: 3}").reads);
    }

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn bounds_may_only_fall() {
        check("", "reads: {}", &[]);
        check("reads: {}", "", &["reads was removed"]);
        check("reads: {}", "reads: {lines_max: 501}", &["reads.lines_max rose from 500 to 501"]);
        check("reads: {}", "reads: {lines_max: 5, bytes_max: 5}", &[]);
        check("outputs: {bytes_max: 5}", "outputs: {}", &["outputs.bytes_max rose from 5 to 262144"]);
    }

    #[test]
    fn a_project_that_asks_for_more_than_its_user_grants_is_told() {
        let asked = |narrower: &str| attempts(&model("reads: {lines_max: 100}"), &model(narrower));
        assert_eq!(asked(""), Vec::<String>::new());
        assert_eq!(asked("reads: {lines_max: 50}"), Vec::<String>::new());
        assert_eq!(asked("reads: {}"), ["reads.lines_max rose from 100 to 500"]);
    }
}
