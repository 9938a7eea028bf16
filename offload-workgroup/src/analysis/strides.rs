//! Strides of memory accesses: the distance between the elements that neighbours in the first dimension access.

use std::collections::BTreeMap;

use crate::analysis::values::Values;
use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::ir::function::{Block, Function, Instruction, Opcode};
use crate::ir::list;

/// The difference of a value between one work-item and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stride {
    Zero,
    /// One element.
    Unit,
    /// One element of 2 to 16 bytes, as a number of bytes: an index of bytes, and no index of elements.
    Bytes,
    /// Many elements, or a number that is known at run time.
    Large,
    /// A few elements, or an irregular distance.
    Unknown,
}

/// The distance in elements beyond which neighbours access different cache lines, whatever the type.
const LARGE_STRIDE: u64 = 64;

/// The sizes of elements with more than a byte.
const ELEMENT_SIZES: [u64; 4] = [2, 4, 8, 16];

/// The computations for each access beyond which vectors gain more than cache lines that are used as a whole.
const COMPUTATIONS_PER_ACCESS: usize = 4;

/// The strides of the values of a function.
pub(crate) struct Strides<'f>(BTreeMap<&'f str, Stride>);

impl<'f> Strides<'f> {
    pub(crate) fn new(function: &'f Function, values: &Values<'f>) -> Strides<'f> {
        Strides(value_strides(function, values))
    }

    /// Whether all varying accesses of `blocks` have large strides, with few computations for each.
    pub(crate) fn are_large(&self, blocks: &[&Block]) -> bool {
        let mut strides = self.access_strides(blocks);
        strides.retain(|stride| *stride != Stride::Zero);
        let instructions = blocks.iter().flat_map(|block| &block.instructions);
        let computations = instructions.filter(|instruction| is_computation(instruction)).count();
        let is_bound_by_memory = computations <= strides.len().saturating_mul(COMPUTATIONS_PER_ACCESS);
        is_bound_by_memory && !strides.is_empty() && strides.iter().all(|stride| *stride == Stride::Large)
    }

    /// Whether an access of `blocks` has the stride one, and none has a large stride.
    pub(crate) fn are_unit(&self, blocks: &[&Block]) -> bool {
        let strides = self.access_strides(blocks);
        strides.contains(&Stride::Unit) && !strides.contains(&Stride::Large)
    }

    /// The number of accesses of `blocks` with large strides.
    pub(crate) fn count_large(&self, blocks: &[&Block]) -> usize {
        let mut strides = self.access_strides(blocks);
        strides.retain(|stride| *stride == Stride::Large);
        strides.len()
    }

    fn access_strides(&self, blocks: &[&Block]) -> Vec<Stride> {
        let instructions = blocks.iter().flat_map(|block| &block.instructions);
        let accesses = instructions.filter(|one| matches!(one.opcode, Opcode::Load | Opcode::Store));
        accesses.map(|access| address_stride(access, &self.0)).collect()
    }
}

/// Whether an instruction is more than address arithmetic or a loop counter.
fn is_computation(instruction: &Instruction) -> bool {
    const ADDRESS_ARITHMETIC: [&str; 8] =
        ["getelementptr", "add", "sub", "zext", "sext", "trunc", "icmp", "freeze"];
    matches!(instruction.opcode, Opcode::Call | Opcode::Other)
        && !ADDRESS_ARITHMETIC.contains(&instruction.line.opcode())
}

/// The stride of the address of an access.
fn address_stride(access: &Instruction, strides: &BTreeMap<&str, Stride>) -> Stride {
    let text = access.line.text();
    let parts = list(text.split_once(' ').map_or("", |(_, rest)| rest));
    let pointer = parts.iter().find_map(|part| part.strip_prefix("ptr "));
    match pointer.map(|pointer| pointer.strip_prefix('%')) {
        Some(Some(name)) => strides.get(name).copied().unwrap_or(Stride::Unknown),
        Some(None) => Stride::Zero,
        None => Stride::Unknown,
    }
}

/// The strides of all values whose operands have one.
fn value_strides<'f>(function: &'f Function, values: &Values<'f>) -> BTreeMap<&'f str, Stride> {
    let mut strides = BTreeMap::from([(function.parameter.as_str(), Stride::Zero)]);
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions() {
            let Some(name) = instruction.result.as_deref() else { continue };
            let stride = if values.uniform.contains(name) {
                Some(Stride::Zero)
            } else {
                result_stride(instruction, &strides)
            };
            if let Some(stride) = stride
                && strides.get(name) != Some(&stride)
            {
                // A second change makes the stride unknown, so that the iteration ends.
                let stride = if strides.contains_key(name) { Stride::Unknown } else { stride };
                changed |= strides.insert(name, stride) != Some(stride);
            }
        }
    }
    strides
}

/// `None` as long as the stride of an operand is undetermined.
fn result_stride(instruction: &Instruction, strides: &BTreeMap<&str, Stride>) -> Option<Stride> {
    match state_load(instruction) {
        Some(StateLoad::LocalId { dimension: 0 }) => return Some(Stride::Unit),
        Some(_) => return Some(Stride::Zero),
        None => {}
    }
    if instruction.opcode == Opcode::Phi {
        let mut known = instruction.incoming.iter().filter_map(|incoming| {
            match incoming.value.values().next() {
                Some(name) => strides.get(name).copied(),
                // A constant.
                None => Some(Stride::Zero),
            }
        });
        let first = known.next()?;
        return Some(if known.all(|stride| stride == first) { first } else { Stride::Unknown });
    }
    let known = instruction.operands().map(|operand| strides.get(operand).copied());
    let known = known.collect::<Option<Vec<Stride>>>()?;
    if known.iter().all(|stride| *stride == Stride::Zero) {
        return Some(Stride::Zero);
    }
    let text = instruction.line.text();
    let word = text.split(' ').next().unwrap_or_default();
    Some(match word {
        "add" => sum(&known),
        "getelementptr" => address(&text, &known),
        "or" if text.contains(" disjoint ") => sum(&known),
        "sub" if known.last() == Some(&Stride::Zero) || known.len() == 1 => sum(&known),
        "zext" | "sext" | "trunc" | "freeze" => sum(&known),
        // The lower half of a number, also sign-extended by `shl` and `ashr`.
        "and" if keeps_low_bits(&text) => sum(&known),
        "shl" if text.starts_with("shl i64 ") && text.ends_with(", 32") => sum(&known),
        "ashr" if text.contains(" exact ") => sum(&known),
        "mul" | "shl" => product(&text, &known),
        _ => Stride::Unknown,
    })
}

/// Whether the mask of an `and` keeps all bits of a local id.
fn keeps_low_bits(text: &str) -> bool {
    let mask = text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    mask.and_then(|mask| mask.checked_add(1)).is_some_and(|over| over.is_power_of_two() && over > 1024)
}

/// The stride of a sum.
fn sum(known: &[Stride]) -> Stride {
    let mut varying = known.iter().copied().filter(|stride| *stride != Stride::Zero);
    match (varying.next(), varying.next()) {
        (Some(stride), None) => stride,
        (None, _) => Stride::Zero,
        _ if known.contains(&Stride::Unknown) => Stride::Unknown,
        _ => Stride::Large,
    }
}

/// The stride of the address behind a number of elements or of bytes.
fn address(text: &str, known: &[Stride]) -> Stride {
    let (operation, _) = text.split_once(", ").unwrap_or((text, ""));
    let has_bytes = operation.ends_with(" i8");
    let mut strides = Vec::new();
    for stride in known {
        strides.push(match stride {
            Stride::Bytes if has_bytes => Stride::Unit,
            Stride::Bytes => Stride::Unknown,
            other => *other,
        });
    }
    sum(&strides)
}

/// The stride of a product of a varying value with a uniform one or a constant.
fn product(text: &str, known: &[Stride]) -> Stride {
    let mut factor = text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    if text.starts_with("shl ") {
        factor =
            factor.map(|bits| 1u64.checked_shl(u32::try_from(bits).unwrap_or(u32::MAX)).unwrap_or(u64::MAX));
    }
    match sum(known) {
        stride if factor == Some(1) => stride,
        Stride::Unit if factor.is_some_and(|factor| ELEMENT_SIZES.contains(&factor)) => Stride::Bytes,
        Stride::Unit | Stride::Large if factor.is_none_or(|factor| factor >= LARGE_STRIDE) => Stride::Large,
        Stride::Large => Stride::Large,
        _ => Stride::Unknown,
    }
}
