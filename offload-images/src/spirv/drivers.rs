//! Lowering of instructions that drivers reject.
//!
//! LLVM folds an addition and its overflow comparison into `OpIAddCarry`. Intel's driver of 2022 aborts the process on
//! that instruction and on `OpISubBorrow`. LLVM also writes `OpSelect` of vectors with a scalar condition in every version
//! of SPIR-V: before version 1.4 the condition has to be a vector
//! (<https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#OpSelect>).

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

/// A copy of `module` in which `OpIAddCarry` and `OpISubBorrow` are lowered to arithmetic and comparisons, and vector
/// selects have vector conditions; `None` if it has no such instruction.
///
/// # Errors
/// `module` is no SPIR-V, or has no id left.
pub fn with_portable_instructions(module: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    stream::header(module)?;
    let analysis = Analysis::from_module(module)?;
    if analysis.carries.is_empty() && analysis.selects.is_empty() {
        return Ok(None);
    }
    let mut rewriter =
        Rewriter { out: Writer::new(module)?, added: Declarations::default(), analysis: &analysis };
    for instruction in stream::instructions(module) {
        rewriter.add(&instruction?)?;
    }
    rewriter.out.finish().map(Some)
}

/// An `OpIAddCarry` or `OpISubBorrow`: a structure of the result and the carry or borrow.
#[derive(Clone, Copy, Debug)]
struct CarryOperation {
    opcode: u16,
    left: u32,
    right: u32,
}

/// The instructions to lower, and the types that they use.
#[derive(Debug, Default)]
struct Analysis {
    boolean: Option<u32>,
    /// Width in bits by type id.
    integers: BTreeMap<u32, u32>,
    /// Component type and component count by type id.
    vectors: BTreeMap<u32, (u32, u32)>,
    /// Scalar boolean values.
    conditions: BTreeSet<u32>,
    carries: BTreeMap<u32, CarryOperation>,
    /// The types of carries.
    carry_types: BTreeSet<u32>,
    /// Vector selects with a scalar condition, with the component count.
    selects: BTreeMap<u32, u32>,
}

impl Analysis {
    fn from_module(module: &[u8]) -> Result<Analysis, Error> {
        let mut analysis = Analysis::default();
        for instruction in stream::instructions(module) {
            analysis.visit_definition(&instruction?)?;
        }
        for instruction in stream::instructions(module) {
            analysis.visit_uses(&instruction?)?;
        }
        Ok(analysis)
    }

    fn visit_definition(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        match instruction.opcode {
            OP_NAME | OP_DECORATE => return Ok(()),
            OP_TYPE_BOOL => self.boolean = Some(instruction.word(0)?),
            OP_TYPE_INT => {
                self.integers.insert(instruction.word(0)?, instruction.word(1)?);
            }
            OP_TYPE_VECTOR => {
                let vector = (instruction.word(1)?, instruction.word(2)?);
                self.vectors.insert(instruction.word(0)?, vector);
            }
            opcode @ (OP_I_ADD_CARRY | OP_I_SUB_BORROW) => {
                let operation =
                    CarryOperation { opcode, left: instruction.word(2)?, right: instruction.word(3)? };
                self.carries.insert(instruction.word(1)?, operation);
            }
            OP_SELECT if self.conditions.contains(&instruction.word(2)?) => {
                if let Some((_, count)) = self.vectors.get(&instruction.word(0)?) {
                    self.selects.insert(instruction.word(1)?, *count);
                }
            }
            _ => {}
        }
        // The result type, if any, is the first operand. Ids are unique, so that no other operand equals the id of a type.
        if let (Ok(first), Ok(id)) = (instruction.word(0), instruction.word(1))
            && self.boolean == Some(first)
        {
            self.conditions.insert(id);
        }
        Ok(())
    }

    /// Drops a carry operation that is used as a whole structure, or has vector members.
    fn visit_uses(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if matches!(instruction.opcode, OP_NAME | OP_DECORATE) || self.carries.is_empty() {
            return Ok(());
        }
        if let Some(extract) = Extract::from_instruction(instruction)
            && self.carries.contains_key(&extract.composite)
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

/// An `OpCompositeExtract` of one member.
#[derive(Clone, Copy, Debug)]
struct Extract {
    result_type: u32,
    result: u32,
    composite: u32,
    index: u32,
}

impl Extract {
    fn from_instruction(instruction: &Instruction<'_>) -> Option<Extract> {
        match (instruction.opcode, instruction.words_from(0).as_slice()) {
            (OP_COMPOSITE_EXTRACT, &[result_type, result, composite, index]) => {
                Some(Extract { result_type, result, composite, index })
            }
            _ => None,
        }
    }
}

/// The declarations that lowered code uses: existing or added ones.
#[derive(Debug, Default)]
struct Declarations {
    is_complete: bool,
    boolean: u32,
    /// Boolean vectors by component count.
    vectors: BTreeMap<u32, u32>,
    /// One and zero by type.
    constants: BTreeMap<u32, (u32, u32)>,
}

struct Rewriter<'a> {
    out: Writer,
    added: Declarations,
    analysis: &'a Analysis,
}

impl Rewriter<'_> {
    fn add(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        if instruction.opcode == OP_FUNCTION && !self.added.is_complete {
            self.declare()?;
            self.added.is_complete = true;
        }
        let carries = &self.analysis.carries;
        match instruction.opcode {
            OP_NAME | OP_DECORATE if carries.contains_key(&instruction.word(0)?) => return Ok(()),
            OP_I_ADD_CARRY | OP_I_SUB_BORROW if carries.contains_key(&instruction.word(1)?) => return Ok(()),
            OP_SELECT => return self.select(instruction),
            _ => {}
        }
        if let Some(extract) = Extract::from_instruction(instruction)
            && let Some(carry) = carries.get(&extract.composite)
        {
            return self.lower_extract(extract, *carry);
        }
        self.out.copy(instruction);
        Ok(())
    }

    /// Adds the missing types and constants. All of them precede the first function, and only structure types may be
    /// declared twice.
    fn declare(&mut self) -> Result<(), Error> {
        self.added.boolean = match self.analysis.boolean {
            Some(id) => id,
            None => {
                let id = self.out.id()?;
                self.out.put(OP_TYPE_BOOL, &[id]);
                id
            }
        };
        let counts: BTreeSet<u32> = self.analysis.selects.values().copied().collect();
        for count in counts {
            let vector = (self.added.boolean, count);
            let declared = self.analysis.vectors.iter().find(|(_, it)| **it == vector);
            let id = match declared {
                Some((id, _)) => *id,
                None => {
                    let id = self.out.id()?;
                    self.out.put(OP_TYPE_VECTOR, &[id, self.added.boolean, count]);
                    id
                }
            };
            self.added.vectors.insert(count, id);
        }
        for carry_type in &self.analysis.carry_types {
            let one = self.out.id()?;
            let zero = self.out.id()?;
            let is_long = self.analysis.integers.get(carry_type).is_some_and(|bits| *bits > 32);
            for (id, value) in [(one, 1), (zero, 0)] {
                let words = [*carry_type, id, value, 0];
                self.out.put(OP_CONSTANT, if is_long { &words } else { &words[..3] });
            }
            self.added.constants.insert(*carry_type, (one, zero));
        }
        Ok(())
    }

    /// Lowers a member of a carry operation: member 0 to the arithmetic, member 1 to an unsigned comparison.
    fn lower_extract(&mut self, extract: Extract, carry: CarryOperation) -> Result<(), Error> {
        let Extract { result_type, result, index, .. } = extract;
        let CarryOperation { opcode, left, right } = carry;
        let Some((one, zero)) = self.added.constants.get(&result_type).copied() else { return Ok(()) };
        let is_sum = opcode == OP_I_ADD_CARRY;
        if index == 0 {
            let operation = if is_sum { OP_I_ADD } else { OP_I_SUB };
            self.out.put(operation, &[result_type, result, left, right]);
            return Ok(());
        }
        let less = self.out.id()?;
        if is_sum {
            let sum = self.out.id()?;
            self.out.put(OP_I_ADD, &[result_type, sum, left, right]);
            self.out.put(OP_U_LESS_THAN, &[self.added.boolean, less, sum, left]);
        } else {
            self.out.put(OP_U_LESS_THAN, &[self.added.boolean, less, left, right]);
        }
        self.out.put(OP_SELECT, &[result_type, result, less, one, zero]);
        Ok(())
    }

    /// Splats the scalar condition of a vector select.
    fn select(&mut self, instruction: &Instruction<'_>) -> Result<(), Error> {
        let mut operands = instruction.words_from(0);
        let count = self.analysis.selects.get(&instruction.word(1)?).copied();
        let vector = count.and_then(|count| self.added.vectors.get(&count).copied());
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

    /// Ids: 1 ulong, 2 the structure, 3 and 4 operands, 5 the result, 6 and 7 its members.
    fn carry(opcode: u16, user: Vec<u32>) -> Vec<u8> {
        let instructions = [
            instruction(OP_NAME, &[5, 0]),
            instruction(OP_TYPE_INT, &[1, 64, 0]),
            instruction(OP_FUNCTION, &[1, 8, 0, 9]),
            instruction(opcode, &[2, 5, 3, 4]),
            instruction(OP_COMPOSITE_EXTRACT, &[1, 6, 5, 0]),
            instruction(OP_COMPOSITE_EXTRACT, &[1, 7, 5, 1]),
            user,
        ];
        module(10, &instructions)
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

    /// Ids: 1 bool, 2 float, 3 the vector, 4 a condition, 5 and 6 vectors, 7 the result.
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
    fn vector_selects_get_vector_conditions() {
        let rewritten = with_portable_instructions(&module(10, &select(4))).unwrap().unwrap();
        let mut expected = select(11);
        expected.insert(2, instruction(OP_TYPE_VECTOR, &[10, 1, 4]));
        expected.insert(5, instruction(OP_COMPOSITE_CONSTRUCT, &[10, 11, 4, 4, 4, 4]));
        assert_eq!(rewritten, module(12, &expected));
        assert_eq!(with_portable_instructions(&rewritten).unwrap(), None);
        // A vector condition.
        assert_eq!(with_portable_instructions(&module(10, &select(6))).unwrap(), None);
    }

    #[test]
    fn other_modules_stay() {
        assert_eq!(with_portable_instructions(SAMPLE).unwrap(), None);
        assert!(with_portable_instructions(&SAMPLE[..50]).is_err());
    }
}
