//! What was measured, host by host: kept in `conformance/ack/measured/`, compared with every run, shown in
//! `docs/reference/hosts.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::rig::Rig;
use crate::kept;

/// Scenario to outcome.
pub(crate) type Outcomes = BTreeMap<String, String>;

fn file(rig: &Rig) -> PathBuf {
    kept().join("measured").join(format!("{}.json", rig.host))
}

/// What was measured before.
pub(crate) fn read(rig: &Rig) -> Outcomes {
    let text = fs::read_to_string(file(rig)).unwrap_or_default();
    let before: Value = serde_json::from_str(&text).unwrap_or_default();
    if before["version"] != rig.version {
        return Outcomes::new();
    }
    let outcomes = before["outcomes"].as_object().into_iter().flatten();
    outcomes.filter_map(|(name, word)| Some((name.clone(), word.as_str()?.to_owned()))).collect()
}

/// Keeps what was measured now beside what was not played.
pub(crate) fn write(rig: &Rig, outcomes: &Outcomes) {
    let mut all = read(rig);
    all.extend(outcomes.clone());
    let now = json!({ "host": rig.host, "title": rig.title, "version": rig.version, "outcomes": all,
                     "cannot": rig.cannot.iter().copied().collect::<BTreeMap<_, _>>() });
    fs::create_dir_all(file(rig).parent().expect("below the root")).expect("made");
    fs::write(file(rig), format!("{now:#}\n")).expect("written");
}
