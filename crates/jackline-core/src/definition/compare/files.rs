//! What a change of `file_policies` loosens.

use super::super::model::Model;
use super::Found;
use crate::files::settings::DIR_DEFAULT;

pub(super) fn compare(old: &Model, new: &Model, found: &mut Found) {
    let (old, new) = (&old.file_policies, &new.file_policies);
    let on = |enabled: Option<bool>| enabled.unwrap_or(true);
    if !on(old.enabled) {
        return;
    }
    found.when(!on(new.enabled), || "file_policies was switched off".to_owned());
    let dir = |dir: &Option<String>| dir.clone().unwrap_or_else(|| DIR_DEFAULT.to_owned());
    // Without a name other folders are looked for, too.
    let moved = dir(&old.dir) != dir(&new.dir) || (old.dir.is_none() && new.dir.is_some());
    found.when(moved, || "file_policies.dir is another one".to_owned());
}

#[cfg(test)]
mod tests {
    use super::super::super::parse;
    use super::super::loosenings;

    #[track_caller]
    fn check(old: &str, new: &str, want: &[&str]) {
        let model = |text: &str| parse(&format!("jackline: 1\nfile_policies: {{{text}}}\n"), &[]).unwrap().model;
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn switching_off_and_moving_are_looser() {
        check("", "enabled: false", &["file_policies was switched off"]);
        check("enabled: false", "enabled: true, dir: x", &[]);
        check("", "dir: x", &["file_policies.dir is another one"]);
        check("dir: .jackline/policies", "", &[]);
        check("output: batched", "output: individual", &[]);
    }
}
