//! Where a model is and how it is spoken to, as an agent's `model` says.

use std::fmt;

use jackline_core::redact::Redactor;
use jackline_core::session::nano_usd;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::attempts::told;
use super::{Said, Turn, anthropic, openai};
use crate::ask::Usage;

/// Models that stand in for one another: each is asked anew, with all its attempts.
const FALLBACKS_MAX: usize = 4;
/// Prices are for this many tokens.
const PRICED_TOKENS: f64 = 1e6;
/// Bytes of a token that can be told from other words: as many as records tell it by.
const TOLD_APART_BYTES_MIN: usize = 6;
/// What stands for a token that a server repeats.
const TOKEN_MARK: &str = "‹redacted:token›";
/// Members of a request that are ours to write.
const OURS: &[&str] = &["model", "messages", "system", "stream"];

/// Where a model is, and how it is spoken to.
#[derive(Debug, Clone)]
pub struct Endpoint {
    api: Api,
    url: String,
    names: Vec<String>,
    parameters: Map<String, Value>,
    token: Option<Token>,
    price: Price,
}

/// A secret that goes with every request. It shows itself to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    #[must_use]
    pub const fn new(secret: String) -> Self {
        Self(secret)
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// How a model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Api {
    OpenAi,
    Anthropic,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Price {
    input: f64,
    output: f64,
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    provider: Option<String>,
    base_url: Option<String>,
    name: Option<String>,
    fallback: Option<Value>,
    token_env: Option<String>,
    parameters: Map<String, Value>,
    price: Price,
}

/// Why a `model` says nothing that could be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("`model` cannot be read: {0}")]
    Shape(String),
    #[error("`provider` is `{0}`; models are asked as `openai` or `anthropic` are")]
    Provider(String),
    #[error("the model has no `name`")]
    Nameless,
    #[error(
        "`base_url` is `{0}`; an address is `https://` or `http://`, a host and a path, without a user, `?` and `#`"
    )]
    Address(String),
    #[error("the environment variable `{0}`, which holds the model's token, is not set")]
    TokenMissing(String),
    #[error("the environment variable `{0}` holds no token: a token has no blanks and only visible ASCII characters")]
    NoToken(String),
    #[error("`fallback` must be the name of a model, or up to {FALLBACKS_MAX} of them")]
    Fallback,
    #[error("the token of `{0}` would go over a network unencrypted")]
    Exposed(String),
    #[error("`price` must be two numbers of at least 0")]
    Price,
}

impl Endpoint {
    /// Reads an agent's `model`. `variable` gives the value of an environment variable.
    ///
    /// # Errors
    /// When no model could be asked like this.
    pub fn read(model: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Unusable> {
        let mut model = model.clone();
        if let Some(members) = model.as_object_mut() {
            members.retain(|_, value| !value.is_null());
        }
        let written: Written = serde_json::from_value(model).map_err(|fault| Unusable::Shape(fault.to_string()))?;
        let api = Api::named(written.provider.as_deref().unwrap_or_default())?;
        let url = api.url(written.base_url.as_deref())?;
        let token = token(&written, api, variable)?;
        if token.is_some() && !is_private(&url) {
            return Err(Unusable::Exposed(url));
        }
        let Price { input, output } = written.price;
        if !(input.is_finite() && output.is_finite() && input >= 0.0 && output >= 0.0) {
            return Err(Unusable::Price);
        }
        let (names, parameters, price) = (names(&written)?, written.parameters, written.price);
        Ok(Self { api, url, names, parameters, token, price })
    }

    /// The model's name, and those of the models that stand in for it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn headers(&self) -> Vec<(&'static str, String)> {
        match self.api {
            Api::OpenAi => openai::headers(self.token.as_ref()),
            Api::Anthropic => anthropic::headers(self.token.as_ref()),
        }
    }

    /// A request's body. What the owner wrote under `parameters` wins, and null there leaves a member out.
    pub(super) fn body(&self, name: &str, (system, json): (&str, bool), turns: &[Turn]) -> Vec<u8> {
        let mut body = match self.api {
            Api::OpenAi => openai::body(name, (system, json), turns),
            Api::Anthropic => anthropic::body(name, system, turns),
        };
        let own = self.parameters.iter().filter(|(key, _)| !OURS.contains(&key.as_str()));
        body.extend(own.map(|(key, value)| (key.clone(), value.clone())));
        body.retain(|_, value| !value.is_null());
        Value::Object(body).to_string().into_bytes()
    }

    /// What the model said in an answer; why not, if it is none.
    pub(super) fn said(&self, answer: &Value) -> Result<Said, String> {
        let said = match self.api {
            Api::OpenAi => openai::said(answer),
            Api::Anthropic => anthropic::said(answer),
        }?;
        // Cut only once nothing secret is in it: half a secret would not be found.
        let unfinished = said.unfinished.map(|why| told(&self.without_secrets(&why)));
        Ok(Said { unfinished, ..said })
    }

    /// What an answer took as its server counted it, whatever else is in it.
    pub(super) fn used(&self, answer: &Value) -> Usage {
        let (input_tokens, output_tokens) = match self.api {
            Api::OpenAi => openai::tokens(answer),
            Api::Anthropic => anthropic::tokens(answer),
        };
        let dollars = input_tokens as f64 * self.price.input + output_tokens as f64 * self.price.output;
        Usage { requests: 0, input_tokens, output_tokens, cost_nano_usd: nano_usd(dollars / PRICED_TOKENS) }
    }

    /// Takes the token out of what a server repeats of it. A run keeps answers as they are: once the token was changed, nobody
    /// would know what to hide in them.
    pub(super) fn without_token(&self, value: Value) -> Value {
        match self.token.as_ref().map(Token::secret).filter(|secret| secret.len() >= TOLD_APART_BYTES_MIN) {
            Some(secret) => without(value, secret),
            None => value,
        }
    }

    /// Takes the token, and what looks like one, out of a text of the server's.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let known = self.token.iter().map(Token::secret);
        Redactor::new([]).knowing(known).text(text).0.into_owned()
    }
}

impl Api {
    fn named(provider: &str) -> Result<Self, Unusable> {
        match provider {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            other => Err(Unusable::Provider(other.to_owned())),
        }
    }

    /// The address that requests go to.
    fn url(self, base: Option<&str>) -> Result<String, Unusable> {
        let (usual, path) = match self {
            Self::OpenAi => (openai::BASE_URL, openai::PATH),
            Self::Anthropic => (anthropic::BASE_URL, anthropic::PATH),
        };
        let base = base.unwrap_or(usual).trim_end_matches('/');
        let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://")).unwrap_or_default();
        // A name before `@` would be sent as a password, and behind `?` or `#` there is no room for a path.
        if host.is_empty() || host.contains(['@', '?', '#', '\\']) || !host.chars().all(|c| c.is_ascii_graphic()) {
            return Err(Unusable::Address(base.to_owned()));
        }
        // Some write the version, which is part of our path, into the address.
        let base = if path.starts_with("/v1/") { base.trim_end_matches("/v1") } else { base };
        Ok(format!("{base}{path}"))
    }

    /// The variable that usually holds the token.
    const fn usual_variable(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }
}

/// The token to send: that of the variable which is named, else the usual one, which goes only where it belongs.
fn token(written: &Written, api: Api, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<Token>, Unusable> {
    let set = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let found = |name: &str| match set(name) {
        None => Err(Unusable::TokenMissing(name.to_owned())),
        Some(secret) if secret.chars().all(|c| c.is_ascii_graphic()) => Ok(secret),
        Some(_) => Err(Unusable::NoToken(name.to_owned())),
    };
    let secret = match (&written.token_env, &written.base_url) {
        (Some(name), _) => found(name)?,
        (None, Some(_)) => return Ok(None),
        (None, None) => found(api.usual_variable())?,
    };
    Ok(Some(Token::new(secret)))
}

fn names(written: &Written) -> Result<Vec<String>, Unusable> {
    let fallback: Option<Vec<String>> = match &written.fallback {
        None => Some(Vec::new()),
        Some(Value::String(name)) => Some(vec![name.clone()]),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().map(str::to_owned)).collect(),
        Some(_) => None,
    };
    let fallback = fallback.filter(|names| names.len() <= FALLBACKS_MAX).ok_or(Unusable::Fallback)?;
    let all = written.name.iter().cloned().chain(fallback);
    let names: Vec<String> = all.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { Err(Unusable::Nameless) } else { Ok(names) }
}

/// The value with a mark wherever a secret stands. The depth of JSON is bounded where it is read.
fn without(value: Value, secret: &str) -> Value {
    match value {
        Value::String(text) if text.contains(secret) => Value::String(text.replace(secret, TOKEN_MARK)),
        Value::Array(items) => items.into_iter().map(|item| without(item, secret)).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            members.map(|(name, value)| (name.replace(secret, TOKEN_MARK), without(value, secret))).collect()
        }
        other => other,
    }
}

/// Whether nobody between us and an address can read what is sent.
fn is_private(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return true };
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}
