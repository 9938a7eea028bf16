//! Arithmetic on integers and floating-point numbers
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#integer-arithmetic-instructions>).

use super::body::{Body, Value};
use super::template::Instruction;
use super::types::{Form, Kind, Type};

/// Words that change no result but the last bits of approximate functions, or what becomes of subnormal numbers.
const FREEDOMS: [&str; 5] = ["rn", "ftz", "approx", "full", "lo"];

pub(super) fn lower(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let of = Type::from_suffix(instruction.suffixes.last()?)?;
    match of.kind {
        Kind::Float => float(body, instruction, of),
        Kind::BFloat => bfloat(body, instruction, of),
        Kind::Predicate => None,
        _ => integer(body, instruction, of),
    }
}

/// Whether all words before the type are in `known` or change no result.
fn has_only(instruction: &Instruction, known: &[&str]) -> bool {
    let words = instruction.suffixes.split_last().map_or(&[][..], |(_, words)| words);
    words.iter().all(|word| FREEDOMS.contains(&word.as_str()) || known.contains(&word.as_str()))
}

fn float(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let known: &[&str] = match instruction.name.as_str() {
        "add" | "sub" | "mul" | "mad" | "fma" => &["sat", "relu"],
        "min" | "max" => &["NaN"],
        _ => &[],
    };
    if !has_only(instruction, known) {
        return None;
    }
    let a = body.source(instruction, 1, of)?;
    let value = match instruction.name.as_str() {
        "add" | "sub" | "mul" | "div" => {
            let b = body.source(instruction, 2, of)?;
            body.binary(&format!("f{}", instruction.name), &a, &b)
        }
        "mad" | "fma" => {
            let b = body.source(instruction, 2, of)?;
            let c = body.source(instruction, 3, of)?;
            body.intrinsic("fma", &[&a, &b, &c])?
        }
        "min" | "max" => {
            let b = body.source(instruction, 2, of)?;
            let is_nan_kept = instruction.has("NaN");
            let name = format!("{}{}", instruction.name, if is_nan_kept { "imum" } else { "num" });
            body.intrinsic(&name, &[&a, &b])?
        }
        "copysign" => {
            // The sign is that of the first operand.
            let b = body.source(instruction, 2, of)?;
            body.intrinsic("copysign", &[&b, &a])?
        }
        "abs" => body.intrinsic("fabs", &[&a])?,
        "neg" => body.emit(a.form, format!("fneg {}", a.typed())),
        "sqrt" => body.intrinsic("sqrt", &[&a])?,
        "rcp" => reciprocal(body, &a)?,
        "rsqrt" => {
            let root = body.intrinsic("sqrt", &[&a])?;
            reciprocal(body, &root)?
        }
        "ex2" => elementwise(body, &a, "exp2")?,
        "lg2" => elementwise(body, &a, "log2")?,
        "sin" | "cos" | "tanh" => elementwise(body, &a, &instruction.name)?,
        _ => return None,
    };
    let value = clamped(body, instruction, value)?;
    body.finish(instruction, value, false)
}

fn reciprocal(body: &mut Body, value: &Value) -> Option<Value> {
    let one = splat(value.form, "1.0")?;
    Some(body.binary("fdiv", &one, value))
}

/// A constant in each element.
fn splat(form: Form, number: &str) -> Option<Value> {
    let text = match form {
        Form::Half2 => format!("<half {number}, half {number}>"),
        Form::Half | Form::Float | Form::Double => number.to_string(),
        Form::Integer(_) | Form::Pointer(_) => return None,
    };
    Some(Value::new(form, text))
}

/// `value` within the limits that `.sat` and `.relu` set.
fn clamped(body: &mut Body, instruction: &Instruction, value: Value) -> Option<Value> {
    let is_saturated = instruction.has("sat");
    if !is_saturated && !instruction.has("relu") {
        return Some(value);
    }
    let zero = splat(value.form, "0.0")?;
    // `.sat` makes zero of NaN, `.relu` keeps it.
    let lower = if is_saturated { "maxnum" } else { "maximum" };
    let value = body.intrinsic(lower, &[&value, &zero])?;
    if !is_saturated {
        return Some(value);
    }
    let one = splat(value.form, "1.0")?;
    body.intrinsic("minnum", &[&value, &one])
}

/// A function of the machine's mathematics, in 32 bits for each element.
fn elementwise(body: &mut Body, value: &Value, name: &str) -> Option<Value> {
    let function = format!("__ocml_{name}_f32");
    match value.form {
        Form::Float => Some(body.call(Form::Float, &function, &[value])),
        Form::Half => {
            let wide = body.emit(Form::Float, format!("fpext {} to float", value.typed()));
            let result = body.call(Form::Float, &function, &[&wide]);
            Some(body.emit(Form::Half, format!("fptrunc {} to half", result.typed())))
        }
        Form::Half2 => {
            let mut all = Value::new(Form::Half2, "poison".to_string());
            for lane in 0..2 {
                let element = body.emit(Form::Half, format!("extractelement {}, i32 {lane}", value.typed()));
                let result = elementwise(body, &element, name)?;
                let insert = format!("insertelement {}, {}, i32 {lane}", all.typed(), result.typed());
                all = body.emit(Form::Half2, insert);
            }
            Some(all)
        }
        _ => None,
    }
}

/// What bfloat16 has beside conversions: changes of the sign.
fn bfloat(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let signs: i64 = if of.lanes == 2 { 0x8000_8000 } else { 0x8000 };
    let a = body.source(instruction, 1, of)?;
    let value = match instruction.name.as_str() {
        "neg" => body.binary("xor", &a, &Value::constant(a.form, signs)),
        "abs" => body.binary("and", &a, &Value::constant(a.form, !signs)),
        _ => return None,
    };
    body.finish(instruction, value, false)
}

fn integer(body: &mut Body, instruction: &Instruction, of: Type) -> Option<()> {
    let known: &[&str] = match instruction.name.as_str() {
        "mul" => &["hi", "wide"],
        "mad" => &["hi", "wide", "cc"],
        "madc" => &["hi", "cc"],
        "add" | "sub" => &["cc", "sat"],
        "addc" | "subc" => &["cc"],
        "dp4a" => &["u32", "s32"],
        _ => &[],
    };
    if !has_only(instruction, known) {
        return None;
    }
    let has_carry = reads_carry(instruction) || instruction.has("cc");
    if has_carry && instruction.guard.is_some() {
        return None;
    }
    let is_signed = of.is_signed();
    let a = body.source(instruction, 1, of)?;
    let value = match instruction.name.as_str() {
        "add" | "sub" if instruction.has("sat") => {
            let b = body.source(instruction, 2, of)?;
            body.intrinsic(&format!("s{}.sat", instruction.name), &[&a, &b])?
        }
        "add" | "addc" => {
            let b = body.source(instruction, 2, of)?;
            sum(body, instruction, &a, &b)?
        }
        "sub" | "subc" => {
            let b = body.source(instruction, 2, of)?;
            difference(body, instruction, &a, &b)?
        }
        "mul" => {
            let b = body.source(instruction, 2, of)?;
            product(body, instruction, of, &a, &b)
        }
        "mad" | "madc" => {
            let b = body.source(instruction, 2, of)?;
            let product = product(body, instruction, of, &a, &b);
            let width = product.form.width();
            let c = body.source(instruction, 3, Type { width, ..of })?;
            sum(body, instruction, &product, &c)?
        }
        "min" | "max" => {
            let b = body.source(instruction, 2, of)?;
            body.intrinsic(&format!("{}{}", sign(of), instruction.name), &[&a, &b])?
        }
        "abs" => {
            let keeps_least = Value::constant(Form::Integer(1), 0);
            let name = format!("llvm.abs.{}", a.form.suffix());
            body.call(a.form, &name, &[&a, &keeps_least])
        }
        "neg" => body.binary("sub", &Value::constant(a.form, 0), &a),
        "sad" => {
            let b = body.source(instruction, 2, of)?;
            let c = body.source(instruction, 3, of)?;
            let greater = body.intrinsic(&format!("{}max", sign(of)), &[&a, &b])?;
            let smaller = body.intrinsic(&format!("{}min", sign(of)), &[&a, &b])?;
            let distance = body.binary("sub", &greater, &smaller);
            body.binary("add", &distance, &c)
        }
        "dp4a" => dot_product(body, instruction, &a)?,
        _ => return None,
    };
    body.finish(instruction, value, is_signed)
}

fn sign(of: Type) -> &'static str {
    if of.is_signed() { "s" } else { "u" }
}

/// The lower half of a product, its upper half, or all of it.
fn product(body: &mut Body, instruction: &Instruction, of: Type, a: &Value, b: &Value) -> Value {
    let (is_high, is_wide) = (instruction.has("hi"), instruction.has("wide"));
    if !is_high && !is_wide {
        return body.binary("mul", a, b);
    }
    let wide = of.width.saturating_mul(2);
    let a = body.resize(a, wide, of.is_signed());
    let b = body.resize(b, wide, of.is_signed());
    let product = body.binary("mul", &a, &b);
    if is_wide {
        return product;
    }
    let shift = Value::constant(product.form, i64::from(of.width));
    let high = body.binary("lshr", &product, &shift);
    body.resize(&high, of.width, false)
}

/// Whether the instruction reads the carry flag: its name ends with `c`.
fn reads_carry(instruction: &Instruction) -> bool {
    ["addc", "subc", "madc"].contains(&instruction.name.as_str())
}

/// A sum, with the carry flag read and written as the instruction says.
fn sum(body: &mut Body, instruction: &Instruction, a: &Value, b: &Value) -> Option<Value> {
    let wide = a.form.width().saturating_add(1);
    let carry = if reads_carry(instruction) { Some(body.carry.clone()?) } else { None };
    if carry.is_none() && !instruction.has("cc") {
        return Some(body.binary("add", a, b));
    }
    let a_wide = body.resize(a, wide, false);
    let b_wide = body.resize(b, wide, false);
    let mut total = body.binary("add", &a_wide, &b_wide);
    if let Some(carry) = carry {
        let carry = body.resize(&carry, wide, false);
        total = body.binary("add", &total, &carry);
    }
    Some(with_carry(body, instruction, &total, a.form.width()))
}

/// A difference; the carry flag is the borrow.
fn difference(body: &mut Body, instruction: &Instruction, a: &Value, b: &Value) -> Option<Value> {
    let wide = a.form.width().saturating_add(1);
    let borrow = if reads_carry(instruction) { Some(body.carry.clone()?) } else { None };
    if borrow.is_none() && !instruction.has("cc") {
        return Some(body.binary("sub", a, b));
    }
    let a_wide = body.resize(a, wide, false);
    let b_wide = body.resize(b, wide, false);
    let mut total = body.binary("sub", &a_wide, &b_wide);
    if let Some(borrow) = borrow {
        let borrow = body.resize(&borrow, wide, false);
        total = body.binary("sub", &total, &borrow);
    }
    Some(with_carry(body, instruction, &total, a.form.width()))
}

/// The low bits of a number with one bit more, which becomes the carry flag if the instruction writes that.
fn with_carry(body: &mut Body, instruction: &Instruction, total: &Value, width: u32) -> Value {
    if instruction.has("cc") {
        let top = body.binary("lshr", total, &Value::constant(total.form, i64::from(width)));
        body.carry = Some(body.resize(&top, 1, false));
    }
    body.resize(total, width, false)
}

/// The sum of four products of bytes, and a third operand.
fn dot_product(body: &mut Body, instruction: &Instruction, a: &Value) -> Option<Value> {
    let [first, second] = instruction.suffixes.as_slice() else { return None };
    let is_signed = [first == "s32", second == "s32"];
    let b = body.source(instruction, 2, Type::bits(32))?;
    let mut total = body.source(instruction, 3, Type::bits(32))?;
    for lane in 0..4 {
        let x = byte(body, a, lane, is_signed[0]);
        let y = byte(body, &b, lane, is_signed[1]);
        let product = body.binary("mul", &x, &y);
        total = body.binary("add", &total, &product);
    }
    Some(total)
}

/// A byte of a word, extended to a word.
fn byte(body: &mut Body, word: &Value, lane: i64, is_signed: bool) -> Value {
    let shift = Value::constant(word.form, lane.saturating_mul(8));
    let shifted = body.binary("lshr", word, &shift);
    let byte = body.resize(&shifted, 8, false);
    body.resize(&byte, 32, is_signed)
}
