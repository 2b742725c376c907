//! Whether and by whom answers are judged: `validation.llm` of a delegation loop, or of the orchestration.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::respondent::{Respondent, Unnamed};

/// Seconds for one verdict, where nothing else is said.
const TIMEOUT_S: f64 = 120.0;
/// Seconds that may be given for one: longer than any model takes.
const TIMEOUT_S_MAX: f64 = 3600.0;
/// The confidence above which an answer is believed, where nothing else is said.
const SKIP_ABOVE: f64 = 0.95;

/// How answers are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub judge: Respondent,
    /// Answers of which their agent is surer than this are not judged.
    pub skip_above: f64,
    pub timeout: Duration,
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    enabled: Option<bool>,
    skip_when_confidence_above: Option<f64>,
    timeout: Option<f64>,
}

/// Why nobody could judge by what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    Unnamed(#[from] Unnamed),
    #[error("`validation.llm` cannot be read: {0}")]
    Shape(String),
    #[error("`skip_when_confidence_above` must be a number from 0 to 1")]
    Threshold,
    #[error("`timeout` must be a number of seconds above 0 and up to {TIMEOUT_S_MAX}")]
    Timeout,
}

impl Settings {
    /// Reads `validation.llm`; none when nobody is named, or when it is not enabled.
    ///
    /// # Errors
    /// When it is enabled and cannot be used.
    pub fn read(section: &Value) -> Result<Option<Self>, Unusable> {
        let written: Written =
            serde_json::from_value(section.clone()).map_err(|fault| Unusable::Shape(fault.to_string()))?;
        let judge = Respondent::read(section, &["judge", "model"])?;
        let Some(judge) = judge.filter(|_| written.enabled != Some(false)) else { return Ok(None) };
        let skip_above = written.skip_when_confidence_above.unwrap_or(SKIP_ABOVE);
        if !(0.0..=1.0).contains(&skip_above) {
            return Err(Unusable::Threshold);
        }
        let timeout = seconds(written.timeout.unwrap_or(TIMEOUT_S)).ok_or(Unusable::Timeout)?;
        Ok(Some(Self { judge, skip_above, timeout }))
    }
}

/// So many seconds, if that is a time to wait.
pub(crate) fn seconds(seconds: f64) -> Option<Duration> {
    (seconds > 0.0 && seconds <= TIMEOUT_S_MAX).then(|| Duration::from_secs_f64(seconds))
}
