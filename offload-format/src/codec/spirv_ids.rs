//! Ids of SPIR-V as differences.
//!
//! Instructions of two modules that do the same differ in their ids alone. Each id operand becomes the instruction's
//! result id less the operand, each result id its step from the last one; in instructions without a result the last
//! one stands for it. Names and decorations hold the step from the target before. All of it modulo 2³², so that the
//! way back is exact whatever the words are. First words of instructions stay, and what is not known of an opcode
//! stays too. SPIR-V 1.6, section 2.3, <https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html>.

mod shape;

use self::shape::{Shape, Target};
use crate::{Error, ErrorKind};

const MAGIC: u32 = 0x0723_0203;
const HEADER: usize = 20;

/// The module with its ids as differences; `None` if it is no little-endian SPIR-V module.
pub(super) fn forward(image: &[u8]) -> Option<Vec<u8>> {
    let mut out = super::memory::copied(image);
    walk(&mut out, Walk { way: Way::Forward, result: 0, target: 0 }).ok()?;
    Some(out)
}

/// The way back.
pub(super) fn inverse(mut content: Vec<u8>) -> Result<Vec<u8>, Error> {
    walk(&mut content, Walk { way: Way::Back, result: 0, target: 0 })?;
    Ok(content)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Back,
}

/// The ids that differences are counted from.
struct Walk {
    way: Way,
    result: u32,
    target: u32,
}

fn walk(module: &mut [u8], mut walk: Walk) -> Result<(), Error> {
    if !module.len().is_multiple_of(4)
        || module.first_chunk().map(|word| u32::from_le_bytes(*word)) != Some(MAGIC)
    {
        return Err(ErrorKind::Magic { what: "a SPIR-V module" }.into());
    }
    let mut rest = module.get_mut(HEADER..).ok_or_else(damaged)?;
    while let Some(first) = rest.first_chunk().map(|word| u32::from_le_bytes(*word)) {
        let words = (first >> 16) as usize;
        let (instruction, behind) = rest.split_at_mut_checked(words.saturating_mul(4)).ok_or_else(damaged)?;
        let (_, operands) = instruction.split_at_mut_checked(4).ok_or_else(damaged)?;
        walk.instruction(operands, shape::of(first & 0xffff));
        rest = behind;
    }
    Ok(())
}

impl Walk {
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
                let kind = words.next();
                if let Some(word) = words.next() {
                    self.result = self.step(word, self.result);
                }
                kind.into_iter().for_each(|word| self.operand(word));
            }
        }
        words.enumerate().filter(|(index, _)| shape.is_id(*index)).for_each(|(_, word)| self.operand(word));
    }

    /// Turns an id into its step from `before` or back, and returns the id.
    fn step(&self, word: &mut [u8], before: u32) -> u32 {
        let value = read(word);
        let (id, written) = match self.way {
            Way::Forward => (value, value.wrapping_sub(before)),
            Way::Back => (value.wrapping_add(before), value.wrapping_add(before)),
        };
        word.copy_from_slice(&written.to_le_bytes());
        id
    }

    /// Turns an operand into its distance from the result or back: both ways are the same subtraction.
    fn operand(&self, word: &mut [u8]) {
        let other = self.result.wrapping_sub(read(word));
        word.copy_from_slice(&other.to_le_bytes());
    }
}

fn read(word: &[u8]) -> u32 {
    word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}

fn damaged() -> Error {
    ErrorKind::Damaged { what: "an instruction of the SPIR-V module" }.into()
}
