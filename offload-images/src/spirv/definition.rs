//! The named definition around an instruction, which a validator reports by number.

use std::collections::{BTreeMap, BTreeSet};

use super::stream::{self, Instruction, OP_FUNCTION, OP_FUNCTION_END, OP_NAME};
use offload_format::Error;

const OP_CONSTANT_COMPOSITE: u16 = 44;
const OP_SPEC_CONSTANT_COMPOSITE: u16 = 51;
const OP_SPEC_CONSTANT_OP: u16 = 52;
const OP_VARIABLE: u16 = 59;

/// A named definition of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Definition {
    /// A module-scope variable with its initializer.
    Variable(String),
    /// A function with its body.
    Function(String),
}

/// The definition that contains the instruction `number`, counted from 1; `None` if there is none, or it has no name.
/// `spirv-val` calls the number a line.
///
/// Names are those of `OpName` (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpName>).
///
/// ```
/// use offload_images::spirv::{Definition, definition_at};
///
/// // `OpName %1 "k"`, `OpFunction %2 %1 None %3`, `OpFunctionEnd`
/// let header = [0x0723_0203, 0x0001_0000, 0, 4, 0];
/// let words = [3 << 16 | 5, 1, 0x6b, 5 << 16 | 54, 2, 1, 0, 3, 1 << 16 | 56];
/// let module: Vec<u8> = header.iter().chain(&words).flat_map(|word: &u32| word.to_le_bytes()).collect();
/// assert_eq!(definition_at(&module, 3)?, Some(Definition::Function("k".to_string())));
/// assert_eq!(definition_at(&module, 4)?, None);
/// # Ok::<(), offload_format::Error>(())
/// ```
///
/// # Errors
/// A module that is truncated or has no header.
pub fn definition_at(module: &[u8], number: u64) -> Result<Option<Definition>, Error> {
    stream::header(module)?;
    let mut search = Search::default();
    for (index, instruction) in (1..).zip(stream::instructions(module)) {
        let instruction = instruction?;
        if index == number
            && let Some(function) = search.function
        {
            return Ok(search.name(function).map(Definition::Function));
        }
        if let Some(variable) = search.visit(&instruction, index == number)? {
            return Ok(search.name(variable).map(Definition::Variable));
        }
    }
    Ok(None)
}

#[derive(Default)]
struct Search {
    names: BTreeMap<u32, String>,
    /// The current function.
    function: Option<u32>,
    /// The constants that contain the instruction.
    constants: BTreeSet<u32>,
}

impl Search {
    /// Returns the variable whose initializer contains the wanted instruction, once it comes.
    fn visit(&mut self, instruction: &Instruction<'_>, is_wanted: bool) -> Result<Option<u32>, Error> {
        match instruction.opcode {
            OP_NAME => {
                let (name, _) = instruction.text(1)?;
                self.names.insert(instruction.word(0)?, name.to_string());
            }
            OP_FUNCTION => self.function = Some(instruction.word(1)?),
            OP_FUNCTION_END => self.function = None,
            OP_CONSTANT_COMPOSITE | OP_SPEC_CONSTANT_COMPOSITE | OP_SPEC_CONSTANT_OP | OP_VARIABLE => {
                let result = instruction.word(1)?;
                let mut operands = instruction.words_from(2).into_iter();
                if is_wanted || operands.any(|operand| self.constants.contains(&operand)) {
                    self.constants.insert(result);
                    return Ok((instruction.opcode == OP_VARIABLE).then_some(result));
                }
            }
            _ => {}
        }
        Ok(None)
    }

    fn name(&self, id: u32) -> Option<String> {
        self.names.get(&id).filter(|name| !name.is_empty()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAGIC;
    use super::*;

    fn module(instructions: &[(u16, &[u32])]) -> Vec<u8> {
        let mut words = vec![MAGIC, 0x0001_0400, 0, 100, 0];
        for (opcode, operands) in instructions {
            let count = u32::try_from(operands.len() + 1).unwrap();
            words.push(count << 16 | u32::from(*opcode));
            words.extend_from_slice(operands);
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn text(name: [u8; 4]) -> u32 {
        u32::from_le_bytes(name)
    }

    #[test]
    fn initializers_are_part_of_their_variables() {
        let module = module(&[
            (OP_NAME, &[45, text(*b"tab\0")]),
            (OP_NAME, &[50, text(*b"fun\0")]),
            (OP_SPEC_CONSTANT_OP, &[12, 41, 124, 36]),
            (OP_CONSTANT_COMPOSITE, &[14, 44, 41, 42]),
            (OP_VARIABLE, &[19, 45, 0, 44]),
            (OP_VARIABLE, &[19, 46, 0]),
            (OP_FUNCTION, &[1, 50, 0, 2]),
            (253, &[]),
            (OP_FUNCTION_END, &[]),
        ]);
        let table = Some(Definition::Variable("tab".to_string()));
        for number in 3..=5 {
            assert_eq!(definition_at(&module, number).unwrap(), table, "{number}");
        }
        assert_eq!(definition_at(&module, 8).unwrap(), Some(Definition::Function("fun".to_string())));
        for number in [0, 1, 6, 100] {
            assert_eq!(definition_at(&module, number).unwrap(), None, "{number}");
        }
        assert!(definition_at(&module[..module.len() - 3], 100).is_err());
        assert!(definition_at(b"none", 1).is_err());
    }
}
