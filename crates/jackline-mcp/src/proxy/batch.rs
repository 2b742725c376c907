//! Several requests in one message, as older clients send them: they go on one by one, and their answers come together.

use std::sync::{Mutex, PoisonError};

/// Messages in one batch; clients that send any send a handful.
pub(super) const BATCH_MAX: usize = 256;

/// The answers to one batch.
#[derive(Debug)]
pub(super) struct Batch(Mutex<Collected>);

#[derive(Debug)]
struct Collected {
    answers: Vec<String>,
    missing: usize,
}

impl Batch {
    /// A batch that holds so many requests.
    pub(super) fn of(requests: usize) -> Self {
        Self(Mutex::new(Collected { answers: Vec::new(), missing: requests }))
    }

    /// Adds an answer, or that there will be none; gives all of them once none is missing.
    pub(super) fn add(&self, answer: Option<String>) -> Option<String> {
        let mut collected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        collected.answers.extend(answer);
        collected.missing = collected.missing.saturating_sub(1);
        let whole = collected.missing == 0 && !collected.answers.is_empty();
        whole.then(|| format!("[{}]", std::mem::take(&mut collected.answers).join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_together() {
        let batch = Batch::of(3);
        assert_eq!(batch.add(Some("1".to_owned())), None);
        assert_eq!(batch.add(None), None);
        assert_eq!(batch.add(Some("2".to_owned())), Some("[1,2]".to_owned()));
        assert_eq!(Batch::of(1).add(None), None);
    }
}
