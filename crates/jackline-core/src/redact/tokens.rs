//! Secrets that are known by their own shape: tokens with a prefix, JSON Web Tokens, private keys.

use std::ops::Range;

use super::Scan;

/// A kind of token: what it begins with and how long its body is at least.
struct Known {
    prefix: &'static [u8],
    body: fn(u8) -> bool,
    body_bytes_min: usize,
}

const fn known(prefix: &'static str, body: fn(u8) -> bool, body_bytes_min: usize) -> Known {
    Known { prefix: prefix.as_bytes(), body, body_bytes_min }
}

const AGE: &[Known] = &[known("AGE-SECRET-KEY-1", is_upper, 40)];
const DIGITAL_OCEAN: &[Known] = &[known("dop_v1_", is_alphanumeric, 40)];
const DOCKER: &[Known] = &[known("dckr_pat_", is_token, 20)];
const GITHUB: &[Known] = &[
    known("ghp_", is_alphanumeric, 20),
    known("gho_", is_alphanumeric, 20),
    known("ghu_", is_alphanumeric, 20),
    known("ghs_", is_alphanumeric, 20),
    known("ghr_", is_alphanumeric, 20),
];
const GITHUB_FINE: &[Known] = &[known("github_pat_", is_token, 22)];
const GITLAB: &[Known] = &[known("glpat-", is_token, 16), known("glrt-", is_token, 16)];
const GOOGLE: &[Known] = &[known("AIza", is_token, 35)];
const GOOGLE_OAUTH: &[Known] = &[known("ya29.", is_token, 20)];
const HUGGING_FACE: &[Known] = &[known("hf_", is_alphanumeric, 30)];
const NPM: &[Known] = &[known("npm_", is_alphanumeric, 36)];
const PYPI: &[Known] = &[known("pypi-AgEI", is_token, 16)];
const SK: &[Known] = &[
    known("sk-ant-", is_token, 16),
    known("sk-proj-", is_token, 16),
    known("sk-svcacct-", is_token, 16),
    known("sk-admin-", is_token, 16),
    known("sk-or-v1-", is_token, 16),
    known("sk-", is_alphanumeric, 20),
    known("sk_live_", is_alphanumeric, 16),
    known("sk_test_", is_alphanumeric, 16),
];
const STRIPE_RESTRICTED: &[Known] = &[known("rk_live_", is_alphanumeric, 16), known("rk_test_", is_alphanumeric, 16)];
const TWILIO: &[Known] = &[known("SK", is_hexadecimal, 32)];
const VAULT: &[Known] = &[known("hvs.", is_token, 20)];

/// Bytes after `AKIA` or `ASIA`.
const AWS_BODY_BYTES: usize = 16;

/// Bytes of a Slack token after its prefix, at least.
const SLACK_BODY_BYTES_MIN: usize = 10;

/// What the address of a Slack channel's hook begins with, and how many bytes of it follow at least.
const SLACK_HOOK: &[u8] = b"hooks.slack.com/services/";
const SLACK_HOOK_BYTES_MIN: usize = 20;

/// The same of a Discord channel's.
const DISCORD_HOOKS: [&[u8]; 2] = [b"discord.com/api/webhooks/", b"discordapp.com/api/webhooks/"];
/// Digits of the hook's number that follows; a number of 64 bits has 20.
const DISCORD_NUMBER_BYTES_MAX: usize = 20;
/// Bytes of the token behind it, at least; they have 68.
const DISCORD_HOOK_BYTES_MIN: usize = 40;

/// Bytes of a Discord bot's number in base64.
const DISCORD_ID_BYTES: Range<usize> = 23..30;
/// Bytes of when its token was made.
const DISCORD_TIME_BYTES: usize = 6;
/// Bytes of the token's signature, at least.
const DISCORD_BODY_BYTES_MIN: usize = 27;

/// Digits of a Telegram bot's number.
const TELEGRAM_ID_BYTES: Range<usize> = 8..12;
/// Bytes of the secret behind it.
const TELEGRAM_BODY_BYTES: usize = 35;

/// Bytes of each of the two parts of a SendGrid key, at least.
const SENDGRID_PART_BYTES_MIN: usize = 16;

/// Bytes of a JSON Web Token's header after `eyJ` and of its payload, at least: `{"alg":…}` needs more.
const JWT_PART_BYTES_MIN: usize = 8;

/// Bytes of what follows `Bearer`, at least; shorter words are prose.
const BEARER_BYTES_MIN: usize = 16;

/// Bytes of it that are searched for a digit, which prose lacks.
const BEARER_DIGIT_WITHIN_BYTES: usize = 64;

const KEY_BEGIN: &[u8] = b"-----BEGIN ";
const KEY_END: &str = "-----END ";

/// Bytes of a label such as `OPENSSH PRIVATE KEY-----`, at most.
const KEY_LABEL_BYTES_MAX: usize = 48;

/// Bytes of one private key; RSA with 16,384 bits needs 13 KiB.
const KEY_BYTES_MAX: usize = 32 * 1024;

impl Scan<'_> {
    /// A token that begins here; two letters decide which kinds are looked at.
    pub(super) fn token(&self) -> Option<Range<usize>> {
        let rest = self.rest();
        let kinds = match rest.get(..2)? {
            b"AK" | b"AS" => return self.aws_key(),
            b"xo" | b"xa" => return self.slack_token(),
            b"SK" => TWILIO,
            b"SG" => return self.sendgrid_key(),
            b"ey" => return self.web_token(),
            b"ho" => return self.slack_hook(),
            b"AG" => AGE,
            b"AI" => GOOGLE,
            b"dc" => DOCKER,
            b"di" => return self.discord_hook(),
            b"do" => DIGITAL_OCEAN,
            b"gh" => GITHUB,
            b"gi" => GITHUB_FINE,
            b"gl" => GITLAB,
            b"hf" => HUGGING_FACE,
            b"hv" => VAULT,
            b"np" => NPM,
            b"py" => PYPI,
            b"rk" => STRIPE_RESTRICTED,
            b"sk" => SK,
            b"ya" => GOOGLE_OAUTH,
            _ => return None,
        };
        kinds.iter().find_map(|kind| self.known_token(kind))
    }

    fn known_token(&self, kind: &Known) -> Option<Range<usize>> {
        let body = self.rest().strip_prefix(kind.prefix)?.get(..kind.body_bytes_min)?;
        body.iter().all(|byte| (kind.body)(*byte)).then(|| self.at..self.token_end(self.at + kind.prefix.len()))
    }

    /// A token goes on as long as it may: half a secret left over is a secret too. Dots join parts of one token.
    fn token_end(&self, from: usize) -> usize {
        let mut end = self.run(from, is_token);
        while self.byte(end) == Some(b'.') && self.byte(end + 1).is_some_and(is_alphanumeric) {
            end = self.run(end + 1, is_token);
        }
        end
    }

    /// An address to which anyone may post.
    fn slack_hook(&self) -> Option<Range<usize>> {
        let body = self.rest().strip_prefix(SLACK_HOOK)?.get(..SLACK_HOOK_BYTES_MIN)?;
        let from = self.at + SLACK_HOOK.len();
        body.iter().all(|byte| is_part(*byte)).then(|| from..self.run(from, is_part))
    }

    /// The same of a Discord channel: the token stands behind the hook's number.
    fn discord_hook(&self) -> Option<Range<usize>> {
        let hook = DISCORD_HOOKS.iter().find(|hook| self.rest().starts_with(hook))?;
        let number = self.at + hook.len();
        let slash = self.run_within(number, DISCORD_NUMBER_BYTES_MAX, |byte| byte.is_ascii_digit());
        let body = self.slice(slash + 1..slash + 1 + DISCORD_HOOK_BYTES_MIN);
        let whole = body.len() == DISCORD_HOOK_BYTES_MIN && body.iter().all(|byte| is_token(*byte));
        (slash > number && self.byte(slash) == Some(b'/') && whole).then(|| slash + 1..self.run(slash + 1, is_token))
    }

    /// A bot's token: its number in base64, when it was made, and a signature.
    pub(super) fn discord_token(&self) -> Option<Range<usize>> {
        // Digits in base64 begin so.
        if !self.byte(self.at + 1).is_some_and(|byte| b"DTjz".contains(&byte)) {
            return None;
        }
        let number = self.run_within(self.at, DISCORD_ID_BYTES.end, is_token);
        let made = self.run_within(number + 1, DISCORD_TIME_BYTES + 1, is_token);
        let body = self.slice(made + 1..made + 1 + DISCORD_BODY_BYTES_MIN);
        let dots = self.byte(number) == Some(b'.') && self.byte(made) == Some(b'.');
        let long = DISCORD_ID_BYTES.contains(&(number - self.at)) && made - number == DISCORD_TIME_BYTES + 1;
        let signed = body.len() == DISCORD_BODY_BYTES_MIN && body.iter().all(|byte| is_token(*byte));
        (dots && long && signed).then(|| self.at..self.run(made + 1, is_token))
    }

    /// The secret half of a Telegram bot's token, behind the `:` that stands here: its number stands before.
    pub(super) fn telegram_token(&self) -> Option<Range<usize>> {
        let window = self.slice(self.at.saturating_sub(TELEGRAM_ID_BYTES.end + 1)..self.at);
        let digits = window.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let before = window.get(..window.len() - digits).unwrap_or_default();
        let apart = before.last().is_none_or(|byte| !is_alphanumeric(*byte) || *byte == b't');
        let end = self.at + 1 + TELEGRAM_BODY_BYTES;
        let body = self.slice(self.at + 1..end);
        let whole = body.len() == TELEGRAM_BODY_BYTES && body.iter().all(|byte| is_token(*byte));
        let ends = !self.byte(end).is_some_and(is_token);
        (TELEGRAM_ID_BYTES.contains(&digits) && apart && whole && ends).then_some(self.at + 1..end)
    }

    fn aws_key(&self) -> Option<Range<usize>> {
        let rest = self.rest();
        let body = rest.strip_prefix(b"AKIA").or_else(|| rest.strip_prefix(b"ASIA"))?;
        let whole = body.get(..AWS_BODY_BYTES)?.iter().all(|byte| is_upper(*byte));
        let ends = body.get(AWS_BODY_BYTES).is_none_or(|byte| !is_alphanumeric(*byte));
        (whole && ends).then(|| self.at..self.at + 4 + AWS_BODY_BYTES)
    }

    /// `xoxb-…` and its siblings, `xapp-…`.
    fn slack_token(&self) -> Option<Range<usize>> {
        let (prefix, body) = self.rest().split_at_checked(5)?;
        let known = match prefix {
            [b'x', b'o', b'x', kind, b'-'] => kind.is_ascii_lowercase(),
            prefix => prefix == b"xapp-",
        };
        let long = body.get(..SLACK_BODY_BYTES_MIN)?.iter().all(|byte| is_token(*byte));
        (known && long).then(|| self.at..self.token_end(self.at + 5))
    }

    fn sendgrid_key(&self) -> Option<Range<usize>> {
        if self.byte(self.at + 2) != Some(b'.') {
            return None;
        }
        let middle = self.run(self.at + 3, is_token);
        if middle - self.at < 3 + SENDGRID_PART_BYTES_MIN || self.byte(middle) != Some(b'.') {
            return None;
        }
        let end = self.run(middle + 1, is_token);
        (end - middle > SENDGRID_PART_BYTES_MIN).then_some(self.at..end)
    }

    /// `eyJ….….…`: a header and a payload in base64, then a signature that may be empty.
    fn web_token(&self) -> Option<Range<usize>> {
        let joined = self.at.checked_sub(1).and_then(|before| self.byte(before)).is_some_and(is_token);
        // In the middle of a run another start has looked at it already.
        if !self.rest().starts_with(b"eyJ") || joined && self.at != self.last_end {
            return None;
        }
        let header = self.run(self.at + 3, is_token);
        let payload = self.run(header + 1, is_token);
        let dots = self.byte(header) == Some(b'.') && self.byte(payload) == Some(b'.');
        let long = header - self.at >= 3 + JWT_PART_BYTES_MIN && payload - header > JWT_PART_BYTES_MIN;
        (dots && long).then(|| self.at..self.token_end(payload + 1))
    }

    /// What follows the word `Bearer`, if it looks like a token.
    pub(super) fn bearer(&self) -> Option<Range<usize>> {
        let word = self.rest().get(..6)?;
        let gap = self.run(self.at + 6, |byte| byte == b' ');
        if !word.eq_ignore_ascii_case(b"bearer") || gap == self.at + 6 {
            return None;
        }
        let end = self.run(gap, is_bearer);
        let digit = self.slice(gap..end.min(gap + BEARER_DIGIT_WITHIN_BYTES)).iter().any(u8::is_ascii_digit);
        (digit && end - gap >= BEARER_BYTES_MIN).then_some(gap..end)
    }

    /// A private key block: to its end line, or as far as what follows can be part of it when that was cut off.
    pub(super) fn private_key(&mut self) -> Option<Range<usize>> {
        let body = self.at + KEY_BEGIN.len() + key_label(self.rest().strip_prefix(KEY_BEGIN)?)?;
        let end = self.key_end(body).unwrap_or_else(|| self.run(body, is_key_body));
        Some(self.at..end)
    }

    fn key_end(&mut self, body: usize) -> Option<usize> {
        let limit = self.bytes.len().min(body + KEY_BYTES_MAX);
        let limit = (body..=limit).rev().find(|at| self.text.is_char_boundary(*at))?;
        let mut from = body.max(self.no_key_end_until);
        while let Some(found) = self.text.get(from..limit).and_then(|text| text.find(KEY_END)) {
            let label = from + found + KEY_END.len();
            if let Some(length) = key_label(self.slice(label..self.bytes.len())) {
                return Some(label + length);
            }
            from = label;
        }
        // A little less than searched: an end may lie across the limit.
        self.no_key_end_until = self.no_key_end_until.max(limit.saturating_sub(KEY_END.len()));
        while !self.text.is_char_boundary(self.no_key_end_until) {
            self.no_key_end_until -= 1;
        }
        None
    }
}

/// The length of `… PRIVATE KEY-----` or `… PRIVATE KEY BLOCK-----`.
fn key_label(bytes: &[u8]) -> Option<usize> {
    let bytes = bytes.get(..bytes.len().min(KEY_LABEL_BYTES_MAX))?;
    let label = bytes.iter().position(|byte| !(is_upper(*byte) || *byte == b' '))?;
    let (name, dashes) = bytes.split_at(label);
    let private = name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK");
    (private && dashes.starts_with(b"-----")).then_some(label + 5)
}

const fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn is_hexadecimal(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

const fn is_part(byte: u8) -> bool {
    is_token(byte) || byte == b'/'
}

const fn is_bearer(byte: u8) -> bool {
    is_token(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=')
}

const fn is_key_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte.is_ascii_whitespace()
        || matches!(byte, b'+' | b'/' | b'=' | b'\\' | b':' | b',' | b'-')
}
