//! The instruction stream of a module, and a writer of one.

use super::{HEADER_SIZE, MAGIC};
use offload_format::{Error, ErrorKind, bytes};

pub(super) const OP_SOURCE: u16 = 3;
pub(super) const OP_NAME: u16 = 5;
pub(super) const OP_MEMORY_MODEL: u16 = 14;
pub(super) const OP_ENTRY_POINT: u16 = 15;
pub(super) const OP_EXECUTION_MODE: u16 = 16;
pub(super) const OP_CAPABILITY: u16 = 17;
pub(super) const OP_TYPE_INT: u16 = 21;
pub(super) const OP_TYPE_FUNCTION: u16 = 33;
pub(super) const OP_FUNCTION: u16 = 54;
pub(super) const OP_FUNCTION_END: u16 = 56;
pub(super) const OP_FUNCTION_CALL: u16 = 57;
pub(super) const OP_DECORATE: u16 = 71;
pub(super) const OP_EXECUTION_MODE_ID: u16 = 331;
/// `ExecutionModel` Kernel.
pub(super) const MODEL_KERNEL: u32 = 6;
/// `ExecutionMode` LocalSize.
pub(super) const MODE_LOCAL_SIZE: u32 = 17;
/// `ExecutionMode` SubgroupSize.
pub(super) const MODE_SUBGROUP_SIZE: u32 = 35;
/// `Decoration` LinkageAttributes.
pub(super) const LINKAGE_ATTRIBUTES: u32 = 41;
pub(super) const SPEC_ID: u32 = 1;
/// `Linkage Type` Export.
pub(super) const LINKAGE_EXPORT: u32 = 0;
/// `Linkage Type` Import.
pub(super) const LINKAGE_IMPORT: u32 = 1;

/// The offset of the id bound in the header.
const BOUND: u64 = 12;

const WHAT: &str = "the SPIR-V instruction";

/// One instruction with its operand bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction<'a> {
    pub(super) opcode: u16,
    /// Its offset in the module, in bytes.
    pub(super) offset: u64,
    /// The whole instruction.
    pub(super) bytes: &'a [u8],
}

impl<'a> Instruction<'a> {
    /// The operand word at `index`, counted from 0 after the first word.
    pub(super) fn word(&self, index: u64) -> Result<u32, Error> {
        let offset = index.checked_add(1).and_then(|word| word.checked_mul(4)).unwrap_or(u64::MAX);
        bytes::u32_at(self.bytes, offset, WHAT)
    }

    /// The string at operand word `index`, and the index of the word behind it.
    pub(super) fn text(&self, index: u64) -> Result<(&'a str, u64), Error> {
        let start = index.saturating_add(1).saturating_mul(4);
        let size = (self.bytes.len() as u64).saturating_sub(start);
        let rest = bytes::range(self.bytes, start, size, "the SPIR-V text")?;
        let malformed = ErrorKind::Text { what: "the SPIR-V text", offset: self.offset };
        let Some(end) = rest.iter().position(|byte| *byte == 0) else { return Err(malformed.into()) };
        let end = end as u64;
        let text = bytes::text_at(rest, 0, end, "the SPIR-V text").map_err(|_| malformed)?;
        // The terminating zero counts, and the text is padded to whole words.
        Ok((text, index.saturating_add(end / 4).saturating_add(1)))
    }

    /// The operand words from `index` to the end.
    pub(super) fn words_from(&self, index: u64) -> Vec<u32> {
        (index..).map_while(|index| self.word(index).ok()).collect()
    }
}

/// Checks the header, and returns the version word.
pub(super) fn header(module: &[u8]) -> Result<u32, Error> {
    let magic = bytes::u32_at(module, 0, "the SPIR-V header")?;
    if magic == MAGIC.swap_bytes() {
        let what = "the byte order of the SPIR-V module, which is big-endian and has to be little-endian,";
        return Err(Error::invalid(what, magic.into()));
    }
    if magic != MAGIC {
        return Err(ErrorKind::Magic { what: "a SPIR-V module" }.into());
    }
    bytes::range(module, 0, HEADER_SIZE, "the SPIR-V header")?;
    let version = bytes::u32_at(module, 4, "the SPIR-V header")?;
    if version & 0xff00_00ff != 0 {
        return Err(Error::invalid("the version of the SPIR-V module", version.into()));
    }
    if !module.len().is_multiple_of(4) {
        return Err(Error::invalid(
            "the size of the SPIR-V module, which has to be a multiple of 4,",
            module.len() as u64,
        ));
    }
    Ok(version)
}

/// The header's bytes.
pub(super) fn header_bytes(module: &[u8]) -> Result<&[u8], Error> {
    bytes::range(module, 0, HEADER_SIZE, "the SPIR-V header")
}

/// A rewritten module with additional ids.
#[derive(Debug)]
pub(super) struct Writer {
    out: Vec<u8>,
    /// The next free id.
    bound: u32,
}

impl Writer {
    /// Starts with the header of `module`.
    pub(super) fn new(module: &[u8]) -> Result<Writer, Error> {
        let bound = bytes::u32_at(module, BOUND, "the SPIR-V header")?;
        Ok(Writer { out: header_bytes(module)?.to_vec(), bound })
    }

    /// Allocates an id.
    pub(super) fn id(&mut self) -> Result<u32, Error> {
        let id = self.bound;
        let limit = u64::from(u32::MAX);
        self.bound = id.checked_add(1).ok_or(ErrorKind::TooLarge {
            what: "the ids of a SPIR-V module",
            size: limit,
            limit,
        })?;
        Ok(id)
    }

    pub(super) fn copy(&mut self, instruction: &Instruction<'_>) {
        self.out.extend_from_slice(instruction.bytes);
    }

    pub(super) fn put(&mut self, opcode: u16, operands: &[u32]) {
        let count = u32::try_from(operands.len()).unwrap_or(u32::MAX).saturating_add(1);
        let first = count << 16 | u32::from(opcode);
        self.out.extend([first].iter().chain(operands).flat_map(|word| word.to_le_bytes()));
    }

    pub(super) fn finish(mut self) -> Result<Vec<u8>, Error> {
        let bound = self.bound.to_le_bytes();
        let header = self.out.get_mut(BOUND as usize..BOUND as usize + bound.len());
        header
            .ok_or_else(|| Error::invalid("the size of the SPIR-V module", HEADER_SIZE))?
            .copy_from_slice(&bound);
        Ok(self.out)
    }
}

/// The instructions of `module`; ends after the first error.
pub(super) fn instructions(module: &[u8]) -> impl Iterator<Item = Result<Instruction<'_>, Error>> {
    let end = module.len() as u64;
    let mut offset = HEADER_SIZE;
    std::iter::from_fn(move || {
        if offset >= end {
            return None;
        }
        let instruction = instruction(module, offset);
        offset = match &instruction {
            Ok(instruction) => offset.saturating_add(instruction.bytes.len() as u64),
            Err(_) => end,
        };
        Some(instruction)
    })
}

fn instruction(module: &[u8], offset: u64) -> Result<Instruction<'_>, Error> {
    let first = bytes::u32_at(module, offset, WHAT)?;
    let words = first >> 16;
    let opcode = first as u16;
    if words == 0 {
        return Err(Error::invalid("the word count of the SPIR-V instruction at this offset", offset));
    }
    let bytes = bytes::range(module, offset, u64::from(words) * 4, WHAT)?;
    Ok(Instruction { opcode, offset, bytes })
}
