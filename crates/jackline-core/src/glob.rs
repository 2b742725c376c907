//! Globs over paths and over plain text: `*`, `?`, `**`, `[a-z]`, `[!a]`, `{a,b}`, and `\` to escape.
//!
//! In a path `*` and `?` stop at `/`, `**` is any number of segments (none included), and a pattern without `/`
//! is looked for in every directory. Matching takes at most pattern length × text length steps, whatever the pattern.

pub(crate) mod braces;

use braces::Brace;

/// Longer patterns are no longer written by people; with the next two bounds this caps one match's work.
pub const PATTERN_CHARS_MAX: usize = 1_024;
/// How many patterns `{a,b}` may stand for: enough for every list of endings, too few for `{a,b}{a,b}{a,b}…`.
pub const ALTERNATIVES_MAX: usize = 64;
/// Tokens of all alternatives together, so that 64 long alternatives cost no more than a few long patterns.
pub const TOKENS_MAX: usize = 8_192;

/// A pattern that was read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    alternatives: Vec<Vec<Token>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `/`, which splits a path pattern into segments.
    Slash,
    /// `?`
    One,
    /// `*`
    Many,
    Class(Class),
    Open,
    Comma,
    Close,
}

/// The characters inside `[…]`, as inclusive ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
}

impl Class {
    pub(crate) fn holds(&self, c: char) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != self.negated
    }
}

/// Whether a path (with `/` between segments) matches; a pattern that [`check`] refuses matches nothing.
#[must_use]
pub fn matches(pattern: &str, path: &str) -> bool {
    !lacks_a_part(pattern, path) && Glob::parse(pattern).is_ok_and(|glob| glob.matches(path))
}

/// Whether a plain text matches, `*` and `?` passing over `/` like any character.
#[must_use]
pub fn text_matches(pattern: &str, text: &str) -> bool {
    // Most of them begin with another letter, and every call is held against hundreds.
    let first = pattern.as_bytes().first().filter(|byte| byte.is_ascii_alphanumeric());
    if first.is_some() && first != text.as_bytes().first() {
        return false;
    }
    // Most patterns are plain names or names with a star, asked for on every call: no need to read them first.
    if !pattern.contains(['?', '[', '{', '}', '\\']) && !pattern.is_empty() && pattern.len() <= PATTERN_CHARS_MAX {
        return stars_match(pattern.as_bytes(), text.as_bytes(), |want| *want == b'*', |want, byte| want == byte);
    }
    !lacks_a_part(pattern, text) && Glob::parse(pattern).is_ok_and(|glob| glob.text_matches(text))
}

/// Whether something that every match has is missing: a part of a name outside all braces. It spares most patterns
/// from being read, and every call is held against all of them.
fn lacks_a_part(pattern: &str, text: &str) -> bool {
    let plain = pattern.split(['[', '\\']).next().unwrap_or_default();
    let (mut depth, mut from) = (0_usize, 0);
    // A segment of dots alone says nothing about a path.
    let missing =
        |from, to| plain.get(from..to).is_some_and(|part| !matches!(part, "." | "..") && !text.contains(part));
    for (at, c) in plain.char_indices().filter(|(_, c)| "*?{}/".contains(*c)) {
        if depth == 0 && missing(from, at) {
            return true;
        }
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        from = at + 1;
    }
    depth == 0 && missing(from, plain.len())
}

/// Says what is wrong with a pattern over paths, so that it reads after the pattern itself.
pub fn check(pattern: &str) -> Result<(), String> {
    Glob::parse(pattern)?;
    if pattern.len() > 1 && pattern.ends_with('/') {
        return Err("ends with `/`, where `/**` would match what is below".to_owned());
    }
    match pattern.split('/').find(|segment| matches!(*segment, "." | "..")) {
        Some(segment) => Err(format!("has a segment `{segment}`, which no path has")),
        None => Ok(()),
    }
}

/// Says what is wrong with a pattern over plain text.
pub fn check_text(pattern: &str) -> Result<(), String> {
    Glob::parse(pattern).map(|_| ())
}

/// The patterns that one with braces stands for, as texts without braces; what is bracketed or escaped is any text.
#[must_use]
pub(crate) fn alternatives(pattern: &str) -> Vec<String> {
    let written = |token: &Token| match token {
        Token::Char(c) if is_pattern(c.encode_utf8(&mut [0; 4])) => '?',
        Token::Char(c) => *c,
        Token::Slash => '/',
        Token::One | Token::Class(_) => '?',
        Token::Many | Token::Open | Token::Comma | Token::Close => '*',
    };
    let all = Glob::parse(pattern).map(|glob| glob.alternatives).unwrap_or_default();
    all.iter().map(|tokens| tokens.iter().map(written).collect()).collect()
}

/// Whether a pattern names a place, rather than something that counts in every directory.
#[must_use]
pub fn is_placed(pattern: &str) -> bool {
    pattern.contains('/') && !pattern.starts_with("**/")
}

/// Whether a text has any character that is special in a pattern.
#[must_use]
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{', '\\'])
}

impl Glob {
    /// Reads a pattern; the fault reads after the pattern itself.
    pub fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Err("is empty".to_owned());
        }
        if pattern.chars().nth(PATTERN_CHARS_MAX).is_some() {
            return Err(format!("is longer than {PATTERN_CHARS_MAX} characters"));
        }
        Ok(Self { alternatives: braces::expand(tokens(pattern)?)? })
    }

    /// Whether a path matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        let segments = path_segments(path);
        let segments: Vec<Vec<char>> = segments.iter().map(|segment| segment.chars().collect()).collect();
        self.alternatives.iter().any(|tokens| path_matches(tokens, &segments))
    }

    /// Whether a plain text matches.
    #[must_use]
    pub fn text_matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.alternatives.iter().any(|tokens| run_matches(tokens, &text))
    }
}

/// Reads characters into tokens; braces stay in, balanced.
fn tokens(pattern: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    // For each open brace, whether it had a comma yet.
    let mut open: Vec<bool> = Vec::new();
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '\\' => Token::Char(chars.next().ok_or("ends with `\\`, which escapes nothing")?),
            '/' => Token::Slash,
            '?' => Token::One,
            '*' => Token::Many,
            '[' => Token::Class(class(&mut chars)?),
            '{' => {
                open.push(false);
                Token::Open
            }
            ',' if !open.is_empty() => {
                open.last_mut().into_iter().for_each(|comma| *comma = true);
                Token::Comma
            }
            '}' => match open.pop() {
                Some(true) => Token::Close,
                Some(false) => return Err("has a brace without a comma (a literal one is `\\{`)".to_owned()),
                None => return Err("has a `}` that nothing opened (a literal one is `\\}`)".to_owned()),
            },
            c => Token::Char(c),
        });
    }
    if open.is_empty() { Ok(tokens) } else { Err("has an unclosed brace".to_owned()) }
}

/// Reads `[…]` after its bracket. A `]` in the first place is literal, as in every shell.
pub(crate) fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Class, String> {
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let c = chars.next().ok_or("has an unclosed bracket")?;
        let from = match c {
            ']' if !ranges.is_empty() => return Ok(Class { negated, ranges }),
            '/' => return Err("has a `/` inside brackets, which can never match".to_owned()),
            '\\' => chars.next().ok_or("has an unclosed bracket")?,
            c => c,
        };
        ranges.push(range(from, chars)?);
    }
}

fn range(from: char, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<(char, char), String> {
    let mut ahead = chars.clone();
    let (dash, to) = (ahead.next(), ahead.next());
    match (dash, to) {
        (Some('-'), Some(to)) if to != ']' => {
            let to = if to == '\\' { ahead.next().ok_or("has an unclosed bracket")? } else { to };
            *chars = ahead;
            if to < from {
                return Err(format!("has a range `{from}-{to}` that runs backwards"));
            }
            Ok((from, to))
        }
        _ => Ok((from, from)),
    }
}

impl braces::Token for Token {
    fn brace(&self) -> Option<Brace> {
        match self {
            Self::Open => Some(Brace::Open),
            Self::Comma => Some(Brace::Comma),
            Self::Close => Some(Brace::Close),
            _ => None,
        }
    }
}

/// The segments of a path: an absolute one begins with an empty segment, the root of a relative one has none.
fn path_segments(path: &str) -> Vec<&str> {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => Vec::new(),
        trimmed => trimmed.split('/').collect(),
    }
}

/// Matches segment by segment; `**` gives back segments one at a time, only the last one ever has to.
fn path_matches(tokens: &[Token], segments: &[Vec<char>]) -> bool {
    let anywhere = !tokens.contains(&Token::Slash);
    let tokens = tokens.strip_prefix(&[Token::Char('.'), Token::Slash]).unwrap_or(tokens);
    let any_depth: &[Token] = &[Token::Many, Token::Many];
    let mut wanted: Vec<&[Token]> = tokens.split(|token| *token == Token::Slash).collect();
    if wanted.last().is_some_and(|last| last.is_empty()) {
        wanted.pop();
        // `build/` is what is below `build`; the lone `/` is the root itself.
        if wanted.len() > 1 || tokens.len() > 1 {
            wanted.push(any_depth);
        }
    }
    if anywhere {
        wanted.insert(0, any_depth);
    }
    stars_match(&wanted, segments, |want| is_any_depth(want), |want, segment| run_matches(want, segment))
}

fn is_any_depth(segment: &[Token]) -> bool {
    segment.len() > 1 && segment.iter().all(|token| *token == Token::Many)
}

/// Matches a run of characters, `*` being any number of them.
fn run_matches(tokens: &[Token], text: &[char]) -> bool {
    stars_match(tokens, text, |token| *token == Token::Many, one_matches)
}

fn one_matches(token: &Token, c: &char) -> bool {
    match token {
        Token::Char(want) => want == c,
        Token::Slash => *c == '/',
        Token::One => true,
        Token::Class(class) => class.holds(*c),
        Token::Many | Token::Open | Token::Comma | Token::Close => false,
    }
}

/// Matches a list of wants, some of them stars, against a list of items. Going back to the latest star is enough:
/// an earlier one could only leave less for what follows. So the work is wants × items at most.
fn stars_match<W, I>(wants: &[W], items: &[I], is_star: impl Fn(&W) -> bool, fits: impl Fn(&W, &I) -> bool) -> bool {
    let (mut want, mut item) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(next) = items.get(item) {
        match wants.get(want) {
            Some(star) if is_star(star) => {
                back = Some((want + 1, item));
                want += 1;
                continue;
            }
            Some(single) if fits(single, next) => {
                want += 1;
                item += 1;
                continue;
            }
            _ => {}
        }
        let Some((after_star, taken)) = back else { return false };
        back = Some((after_star, taken + 1));
        (want, item) = (after_star, taken + 1);
    }
    wants.iter().skip(want).all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_path(pattern: &str, path: &str, want: bool) {
        assert_eq!(matches(pattern, path), want, "{pattern} over {path}");
    }

    #[test]
    fn a_first_look_never_refuses_a_match() {
        let patterns = [
            "/**/.ssh/id_{a,b}",
            "a/b",
            "*.{x,y}",
            "a[b]c",
            "{a,{b,c}d}e",
            "a\\*b",
            "**/a/**",
            "x{a,b}[c]y",
            "{a}",
            "./a",
            "./a",
        ];
        let texts = [
            "/h/.ssh/id_a",
            "/.ssh/id_b",
            "a//b",
            "q/a/b",
            "z.y",
            "abc",
            "ae",
            "bde",
            "a*b",
            "a",
            "x/a",
            "xacy",
            "{a}",
        ];
        for (pattern, text) in patterns.iter().flat_map(|pattern| texts.iter().map(move |text| (*pattern, *text))) {
            let glob = Glob::parse(pattern);
            assert_eq!(matches(pattern, text), glob.as_ref().is_ok_and(|glob| glob.matches(text)), "{pattern} {text}");
            assert_eq!(text_matches(pattern, text), glob.is_ok_and(|glob| glob.text_matches(text)), "{pattern} {text}");
        }
        assert!(lacks_a_part("/**/.ssh/id_{a,b}", "/h/.aws/id_a") && !lacks_a_part("{a,b}/c", "b/c"));
    }

    #[test]
    fn braces_are_written_out() {
        assert_eq!(alternatives("/{a,b}/*.{x,y[z]}"), ["/a/*.x", "/a/*.y?", "/b/*.x", "/b/*.y?"]);
        assert_eq!(alternatives("a\\*"), ["a?"]);
        assert_eq!(alternatives("{a"), Vec::<String>::new());
    }

    #[test]
    fn paths_match_segment_by_segment() {
        for (pattern, path, want) in [
            ("*.rs", "main.rs", true),
            ("*.rs", "src/main.rs", true),
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/a/main.rs", false),
            ("src/*.rs", "x/src/main.rs", false),
            ("src/**/*.rs", "src/main.rs", true),
            ("src/**/*.rs", "src/a/b/main.rs", true),
            ("src/**", "src", true),
            ("infra/prod/**", "infra/prod", true),
            ("infra/prod/**", "infra/prod/a/b", true),
            ("infra/prod/**", "infra/production", false),
            ("infra/prod/**", "x/infra/prod/a", false),
            ("**/secret", "secret", true),
            ("**/secret", "a/b/secret", true),
            ("**/secret", "a/b/secrets", false),
            (".env*", ".env", true),
            (".env*", "a/b/.env.local", true),
            (".env*", "a/.environment/x", false),
            (".env*", "/home/u/.env", true),
            ("/tmp/**", "/tmp/a", true),
            ("/tmp/**", "/tmp", true),
            ("/tmp/**", "tmp/a", false),
            ("tmp/**", "/tmp/a", false),
            ("/**", "/", true),
            ("/**", "/etc/passwd", true),
            ("/**", "a", false),
            ("/**", "", false),
            ("/", "/", true),
            ("/", "a", false),
            ("**", "", true),
            ("**", "a/b/c", true),
            ("*", "a/b", true),
            ("*", "", false),
            ("./a", "a", true),
            ("./a", "x/a", false),
            ("build/", "build/a", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("x/a?c", "x/a/c", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]a]x", "]x", true),
            ("[a-]x", "-x", true),
            ("[\\]]x", "]x", true),
            ("x/[!a]b", "x//b", false),
            ("*.{js,ts}", "a.ts", true),
            ("*.{js,ts}", "a.tsx", false),
            ("{a/b,c}/d", "a/b/d", true),
            ("{a,b{c,d}}", "bd", true),
            ("{,a}b", "b", true),
            ("a,b", "a,b", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("\\{a,b\\}", "{a,b}", true),
            ("é?", "éü", true),
            ("a/b/", "a/b", true),
            ("a/b", "a/b/", true),
            ("a/***/b", "a/b", true),
            ("a**b", "axxb", true),
            ("x/a**b", "x/a/b", false),
        ] {
            check_path(pattern, path, want);
        }
    }

    #[test]
    fn texts_know_no_segments() {
        for (pattern, text, want) in [
            ("mcp__*", "mcp__github__push", true),
            ("mcp__*", "amcp__", false),
            ("https://*", "https://a/b", true),
            ("a?b", "a/b", true),
            ("*", "", true),
            ("*prod*", "the/prod/db", true),
            ("a", "b/a", false),
            ("{read,write}_file", "write_file", true),
        ] {
            assert_eq!(text_matches(pattern, text), want, "{pattern} over {text}");
        }
    }

    #[track_caller]
    fn check_fault(pattern: &str, want: &str) {
        let fault = check(pattern).expect_err(pattern);
        assert!(fault.contains(want), "{pattern}: {fault}");
        assert!(!fault.contains('\n') && !fault.ends_with('.'));
    }

    #[test]
    fn bad_patterns_are_named() {
        check_fault("", "is empty");
        check_fault("src/{a,b", "unclosed brace");
        check_fault("a}", "nothing opened");
        check_fault("{a}", "without a comma");
        check_fault("{}", "without a comma");
        check_fault("[a", "unclosed bracket");
        check_fault("[]", "unclosed bracket");
        check_fault("[!]", "unclosed bracket");
        check_fault("[a\\", "unclosed bracket");
        check_fault("[z-a]", "backwards");
        check_fault("[/]", "never match");
        check_fault("a\\", "escapes nothing");
        check_fault("a/../b", "`..`");
        check_fault("./a", "`.`");
        check_fault("build/", "`/**`");
        check_fault(&"a".repeat(PATTERN_CHARS_MAX + 1), "longer than");
        check_fault(&"{a,b}".repeat(20), "more than 64");
        check_fault(&"{".repeat(500), "unclosed");
        assert_eq!(check("/"), Ok(()));
        assert_eq!(check("{a,b}/**"), Ok(()));
    }

    #[test]
    fn hostile_patterns_end_soon() {
        assert!(!text_matches(&format!("{}b", "*a".repeat(500)), &"a".repeat(20_000)));
        assert!(!text_matches(&format!("*{}b", "a".repeat(1_000)), &"a".repeat(20_000)));
        assert!(!matches(&format!("{}b", "**/a*/".repeat(160)), &"a/".repeat(2_000)));
        let nested = format!("{}a,b{}", "{a,".repeat(60), "}".repeat(60));
        assert!(matches(&nested, "a"));
    }

    /// Tries everything, slowly: what the fast matcher must agree with.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|end| naive(rest, &text[end..])),
            ['?', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
            [c, rest @ ..] => text.first() == Some(c) && naive(rest, &text[1..]),
        }
    }

    fn naive_segments(pattern: &[&str], path: &[&str]) -> bool {
        match pattern {
            [] => path.is_empty(),
            ["**", rest @ ..] => (0..=path.len()).any(|end| naive_segments(rest, &path[end..])),
            [one, rest @ ..] => {
                !path.is_empty() && naive(&chars(one), &chars(path[0])) && naive_segments(rest, &path[1..])
            }
        }
    }

    fn naive_path(pattern: &str, path: &str) -> bool {
        let anchored = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        naive_segments(&anchored.split('/').collect::<Vec<_>>(), &path.split('/').collect::<Vec<_>>())
    }

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    fn segment() -> impl Strategy<Value = String> {
        prop_oneof![4 => "[ab?]{1,2}", 2 => "[ab]?\\*[ab]?", 2 => Just("**".to_owned()), 1 => Just("*a*b".to_owned())]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_trying_everything(
            pattern in prop::collection::vec(segment(), 1..5),
            path in prop::collection::vec("[ab]{1,3}", 1..6),
        ) {
            let (pattern, path) = (pattern.join("/"), path.join("/"));
            prop_assert_eq!(matches(&pattern, &path), naive_path(&pattern, &path), "{} over {}", pattern, path);
        }

        #[test]
        fn text_agrees_with_trying_everything(pattern in "[ab/*?]{1,8}", text in "[ab/]{0,8}") {
            prop_assert_eq!(text_matches(&pattern, &text), naive(&chars(&pattern), &chars(&text)));
        }

        #[test]
        fn braces_are_their_alternatives(
            (a, b) in ("[ab*?]{1,3}", "[ab*?]{1,3}"), rest in "[ab]{0,2}", path in "[ab]{1,5}",
        ) {
            let pattern = format!("{{{a},{b}}}{rest}");
            let want = matches(&format!("{a}{rest}"), &path) || matches(&format!("{b}{rest}"), &path);
            prop_assert_eq!(matches(&pattern, &path), want);
        }

        #[test]
        fn nothing_written_makes_it_panic(pattern in ".{0,40}", path in ".{0,40}") {
            let _ = (matches(&pattern, &path), text_matches(&pattern, &path), check(&pattern));
        }
    }
}
