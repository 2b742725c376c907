//! `cargo xtask ack`: the conformance kit in full, on every host or on one.

use std::fs;
use std::path::Path;

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
    if let Some(host) = host.filter(|host| !known().iter().any(|known| known == host)) {
        return Err(format!("`{host}` is no host of the kit; it has these: {}", known().join(", ")));
    }
    hosts::run()?;
    let examined = format!("examined::{}", host.unwrap_or_default());
    let mut kit = cargo(&["test", "-p", "jackline", "--test", "ack", "--", &examined]);
    if host.is_some() {
        kit.arg("--exact");
    }
    kit.env("JACKLINE_ACK", scenario);
    if keep {
        kit.env("JACKLINE_UPDATE", "1");
    }
    step("conformance kit", &mut kit)
}

/// The hosts that the kit examines, as it names them itself.
fn known() -> Vec<String> {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/jackline/tests/ack/main.rs");
    let text = fs::read_to_string(kit).unwrap_or_default();
    let named = text.split("super::examine(\"").skip(1).filter_map(|rest| rest.split('"').next());
    named.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_the_kit_does_not_know_is_an_error_that_names_those_it_knows() {
        for unknown in ["cursor", "gemni", "c", ""] {
            let told = run(&["--host", unknown]).unwrap_err();
            assert!(told.contains("claude, codex, opencode, gemini, qwen, copilot"), "{told}");
        }
    }
}
