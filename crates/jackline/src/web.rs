//! Asks addresses: for checks of todos, and models for agents of workflows. One request at a time, bounded, nothing
//! followed, nothing kept.
//!
//! The client is made when it is first needed; a hook that asks nobody pays nothing for it.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use jackline_runtime::web::{BODY_BYTES_MAX, Response, WEB_MS_MAX, Web};
use jackline_workflow::model::{self, Failed, Post, Request};

use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::place;

/// Bytes of a file with authorities: those of whole systems have a few hundred kilobytes.
const CERTIFICATES_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The client of this program.
#[derive(Debug)]
pub(crate) struct Client;

impl Web for Client {
    fn get(&self, url: &str, authorised: bool) -> Result<Response, String> {
        let token = if authorised { place::github_token() } else { None };
        let mut request =
            agent(Duration::from_millis(WEB_MS_MAX))?.get(url).header("accept", "application/vnd.github+json, */*");
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

impl Post for Client {
    fn post(&self, request: &Request<'_>) -> Result<model::Response, Failed> {
        let agent = agent(request.timeout).map_err(Failed::Unreachable)?;
        let mut sent = agent.post(request.url).content_type("application/json");
        for (name, value) in request.headers {
            sent = sent.header(*name, value);
        }
        let response = sent.send(request.body).map_err(|fault| failed(&fault, request))?;
        let status = response.status().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after_s = after.and_then(|seconds| seconds.trim().parse().ok());
        let body = response.into_body().into_with_config().limit(request.bytes_max).read_to_vec();
        let body = body.map_err(|fault| failed(&fault, request))?;
        Ok(model::Response { status, retry_after_s, body })
    }
}

fn failed(fault: &ureq::Error, request: &Request<'_>) -> Failed {
    match fault {
        ureq::Error::Timeout(_) => Failed::TimedOut,
        ureq::Error::BodyExceedsLimit(_) => Failed::TooLong(request.bytes_max),
        fault => Failed::Unreachable(said(fault)),
    }
}

fn agent(timeout: Duration) -> Result<ureq::Agent, String> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .tls_config(TlsConfig::builder().root_certs(authorities()?).build())
        .user_agent(concat!("jackline/", env!("CARGO_PKG_VERSION")));
    Ok(ureq::Agent::new_with_config(config.build()))
}

/// Whose certificates count: those of the file that `SSL_CERT_FILE` names, as other programs have it, else the usual.
fn authorities() -> Result<RootCerts, String> {
    let Some(file) = place::certificates() else { return Ok(RootCerts::WebPki) };
    let complain = |why: &str| format!("the authorities in `{}` (SSL_CERT_FILE) cannot be used: {why}", file.display());
    let mut pem = Vec::new();
    let read = File::open(&file).and_then(|file| file.take(CERTIFICATES_BYTES_MAX).read_to_end(&mut pem));
    read.map_err(|fault| complain(&fault.to_string()))?;
    let found = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        Ok(_) | Err(_) => None,
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        Err(complain("there is no certificate in it"))
    } else {
        Ok(RootCerts::new_with_certs(&found))
    }
}

/// Why there was no answer, on one line. A request's headers are no part of it.
fn said(fault: &ureq::Error) -> String {
    format!("the address does not answer: {fault}").replace('\n', " ")
}
