//! Evaluation: what a run, or one step of it, is worth between 0 and 1.
//!
//! Each [`Metric`] gives a score or says why it has none; the weighted mean is the score of the whole. A metric without a
//! score counts as 0, and when none has one there is no score, which rejects. The gate `eval` holds a run to the
//! thresholds; [`Settings::act`] says what a step's score leads to.

mod metric;
mod score;
mod settings;
#[cfg(test)]
mod tests;

pub use metric::{Kind, Metric};
pub use score::{Referees, Score, Scored, Tester};
pub use settings::{Act, Hook, RetryPolicy, Settings, Unusable};
