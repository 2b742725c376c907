//! The table of programs that lay out files anew.

/// A program that lays out anew the files it is told.
pub(super) struct Formatter {
    pub(super) program: &'static str,
    /// Options with which it writes; it always does where there are none.
    pub(super) writes: &'static [&'static str],
    /// Options with which it writes nothing.
    pub(super) only_shows: &'static [&'static str],
    /// Options that take a value.
    pub(super) valued: &'static [&'static str],
}

const fn formatter(
    program: &'static str,
    writes: &'static [&'static str],
    only_shows: &'static [&'static str],
    valued: &'static [&'static str],
) -> Formatter {
    Formatter { program, writes, only_shows, valued }
}

pub(super) const FORMATTERS: &[Formatter] = &[
    formatter("autopep8", &["-i", "--in-place"], &[], &["--max-line-length", "--select", "--ignore"]),
    formatter(
        "black",
        &[],
        &["--check", "--diff", "--help", "--version"],
        &["-l", "-t", "-W", "--config", "--exclude", "--include", "--line-length", "--target-version", "--workers"],
    ),
    formatter("clang-format", &["-i"], &["-n", "--dry-run"], &[]),
    formatter(
        "eslint",
        &["--fix"],
        &[],
        &["-c", "-f", "-o", "--config", "--ext", "--format", "--max-warnings", "--rule"],
    ),
    formatter("gofmt", &["-w"], &[], &["-r"]),
    formatter("goimports", &["-w"], &[], &["-local"]),
    formatter(
        "isort",
        &[],
        &["-c", "--check", "--check-only", "--diff", "--help", "--version"],
        &["-l", "--line-length", "--profile", "--settings-path", "--src"],
    ),
    formatter(
        "prettier",
        &["-w", "--write"],
        &[],
        &["--config", "--ignore-path", "--log-level", "--parser", "--plugin", "--print-width", "--tab-width"],
    ),
    formatter(
        "rustfmt",
        &[],
        &["--check", "--help", "--version"],
        &["--config", "--config-path", "--edition", "--emit"],
    ),
    formatter("shfmt", &["-w", "--write"], &["-d"], &["-i", "-ln", "--indent"]),
    formatter("stylelint", &["--fix"], &[], &["-c", "--config", "-f", "--formatter"]),
    formatter("yapf", &["-i", "--in-place"], &[], &["--style"]),
];
