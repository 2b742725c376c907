//! The way out of this crate: one POST request. The client is the embedder's.

use std::fmt;
use std::time::Duration;

/// Bytes of an answer that are read: some hundred times the longest that models write.
pub const RESPONSE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// One request. Its headers may hold a token: it is never shown.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub url: &'a str,
    pub headers: &'a [(&'static str, String)],
    /// JSON.
    pub body: &'a [u8],
    /// From looking up the host to the end of the answer.
    pub timeout: Duration,
    pub bytes_max: u64,
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "POST {} ({} bytes)", self.url, self.body.len())
    }
}

/// What came back, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Response {
    pub status: u16,
    /// Seconds after which the server wants to be asked again.
    pub retry_after_s: Option<u64>,
    pub body: Vec<u8>,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    #[error("the answer did not come in time")]
    TimedOut,
    #[error("the answer is longer than {0} bytes")]
    TooLong(u64),
    /// In words without secrets.
    #[error("{0}")]
    Unreachable(String),
}

/// Sends requests.
pub trait Post: Send + Sync + fmt::Debug {
    /// Sends one request and gives what came back; follows no redirect, checks certificates, keeps nothing.
    ///
    /// # Errors
    /// Why there is no answer.
    fn post(&self, request: &Request<'_>) -> Result<Response, Failed>;
}

/// For programs that ask no models: nothing goes out.
#[derive(Debug, Clone, Copy)]
pub struct Offline;

impl Post for Offline {
    fn post(&self, _: &Request<'_>) -> Result<Response, Failed> {
        Err(Failed::Unreachable("this program asks no models".to_owned()))
    }
}
