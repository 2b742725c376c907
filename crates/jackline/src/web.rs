//! Asks addresses for checks of todos: one request at a time, bounded, nothing followed, nothing kept.
//!
//! The client is made when a check first needs it; a hook that asks nobody pays nothing for it.

use std::time::Duration;

use jackline_runtime::web::{BODY_BYTES_MAX, Response, WEB_MS_MAX, Web};

use crate::place;

/// The client of this program.
#[derive(Debug)]
pub(crate) struct Client;

impl Web for Client {
    fn get(&self, url: &str, authorised: bool) -> Result<Response, String> {
        let token = if authorised { place::github_token() } else { None };
        let mut request = agent().get(url).header("accept", "application/vnd.github+json, */*");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = request.call().map_err(|fault| said(&fault))?;
        let status = response.status().as_u16();
        let body = response.into_body().into_with_config().limit(BODY_BYTES_MAX).read_to_vec();
        // The status is an answer also where the rest is too long or breaks off.
        Ok(Response { status, body: body.unwrap_or_default() })
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_millis(WEB_MS_MAX)))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("jackline/", env!("CARGO_PKG_VERSION")));
    ureq::Agent::new_with_config(config.build())
}

/// Why there was no answer, on one line. A request's headers are no part of it.
fn said(fault: &ureq::Error) -> String {
    format!("the address does not answer: {fault}").replace('\n', " ")
}
