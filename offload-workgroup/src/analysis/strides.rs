//! How far apart in memory neighbours in the first dimension read and write.

use std::collections::BTreeMap;

use crate::ir::types::list;
use crate::ir::work_items::facts::Facts;
use crate::ir::work_items::function::{Block, Function, Instruction, Kind};
use crate::ir::work_items::state::{self, State};

/// How a value changes from one work-item to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Not at all.
    Zero,
    /// By one element.
    One,
    /// By many, or by a number that is known at run time.
    Far,
    /// By a few, or irregularly.
    Other,
}

/// So many elements are in another line of memory, whatever their type.
const FAR: u64 = 64;

/// With more computations than this for each access, vectors gain more than caches.
const COMPUTATIONS: usize = 4;

/// Whether `blocks` access memory that is far apart for neighbours, and none that is close together, and compute little.
pub(super) fn are_far(blocks: &[&Block], function: &Function, facts: &Facts<'_>) -> bool {
    let steps = steps(function, facts);
    let instructions = blocks.iter().flat_map(|block| &block.instructions);
    let computations = instructions.clone().filter(|one| computes(one)).count();
    let accesses = instructions.filter(|one| matches!(one.kind, Kind::Load | Kind::Store));
    let mut found: Vec<Step> = accesses.map(|access| address(access, &steps)).collect();
    found.retain(|step| *step != Step::Zero);
    let few = computations <= found.len().saturating_mul(COMPUTATIONS);
    few && !found.is_empty() && found.iter().all(|step| *step == Step::Far)
}

/// Whether neighbours access elements of `blocks` that lie side by side, and none that are far apart.
pub(super) fn are_near(blocks: &[&Block], function: &Function, facts: &Facts<'_>) -> bool {
    let steps = steps(function, facts);
    let instructions = blocks.iter().flat_map(|block| &block.instructions);
    let accesses = instructions.filter(|one| matches!(one.kind, Kind::Load | Kind::Store));
    let found: Vec<Step> = accesses.map(|access| address(access, &steps)).collect();
    found.contains(&Step::One) && !found.contains(&Step::Far)
}

/// Whether an instruction does more than to count or to make an address.
fn computes(instruction: &Instruction) -> bool {
    const STEPS: [&str; 8] = ["getelementptr", "add", "sub", "zext", "sext", "trunc", "icmp", "freeze"];
    let text = instruction.line.plain();
    let word = text.split(' ').next().unwrap_or_default();
    matches!(instruction.kind, Kind::Call | Kind::Other) && !STEPS.contains(&word)
}

/// The step of what an access reads or writes at: its last operand.
fn address(access: &Instruction, steps: &BTreeMap<&str, Step>) -> Step {
    let text = access.line.plain();
    let parts = list(text.split_once(' ').map_or("", |(_, rest)| rest));
    let pointer = parts.iter().find_map(|part| part.strip_prefix("ptr "));
    match pointer.map(|pointer| pointer.strip_prefix('%')) {
        Some(Some(name)) => steps.get(name).copied().unwrap_or(Step::Other),
        Some(None) => Step::Zero,
        None => Step::Other,
    }
}

/// The steps of all values whose operands have one.
fn steps<'f>(function: &'f Function, facts: &Facts<'f>) -> BTreeMap<&'f str, Step> {
    let mut steps = BTreeMap::from([(function.parameter.as_str(), Step::Zero)]);
    let mut changed = true;
    while changed {
        changed = false;
        for instruction in function.instructions() {
            let Some(name) = instruction.result.as_deref() else { continue };
            let step = match facts.uniform.contains(name) {
                true => Some(Step::Zero),
                false => step(instruction, &steps),
            };
            if let Some(step) = step
                && steps.get(name) != Some(&step)
            {
                // What has changed once has no step: the loop ends.
                let step = if steps.contains_key(name) { Step::Other } else { step };
                changed |= steps.insert(name, step) != Some(step);
            }
        }
    }
    steps
}

/// `None` as long as nothing is known of the operands.
fn step(instruction: &Instruction, steps: &BTreeMap<&str, Step>) -> Option<Step> {
    match state::read(instruction) {
        Some(State::LocalId { dimension: 0 }) => return Some(Step::One),
        Some(_) => return Some(Step::Zero),
        None => {}
    }
    if instruction.kind == Kind::Phi {
        let incoming = instruction.incoming.iter();
        // What comes without a name is a number.
        let mut known = incoming.filter_map(|it| {
            it.value.values().next().map_or(Some(Step::Zero), |name| steps.get(name).copied())
        });
        let first = known.next()?;
        return Some(if known.all(|step| step == first) { first } else { Step::Other });
    }
    let known = instruction.operands().map(|operand| steps.get(operand).copied());
    let known = known.collect::<Option<Vec<Step>>>()?;
    if known.iter().all(|step| *step == Step::Zero) {
        return Some(Step::Zero);
    }
    let text = instruction.line.plain();
    let word = text.split(' ').next().unwrap_or_default();
    Some(match word {
        "add" | "getelementptr" => sum(&known),
        "or" if text.contains(" disjoint ") => sum(&known),
        "sub" if known.last() == Some(&Step::Zero) || known.len() == 1 => sum(&known),
        "zext" | "sext" | "trunc" | "freeze" => sum(&known),
        // The lower part of a number, also as a signed one.
        "and" if keeps_low_bits(&text) => sum(&known),
        "shl" if text.starts_with("shl i64 ") && text.ends_with(", 32") => sum(&known),
        "ashr" if text.contains(" exact ") => sum(&known),
        "mul" | "shl" => product(&text, &known),
        _ => Step::Other,
    })
}

/// Whether an `and` takes away high bits alone, and leaves those of a position in a group.
fn keeps_low_bits(text: &str) -> bool {
    let mask = text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    mask.and_then(|mask| mask.checked_add(1)).is_some_and(|over| over.is_power_of_two() && over > 1024)
}

/// Of values one of which changes at most.
fn sum(known: &[Step]) -> Step {
    let mut moving = known.iter().copied().filter(|step| *step != Step::Zero);
    match (moving.next(), moving.next()) {
        (Some(step), None) => step,
        (None, _) => Step::Zero,
        _ if known.contains(&Step::Other) => Step::Other,
        _ => Step::Far,
    }
}

/// Of a changing value and one that is equal for all, or a number.
fn product(text: &str, known: &[Step]) -> Step {
    let number = text.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok());
    let number = number.map(|number| match text.starts_with("shl ") {
        true => 1u64.checked_shl(u32::try_from(number).unwrap_or(u32::MAX)).unwrap_or(u64::MAX),
        false => number,
    });
    match sum(known) {
        Step::One | Step::Far if number.is_none_or(|number| number >= FAR) => Step::Far,
        Step::Far => Step::Far,
        _ => Step::Other,
    }
}
