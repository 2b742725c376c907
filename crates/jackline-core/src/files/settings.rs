//! Which folders of policies count, as the definitions in force say.

use super::seen::Ask;
use crate::definition::model::{Check, FilesOutput};
use crate::session::Session;
use crate::stack::{Layer, Origin, Stack};

/// Where policies are looked for first when nobody says. Who names it says no more than who is silent, so it need not be
/// there.
pub const DIR_DEFAULT: &str = ".jackline/policies";

/// A folder of policies that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Named by a definition; without it the folders that are looked for by default.
    pub dir: Option<String>,
    /// The work tree that it is looked at in, where that is not the one the session is in.
    pub root: Option<String>,
    /// The same as the session remembers it: nothing is the one that it began in.
    pub tree: Option<String>,
    /// All that is outstanding at once, or one by one; `None` where nobody says.
    pub output: Option<FilesOutput>,
    /// Every definition that names it only observes.
    pub observed: bool,
    /// Each definition that names it has placed it in a composition, or a wider one has: that is asked instead.
    pub placed: bool,
}

impl Folder {
    /// The folder that a definition names and that must be there: its policies would be switched off in silence.
    #[must_use]
    pub fn demanded(&self) -> Option<&String> {
        self.dir.as_ref().filter(|dir| *dir != DIR_DEFAULT)
    }

    /// Asks which of its policies fire.
    #[must_use]
    pub fn detect(&self, base: Option<&str>, session: &Session, round: u32) -> Ask {
        let (dir, root, base) = (self.dir.clone(), self.root.clone(), base.map(str::to_owned));
        let tree = self.tree.as_deref();
        let (baseline, held) = (session.files.baseline_in(tree), session.files.held(tree));
        Ask::Detect { dir, root, base, baseline, held, round }
    }
}

/// The folders that count. A project decides about its own; while a change of it waits for trust both are judged. What
/// is switched on or named explicitly for the user or the machine stays on.
#[must_use]
pub fn folders(stack: &Stack) -> Vec<Folder> {
    let mut found: Vec<Folder> = Vec::new();
    for layer in counting(stack) {
        let settings = &layer.model.file_policies;
        let (observed, placed) = (layer.observes(), is_placed(stack, layer));
        match found.iter_mut().find(|known| known.dir == settings.dir) {
            Some(known) => {
                known.observed &= observed;
                known.placed &= placed;
                known.output = known.output.or(settings.output);
            }
            None => {
                let (dir, output) = (settings.dir.clone(), settings.output);
                found.push(Folder { dir, root: None, tree: None, output, observed, placed });
            }
        }
    }
    found
}

/// The same in every work tree that counts for a session: where it is, where it began, and where something is
/// outstanding. A host's move to another work tree ends nothing, and what was changed before it is judged as ever.
#[must_use]
pub fn in_trees(stack: &Stack, session: &Session) -> Vec<Folder> {
    let here = stack.root.as_str();
    let home = session.pin.as_ref().map_or(stack.home(), |pin| pin.home.as_str());
    let mut roots = vec![here];
    let left = session.files.outstanding().filter_map(|kept| kept.tree.as_deref());
    for root in std::iter::once(home).chain(left) {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let other = |root: &str, than: &str| (root != than).then(|| root.to_owned());
    let all = folders(stack);
    let in_tree = |root: &&str| {
        let (asked, tree) = (other(root, here), other(root, home));
        all.iter().map(move |folder| Folder { root: asked.clone(), tree: tree.clone(), ..folder.clone() })
    };
    roots.iter().flat_map(in_tree).collect()
}

/// Whether a layer that names a folder has it judged by a composition: its own, or one of the user's or the machine's. A
/// project's composition does not stand in for what someone else named.
fn is_placed(stack: &Stack, named_by: &Layer) -> bool {
    let places = |layer: &Layer| {
        let completion = layer.model.completion.as_ref();
        completion.is_some_and(|completion| completion.check.leaves().contains(&&Check::FilePolicies))
    };
    let before = stack.layers.iter().take_while(|layer| !std::ptr::eq(*layer, named_by));
    let mut wider = before.filter(|layer| matches!(layer.origin, Origin::Machine | Origin::User));
    places(named_by) || wider.any(places)
}

/// The layers whose folders count.
pub(crate) fn counting(stack: &Stack) -> Vec<&Layer> {
    let own = |layer: &&Layer| matches!(layer.origin, Origin::Project | Origin::Accepted);
    let said = || stack.layers.iter().filter(|layer| !layer.is_pack());
    let any_own = said().any(|layer| own(&layer));
    let on = |layer: &&Layer| match layer.model.file_policies.enabled {
        Some(enabled) => enabled,
        // Policies add up: a project does not drop a folder that someone else named.
        None => own(layer) || !any_own || layer.model.file_policies.dir.is_some(),
    };
    said().filter(on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha::Digest;

    #[test]
    fn a_composition_stands_in_only_for_folders_that_nobody_wider_named() {
        let layer = |(origin, text): &(Origin, &str)| {
            let model = crate::definition::parse(&format!("jackline: 1\n{text}\n"), &[]).expect("fine").model;
            Layer::new(model, Digest::of(text.as_bytes()), *origin, true)
        };
        let placed = |layers: &[(Origin, &str)]| -> Vec<bool> {
            let stack = Stack { layers: layers.iter().map(layer).collect(), ..Stack::default() };
            folders(&stack).iter().map(|folder| folder.placed).collect()
        };
        let composed = "completion: {any: [{files: [a]}, {file_policies: satisfied}]}";
        let team = "file_policies: {dir: team}";
        let (user, accepted, own) = (Origin::User, Origin::Accepted, Origin::Project);
        assert_eq!(placed(&[(own, composed)]), [true]);
        assert_eq!(placed(&[(own, "")]), [false]);
        assert_eq!(placed(&[(user, team), (own, composed)]), [false, true]);
        assert_eq!(placed(&[(user, &format!("{team}\n{composed}")), (own, "")]), [true, true]);
        assert_eq!(placed(&[(user, "file_policies: {enabled: true}"), (own, composed)]), [false]);
        assert_eq!(placed(&[(accepted, ""), (own, composed)]), [false]);
        assert_eq!(placed(&[(accepted, composed), (own, composed)]), [true]);
    }
}
