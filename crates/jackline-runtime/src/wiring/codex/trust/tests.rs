//! Trust in our hooks comes, follows and goes, and every other byte of a `config.toml` stays.

use super::super::FORM;
use super::*;
use crate::wiring::{CommandLine, Removed, Timeouts, Wiring as _};

const FILE: &str = "/h/.codex/hooks.json";

fn wired(before: Option<&str>, program: &str) -> String {
    let line = CommandLine::from_shell(&format!("{program} hook codex")).unwrap();
    FORM.add(before, &line, Timeouts::default()).unwrap()
}

/// Trust after a change of the hooks.
fn followed(config: Option<&str>, before: Option<&str>, after: Option<&str>) -> Result<Option<String>, SettingsFault> {
    TRUST.follow(config, Rewired { file: FILE, before, after })
}

fn lacks(config: Option<&str>, text: &str) -> Option<String> {
    TRUST.lacks(config, TrustedFile { file: FILE, text }).unwrap()
}

#[track_caller]
fn check(config: Option<&str>) {
    let hooks = wired(None, "/o/jackline");
    assert!(lacks(config, &hooks).is_some());
    let trusted = followed(config, None, Some(&hooks)).unwrap().unwrap();
    assert_eq!(lacks(Some(&trusted), &hooks), None, "{trusted}");
    assert_eq!(followed(Some(&trusted), Some(&hooks), Some(&hooks)).unwrap().as_ref(), Some(&trusted));
    let elsewhere = wired(Some(&hooks), "/p/jackline");
    assert!(lacks(Some(&trusted), &elsewhere).unwrap().contains("9 of our 9 hooks are not trusted"));
    let again = followed(Some(&trusted), Some(&hooks), Some(&elsewhere)).unwrap().unwrap();
    assert_eq!((lacks(Some(&again), &elsewhere), again.len()), (None, trusted.len()));
    for (trusted, hooks) in [(&trusted, &hooks), (&again, &elsewhere)] {
        assert_eq!(followed(Some(trusted), Some(hooks), None).unwrap().as_deref(), config, "{trusted:?}");
    }
}

#[test]
fn trust_comes_once_changes_in_its_place_and_goes_as_it_came() {
    check(None);
    check(Some(""));
    check(Some("\n"));
    check(Some("model = \"x\"\n"));
    check(Some("model = \"x\""));
    check(Some("\u{feff}model = \"x\"\n\n\n"));
    check(Some("model = \"x\"\r\n\r\n[a]\r\nb = 1"));
    check(Some("[projects.\"/a\"]\r\ntrust_level = \"trusted\"\r\n"));
    check(Some("[hooks.state.\"/h/.codex/hooks.json:stop:7:0\"]\ntrusted_hash = \"sha256:ab\"\n"));
    check(Some("[hooks]\nfoo = 1\n[hooks.state]\n\"x\" = { trusted_hash = \"y\" } # mine\n# end"));
    check(Some("[features]\nhooks = true\n"));
    check(Some("[mcp_servers.x]\nhooks = \"a\"\nnotes = \"\"\"\n[hooks.state.\"x\"]\nhooks = {}\n\"\"\"\n"));
}

#[test]
fn lines_end_as_they_did() {
    let trusted = followed(Some("a = 1\r\n"), None, Some(&wired(None, "/o/jackline"))).unwrap().unwrap();
    assert_eq!(trusted.matches('\n').count(), trusted.matches("\r\n").count());
}

#[test]
fn what_a_table_would_contradict_or_nobody_can_read_is_left_alone() {
    let hooks = wired(None, "/o/jackline");
    for config in [
        "hooks.state = {}\n",
        "hooks  = { state = {} }\n",
        "\"hooks\" = { state = {} }\n",
        "hooks . state = {}\n",
        "[hooks]\nstate = { \"x:stop:0:0\" = { trusted_hash = \"sha256:ab\" } }\n",
        "[hooks.state]\n\"/h/.codex/hooks.json:stop:0:0\" = { enabled = false }\n",
    ] {
        assert_eq!(followed(Some(config), None, Some(&hooks)), Err(SettingsFault::TrustOtherwise), "{config}");
    }
    let fault = followed(Some("a = 1\nmodel = \n"), None, Some(&hooks)).unwrap_err();
    assert!(fault.to_string().contains("not valid TOML (line 2)"), "{fault}");
    let large = "#".repeat(crate::wiring::SETTINGS_BYTES_MAX + 1);
    assert!(matches!(followed(Some(&large), None, Some(&hooks)), Err(SettingsFault::TooLarge { .. })));
}

#[test]
fn hooks_that_do_not_run_are_told_however_that_is_spelt() {
    let hooks = wired(None, "/o/jackline");
    let trusted = followed(None, None, Some(&hooks)).unwrap().unwrap();
    for off in [
        "features = { hooks = false }",
        "[features]\n\"hooks\" = false",
        "\"features\".hooks = false",
        "[features] # f\nhooks = false",
    ] {
        let off = format!("{off}\n{trusted}");
        assert_eq!(TRUST.off(&off).unwrap(), Some("features.hooks"), "{off}");
    }
    assert_eq!(TRUST.off("[features]\ncodex_hooks = false").unwrap(), Some("features.codex_hooks"));
    assert_eq!(TRUST.off("hooks = { x = false }\nfeatures.hooks = true").unwrap(), None);
    for off in ["enabled = false # off", "\"enabled\" = false", "enabled=false"] {
        let off = trusted.replacen("trusted_hash", &format!("{off}\ntrusted_hash"), 1);
        assert!(lacks(Some(&off), &hooks).unwrap().contains("1 of our 9"), "{off}");
        let on = followed(Some(&off), Some(&hooks), Some(&hooks)).unwrap().unwrap();
        assert_eq!(on, trusted);
    }
    let matched = hooks.replacen("{ \"hooks\": [", "{ \"matcher\": \"*\", \"hooks\": [", 1);
    assert!(lacks(Some(&trusted), &matched).unwrap().contains("1 of our 9"));
}

/// A person's own hook, as an element of an event's list.
const MINE: &str = "{ \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\", \"timeout\": 5 }] }";

fn state(place: &str, hash: &str) -> String {
    format!("\n[hooks.state.\"{FILE}:{place}\"]\ntrusted_hash = \"{hash}\"\n")
}

#[test]
fn what_a_person_trusted_stays_trusted_when_ours_change_or_go() {
    let ours = wired(None, "/o/jackline");
    let both =
        ours.replacen("}\n    ],\n    \"PostToolUse\"", &format!("}},\n      {MINE}\n    ],\n    \"PostToolUse\""), 1);
    assert!(both.contains("mine"), "{both}");
    let config = followed(None, None, Some(&both)).unwrap().unwrap() + &state("pre_tool_use:1:0", "sha256:MINE");
    let elsewhere = wired(Some(&both), "/p/jackline");
    let again = followed(Some(&config), Some(&both), Some(&elsewhere)).unwrap().unwrap();
    assert_eq!(lacks(Some(&again), &elsewhere), None);
    assert!(again.contains(&state("pre_tool_use:1:0", "sha256:MINE")), "{again}");
    assert_eq!(again.matches("pre_tool_use").count(), 2);
    let Removed::Rest(left) = FORM.remove(&elsewhere).unwrap() else { panic!("mine is gone") };
    let config = followed(Some(&again), Some(&elsewhere), Some(&left)).unwrap().unwrap();
    assert_eq!(config, state("pre_tool_use:0:0", "sha256:MINE"));
}

#[test]
fn trust_in_ours_that_stood_elsewhere_goes() {
    let ours = wired(None, "/o/jackline");
    let config = followed(None, None, Some(&ours)).unwrap().unwrap();
    let behind = ours.replacen("\"PreToolUse\": [", &format!("\"PreToolUse\": [\n      {MINE},"), 1);
    let after = followed(Some(&config), Some(&behind), Some(&behind)).unwrap().unwrap();
    assert_eq!(lacks(Some(&after), &behind), None);
    assert!(after.contains("pre_tool_use:1:0") && !after.contains("pre_tool_use:0:0"), "{after}");
}
