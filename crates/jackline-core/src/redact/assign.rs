//! Secrets that are known by what stands before them: assignments, flags, headers, passwords in addresses.

use std::ops::Range;

use super::{
    MARKER_BYTES, Scan, is_marker,
    names::{NAME_BYTES_MAX, is_flag_byte},
    starts_with_marker,
};

/// Spaces that may stand beside `=` or `:`; more is a table, whose columns mean something else.
const GAP_BYTES_MAX: usize = 16;

/// Bytes of a quoted value that goes over several lines; without a closing quote it ends with its line.
const QUOTED_BYTES_MAX: usize = 4 * 1024;

/// Bytes before a name that are looked at to see whether it begins its line.
const INDENT_BYTES_MAX: usize = 64;

/// Bytes of a value without quotes after `:` or ` = `, at least; prose and code have many short ones.
const LOOSE_BYTES_MIN: usize = 4;

/// Digits of a value that is only a number, at least: fewer are a count.
const LOOSE_DIGITS_MIN: usize = 6;

/// Bytes of a value without quotes that decide whether it is a secret; a refusal must stay cheap.
const JUDGED_BYTES_MAX: usize = 256;

/// Bytes of an AWS secret key, which may begin as a path does.
const AWS_SECRET_BYTES: usize = 40;

/// Words that stand where a secret would without being one.
const NO_VALUES: [&[u8]; 22] = [
    b"none",
    b"null",
    b"nil",
    b"true",
    b"false",
    b"undefined",
    b"string",
    b"str",
    b"bytes",
    b"number",
    b"integer",
    b"int",
    b"bool",
    b"boolean",
    b"any",
    b"object",
    b"unknown",
    b"required",
    b"optional",
    b"await",
    b"self",
    b"this",
];

/// Words between a header's name and its secret.
const SCHEMES: [&[u8]; 8] =
    [b"bearer", b"basic", b"token", b"digest", b"negotiate", b"apikey", b"aws4-hmac-sha256", b"hawk"];

/// A name and the `=` or `:` behind it.
struct Assigned {
    name: Range<usize>,
    /// The quote that opened before the name and is still open.
    open_quote: Option<u8>,
    /// Where the value begins.
    value: usize,
    /// `name=value`, as shells and addresses write it: whatever follows is the value.
    tight: bool,
    /// `NAME=value` or `--name value`: a shell's words, which end later than those of code.
    shell: bool,
    /// The separator is `=`.
    equals: bool,
}

impl Scan<'_> {
    /// The secret behind the `:` or `=` that stands here.
    pub(super) fn after_separator(&self) -> Option<Range<usize>> {
        let assigned = self.assigned()?;
        if !assigned.equals && self.is_header(&assigned) && self.quoted(assigned.value, false).is_none() {
            return self.header_value(&assigned);
        }
        self.value(&assigned)
    }

    /// The value behind a `--password` that stands here.
    pub(super) fn after_flag(&self) -> Option<Range<usize>> {
        if !self.rest().starts_with(b"--") || !self.at_word_start() || self.before(self.at) == Some(b'-') {
            return None;
        }
        let end = self.run_within(self.at + 2, NAME_BYTES_MAX, is_flag_byte);
        if !self.names.is_flag(self.slice(self.at..end)) {
            return None;
        }
        // `--password x`, and `"--password", "x"` in a list.
        let quote = self.byte(end).filter(|byte| is_quote(*byte));
        let gap = self.run(end + usize::from(quote.is_some()), |byte| matches!(byte, b' ' | b'\t' | b','));
        if gap == end || self.byte(gap) == Some(b'-') || quote.is_some() && self.byte(gap) != quote {
            return None;
        }
        let name = self.at + 2..end;
        self.value(&Assigned { name, open_quote: None, value: gap, tight: true, shell: true, equals: true })
    }

    /// Notes the password of the address `scheme://user:password@host` whose `://` stands here.
    ///
    /// Finds nothing itself: the user's part comes first and may be a token.
    pub(super) fn enter_address(&mut self) -> Option<Range<usize>> {
        let start = self.at + 3;
        let end = self.run(start, |byte| !(byte.is_ascii_whitespace() || b"/?#\"'`<>\\".contains(&byte)));
        let at_sign = start + self.slice(start..end).iter().rposition(|byte| *byte == b'@')?;
        let mut user_end = start;
        while self.byte(user_end)? != b':' {
            let marked = starts_with_marker(self.slice(user_end..end));
            user_end += if marked { MARKER_BYTES } else { 1 };
        }
        if user_end < at_sign && !is_placeholder(self.slice(user_end + 1..at_sign)) {
            self.password = user_end + 1..at_sign;
        }
        None
    }

    /// The sensitive name before the separator that stands here.
    fn assigned(&self) -> Option<Assigned> {
        let (before, after) = (self.before(self.at), self.byte(self.at + 1));
        let equals = self.byte(self.at) == Some(b'=');
        // Comparisons, arrows' tails and paths of modules assign nothing.
        let other = if equals { b"=!<>".as_slice() } else { b":".as_slice() };
        if before.is_some_and(|byte| other.contains(&byte)) || after == Some(if equals { b'=' } else { b':' }) {
            return None;
        }
        let mut end = self.at - usize::from(matches!(before, Some(b':' | b'?')));
        let spaces = self.slice(end.saturating_sub(GAP_BYTES_MAX)..end).iter().rev();
        let gap = spaces.take_while(|byte| is_blank(**byte)).count();
        end -= gap;
        let bare_end = end;
        end = self.without_closing(end);
        let name = self.name_before(end)?;
        let open_quote = self.before(name.start).filter(|byte| is_quote(*byte) && end == bare_end);
        let arrow = usize::from(equals && after == Some(b'>'));
        let value = self.run(self.at + 1 + arrow, is_blank);
        let tight = equals && gap == 0 && value == self.at + 1;
        let shell = tight && !self.slice(name.clone()).iter().any(u8::is_ascii_lowercase);
        (value - self.at <= GAP_BYTES_MAX).then_some(Assigned { name, open_quote, value, tight, shell, equals })
    }

    /// Steps over what closes a name: `"name":`, `\"name\":`, `env["name"] =`.
    fn without_closing(&self, end: usize) -> usize {
        let end = end - usize::from(self.before(end) == Some(b']'));
        let end = end - usize::from(self.before(end).is_some_and(is_quote));
        let slashes = self.slice(end.saturating_sub(GAP_BYTES_MAX)..end).iter().rev();
        end - slashes.take_while(|byte| **byte == b'\\').count()
    }

    /// The name that ends at `end`, if it is sensitive; words before it may belong to it (`API key`).
    fn name_before(&self, end: usize) -> Option<Range<usize>> {
        let window = self.slice(end.saturating_sub(NAME_BYTES_MAX)..end);
        let length = window.iter().rev().take_while(|byte| is_name(**byte)).count();
        let with_words = window.iter().rev().take_while(|byte| is_name(**byte) || **byte == b' ').count();
        if length == 0 || !self.names.ends(window.get(window.len() - with_words..)?) {
            return None;
        }
        Some(end - length..end)
    }

    fn is_header(&self, assigned: &Assigned) -> bool {
        let name = self.slice(assigned.name.clone());
        ends_ignoring_case(name, b"authorization") || ends_ignoring_case(name, b"cookie")
    }

    /// The rest of a header's line, or of the quotes around it.
    fn header_value(&self, assigned: &Assigned) -> Option<Range<usize>> {
        let start = self.behind_scheme(assigned.value);
        let is_cookie = ends_ignoring_case(self.slice(assigned.name.clone()), b"cookie");
        let marked = starts_with_marker(self.slice(start..self.bytes.len()));
        let word_end = if marked {
            start + MARKER_BYTES
        } else {
            self.run(start, |byte| is_name(byte) || b"$<{>}".contains(&byte))
        };
        let word = self.slice(start..word_end);
        let looks_so = match is_cookie {
            true => self.byte(self.run(start, is_name)) == Some(b'='),
            false => start > assigned.value || word.iter().any(u8::is_ascii_digit),
        };
        if !looks_so || is_placeholder(word) && !word.is_empty() {
            return None;
        }
        let ends = |byte| match assigned.open_quote {
            Some(quote) => byte == quote,
            None => is_quote(byte),
        };
        let end = self.run(start, |byte| !matches!(byte, b'\n' | b'\r' | b'\\') && !ends(byte));
        let blanks = self.slice(start..end).iter().rev().take_while(|byte| is_blank(**byte)).count();
        Some(start..end - blanks)
    }

    /// Where the secret begins when a scheme such as `Bearer` stands before it.
    fn behind_scheme(&self, value: usize) -> usize {
        let word = self.run(value, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let secret = self.run(word, |byte| byte == b' ');
        let scheme = SCHEMES.iter().any(|scheme| self.slice(value..word).eq_ignore_ascii_case(scheme));
        if scheme && secret > word { secret } else { value }
    }

    fn value(&self, assigned: &Assigned) -> Option<Range<usize>> {
        if assigned.open_quote.is_some() && self.byte(assigned.value) == assigned.open_quote {
            return None;
        }
        if let Some(inner) = self.quoted(assigned.value, assigned.equals) {
            let inner = self.before_private_key(inner);
            return (!is_placeholder(self.slice(inner.clone()))).then_some(inner);
        }
        let start = self.behind_scheme(assigned.value);
        let judged = self.bytes.len().min(start + JUDGED_BYTES_MAX);
        let word = self.before_private_key(start..self.word_end(start..judged, assigned));
        if is_placeholder(self.slice(word.clone())) || !assigned.shell && self.is_code(assigned, &word) {
            return None;
        }
        let is_secret = assigned.tight || start > assigned.value || self.is_loose_value(assigned, &word);
        is_secret.then(|| self.before_private_key(start..self.word_end(start..self.bytes.len(), assigned)))
    }

    /// The inside of the quotes that open at `at`, backslashes before them and a letter such as `b""` allowed.
    fn quoted(&self, at: usize, many_lines: bool) -> Option<Range<usize>> {
        let letters = self.slice(at..at + 2).iter().take_while(|byte| b"bBfFrRuU".contains(byte)).count();
        let at = at + letters;
        let quote_at = self.run(at, |byte| byte == b'\\');
        let quote = self.byte(quote_at).filter(|byte| is_quote(*byte))?;
        let slashes = quote_at - at;
        let triple = self.slice(quote_at..quote_at + 3) == [quote; 3];
        let start = quote_at + if triple { 3 } else { 1 };
        Some(start..self.closing_quote(start, (quote, slashes), many_lines || triple))
    }

    fn closing_quote(&self, start: usize, (quote, slashes): (u8, usize), many_lines: bool) -> usize {
        let mut run = 0;
        let mut line_end = None;
        for (offset, byte) in self.slice(start..self.bytes.len()).iter().enumerate() {
            let closes = if slashes == 0 { run % 2 == 0 } else { run <= slashes };
            if *byte == quote && closes {
                return start + offset - if slashes == 0 { 0 } else { run };
            }
            if *byte == b'\n' {
                line_end = line_end.or(Some(start + offset));
            }
            if line_end.is_some() && (!many_lines || offset > QUOTED_BYTES_MAX) {
                break;
            }
            run = if *byte == b'\\' { run + 1 } else { 0 };
        }
        line_end.unwrap_or(self.bytes.len())
    }

    /// The end of a value without quotes.
    fn word_end(&self, within: Range<usize>, assigned: &Assigned) -> usize {
        let (start, mut end) = (within.start, within.start);
        while let Some(byte) = self.byte(end).filter(|_| end < within.end) {
            let next = self.byte(end + 1);
            let ends = match byte {
                b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => true,
                b'[' | b']' | b'{' | b'}' => !assigned.shell,
                b',' => next.is_none_or(|next| next.is_ascii_whitespace() || is_quote(next)),
                // foo"bar" is one word in a shell.
                quote if is_quote(quote) => {
                    Some(quote) == assigned.open_quote || !next.is_some_and(|next| next.is_ascii_alphanumeric())
                }
                byte if byte.is_ascii_whitespace() => self.before(end) != Some(b'\\') || byte != b' ',
                _ => false,
            };
            if ends {
                break;
            }
            end += 1;
        }
        let slashes = self.slice(start..end).iter().rev().take_while(|byte| **byte == b'\\').count();
        end - slashes
    }

    /// Leaves a private key inside a value to its own scanner, which knows where it ends.
    fn before_private_key(&self, value: Range<usize>) -> Range<usize> {
        const BEGIN: &[u8] = b"-----BEGIN";
        let found = self.slice(value.clone()).windows(BEGIN.len()).position(|window| window == BEGIN);
        value.start..found.map_or(value.end, |found| value.start + found)
    }

    /// `token=get()`, `token=None`, `password=password` and `token=self.token` are code, not values.
    fn is_code(&self, assigned: &Assigned, word: &Range<usize>) -> bool {
        let content = self.slice(word.clone());
        let named = content.iter().all(|byte| is_name(*byte));
        let called = named && matches!(self.byte(word.end), Some(b'(' | b'[' | b'<'));
        let dotted = named && content.contains(&b'.') && self.names.ends(content);
        let same = content.eq_ignore_ascii_case(self.slice(assigned.name.clone()));
        called || dotted || same || is_no_value(content)
    }

    /// Whether a word behind `name:` or `name =` is more likely a secret than prose or code.
    fn is_loose_value(&self, assigned: &Assigned, word: &Range<usize>) -> bool {
        let content = self.slice(word.clone());
        let digits = content.iter().filter(|byte| byte.is_ascii_digit()).count();
        if content.len() < LOOSE_BYTES_MIN || is_path(content) {
            return false;
        }
        if digits == content.len() {
            return digits >= LOOSE_DIGITS_MIN;
        }
        let ends_line = matches!(self.byte(word.end), None | Some(b'\n' | b'\r'));
        // "X-Api-Key: value", as arguments give headers.
        let in_header = assigned.open_quote.is_some() && self.slice(assigned.name.clone()).contains(&b'-');
        digits > 0 || in_header || ends_line && self.begins_line(assigned.name.start)
    }

    fn begins_line(&self, name: usize) -> bool {
        let before = self.slice(name.saturating_sub(INDENT_BYTES_MAX)..name).iter().rev();
        let indent = before.take_while(|byte| is_blank(**byte) || **byte == b'-').count();
        matches!(self.before(name - indent), None | Some(b'\n'))
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|before| self.byte(before))
    }
}

const fn is_name(byte: u8) -> bool {
    is_flag_byte(byte) || !byte.is_ascii()
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

const fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn ends_ignoring_case(name: &[u8], ending: &[u8]) -> bool {
    let start = name.len().saturating_sub(ending.len());
    name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(ending))
}

fn is_no_value(content: &[u8]) -> bool {
    NO_VALUES.iter().any(|word| content.eq_ignore_ascii_case(word))
}

fn is_path(content: &[u8]) -> bool {
    let begins = [b"/".as_slice(), b"./", b"../", b"~/"].iter().any(|start| content.starts_with(start));
    begins && content.len() != AWS_SECRET_BYTES && content.iter().all(|byte| is_name(*byte) || b"/~".contains(byte))
}

/// Whether something stands for a secret without being one: nothing, a marker, `$NAME`, `<name>`, `{name}`, `***`.
pub(super) fn is_placeholder(content: &[u8]) -> bool {
    let inner_is_name = |inner: &[u8]| inner.iter().all(|byte| is_name(*byte) || b" {}$".contains(byte));
    match content {
        [] | b"$" => true,
        [b'$', rest @ ..] => matches!(rest, [b'{' | b'(' | b'_' | b'a'..=b'z' | b'A'..=b'Z', ..] | [b'0'..=b'9']),
        [b'<', inner @ .., b'>'] | [b'{', inner @ .., b'}'] => inner_is_name(inner),
        [b'%', inner @ .., b'%'] => inner_is_name(inner),
        b"%s" | b"%v" => true,
        [b'*', rest @ ..] => rest.iter().all(|byte| *byte == b'*'),
        [first @ (b'.' | b'x' | b'X'), rest @ ..] => rest.len() >= 2 && rest.iter().all(|byte| byte == first),
        content => is_marker(content),
    }
}
