//! Records of `MessagePack`.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};

/// A record by the names of its fields. The reader would take a list of values as well, and a list takes fewer bytes
/// than what is made of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<T>(pub(super) PhantomData<T>);

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Map<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Map<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}
