//! Every pack is a definition that its readers can learn from, and is used as its owner says.

use super::*;
use crate::definition::model::{Computed, Enforce, Guard, Mode, Opaque};
use crate::stack::Stack;

fn parsed(pack: &Pack) -> definition::Parsed {
    definition::parse(pack.text, &tools::names())
        .unwrap_or_else(|faults| panic!("{}", definition::render(&faults, pack.text, pack.name)))
}

#[test]
fn packs_are_fine_and_say_what_they_are_for() {
    for pack in PACKS {
        let parsed = parsed(pack);
        assert_eq!(pack.sha256, Digest::of(pack.text.as_bytes()).hex(), "{}: write this digest down", pack.name);
        assert!(parsed.warnings.is_empty(), "{}", definition::render(&parsed.warnings, pack.text, pack.name));
        assert!(pack.about().starts_with(&format!("{}: ", pack.name)), "{}", pack.about());
        let rest = Model { policies: Vec::new(), shell: Shell::default(), ..parsed.model.clone() };
        assert_eq!(rest, Model::default(), "{}: a pack has policies and nothing else that would count", pack.name);
        assert_eq!(parsed.model.shell, Shell { opaque: Opaque::default(), computed: Computed::Pass });
        for policy in &parsed.model.policies {
            assert!(policy.name.starts_with(&format!("{}/", pack.name)), "{}", policy.name);
            assert_eq!(policy.enforce, Enforce::Deny, "{}", policy.name);
            let Guard::Rule(rule) = &policy.guard else { panic!("{} is no rule", policy.name) };
            assert!(!rule.suggest.is_empty(), "{} suggests nothing", policy.name);
        }
    }
}

fn stack(text: &str) -> Stack {
    let parsed = definition::parse(text, &tools::names()).unwrap();
    Stack::of("/ws", parsed.model, Digest::of(text.as_bytes()))
}

#[test]
fn a_pack_is_a_layer_beside_the_one_that_names_it() {
    let alone = stack("jackline: 1\n");
    let with = stack("jackline: 1\nuse: [git, secrets, git]\n");
    let origins: Vec<Origin> = with.layers.iter().map(|layer| layer.origin).collect();
    assert_eq!(origins, [Origin::Project, Origin::Pack("git"), Origin::Pack("secrets")]);
    assert_eq!(with.face().map(|layer| layer.origin), Some(Origin::Project));
    assert_ne!(alone.digest(), with.digest());
    assert!(with.policies_for_tool("Bash").contains(&"git/force-push".to_owned()));
}

#[test]
fn everything_but_policies_is_as_the_definition_says() {
    let text = "jackline: 1\nmode: observe\nuse: [{pack: git, enforce: {git/force-push: warn}}, secrets]\n\
                shell: {opaque: deny}\nself: {allow: [a]}\nstore: {sync: os}\naudit: {redact: [x], checkpoint: false}\n";
    let stack = stack(text);
    let [own, git, secrets] = stack.layers.as_slice() else { panic!("{stack:#?}") };
    for pack in [git, secrets] {
        assert!(pack.observes());
        assert_eq!(pack.model.mode, Mode::Observe);
        assert_eq!(
            (&pack.model.own, &pack.model.audit, &pack.model.store),
            (&own.model.own, &own.model.audit, &own.model.store)
        );
        assert_eq!(pack.model.shell.opaque, Opaque::Deny);
        assert_eq!((&pack.model.repeat, &pack.model.limits), (&None, &Limits::default()));
    }
    let enforced = |layer: &Layer, name: &str| layer.model.policies.iter().find(|p| p.name == name).map(|p| p.enforce);
    assert_eq!(enforced(git, "git/force-push"), Some(Enforce::Warn));
    assert_eq!(enforced(git, "git/discard"), Some(Enforce::Deny));
}

#[test]
fn a_pack_that_cannot_be_read_refuses() {
    let model = Pack { name: "x", text: "jackline: 2", sha256: "" }.model();
    assert_eq!(model.policies.first().map(|policy| policy.name.as_str()), Some("x/broken"));
}
