//! The words of an expression.

use super::ExpressionFault;

/// One word.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(f64),
    Text(String),
    Sign(&'static str),
}

/// Signs, the longer ones first.
const SIGNS: &[&str] =
    &["==", "!=", "<=", ">=", "//", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".", "!"];

/// The words of a text, in order.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionFault> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '\'' | '"' => quoted(rest, first)?,
            '0'..='9' => number(rest)?,
            'a'..='z' | 'A'..='Z' | '_' => {
                let (name, after) = split(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                (Token::Name(name.to_owned()), after)
            }
            _ => sign(rest)?,
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// What is accepted at the beginning of a text, and the rest.
fn split(text: &str, accepts: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !accepts(c)).unwrap_or(text.len()))
}

fn number(text: &str) -> Result<(Token, &str), ExpressionFault> {
    let (digits, after) = split(text, |c| c.is_ascii_digit() || c == '.');
    match digits.parse() {
        Ok(number) => Ok((Token::Number(number), after)),
        Err(_) => Err(ExpressionFault::new(format!("`{digits}` is no number"))),
    }
}

fn quoted(text: &str, quote: char) -> Result<(Token, &str), ExpressionFault> {
    let mut read = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => read.extend(characters.next().map(|(_, c)| if c == 'n' { '\n' } else { c })),
            c if c == quote => return Ok((Token::Text(read), text.get(at + 1..).unwrap_or_default())),
            c => read.push(c),
        }
    }
    Err(ExpressionFault::new("a text is not closed"))
}

fn sign(text: &str) -> Result<(Token, &str), ExpressionFault> {
    let found = SIGNS.iter().find_map(|sign| Some((Token::Sign(sign), text.strip_prefix(sign)?)));
    found.ok_or_else(|| {
        let odd: String = text.chars().take(1).collect();
        ExpressionFault::new(format!("`{odd}` means nothing in an expression"))
    })
}
