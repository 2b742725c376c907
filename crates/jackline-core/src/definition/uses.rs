//! The key `use`: whether what it names exists, and what a change of it loosens.

use super::fault::{Fault, did_you_mean, quoted};
use super::model::{Enforce, Use};
use crate::packs;

/// A fault of one item, about the whole of it or about one policy that it names.
pub(super) struct Found {
    pub(super) fault: Fault,
    pub(super) policy: Option<String>,
}

/// Every fault, with the item it belongs to.
pub(super) fn faults(used: &[Use]) -> Vec<(usize, Found)> {
    let mut found = Vec::new();
    // A name that is missing has been told of.
    for (index, item) in used.iter().enumerate().filter(|(_, item)| !item.pack.is_empty()) {
        let Some(pack) = packs::find(&item.pack) else {
            found.push((index, Found { fault: unknown_pack(&item.pack), policy: None }));
            continue;
        };
        let before = used.iter().take(index).find(|other| other.pack == item.pack);
        if before.is_some_and(|before| before.enforce != item.enforce) {
            let fault = Fault::error(format!("pack {} is named twice, enforced differently", quoted(&item.pack)));
            found.push((index, Found { fault: fault.help("name it once"), policy: None }));
        } else if before.is_some() {
            let fault = Fault::warning(format!("pack {} is named twice", quoted(&item.pack)));
            found.push((index, Found { fault: fault.help("name it once"), policy: None }));
        }
        found.extend(unknown_policies(pack, item).map(|found| (index, found)));
    }
    found
}

fn unknown_pack(name: &str) -> Fault {
    let known = || packs::PACKS.iter().map(|pack| pack.name);
    let all = known().map(quoted).collect::<Vec<_>>().join(", ");
    let help = did_you_mean(name, known()).unwrap_or_else(|| format!("packs are {all}"));
    Fault::error(format!("there is no pack {}", quoted(name))).help(help)
}

fn unknown_policies(pack: &packs::Pack, item: &Use) -> impl Iterator<Item = Found> {
    let model = if item.enforce.is_empty() { None } else { Some(pack.model()) };
    let known: Vec<String> = model.into_iter().flat_map(|model| model.policies).map(|policy| policy.name).collect();
    item.enforce.iter().filter(move |(name, _)| !known.contains(name)).map(|(name, _)| {
        let all: Vec<String> = pack.model().policies.into_iter().map(|policy| policy.name).collect();
        let help = did_you_mean(name, all.iter().map(String::as_str))
            .unwrap_or_else(|| format!("`jackline pack show {}` shows them", pack.name));
        let fault = Fault::error(format!("pack {} has no policy {}", quoted(pack.name), quoted(name))).help(help);
        Found { fault, policy: Some(name.clone()) }
    })
}

/// Packs that are gone, and policies of packs that are enforced less. A pack that is new only tightens.
pub(super) fn loosenings(old: &[Use], new: &[Use]) -> Vec<String> {
    let mut found = Vec::new();
    for before in old {
        match new.iter().find(|after| after.pack == before.pack) {
            None => found.push(format!("use lost {:?}", before.pack)),
            Some(after) => found.extend(lowered(before, after)),
        }
    }
    found
}

fn lowered(old: &Use, new: &Use) -> Vec<String> {
    let enforced = |used: &Use, name: &str| {
        let own = used.enforce.iter().find(|(policy, _)| policy == name);
        own.map_or_else(Enforce::default, |(_, enforce)| *enforce)
    };
    let lowered = new.enforce.iter().map(|(name, after)| (name, enforced(old, name), *after));
    lowered
        .filter(|(_, before, after)| after > before)
        .map(|(name, before, after)| {
            format!("use: policy {name:?} lowered enforce from {} to {}", before.name(), after.name())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{loosenings, parse};

    #[track_caller]
    fn check(source: &str, message: &str, help: &str, place: &str) {
        let source = format!("jackline: 1\nuse: {source}\n");
        let faults = parse(&source, &[]).unwrap_err();
        let [fault] = faults.as_slice() else { panic!("{source}: {faults:#?}") };
        assert_eq!(fault.message, message);
        assert_eq!(fault.help.as_deref(), Some(help));
        let span = fault.span.unwrap();
        assert_eq!(&source[span.start..span.end], place);
    }

    #[test]
    fn what_is_named_must_be_there() {
        check("[git, secret]", "there is no pack `secret`", "did you mean `secrets`?", "secret");
        check(
            "[kubernetes]",
            "there is no pack `kubernetes`",
            "packs are `git`, `secrets`, `destructive`, `supply-chain`",
            "kubernetes",
        );
        check(
            "[{pack: git, enforce: {git/force-pusch: warn}}]",
            "pack `git` has no policy `git/force-pusch`",
            "did you mean `git/force-push`?",
            "git/force-pusch",
        );
        check(
            "[git, {pack: git, enforce: {git/force-push: warn}}]",
            "pack `git` is named twice, enforced differently",
            "name it once",
            "{pack: git, enforce: {git/force-push: warn}}",
        );
        let twice = parse("jackline: 1\nuse: [git, git]\n", &[]).expect("duplicates are one");
        assert_eq!(twice.warnings[0].message, "pack `git` is named twice");
    }

    #[track_caller]
    fn compare(old: &str, new: &str, want: &[&str]) {
        let model = |used: &str| parse(&format!("jackline: 1\nuse: {used}\n"), &[]).unwrap().model;
        assert_eq!(loosenings(&model(old), &model(new)), want, "{old} -> {new}");
    }

    #[test]
    fn fewer_packs_and_softer_ones_loosen() {
        compare("[]", "[git, secrets]", &[]);
        compare("[secrets, git]", "[git]", &["use lost \"secrets\""]);
        let soft = "[{pack: git, enforce: {git/force-push: warn}}]";
        compare("[git]", soft, &["use: policy \"git/force-push\" lowered enforce from deny to warn"]);
        compare(soft, "[git]", &[]);
        compare("[]", soft, &[]);
        compare(
            soft,
            "[{pack: git, enforce: {git/force-push: off}}]",
            &["use: policy \"git/force-push\" lowered enforce from warn to off"],
        );
    }
}
