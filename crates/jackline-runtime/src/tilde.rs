//! Says where home is, for the path patterns of definitions that begin with `~`.

use std::path::Path;

use jackline_core::stack::Stack;

/// Puts the home directory where a path pattern begins with `~`. The runtime does so with the home it is given.
pub fn expand(stack: &mut Stack, home: &Path) {
    // Identities are canonical, so the patterns they are held against must be.
    let home = crate::canonical(home).unwrap_or_else(|_| home.to_owned());
    if let Some(home) = home.to_str() {
        stack.put_home(home);
    }
}
