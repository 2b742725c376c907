//! What a person asks now and then: so that a profile does not take the rest of the program for dead.

use std::process::Stdio;

use super::Play;

/// Commands that end by themselves, whatever they find.
const COMMANDS: &[&[&str]] = &[
    &["tour"],
    &["check"],
    &["status"],
    &["doctor"],
    &["policy", "check"],
    &["audit", "verify"],
    &["audit", "log"],
    &["explain", "last"],
    &["--help"],
];

impl Play {
    /// Plays each of them once; how it ends is no matter here.
    pub(crate) fn commands(&self) -> Result<(), String> {
        for arguments in COMMANDS {
            let mut command = self.command();
            command.args(*arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            self.run(&mut command).map_err(|fault| format!("`jackline {}`: {fault}", arguments.join(" ")))?;
        }
        Ok(())
    }
}
