//! Which folders of policies count, as the definitions in force say.

use super::memory::Remembered;
use super::seen::Ask;
use crate::definition::model::FilesOutput;
use crate::stack::{Layer, Origin, Stack};

/// A folder of policies that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Named by a definition; without it the folders that are looked for by default.
    pub dir: Option<String>,
    /// All that is outstanding at once, or one by one; `None` where nobody says.
    pub output: Option<FilesOutput>,
    /// Every definition that names it only observes.
    pub observed: bool,
}

impl Folder {
    /// Asks which of its policies fire.
    #[must_use]
    pub fn detect(&self, base: Option<&str>, known: &Remembered, round: u32) -> Ask {
        let (dir, base) = (self.dir.clone(), base.map(str::to_owned));
        Ask::Detect { dir, base, baseline: known.baseline.clone(), held: known.held(), round }
    }
}

/// The folders that count. A project decides about its own; while a change of it waits for trust both are judged. What
/// is switched on or named explicitly for the user or the machine stays on.
#[must_use]
pub fn folders(stack: &Stack) -> Vec<Folder> {
    let mut found: Vec<Folder> = Vec::new();
    for layer in counting(stack) {
        let settings = &layer.model.file_policies;
        let observed = layer.observes();
        match found.iter_mut().find(|known| known.dir == settings.dir) {
            Some(known) => {
                known.observed &= observed;
                known.output = known.output.or(settings.output);
            }
            None => found.push(Folder { dir: settings.dir.clone(), output: settings.output, observed }),
        }
    }
    found
}

fn counting(stack: &Stack) -> Vec<&Layer> {
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
