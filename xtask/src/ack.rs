//! `cargo xtask ack`: the conformance kit in full, on every host or on one.

use crate::hosts;
use crate::shell::{cargo, step};

/// Fetches the hosts and plays all scenarios.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let (mut host, mut scenario, mut keep) = (None, "full", false);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "--keep" => keep = true,
            "--scenario" => scenario = *words.next().ok_or("`--scenario` wants a name")?,
            "--host" => host = Some(*words.next().ok_or("`--host` wants a name")?),
            other => return Err(format!("`{other}` is no option of `ack`: --host H, --scenario S, --keep")),
        }
    }
    hosts::run()?;
    let examined = format!("examined::{}", host.unwrap_or_default());
    let mut kit = cargo(&["test", "-p", "jackline", "--test", "ack", "--", &examined]);
    kit.env("JACKLINE_ACK", scenario);
    if keep {
        kit.env("JACKLINE_UPDATE", "1");
    }
    step("conformance kit", &mut kit)
}
