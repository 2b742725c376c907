//! Writes JSON in the one form of RFC 8785, so that equal values have equal bytes and hashes.
//!
//! Walks with a stack of its own: a value of any depth is written without recursion.

use std::{cmp::Ordering, slice, vec};

use serde_json::{Map, Number, Value, map};

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The canonical form of a value.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_canonical(value, &mut out);
    out
}

/// Appends the canonical form of a value.
pub fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    let mut open = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        open.extend(begin(value, out));
        next = advance(&mut open, out);
    }
}

/// A container whose elements are being written.
struct Open<'a> {
    rest: Rest<'a>,
    begun: bool,
}

enum Rest<'a> {
    Elements(slice::Iter<'a, Value>),
    Members(map::Iter<'a>),
    Sorted(vec::IntoIter<(&'a String, &'a Value)>),
}

/// Writes a scalar whole, of a container only its opening.
fn begin<'a>(value: &'a Value, out: &mut Vec<u8>) -> Option<Open<'a>> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => {
            out.push(b'[');
            return Some(Open { rest: Rest::Elements(elements.iter()), begun: false });
        }
        Value::Object(object) => {
            out.push(b'{');
            return Some(Open { rest: members(object), begun: false });
        }
    }
    None
}

/// Closes what is finished and gives the next value to write, with its comma and key already written.
fn advance<'a>(open: &mut Vec<Open<'a>>, out: &mut Vec<u8>) -> Option<&'a Value> {
    while let Some(top) = open.last_mut() {
        if let Some((key, value)) = top.rest.take() {
            if top.begun {
                out.push(b',');
            }
            top.begun = true;
            if let Some(key) = key {
                write_string(key, out);
                out.push(b':');
            }
            return Some(value);
        }
        out.push(if matches!(top.rest, Rest::Elements(_)) { b']' } else { b'}' });
        open.pop();
    }
    None
}

impl<'a> Rest<'a> {
    fn take(&mut self) -> Option<(Option<&'a String>, &'a Value)> {
        match self {
            Self::Elements(elements) => elements.next().map(|value| (None, value)),
            Self::Members(members) => members.next().map(|(key, value)| (Some(key), value)),
            Self::Sorted(members) => members.next().map(|(key, value)| (Some(key), value)),
        }
    }
}

/// The members in the order of RFC 8785; the map's own order is almost always the same.
fn members(object: &Map<String, Value>) -> Rest<'_> {
    if object.keys().is_sorted_by(|left, right| utf16_order(left, right).is_le()) {
        return Rest::Members(object.iter());
    }
    let mut sorted: Vec<_> = object.iter().collect();
    sorted.sort_unstable_by(|left, right| utf16_order(left.0, right.0));
    Rest::Sorted(sorted.into_iter())
}

/// Compares as UTF-16 code units without encoding.
///
/// UTF-8 has the same order but for one thing: U+E000..=U+FFFF (lead bytes 0xEE and 0xEF) come after the
/// supplementary planes (0xF0 and up), whose surrogates start at 0xD800.
fn utf16_order(left: &str, right: &str) -> Ordering {
    let mut pairs = left.bytes().zip(right.bytes());
    match pairs.find(|(left, right)| left != right) {
        Some((left, right)) => utf16_rank(left).cmp(&utf16_rank(right)),
        None => left.len().cmp(&right.len()),
    }
}

const fn utf16_rank(byte: u8) -> u8 {
    match byte {
        0xee => 0xfe,
        0xef => 0xff,
        byte => byte,
    }
}

/// A number as ECMAScript prints it: every number is a double, as RFC 8785 says.
fn write_number(number: &Number, out: &mut Vec<u8>) {
    let double = number.as_f64().unwrap_or_default();
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
}

/// Where the first byte stands that is escaped. Most texts have none, so eight are looked at together.
fn escaped(text: &[u8]) -> Option<usize> {
    let (words, _) = text.as_chunks::<8>();
    let plain = 8 * words.iter().take_while(|word| !holds_escaped(u64::from_le_bytes(**word))).count();
    let is_escaped = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    text.get(plain..)?.iter().position(is_escaped).map(|at| plain + at)
}

/// Whether one of eight bytes may be escaped; surely so if one is.
fn holds_escaped(word: u64) -> bool {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = EACH << 7;
    // Where a byte is smaller than what is taken away, its highest bit is set, unless it was set before.
    let below = |word: u64, bound: u64| word.wrapping_sub(EACH * bound) & !word & HIGH;
    let is = |word: u64, byte: u64| below(word ^ (EACH * byte), 1);
    (below(word, 0x20) | is(word, u64::from(b'"')) | is(word, u64::from(b'\\'))) != 0
}

/// Appends a string with its quotes and the escapes of RFC 8785.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(end) = escaped(rest) {
        let (plain, tail) = rest.split_at(end);
        out.extend_from_slice(plain);
        let Some((byte, tail)) = tail.split_first() else { break };
        write_escape(*byte, out);
        rest = tail;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            let digits = [byte >> 4, byte & 0xf].into_iter().filter_map(|digit| HEX_DIGITS.get(usize::from(digit)));
            return out.extend(digits);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, want: &str) {
        assert_eq!(String::from_utf8_lossy(&canonical(value)), want);
        assert_eq!(serde_json_canonicalizer::to_string(value).unwrap(), want);
    }

    #[test]
    fn numbers_print_as_ecmascript_does() {
        check(
            &json!([0, -0.0, -1, 1.0, 1.5, 1e21, 1e-7, 1e20, 5e-324]),
            "[0,0,-1,1,1.5,1e+21,1e-7,100000000000000000000,5e-324]",
        );
        check(&json!([333_333_333.333_333_3, 4.50, 2e-3, 1e-27]), "[333333333.3333333,4.5,0.002,1e-27]");
        check(
            &json!([9_007_199_254_740_993_u64, u64::MAX, i64::MIN]),
            "[9007199254740992,18446744073709552000,-9223372036854776000]",
        );
    }

    #[test]
    fn strings_escape_only_what_they_must() {
        check(
            &json!("\u{20ac}$\u{f}\u{a}A'B\"\\\\\"/\u{7f}\u{2028}"),
            "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\u{2028}\"",
        );
        check(&json!("\0\u{8}\t\u{b}\u{c}\r\u{1f}"), r#""\u0000\b\t\u000b\f\r\u001f""#);
    }

    #[test]
    fn the_first_byte_to_escape_is_found_wherever_it_stands() {
        let slowly = |text: &[u8]| text.iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\'));
        for (byte, beside) in
            (0..=u8::MAX).flat_map(|byte| [b'a', b' ', b'#', b'\\', 0x1f, 0x7f, 0xff].map(|it| (byte, it)))
        {
            for at in 0..20 {
                let mut text = [b'a'; 21];
                (text[at], text[at + 1]) = (byte, beside);
                for len in [at + 1, at + 2, 21] {
                    let text = &text[..len.min(21)];
                    assert_eq!(escaped(text), slowly(text), "{byte} at {at}, then {beside}");
                }
            }
        }
        assert_eq!(escaped(b""), None);
    }

    #[test]
    fn keys_sort_by_utf16() {
        let value = json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        check(&value, "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}");
        check(
            &json!({"": [], "a": {}, "aa": [[], {"b": []}], "a\0": null}),
            r#"{"":[],"a":{},"a\u0000":null,"aa":[[],{"b":[]}]}"#,
        );
    }

    #[test]
    fn depth_does_not_cost_stack() {
        let mut value = Value::Null;
        for _ in 0..100_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(canonical(&value).len(), 200_004);
        // The value's own drop recurses; take it apart instead.
        while let Value::Array(mut inner) = value {
            value = inner.pop().unwrap();
        }
    }

    const AROUND_SURROGATES: &str = "[a\u{d7ff}\u{e000}-\u{ffff}\u{10000}-\u{10ffff}]{0,3}";

    fn values() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-c\u{e000}-\u{ffff}\u{1f600}-\u{1f610}\"\n]{0,3}", inner, 0..6)
                    .prop_map(|object| Value::Object(object.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn another_implementation_agrees(value in values()) {
            prop_assert_eq!(canonical(&value), serde_json_canonicalizer::to_vec(&value).unwrap());
        }

        #[test]
        fn the_canonical_form_reads_back_to_itself(value in values()) {
            let once = canonical(&value);
            prop_assert_eq!(canonical(&crate::json::decode(&once).unwrap()), once);
        }

        #[test]
        fn order_is_that_of_utf16(left in AROUND_SURROGATES, right in AROUND_SURROGATES) {
            prop_assert_eq!(utf16_order(&left, &right), left.encode_utf16().cmp(right.encode_utf16()));
        }
    }
}
