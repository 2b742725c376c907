//! Takes a text literal: prefixes, one quote or three, escapes, and the fields of formatted texts, in which whole
//! expressions stand, with quotes of their own.

use jackline_core::definition::Span;

use super::Unreadable;
use super::cursor::is_line_end;
use super::lex::Lexer;
use super::token::{Literal, Token};

/// Formatted texts inside one another; Python itself takes 149. Their fields are read by recursion.
const FORMATTED_MAX: usize = 100;

/// How the literal at hand is written.
#[derive(Debug, Clone, Copy)]
struct Form {
    quote: char,
    triple: bool,
    raw: bool,
    formatted: bool,
    start: Span,
}

/// Whether a name before a quote belongs to the literal.
pub(super) fn is_prefix(name: &str) -> bool {
    const PREFIXES: &[&str] = &["r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"];
    PREFIXES.iter().any(|prefix| prefix.eq_ignore_ascii_case(name))
}

/// Takes the literal whose prefix was taken already.
pub(super) fn take(lexer: &mut Lexer<'_>, prefix: &str) -> Result<Literal, Unreadable> {
    let has = |letter: char| prefix.chars().any(|c| c.eq_ignore_ascii_case(&letter));
    let start = lexer.cursor.here();
    let quote = lexer.cursor.bump().unwrap_or('"');
    let mut literal = Literal { bytes: has('b'), ..Literal::default() };
    let mut form = Form { quote, triple: false, raw: has('r'), formatted: has('f') || has('t'), start };
    if lexer.cursor.eat(quote) {
        if !lexer.cursor.eat(quote) {
            return Ok(literal);
        }
        form.triple = true;
    }
    body(lexer, form, &mut literal)?;
    Ok(literal)
}

fn body(lexer: &mut Lexer<'_>, form: Form, literal: &mut Literal) -> Result<(), Unreadable> {
    while !closes(lexer, form) {
        let at = lexer.cursor.here();
        match lexer.cursor.peek() {
            None => return Err(unclosed(lexer, form)),
            Some(c) if is_line_end(c) && !form.triple => return Err(unclosed(lexer, form)),
            Some('\\') => escape(lexer, form, literal)?,
            Some('{') if form.formatted => {
                lexer.cursor.bump();
                if lexer.cursor.eat('{') {
                    literal.push('{');
                } else {
                    let start = lexer.cursor.here();
                    field(lexer, form)?;
                    literal.hole(name_in(lexer.cursor.since(start)));
                }
            }
            Some('}') if form.formatted => {
                lexer.cursor.bump();
                if !lexer.cursor.eat('}') {
                    return Err(lexer.cursor.complain(at, "a single `}` in a formatted text"));
                }
                literal.push('}');
            }
            Some(_) => lexer.cursor.bump().into_iter().for_each(|c| literal.push(c)),
        }
    }
    Ok(())
}

/// The name that a field holds, if it holds nothing else; its `}` is still there.
fn name_in(field: &str) -> Option<String> {
    let inner = field.strip_suffix('}')?.trim();
    let name = inner.strip_suffix("!s").unwrap_or(inner).trim();
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (plain && name.chars().all(|c| c.is_alphanumeric() || c == '_')).then(|| name.to_owned())
}

/// Takes the closing quotes, if they are next.
fn closes(lexer: &mut Lexer<'_>, form: Form) -> bool {
    let mut quotes = lexer.cursor.rest().chars().take(if form.triple { 3 } else { 1 });
    let (count, all) = (&mut quotes).fold((0, true), |(count, all), c| (count + 1, all && c == form.quote));
    let closed = all && count == if form.triple { 3 } else { 1 };
    if closed {
        (0..count).for_each(|_| {
            lexer.cursor.bump();
        });
    }
    closed
}

fn unclosed(lexer: &Lexer<'_>, form: Form) -> Unreadable {
    let quotes = form.quote.to_string().repeat(if form.triple { 3 } else { 1 });
    Unreadable {
        message: format!("a text is never closed: {quotes} is missing"),
        span: lexer.cursor.until_here(form.start),
    }
}

/// A field of a formatted text, its `{` taken: an expression, then perhaps a conversion and a format.
fn field(lexer: &mut Lexer<'_>, form: Form) -> Result<(), Unreadable> {
    lexer.formatted += 1;
    if lexer.formatted > FORMATTED_MAX {
        return Err(lexer.cursor.complain(form.start, format!("more than {FORMATTED_MAX} formatted texts in one")));
    }
    let outer = std::mem::take(&mut lexer.open);
    let mut tokens = Vec::new();
    expression(lexer, form, &mut tokens)?;
    lexer.fields.push(tokens);
    lexer.open = outer;
    lexer.formatted -= 1;
    Ok(())
}

fn expression<'a>(lexer: &mut Lexer<'a>, form: Form, tokens: &mut Vec<Token<'a>>) -> Result<(), Unreadable> {
    loop {
        lexer.blanks()?;
        let start = lexer.cursor.here();
        match lexer.cursor.peek() {
            None => return Err(unclosed(lexer, form)),
            Some('}') if lexer.open.is_empty() => {
                lexer.cursor.bump();
                return Ok(());
            }
            Some(':') if lexer.open.is_empty() => {
                lexer.cursor.bump();
                if format(lexer, form)? {
                    return Ok(());
                }
            }
            // A conversion (`!r`), or a line's end, which means nothing inside a field.
            Some(c) if c == '!' || is_line_end(c) => {
                lexer.cursor.bump();
            }
            Some(_) => {
                let kind = lexer.word()?;
                tokens.push(Token { kind, text: lexer.cursor.since(start), span: lexer.cursor.until_here(start) });
            }
        }
    }
}

/// The format behind a field's colon; whether the field ended with it.
fn format(lexer: &mut Lexer<'_>, form: Form) -> Result<bool, Unreadable> {
    loop {
        match lexer.cursor.peek() {
            Some('}') => {
                lexer.cursor.bump();
                return Ok(true);
            }
            Some('{') => {
                lexer.cursor.bump();
                field(lexer, form)?;
            }
            Some('\\') => escape(lexer, form, &mut Literal::default())?,
            // Python goes back to the expression here.
            Some(c) if is_line_end(c) && !form.triple => return Ok(false),
            Some(_) if !closes(lexer, form) => {
                lexer.cursor.bump();
            }
            _ => return Err(unclosed(lexer, form)),
        }
    }
}

fn escape(lexer: &mut Lexer<'_>, form: Form, literal: &mut Literal) -> Result<(), Unreadable> {
    let start = lexer.cursor.here();
    lexer.cursor.bump();
    let field = form.formatted && matches!(lexer.cursor.peek(), Some('{' | '}'));
    if form.raw || field {
        literal.push('\\');
    }
    if field {
        return Ok(());
    }
    let Some(c) = lexer.cursor.bump() else {
        return Err(unclosed(lexer, form));
    };
    if form.raw {
        literal.push(c);
    } else if literal.bytes {
        if c == 'x' {
            code(lexer, start, 2)?;
        }
    } else {
        meant(lexer, start, c, literal)?;
    }
    Ok(())
}

/// What a backslash and a character mean, in a text that is not raw.
fn meant(lexer: &mut Lexer<'_>, start: Span, c: char, literal: &mut Literal) -> Result<(), Unreadable> {
    let meant = match c {
        '\n' => return Ok(()),
        '\\' | '\'' | '"' => Some(c),
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'v' => Some('\u{b}'),
        'x' => char::from_u32(code(lexer, start, 2)?),
        'u' => char::from_u32(code(lexer, start, 4)?),
        'U' => char::from_u32(code(lexer, start, 8)?),
        'N' => named(lexer, start)?,
        '0'..='7' => char::from_u32(octal(lexer, c)),
        other => {
            literal.push('\\');
            Some(other)
        }
    };
    match meant {
        Some(meant) => literal.push(meant),
        // Half of a surrogate pair, or a character by a name that no tool's name needs.
        None => literal.hole(None),
    }
    Ok(())
}

fn code(lexer: &mut Lexer<'_>, start: Span, digits: usize) -> Result<u32, Unreadable> {
    let mut value = 0;
    for _ in 0..digits {
        let Some(digit) = lexer.cursor.peek().and_then(|c| c.to_digit(16)) else {
            return Err(lexer.cursor.complain(start, format!("an escape that needs {digits} hexadecimal digits")));
        };
        lexer.cursor.bump();
        value = value * 16 + digit;
    }
    Ok(value)
}

fn octal(lexer: &mut Lexer<'_>, first: char) -> u32 {
    let mut value = first.to_digit(8).unwrap_or_default();
    for _ in 0..2 {
        let Some(digit) = lexer.cursor.peek().and_then(|c| c.to_digit(8)) else { break };
        lexer.cursor.bump();
        value = value * 8 + digit;
    }
    value
}

/// `\N{…}`, of which the `\N` was taken.
fn named(lexer: &mut Lexer<'_>, start: Span) -> Result<Option<char>, Unreadable> {
    let opened = lexer.cursor.eat('{');
    let from = lexer.cursor.here();
    lexer.cursor.take_while(|c| c != '}' && !is_line_end(c) && !matches!(c, '"' | '\''));
    let name = lexer.cursor.since(from);
    if opened && lexer.cursor.eat('}') {
        return Ok(called(name));
    }
    Err(lexer.cursor.complain(start, "a character by name is `\\N{…}`"))
}

/// The character of a name, of those that names of tools are made of.
fn called(name: &str) -> Option<char> {
    const MARKS: &[(&str, char)] = &[("FULL STOP", '.'), ("LOW LINE", '_'), ("HYPHEN-MINUS", '-'), ("SOLIDUS", '/')];
    const DIGITS: &[&str] = &["ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"];
    let name = name.to_ascii_uppercase();
    let letter = |rest: &str| rest.chars().next().filter(|c| c.is_ascii_uppercase() && rest.len() == 1);
    if let Some(rest) = name.strip_prefix("LATIN SMALL LETTER ") {
        return letter(rest).map(|c| c.to_ascii_lowercase());
    }
    if let Some(rest) = name.strip_prefix("LATIN CAPITAL LETTER ") {
        return letter(rest);
    }
    if let Some(rest) = name.strip_prefix("DIGIT ") {
        let digit = DIGITS.iter().position(|digit| *digit == rest)?;
        return char::from_digit(u32::try_from(digit).ok()?, 10);
    }
    MARKS.iter().find(|(mark, _)| *mark == name).map(|(_, c)| *c)
}
