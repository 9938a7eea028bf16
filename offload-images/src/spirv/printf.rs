//! Rewriting of printf formats to the type that the specification requires.

use std::collections::{BTreeMap, BTreeSet};

use super::stream::{self, Instruction, OP_FUNCTION, OP_TYPE_INT, Writer};
use offload_format::Error;

const OP_EXTENSION: u16 = 10;
const OP_EXT_INST_IMPORT: u16 = 11;
const OP_EXT_INST: u16 = 12;
const OP_TYPE_ARRAY: u16 = 28;
const OP_TYPE_POINTER: u16 = 32;
const OP_VARIABLE: u16 = 59;
const OP_BITCAST: u16 = 124;
/// The number of printf
/// (<https://registry.khronos.org/SPIR-V/specs/unified1/OpenCL.ExtendedInstructionSet.100.html#printf>).
const PRINTF: u32 = 184;
/// The extension for formats outside constant memory.
const RELAXED: &str = "SPV_EXT_relaxed_printf_string_address_space";
/// `Storage Class` UniformConstant.
const UNIFORM_CONSTANT: u32 = 0;

/// A copy of `module` in which the format of every printf is a pointer to characters in constant memory; `None` if the
/// module already conforms.
///
/// LLVM's SPIR-V back end passes a pointer to the array that holds the format, which the specification does not allow and
/// `spirv-val` rejects. It also mistakes the address space of some formats, and declares an extension that few drivers
/// support; the copy omits the extension if all formats are in constant memory.
///
/// # Errors
/// `module` is no SPIR-V, or has no id left.
pub fn with_character_formats(module: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    stream::header(module)?;
    let types = Types::read(module)?;
    let mut rewriter = Rewriter::new(module, &types)?;
    for instruction in stream::instructions(module) {
        rewriter.needs_extension |= types.has_nonconstant_format(&instruction?);
    }
    for instruction in stream::instructions(module) {
        rewriter.add(&instruction?)?;
    }
    rewriter.finish()
}

/// The declarations of character types and variables.
#[derive(Debug, Default)]
struct Types {
    /// Imports of `OpenCL.std`.
    instruction_sets: BTreeSet<u32>,
    characters: BTreeSet<u32>,
    arrays: BTreeSet<u32>,
    /// Storage class and pointee.
    pointers: BTreeMap<u32, (u32, u32)>,
    /// Variables of character arrays.
    formats: BTreeSet<u32>,
    /// Variables of character arrays in constant memory.
    constant_formats: BTreeSet<u32>,
}

impl Types {
    fn read(module: &[u8]) -> Result<Types, Error> {
        let mut types = Types::default();
        for instruction in stream::instructions(module) {
            let instruction = instruction?;
            if instruction.opcode == OP_FUNCTION {
                break;
            }
            types.add(&instruction)?;
        }
        Ok(types)
    }

    fn add(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        match instruction.opcode {
            OP_EXT_INST_IMPORT if instruction.text(1)?.0 == "OpenCL.std" => {
                self.instruction_sets.insert(instruction.word(0)?);
            }
            OP_TYPE_INT if instruction.word(1)? == 8 => {
                self.characters.insert(instruction.word(0)?);
            }
            OP_TYPE_ARRAY if self.characters.contains(&instruction.word(1)?) => {
                self.arrays.insert(instruction.word(0)?);
            }
            OP_TYPE_POINTER => {
                let pointer = (instruction.word(1)?, instruction.word(2)?);
                self.pointers.insert(instruction.word(0)?, pointer);
            }
            OP_VARIABLE => {
                if let Some((class, pointee)) = self.pointers.get(&instruction.word(0)?)
                    && self.arrays.contains(pointee)
                {
                    self.formats.insert(instruction.word(1)?);
                    if *class == UNIFORM_CONSTANT {
                        self.constant_formats.insert(instruction.word(1)?);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A pointer to characters in constant memory.
    fn character_pointer(&self) -> Option<u32> {
        for (id, (class, pointee)) in &self.pointers {
            if *class == UNIFORM_CONSTANT && self.characters.contains(pointee) {
                return Some(*id);
            }
        }
        None
    }

    /// Whether the instruction is a printf with a format outside constant memory.
    fn has_nonconstant_format(&self, instruction: &Instruction<'_>) -> bool {
        self.format(instruction).is_some_and(|format| !self.constant_formats.contains(&format))
    }

    /// The format of a printf, if it is an array.
    fn array_format(&self, instruction: &Instruction<'_>) -> Option<u32> {
        self.format(instruction).filter(|format| self.formats.contains(format))
    }

    /// The format of a printf.
    fn format(&self, instruction: &Instruction<'_>) -> Option<u32> {
        let is_printf = instruction.opcode == OP_EXT_INST
            && self.instruction_sets.contains(&instruction.word(2).ok()?)
            && instruction.word(3) == Ok(PRINTF);
        if is_printf { instruction.word(4).ok() } else { None }
    }
}

struct Rewriter<'a> {
    types: &'a Types,
    out: Writer,
    pointer: Option<u32>,
    needs_extension: bool,
    changed: u64,
}

impl<'a> Rewriter<'a> {
    fn new(module: &[u8], types: &'a Types) -> Result<Rewriter<'a>, Error> {
        Ok(Rewriter {
            types,
            out: Writer::new(module)?,
            pointer: types.character_pointer(),
            needs_extension: false,
            changed: 0,
        })
    }

    fn add(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if instruction.opcode == OP_FUNCTION && self.pointer.is_none() {
            self.declare_pointer()?;
        }
        if instruction.opcode == OP_EXTENSION && !self.needs_extension && instruction.text(0)?.0 == RELAXED {
            self.changed = self.changed.saturating_add(1);
            return Ok(());
        }
        match (self.types.array_format(instruction), self.pointer) {
            (Some(format), Some(pointer)) => self.cast(instruction, format, pointer),
            _ => {
                self.out.copy(instruction);
                Ok(())
            }
        }
    }

    /// Declares the pointer type, before the first function.
    fn declare_pointer(&mut self) -> Result<(), Error> {
        if let Some(character) = self.types.characters.first() {
            let id = self.out.id()?;
            self.out.put(OP_TYPE_POINTER, &[id, UNIFORM_CONSTANT, *character]);
            self.pointer = Some(id);
        }
        Ok(())
    }

    /// Casts the operand `format` of `printf` to the type `pointer`.
    fn cast(&mut self, printf: &Instruction<'_>, format: u32, pointer: u32) -> Result<(), Error> {
        let id = self.out.id()?;
        self.out.put(OP_BITCAST, &[pointer, id, format]);
        let mut operands = printf.words_from(0);
        if let Some(operand) = operands.get_mut(4) {
            *operand = id;
        }
        self.out.put(OP_EXT_INST, &operands);
        self.changed = self.changed.saturating_add(1);
        Ok(())
    }

    fn finish(self) -> Result<Option<Vec<u8>>, Error> {
        if self.changed == 0 { Ok(None) } else { self.out.finish().map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SAMPLE;
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Ids: 1 the set, 2 char, 3 a length, 4 the array, 5 a pointer to it, 6 the format, 7 void, 8 the result.
    fn module(format: u32) -> Vec<u8> {
        words(
            &[
                [super::super::MAGIC, 0x0001_0200, 0, 9, 0].as_slice(),
                &[
                    5 << 16 | 11,
                    1,
                    u32::from_le_bytes(*b"Open"),
                    u32::from_le_bytes(*b"CL.s"),
                    u32::from_le_bytes(*b"td\0\0"),
                ],
                &[4 << 16 | 21, 2, 8, 0, 4 << 16 | 28, 4, 2, 3, 4 << 16 | 32, 5, 0, 4, 4 << 16 | 59, 5, 6, 0],
                &[5 << 16 | 54, 7, 8, 0, 0, 6 << 16 | 12, 7, 8, 1, 184, format, 1 << 16 | 56],
            ]
            .concat(),
        )
    }

    #[test]
    fn the_format_becomes_a_pointer_to_characters() {
        let rewritten = with_character_formats(&module(6)).unwrap().unwrap();
        let new: Vec<u32> =
            rewritten.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(new[3], 11);
        let end = [
            4 << 16 | 32,
            9,
            0,
            2,
            5 << 16 | 54,
            7,
            8,
            0,
            0,
            4 << 16 | 124,
            9,
            10,
            6,
            6 << 16 | 12,
            7,
            8,
            1,
            184,
            10,
            1 << 16 | 56,
        ];
        assert_eq!(new[new.len() - end.len()..], end);
        assert_eq!(with_character_formats(&rewritten).unwrap(), None);
    }

    #[test]
    fn the_extension_is_dropped_if_all_formats_are_in_constant_memory() {
        let plain = with_character_formats(&module(6)).unwrap();
        assert_eq!(with_character_formats(&with_extension(&module(6))).unwrap(), plain);
        // The format is an argument.
        assert_eq!(with_character_formats(&with_extension(&module(7))).unwrap(), None);
    }

    fn with_extension(module: &[u8]) -> Vec<u8> {
        let name: Vec<u8> = format!("{RELAXED}\0").into_bytes();
        let padded = name.chunks(4).map(|characters| {
            let mut word = [0; 4];
            word[..characters.len()].copy_from_slice(characters);
            u32::from_le_bytes(word)
        });
        let operands: Vec<u32> = padded.collect();
        let first = (operands.len() as u32 + 1) << 16 | u32::from(OP_EXTENSION);
        let extension = words(&[&[first], operands.as_slice()].concat());
        [&module[..20], extension.as_slice(), &module[20..]].concat()
    }

    #[test]
    fn other_modules_stay() {
        assert_eq!(with_character_formats(&module(7)).unwrap(), None);
        assert_eq!(with_character_formats(SAMPLE).unwrap(), None);
        assert!(with_character_formats(&SAMPLE[..50]).is_err());
    }
}
