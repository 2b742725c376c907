//! A map whose keys are pairs, as text that has only names for keys: a list of entries there, a map elsewhere.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

type Pairs = BTreeMap<(String, String), String>;

pub(super) fn serialize<S: Serializer>(pairs: &Pairs, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() { serializer.collect_seq(pairs) } else { pairs.serialize(serializer) }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
    if deserializer.is_human_readable() {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    } else {
        Pairs::deserialize(deserializer)
    }
}
