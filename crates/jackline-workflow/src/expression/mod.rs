//! Expressions: conditions of nodes and loops, sources of fan-outs. Read once, held against values as often as needed.
//!
//! Names, members, items, numbers, texts, lists; `and`, `or`, `not`, comparisons, `in`, `+ - * / // %`. Nothing is called,
//! nothing is assigned. What is absent is null, and null is neither below nor above anything; what cannot be compared or
//! added is a fault, never a guess.

mod evaluate;
mod lex;
mod parse;

use serde_json::Value;

/// Bytes of an expression: a condition that people read has fewer.
const EXPRESSION_BYTES_MAX: usize = 4_096;
/// Parts inside one another, so that reading and evaluating end.
const DEPTH_MAX: usize = 64;

/// Why an expression cannot be read or has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ExpressionFault(String);

impl ExpressionFault {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// An expression that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    part: parse::Part,
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(text: &str) -> Result<Self, ExpressionFault> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(ExpressionFault::new(format!("it is longer than {EXPRESSION_BYTES_MAX} bytes")));
        }
        Ok(Self { text: text.to_owned(), part: parse::parse(&lex::tokens(text)?)? })
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its value; names are members of `scope`, else of its `state`.
    ///
    /// # Errors
    /// When it has none.
    pub fn value(&self, scope: &Value) -> Result<Value, ExpressionFault> {
        evaluate::evaluate(&self.part, scope)
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// When it has no value.
    pub fn holds(&self, scope: &Value) -> Result<bool, ExpressionFault> {
        evaluate::holds(&self.part, scope)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> Value {
        json!({"task": "tides", "state": {
            "a": {"n": 3, "f": 0.5, "text": "go", "list": [1, "x", null], "flag": true, "none": null},
            "empty": {},
        }})
    }

    #[track_caller]
    fn check(text: &str, want: Value) {
        let value = Expression::read(text).and_then(|expression| expression.value(&scope()));
        assert_eq!(value, Ok(want), "{text}");
    }

    #[track_caller]
    fn refuse(text: &str, want: &str) {
        let fault = Expression::read(text).and_then(|expression| expression.value(&scope())).unwrap_err();
        assert!(fault.to_string().contains(want), "{text}: {fault}");
    }

    #[test]
    fn values_are_looked_up_and_compared() {
        check("state.a.n", json!(3));
        check("a.n > 2", json!(true));
        check("state.a.f >= 0.5 and state.a.text == 'go'", json!(true));
        check("state['a'][\"n\"] == 3.0", json!(true));
        check("state.a.list[1]", json!("x"));
        check("state.a.list[-1]", json!(null));
        check("'x' in state.a.list and 'n' in state.a and 'o' in state.a.text", json!(true));
        check("7 not in state.a.list", json!(true));
        check("1 < state.a.n <= 3", json!(true));
        check("1 < state.a.n < 3", json!(false));
        check("not state.a.flag or state.a.none", json!(null));
        check("!state.a.flag || (true && !false)", json!(true));
        check("task == 'tides'", json!(true));
        check("[1, 'a', [true]]", json!([1, "a", [true]]));
        check("None == null and True != false", json!(true));
    }

    #[test]
    fn what_is_absent_is_null_and_below_nothing() {
        check("state.nobody.confidence", json!(null));
        check("state.nobody.confidence > 0.5", json!(false));
        check("state.nobody.confidence <= 0.5", json!(false));
        check("state.a.list[9] == none", json!(true));
        check("state.empty or state.a.none or 0 or '' or []", json!([]));
    }

    #[test]
    fn numbers_are_reckoned() {
        check("1 + 2 * 3 - 4 / 2", json!(5));
        check("7 // 2 + 7 % 2 - -1", json!(5));
        check("-7 // 2", json!(-4));
        check("0.5 + 0.25", json!(0.75));
        check("'a' + 'b'", json!("ab"));
        check("(1 + 2) * 3", json!(9));
    }

    #[test]
    fn what_has_no_value_is_a_fault() {
        refuse("state.a.text > 1", "cannot be compared");
        refuse("state.a.text + 1", "cannot be added");
        refuse("1 / 0", "by zero");
        refuse("nobody", "there is no `nobody`");
        refuse("state.a.n.deeper", "has no members");
    }

    #[test]
    fn work_is_bounded() {
        let long = json!({"s": "x".repeat(1 << 20)});
        let told = |text: &str| Expression::read(text).and_then(|expression| expression.value(&long));
        let begun = std::time::Instant::now();
        for text in [vec!["s"; 1_000].join("+"), format!("[{}]", vec!["s"; 1_000].join(",")), vec!["s"; 800].join("<=")]
        {
            let fault = told(&text).unwrap_err();
            assert!(fault.to_string().contains("more than 64 MiB"), "{fault}");
        }
        assert!(told("s == s and s + s != s").unwrap() == json!(true), "what people write is far from it");
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in [
            "",
            "a ==",
            "(a",
            "a b",
            "a.get('x')",
            "f(x)",
            "a = 1",
            "x if y else z",
            "'open",
            "a..b",
            "[1,",
            "1.2.3",
            "a[",
            "$x",
        ] {
            assert!(Expression::read(text).is_err(), "{text}");
        }
        assert!(Expression::read(&"(".repeat(2_000)).is_err());
        assert!(Expression::read(&"not ".repeat(1_000)).is_err());
        assert!(Expression::read(&"-".repeat(4_000)).is_err());
        assert!(Expression::read(&"a".repeat(5_000)).is_err());
    }
}
