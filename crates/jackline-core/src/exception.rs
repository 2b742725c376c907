//! An exception: a person lets pass, for a while and for a reason, what a guard would refuse.
//!
//! Here is what one looks like and what it covers. Who may make one, and where it is kept, is the runtime's and the
//! command line's.

use serde::{Deserialize, Serialize};

use crate::code::{self, Code};
use crate::decision::Finding;
use crate::time::Timestamp;

/// The longest an exception lasts: what is needed for more than a day belongs into the definition.
pub const EXCEPTION_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of a reason: a sentence or two, repeated in every record of its use.
pub const REASON_BYTES_MAX: usize = 512;
/// Bytes of every other text of an exception; policies, codes and user names are far shorter.
pub const TEXT_BYTES_MAX: usize = 256;

/// Guards whose findings protect the guard itself: a pause must not become a way to remove it.
const SELF: &str = "self";
/// Families of codes that no exception lifts: none makes an event readable, or a todo done.
const NEVER: &[&str] = &["event", "todo", "fact"];
/// Codes of refusals that come instead of a decision, so there is no finding that could be lifted.
const UNDECIDED: &[Code] = &[code::FAULT_DEFINITION, code::FAULT_STORE, code::FAULT_INTERNAL];

/// What a person lets pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// What people call it by.
    pub id: String,
    pub what: What,
    /// It is used up by the first call that needs it.
    pub once: bool,
    #[serde(with = "crate::time::rfc3339")]
    pub granted_at: Timestamp,
    #[serde(with = "crate::time::rfc3339")]
    pub until: Timestamp,
    pub reason: String,
    /// Who granted it, as the machine knows them.
    pub by: String,
}

/// What an exception covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Whatever the policy of this name finds, as `enforce: warn` would.
    Policy(String),
    /// Findings of exactly this code.
    Code(String),
    /// Findings of every code with this first part.
    Family(String),
    /// Everything but self-protection.
    All,
}

/// A finding that refuses, as an exception sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Refusal {
    pub policy: String,
    pub guard: String,
    pub code: String,
}

impl Refusal {
    #[must_use]
    pub fn of(finding: &Finding) -> Self {
        Self { policy: finding.policy.clone(), guard: finding.guard.clone(), code: finding.code.to_string() }
    }

    fn family(&self) -> &str {
        family(&self.code)
    }
}

impl Exception {
    /// Whether it lets this refusal pass, while it lasts.
    #[must_use]
    pub fn covers(&self, refusal: &Refusal) -> bool {
        if NEVER.contains(&refusal.family()) {
            return false;
        }
        let guards_itself = refusal.guard == SELF || refusal.family() == SELF;
        match &self.what {
            What::Code(code) => *code == refusal.code,
            What::Policy(_) | What::Family(_) | What::All if guards_itself => false,
            What::Policy(name) => *name == refusal.policy,
            What::Family(name) => name == refusal.family(),
            What::All => true,
        }
    }

    /// Whether it is still in force at a time.
    #[must_use]
    pub fn lasts(&self, at: Timestamp) -> bool {
        at < self.until
    }

    /// Whether it keeps the bounds that every exception has; one that does not counts for nothing.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let named = match &self.what {
            What::Policy(name) | What::Code(name) | What::Family(name) => !name.is_empty(),
            What::All => true,
        };
        let short =
            [self.id.as_str(), self.what.name(), self.by.as_str()].iter().all(|text| text.len() <= TEXT_BYTES_MAX);
        let reasoned = !self.reason.trim().is_empty() && self.reason.len() <= REASON_BYTES_MAX;
        let lasting = self.until.0.checked_sub(self.granted_at.0);
        named && short && reasoned && lasting.is_some_and(|ms| (1..=EXCEPTION_MS_MAX).contains(&ms))
    }
}

impl What {
    /// The policy's name, the code or the family; nothing for everything.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Policy(name) | Self::Code(name) | Self::Family(name) => name,
            Self::All => "",
        }
    }
}

/// The first part of a code.
#[must_use]
pub fn family(code: &str) -> &str {
    code.split_once('/').map_or(code, |(family, _)| family)
}

/// Whether an exception for this code could ever let something pass.
#[must_use]
pub fn is_liftable(code: &str) -> bool {
    !NEVER.contains(&family(code)) && !UNDECIDED.iter().any(|undecided| undecided.as_str() == code)
}

/// Whether a whole family of codes may be named: self-protection is lifted code by code, and so are faults, which
/// have little in common.
#[must_use]
pub fn is_liftable_family(family: &str) -> bool {
    !NEVER.contains(&family) && ![SELF, "fault"].contains(&family)
}

/// The exceptions among `known` that count against these refusals. Those that last are chosen where they cover
/// anything; those for one use only if, with them, nothing is left that refuses.
#[must_use]
pub fn chosen<'a>(known: &'a [Exception], at: Timestamp, refusals: &[Refusal]) -> Vec<&'a Exception> {
    let in_force = || known.iter().filter(|exception| exception.lasts(at));
    let lasting = in_force().filter(|known| !known.once && refusals.iter().any(|refusal| known.covers(refusal)));
    let mut chosen: Vec<&Exception> = lasting.collect();
    let mut spent: Vec<&Exception> = Vec::new();
    for refusal in refusals {
        if chosen.iter().chain(&spent).any(|exception| exception.covers(refusal)) {
            continue;
        }
        match in_force().find(|exception| exception.once && exception.covers(refusal)) {
            Some(once) => spent.push(once),
            None => return chosen,
        }
    }
    chosen.extend(spent);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp(1_000_000);

    fn exception(id: &str, what: What, once: bool) -> Exception {
        let until = Timestamp(AT.0 + 1_000);
        Exception { id: id.into(), what, once, granted_at: AT, until, reason: "a test".into(), by: "dev".into() }
    }

    fn refusal(policy: &str, guard: &str, code: &str) -> Refusal {
        Refusal { policy: policy.into(), guard: guard.into(), code: code.into() }
    }

    #[track_caller]
    fn check(what: What, (policy, guard, code): (&str, &str, &str), want: bool) {
        let covers = exception("x", what.clone(), false).covers(&refusal(policy, guard, code));
        assert_eq!(covers, want, "{what:?} on {policy} {code}");
    }

    #[test]
    fn an_exception_covers_what_it_names() {
        let rule = ("no-push", "rule", "rule/no-push");
        check(What::Policy("no-push".into()), rule, true);
        check(What::Policy("no-pull".into()), rule, false);
        check(What::Code("rule/no-push".into()), rule, true);
        check(What::Code("rule".into()), rule, false);
        check(What::Family("rule".into()), rule, true);
        check(What::Family("loop".into()), rule, false);
        check(What::All, rule, true);
        check(What::All, ("run", "run", "run/halted"), true);
        check(What::All, ("probe", "probe", "fault/probe"), true);
    }

    #[test]
    fn self_protection_is_lifted_by_its_code_alone() {
        for code in ["self/protected", "self/operator-command", "paths/unresolvable"] {
            let own = ("self", "self", code);
            check(What::All, own, false);
            check(What::Policy("self".into()), own, false);
            check(What::Family(family(code).into()), own, false);
            check(What::Code(code.into()), own, true);
        }
    }

    #[test]
    fn what_is_no_event_stays_none() {
        let invalid = ("event", "event", "event/invalid");
        check(What::All, invalid, false);
        check(What::Code("event/invalid".into()), invalid, false);
        assert!(!is_liftable("event/invalid") && !is_liftable("fault/store") && is_liftable("fault/probe"));
        assert!(!is_liftable_family("self") && !is_liftable_family("event") && is_liftable_family("loop"));
    }

    #[test]
    fn one_for_a_single_use_is_kept_for_a_call_that_it_lets_through() {
        let (a, b) = (refusal("a", "rule", "rule/a"), refusal("b", "rule", "rule/b"));
        let known = [
            exception("once-a", What::Policy("a".into()), true),
            exception("once-a-too", What::Policy("a".into()), true),
            exception("long-b", What::Policy("b".into()), false),
        ];
        let ids = |known: &[Exception], refusals: &[Refusal]| -> Vec<String> {
            chosen(known, AT, refusals).into_iter().map(|exception| exception.id.clone()).collect()
        };
        assert_eq!(ids(&known, std::slice::from_ref(&a)), ["once-a"]);
        assert_eq!(ids(&known, &[a.clone(), b.clone()]), ["long-b", "once-a"]);
        let c = refusal("c", "rule", "rule/c");
        assert_eq!(ids(&known, &[a, b, c]), ["long-b"], "something is left that refuses");
        assert_eq!(chosen(&known, Timestamp(AT.0 + 1_000), &[refusal("b", "rule", "rule/b")]), [] as [&Exception; 0]);
    }

    #[test]
    fn bounds_hold() {
        let fine = exception("x", What::All, false);
        assert!(fine.is_bounded());
        let long = Timestamp(AT.0 + EXCEPTION_MS_MAX + 1);
        assert!(!Exception { until: long, ..fine.clone() }.is_bounded());
        assert!(!Exception { until: AT, ..fine.clone() }.is_bounded());
        assert!(!Exception { granted_at: Timestamp(i64::MIN), ..fine.clone() }.is_bounded());
        assert!(!Exception { reason: " ".into(), ..fine.clone() }.is_bounded());
        assert!(!Exception { reason: "x".repeat(REASON_BYTES_MAX + 1), ..fine.clone() }.is_bounded());
        assert!(!Exception { what: What::Policy(String::new()), ..fine }.is_bounded());
    }

    #[test]
    fn one_reads_back_from_its_json() {
        let written = exception("x", What::Code("loop/override".into()), true);
        let text = serde_json::to_string(&written).expect("plain data");
        assert!(text.contains("\"until\":\"1970-01-01T00:16:41.000Z\""), "{text}");
        assert_eq!(serde_json::from_str::<Exception>(&text).expect("readable"), written);
    }
}
