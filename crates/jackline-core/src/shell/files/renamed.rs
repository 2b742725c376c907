//! Files that are renamed by patterns of a program's own.

use super::super::{How, Word};
use super::Found;
use super::arguments::{has_option, operands};
use crate::path::Role;

impl Found<'_> {
    /// `mmv FROM TO`: what the one matches gets names that the other makes of it.
    pub(super) fn renamed(&mut self, arguments: &[Word]) {
        if has_option(arguments, &["-n"]) {
            return;
        }
        let (patterns, _) = operands(arguments, &[]);
        // Without any it reads them.
        self.foreign |= patterns.len() < 2;
        for pair in patterns.chunks_exact(2) {
            let [from, to] = pair else { continue };
            let from = Word { glob: true, ..Word { text: from.text.replace(';', "**/"), ..from.clone() } };
            let to = Word { glob: true, dots: true, brought: true, text: made(&to.text), ..to.clone() };
            if has_option(arguments, &["-l", "-s"]) {
                self.push_how(&from, Role::Write, How::Linked);
            } else if has_option(arguments, &["-a", "-c", "-o"]) {
                self.push(&from, Role::Read);
            } else {
                self.push(&from, Role::Delete);
            }
            self.push(&to, Role::Write);
        }
    }
}

/// The pattern of the names that are made: each `#1` may be anything.
fn made(text: &str) -> String {
    let mut parts = text.split('#');
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        pattern.push('*');
        let letter = part.trim_start_matches(['l', 'u']);
        let rest = letter.trim_start_matches(|c: char| c.is_ascii_digit());
        pattern.push_str(if rest.len() < letter.len() { rest } else { part });
    }
    pattern
}
