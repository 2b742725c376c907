//! Whether the Rego policies that a definition names are there and can be used; told when it is read, not when a call
//! comes.

use std::path::{Path, PathBuf};

use jackline_core::definition::model::{Guard, OnFault, Policy, Rego};
use jackline_core::definition::{Fault, Model, span_of};

use crate::rego::{Compiled, RegoFault, read};

/// A Rego policy of a definition, with its name and the keys that lead to its file.
struct Named<'a> {
    policy: &'a str,
    /// A fault of it lets calls pass.
    tolerated: bool,
    rego: &'a Rego,
    keys: Vec<String>,
}

fn named(model: &Model) -> impl Iterator<Item = Named<'_>> {
    let top = of(&model.policies, vec!["policies".to_owned()]);
    let inside = model.sections.iter().enumerate().flat_map(|(index, section)| {
        of(&section.policies, vec!["sections".to_owned(), index.to_string(), "policies".to_owned()])
    });
    top.chain(inside)
}

fn of(policies: &[Policy], keys: Vec<String>) -> impl Iterator<Item = Named<'_>> {
    policies.iter().enumerate().filter_map(move |(index, policy)| match &policy.guard {
        Guard::Rego(rego) => {
            let own = [index.to_string(), "rego".to_owned(), "file".to_owned()];
            let tolerated = policy.on_fault == OnFault::Allow;
            Some(Named { policy: &policy.name, tolerated, rego, keys: keys.iter().cloned().chain(own).collect() })
        }
        Guard::Sequence(_) | Guard::ReadBeforeWrite(_) | Guard::Paths(_) | Guard::Rule(_) => None,
    })
}

/// Faults of the Rego policies of a definition that lies in this directory; `text` lends their places.
#[must_use]
pub fn rego_faults(model: &Model, text: Option<&str>, dir: &Path) -> Vec<Fault> {
    unusable(model, text, dir).map(|(_, fault)| fault).collect()
}

/// The faults for which a definition cannot be used, and what people should know of those that it tolerates.
pub(super) fn faults_and_notices(model: &Model, text: Option<&str>, dir: &Path) -> (Vec<Fault>, Vec<String>) {
    let (tolerated, fatal): (Vec<_>, Vec<_>) = unusable(model, text, dir).partition(|(tolerated, _)| *tolerated);
    let told = |(_, fault): (bool, Fault)| format!("{}; calls pass it by", fault.message);
    (fatal.into_iter().map(|(_, fault)| fault).collect(), tolerated.into_iter().map(told).collect())
}

fn unusable<'a>(model: &'a Model, text: Option<&'a str>, dir: &'a Path) -> impl Iterator<Item = (bool, Fault)> + 'a {
    named(model).filter_map(move |named| {
        let policy = read(&dir.join(&named.rego.file));
        let policy = policy.map_err(|why| RegoFault::new(format!("it cannot be read: {why}")));
        let why = policy.and_then(|policy| Compiled::new(&policy)).err()?;
        Some((named.tolerated, fault(&named, text, why)))
    })
}

fn fault(named: &Named<'_>, text: Option<&str>, why: RegoFault) -> Fault {
    let place = why.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    let message = format!("policy {:?}: `{}{place}` cannot be used: {}", named.policy, named.rego.file, why.message);
    let keys: Vec<&str> = named.keys.iter().map(String::as_str).collect();
    let fault = Fault::error(message).help_if(why.help.map(str::to_owned));
    Fault { span: text.and_then(|text| span_of(text, &keys)), ..fault }
}

/// The files that hold Rego policies, and what people should know of those that are not there.
pub(super) fn files(model: &Model, dir: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let (mut files, mut notices) = (Vec::new(), Vec::new());
    for Named { policy, rego, .. } in named(model) {
        let path = dir.join(&rego.file);
        if !path.is_file() {
            let file = &rego.file;
            notices.push(format!("`{file}`, the Rego policy of `{policy}`, is not there; run `jackline check`"));
        }
        files.push(path);
    }
    (files, notices)
}
