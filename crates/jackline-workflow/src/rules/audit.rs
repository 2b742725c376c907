//! R18: the audit log's chain, as it is configured.

use jackline_core::definition::Fault;
use jackline_core::definition::yaml::{Node, Value};

use super::manifest::out_if;
use super::{MANIFEST, Rule, manifest_part, not_a_flag, one_of};
use crate::finding::{Found, Level};
use crate::load::Workflow;
use crate::manifest::at;

/// What makes changes of a log visible.
pub(crate) const INTEGRITIES: &[&str] = &["hash_chain", "merkle_tree", "none"];
/// How records are hashed.
pub(crate) const ALGORITHMS: &[&str] = &["sha256", "sha384", "sha512"];

pub(super) static CHAIN: Rule = Rule {
    id: "R18",
    level: Level::Error,
    category: "Observability",
    summary: "An audit log that claims a hash chain has one",
    text: "With `observability.audit.integrity: hash_chain` (or `hash_chain: true`) every record carries the hash of the one \
before, the first one zeros. The configuration must allow for it: the audit is not switched off beside the claim, \
`integrity` and `hash_chain` do not contradict each other, `hash_algorithm` is `sha256`, `sha384` or `sha512`, and a file that \
it is stored in has a path.

An audit that is not switched on in so many words is a warning: by default it is off.",
    good: manifest_part("observability:\n  audit:\n    enabled: true\n    integrity: hash_chain\n    hash_algorithm: sha256\n"),
    bad: manifest_part("observability:\n  audit:\n    enabled: false\n    integrity: hash_chain    # of what?\n"),
    check,
};

fn check(flow: &Workflow, out: &mut Found) {
    let Some(audit) = flow.manifest().and_then(|manifest| at(manifest.root, &["observability", "audit"])) else {
        return;
    };
    let (integrity, flag) = (audit.get("integrity"), audit.get("hash_chain"));
    out_if(out, MANIFEST, integrity.and_then(|node| one_of("integrity", INTEGRITIES, node)));
    out_if(out, MANIFEST, audit.get("hash_algorithm").and_then(|node| one_of("hash_algorithm", ALGORITHMS, node)));
    if let Some(flag) = flag.filter(|flag| !matches!(flag.value, Value::Bool(_))) {
        out_if(out, MANIFEST, not_a_flag("hash_chain", flag));
    }
    contradiction(integrity, flag, out);
    let by_name = integrity.filter(|node| node.text() == Some("hash_chain"));
    let claim = by_name.or_else(|| flag.filter(|flag| flag.value == Value::Bool(true)));
    if let Some(claim) = claim {
        unfounded(audit, claim, out);
    }
}

fn contradiction(integrity: Option<&Node>, flag: Option<&Node>, out: &mut Found) {
    let (Some(integrity), Some(flag)) = (integrity, flag) else { return };
    let Some(name) = integrity.text().filter(|name| INTEGRITIES.contains(name)) else { return };
    let agrees = match flag.value {
        Value::Bool(flag) => flag == (name == "hash_chain"),
        _ => return,
    };
    if !agrees {
        let fault = Fault::error(format!("`hash_chain` contradicts `integrity: {name}`")).at(flag.span);
        out.put(MANIFEST, fault.help("remove one of them"));
    }
}

/// A claim of a chain that nothing keeps.
fn unfounded(audit: &Node, claim: &Node, out: &mut Found) {
    match audit.get("enabled").map(|node| (&node.value, node.span)) {
        Some((Value::Bool(false), _)) => {
            let fault = Fault::error("a hash chain is claimed, and the audit is switched off").at(claim.span);
            out.put(MANIFEST, fault.help("set `enabled: true`, or remove the claim"));
        }
        None => {
            let fault = Fault::warning("a hash chain is claimed, and the audit is not switched on").at(claim.span);
            out.put(MANIFEST, fault.help("add `enabled: true`"));
        }
        Some(_) => {}
    }
    let Some(storage) = audit.entry("storage") else { return };
    let kind = storage.value.get("type").and_then(Node::text).unwrap_or("file");
    let path = storage.value.get("path").and_then(Node::text).filter(|path| !path.is_empty());
    if kind == "none" || (kind == "file" && path.is_none() && matches!(storage.value.value, Value::Map(_))) {
        let fault = Fault::error("a hash chain is claimed, and there is no file to keep it in").at(storage.key_span);
        out.put(MANIFEST, fault.help("add `path`, such as `logs/audit.jsonl`"));
    }
}
