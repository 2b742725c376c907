//! Every rule by its cases, its examples and by chance: what is found, where, in which words; and that nothing broken
//! is called valid.

#![expect(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

mod case;
mod cases;
mod cycles;
mod examples;
mod mutation;
mod odd;

use std::collections::BTreeMap;

use jackline_workflow::{Report, load, validate};

/// What is found in a workflow of these files.
fn report(files: &BTreeMap<String, String>) -> Report {
    let place = tempfile::tempdir().expect("a temporary directory");
    case::write(place.path(), files);
    validate(&load(place.path()).expect("a workflow"))
}
