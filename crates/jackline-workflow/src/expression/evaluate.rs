//! What an expression is, given values for its names.

use std::cmp::Ordering;

use serde_json::{Number, Value, json};

use super::ExpressionFault;
use super::parse::Part;

type Evaluated = Result<Value, ExpressionFault>;

/// The value of a part. Recursion is bounded by how deep an expression may be read.
pub(super) fn value(part: &Part, scope: &Value) -> Evaluated {
    match part {
        Part::Literal(Value::Number(number)) => Ok(plain(number.as_f64().unwrap_or_default())),
        Part::Literal(literal) => Ok(literal.clone()),
        Part::Name(name) => named(name, scope),
        Part::List(items) => {
            items.iter().map(|item| value(item, scope)).collect::<Result<Vec<_>, _>>().map(Value::from)
        }
        Part::Member(of, name) => member(&value(of, scope)?, name),
        Part::Item(of, at) => item(&value(of, scope)?, &value(at, scope)?),
        Part::Not(of) => Ok(json!(!is_true(&value(of, scope)?))),
        Part::Minus(of) => number(&value(of, scope)?, "be negative").map(|number| plain(-number)),
        Part::And(left, right) => {
            let left = value(left, scope)?;
            if is_true(&left) { value(right, scope) } else { Ok(left) }
        }
        Part::Or(left, right) => {
            let left = value(left, scope)?;
            if is_true(&left) { Ok(left) } else { value(right, scope) }
        }
        Part::Compared(first, others) => compared(first, others, scope),
        Part::Reckoned(sign, left, right) => reckoned(sign, &value(left, scope)?, &value(right, scope)?),
    }
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

fn named(name: &str, scope: &Value) -> Evaluated {
    let found = scope.get(name).or_else(|| scope.get("state")?.get(name));
    found.cloned().ok_or_else(|| ExpressionFault::new(format!("there is no `{name}`")))
}

fn member(of: &Value, name: &str) -> Evaluated {
    match of {
        Value::Object(members) => Ok(members.get(name).cloned().unwrap_or_default()),
        Value::Null => Ok(Value::Null),
        other => Err(ExpressionFault::new(format!("{} has no members such as `{name}`", noun(other)))),
    }
}

fn item(of: &Value, at: &Value) -> Evaluated {
    match (of, at) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Object(_), Value::String(name)) => member(of, name),
        (Value::Array(items), Value::Number(_)) => {
            let at = number(at, "count items")?;
            let at = if at < 0.0 { at + items.len() as f64 } else { at };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast saturates, and what is beyond the list is null"
            )]
            let found = (at >= 0.0 && at.fract() == 0.0).then(|| items.get(at as usize)).flatten();
            Ok(found.cloned().unwrap_or_default())
        }
        _ => Err(ExpressionFault::new(format!("{} has no item that {} names", noun(of), noun(at)))),
    }
}

fn compared(first: &Part, others: &[(&'static str, Part)], scope: &Value) -> Evaluated {
    let mut left = value(first, scope)?;
    for (sign, right) in others {
        let right = value(right, scope)?;
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
