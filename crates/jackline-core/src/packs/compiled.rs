//! A pack as bytes that are used where they lie: what is asked of every call in front, an index of cues, and each
//! policy by itself, decoded once a call may concern it.
//!
//! The bytes are made when the program is built, from the pack's text, and so are always of one kind with this code.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::Pack;
use crate::definition::Kind;
use crate::definition::model::{Computed, Enforce, Guard, KeptRule, Model, Policy, Rule, Shell, Use};
use crate::index::{Carried, Cue, bit};
use crate::{stack, tilde};

/// Bytes of an entry of the index: a cue and the row that demands it, the lowest byte first.
const ENTRY_BYTES: usize = 6;

/// What stands in front.
#[derive(Debug, Serialize, Deserialize)]
struct Head<'a> {
    computed: Computed,
    looks_inside: bool,
    mentions_home: bool,
    /// Bytes of the index.
    index: u32,
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

/// What is known of a policy without decoding it.
#[derive(Debug, Serialize, Deserialize)]
struct Row<'a> {
    name: &'a str,
    enforce: Enforce,
    /// The kinds of call, a bit for each, whose paths it wants to be looked up.
    kinds: u16,
    /// Where its bytes end.
    end: u32,
}

/// The bytes of a pack. `None` for one that has more to it than rules, which is then used as it was read.
#[must_use]
pub fn compile(pack: &Pack) -> Option<Vec<u8>> {
    let model = pack.model();
    let policies = model.policies.as_slice();
    let rules = policies.iter().map(plain_rule).collect::<Option<Vec<_>>>()?;
    let rest = Model { policies: Vec::new(), shell: Shell::default(), ..model.clone() };
    if rest != Model::default() {
        return None;
    }
    let (mut rows, mut bodies) = (Vec::new(), Vec::new());
    for (policy, rule) in policies.iter().zip(&rules) {
        // Its summary stands in front, in another form.
        let bare = Policy { guard: Guard::Rule(Rule::clone(rule).into()), ..policy.clone() };
        bodies.extend(postcard::to_stdvec(&bare).ok()?);
        let (kinds, end) = (rule.summary()?.kinds, u32::try_from(bodies.len()).ok()?);
        rows.push(Row { name: &policy.name, enforce: policy.enforce, kinds, end });
    }
    let index = index(&rules)?;
    let head = Head {
        computed: model.shell.computed,
        looks_inside: stack::looks_inside_commands(&model),
        mentions_home: tilde::mentioned(&model),
        index: u32::try_from(index.len()).ok()?,
        rows,
    };
    Some([postcard::to_stdvec(&head).ok()?, index, bodies].concat())
}

/// A rule that judges requested calls and does nothing else.
fn plain_rule(policy: &Policy) -> Option<&KeptRule> {
    match &policy.guard {
        Guard::Rule(rule) if rule.overriding.is_none() && policy.when.is_none() => Some(rule),
        Guard::Rule(_) | Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rego(_) => None,
    }
}

/// Every cue that is demanded with its row, in the order of cues.
fn index(rules: &[&KeptRule]) -> Option<Vec<u8>> {
    let mut entries: Vec<(Cue, u16)> = Vec::new();
    for (row, rule) in rules.iter().enumerate() {
        let row = u16::try_from(row).ok()?;
        entries.extend(rule.summary()?.cues.iter().map(|cue| (*cue, row)));
    }
    entries.sort_unstable();
    Some(entries.iter().flat_map(|(cue, row)| cue.0.to_le_bytes().into_iter().chain(row.to_le_bytes())).collect())
}

/// A compiled pack.
#[derive(Debug)]
pub struct Compiled {
    pack: &'static Pack,
    head: Head<'static>,
    entries: &'static [[u8; ENTRY_BYTES]],
    bodies: &'static [u8],
}

impl Compiled {
    /// A pack by its bytes; `None` if they are none of [`compile`].
    #[must_use]
    pub fn open(pack: &'static Pack, bytes: &'static [u8]) -> Option<Self> {
        let (head, rest) = postcard::take_from_bytes::<Head<'static>>(bytes).ok()?;
        let (index, bodies) = rest.split_at_checked(usize::try_from(head.index).ok()?)?;
        let (entries, []) = index.as_chunks() else { return None };
        let whole = head.rows.last().is_none_or(|last| last.end as usize == bodies.len());
        whole.then_some(Self { pack, head, entries, bodies })
    }

    /// The pack's definition without its policies.
    pub(super) fn model(&self) -> Model {
        Model { shell: Shell { computed: self.head.computed, ..Shell::default() }, ..Model::default() }
    }

    /// The rows that demand a cue.
    fn rows(&self, cue: Cue) -> impl Iterator<Item = usize> {
        let from = self.entries.partition_point(|entry| cue_of(entry) < cue);
        let entries = self.entries.get(from..).unwrap_or_default().iter();
        entries
            .take_while(move |entry| cue_of(entry) == cue)
            .map(|[.., low, high]| u16::from_le_bytes([*low, *high]).into())
    }

    fn decode(&self, row: usize) -> Option<Policy> {
        let before = row.checked_sub(1).map_or(Some(0), |before| Some(self.head.rows.get(before)?.end))?;
        let bytes = self.bodies.get(before as usize..self.head.rows.get(row)?.end as usize)?;
        postcard::from_bytes(bytes).ok()
    }
}

const fn cue_of([a, b, c, d, ..]: &[u8; ENTRY_BYTES]) -> Cue {
    Cue(u32::from_le_bytes([*a, *b, *c, *d]))
}

/// The policies of a compiled pack as a definition uses them.
#[derive(Debug)]
pub(crate) struct Rules {
    compiled: Arc<Compiled>,
    /// What the definition enforces otherwise than the pack, by row.
    enforce: Vec<(usize, Enforce)>,
    /// What `~` stands for.
    home: Option<Arc<str>>,
    decoded: Vec<OnceLock<Box<Policy>>>,
}

impl Rules {
    pub(super) fn new(compiled: Compiled, used: &Use) -> Self {
        let named = |name: &str| used.enforce.iter().find(|(named, _)| named == name).map(|(_, enforce)| *enforce);
        let rows = compiled.head.rows.iter().enumerate();
        let enforce = rows.filter_map(|(at, row)| Some((at, named(row.name).filter(|other| *other != row.enforce)?)));
        let (enforce, decoded) = (enforce.collect(), compiled.head.rows.iter().map(|_| OnceLock::new()).collect());
        Self { enforce, decoded, compiled: Arc::new(compiled), home: None }
    }

    /// Whether these are the same policies, enforced alike.
    pub(crate) fn same(&self, other: &Self) -> bool {
        (self.compiled.pack, &self.enforce) == (other.compiled.pack, &other.enforce)
    }

    pub(crate) fn looks_inside(&self) -> bool {
        self.compiled.head.looks_inside
    }

    pub(crate) fn mentions_home(&self) -> bool {
        self.compiled.head.mentions_home
    }

    /// The same with a home directory in its place.
    pub(crate) fn at_home(&self, home: &Arc<str>) -> Self {
        Self {
            compiled: Arc::clone(&self.compiled),
            enforce: self.enforce.clone(),
            home: Some(Arc::clone(home)),
            decoded: self.decoded.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// All policies, those that are switched off too.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Policy> {
        (0..self.decoded.len()).filter_map(|row| self.policy(row))
    }

    /// The policies that may have something to say about a call, in their order.
    pub(crate) fn about(&self, carried: &Carried) -> impl Iterator<Item = &Policy> {
        let rows = carried.find(|cue| self.compiled.rows(cue));
        let rows = rows.unwrap_or_else(|| (0..self.decoded.len()).collect());
        rows.into_iter().filter(|row| self.enforced(*row) != Some(Enforce::Off)).filter_map(|row| self.policy(row))
    }

    /// Whether any of them wants to know where the paths of such a call lead.
    pub(crate) fn look_up_paths(&self, kind: Kind) -> bool {
        let mut rows = self.compiled.head.rows.iter().enumerate();
        rows.any(|(at, row)| row.kinds & bit(kind) != 0 && self.enforced(at) != Some(Enforce::Off))
    }

    fn enforced(&self, row: usize) -> Option<Enforce> {
        let otherwise = self.enforce.iter().find(|(at, _)| *at == row).map(|(_, enforce)| *enforce);
        otherwise.or_else(|| Some(self.compiled.head.rows.get(row)?.enforce))
    }

    fn policy(&self, row: usize) -> Option<&Policy> {
        Some(self.decoded.get(row)?.get_or_init(|| Box::new(self.decode(row))))
    }

    /// One that cannot be decoded refuses everything, so that it is noticed.
    fn decode(&self, row: usize) -> Policy {
        let Some(mut policy) = self.compiled.decode(row) else { return self.compiled.pack.refusing() };
        policy.enforce = self.enforced(row).unwrap_or(policy.enforce);
        if let Some(home) = &self.home {
            tilde::put_in(&mut policy, home);
        }
        policy
    }
}
