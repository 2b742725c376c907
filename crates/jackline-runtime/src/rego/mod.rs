//! Rego policies: read from a file, compiled, asked about an event. Rego v1, one file, nothing but the event to look at.

#[cfg(feature = "rego")]
mod absent;
#[cfg(feature = "rego")]
mod engine;
#[cfg(feature = "rego")]
mod recursion;
#[cfg(not(feature = "rego"))]
mod without;
#[cfg(feature = "rego")]
mod words;

use std::path::Path;

#[cfg(feature = "rego")]
pub(crate) use engine::Compiled;
#[cfg(not(feature = "rego"))]
pub(crate) use without::Compiled;

/// Bytes of a policy; those of real organisations have a few thousand.
const POLICY_BYTES_MAX: u64 = 256 * 1024;

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegoFault {
    pub(crate) message: String,
    /// Line and column in the policy, from one, where they are known.
    pub(crate) place: Option<(u32, u32)>,
    pub(crate) help: Option<&'static str>,
}

impl RegoFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), place: None, help: None }
    }
}

/// The text of a policy.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    use std::io::Read as _;
    // Looked at before it is opened: opening a pipe that was planted there would wait for ever.
    let there = std::fs::metadata(path).map_err(|fault| fault.to_string())?;
    if !there.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if there.len() > POLICY_BYTES_MAX {
        return Err(format!("it is longer than {POLICY_BYTES_MAX} bytes"));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|fault| fault.to_string())?;
    file.take(POLICY_BYTES_MAX).read_to_end(&mut bytes).map_err(|fault| fault.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
