//! What git's settings say that looking at a work tree hangs on.

use super::names::listed;
use crate::probes::git::{GitFault, without_filters};

/// What they say.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Settings that switch the repository's filters off.
    pub(super) neutral: Vec<String>,
    /// Files may be left out of the work tree on purpose.
    pub(super) sparse: bool,
    /// Nothing is said that makes stat data or ids mean something else.
    pub(super) plain: bool,
    /// How files are converted may be said where nobody looks for it.
    pub(super) attributes: bool,
}

impl Settings {
    /// Reads a list of `key LF value NUL`.
    pub(super) fn read(configured: &[u8]) -> Result<Self, GitFault> {
        let said = |key: &[u8]| last(configured, key);
        let off = |key: &[u8]| said(key).is_some_and(is_off);
        let long = said(b"extensions.objectformat").is_some_and(|format| !format.eq_ignore_ascii_case(b"\nsha1"));
        Ok(Self {
            neutral: without_filters(configured)?,
            sparse: is_on(configured, b"core.sparsecheckout"),
            plain: !long && !off(b"core.filemode") && !off(b"core.symlinks"),
            attributes: said(b"core.attributesfile").is_some() || said(b"attr.tree").is_some(),
        })
    }
}

/// The last value of a setting, with the line end in front of it; one without a value is empty.
fn last<'a>(configured: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let values = listed(configured).filter_map(|setting| {
        let (name, value) = setting.split_at(setting.iter().position(|byte| *byte == b'\n').unwrap_or(setting.len()));
        name.eq_ignore_ascii_case(key).then_some(value)
    });
    values.last()
}

/// Whether a setting is on; one without a value is.
fn is_on(configured: &[u8], key: &[u8]) -> bool {
    last(configured, key).is_some_and(|value| !is_off(value))
}

fn is_off(value: &[u8]) -> bool {
    value == b"\n" || [&b"\nfalse"[..], b"\nno", b"\noff", b"\n0"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_on_when_its_last_value_is() {
        for (values, want) in [
            (&b""[..], false),
            (b"core.a\ntrue\0", false),
            (b"core.b\ntrue\0", true),
            (b"core.B\nYES\0core.a\nfalse\0", true),
            (b"core.b\0", true),
            (b"core.b\n\0", false),
            (b"core.b\ntrue\0core.b\nOff\0", false),
            (b"core.b\n0\0core.b\n1\0", true),
        ] {
            assert_eq!(is_on(values, b"core.b"), want, "{}", String::from_utf8_lossy(values));
        }
    }

    #[test]
    fn what_makes_stat_data_mean_something_else_is_heard() {
        for (values, want) in [
            (&b""[..], true),
            (b"core.filemode\ntrue\0", true),
            (b"core.fileMode\nfalse\0", false),
            (b"core.symlinks\nno\0", false),
            (b"extensions.objectformat\nsha1\0", true),
            (b"extensions.objectformat\nsha256\0", false),
        ] {
            assert_eq!(Settings::read(values).unwrap().plain, want, "{}", String::from_utf8_lossy(values));
        }
    }
}
