//! Exchanges between the lanes of a warp, and products of matrices that a warp holds
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions>).

use super::body::{Body, Value};
use super::special;
use super::template::{Instruction, Operand};
use super::types::{Form, Machine, Type};

/// What the lanes of a warp give each other on a CPU: `host_warps.c` fills the second from the first at a barrier.
const SENT: &str = "@__offload_warp_sent";
const RECEIVED: &str = "@__offload_warp_received";
const MASKS: &str = "@__offload_warp_masks";
const VOTES: &str = "@__offload_warp_votes";

const WORD: Form = Form::Integer(32);

pub(super) fn lower(body: &mut Body, instruction: &Instruction) -> Option<()> {
    if instruction.guard.is_some() {
        return None;
    }
    body.is_convergent = true;
    match instruction.name.as_str() {
        "shfl" => shuffle(body, instruction),
        "vote" => vote(body, instruction),
        "ldmatrix" => load_matrix(body, instruction),
        "mma" => multiply(body, instruction),
        _ => None,
    }
}

/// The address of a lane's word in a variable of `host_warps.c`.
fn slot(body: &mut Body, variable: &str, lane: &Value) -> String {
    body.declarations.push(format!("{variable} = external global [32 x i32], align 16"));
    let lane = body.resize(lane, 64, false);
    let slot = format!("getelementptr inbounds [32 x i32], ptr {variable}, i64 0, {}", lane.typed());
    body.emit(Form::Pointer(0), slot).typed()
}

/// A barrier of the warp, behind which the lanes have what others have sent.
fn wait(body: &mut Body, mask: &Value) {
    let lane = special::lane(body);
    let slot = slot(body, MASKS, &lane);
    body.emit_effect(format!("store {}, {slot}, align 4", mask.typed()));
    body.declarations.push("declare void @__offload_wait_warp()".to_string());
    body.emit_effect("call void @__offload_wait_warp() convergent");
}

/// Sends words to all lanes one after another, and takes those that `lanes` have sent: for each word one from each lane.
fn exchange(body: &mut Body, mask: &Value, word: &Value, lanes: &[Value]) -> Vec<Value> {
    let mut received = Vec::new();
    match body.machine {
        Machine::Host => {
            let own = special::lane(body);
            let slot_of_own = slot(body, SENT, &own);
            body.emit_effect(format!("store {}, {slot_of_own}, align 4", word.typed()));
            wait(body, mask);
            for lane in lanes {
                let slot = slot(body, RECEIVED, lane);
                received.push(body.emit(WORD, format!("load i32, {slot}, align 4")));
            }
        }
        Machine::Amd => {
            // A wave of 64 lanes has two warps.
            let own = special::wave_lane(body);
            let half = body.binary("and", &own, &Value::constant(WORD, 32));
            for lane in lanes {
                let lane = body.binary("or", lane, &half);
                let place = body.binary("shl", &lane, &Value::constant(WORD, 2));
                received.push(body.call(WORD, "llvm.amdgcn.ds.bpermute", &[&place, word]));
            }
        }
    }
    received
}

fn shuffle(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let ["sync", mode, "b32"] = words(instruction)[..] else { return None };
    let word = body.source(instruction, 1, Type::bits(32))?;
    let distance = body.source(instruction, 2, Type::bits(32))?;
    let limits = body.source(instruction, 3, Type::bits(32))?;
    let mask = body.source(instruction, 4, Type::bits(32))?;
    let own = special::lane(body);
    let segment = body.binary("lshr", &limits, &Value::constant(WORD, 8));
    let segment = body.binary("and", &segment, &Value::constant(WORD, 31));
    let inside = body.binary("xor", &segment, &Value::constant(WORD, 31));
    let clamp = body.binary("and", &limits, &inside);
    let first = body.binary("and", &own, &segment);
    let last = body.binary("or", &first, &clamp);
    let distance = body.binary("and", &distance, &Value::constant(WORD, 31));
    let other = match mode {
        "up" => body.binary("sub", &own, &distance),
        "down" => body.binary("add", &own, &distance),
        "bfly" => body.binary("xor", &own, &distance),
        "idx" => {
            let within = body.binary("and", &distance, &inside);
            body.binary("or", &first, &within)
        }
        _ => return None,
    };
    let is_inside = body.compare(if mode == "up" { "sge" } else { "sle" }, &other, &last);
    let other = body.select(&is_inside, &other, &own);
    let received = exchange(body, &mask, &word, &[other]);
    body.finish(instruction, received.into_iter().next()?, false)
}

fn words(instruction: &Instruction) -> Vec<&str> {
    instruction.suffixes.iter().map(String::as_str).collect()
}

fn vote(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let ["sync", mode, _] = words(instruction)[..] else { return None };
    let predicate = body.source(instruction, 1, Type::from_suffix("pred")?)?;
    let mask = body.source(instruction, 2, Type::bits(32))?;
    // All lanes have it set if none has it unset.
    let asked = if mode == "all" {
        body.binary("xor", &predicate, &Value::constant(predicate.form, 1))
    } else {
        predicate
    };
    let ballot = match body.machine {
        Machine::Host => {
            let own = special::lane(body);
            let slot = slot(body, SENT, &own);
            let word = body.resize(&asked, 32, false);
            body.emit_effect(format!("store {}, {slot}, align 4", word.typed()));
            wait(body, &mask);
            body.declarations.push(format!("{VOTES} = external global i32, align 4"));
            body.emit(WORD, format!("load i32, ptr {VOTES}, align 4"))
        }
        Machine::Amd => {
            let all = body.call(Form::Integer(64), "llvm.amdgcn.ballot.i64", &[&asked]);
            let own = special::wave_lane(body);
            let half = body.binary("and", &own, &Value::constant(WORD, 32));
            let half = body.resize(&half, 64, false);
            let shifted = body.binary("lshr", &all, &half);
            body.resize(&shifted, 32, false)
        }
    };
    let value = match mode {
        "ballot" => ballot,
        "any" => body.compare("ne", &ballot, &Value::constant(WORD, 0)),
        "all" => body.compare("eq", &ballot, &Value::constant(WORD, 0)),
        _ => return None,
    };
    body.finish(instruction, value, false)
}

fn all_lanes() -> Value {
    Value::constant(WORD, -1)
}

/// The place of a lane in a group of four, and the number of its group.
struct Place {
    group: Value,
    within: Value,
}

impl Place {
    fn new(body: &mut Body) -> Place {
        let lane = special::lane(body);
        Place {
            group: body.binary("lshr", &lane, &Value::constant(WORD, 2)),
            within: body.binary("and", &lane, &Value::constant(WORD, 3)),
        }
    }
}

/// Matrices of eight rows of 16 bytes, whose addresses eight lanes each have. A lane gets two neighbours of a row, or of a
/// column.
fn load_matrix(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let count = match words(instruction)[..] {
        ["sync", "aligned", "m8n8", count, .., "b16"] => {
            ["x1", "x2", "x4"].iter().position(|word| *word == count)?
        }
        _ => return None,
    };
    let is_transposed = instruction.has("trans");
    let count = 1i64.checked_shl(u32::try_from(count).ok()?)?;
    let [to, Operand::Address { base, offset }] = instruction.operands.as_slice() else { return None };
    let targets = match to {
        Operand::List(list) => list.clone(),
        single => vec![single.clone()],
    };
    let address = body.register_bits(base)?;
    if address.form != WORD {
        return None;
    }
    let address = body.binary("add", &address, &Value::constant(WORD, *offset));
    let place = Place::new(body);
    let mut rows = Vec::new();
    for matrix in 0..count {
        let first = Value::constant(WORD, matrix.checked_mul(8)?);
        if is_transposed {
            let even = body.binary("shl", &place.within, &Value::constant(WORD, 1));
            let even = body.binary("add", &even, &first);
            let odd = body.binary("add", &even, &Value::constant(WORD, 1));
            rows.extend([even, odd]);
        } else {
            rows.push(body.binary("add", &place.group, &first));
        }
    }
    let addresses = exchange(body, &all_lanes(), &address, &rows);
    let column = if is_transposed {
        body.binary("shl", &place.group, &Value::constant(WORD, 1))
    } else {
        body.binary("shl", &place.within, &Value::constant(WORD, 2))
    };
    let mut elements = Vec::new();
    for address in addresses {
        let address = body.binary("add", &address, &column);
        let pointer = body.shared_pointer(address)?.typed();
        let form = Form::Integer(if is_transposed { 16 } else { 32 });
        let element = body.emit(form, format!("load {}, {pointer}, align {}", form.text(), form.width() / 8));
        elements.push(body.resize(&element, 32, false));
    }
    let per_target = if is_transposed { 2 } else { 1 };
    if targets.len().checked_mul(per_target)? != elements.len() {
        return None;
    }
    for (target, elements) in targets.iter().zip(elements.chunks(per_target)) {
        let value = match elements {
            [low, high] => {
                let high = body.binary("shl", high, &Value::constant(WORD, 16));
                body.binary("or", low, &high)
            }
            [whole] => whole.clone(),
            _ => return None,
        };
        body.write(target, value, false)?;
    }
    Some(())
}

/// The type of a product's factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    Half,
    BFloat,
    /// Of 8 bits.
    Integer {
        is_signed: bool,
    },
}

impl Factor {
    fn from_suffix(word: &str) -> Option<Factor> {
        match word {
            "f16" => Some(Factor::Half),
            "bf16" => Some(Factor::BFloat),
            "s8" => Some(Factor::Integer { is_signed: true }),
            "u8" => Some(Factor::Integer { is_signed: false }),
            _ => None,
        }
    }

    /// Elements in a register.
    const fn count(self) -> u32 {
        match self {
            Factor::Half | Factor::BFloat => 2,
            Factor::Integer { .. } => 4,
        }
    }

    /// The elements of a register, as numbers of 32 bits.
    fn elements(self, body: &mut Body, register: &Value) -> Option<Vec<Value>> {
        let width = 32 / self.count();
        let mut elements = Vec::new();
        for number in 0..self.count() {
            let shift = Value::constant(WORD, i64::from(number.checked_mul(width)?));
            let shifted = body.binary("lshr", register, &shift);
            elements.push(match self {
                Factor::Half => {
                    let half = body.as_form(shifted, Form::Half)?;
                    body.emit(Form::Float, format!("fpext {} to float", half.typed()))
                }
                Factor::BFloat => {
                    let bits = body.binary("shl", &shifted, &Value::constant(WORD, 16));
                    body.as_form(bits, Form::Float)?
                }
                Factor::Integer { is_signed } => {
                    let byte = body.resize(&shifted, 8, false);
                    body.resize(&byte, 32, is_signed)
                }
            });
        }
        Some(elements)
    }
}

/// A product of 16 rows and 8 columns with what is added to it. A lane holds two neighbours in a row of a group's number, and
/// in the row eight further down.
fn multiply(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let ["sync", "aligned", shape, "row", "col", rest @ ..] = &words(instruction)[..] else { return None };
    let [to, a, b, added] = *rest.strip_suffix(&["satfinite"]).unwrap_or(rest) else { return None };
    let [factor, factor_of_b] = [Factor::from_suffix(a)?, Factor::from_suffix(b)?];
    let is_integer = matches!(factor, Factor::Integer { .. });
    let is_narrow = [to, added] == ["f16"; 2] && factor == Factor::Half;
    let is_known = match factor {
        Factor::Integer { .. } => [to, added] == ["s32"; 2],
        _ => a == b && (is_narrow || [to, added] == ["f32"; 2]),
    };
    let depth: u32 = shape.strip_prefix("m16n8k")?.parse().ok()?;
    // Registers of the second factor; the first has two for each.
    let count = usize::try_from(depth.checked_div(factor.count().checked_mul(4)?)?).ok()?;
    if !is_known || ![1, 2].contains(&count) || instruction.has("satfinite") {
        return None;
    }
    let [results, first, second, sum] = instruction.operands.as_slice() else { return None };
    let a = registers(body, first, count.checked_mul(2)?)?;
    let b = registers(body, second, count)?;
    let form = if is_integer { WORD } else { Form::Float };
    let mut totals = Vec::new();
    for register in registers(body, sum, if is_narrow { 2 } else { 4 })? {
        if is_narrow {
            totals.extend(Factor::Half.elements(body, &register)?);
        } else {
            totals.push(body.as_form(register, form)?);
        }
    }
    let lanes = Lanes::new(body);
    // Of each register of the first factor four lanes' words, of the second those for two columns.
    let rows = received(body, &a, &lanes.of_row);
    let columns = received(body, &b, &lanes.of_columns);
    for part in 0..count {
        for lane in 0..4 {
            for (number, total) in totals.iter_mut().enumerate() {
                let row = rows.get(part.checked_mul(2)?.checked_add(number / 2)?)?.get(lane)?;
                let column = columns.get(part)?.get((number % 2).checked_mul(4)?.checked_add(lane)?)?;
                let x = factor.elements(body, row)?;
                let y = factor_of_b.elements(body, column)?;
                for (x, y) in x.iter().zip(&y) {
                    *total = if is_integer {
                        let product = body.binary("mul", x, y);
                        body.binary("add", total, &product)
                    } else {
                        body.intrinsic("fma", &[x, y, &*total])?
                    };
                }
            }
        }
    }
    if is_narrow {
        totals = in_pairs(body, &totals)?;
    }
    let Operand::List(results) = results else { return None };
    for (result, total) in results.iter().zip(totals) {
        body.write(result, total, false)?;
    }
    Some(())
}

/// Numbers of 32 bits as pairs of 16 bits.
fn in_pairs(body: &mut Body, numbers: &[Value]) -> Option<Vec<Value>> {
    let mut pairs = Vec::new();
    for pair in numbers.chunks(2) {
        let mut whole = Value::zero(32);
        for (number, shift) in pair.iter().zip([0, 16]) {
            let half = body.emit(Form::Half, format!("fptrunc {} to half", number.typed()));
            let bits = body.as_bits(half);
            let bits = body.resize(&bits, 32, false);
            let bits = body.binary("shl", &bits, &Value::constant(WORD, shift));
            whole = body.binary("or", &bits, &whole);
        }
        pairs.push(whole);
    }
    Some(pairs)
}

/// The bits of a list of registers.
fn registers(body: &mut Body, operand: &Operand, count: usize) -> Option<Vec<Value>> {
    let mut values = Vec::new();
    match operand {
        Operand::List(list) => {
            for register in list {
                let bits = match register {
                    Operand::Constant(value) => Value::constant(WORD, *value),
                    _ => body.register_bits(register)?,
                };
                values.push(bits);
            }
        }
        single => values.push(body.register_bits(single)?),
    }
    (values.len() == count && values.iter().all(|value| value.form == WORD)).then_some(values)
}

/// For each register the words of other lanes.
fn received(body: &mut Body, registers: &[Value], lanes: &[Value]) -> Vec<Vec<Value>> {
    let mut all = Vec::new();
    for register in registers {
        all.push(exchange(body, &all_lanes(), register, lanes));
    }
    all
}

/// The lanes that hold the factors of a lane's results.
struct Lanes {
    /// The group of the lane, which holds its rows.
    of_row: Vec<Value>,
    /// The groups that hold its two columns.
    of_columns: Vec<Value>,
}

impl Lanes {
    fn new(body: &mut Body) -> Lanes {
        let place = Place::new(body);
        let first = body.binary("shl", &place.group, &Value::constant(WORD, 2));
        // A column is of the group with its number, and the first of two has an even one.
        let column = body.binary("shl", &place.within, &Value::constant(WORD, 3));
        let mut lanes = Lanes { of_row: Vec::new(), of_columns: Vec::new() };
        for lane in 0..4 {
            lanes.of_row.push(body.binary("add", &first, &Value::constant(WORD, lane)));
        }
        for lane in 0..8 {
            lanes.of_columns.push(body.binary("add", &column, &Value::constant(WORD, lane)));
        }
        lanes
    }
}
