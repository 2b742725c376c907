//! What a tool says when it is done, and how that is told to a client: as text, and as structured content.

use jackline_core::code::Code;
use jackline_core::decision::Verdict;
use jackline_runtime::Answer;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Map, Value, json};

use crate::reply::{CODE, EMITTED};

/// What a tool says when it went well.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// For models.
    pub(super) text: String,
    /// The same for programs.
    pub(super) value: Value,
}

/// Why a tool did not do what was asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refused {
    pub(super) code: String,
    /// For models: the reason, and what to do next.
    pub(super) text: String,
    /// The same for programs.
    value: Value,
}

impl Said {
    /// What has no better text than its JSON.
    pub(super) fn json(value: Value) -> Self {
        Self { text: value.to_string(), value }
    }
}

impl Refused {
    pub(super) fn new(code: &Code, reason: impl Into<String>, next: &str) -> Self {
        let reason = reason.into();
        let text = format!("{reason}\n→ {next}\n[jackline: {code}; a person can look with `jackline explain last`]");
        let value = json!({ "code": code, "reason": reason, "suggestions": [next] });
        Self { code: code.to_string(), text, value }
    }

    /// What was done, but neither judged nor kept to its end.
    pub(super) fn unkept(answer: &Answer) -> Self {
        let refused = Self::by(answer);
        Self { text: format!("The call was made, and its result is not shown.\n{}", refused.text), ..refused }
    }

    /// What the runtime refused; with what came of it all the same.
    pub(super) fn by(answer: &Answer) -> Self {
        // Here the operation is a tool, and tools have other names.
        let tool = |text: &str| text.replace("`calls.list`", "`calls_list`");
        let mut text = tool(&answer.shown());
        let mut suggestions: Vec<String> = answer.suggestions().iter().map(|next| tool(next)).collect();
        if answer.verdict == Verdict::Ask {
            let nobody = "a person would have to agree, and nobody can be asked here";
            text.push_str(&format!("\n→ {nobody}"));
            suggestions.push(nobody.to_owned());
        }
        let code = answer.code.as_ref().map(ToString::to_string).unwrap_or_default();
        let reason = answer.reason.as_deref().unwrap_or_default();
        let mut value = json!({ "code": code, "reason": reason, "suggestions": suggestions });
        if let (Value::Object(fields), Some(Value::Object(result))) = (&mut value, &answer.result) {
            for (name, told) in result {
                fields.entry(name.as_str()).or_insert_with(|| told.clone());
            }
        }
        Self { code, text, value }
    }
}

/// What the client is told of a call that was refused before anything was done.
pub(super) fn denied(answer: &Answer) -> CallToolResult {
    told(&Err(Refused::by(answer)), answer.feedback.as_deref(), answer.emitted.clone())
}

/// What the client is told of a call, with advice and typed events beside it. What is refused says so in `_meta` too, for
/// clients that read no structured content of errors.
pub(super) fn told(outcome: &Result<Said, Refused>, feedback: Option<&str>, emitted: Vec<Value>) -> CallToolResult {
    let (text, mut value) = match outcome {
        Ok(said) => (said.text.as_str(), said.value.clone()),
        Err(refused) => (refused.text.as_str(), refused.value.clone()),
    };
    let mut result =
        if outcome.is_ok() { CallToolResult::success(Vec::new()) } else { CallToolResult::error(Vec::new()) };
    result.content = std::iter::once(text).chain(feedback).map(ContentBlock::text).collect();
    // Some clients show models nothing but structured content.
    if let (Value::Object(fields), Some(feedback)) = (&mut value, feedback) {
        fields.insert("feedback".to_owned(), json!(feedback));
    }
    result.structured_content = Some(value);
    let mut meta = Map::new();
    meta.extend(outcome.as_ref().err().map(|refused| (CODE.to_owned(), json!(refused.code))));
    meta.extend((!emitted.is_empty()).then(|| (EMITTED.to_owned(), Value::Array(emitted))));
    result.meta = (!meta.is_empty()).then(|| MetaObject::from(meta));
    result
}
