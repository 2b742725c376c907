//! The project's own chores; `cargo xtask test` runs everything CI runs.
fn main() {}
