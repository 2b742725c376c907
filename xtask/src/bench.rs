//! `cargo xtask bench`: runs the benchmarks; they print their own tables.

use crate::shell::{cargo, step};

const NAMES: &[&str] = &["decide", "eval", "files", "hook", "mcp", "workflow"];

/// Runs the named benchmark, or all.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let (flags, named): (Vec<&str>, Vec<&str>) = options.iter().partition(|option| option.starts_with("--"));
    if let Some(unknown) = named.iter().find(|name| !NAMES.contains(name)) {
        return Err(format!("there is no benchmark `{unknown}`; there are {}", NAMES.join(", ")));
    }
    if let Some(unknown) = flags.iter().find(|flag| **flag != "--quick") {
        return Err(format!("unknown option `{unknown}`; there is `--quick`"));
    }
    let chosen = if named.is_empty() { NAMES.to_vec() } else { named };
    for name in chosen {
        let arguments = [&["bench", "-p", "jackline", "--bench", name, "--"], flags.as_slice()].concat();
        step(name, &mut cargo(&arguments))?;
    }
    Ok(())
}
