//! Scores what is there, metric by metric, and adds it up.

use std::time::Instant;

use jackline_runtime::Schema;
use serde_json::{Value, json};

use super::{Kind, Metric, Settings};
use crate::ask::{Ask, Question, Usage};
use crate::expression::Expression;
use crate::work::brief;

/// Characters of a reason that is kept.
const REASON_CHARS_MAX: usize = 300;

/// What a rubric's judge is told of its work.
const INSTRUCTIONS: &str = "\
You score a result by a rubric. Give a `score` from 0 (nothing of it holds) to 1 (all of it holds) and the `reason` in one or \
two sentences. Judge by the rubric alone.";

/// Runs a test: its command, what it is told, until when. Whether it passed, or why that is not known.
pub type Tester<'a> = dyn Fn(&[String], &Value, Instant) -> Result<bool, String> + 'a;

/// Whoever has to be asked for scores.
#[expect(missing_debug_implementations, reason = "a tester has no text")]
#[derive(Clone, Copy)]
pub struct Referees<'a> {
    /// Who judges by rubrics.
    pub judge: Option<&'a dyn Ask>,
    pub test: &'a Tester<'a>,
    pub until: Instant,
}

/// What one metric came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    pub name: String,
    pub weight: f64,
    /// From 0 to 1; why there is none, if there is none.
    pub score: Result<f64, String>,
    /// What was found.
    pub reason: Option<String>,
}

/// What all metrics came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    pub metrics: Vec<Scored>,
    /// None when no metric has a score.
    pub total: Option<f64>,
    pub usage: Usage,
}

impl Settings {
    /// Scores what the names hold: `result` is what is scored; `task`, `state`, `budget`, `violations` are around it.
    #[must_use]
    pub fn score(&self, names: &Value, referees: Referees<'_>) -> Score {
        let mut usage = Usage::default();
        let metrics: Vec<Scored> = self
            .metrics
            .iter()
            .map(|metric| {
                let (score, reason) = match found(self, metric, names, (referees, &mut usage)) {
                    Ok((score, reason)) => (Ok(score), reason),
                    Err(why) => (Err(brief(&why, REASON_CHARS_MAX)), None),
                };
                Scored { name: metric.name.clone(), weight: metric.weight, score, reason }
            })
            .collect();
        Score { total: total(&metrics), metrics, usage }
    }
}

/// The weighted mean. What has no score counts as 0; without any there is none.
fn total(metrics: &[Scored]) -> Option<f64> {
    let weights: f64 = metrics.iter().map(|metric| metric.weight).sum();
    let any = metrics.iter().any(|metric| metric.score.is_ok() && metric.weight > 0.0);
    let sum: f64 =
        metrics.iter().map(|metric| metric.weight * metric.score.as_ref().copied().unwrap_or_default()).sum();
    any.then(|| (sum / weights).clamp(0.0, 1.0))
}

type Found = Result<(f64, Option<String>), String>;

fn found(settings: &Settings, metric: &Metric, names: &Value, (referees, usage): (Referees<'_>, &mut Usage)) -> Found {
    match &metric.kind {
        Kind::Expressions(expressions) => {
            let failing: Vec<String> = expressions.iter().filter_map(|one| failing(one, names)).collect();
            let score = (expressions.len() - failing.len()) as f64 / expressions.len().max(1) as f64;
            Ok((score, (!failing.is_empty()).then(|| brief(&failing.join("; "), REASON_CHARS_MAX))))
        }
        Kind::Test(command) => {
            let passed = (referees.test)(command, names, referees.until)?;
            Ok((f64::from(u8::from(passed)), (!passed).then(|| "the test failed".to_owned())))
        }
        Kind::Schema { schema, of } => {
            let told = unfit(schema, of, names)?;
            Ok((f64::from(u8::from(told.is_none())), told))
        }
        Kind::Budget(of) => budget(of, names.get("budget")),
        Kind::Policy => policy(names.get("violations")),
        Kind::Rubric(rubric) => judged(settings, rubric, names, (referees, usage)),
    }
}

/// Why the result, or the first of these parts that does not, fits no schema.
fn unfit(schema: &Schema, of: &[Expression], names: &Value) -> Result<Option<String>, String> {
    let whole = || names.get("result").cloned().unwrap_or_default();
    let parts = of.iter().map(|of| of.value(names).map_err(|fault| fault.to_string()));
    let parts: Vec<Value> = if of.is_empty() { vec![whole()] } else { parts.collect::<Result<_, _>>()? };
    for part in &parts {
        if let Some(error) = schema.errors(part)?.first() {
            let place = error.instance_path.to_string();
            let place = if place.is_empty() { String::new() } else { format!("`{place}` ") };
            return Ok(Some(format!("{place}{}", error.message)));
        }
    }
    Ok(None)
}

/// Why an expression does not hold. One that says nothing of these values does not.
fn failing(expression: &Expression, names: &Value) -> Option<String> {
    match expression.holds(names) {
        Ok(true) => None,
        Ok(false) => Some(format!("`{}` does not hold", expression.text())),
        Err(fault) => Some(format!("`{}` cannot be told: {fault}", expression.text())),
    }
}

/// What is left of the scarcest budget. Budgets are `{name: {used, limit}}`; `tokens` is the run's and, as `loop_tokens`, the
/// loop's.
fn budget(of: &[String], budgets: Option<&Value>) -> Found {
    let budgets = budgets.and_then(Value::as_object).into_iter().flatten();
    let wanted = |name: &str| of.iter().any(|of| name == of || name.strip_prefix("loop_") == Some(of));
    let counted = budgets.filter(|(name, _)| of.is_empty() || wanted(name));
    let left = counted.filter_map(|(name, budget)| {
        let (used, limit) = (budget.get("used")?.as_f64()?, budget.get("limit")?.as_f64()?);
        (limit > 0.0).then(|| (name, (1.0 - used / limit).clamp(0.0, 1.0)))
    });
    let scarcest = left.min_by(|(_, one), (_, other)| one.total_cmp(other));
    let (name, left) = scarcest.ok_or("no budget that it looks at has a limit")?;
    Ok((left, Some(format!("{:.0} % of `{name}` is left", left * 100.0))))
}

/// Whether nothing broke a rule; how many things did, if so.
fn policy(violations: Option<&Value>) -> Found {
    let violations = violations.and_then(Value::as_u64).ok_or("violations were not counted")?;
    let score = if violations == 0 { 1.0 } else { 0.0 };
    Ok((score, (violations > 0).then(|| format!("{violations} violations of the workflow's rules"))))
}

fn judged(settings: &Settings, rubric: &str, names: &Value, (referees, usage): (Referees<'_>, &mut Usage)) -> Found {
    let judge = referees.judge.ok_or("no judge is configured under `rubric_judge`")?;
    let input = json!({"rubric": rubric, "task": names.get("task"), "result": names.get("result")});
    let schema = json!({
        "type": "object",
        "required": ["score", "reason"],
        "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}, "reason": {"type": "string"}},
    });
    let question = Question { role: "rubric", instructions: INSTRUCTIONS, input: &input, schema: Some(&schema) };
    let until = referees.until.min(Instant::now() + settings.timeout);
    let answer = judge.ask(&question, until).map_err(|unanswered| {
        *usage += unanswered.usage;
        unanswered.why
    })?;
    *usage += answer.usage;
    let score = answer.value.get("score").and_then(Value::as_f64).filter(|score| (0.0..=1.0).contains(score));
    let reason = answer.value.get("reason").and_then(Value::as_str).map(|reason| brief(reason, REASON_CHARS_MAX));
    Ok((score.ok_or("the judge's answer has no `score` from 0 to 1")?, reason))
}

impl Score {
    /// What is recorded of it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let metrics = self.metrics.iter().map(|metric| {
            let mut row = json!({"name": metric.name, "weight": metric.weight, "score": metric.score.as_ref().ok()});
            if let (Some(row), Some(reason)) = (row.as_object_mut(), metric.told()) {
                row.insert("reason".to_owned(), json!(reason));
            }
            row
        });
        json!({"score": self.total, "metrics": metrics.collect::<Vec<_>>()})
    }

    /// What keeps it from being higher, each metric in one line.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let short = self
            .metrics
            .iter()
            .filter(|metric| metric.score.as_ref().is_ok_and(|score| *score < 1.0) || metric.score.is_err());
        short.map(Scored::line).collect()
    }
}

impl Scored {
    fn told(&self) -> Option<&String> {
        self.score.as_ref().err().or(self.reason.as_ref())
    }

    fn line(&self) -> String {
        let told = self.told().map(|told| format!(": {told}")).unwrap_or_default();
        match &self.score {
            Ok(score) => format!("`{}` is {score:.2}{told}", self.name),
            Err(_) => format!("`{}` has no score{told}", self.name),
        }
    }
}
