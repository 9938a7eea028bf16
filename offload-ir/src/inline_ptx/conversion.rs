//! Conversions between types, and of addresses between state spaces
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-cvt>).

use super::body::{Body, Value};
use super::template::Instruction;
use super::types::{Form, Kind, Machine, Type};

pub(super) fn lower(body: &mut Body, instruction: &Instruction) -> Option<()> {
    if instruction.name == "cvta" {
        return address(body, instruction);
    }
    let (modifiers, types) =
        instruction.suffixes.split_at_checked(instruction.suffixes.len().checked_sub(2)?)?;
    let [to, from] = types else { return None };
    if let Some(format) = Float8::from_suffix(from) {
        return from_float8(body, instruction, format);
    }
    let (to, from) = (Type::from_suffix(to)?, Type::from_suffix(from)?);
    let mut conversion = Conversion { to, from, rounding: Rounding::None, is_saturated: false };
    for modifier in modifiers {
        match modifier.as_str() {
            "ftz" => {}
            "sat" => conversion.is_saturated = true,
            "rn" => conversion.rounding = Rounding::Nearest,
            "rni" => conversion.rounding = Rounding::Integer("roundeven"),
            "rzi" => conversion.rounding = Rounding::Integer("trunc"),
            "rmi" => conversion.rounding = Rounding::Integer("floor"),
            "rpi" => conversion.rounding = Rounding::Integer("ceil"),
            _ => return None,
        }
    }
    if to.lanes == 2 {
        return pair(body, instruction, &conversion);
    }
    let value = body.source(instruction, 1, from)?;
    let value = conversion.apply(body, &value)?;
    body.finish(instruction, value, to.is_signed())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    None,
    Nearest,
    /// To an integer, by this function of LLVM.
    Integer(&'static str),
}

struct Conversion {
    to: Type,
    from: Type,
    rounding: Rounding,
    is_saturated: bool,
}

impl Conversion {
    fn apply(&self, body: &mut Body, value: &Value) -> Option<Value> {
        let (to, from) = (self.to, self.from);
        if from.lanes != 1 || to.lanes != 1 {
            return None;
        }
        if to.is_integer() && from.is_integer() {
            return self.between_integers(body, value);
        }
        let is_float = |of: Type| matches!(of.kind, Kind::Float | Kind::BFloat);
        if is_float(to) && is_float(from) {
            return self.between_floats(body, value);
        }
        if to.is_integer() && from.kind == Kind::Float {
            return self.to_integer(body, value);
        }
        if to.kind == Kind::Float
            && from.is_integer()
            && self.rounding == Rounding::Nearest
            && !self.is_saturated
        {
            let opcode = if from.is_signed() { "sitofp" } else { "uitofp" };
            let form = to.form()?;
            return Some(body.emit(form, format!("{opcode} {} to {}", value.typed(), form.text())));
        }
        None
    }

    fn between_integers(&self, body: &mut Body, value: &Value) -> Option<Value> {
        if self.rounding != Rounding::None {
            return None;
        }
        let (to, from) = (self.to, self.from);
        if !self.is_saturated {
            return Some(body.resize(value, to.width, from.is_signed()));
        }
        // With bits for every number of either type.
        let wide = body.resize(value, to.width.max(from.width).checked_mul(2)?, from.is_signed());
        let bits = if to.is_signed() { to.width.checked_sub(1)? } else { to.width };
        let highest = i64::try_from(1i128.checked_shl(bits)?.checked_sub(1)?).ok()?;
        let lowest = if to.is_signed() { highest.checked_neg()?.checked_sub(1)? } else { 0 };
        let value = body.intrinsic("smax", &[&wide, &Value::constant(wide.form, lowest)])?;
        let value = body.intrinsic("smin", &[&value, &Value::constant(wide.form, highest)])?;
        Some(body.resize(&value, to.width, false))
    }

    fn between_floats(&self, body: &mut Body, value: &Value) -> Option<Value> {
        let (to, from) = (self.to, self.from);
        let mut value = value.clone();
        if from.kind == Kind::BFloat {
            let wide = body.resize(&value, 32, false);
            let bits = body.binary("shl", &wide, &Value::constant(wide.form, 16));
            value = body.as_form(bits, Form::Float)?;
        }
        if let Rounding::Integer(function) = self.rounding {
            value = body.intrinsic(function, &[&value])?;
        }
        if to.kind == Kind::BFloat {
            if value.form != Form::Float || self.rounding != Rounding::Nearest || self.is_saturated {
                return None;
            }
            return Some(bfloat(body, value));
        }
        let form = to.form()?;
        let resized = match form.width().cmp(&value.form.width()) {
            std::cmp::Ordering::Equal => value,
            std::cmp::Ordering::Greater => {
                body.emit(form, format!("fpext {} to {}", value.typed(), form.text()))
            }
            // Without a rounding PTX has no such conversion.
            std::cmp::Ordering::Less if self.rounding == Rounding::Nearest => {
                body.emit(form, format!("fptrunc {} to {}", value.typed(), form.text()))
            }
            std::cmp::Ordering::Less => return None,
        };
        if !self.is_saturated {
            return Some(resized);
        }
        let zero = Value::new(form, "0.0".to_string());
        let one = Value::new(form, "1.0".to_string());
        let lower = body.intrinsic("maxnum", &[&resized, &zero])?;
        body.intrinsic("minnum", &[&lower, &one])
    }

    /// Numbers beyond the type become its limits, and NaN zero.
    fn to_integer(&self, body: &mut Body, value: &Value) -> Option<Value> {
        let Rounding::Integer(function) = self.rounding else { return None };
        let rounded = body.intrinsic(function, &[value])?;
        let form = Form::Integer(self.to.width);
        let sign = if self.to.is_signed() { "s" } else { "u" };
        let name = format!("llvm.fpto{sign}i.sat.{}.{}", form.suffix(), rounded.form.suffix());
        Some(body.call(form, &name, &[&rounded]))
    }
}

/// The bits of the nearest bfloat16; ties go to the even one.
fn bfloat(body: &mut Body, value: Value) -> Value {
    let is_nan = body.compare("uno", &value, &value);
    let bits = body.as_bits(value);
    let shifted = body.binary("lshr", &bits, &Value::constant(bits.form, 16));
    let odd = body.binary("and", &shifted, &Value::constant(bits.form, 1));
    let half = body.binary("add", &odd, &Value::constant(bits.form, 0x7fff));
    let rounded = body.binary("add", &bits, &half);
    let high = body.binary("lshr", &rounded, &Value::constant(bits.form, 16));
    let high = body.select(&is_nan, &Value::constant(bits.form, 0x7fff), &high);
    body.resize(&high, 16, false)
}

/// Two numbers in a register, of which the first operand is the upper one.
fn pair(body: &mut Body, instruction: &Instruction, conversion: &Conversion) -> Option<()> {
    if instruction.operands.len() != 3 {
        return None;
    }
    let to = Type { lanes: 1, ..conversion.to };
    let of_one = Conversion { to, ..*conversion };
    let mut halves = Vec::new();
    for number in [1, 2] {
        let value = body.source(instruction, number, conversion.from)?;
        let value = of_one.apply(body, &value)?;
        let bits = body.as_bits(value);
        halves.push(body.resize(&bits, 32, false));
    }
    let [high, low] = halves.as_slice() else { return None };
    let high = body.binary("shl", high, &Value::constant(high.form, 16));
    let whole = body.binary("or", &high, low);
    body.finish(instruction, whole, false)
}

/// Numbers of 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Float8 {
    /// Four bits of exponent.
    E4M3,
    /// The upper byte of a number of 16 bits.
    E5M2,
}

impl Float8 {
    fn from_suffix(word: &str) -> Option<Float8> {
        match word {
            "e4m3x2" => Some(Float8::E4M3),
            "e5m2x2" => Some(Float8::E5M2),
            _ => None,
        }
    }
}

/// Two numbers of 8 bits in 16 bits each. All of them are exact there.
fn from_float8(body: &mut Body, instruction: &Instruction, format: Float8) -> Option<()> {
    let ["rn", "f16x2", _] = instruction.suffixes.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return None;
    };
    let bytes = body.source(instruction, 1, Type::bits(16))?;
    let mut whole = Value::zero(32);
    for lane in 0..2i64 {
        let shifted = body.binary("lshr", &bytes, &Value::constant(bytes.form, lane.saturating_mul(8)));
        let byte = body.binary("and", &shifted, &Value::constant(bytes.form, 0xff));
        let number = match format {
            Float8::E5M2 => body.binary("shl", &byte, &Value::constant(byte.form, 8)),
            Float8::E4M3 => from_e4m3(body, &byte)?,
        };
        let number = body.resize(&number, 32, false);
        let number = body.binary("shl", &number, &Value::constant(number.form, lane.saturating_mul(16)));
        whole = body.binary("or", &number, &whole);
    }
    body.finish(instruction, whole, false)
}

/// The bits of a number of 16 bits. Its exponent is less by 8, and a number with all bits but the sign is NaN.
fn from_e4m3(body: &mut Body, byte: &Value) -> Option<Value> {
    const NAN: i64 = 0x7fff;
    let magnitude = body.binary("and", byte, &Value::constant(byte.form, 0x7f));
    let sign = body.binary("xor", byte, &magnitude);
    let sign = body.binary("shl", &sign, &Value::constant(sign.form, 8));
    let scaled = body.binary("shl", &magnitude, &Value::constant(magnitude.form, 7));
    let scaled = body.as_form(scaled, Form::Half)?;
    let value = body.binary("fmul", &scaled, &Value::new(Form::Half, "256.0".to_string()));
    let value = body.as_bits(value);
    let is_nan = body.compare("eq", &magnitude, &Value::constant(magnitude.form, 0x7f));
    let value = body.binary("or", &value, &sign);
    Some(body.select(&is_nan, &Value::constant(value.form, NAN), &value))
}

/// Generic addresses are those of global memory, and on CPUs of all memory.
fn address(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let words: Vec<&str> = instruction.suffixes.iter().map(String::as_str).collect();
    let (is_to, space) = match words.as_slice() {
        ["to", space, "u64"] => (true, *space),
        [space, "u64"] => (false, *space),
        _ => return None,
    };
    let value = body.source(instruction, 1, Type::bits(64))?;
    let value = match (space, body.machine) {
        ("global", _) | ("shared", Machine::Host) => value,
        ("shared", Machine::Amd) if is_to => {
            let generic = body.as_form(value, Form::Pointer(0))?;
            let cast = format!("addrspacecast {} to ptr addrspace(3)", generic.typed());
            let shared = body.emit(Form::Pointer(3), cast);
            let bits = body.as_bits(shared);
            body.resize(&bits, 64, false)
        }
        ("shared", Machine::Amd) => {
            let shared = body.as_form(value, Form::Pointer(3))?;
            let generic = body.emit(Form::Pointer(0), format!("addrspacecast {} to ptr", shared.typed()));
            body.as_bits(generic)
        }
        _ => return None,
    };
    body.finish(instruction, value, false)
}
