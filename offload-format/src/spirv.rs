//! SPIR-V modules: what has to be known of one, and a second name for its kernels.
//!
//! Follows the SPIR-V specification, section 2.3 "Physical Layout of a SPIR-V Module and Instruction"
//! (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>).

use crate::{Error, ErrorKind};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
const OP_ENTRY_POINT: u32 = 15;
const OP_CAPABILITY: u32 = 17;
const OP_DECORATE: u32 = 71;
const MODEL_KERNEL: u32 = 6;
const LINKAGE_ATTRIBUTES: u32 = 41;
const LINKAGE_IMPORT: u32 = 1;

/// A module whose instruction stream has been walked to its end.
#[derive(Clone, Debug)]
pub struct Module {
    version: u32,
    kernels: Vec<EntryPoint>,
    imports: Vec<String>,
    capabilities: Vec<u32>,
}

/// An entry point of execution model Kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
}

impl Module {
    /// Walks every instruction; a module that ends inside one is refused.
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Truncated`], [`ErrorKind::Invalid`] or [`ErrorKind::Text`].
    pub fn parse(bytes: &[u8]) -> Result<Module, Error> {
        let words = words(bytes)?;
        let version = words.get(1).copied().unwrap_or_default();
        let mut module =
            Module { version, kernels: Vec::new(), imports: Vec::new(), capabilities: Vec::new() };
        for instruction in instructions(&words) {
            module.note(&instruction?)?;
        }
        Ok(module)
    }

    fn note(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        match (instruction.opcode, instruction.operands) {
            (OP_CAPABILITY, [capability]) => self.capabilities.push(*capability),
            (OP_ENTRY_POINT, [MODEL_KERNEL, _, rest @ ..]) => {
                let (name, _) = text(rest, instruction.offset)?;
                self.kernels.push(EntryPoint { name });
            }
            (OP_DECORATE, [_, LINKAGE_ATTRIBUTES, rest @ ..]) => {
                let (name, tail) = text(rest, instruction.offset)?;
                // Variables for built-ins look like imports but every consumer defines them.
                if tail == [LINKAGE_IMPORT] && !name.starts_with("__spirv_BuiltIn") {
                    self.imports.push(name);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The version word of the header, as `0x00010200` for 1.2.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The entry points of execution model Kernel.
    pub fn kernels(&self) -> &[EntryPoint] {
        &self.kernels
    }

    /// Functions and variables that the module needs from others.
    pub fn imports(&self) -> &[String] {
        &self.imports
    }

    /// The capabilities that the module declares, by number.
    pub fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }
}

/// Gives each kernel `k` a second entry point `prefix` + `k`, which serves the same function. A name that exists
/// already is not added again. Execution modes belong to the function, so they hold for both names.
///
/// # Errors
/// As [`Module::parse`]; [`ErrorKind::TooLarge`] if a name does not fit an instruction.
pub fn with_entry_aliases(bytes: &[u8], prefix: &str) -> Result<Vec<u8>, Error> {
    let existing: Vec<String> = Module::parse(bytes)?.kernels.into_iter().map(|entry| entry.name).collect();
    let words = words(bytes)?;
    let mut out: Vec<u32> = words.iter().take(HEADER_WORDS).copied().collect();
    for instruction in instructions(&words) {
        let instruction = instruction?;
        out.extend(instruction.words);
        if let (OP_ENTRY_POINT, [MODEL_KERNEL, id, rest @ ..]) = (instruction.opcode, instruction.operands) {
            let (name, interface) = text(rest, instruction.offset)?;
            let alias = format!("{prefix}{name}");
            if !name.starts_with(prefix) && !existing.contains(&alias) {
                out.extend(entry_point(*id, &alias, interface)?);
            }
        }
    }
    Ok(out.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn entry_point(id: u32, name: &str, interface: &[u32]) -> Result<Vec<u32>, Error> {
    let mut text = name.as_bytes().to_vec();
    // A terminating zero, then zeros to a whole word.
    text.resize(text.len() / 4 * 4 + 4, 0);
    let text = text.chunks_exact(4).filter_map(|chunk| Some(u32::from_le_bytes(chunk.try_into().ok()?)));
    let mut words = vec![0, MODEL_KERNEL, id];
    words.extend(text);
    words.extend(interface);
    let count = u16::try_from(words.len());
    let too_large =
        |_| ErrorKind::TooLarge { what: "an entry point", size: words.len() as u64, limit: 0xffff };
    let count = u32::from(count.map_err(too_large)?);
    if let Some(first) = words.first_mut() {
        *first = count << 16 | OP_ENTRY_POINT;
    }
    Ok(words)
}

struct Instruction<'a> {
    opcode: u32,
    words: &'a [u32],
    operands: &'a [u32],
    /// In bytes from the start of the module.
    offset: u64,
}

fn words(bytes: &[u8]) -> Result<Vec<u32>, Error> {
    if !bytes.len().is_multiple_of(4) || bytes.len() < HEADER_WORDS * 4 {
        return Err(Error::truncated("SPIR-V module", 0, (bytes.len() as u64).next_multiple_of(4).max(20)));
    }
    let words: Vec<u32> =
        bytes.chunks_exact(4).filter_map(|chunk| Some(u32::from_le_bytes(chunk.try_into().ok()?))).collect();
    match words.first() {
        Some(&MAGIC) => Ok(words),
        Some(word) if word.swap_bytes() == MAGIC => {
            Err(ErrorKind::Unsupported { what: "big-endian SPIR-V", value: (*word).into() }.into())
        }
        _ => Err(ErrorKind::Magic { what: "SPIR-V" }.into()),
    }
}

fn instructions(words: &[u32]) -> impl Iterator<Item = Result<Instruction<'_>, Error>> {
    let mut at = HEADER_WORDS;
    std::iter::from_fn(move || {
        let first = *words.get(at)?;
        let offset = at as u64 * 4;
        let count = (first >> 16) as usize;
        let slice = words.get(at..at.saturating_add(count)).filter(|slice| !slice.is_empty());
        let Some(slice) = slice else {
            at = words.len();
            return Some(Err(Error::truncated("SPIR-V instruction", offset, u64::from(first >> 16) * 4)));
        };
        at = at.saturating_add(count);
        let operands = slice.get(1..).unwrap_or_default();
        Some(Ok(Instruction { opcode: first & 0xffff, words: slice, operands, offset }))
    })
}

/// A literal string, and the operands behind it.
fn text(words: &[u32], offset: u64) -> Result<(String, &[u32]), Error> {
    let mut bytes = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let chunk = word.to_le_bytes();
        let end = chunk.iter().position(|byte| *byte == 0);
        bytes.extend(chunk.iter().take(end.unwrap_or(4)));
        if end.is_some() {
            let text =
                String::from_utf8(bytes).map_err(|_| ErrorKind::Text { what: "SPIR-V string", offset })?;
            return Ok((text, words.get(index.saturating_add(1)..).unwrap_or_default()));
        }
    }
    Err(ErrorKind::Text { what: "SPIR-V string", offset }.into())
}
