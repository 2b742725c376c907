//! What an expression is, given values for its names.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;

use serde_json::{Number, Value, json};

use super::ExpressionFault;
use super::parse::Part;

/// Bytes that one evaluation may copy and compare: far more than a condition needs, and done in a part of a second.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// A value: of the scope's own, or made on the way.
type Found<'a> = Result<Cow<'a, Value>, ExpressionFault>;
type Evaluated = Result<Value, ExpressionFault>;

/// What names mean, and how much may still be done.
struct Scope<'a> {
    names: &'a Value,
    bytes_left: Cell<usize>,
}

impl Scope<'_> {
    /// A value is copied or looked through.
    fn spend(&self, value: &Value) -> Result<(), ExpressionFault> {
        let left = self.bytes_left.get();
        let left = left.checked_sub(weight(value, left)).ok_or_else(|| {
            ExpressionFault::new(format!("it works on more than {} MiB of values", BYTES_MAX / (1024 * 1024)))
        })?;
        self.bytes_left.set(left);
        Ok(())
    }
}

/// About how many bytes a value has; no more than one above `enough` is counted. The depth of JSON is bounded.
fn weight(value: &Value, enough: usize) -> usize {
    let many = |weights: &mut dyn Iterator<Item = usize>| {
        let mut sum = 1_usize;
        for weight in weights {
            sum = sum.saturating_add(weight);
            if sum > enough {
                break;
            }
        }
        sum
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => text.len() + 1,
        Value::Array(items) => many(&mut items.iter().map(|item| weight(item, enough))),
        Value::Object(members) => many(&mut members.iter().map(|(key, value)| key.len() + weight(value, enough))),
    }
}

/// The value of an expression, given values for its names.
pub(super) fn evaluate(part: &Part, names: &Value) -> Evaluated {
    let scope = Scope { names, bytes_left: Cell::new(BYTES_MAX) };
    value(part, &scope).map(Cow::into_owned)
}

/// Whether an expression holds.
pub(super) fn holds(part: &Part, names: &Value) -> Result<bool, ExpressionFault> {
    let scope = Scope { names, bytes_left: Cell::new(BYTES_MAX) };
    value(part, &scope).map(|value| is_true(&value))
}

/// The value of a part. Recursion is bounded by how deep an expression may be read.
fn value<'a>(part: &'a Part, scope: &Scope<'a>) -> Found<'a> {
    let made = |value: Value| Ok(Cow::Owned(value));
    match part {
        Part::Literal(Value::Number(number)) => made(plain(number.as_f64().unwrap_or_default())),
        Part::Literal(literal) => Ok(Cow::Borrowed(literal)),
        Part::Name(name) => named(name, scope.names),
        Part::List(items) => list(items, scope).map(Cow::Owned),
        Part::Member(of, name) => member(value(of, scope)?, name),
        Part::Item(of, at) => item(value(of, scope)?, &*value(at, scope)?),
        Part::Not(of) => made(json!(!is_true(&*value(of, scope)?))),
        Part::Minus(of) => number(&*value(of, scope)?, "be negative").map(|number| Cow::Owned(plain(-number))),
        Part::Compared(first, others) => compared(first, others, scope).map(Cow::Owned),
        Part::And(..) | Part::Or(..) | Part::Reckoned(..) => chain(part, scope),
    }
}

/// What is joined from the left, however long: by a loop, since an expression may join more than a stack holds.
fn chain<'a>(part: &'a Part, scope: &Scope<'a>) -> Found<'a> {
    let (mut joined, mut first) = (Vec::new(), part);
    while let Part::And(left, _) | Part::Or(left, _) | Part::Reckoned(_, left, _) = first {
        joined.push(first);
        first = left;
    }
    let mut so_far = value(first, scope)?;
    for part in joined.into_iter().rev() {
        so_far = match part {
            Part::And(_, right) if is_true(&so_far) => value(right, scope)?,
            Part::Or(_, right) if !is_true(&so_far) => value(right, scope)?,
            Part::Reckoned(sign, _, right) => {
                let sum = reckoned(sign, &so_far, &*value(right, scope)?)?;
                scope.spend(&sum)?;
                Cow::Owned(sum)
            }
            _ => so_far,
        };
    }
    Ok(so_far)
}

fn list<'a>(items: &'a [Part], scope: &Scope<'a>) -> Evaluated {
    let mut list = Vec::with_capacity(items.len());
    for item in items {
        let item = value(item, scope)?;
        scope.spend(&item)?;
        list.push(item.into_owned());
    }
    Ok(Value::from(list))
}

/// Whether a value counts as true: not when it is null, false, zero or empty.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn named<'a>(name: &str, names: &'a Value) -> Found<'a> {
    let found = names.get(name).or_else(|| names.get("state")?.get(name));
    found.map(Cow::Borrowed).ok_or_else(|| ExpressionFault::new(format!("there is no `{name}`")))
}

/// A part of a value: taken out of what was made, looked up in what is the scope's.
fn part_of<'a>(
    of: Cow<'a, Value>,
    borrow: impl Fn(&'a Value) -> Option<&'a Value>,
    take: impl Fn(Value) -> Option<Value>,
) -> Cow<'a, Value> {
    match of {
        Cow::Borrowed(of) => borrow(of).map_or(Cow::Owned(Value::Null), Cow::Borrowed),
        Cow::Owned(of) => Cow::Owned(take(of).unwrap_or_default()),
    }
}

fn member<'a>(of: Cow<'a, Value>, name: &str) -> Found<'a> {
    match &*of {
        Value::Object(_) => Ok(part_of(of, |of| of.get(name), |mut of| of.get_mut(name).map(Value::take))),
        Value::Null => Ok(Cow::Owned(Value::Null)),
        other => Err(ExpressionFault::new(format!("{} has no members such as `{name}`", noun(other)))),
    }
}

fn item<'a>(of: Cow<'a, Value>, at: &Value) -> Found<'a> {
    match (&*of, at) {
        (Value::Null, _) => Ok(Cow::Owned(Value::Null)),
        (Value::Object(_), Value::String(name)) => member(of, name),
        (Value::Array(items), Value::Number(_)) => {
            let at = number(at, "count items")?;
            let at = if at < 0.0 { at + items.len() as f64 } else { at };
            if at < 0.0 || at.fract() != 0.0 {
                return Ok(Cow::Owned(Value::Null));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast saturates, and what is beyond the list is null"
            )]
            let at = at as usize;
            Ok(part_of(of, |of| of.get(at), |mut of| of.get_mut(at).map(Value::take)))
        }
        (of, at) => Err(ExpressionFault::new(format!("{} has no item that {} names", noun(of), noun(at)))),
    }
}

fn compared<'a>(first: &'a Part, others: &'a [(&'static str, Part)], scope: &Scope<'a>) -> Evaluated {
    let mut left = value(first, scope)?;
    for (sign, right) in others {
        let right = value(right, scope)?;
        scope.spend(&left)?;
        scope.spend(&right)?;
        if !compare(sign, &left, &right)? {
            return Ok(json!(false));
        }
        left = right;
    }
    Ok(json!(true))
}

fn compare(sign: &str, left: &Value, right: &Value) -> Result<bool, ExpressionFault> {
    match sign {
        "==" => Ok(same(left, right)),
        "!=" => Ok(!same(left, right)),
        "in" => within(left, right),
        "not in" => within(left, right).map(|within| !within),
        _ => Ok(order(left, right)?.is_some_and(|order| match sign {
            "<" => order == Ordering::Less,
            "<=" => order != Ordering::Greater,
            ">" => order == Ordering::Greater,
            _ => order != Ordering::Less,
        })),
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

fn within(left: &Value, right: &Value) -> Result<bool, ExpressionFault> {
    match (left, right) {
        (_, Value::Null) => Ok(false),
        (left, Value::Array(items)) => Ok(items.iter().any(|item| same(item, left))),
        (Value::String(name), Value::Object(members)) => Ok(members.contains_key(name)),
        (Value::String(part), Value::String(text)) => Ok(text.contains(part.as_str())),
        _ => Err(ExpressionFault::new(format!("{} cannot be in {}", noun(left), noun(right)))),
    }
}

/// Which of two values is larger; none when one is null.
fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, ExpressionFault> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(None),
        (Value::Number(left), Value::Number(right)) => Ok(left.as_f64().partial_cmp(&right.as_f64())),
        (Value::String(left), Value::String(right)) => Ok(Some(left.cmp(right))),
        _ => Err(ExpressionFault::new(format!("{} and {} cannot be compared", noun(left), noun(right)))),
    }
}

fn reckoned(sign: &str, left: &Value, right: &Value) -> Evaluated {
    match (sign, left, right) {
        ("+", Value::String(left), Value::String(right)) => return Ok(json!(format!("{left}{right}"))),
        ("+", Value::Number(_), Value::Number(_)) => {}
        ("+", ..) => {
            return Err(ExpressionFault::new(format!("{} and {} cannot be added", noun(left), noun(right))));
        }
        _ => {}
    }
    let (left, right) = (number(left, "be reckoned with")?, number(right, "be reckoned with")?);
    if matches!(sign, "/" | "//" | "%") && right == 0.0 {
        return Err(ExpressionFault::new("it divides by zero"));
    }
    Ok(plain(match sign {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "//" => (left / right).floor(),
        _ => left - right * (left / right).floor(),
    }))
}

fn number(value: &Value, purpose: &str) -> Result<f64, ExpressionFault> {
    value.as_f64().ok_or_else(|| ExpressionFault::new(format!("{} cannot {purpose}", noun(value))))
}

/// A number, whole if it is; null when it is none any more.
fn plain(number: f64) -> Value {
    /// Up to here a float holds every whole number.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        return json!(number as i64);
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

const fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
