//! Whether and by whom answers are criticised: `critique` of a delegation loop.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::judge::seconds;
use crate::respondent::{Respondent, Unnamed};

/// Repairs of one answer, where nothing else is said.
const REPAIRS: u32 = 2;
/// Repairs that may be asked for: beyond it nothing gets better.
const REPAIRS_MAX: u32 = 20;
/// Defects of one category for each worker of an iteration before a run ends, where nothing else is said.
const CATEGORY_CAP: u64 = 5;
/// The mean score that lets a run be complete, where nothing else is said.
const MIN_SCORE: f64 = 0.6;
/// Seconds for one review, where nothing else is said.
const TIMEOUT_S: f64 = 120.0;
/// Categories that may be given.
const CATEGORIES_MAX: usize = 32;
/// What defects are sorted into, where nothing else is said.
const CATEGORIES: &[&str] = &["incomplete", "incorrect", "inconsistent", "unsupported", "format", "off_task"];

/// How answers are criticised.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Nobody: then no answer has a score, and the gate does not apply.
    pub critic: Option<Respondent>,
    /// Answers with this score need no repair, and let a run be complete.
    pub min_score: f64,
    pub repairs_max: u32,
    pub categories: Vec<String>,
    /// None when it is 0.
    pub category_cap: u64,
    pub timeout: Duration,
}

/// As it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    enabled: bool,
    min_score_to_complete: Option<f64>,
    max_repair_attempts: Option<u32>,
    defect_categories: Option<Vec<String>>,
    defect_category_hard_cap: Option<u64>,
    timeout: Option<f64>,
}

/// Why nobody could criticise by what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error(transparent)]
    Unnamed(#[from] Unnamed),
    #[error("`critique` cannot be read: {0}")]
    Shape(String),
    #[error("`min_score_to_complete` must be a number from 0 to 1")]
    Score,
    #[error("`max_repair_attempts` must be at most {REPAIRS_MAX}")]
    Repairs,
    #[error("`defect_categories` has more than {CATEGORIES_MAX} entries")]
    Categories,
    #[error("`timeout` must be a number of seconds above 0 and up to an hour")]
    Timeout,
}

impl Settings {
    /// Reads `critique`; none when it is not enabled.
    ///
    /// # Errors
    /// When it is enabled and cannot be used.
    pub fn read(section: &Value) -> Result<Option<Self>, Unusable> {
        let written: Written =
            serde_json::from_value(section.clone()).map_err(|fault| Unusable::Shape(fault.to_string()))?;
        if !written.enabled {
            return Ok(None);
        }
        let min_score = written.min_score_to_complete.unwrap_or(MIN_SCORE);
        if !(0.0..=1.0).contains(&min_score) {
            return Err(Unusable::Score);
        }
        let repairs_max = written.max_repair_attempts.unwrap_or(REPAIRS);
        if repairs_max > REPAIRS_MAX {
            return Err(Unusable::Repairs);
        }
        let usual = || CATEGORIES.iter().map(|category| (*category).to_owned()).collect();
        let categories: Vec<String> = written.defect_categories.unwrap_or_else(usual);
        if categories.len() > CATEGORIES_MAX {
            return Err(Unusable::Categories);
        }
        Ok(Some(Self {
            critic: Respondent::read(section, &["critic", "model"])?,
            min_score,
            repairs_max,
            categories: categories.iter().map(|category| category.to_lowercase()).collect(),
            category_cap: written.defect_category_hard_cap.unwrap_or(CATEGORY_CAP),
            timeout: seconds(written.timeout.unwrap_or(TIMEOUT_S)).ok_or(Unusable::Timeout)?,
        }))
    }
}
