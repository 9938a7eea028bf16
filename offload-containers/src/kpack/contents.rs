//! The table of contents. Nothing is reserved for a number of elements that the file claims, and empty maps leave
//! nothing behind: memory stays in proportion to the file.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::code_object::{CodeObject, Compression};
use super::map::Map;
use offload_format::limits::push;
use offload_format::{Error, ErrorKind, Limits};

pub(super) const WHAT: &str = "the table of contents of the kpack";
/// Deeper nesting than any table has; the reader recurses.
const MAX_DEPTH: usize = 16;

#[derive(Deserialize)]
pub(super) struct Contents<'a> {
    #[serde(borrow, default)]
    pub(super) group_name: &'a str,
    #[serde(borrow, default)]
    pub(super) gfx_arch_family: &'a str,
    #[serde(borrow)]
    pub(super) compression_scheme: &'a str,
    #[serde(default)]
    pub(super) blobs: Blobs,
    #[serde(default)]
    pub(super) zstd_offset: u64,
    #[serde(default)]
    pub(super) zstd_size: u64,
    #[serde(borrow)]
    pub(super) toc: Toc<'a>,
}

/// Where a stored code object lies.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Blob {
    pub(super) offset: u64,
    pub(super) size: u64,
}

#[derive(Default)]
pub(super) struct Blobs(pub(super) Vec<Blob>);

/// The code objects, still without their bytes.
pub(super) struct Toc<'a>(pub(super) Vec<CodeObject<'a>>);

/// What `toc` says of one code object.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(rename = "type", borrow)]
    kind: &'a str,
    ordinal: u32,
    original_size: u64,
}

impl<'a> Record<'a> {
    fn code_object(self, binary: &'a str, index: Option<u32>, target_id: &'a str) -> CodeObject<'a> {
        let Record { kind, ordinal, original_size: raw_size } = self;
        let compression = Compression::None;
        CodeObject { binary, index, target_id, kind, ordinal, raw_size, stored: &[], compression }
    }
}

pub(super) fn read<'a>(table: &'a [u8], limits: &Limits) -> Result<Contents<'a>, Error> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(table);
    reader.set_max_depth(MAX_DEPTH);
    let malformed = |_| Error::from(ErrorKind::Text { what: WHAT, offset: 0 });
    let contents = Contents::deserialize(&mut reader).map_err(malformed)?;
    limits.records(WHAT, contents.toc.0.len() as u64)?;
    Ok(contents)
}

impl<'de> Deserialize<'de> for Blobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blobs, D::Error> {
        deserializer.deserialize_seq(Blobs::default())
    }
}

impl<'de> Visitor<'de> for Blobs {
    type Value = Blobs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of blobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Blobs, A::Error> {
        while let Some(blob) = list.next_element_seed(Map(PhantomData))? {
            push(&mut self.0, blob);
        }
        Ok(self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Toc<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Toc<'a>, D::Error> {
        deserializer.deserialize_map(Toc(Vec::new()))
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Toc<'a> {
    type Value = Toc<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of programs")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Toc<'a>, A::Error> {
        while let Some(key) = map.next_key::<&'a str>()? {
            map.next_value_seed(Program { key, code_objects: &mut self.0 })?;
        }
        Ok(self)
    }
}

/// Adds the code objects of one program.
struct Program<'t, 'a> {
    key: &'a str,
    code_objects: &'t mut Vec<CodeObject<'a>>,
}

impl<'de: 'a, 'a> DeserializeSeed<'de> for Program<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Program<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of target IDs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let (binary, index) = match self.key.rsplit_once('#') {
            Some((binary, index)) => (binary, Some(index.parse().map_err(A::Error::custom)?)),
            None => (self.key, None),
        };
        while let Some(target_id) = map.next_key::<&'a str>()? {
            let record: Record<'a> = map.next_value_seed(Map(PhantomData))?;
            push(self.code_objects, record.code_object(binary, index, target_id));
        }
        Ok(())
    }
}
