//! Lists to which nearly every event adds: they are read with room for that, else the first addition would move them all.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What one event adds.
const ADDED: usize = 2;
/// Elements for which room is made because a text says that they follow; no such list has more.
const TOLD_MAX: usize = 1024;

pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<VecDeque<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Ring(PhantomData))
}

struct Ring<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Ring<T> {
    type Value = VecDeque<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<VecDeque<T>, A::Error> {
        let told = elements.size_hint().unwrap_or_default();
        // One without anything may well stay so.
        let mut ring = VecDeque::with_capacity(if told == 0 { 0 } else { told.min(TOLD_MAX) + ADDED });
        while let Some(element) = elements.next_element()? {
            ring.push_back(element);
        }
        Ok(ring)
    }
}
