//! `cargo xtask hosts`: fetches the pinned versions of the programs that run agents, once, below the build directory.

use jackline_rehearsal::install;

use crate::shell::say;

/// Fetches what is missing; says what is there.
pub(crate) fn run() -> Result<(), String> {
    for version in [install::CLAUDE, install::CLAUDE_OLD] {
        let fetched = install::fetch_claude(version)?;
        let how = if fetched { "fetched" } else { "there already" };
        say(&format!("== hosts: Claude Code {version}: {how}"));
    }
    let tools = [install::NODE, install::CONFORMANCE, install::INSPECTOR];
    for package in install::SERVERS.iter().chain(&tools).chain(&install::HOSTS) {
        let how = if package.fetch()? { "fetched" } else { "there already" };
        say(&format!("== hosts: {} {}: {how}", package.name, package.version));
    }
    Ok(())
}
