//! The SPIR-V id filter: delta coding of ids.
//!
//! Equal instructions of two modules differ in their ids alone. Each result id becomes its difference to the previous
//! result id, each id operand the difference of the instruction's result id and the operand; in an instruction without a
//! result the previous result id takes its place. Names and decorations contain the difference to the previous target. All
//! arithmetic is modulo 2³², so that the inverse is exact for any words. First words of instructions are kept, and so are
//! the operands of unknown opcodes. SPIR-V 1.6, section 2.3,
//! <https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>.

mod shape;

use self::shape::{Shape, Target};
use crate::{Error, ErrorKind};

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 20;

/// Applies the filter; `None` if `image` is not a little-endian SPIR-V module.
pub(super) fn forward(image: &[u8]) -> Option<Vec<u8>> {
    let mut out = super::memory::copy(image);
    transform(&mut out, DeltaCoder { direction: Direction::Forward, result: 0, target: 0 }).ok()?;
    Some(out)
}

/// Inverts the filter.
pub(super) fn inverse(mut content: Vec<u8>) -> Result<Vec<u8>, Error> {
    transform(&mut content, DeltaCoder { direction: Direction::Inverse, result: 0, target: 0 })?;
    Ok(content)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Inverse,
}

/// The previous ids, to which differences are relative.
struct DeltaCoder {
    direction: Direction,
    result: u32,
    target: u32,
}

fn transform(module: &mut [u8], mut coder: DeltaCoder) -> Result<(), Error> {
    if !module.len().is_multiple_of(4)
        || module.first_chunk().map(|word| u32::from_le_bytes(*word)) != Some(MAGIC)
    {
        return Err(ErrorKind::Magic { what: "a SPIR-V module" }.into());
    }
    let mut rest = module.get_mut(HEADER..).ok_or_else(damaged)?;
    while let Some(first) = rest.first_chunk().map(|word| u32::from_le_bytes(*word)) {
        let words = (first >> 16) as usize;
        let (instruction, tail) = rest.split_at_mut_checked(words.saturating_mul(4)).ok_or_else(damaged)?;
        let (_, operands) = instruction.split_at_mut_checked(4).ok_or_else(damaged)?;
        coder.instruction(operands, Shape::for_opcode(first & 0xffff));
        rest = tail;
    }
    Ok(())
}

impl DeltaCoder {
    fn instruction(&mut self, operands: &mut [u8], shape: Shape) {
        let mut words = operands.chunks_exact_mut(4);
        match shape.target {
            Target::None => {}
            Target::Annotated => {
                if let Some(word) = words.next() {
                    self.target = self.step(word, self.target);
                }
                return;
            }
            Target::Result => {
                if let Some(word) = words.next() {
                    self.result = self.step(word, self.result);
                }
            }
            Target::TypedResult => {
                let result_type = words.next();
                if let Some(word) = words.next() {
                    self.result = self.step(word, self.result);
                }
                if let Some(word) = result_type {
                    self.operand(word);
                }
            }
        }
        for (index, word) in words.enumerate() {
            if shape.is_id(index) {
                self.operand(word);
            }
        }
    }

    /// Replaces an id by its difference to `previous` or back, and returns the id.
    fn step(&self, word: &mut [u8], previous: u32) -> u32 {
        let value = read(word);
        let (id, output) = match self.direction {
            Direction::Forward => (value, value.wrapping_sub(previous)),
            Direction::Inverse => (value.wrapping_add(previous), value.wrapping_add(previous)),
        };
        word.copy_from_slice(&output.to_le_bytes());
        id
    }

    /// Replaces an operand by its difference to the result or back: the subtraction is its own inverse.
    fn operand(&self, word: &mut [u8]) {
        let difference = self.result.wrapping_sub(read(word));
        word.copy_from_slice(&difference.to_le_bytes());
    }
}

fn read(word: &[u8]) -> u32 {
    word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "an instruction of the SPIR-V module" }.into()
}
