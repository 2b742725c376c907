//! What a change of declared tools and of their schemas loosens. Which of two schemas lets more through cannot be told: any change counts.

use super::super::model::{Declaration, Missing, Model, Validation};
use super::{Found, rose};

pub(super) fn compare(old: &Model, new: &Model, found: &mut Found) {
    let (before, after) = (&old.validation, &new.validation);
    let (attempts, now) = (before.repair_attempts, after.repair_attempts);
    found.when(now > attempts, || rose("schema.repair_attempts", attempts, now));
    found.when(after.missing > before.missing, || "schema.missing became allow".to_owned());
}

/// One tool that is still declared; `missing` is what became of it without a schema.
pub(super) fn declared(name: &str, (old, missing): (&Declaration, Missing), new: &Declaration, found: &mut Found) {
    found.when(old.kind != new.kind, || format!("tools.declare.{name} changed its kind"));
    found.when(old.path != new.path, || format!("tools.declare.{name} changed its path"));
    // A tool without a schema was refused, and is not any more.
    let let_in = old.schema.is_none() && new.schema.is_some() && missing == Missing::Deny;
    found.when(let_in, || format!("tools.declare.{name} gained a schema"));
    let changed = |what, old: &Option<_>, new: &Option<_>, found: &mut Found| {
        found.when(old.is_some() && new.is_none(), || format!("tools.declare.{name} lost its {what}"));
        found.when(old.is_some() && new.is_some() && old != new, || format!("tools.declare.{name} changed its {what}"));
    };
    changed("schema", &old.schema, &new.schema, found);
    changed("output_schema", &old.output_schema, &new.output_schema, found);
}

/// How a narrower definition wants values validated, where it says so at all.
pub(super) fn said(wider: &Model, narrower: &Model) -> Validation {
    let silent = narrower.validation == Validation::default();
    if silent { wider.validation.clone() } else { narrower.validation.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::super::loosenings;

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let model = |source: &str| parse(&format!("jackline: 1\n{source}"), &[]).unwrap().model;
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn a_schema_that_changed_is_looser_until_trusted() {
        let tool = |settings: &str| format!("tools: {{declare: {{x: {{{settings}}}}}}}");
        let (one, two) = (tool("schema: {type: object}"), tool("schema: {type: object, required: [a]}"));
        check(&one, &one, &[]);
        check(&one, &two, &["tools.declare.x changed its schema"]);
        check(&one, &tool("schema: a.json"), &["tools.declare.x changed its schema"]);
        check(&one, &tool(""), &["tools.declare.x lost its schema"]);
        check(&tool(""), &one, &[]);
        check(&tool("output_schema: a.json"), &tool(""), &["tools.declare.x lost its output_schema"]);
        let strict = |settings: &str| format!("{}\nschema: {{missing: deny}}", tool(settings));
        check(&strict(""), &strict("schema: {}"), &["tools.declare.x gained a schema"]);
        check(&strict(""), &tool(""), &["schema.missing became allow"]);
        check(&tool(""), &strict(""), &[]);
    }

    #[test]
    fn more_repairs_are_looser() {
        check("", "schema: {repair_attempts: 3}", &["schema.repair_attempts rose from 2 to 3"]);
        check("", "schema: {repair_attempts: 0}", &[]);
    }
}
