//! What was asked of the world before a decision, and what was seen: one line for each question.

use jackline_core::ran::Ran;
use serde_json::Value;

use crate::timeline;

/// One question of a record and its answer.
pub(super) fn text(pair: &Value) -> String {
    let probe = pair.get("probe").cloned().unwrap_or_default();
    let fact = pair.get("fact").cloned().unwrap_or_default();
    format!("{}: {}", asked(&probe), seen(&fact, &probe))
}

pub(super) fn shown(value: &Value) -> String {
    timeline::shown(value.as_str().unwrap_or_default())
}

/// What was asked. A question without members stands as its name alone.
fn asked(probe: &Value) -> String {
    let (name, members) = match probe {
        Value::Object(probe) => probe.iter().next().map(|(name, members)| (name.as_str(), members)),
        name => name.as_str().map(|name| (name, &Value::Null)),
    }
    .unwrap_or(("", &Value::Null));
    let member = |member: &str| members.get(member).map(shown).unwrap_or_default();
    match name {
        "identity" | "meant" => format!("path {}", member("path")),
        "fingerprint" => format!("content of {}", member("path")),
        "last_byte" => format!("the end of {}", member("path")),
        "contains" => format!("whether {} holds the text", member("path")),
        "lands" => format!("what of {} would land below {}", member("from"), member("into")),
        "meets" => format!("what the pattern {} meets below {}", member("pattern"), member("dir")),
        "counts" => "what this session had counted".to_owned(),
        "work_tree" => "the work tree".to_owned(),
        "settings" => format!("the settings in {}", member("file")),
        "schema" => format!("the {} against the schema", member("target")),
        "rego" => format!("the Rego policy {}", member("file")),
        "usage" => "the host's transcript".to_owned(),
        "run" => format!("the command {}", command(members)),
        "scripts" => "the files that its commands run".to_owned(),
        "calls" => "calls of this session".to_owned(),
        "git" => asked_of_git(members),
        "web" => asked_of_web(members),
        "files" => asked_of_policies(members),
        other => timeline::shown(other),
    }
}

/// What was seen.
fn seen(fact: &Value, probe: &Value) -> String {
    if let Some(told) = fact.get("told") {
        return seen_of_checks(told);
    }
    if let Some(identity) = fact.get("identity") {
        place(identity)
    } else if let Some(seen) = fact.get("files") {
        seen_of_policies(seen)
    } else if let Some(tokens) = fact.pointer("/usage/tokens") {
        format!("{tokens} tokens more")
    } else if let Some(why) = fact.pointer("/schema/unusable") {
        format!("not looked at, since it cannot be used: {}", shown(why))
    } else if let Some(checked) = fact.get("schema") {
        counted(checked, "errors", ("it fits", "error(s)"))
    } else if let Some(judged) = fact.get("rego") {
        counted(judged, "denials", ("it has nothing against it", "denial(s)"))
    } else if let Some(ran) = fact.get("ran") {
        ended(ran)
    } else if let Some(why) = fact.get("unknown") {
        format!("could not be told: {}", shown(why))
    } else {
        match fact.get("content") {
            Some(Value::Null) => "nothing there".to_owned(),
            Some(_) => "looked at".to_owned(),
            None if probe.get("files").is_some() => "there are none".to_owned(),
            None if probe.get("settings").is_some() => "nothing in it is against us".to_owned(),
            None => "not there to look at".to_owned(),
        }
    }
}

fn place(identity: &Value) -> String {
    let place = match identity.get("inside").and_then(Value::as_str) {
        Some("") => "the workspace root".to_owned(),
        Some(inside) => format!("{} in the workspace", timeline::shown(inside)),
        None => format!("{} outside the workspace", shown(identity.get("path").unwrap_or(&Value::Null))),
    };
    let ours = identity.get("ours").and_then(Value::as_str).map(|ours| format!(" ({ours})")).unwrap_or_default();
    format!("{}, {place}{ours}", timeline::text(identity, "there"))
}

fn counted(seen: &Value, member: &str, (none, some): (&str, &str)) -> String {
    let told = seen.get(member).and_then(Value::as_array).map_or(0, Vec::len) as u64;
    match told + seen.get("omitted").and_then(Value::as_u64).unwrap_or_default() {
        0 => none.to_owned(),
        count => format!("{count} {some}"),
    }
}

/// What checks and claims were told.
fn seen_of_checks(told: &Value) -> String {
    if let Some(holds) = told.get("holds") {
        let so = if holds.get("holds") == Some(&Value::Bool(true)) { "yes" } else { "no" };
        let seen = timeline::text(holds, "seen");
        return timeline::shown(if seen.is_empty() { so } else { seen });
    }
    if let Some(found) = told.get("calls").and_then(Value::as_array) {
        return format!("{} answer(s) from the log", found.len());
    }
    if let Some(counted) = told.get("counted") {
        let count = |member: &str| counted.get(member).and_then(Value::as_u64).unwrap_or_default();
        return format!("{} writes, {} acts", count("writes"), count("acts"));
    }
    if let Some(status) = told.pointer("/answered/status") {
        return format!("status {status}");
    }
    "looked at".to_owned()
}

fn asked_of_git(members: &Value) -> String {
    let question = members.get("question").cloned().unwrap_or_default();
    if let Some(sha) = question.pointer("/commit/sha") {
        return format!("git, whether there is a commit {}", shown(sha));
    }
    if let Some(pushed) = question.get("pushed") {
        let branch = pushed.get("branch").and_then(Value::as_str).map_or("the branch".to_owned(), timeline::shown);
        return format!("git, whether {branch} is pushed");
    }
    "git, whether there is nothing to commit".to_owned()
}

fn asked_of_web(members: &Value) -> String {
    let request = members.get("request").cloned().unwrap_or_default();
    match (request.pointer("/status/url"), request.get("pull")) {
        (Some(url), _) => format!("what {} answers", shown(url)),
        (None, Some(pull)) => {
            let number = pull.get("number").and_then(Value::as_u64).unwrap_or_default();
            format!("pull request {number} of {}", shown(pull.get("repo").unwrap_or(&Value::Null)))
        }
        (None, None) => "what an address answers".to_owned(),
    }
}

fn asked_of_policies(members: &Value) -> String {
    let ask = members.get("ask").unwrap_or(members);
    match ask.as_object().and_then(|ask| ask.keys().next()).map(String::as_str) {
        Some("promises") => "promises in the transcript".to_owned(),
        Some("act") => "the commands of the file policies".to_owned(),
        Some("baseline") => "how everything is at the prompt".to_owned(),
        _ => "the file policies".to_owned(),
    }
}

/// What was seen of file policies: those that fire are named by their files.
fn seen_of_policies(seen: &Value) -> String {
    let all = |at: &str| seen.pointer(at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if seen.get("detected").is_some() {
        let fires = |firing: &&Value| firing.get("state").and_then(Value::as_str) == Some("fires");
        let files: Vec<String> =
            all("/detected/firings").iter().filter(fires).filter_map(|it| it.get("file")).map(shown).collect();
        return if files.is_empty() { "none of them fires".to_owned() } else { format!("{} fires", files.join(", ")) };
    }
    match (seen.get("acted").is_some(), seen.get("said").is_some()) {
        (true, _) => format!("{} ran", all("/acted").len()),
        (_, true) => format!("{} of them", all("/said/said").len()),
        _ => "looked at".to_owned(),
    }
}

fn command(members: &Value) -> String {
    let words = members.get("argv").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    timeline::shown(&words.collect::<Vec<_>>().join(" "))
}

/// How a command ended, how long it took, and how far it was held.
fn ended(ran: &Value) -> String {
    let Ok(ran) = serde_json::from_value::<Ran>(ran.clone()) else { return "it was run".to_owned() };
    let unconfined = ran.unconfined.map(|why| format!("; not fully confined: {why}")).unwrap_or_default();
    timeline::shown(&format!("{} after {} ms{unconfined}", ran.exit.told(), ran.elapsed_ms))
}

#[cfg(test)]
mod tests {
    use jackline_core::probe::{Fact, GitQuestion, Probe, Told};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(probe: &Probe, fact: &Fact, want: &str) {
        assert_eq!(text(&json!({ "probe": probe, "fact": fact })), want);
    }

    #[test]
    fn every_question_goes_by_its_own_name() {
        let holds = |holds, seen: &str| Fact::Told(Told::Holds { holds, seen: seen.to_owned() });
        let (path, text) = ("/w/a.txt".to_owned(), "x".to_owned());
        check(&Probe::Contains { path, text }, &holds(false, ""), "whether /w/a.txt holds the text: no");
        let clean = Probe::Git { question: GitQuestion::Clean };
        check(&clean, &holds(true, ""), "git, whether there is nothing to commit: yes");
        check(
            &Probe::Calls { queries: Vec::new() },
            &Fact::Told(Told::Calls(Vec::new())),
            "calls of this session: 0 answer(s) from the log",
        );
        let counted = Fact::Told(Told::Counted { writes: 1, acts: 2 });
        check(&Probe::Counts, &counted, "what this session had counted: 1 writes, 2 acts");
        check(&Probe::WorkTree, &Fact::Absent, "the work tree: not there to look at");
        let usage = Probe::Usage { file: "t".to_owned(), mark: None, from_end: false };
        check(&usage, &Fact::Unknown("gone".to_owned()), "the host's transcript: could not be told: gone");
    }
}
