//! Whether checks of required todos can pass, and whether what they are asked with can be used.

use super::super::fault::quoted;
use super::super::model::{Check as Condition, Checks, Model};
use super::super::place::At;
use super::{Check, Place};
use crate::todos::check::Check as Proof;

impl Check<'_> {
    pub(super) fn required(&mut self, model: &Model, at: &At<'_>) {
        let demanded = model.completion.as_ref().is_some_and(|completion| {
            completion.check.leaves().into_iter().any(|leaf| matches!(leaf, Condition::Todos))
        });
        for (index, required) in model.todos.require.iter().enumerate() {
            let at = &at.item(index);
            if required.checks.is_empty() && demanded {
                let message = "a required todo has no checks, so only a person can say that it is done".to_owned();
                self.warn(message, Some("give it checks that prove it".to_owned()), at);
            }
            for (index, check) in required.checks.iter().enumerate() {
                self.proof(check, &at.key("checks").item(index));
            }
        }
    }

    fn proof(&mut self, check: &Proof, at: &At<'_>) {
        match check {
            Proof::FileExists(path) | Proof::FileAbsent(path) | Proof::FileContains { path, .. } => {
                self.inside(path, at);
            }
            Proof::CallSucceeded { tool } => self.tool(tool, Place::Pattern, at),
            _ => {}
        }
    }

    /// A file that can only lie outside the workspace is never looked at. Where an absolute one lies is not known here.
    pub(super) fn inside(&mut self, file: &str, at: &At<'_>) {
        let help = "name a file below the workspace";
        if file.starts_with('/') && !climbs(file) {
            let message = format!("{} counts only where it lies inside the workspace", quoted(file));
            return self.warn(message, Some(help.to_owned()), at);
        }
        let wrong = if file.trim().is_empty() {
            "a file's name is empty".to_owned()
        } else if file.starts_with('~') || climbs(file) {
            format!("{} leads outside the workspace", quoted(file))
        } else {
            return;
        };
        self.echo(wrong, Some(help), at);
    }

    pub(super) fn checks(&mut self, checks: &Checks, at: &At<'_>) {
        for (index, dir) in checks.writable.iter().enumerate() {
            let odd = dir.starts_with('~') && !dir.starts_with("~/");
            if dir.trim().is_empty() || odd || climbs(dir) {
                let message = format!("{} is no directory that can be told", quoted(dir));
                let help = "name it from `/`, from `~/` or from the workspace, without `..`";
                self.echo(message, Some(help), &at.key("writable").item(index));
            }
        }
        if let Some(api) = checks.github_api.as_deref().filter(|api| !is_base(api)) {
            let help = "write it as `https://github.example/api/v3`, without a user, a query or a fragment";
            self.echo(format!("{} is no address of an API", quoted(api)), Some(help), &at.key("github_api"));
        }
    }
}

fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Whether an address can have a path added at its end, and names a host and nobody's password.
fn is_base(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.contains(['?', '#', '@', '\\']);
    rest.is_some_and(|rest| plain(rest) && rest.split('/').next().is_some_and(|host| !host.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let text = format!("jackline: 1\n{text}\n");
        let said = match parse(&text, &["Bash"]) {
            Ok(parsed) => parsed.warnings,
            Err(faults) => faults,
        };
        assert!(said.iter().any(|fault| fault.message.contains(want)), "{text}{said:?}");
    }

    #[track_caller]
    fn fine(text: &str) {
        let parsed = parse(&format!("jackline: 1\n{text}\n"), &["Bash"]).unwrap();
        assert!(parsed.warnings.is_empty(), "{text}: {:?}", parsed.warnings);
    }

    #[test]
    fn what_can_never_pass_is_told() {
        let require = |check: &str| format!("todos: {{ require: [ {{ content: c, checks: [ {check} ] }} ] }}");
        for path in ["../x", "~/x", "a/../../x", "/x/../etc/hosts"] {
            check(&require(&format!("{{ file_exists: {path:?} }}")), "leads outside the workspace");
            check(&require(&format!("{{ file_absent: {path:?} }}")), "leads outside the workspace");
            check(&format!("completion: {{ files: [{path:?}] }}"), "leads outside the workspace");
        }
        check(&require("{ file_exists: /etc/hosts }"), "counts only where it lies inside");
        check("completion: { files: [/etc/hosts] }", "counts only where it lies inside");
        check(&require("{ file_contains: { path: ../x, text: y } }"), "leads outside the workspace");
        check(&require("{ call_succeeded: { tool: nosuch } }"), "nosuch");
        check("todos: { require: [ { content: c } ] }\ncompletion: { todos: verified }", "only a person can say");
        fine(&require("{ file_exists: a/b }, { call_succeeded: { tool: Bash } }"));
        fine("todos: { require: [ { content: c } ] }");
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        for api in
            ["ftp://x", "x", "http://", "http:///p", "http://h?x=", "https://u:p@h", "https://h/#f", "https://h h"]
        {
            check(&format!("checks: {{ github_api: {api:?} }}"), "no address of an API");
        }
        fine("checks: { github_api: \"https://github.example:8443/api/v3\" }");
        for dir in ["relative/../..", "..", "~dev/x", "~/../x"] {
            check(&format!("checks: {{ writable: [{dir:?}] }}"), "no directory that can be told");
        }
        fine("checks: { writable: [target, ~/.cache/x, /var/cache/x] }");
    }
}
