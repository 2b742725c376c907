//! Definitions for a process that stays: looked for again only after a moment, since a call and its outcome come together.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jackline_core::session::Pin;

use super::{DefinitionFault, Definitions, Standing};

/// Milliseconds for which what was in force stays so: shorter than anyone who changes a definition notices.
const STEADY_MS: u64 = 50;

/// Definitions that were looked for a moment ago are those still.
#[derive(Debug)]
pub struct Steady<D> {
    inner: D,
    last: Mutex<Option<Last>>,
}

#[derive(Debug)]
struct Last {
    at: Instant,
    pin: Option<Pin>,
    named: Option<String>,
    standing: Arc<Standing>,
}

impl<D> Steady<D> {
    #[must_use]
    pub const fn new(inner: D) -> Self {
        Self { inner, last: Mutex::new(None) }
    }
}

impl<D: Definitions> Definitions for Steady<D> {
    fn stack(&self, pin: Option<&Pin>, named: Option<&str>) -> Result<Arc<Standing>, DefinitionFault> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |last: &&Last| last.at.elapsed() < Duration::from_millis(STEADY_MS);
        let same = |last: &&Last| last.pin.as_ref() == pin && last.named.as_deref() == named;
        if let Some(known) = last.as_ref().filter(fresh).filter(same) {
            return Ok(Arc::clone(&known.standing));
        }
        // Why there is none is never remembered.
        let standing = self.inner.stack(pin, named)?;
        let (pin, named) = (pin.cloned(), named.map(str::to_owned));
        *last = Some(Last { at: Instant::now(), pin, named, standing: Arc::clone(&standing) });
        Ok(standing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{Found, Places};
    use std::fs;

    #[test]
    fn a_change_counts_after_a_moment() {
        let dir = tempfile::tempdir().unwrap();
        let (home, start) = (dir.path().join("home"), dir.path().join("ws"));
        fs::create_dir(&start).unwrap();
        fs::write(start.join("jackline.yaml"), "jackline: 1\n").unwrap();
        let found = Found::new(Places { home, start: start.clone(), ..Places::default() });
        let steady = Steady::new(found);
        let before = steady.stack(None, None).unwrap();
        fs::write(start.join("jackline.yaml"), "jackline: 1\nlimits: { steps: 5 }\n").unwrap();
        assert!(Arc::ptr_eq(&before, &steady.stack(None, None).unwrap()));
        std::thread::sleep(Duration::from_millis(STEADY_MS + 10));
        let after = steady.stack(None, None).unwrap();
        assert!(after.stack.layers.iter().any(|layer| layer.model.limits.steps.is_some()));
    }
}
