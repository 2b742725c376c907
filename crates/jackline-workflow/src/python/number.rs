//! Takes a number, and nothing that only follows it: `1if x` is a number and a keyword.

use super::cursor::Cursor;

/// Takes the number that begins here.
pub(super) fn take(cursor: &mut Cursor<'_>) {
    if cursor.peek() == Some('0')
        && let Some(radix) = cursor.second().and_then(radix)
    {
        cursor.bump();
        cursor.bump();
        return digits(cursor, radix);
    }
    digits(cursor, 10);
    if cursor.eat('.') {
        digits(cursor, 10);
    }
    exponent(cursor);
    if matches!(cursor.peek(), Some('j' | 'J')) {
        cursor.bump();
    }
}

const fn radix(letter: char) -> Option<u32> {
    match letter {
        'x' | 'X' => Some(16),
        'o' | 'O' => Some(8),
        'b' | 'B' => Some(2),
        _ => None,
    }
}

fn digits(cursor: &mut Cursor<'_>, radix: u32) {
    cursor.take_while(|c| c.is_digit(radix) || c == '_');
}

fn exponent(cursor: &mut Cursor<'_>) {
    let mut ahead = cursor.rest().chars();
    if !matches!(ahead.next(), Some('e' | 'E')) {
        return;
    }
    let signed = ahead.clone().next().is_some_and(|c| matches!(c, '+' | '-'));
    if !ahead.nth(usize::from(signed)).is_some_and(|c| c.is_ascii_digit()) {
        return;
    }
    cursor.bump();
    if signed {
        cursor.bump();
    }
    digits(cursor, 10);
}
