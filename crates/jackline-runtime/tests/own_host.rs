//! The adapter that the guide for hosts of one's own shows does what the guide says.

#![expect(unreachable_pub, reason = "an example is a program of its own; here it is a module")]

#[path = "../examples/own_host.rs"]
mod own_host;

#[test]
fn the_guides_host_is_guarded() -> Result<(), Box<dyn std::error::Error>> {
    own_host::main()
}
