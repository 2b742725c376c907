//! `cargo xtask ack`: the conformance kit in full, on every host or on one.

use crate::hosts;
use crate::shell::{cargo, step};

/// Fetches the hosts and plays all scenarios.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let (mut host, mut keep) = (None, false);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "--keep" => keep = true,
            "--host" => host = Some(*words.next().ok_or("`--host` wants a name")?),
            other => return Err(format!("`{other}` is no option of `ack`: --host H, --keep")),
        }
    }
    hosts::run()?;
    let examined = format!("examined::{}", host.unwrap_or_default());
    let mut kit = cargo(&["test", "-p", "jackline", "--test", "ack", "--", &examined]);
    kit.env("JACKLINE_ACK", "full");
    if keep {
        kit.env("JACKLINE_UPDATE", "1");
    }
    step("conformance kit", &mut kit)
}
