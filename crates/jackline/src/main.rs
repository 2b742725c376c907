//! The `jackline` program: serves the runtime through commands.
fn main() {}
