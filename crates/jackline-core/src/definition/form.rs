//! How the table of shapes is written: what a value may be, what a key is, what a map is.

/// What a value may be.
#[derive(Debug)]
pub enum Form {
    /// `true` or `false`.
    Flag,
    /// `true` and nothing else.
    Yes,
    Whole {
        min: i64,
        max: i64,
    },
    Number,
    /// A number above zero.
    Positive,
    /// A number of at least zero.
    NotNegative,
    /// A number from zero to one.
    Fraction,
    /// A text that is not empty.
    Text,
    /// A text that a regular expression matches as a whole; the expression has its anchors.
    Matching(&'static str),
    Choice(&'static [&'static str]),
    Duration,
    /// A duration or a point in time.
    Moment,
    /// Any scalar or list, taken as JSON.
    Literal,
    /// Any map, taken as JSON.
    Free,
    /// A list that may be empty.
    List(&'static Form),
    /// A list of at least one.
    Some(&'static Form),
    /// One, or a list of at least one.
    Many(&'static Form),
    /// A map from names of the owner's own.
    Named(&'static Form),
    Map(&'static Shape),
    /// The first that fits the kind of value.
    Either(&'static [Form]),
}

/// A map with known keys.
#[derive(Debug)]
pub struct Shape {
    /// One word: how faults, schema and reference call it.
    pub name: &'static str,
    pub doc: &'static str,
    pub keys: &'static [Key],
    /// Exactly one of these keys must be there; empty when there is no such choice.
    pub one_of: &'static [&'static str],
    /// Keys that are not known are let pass, unless they look like a slip.
    pub open: bool,
    /// What else editors are told, as a list of JSON Schemas that all must hold: what one key demands of another.
    /// Others judge it, with findings of their own.
    pub conditions: Option<&'static str>,
}

impl Shape {
    /// The same with conditions for editors.
    #[must_use]
    pub const fn conditions(mut self, json: &'static str) -> Self {
        self.conditions = Some(json);
        self
    }
}

/// One key of a map.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub form: Form,
    /// One sentence.
    pub doc: &'static str,
    /// As JSON.
    pub default: Option<&'static str>,
    /// As JSON.
    pub example: Option<&'static str>,
    pub required: bool,
    /// Others judge whether it is there and what it is, with findings of their own: here it is only described. What a map
    /// holds is looked at all the same.
    pub judged: bool,
}

/// A key that may be left out.
#[must_use]
pub const fn key(name: &'static str, form: Form, doc: &'static str) -> Key {
    Key { name, form, doc, default: None, example: None, required: false, judged: false }
}

impl Key {
    #[must_use]
    pub const fn default(mut self, json: &'static str) -> Self {
        self.default = Some(json);
        self
    }

    #[must_use]
    pub const fn example(mut self, json: &'static str) -> Self {
        self.example = Some(json);
        self
    }

    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    #[must_use]
    pub const fn judged(mut self) -> Self {
        self.judged = true;
        self
    }
}

/// A map of these keys and no others.
#[must_use]
pub const fn shape(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Shape {
    Shape { name, doc, keys, one_of: &[], open: false, conditions: None }
}

/// A map that may hold keys which nobody here knows.
#[must_use]
pub const fn open(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Shape {
    Shape { name, doc, keys, one_of: &[], open: true, conditions: None }
}

/// A map in which exactly one of some keys must be there.
#[must_use]
pub const fn choice(
    name: &'static str,
    doc: &'static str,
    one_of: &'static [&'static str],
    keys: &'static [Key],
) -> Shape {
    Shape { name, doc, keys, one_of, open: false, conditions: None }
}
