//! How many kernels and arguments a description has, before anything is made of them: a record may be a few bytes long,
//! and what is made of it is not.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::msgpack::Map;

/// The numbers of a description.
#[derive(Deserialize)]
pub(super) struct Shape {
    #[serde(rename = "amdhsa.kernels", default)]
    kernels: Count<KernelShape>,
}

#[derive(Deserialize)]
struct KernelShape {
    #[serde(rename = ".args", default)]
    args: Count<Ignored>,
}

#[derive(Deserialize)]
struct Ignored {}

/// How many elements a list has, and what they weigh beside.
struct Count<T> {
    elements: u64,
    inner: u64,
    of: PhantomData<T>,
}

impl<T> Default for Count<T> {
    fn default() -> Count<T> {
        Count { elements: 0, inner: 0, of: PhantomData }
    }
}

impl Shape {
    pub fn kernels(&self) -> u64 {
        self.kernels.elements
    }

    pub fn arguments(&self) -> u64 {
        self.kernels.inner
    }
}

/// What else is counted of an element.
trait Element {
    fn beside(&self) -> u64 {
        0
    }
}

impl Element for KernelShape {
    fn beside(&self) -> u64 {
        self.args.elements
    }
}

impl Element for Ignored {}

impl<'de, T: Deserialize<'de> + Element> Deserialize<'de> for Count<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count<T>, D::Error> {
        deserializer.deserialize_seq(Count::default())
    }
}

impl<'de, T: Deserialize<'de> + Element> Visitor<'de> for Count<T> {
    type Value = Count<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Count<T>, A::Error> {
        while let Some(element) = list.next_element_seed(Map(PhantomData::<T>))? {
            self.elements = self.elements.saturating_add(1);
            self.inner = self.inner.saturating_add(element.beside());
        }
        Ok(self)
    }
}
