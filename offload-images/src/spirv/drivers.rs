//! Instructions that drivers refuse, as others.
//!
//! LLVM makes `OpIAddCarry` of a sum that is compared with a summand. Intel's driver of 2022 ends its process over one, and
//! over `OpISubBorrow`. And LLVM chooses between vectors by one truth value in every version of SPIR-V: before version 1.4
//! the choice has to be a vector, too (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpSelect>).

use std::collections::{BTreeMap, BTreeSet};

use super::stream::{self, Instruction, OP_DECORATE, OP_FUNCTION, OP_NAME, OP_TYPE_INT, Writer};
use offload_format::Error;

const OP_TYPE_BOOL: u16 = 20;
const OP_TYPE_VECTOR: u16 = 23;
const OP_CONSTANT: u16 = 43;
const OP_COMPOSITE_CONSTRUCT: u16 = 80;
const OP_COMPOSITE_EXTRACT: u16 = 81;
const OP_I_ADD: u16 = 128;
const OP_I_SUB: u16 = 130;
const OP_I_ADD_CARRY: u16 = 149;
const OP_I_SUB_BORROW: u16 = 150;
const OP_SELECT: u16 = 169;
const OP_U_LESS_THAN: u16 = 176;

/// A copy of `module` whose sums and differences with a carry are sums, differences and comparisons, and whose choices
/// between vectors are made by vectors; `None` if it has neither.
///
/// # Errors
/// `module` is no SPIR-V, or has no id left.
pub fn with_portable_instructions(module: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    stream::header(module)?;
    let found = Found::read(module)?;
    if found.carries.is_empty() && found.selects.is_empty() {
        return Ok(None);
    }
    let mut rewriter = Rewriter { out: Writer::new(module)?, made: Made::default(), found: &found };
    for instruction in stream::instructions(module) {
        rewriter.add(&instruction?)?;
    }
    rewriter.out.finish().map(Some)
}

/// A sum or a difference, of which the second part is its carry or borrow.
#[derive(Clone, Copy, Debug)]
struct Carry {
    opcode: u16,
    left: u32,
    right: u32,
}

/// What is to be rewritten, and the types for it.
#[derive(Debug, Default)]
struct Found {
    boolean: Option<u32>,
    /// Bits by type.
    integers: BTreeMap<u32, u32>,
    /// Type of a component and number of them by type.
    vectors: BTreeMap<u32, (u32, u32)>,
    /// Scalar truth values.
    conditions: BTreeSet<u32>,
    carries: BTreeMap<u32, Carry>,
    /// The types of carries.
    carry_types: BTreeSet<u32>,
    /// Choices between vectors by one truth value, with the number of components.
    selects: BTreeMap<u32, u32>,
}

impl Found {
    fn read(module: &[u8]) -> Result<Found, Error> {
        let mut found = Found::default();
        for instruction in stream::instructions(module) {
            found.add(&instruction?)?;
        }
        for instruction in stream::instructions(module) {
            found.add_use(&instruction?)?;
        }
        Ok(found)
    }

    fn add(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let word = |index| instruction.word(index);
        match instruction.opcode {
            OP_NAME | OP_DECORATE => return Ok(()),
            OP_TYPE_BOOL => self.boolean = Some(word(0)?),
            OP_TYPE_INT => {
                self.integers.insert(word(0)?, word(1)?);
            }
            OP_TYPE_VECTOR => {
                self.vectors.insert(word(0)?, (word(1)?, word(2)?));
            }
            opcode @ (OP_I_ADD_CARRY | OP_I_SUB_BORROW) => {
                self.carries.insert(word(1)?, Carry { opcode, left: word(2)?, right: word(3)? });
            }
            OP_SELECT if self.conditions.contains(&word(2)?) => {
                if let Some((_, count)) = self.vectors.get(&word(0)?) {
                    self.selects.insert(word(1)?, *count);
                }
            }
            _ => {}
        }
        // Where there is a type of the result it is first, and an id is of one thing.
        if let (Ok(first), Ok(id)) = (word(0), word(1))
            && self.boolean == Some(first)
        {
            self.conditions.insert(id);
        }
        Ok(())
    }

    /// Keeps a carry as it is that is used as a whole, or whose parts are vectors.
    fn add_use(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if matches!(instruction.opcode, OP_NAME | OP_DECORATE) || self.carries.is_empty() {
            return Ok(());
        }
        if let Some((_, _, of)) = part(instruction)
            && self.carries.contains_key(&of)
        {
            let carry_type = instruction.word(0)?;
            if self.integers.contains_key(&carry_type) {
                self.carry_types.insert(carry_type);
                return Ok(());
            }
        }
        let is_definition = matches!(instruction.opcode, OP_I_ADD_CARRY | OP_I_SUB_BORROW);
        for id in instruction.words_from(if is_definition { 2 } else { 0 }) {
            self.carries.remove(&id);
        }
        Ok(())
    }
}

/// Result, number and whole of an instruction that takes one part of something.
fn part(instruction: &Instruction<'_>) -> Option<(u32, u32, u32)> {
    match (instruction.opcode, instruction.words_from(1).as_slice()) {
        (OP_COMPOSITE_EXTRACT, &[result, whole, number]) => Some((result, number, whole)),
        _ => None,
    }
}

/// Types and constants that were added, or found.
#[derive(Debug, Default)]
struct Made {
    is_complete: bool,
    boolean: u32,
    /// Vectors of truth values by the number of components.
    vectors: BTreeMap<u32, u32>,
    /// One and zero by type.
    constants: BTreeMap<u32, (u32, u32)>,
}

struct Rewriter<'a> {
    out: Writer,
    made: Made,
    found: &'a Found,
}

impl Rewriter<'_> {
    fn add(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if instruction.opcode == OP_FUNCTION && !self.made.is_complete {
            self.declare()?;
            self.made.is_complete = true;
        }
        match instruction.opcode {
            OP_NAME | OP_DECORATE if self.found.carries.contains_key(&instruction.word(0)?) => {}
            OP_I_ADD_CARRY | OP_I_SUB_BORROW if self.found.carries.contains_key(&instruction.word(1)?) => {}
            OP_SELECT => self.select(instruction)?,
            _ => match part(instruction) {
                Some((result, number, whole)) if self.found.carries.contains_key(&whole) => {
                    let carry = self.found.carries.get(&whole).copied();
                    self.part_of_carry(instruction.word(0)?, result, number, carry)?;
                }
                _ => self.out.copy(instruction),
            },
        }
        Ok(())
    }

    /// Types and constants stand before the first function. A type that is no structure may be declared once.
    fn declare(&mut self) -> Result<(), Error> {
        self.made.boolean = match self.found.boolean {
            Some(id) => id,
            None => {
                let id = self.out.id()?;
                self.out.put(OP_TYPE_BOOL, &[id]);
                id
            }
        };
        let counts: BTreeSet<u32> = self.found.selects.values().copied().collect();
        for count in counts {
            let vector = (self.made.boolean, count);
            let declared = self.found.vectors.iter().find(|(_, it)| **it == vector);
            let id = match declared {
                Some((id, _)) => *id,
                None => {
                    let id = self.out.id()?;
                    self.out.put(OP_TYPE_VECTOR, &[id, self.made.boolean, count]);
                    id
                }
            };
            self.made.vectors.insert(count, id);
        }
        for carry_type in &self.found.carry_types {
            let (one, zero) = (self.out.id()?, self.out.id()?);
            let is_long = self.found.integers.get(carry_type).is_some_and(|bits| *bits > 32);
            for (id, value) in [(one, 1), (zero, 0)] {
                let words = [*carry_type, id, value, 0];
                self.out.put(OP_CONSTANT, if is_long { &words } else { &words[..3] });
            }
            self.made.constants.insert(*carry_type, (one, zero));
        }
        Ok(())
    }

    fn part_of_carry(
        &mut self,
        of: u32,
        result: u32,
        number: u32,
        carry: Option<Carry>,
    ) -> Result<(), Error> {
        let (Some(Carry { opcode, left, right }), Some((one, zero))) =
            (carry, self.made.constants.get(&of).copied())
        else {
            return Ok(());
        };
        let is_sum = opcode == OP_I_ADD_CARRY;
        let operation = if is_sum { OP_I_ADD } else { OP_I_SUB };
        if number == 0 {
            self.out.put(operation, &[of, result, left, right]);
            return Ok(());
        }
        let less = self.out.id()?;
        if is_sum {
            let sum = self.out.id()?;
            self.out.put(OP_I_ADD, &[of, sum, left, right]);
            self.out.put(OP_U_LESS_THAN, &[self.made.boolean, less, sum, left]);
        } else {
            self.out.put(OP_U_LESS_THAN, &[self.made.boolean, less, left, right]);
        }
        self.out.put(OP_SELECT, &[of, result, less, one, zero]);
        Ok(())
    }

    fn select(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let mut operands = instruction.words_from(0);
        let count = self.found.selects.get(&instruction.word(1)?).copied();
        let vector = count.and_then(|count| self.made.vectors.get(&count).copied());
        let (Some(count), Some(vector), Some(condition)) = (count, vector, operands.get_mut(2)) else {
            self.out.copy(instruction);
            return Ok(());
        };
        let id = self.out.id()?;
        let mut components = vec![vector, id];
        components.extend((0..count).map(|_| *condition));
        *condition = id;
        self.out.put(OP_COMPOSITE_CONSTRUCT, &components);
        self.out.put(OP_SELECT, &operands);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SAMPLE;
    use super::*;

    fn instruction(opcode: u16, operands: &[u32]) -> Vec<u32> {
        [&[(operands.len() as u32 + 1) << 16 | u32::from(opcode)], operands].concat()
    }

    fn module(bound: u32, instructions: &[Vec<u32>]) -> Vec<u8> {
        let header = vec![super::super::MAGIC, 0x0001_0200, 0, bound, 0];
        let words = [header, instructions.concat()].concat();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Ids: 1 ulong, 2 the structure, 3 and 4 summands, 5 the result, 6 and 7 its parts.
    fn carry(opcode: u16, user: Vec<u32>) -> Vec<u8> {
        let parts = [
            instruction(OP_NAME, &[5, 0]),
            instruction(OP_TYPE_INT, &[1, 64, 0]),
            instruction(OP_FUNCTION, &[1, 8, 0, 9]),
            instruction(opcode, &[2, 5, 3, 4]),
            instruction(OP_COMPOSITE_EXTRACT, &[1, 6, 5, 0]),
            instruction(OP_COMPOSITE_EXTRACT, &[1, 7, 5, 1]),
            user,
        ];
        module(10, &parts)
    }

    #[test]
    fn carries_are_comparisons() {
        let rewritten = with_portable_instructions(&carry(OP_I_ADD_CARRY, vec![])).unwrap().unwrap();
        let expected = [
            instruction(OP_TYPE_INT, &[1, 64, 0]),
            instruction(OP_TYPE_BOOL, &[10]),
            instruction(OP_CONSTANT, &[1, 11, 1, 0]),
            instruction(OP_CONSTANT, &[1, 12, 0, 0]),
            instruction(OP_FUNCTION, &[1, 8, 0, 9]),
            instruction(OP_I_ADD, &[1, 6, 3, 4]),
            instruction(OP_I_ADD, &[1, 14, 3, 4]),
            instruction(OP_U_LESS_THAN, &[10, 13, 14, 3]),
            instruction(OP_SELECT, &[1, 7, 13, 11, 12]),
        ];
        assert_eq!(rewritten, module(15, &expected));
        assert_eq!(with_portable_instructions(&rewritten).unwrap(), None);

        let rewritten = with_portable_instructions(&carry(OP_I_SUB_BORROW, vec![])).unwrap().unwrap();
        let end = [
            instruction(OP_I_SUB, &[1, 6, 3, 4]),
            instruction(OP_U_LESS_THAN, &[10, 13, 3, 4]),
            instruction(OP_SELECT, &[1, 7, 13, 11, 12]),
        ];
        let end = module(0, &end);
        assert!(rewritten.ends_with(&end[super::super::HEADER_SIZE as usize..]));
    }

    #[test]
    fn a_carry_that_is_used_as_a_whole_stays() {
        let store = instruction(62, &[9, 5]);
        assert_eq!(with_portable_instructions(&carry(OP_I_ADD_CARRY, store)).unwrap(), None);
    }

    /// Ids: 1 bool, 2 float, 3 the vector, 4 a condition, 5 and 6 vectors, 7 the choice.
    fn select(condition: u32) -> Vec<Vec<u32>> {
        vec![
            instruction(OP_TYPE_BOOL, &[1]),
            instruction(OP_TYPE_VECTOR, &[3, 2, 4]),
            instruction(OP_FUNCTION, &[2, 8, 0, 9]),
            instruction(OP_U_LESS_THAN, &[1, 4, 9, 9]),
            instruction(OP_SELECT, &[3, 7, condition, 5, 6]),
            instruction(OP_SELECT, &[2, 8, 4, 5, 6]),
        ]
    }

    #[test]
    fn choices_between_vectors_are_made_by_vectors() {
        let rewritten = with_portable_instructions(&module(10, &select(4))).unwrap().unwrap();
        let mut expected = select(11);
        expected.insert(2, instruction(OP_TYPE_VECTOR, &[10, 1, 4]));
        expected.insert(5, instruction(OP_COMPOSITE_CONSTRUCT, &[10, 11, 4, 4, 4, 4]));
        assert_eq!(rewritten, module(12, &expected));
        assert_eq!(with_portable_instructions(&rewritten).unwrap(), None);
        // A vector by a vector.
        assert_eq!(with_portable_instructions(&module(10, &select(6))).unwrap(), None);
    }

    #[test]
    fn other_modules_stay() {
        assert_eq!(with_portable_instructions(SAMPLE).unwrap(), None);
        assert!(with_portable_instructions(&SAMPLE[..50]).is_err());
    }
}
