//! The one place that reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use jackline_core::time::Timestamp;

/// The present time, to the millisecond.
#[must_use]
pub fn now() -> Timestamp {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).map(|since| since.as_millis()).unwrap_or_default();
    Timestamp(i64::try_from(ms).unwrap_or(i64::MAX))
}
