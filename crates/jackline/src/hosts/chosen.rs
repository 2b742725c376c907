//! Which hosts a command is about; and that one of them that cannot be served holds up no other.

use super::Host;
use crate::error::CommandError;

/// The hosts of these names, each once.
pub(crate) fn named(names: &[String]) -> Result<Vec<&'static Host>, CommandError> {
    let mut chosen: Vec<&'static Host> = Vec::new();
    for name in names {
        let host = Host::named(name)?;
        if !chosen.iter().any(|there| there.name == host.name) {
            chosen.push(host);
        }
    }
    Ok(chosen)
}

/// Does something about every host. Tells those apart for which it failed, unless it failed for all of them.
pub(crate) fn each(
    hosts: &[&'static Host],
    mut act: impl FnMut(&'static Host) -> Result<(), CommandError>,
) -> Result<Vec<&'static str>, CommandError> {
    let mut left = Vec::new();
    for host in hosts {
        let Err(error) = act(host) else { continue };
        if left.len() + 1 == hosts.len() || error.is_broken_pipe() {
            return Err(error);
        }
        error.warn();
        left.push(host.title);
    }
    Ok(left)
}

/// Fails for the hosts of which something could not be done, in these words.
pub(crate) fn left_alone(what: &str, hosts: &[&str]) -> Result<(), CommandError> {
    if hosts.is_empty() {
        return Ok(());
    }
    Err(CommandError::input(format!("{what}: {}", hosts.join(", ")))
        .hint("mend what the warnings above say, then run it again; no other host was held up"))
}
