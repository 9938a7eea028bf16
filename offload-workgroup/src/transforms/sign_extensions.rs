//! Sign extensions of numbers of 32 bits that are numbers of 64 bits already: local ids, and the numbers beside them.
//!
//! A kernel that has `int x = get_local_id(0)` computes the address of `tile[x - 1]` as `ashr (shl (id - 1), 32), 30`. LLVM
//! folds that if it knows that the shift to the left overflows nowhere, which it finds for a counter, and not for a counter
//! less one: scalar evolution has no form for the address then, and the loop over work-items becomes no vectors. The size
//! that a kernel requires of its work-groups bounds local ids.

use std::collections::BTreeMap;

use crate::analysis::work_item_state::{StateLoad, state_load};
use crate::ir::function::{Function, Instruction};
use crate::ir::line::{Line, Token};

/// The bits of the numbers that are extended.
const NARROW_BITS: u32 = 32;
/// The first magnitude that such a number does not have.
const NARROW_LIMIT: u64 = 1 << (NARROW_BITS - 1);

/// Replaces `ashr exact (shl %x, 32), n` by `shl nsw %x, 32 - n`, where `%x` is a number of 32 bits because work-groups have the
/// size `required`.
pub(crate) fn fold(function: &mut Function, required: [u32; 3]) {
    let magnitudes = magnitudes(function, required);
    if magnitudes.is_empty() {
        return;
    }
    let mut shifted: BTreeMap<String, String> = BTreeMap::new();
    for instruction in function.instructions() {
        let Some((name, operand)) = instruction.result.as_deref().zip(shifted_operand(instruction)) else {
            continue;
        };
        if magnitudes.contains_key(operand) {
            shifted.insert(name.to_string(), operand.to_string());
        }
    }
    for instruction in function.blocks.iter_mut().flat_map(|block| &mut block.instructions) {
        let Some((operand, bits)) = extended_operand(instruction) else { continue };
        let Some(number) = shifted.get(operand) else { continue };
        let scale = format!(", {}", NARROW_BITS.saturating_sub(bits));
        instruction.line = Line::from_tokens(vec![
            Token::Text("shl nsw i64 ".to_string()),
            Token::Value(number.clone()),
            Token::Text(scale),
        ]);
    }
}

/// The greatest magnitudes of values of 64 bits that are below [`NARROW_LIMIT`].
fn magnitudes(function: &Function, required: [u32; 3]) -> BTreeMap<String, u64> {
    let mut magnitudes: BTreeMap<String, u64> = BTreeMap::new();
    // Definitions come before their uses, but for phis, which have no magnitude.
    for instruction in function.instructions() {
        let Some(name) = instruction.result.as_deref() else { continue };
        let Some(magnitude) = magnitude(instruction, &magnitudes, required) else { continue };
        if magnitude < NARROW_LIMIT {
            magnitudes.insert(name.to_string(), magnitude);
        }
    }
    magnitudes
}

fn magnitude(instruction: &Instruction, known: &BTreeMap<String, u64>, required: [u32; 3]) -> Option<u64> {
    if let Some(StateLoad::LocalId { dimension }) = state_load(instruction) {
        let size = required.get(usize::try_from(dimension).ok()?)?;
        return Some(u64::from(*size));
    }
    let text = instruction.line.text();
    if ["sext i1 ", "zext i1 "].iter().any(|start| text.starts_with(start)) && text.ends_with(" to i64") {
        return Some(1);
    }
    let (operation, operands) = text.split_once(" i64 ")?;
    let mut words = operation.split(' ');
    if !matches!(words.next(), Some("add" | "sub")) {
        return None;
    }
    let mut sum: u64 = 0;
    for operand in operands.split(", ").take(2) {
        let magnitude = match operand.strip_prefix('%') {
            Some(name) => known.get(name).copied()?,
            None => operand.parse::<i64>().ok()?.unsigned_abs(),
        };
        sum = sum.checked_add(magnitude)?;
    }
    Some(sum)
}

/// `%x` of `shl %x, 32`.
fn shifted_operand(instruction: &Instruction) -> Option<&str> {
    let is_shift = instruction.line.opcode() == "shl" && instruction.line.text().ends_with(", 32");
    if is_shift { instruction.line.values().next() } else { None }
}

/// `%x` and `n` of `ashr exact i64 %x, n`.
fn extended_operand(instruction: &Instruction) -> Option<(&str, u32)> {
    let text = instruction.line.text();
    let (_, bits) = text.strip_prefix("ashr exact i64 ")?.split_once(", ")?;
    let bits = bits.parse().ok().filter(|bits| *bits <= NARROW_BITS)?;
    Some((instruction.line.values().next()?, bits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Types;

    fn folded(body: &str, required: [u32; 3]) -> String {
        let head = "define void @__offload_work_item_k(ptr %args) #0 {\nentry:\n  \
                    %id = load i64, ptr @__offload_state_local_id, align 8";
        let mut lines: Vec<&str> = head.lines().collect();
        lines.extend(body.lines());
        lines.push("  ret void");
        let mut function = Function::parse(&lines, &Types::new("")).unwrap();
        fold(&mut function, required);
        let last = function.blocks[0].instructions.last().unwrap();
        last.line.text()
    }

    #[test]
    fn extensions_of_numbers_beside_local_ids_are_multiplications() {
        let west = "  %w = add i64 %id, -1\n  %h = shl i64 %w, 32\n  %a = ashr exact i64 %h, 30";
        assert_eq!(folded(west, [16, 1, 1]), "shl nsw i64 %w, 2");
        let east = "  %c = icmp ne i64 %id, 3\n  %o = zext i1 %c to i64\n  %e = add i64 %id, %o\n  \
                    %h = shl i64 %e, 32\n  %a = ashr exact i64 %h, 32";
        assert_eq!(folded(east, [16, 1, 1]), "shl nsw i64 %e, 0");
    }

    #[test]
    fn numbers_that_may_be_wider_stay() {
        let doubled = "  %w = mul i64 %id, 2\n  %h = shl i64 %w, 32\n  %a = ashr exact i64 %h, 30";
        assert_eq!(folded(doubled, [16, 1, 1]), "ashr exact i64 %h, 30");
        let far = "  %w = add i64 %id, 2147483640\n  %h = shl i64 %w, 32\n  %a = ashr exact i64 %h, 30";
        assert_eq!(folded(far, [16, 1, 1]), "ashr exact i64 %h, 30");
        let other = "  %h = shl i64 %id, 31\n  %a = ashr exact i64 %h, 30";
        assert_eq!(folded(other, [16, 1, 1]), "ashr exact i64 %h, 30");
    }
}
