//! Operations on bits, comparisons, and moves
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#logic-and-shift-instructions>).

use super::body::{Body, Value};
use super::template::{Instruction, Operand};
use super::types::{Form, Kind, Type};

pub(super) fn lower(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let of = Type::from_suffix(instruction.suffixes.last()?)?;
    match instruction.name.as_str() {
        "mov" => return move_value(body, instruction, of),
        "setp" => return set_predicate(body, instruction, of),
        "set" => return set(body, instruction, of),
        "selp" => return select(body, instruction, of),
        "shf" => return funnel_shift(body, instruction, of),
        "prmt" => return permute(body, instruction, of),
        "lop3" if instruction.suffixes.len() == 1 => return logic_of_three(body, instruction, of),
        "bfind" => return find_bit(body, instruction, of),
        _ if instruction.suffixes.len() != 1 => return None,
        _ => {}
    }
    let a = body.source(instruction, 1, of)?;
    let value = match instruction.name.as_str() {
        "and" | "or" | "xor" => {
            let b = body.source(instruction, 2, of)?;
            body.binary(&instruction.name, &a, &b)
        }
        "not" => body.binary("xor", &a, &Value::constant(a.form, -1)),
        "cnot" => {
            let is_zero = body.compare("eq", &a, &Value::constant(a.form, 0));
            body.resize(&is_zero, of.width, false)
        }
        "shl" | "shr" => shift(body, instruction, of, &a)?,
        "brev" => body.intrinsic("bitreverse", &[&a])?,
        "popc" => {
            let count = body.intrinsic("ctpop", &[&a])?;
            body.resize(&count, 32, false)
        }
        "clz" => {
            let count = leading_zeros(body, &a);
            body.resize(&count, 32, false)
        }
        "bfe" => extract(body, instruction, of, &a)?,
        "bfi" => insert(body, instruction, of, &a)?,
        _ => return None,
    };
    body.finish(instruction, value, of.is_signed())
}

/// The number of zeros above the highest bit that is set; the width for zero.
fn leading_zeros(body: &mut Body, value: &Value) -> Value {
    let is_defined_at_zero = Value::constant(Form::Integer(1), 0);
    body.call(value.form, &format!("llvm.ctlz.{}", value.form.suffix()), &[value, &is_defined_at_zero])
}

/// A move, also between a register and the parts of it.
fn move_value(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let [to, from] = instruction.operands.as_slice() else { return None };
    if of.kind == Kind::Predicate {
        let value = body.read(from, of)?;
        return body.write(to, value, false);
    }
    let size = of.size();
    match (to, from) {
        (Operand::List(parts), _) => {
            let whole = body.read(from, Type::bits(size))?;
            let width = size.checked_div(u32::try_from(parts.len()).ok()?)?;
            for (number, part) in (0u32..).zip(parts) {
                let shift = i64::from(number.checked_mul(width)?);
                let shifted = body.binary("lshr", &whole, &Value::constant(whole.form, shift));
                let value = body.resize(&shifted, width, false);
                body.write(part, value, false)?;
            }
            Some(())
        }
        (_, Operand::List(parts)) => {
            let width = size.checked_div(u32::try_from(parts.len()).ok()?)?;
            let mut whole = Value::zero(size);
            for (number, part) in (0u32..).zip(parts) {
                let value = body.read(part, Type::bits(width))?;
                let value = body.resize(&value, size, false);
                let shift = Value::constant(value.form, i64::from(number.checked_mul(width)?));
                let shifted = body.binary("shl", &value, &shift);
                whole = body.binary("or", &whole, &shifted);
            }
            body.write(to, whole, false)
        }
        _ => {
            let exact = if of.kind == Kind::Float { of } else { Type::bits(size) };
            let value = body.read(from, exact)?;
            body.write(to, value, false)
        }
    }
}

/// The predicate of LLVM for a comparison of PTX.
fn predicate(instruction: &Instruction, of: Type) -> Option<&'static str> {
    let comparison = instruction.suffixes.first()?.as_str();
    let is_float = of.kind == Kind::Float;
    let is_signed = of.is_signed();
    let name = match comparison {
        "eq" if is_float => "oeq",
        "ne" if is_float => "one",
        "lt" if is_float => "olt",
        "le" if is_float => "ole",
        "gt" if is_float => "ogt",
        "ge" if is_float => "oge",
        "equ" => "ueq",
        "neu" => "une",
        "ltu" => "ult",
        "leu" => "ule",
        "gtu" => "ugt",
        "geu" => "uge",
        "num" => "ord",
        "nan" => "uno",
        "eq" => "eq",
        "ne" => "ne",
        "lt" if is_signed => "slt",
        "le" if is_signed => "sle",
        "gt" if is_signed => "sgt",
        "ge" if is_signed => "sge",
        "lt" | "lo" => "ult",
        "le" | "ls" => "ule",
        "gt" | "hi" => "ugt",
        "ge" | "hs" => "uge",
        _ => return None,
    };
    let is_for_floats = ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"].contains(&comparison);
    (is_float || !is_for_floats).then_some(name)
}

/// The comparison of the second operand with the third.
fn comparison(body: &mut Body, instruction: &Instruction, of: Type) -> Option<Value> {
    if of.lanes != 1 {
        return None;
    }
    let predicate = predicate(instruction, of)?;
    let a = body.source(instruction, 1, of)?;
    let b = body.source(instruction, 2, of)?;
    Some(body.compare(predicate, &a, &b))
}

fn set_predicate(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let has_no_more = match instruction.suffixes.as_slice() {
        [_, _] => true,
        [_, flush, _] => flush == "ftz",
        _ => false,
    };
    if !has_no_more || instruction.operands.len() != 3 {
        return None;
    }
    let value = comparison(body, instruction, of)?;
    body.finish(instruction, value, false)
}

/// All bits, or 1.0, where the comparison holds.
fn set(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let words: Vec<&str> =
        instruction.suffixes.iter().map(String::as_str).filter(|word| *word != "ftz").collect();
    let [_, result, _] = words.as_slice() else { return None };
    let result = Type::from_suffix(result)?;
    let holds = comparison(body, instruction, of)?;
    let value = match result.form()? {
        Form::Integer(width) => body.resize(&holds, width, true),
        form @ (Form::Half | Form::Float) => {
            body.emit(form, format!("uitofp {} to {}", holds.typed(), form.text()))
        }
        _ => return None,
    };
    body.finish(instruction, value, false)
}

fn select(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let a = body.source(instruction, 1, of)?;
    let b = body.source(instruction, 2, of)?;
    let condition = body.source(instruction, 3, Type::from_suffix("pred")?)?;
    let value = body.select(&condition, &a, &b);
    body.finish(instruction, value, false)
}

/// A shift whose amount may be the width and more.
fn shift(body: &mut Body, instruction: &Instruction, of: Type, a: &Value) -> Option<Value> {
    let amount = body.source(instruction, 2, Type::bits(32))?;
    let width = i64::from(of.width);
    let last = body.at_most(&amount, width.checked_sub(1)?)?;
    let last = body.resize(&last, of.width, false);
    if instruction.name == "shr" && of.is_signed() {
        return Some(body.binary("ashr", a, &last));
    }
    let opcode = if instruction.name == "shl" { "shl" } else { "lshr" };
    let shifted = body.binary(opcode, a, &last);
    let is_inside = body.compare("ult", &amount, &Value::constant(amount.form, width));
    Some(body.select(&is_inside, &shifted, &Value::constant(a.form, 0)))
}

/// A shift of two registers as one.
fn funnel_shift(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let [direction, mode, _] = instruction.suffixes.as_slice() else { return None };
    let low = body.source(instruction, 1, of)?;
    let high = body.source(instruction, 2, of)?;
    let amount = body.source(instruction, 3, of)?;
    let is_left = direction == "l";
    let shifted = body.intrinsic(if is_left { "fshl" } else { "fshr" }, &[&high, &low, &amount])?;
    let value = match mode.as_str() {
        "wrap" => shifted,
        "clamp" => {
            let is_inside = body.compare("ult", &amount, &Value::constant(amount.form, i64::from(of.width)));
            let outside = if is_left { &low } else { &high };
            body.select(&is_inside, &shifted, outside)
        }
        _ => return None,
    };
    body.finish(instruction, value, false)
}

/// Any function of three bits, by its table.
fn logic_of_three(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let table = body.source(instruction, 4, Type::bits(32))?.known()?;
    let mut total = Value::constant(of.form()?, 0);
    for row in 0..8 {
        if table >> row & 1 == 0 {
            continue;
        }
        let mut term = Value::constant(total.form, -1);
        for (number, bit) in [(1, 4), (2, 2), (3, 1)] {
            let mut source = body.source(instruction, number, of)?;
            if row & bit == 0 {
                source = body.binary("xor", &source, &Value::constant(source.form, -1));
            }
            term = body.binary("and", &source, &term);
        }
        total = body.binary("or", &term, &total);
    }
    body.finish(instruction, total, false)
}

/// Any four bytes of two registers, each as it is or its sign alone.
fn permute(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let [_] = instruction.suffixes.as_slice() else { return None };
    let low = body.source(instruction, 1, of)?;
    let high = body.source(instruction, 2, of)?;
    let selector = body.source(instruction, 3, of)?;
    let low = body.resize(&low, 64, false);
    let high = body.resize(&high, 64, false);
    let high = body.binary("shl", &high, &Value::constant(high.form, 32));
    let bytes = body.binary("or", &low, &high);
    let mut total = Value::zero(32);
    for lane in 0..4i64 {
        let nibble = body.binary("lshr", &selector, &Value::constant(selector.form, lane.saturating_mul(4)));
        let number = body.binary("and", &nibble, &Value::constant(nibble.form, 7));
        let place = body.binary("shl", &number, &Value::constant(number.form, 3));
        let place = body.resize(&place, 64, false);
        let shifted = body.binary("lshr", &bytes, &place);
        let byte = body.resize(&shifted, 8, false);
        let sign = body.binary("ashr", &byte, &Value::constant(byte.form, 7));
        let mode = body.binary("and", &nibble, &Value::constant(nibble.form, 8));
        let is_sign = body.compare("ne", &mode, &Value::constant(mode.form, 0));
        let byte = body.select(&is_sign, &sign, &byte);
        let byte = body.resize(&byte, 32, false);
        let byte = body.binary("shl", &byte, &Value::constant(byte.form, lane.saturating_mul(8)));
        total = body.binary("or", &byte, &total);
    }
    body.finish(instruction, total, false)
}

/// The number of the highest bit that is set, and all bits for zero.
fn find_bit(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    if of.is_signed() || instruction.suffixes.len() != 1 {
        return None;
    }
    let a = body.source(instruction, 1, of)?;
    let zeros = leading_zeros(body, &a);
    let zeros = body.resize(&zeros, 32, false);
    let last = Value::constant(zeros.form, i64::from(of.width).checked_sub(1)?);
    // For zero this is -1.
    let value = body.binary("sub", &last, &zeros);
    body.finish(instruction, value, false)
}

/// The start and the length of a field in a register of 32 bits, as numbers of 64 bits within 63 and 32.
fn field(body: &mut Body, instruction: &Instruction, start: usize, length: usize) -> Option<(Value, Value)> {
    let mut limits = Vec::new();
    for (number, limit) in [(start, 63), (length, 32)] {
        let value = body.source(instruction, number, Type::bits(32))?;
        let value = body.binary("and", &value, &Value::constant(value.form, 0xff));
        let value = body.at_most(&value, limit)?;
        limits.push(body.resize(&value, 64, false));
    }
    let length = limits.pop()?;
    Some((limits.pop()?, length))
}

/// As many low bits as `length` says.
fn mask(body: &mut Body, length: &Value) -> Value {
    let beyond = body.binary("shl", &Value::constant(length.form, -1), length);
    body.binary("xor", &beyond, &Value::constant(beyond.form, -1))
}

fn extract(body: &mut Body, instruction: &Instruction, of: Type, a: &Value) -> Option<Value> {
    if of.width != 32 {
        return None;
    }
    let (start, length) = field(body, instruction, 2, 3)?;
    let wide = body.resize(a, 64, of.is_signed());
    if !of.is_signed() {
        let shifted = body.binary("lshr", &wide, &start);
        let mask = mask(body, &length);
        let value = body.binary("and", &shifted, &mask);
        return Some(body.resize(&value, 32, false));
    }
    let shifted = body.binary("ashr", &wide, &start);
    // The field's highest bit moves to the top and back; a field of no bits is 0.
    let distance = body.binary("sub", &Value::constant(length.form, 64), &length);
    let distance = body.at_most(&distance, 63)?;
    let top = body.binary("shl", &shifted, &distance);
    let value = body.binary("ashr", &top, &distance);
    let is_empty = body.compare("eq", &length, &Value::constant(length.form, 0));
    let value = body.select(&is_empty, &Value::constant(value.form, 0), &value);
    Some(body.resize(&value, 32, false))
}

fn insert(body: &mut Body, instruction: &Instruction, of: Type, a: &Value) -> Option<Value> {
    if of.width != 32 {
        return None;
    }
    let b = body.source(instruction, 2, of)?;
    let (start, length) = field(body, instruction, 3, 4)?;
    let ones = mask(body, &length);
    let field = body.binary("shl", &ones, &start);
    let a = body.resize(a, 64, false);
    let b = body.resize(&b, 64, false);
    let moved = body.binary("shl", &a, &start);
    let moved = body.binary("and", &moved, &field);
    let others = body.binary("xor", &field, &Value::constant(field.form, -1));
    let kept = body.binary("and", &b, &others);
    let value = body.binary("or", &moved, &kept);
    Some(body.resize(&value, 32, false))
}
