//! Statements to code, each by the module of its kind.

use super::body::Body;
use super::template::{Instruction, Operand, Statement};
use super::types::Type;
use super::{arithmetic, bits, conversion, memory, special, warp};

/// Adds the code of a statement; `None` for one that is not known.
pub(super) fn lower(body: &mut Body, statement: &Statement) -> Option<()> {
    match statement {
        Statement::Open => body.open_scope(),
        Statement::Close => body.close_scope()?,
        Statement::Registers { suffix, names } => body.declare(names, Type::from_suffix(suffix)?.size())?,
        Statement::Instruction(instruction) => {
            for operand in &instruction.operands {
                define_special(body, operand)?;
            }
            body.set_guard(instruction.guard.as_ref())?;
            lower_instruction(body, instruction)?;
        }
    }
    Some(())
}

fn lower_instruction(body: &mut Body, instruction: &Instruction) -> Option<()> {
    match instruction.name.as_str() {
        "add" | "addc" | "sub" | "subc" | "mul" | "mad" | "madc" | "fma" | "div" | "rcp" | "sqrt"
        | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" | "abs" | "neg" | "min" | "max" | "sad"
        | "dp4a" | "copysign" => arithmetic::lower(body, instruction),
        "and" | "or" | "xor" | "not" | "cnot" | "shl" | "shr" | "shf" | "lop3" | "prmt" | "bfe" | "bfi"
        | "bfind" | "brev" | "popc" | "clz" | "setp" | "set" | "selp" | "mov" => {
            bits::lower(body, instruction)
        }
        "cvt" | "cvta" => conversion::lower(body, instruction),
        "shfl" | "vote" | "ldmatrix" | "mma" => warp::lower(body, instruction),
        _ => memory::lower(body, instruction),
    }
}

/// Defines the registers of the machine in an operand, but for those that the text has declared.
fn define_special(body: &mut Body, operand: &Operand) -> Option<()> {
    match operand {
        Operand::Special(name) if !body.is_declared(name) => {
            let value = special::value(body, name)?;
            body.define(name, value)
        }
        Operand::Address { base, .. } => define_special(body, base),
        Operand::List(list) => {
            for part in list {
                define_special(body, part)?;
            }
            Some(())
        }
        _ => Some(()),
    }
}
