//! The secret that a client over HTTP must know.

use std::fmt;

use jackline_core::sha::Digest;

/// Bytes of chance in a token that we make.
const TOKEN_BYTES: usize = 32;
/// Characters of a token that is given: shorter ones are guessed.
const TOKEN_CHARS_MIN: usize = 16;
/// Characters of a token that is given; longer ones do not fit into a header.
const TOKEN_CHARS_MAX: usize = 4096;

/// A bearer token. It is kept by its digest only.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Digest);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// The token that someone chose.
    ///
    /// # Errors
    /// Why it is none.
    pub fn given(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let count = text.chars().count();
        if !(TOKEN_CHARS_MIN..=TOKEN_CHARS_MAX).contains(&count) {
            return Err(format!("the token has {count} characters, and needs {TOKEN_CHARS_MIN} to {TOKEN_CHARS_MAX}"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token has blanks or characters beyond ASCII in it".to_owned());
        }
        Ok(Self(Digest::of(text.as_bytes())))
    }

    /// A new one, and its text: to be shown once.
    ///
    /// # Errors
    /// When there is no chance to make it from.
    pub fn made() -> Result<(Self, String), String> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(|fault| format!("there is no chance to make a token from: {fault}"))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok((Self(Digest::of(text.as_bytes())), text))
    }

    /// Whether a request's header holds it. How long that takes says nothing of how much of it was right.
    pub(super) fn is_in(&self, header: Option<&[u8]>) -> bool {
        let Some((scheme, given)) = header.and_then(|header| header.split_at_checked(7)) else { return false };
        if !scheme.eq_ignore_ascii_case(b"bearer ") {
            return false;
        }
        let given = Digest::of(given.trim_ascii());
        let differing = self.0.0.iter().zip(given.0.iter()).fold(0, |differing, (a, b)| differing | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        let (token, text) = Token::made().unwrap();
        let opens = |header: &str| token.is_in(Some(header.as_bytes()));
        assert!(opens(&format!("Bearer {text}")) && opens(&format!("bearer  {text} ")));
        let short = text.get(1..).unwrap();
        for wrong in ["", "Bearer", "Bearer ", &text, &format!("Bearer {short}"), &format!("Basic {text}")] {
            assert!(!opens(wrong), "{wrong}");
        }
        assert!(!token.is_in(None));
        assert!(Token::given(&text) == Ok(token) && !format!("{:?}", Token::given(&text)).contains(&text));
        assert!(Token::given("short").is_err() && Token::given("with a blank in between").is_err());
    }
}
