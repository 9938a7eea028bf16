//! The notes of a code object: `MessagePack` maps, which may come in any order and with numbers of any width.

use std::fmt;
use std::marker::PhantomData;

use object::LittleEndian as LE;
use object::elf::{PT_NOTE, SHT_NOTE};
use object::read::elf::{NoteIterator, ProgramHeader, SectionHeader};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::argument::Argument;
use super::kernel::CodeObjectKernel;
use super::shape::Shape;
use crate::elf::Elf;
use crate::msgpack::Map;
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind};

/// `NT_AMDGPU_METADATA`.
const NT_AMDGPU_METADATA: u32 = 32;
/// The owner of the note.
const OWNER: &[u8] = b"AMDGPU";
/// Deeper nesting than any description has; the reader recurses.
const MAX_DEPTH: usize = 32;
const WHAT: &str = "the metadata of the code object";

/// All notes together.
#[derive(Default, Deserialize)]
pub(super) struct Metadata {
    #[serde(rename = "amdhsa.target")]
    pub target: Option<String>,
    #[serde(rename = "amdhsa.kernels", default)]
    pub kernels: Records<Kernel>,
}

/// A list whose number of elements has been counted, so that room for them is taken at once.
pub(super) struct Records<T>(pub Vec<T>);

#[derive(Deserialize)]
pub(super) struct Kernel {
    #[serde(rename = ".name")]
    name: String,
    #[serde(rename = ".symbol")]
    pub symbol: String,
    #[serde(rename = ".vgpr_count")]
    vgpr_count: Option<u32>,
    #[serde(rename = ".agpr_count")]
    agpr_count: Option<u32>,
    #[serde(rename = ".sgpr_count")]
    sgpr_count: Option<u32>,
    #[serde(rename = ".vgpr_spill_count")]
    vgpr_spill_count: Option<u32>,
    #[serde(rename = ".sgpr_spill_count")]
    sgpr_spill_count: Option<u32>,
    #[serde(rename = ".private_segment_fixed_size")]
    private_segment_fixed_size: Option<u64>,
    #[serde(rename = ".group_segment_fixed_size")]
    group_segment_fixed_size: Option<u64>,
    #[serde(rename = ".kernarg_segment_size")]
    kernarg_segment_size: Option<u64>,
    #[serde(rename = ".wavefront_size")]
    wavefront_size: Option<u32>,
    #[serde(rename = ".max_flat_workgroup_size")]
    max_flat_workgroup_size: Option<u32>,
    #[serde(rename = ".reqd_workgroup_size")]
    reqd_workgroup_size: Option<[u32; 3]>,
    #[serde(rename = ".args", default)]
    args: Records<Argument>,
}

impl<T> Default for Records<T> {
    fn default() -> Records<T> {
        Records(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Records<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Records<T>, D::Error> {
        deserializer.deserialize_seq(Records::default())
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Records<T> {
    type Value = Records<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Records<T>, A::Error> {
        self.0.reserve_exact(list.size_hint().unwrap_or_default());
        while let Some(element) = list.next_element_seed(Map(PhantomData))? {
            self.0.push(element);
        }
        Ok(self)
    }
}

impl Kernel {
    pub fn into_info(self, has_descriptor: bool) -> CodeObjectKernel {
        CodeObjectKernel {
            name: self.name,
            has_descriptor,
            vgpr_count: self.vgpr_count,
            agpr_count: self.agpr_count,
            sgpr_count: self.sgpr_count,
            vgpr_spill_count: self.vgpr_spill_count,
            sgpr_spill_count: self.sgpr_spill_count,
            private_segment_fixed_size: self.private_segment_fixed_size,
            group_segment_fixed_size: self.group_segment_fixed_size,
            kernarg_segment_size: self.kernarg_segment_size,
            wavefront_size: self.wavefront_size,
            max_flat_workgroup_size: self.max_flat_workgroup_size,
            reqd_workgroup_size: self.reqd_workgroup_size,
            args: self.args.0,
        }
    }
}

/// Reads every note; a link of several objects keeps the note of each.
pub(super) fn read(file: &Elf<'_>) -> Result<Metadata, Error> {
    let mut all = Metadata::default();
    let mut budget = Budget::for_file(WHAT, file.size());
    for (offset, part) in parts(file)? {
        weigh(&decode(part, offset)?, &mut budget)?;
        let note: Metadata = decode(part, offset)?;
        all.target = all.target.or(note.target);
        all.kernels.0.extend(note.kernels.0);
    }
    Ok(all)
}

fn decode<'a, T: Deserialize<'a>>(part: &'a [u8], offset: u64) -> Result<T, Error> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(part);
    reader.set_max_depth(MAX_DEPTH);
    Map(PhantomData).deserialize(&mut reader).map_err(|_| ErrorKind::Text { what: WHAT, offset }.into())
}

/// A kernel is held as it was read and as it is told.
fn weigh(shape: &Shape, budget: &mut Budget) -> Result<(), Error> {
    let kernel = (size_of::<Kernel>() + size_of::<CodeObjectKernel>()) as u64;
    let kernels = shape.kernels().saturating_mul(kernel);
    budget.spend(kernels.saturating_add(shape.arguments().saturating_mul(size_of::<Argument>() as u64)))
}

/// The descriptions, each with the offset of the notes that it is in.
fn parts<'a>(file: &Elf<'a>) -> Result<Vec<(u64, &'a [u8])>, Error> {
    let mut parts = Vec::new();
    for (offset, notes) in notes(file)? {
        let cut = |_| Error::truncated("a note of the code object", offset, 12);
        for note in notes {
            let note = note.map_err(cut)?;
            if note.name() == OWNER && note.n_type(LE).0 == NT_AMDGPU_METADATA {
                parts.push((offset, note.desc()));
            }
        }
    }
    Ok(parts)
}

type Notes<'a> = NoteIterator<'a, object::elf::FileHeader64<LE>>;

/// The loader looks for notes in segments; a file that was not linked yet has sections alone.
fn notes<'a>(file: &Elf<'a>) -> Result<Vec<(u64, Notes<'a>)>, Error> {
    let notes = |(offset, align, data)| {
        let notes = NoteIterator::new(LE, align, data);
        Ok((offset, notes.map_err(|_| Error::invalid("alignment of the notes of the code object", align))?))
    };
    if file.segments.is_empty() {
        let sections = file.sections.iter().filter(|section| section.header.sh_type(LE) == SHT_NOTE);
        let found = sections
            .map(|section| (section.header.sh_offset(LE), section.header.sh_addralign(LE), section.data));
        return found.map(notes).collect();
    }
    let segments = file.segments.iter().filter(|segment| segment.header.p_type(LE) == PT_NOTE);
    let found =
        segments.map(|segment| (segment.header.p_offset(LE), segment.header.p_align(LE), segment.data));
    found.map(notes).collect()
}
