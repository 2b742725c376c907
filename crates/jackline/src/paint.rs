//! Colour, only on a terminal and only where it is not unwanted.

use std::io::{self, IsTerminal as _};

use jackline_core::decision::Verdict;

/// Paints text, or leaves it as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colour if standard output is a terminal that wants it.
    pub(crate) fn for_stdout() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self { on: io::stdout().is_terminal() && !unwanted }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn verdict(self, verdict: Verdict, text: &str) -> String {
        let style = match verdict {
            Verdict::Allow => "32",
            Verdict::Ask => "33",
            Verdict::Deny => "31",
            Verdict::Halt => "1;31",
        };
        self.wrap(style, text)
    }

    /// Text in a style of the terminal's.
    pub(crate) fn wrap(self, style: &str, text: &str) -> String {
        if self.on { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
