//! The grammar of Semantic Versioning 2.0.0.

/// The same grammar as a regular expression, for editors.
pub(crate) const PATTERN: &str = r"^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$";

/// Whether a text is a version.
pub(crate) fn is_version(text: &str) -> bool {
    let (rest, build) = match text.split_once('+') {
        Some((rest, build)) => (rest, Some(build)),
        None => (text, None),
    };
    let (core, pre) = match rest.split_once('-') {
        Some((core, pre)) => (core, Some(pre)),
        None => (rest, None),
    };
    let numbers: Vec<&str> = core.split('.').collect();
    numbers.len() == 3
        && numbers.iter().all(|number| is_number(number))
        && pre.is_none_or(|pre| pre.split('.').all(|part| is_number(part) || is_word(part) && !is_digits(part)))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// What to write instead of something that is nearly a version.
pub(crate) fn nearest(text: &str) -> Option<String> {
    let bare = text.trim().trim_start_matches(['v', 'V', '=']);
    let padded = match bare.split('.').count() {
        1 => format!("{bare}.0.0"),
        2 => format!("{bare}.0"),
        _ => bare.to_owned(),
    };
    is_version(&padded).then_some(padded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_kept_in_full() {
        let regex = jackline_core::definition::compile_regex(PATTERN).unwrap();
        for (text, want) in [
            ("1.0.0", true),
            ("0.0.0", true),
            ("10.20.30", true),
            ("1.0.0-alpha", true),
            ("1.0.0-alpha-1", true),
            ("1.0.0-0.3.7", true),
            ("1.0.0-x.7.z.92", true),
            ("1.0.0-0a", true),
            ("1.0.0--", true),
            ("1.0.0+001", true),
            ("1.0.0+a-b.c", true),
            ("1.0.0-beta+exp.sha.5114f85", true),
            ("99999999999999999999.0.0", true),
            ("", false),
            ("1", false),
            ("1.0", false),
            ("1.0.0.0", false),
            ("v1.0.0", false),
            ("01.0.0", false),
            ("1.00.0", false),
            ("1.0.0-", false),
            ("1.0.0+", false),
            ("1.0.0-01", false),
            ("1.0.0-a..b", false),
            ("1.0.0+a+b", false),
            ("1.0.0 ", false),
            ("1.0.0\n", false),
            ("1.0.٣", false),
            ("-1.0.0", false),
        ] {
            assert_eq!(is_version(text), want, "{text:?}");
            assert_eq!(regex.is_match(text), want, "{text:?} by the expression");
        }
    }

    #[test]
    fn near_misses_are_mended() {
        assert_eq!(nearest("1.0").as_deref(), Some("1.0.0"));
        assert_eq!(nearest("v2.1.3").as_deref(), Some("2.1.3"));
        assert_eq!(nearest("1").as_deref(), Some("1.0.0"));
        assert_eq!(nearest("one"), None);
    }
}
