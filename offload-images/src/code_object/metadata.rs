//! The metadata notes of a code object: `MessagePack` maps with keys in any order and integers of any width.

use object::LittleEndian as LE;
use object::elf::{PT_NOTE, SHT_NOTE};
use object::read::elf::{NoteIterator, ProgramHeader, SectionHeader};

use super::argument::Argument;
use super::kernel::CodeObjectKernel;
use crate::elf::Elf;
use crate::msgpack::{Reader, set};
use offload_format::limits::Budget;
use offload_format::{Error, ErrorKind};

/// `NT_AMDGPU_METADATA`.
const NT_AMDGPU_METADATA: u32 = 32;
/// The owner of the note.
const OWNER: &[u8] = b"AMDGPU";
const WHAT: &str = "the metadata of the code object";

/// The merged metadata of all notes.
#[derive(Default)]
pub(super) struct Metadata {
    pub(super) target: Option<String>,
    pub(super) kernels: Vec<Kernel>,
}

/// A kernel, and the symbol of its descriptor.
pub(super) struct Kernel {
    pub(super) symbol: String,
    pub(super) info: CodeObjectKernel,
}

impl Metadata {
    fn read(mut description: Reader<'_>) -> Option<Metadata> {
        let mut metadata = Metadata::default();
        let mut kernels = None;
        description.map(|key, value| match key {
            "amdhsa.target" => set(&mut metadata.target, value.optional(Reader::string)?),
            "amdhsa.kernels" => set(&mut kernels, Some(decode_list(value, Kernel::read)?)),
            _ => value.skip(),
        })?;
        metadata.kernels = kernels.unwrap_or_default();
        Some(metadata)
    }
}

impl Kernel {
    fn read(kernel: &mut Reader<'_>) -> Option<Kernel> {
        let mut name = None;
        let mut symbol = None;
        let mut args = None;
        let mut info = CodeObjectKernel::default();
        kernel.map(|key, value| match key {
            ".name" => set(&mut name, Some(value.string()?)),
            ".symbol" => set(&mut symbol, Some(value.string()?)),
            ".args" => set(&mut args, Some(decode_list(value, Argument::read)?)),
            ".reqd_workgroup_size" => set(&mut info.reqd_workgroup_size, value.optional(work_group)?),
            _ => number(&mut info, key, value),
        })?;
        info.name = name?;
        info.args = args.unwrap_or_default();
        Some(Kernel { symbol: symbol?, info })
    }
}

/// The number of kernels and arguments in a note, counted before any is decoded: an encoded record may take a few bytes,
/// and its decoded form takes hundreds.
#[derive(Debug, Default)]
struct Counts {
    kernels: u64,
    arguments: u64,
}

impl Counts {
    fn read(mut description: Reader<'_>) -> Option<Counts> {
        let mut counts = Counts::default();
        description.map(|key, value| match key {
            "amdhsa.kernels" => value.list(|kernel| counts.count_kernel(kernel)),
            _ => value.skip(),
        })?;
        Some(counts)
    }

    fn count_kernel(&mut self, kernel: &mut Reader<'_>) -> Option<()> {
        self.kernels = self.kernels.saturating_add(1);
        kernel.map(|key, value| match key {
            ".args" => value.list(|argument| {
                self.arguments = self.arguments.saturating_add(1);
                argument.map(|_, value| value.skip())
            }),
            _ => value.skip(),
        })
    }
}

/// Decodes an integer field of a kernel, or skips the value of an unknown key.
fn number(info: &mut CodeObjectKernel, key: &str, value: &mut Reader<'_>) -> Option<()> {
    let count = match key {
        ".vgpr_count" => &mut info.vgpr_count,
        ".agpr_count" => &mut info.agpr_count,
        ".sgpr_count" => &mut info.sgpr_count,
        ".vgpr_spill_count" => &mut info.vgpr_spill_count,
        ".sgpr_spill_count" => &mut info.sgpr_spill_count,
        ".wavefront_size" => &mut info.wavefront_size,
        ".max_flat_workgroup_size" => &mut info.max_flat_workgroup_size,
        _ => return size(info, key, value),
    };
    set(count, value.optional(Reader::number)?)
}

/// Decodes a field in bytes, or skips the value of an unknown key.
fn size(info: &mut CodeObjectKernel, key: &str, value: &mut Reader<'_>) -> Option<()> {
    let size = match key {
        ".private_segment_fixed_size" => &mut info.private_segment_fixed_size,
        ".group_segment_fixed_size" => &mut info.group_segment_fixed_size,
        ".kernarg_segment_size" => &mut info.kernarg_segment_size,
        _ => return value.skip(),
    };
    set(size, value.optional(Reader::number)?)
}

fn work_group(value: &mut Reader<'_>) -> Option<[u32; 3]> {
    let mut sizes = [0; 3];
    let mut dimensions = sizes.iter_mut();
    value.list(|size| {
        *dimensions.next()? = size.number()?;
        Some(())
    })?;
    (dimensions.len() == 0).then_some(sizes)
}

/// Decodes the elements of a list, allocated at once: [`Counts`] has bounded their number.
fn decode_list<'a, T>(value: &mut Reader<'a>, read: impl Fn(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
    let mut elements = Vec::with_capacity(value.length()?);
    value.list(|element| {
        elements.push(read(element)?);
        Some(())
    })?;
    Some(elements)
}

/// Reads every note: a linked file keeps the note of each of its objects.
pub(super) fn read(file: &Elf<'_>) -> Result<Metadata, Error> {
    let mut all = Metadata::default();
    let mut budget = Budget::for_file(WHAT, file.size());
    for (offset, description) in descriptions(file)? {
        let counts = Counts::read(Reader::new(description)).ok_or(ErrorKind::Text { what: WHAT, offset })?;
        charge(&counts, &mut budget)?;
        let note = Metadata::read(Reader::new(description)).ok_or(ErrorKind::Text { what: WHAT, offset })?;
        all.target = all.target.or(note.target);
        all.kernels.extend(note.kernels);
    }
    Ok(all)
}

/// Charges the decoded size. Each kernel exists twice for a time: as [`Kernel`] and in the result.
fn charge(counts: &Counts, budget: &mut Budget) -> Result<(), Error> {
    let kernel = (size_of::<Kernel>() + size_of::<CodeObjectKernel>()) as u64;
    let kernels = counts.kernels.saturating_mul(kernel);
    budget.spend(kernels.saturating_add(counts.arguments.saturating_mul(size_of::<Argument>() as u64)))
}

/// The descriptors of the metadata notes, each with the offset of its note section or segment.
fn descriptions<'a>(file: &Elf<'a>) -> Result<Vec<(u64, &'a [u8])>, Error> {
    let mut descriptions = Vec::new();
    for (offset, notes) in notes(file)? {
        for note in notes {
            let note = note.map_err(|_| Error::truncated("a note of the code object", offset, 12))?;
            if note.name() == OWNER && note.n_type(LE).0 == NT_AMDGPU_METADATA {
                descriptions.push((offset, note.desc()));
            }
        }
    }
    Ok(descriptions)
}

type Notes<'a> = NoteIterator<'a, object::elf::FileHeader64<LE>>;

/// The note segments, which the loader uses, or the note sections of a relocatable file, each with its offset.
fn notes<'a>(file: &Elf<'a>) -> Result<Vec<(u64, Notes<'a>)>, Error> {
    let mut notes = Vec::new();
    for segment in &file.segments {
        if segment.header.p_type(LE) == PT_NOTE {
            let offset = segment.header.p_offset(LE);
            notes.push((offset, parse_notes(segment.header.p_align(LE), segment.data)?));
        }
    }
    if !file.segments.is_empty() {
        return Ok(notes);
    }
    for section in &file.sections {
        if section.header.sh_type(LE) == SHT_NOTE {
            let offset = section.header.sh_offset(LE);
            notes.push((offset, parse_notes(section.header.sh_addralign(LE), section.data)?));
        }
    }
    Ok(notes)
}

fn parse_notes(align: u64, data: &[u8]) -> Result<Notes<'_>, Error> {
    NoteIterator::new(LE, align, data)
        .map_err(|_| Error::invalid("the alignment of the notes of the code object", align))
}
