//! Conflicting accesses: two accesses of one work-item to one location in one interval, of which the first is a store.
//!
//! For a loop whose iterations are marked as independent (`llvm.loop.parallel_accesses`), LLVM's vectoriser computes no
//! dependences, not even within an iteration. It then joins strided accesses of an iteration into interleave groups: loads
//! at the place of the first of a group, stores at that of the last, and moves them across accesses in between. That is
//! harmless only where no two accesses of a work-item conflict (`docs/design/work-groups.md`).

use std::collections::BTreeSet;

use crate::analysis::control_flow::ControlFlowGraph;
use crate::analysis::values::Values;
use crate::analysis::work_item_state::state_load;
use crate::ir::function::{Function, Instruction, Opcode, operands};
use crate::ir::{Types, first_type, list};

/// The limit on accesses whose pairs are analysed. Kernels with more are taken for ones with conflicts.
const MAX_ACCESSES: usize = 200;
/// The limit on the difference of indices that stay different in every integer type.
const MAX_DISTANCE: u64 = 128;

/// A plain load or store.
struct Access {
    block: usize,
    /// Its position in the block.
    position: usize,
    is_store: bool,
    /// The accessed memory; `None` if it is unknown.
    range: Option<MemoryRange>,
}

/// A range of memory. Pointers are written as `%x` or `@x`.
struct MemoryRange {
    /// The pointer that the address is computed from, through every `getelementptr`.
    root: String,
    /// The last pointer on the way from the root that is computed with an index that is no constant, or the root.
    pointer: String,
    /// The offset from `pointer`, in bytes.
    offset: i64,
    size: i64,
}

/// A `getelementptr` with one index.
struct ElementAddress {
    ty: String,
    base: String,
    /// `i64 %x`, or `i64 4`.
    index: String,
}

/// An index: a value plus a constant, extended by a cast.
#[derive(PartialEq, Eq)]
struct IndexExpression {
    /// `zext i32  to i64`, or nothing.
    cast: String,
    value: String,
    constant: i64,
}

/// The analyses that conflicts depend on.
pub(crate) struct Conflicts<'a, 'f> {
    pub(crate) function: &'f Function,
    pub(crate) cfg: &'a ControlFlowGraph,
    pub(crate) values: &'a Values<'f>,
    pub(crate) types: &'a Types<'a>,
    /// `local` arrays of the module, by name.
    pub(crate) local_arrays: &'a BTreeSet<&'a str>,
}

/// The effect of interleave groups on a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interleaving {
    /// Two accesses of one kind from one pointer may become a group, and nothing conflicts.
    Useful,
    /// No accesses can be joined.
    Useless,
    /// Conflicting accesses may be reordered.
    Harmful,
}

impl Conflicts<'_, '_> {
    pub(crate) fn interleaving(&self) -> Interleaving {
        let Some(accesses) = self.accesses() else { return Interleaving::Harmful };
        if self.has_conflict(&accesses) {
            return Interleaving::Harmful;
        }
        for (number, first) in accesses.iter().enumerate() {
            for second in accesses.iter().skip(number.saturating_add(1)) {
                let may_have_one_root = match (&first.range, &second.range) {
                    (Some(first), Some(second)) => first.root == second.root,
                    _ => true,
                };
                if first.is_store == second.is_store && may_have_one_root {
                    return Interleaving::Useful;
                }
            }
        }
        Interleaving::Useless
    }

    /// Whether a work-item may store to a location and access it again before the next barrier.
    fn has_conflict(&self, accesses: &[Access]) -> bool {
        for store in accesses.iter().filter(|access| access.is_store) {
            let reached = self.cfg.blocks_until_group_barrier(store.block);
            for later in accesses {
                let is_behind = store.block == later.block && store.position < later.position;
                let follows = is_behind || reached.contains(&later.block);
                if follows && self.may_overlap(store, later, &reached) {
                    return true;
                }
            }
        }
        false
    }

    /// `None` if there are too many.
    fn accesses(&self) -> Option<Vec<Access>> {
        let mut accesses = Vec::new();
        for (number, block) in self.function.blocks.iter().enumerate() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                let is_store = match instruction.opcode {
                    Opcode::Store => true,
                    Opcode::Load => false,
                    _ => continue,
                };
                let name = instruction.result.as_deref().unwrap_or_default();
                // Nothing is stored to the state and to the arguments.
                let is_constant = state_load(instruction).is_some() || self.values.arguments.contains(name);
                if !is_constant {
                    if accesses.len() == MAX_ACCESSES {
                        return None;
                    }
                    let range = self.range(instruction);
                    accesses.push(Access { block: number, position, is_store, range });
                }
            }
        }
        Some(accesses)
    }

    /// Whether the value `name`, as `%x` or `@x`, is the same for an access and for all that follow it in the interval, which
    /// are in the blocks `reached`: it is not computed again in between.
    fn is_fixed(&self, name: &str, reached: &BTreeSet<usize>) -> bool {
        let definition = name.strip_prefix('%').and_then(|name| self.values.definitions.get(name));
        definition.is_none_or(|definition| !reached.contains(&definition.block))
    }

    /// Whether two indices differ by a constant that is not zero.
    fn differ(&self, one: &str, other: &str, reached: &BTreeSet<usize>) -> bool {
        let (Some(one), Some(other)) = (self.index(one), self.index(other)) else { return false };
        let distance = one.constant.abs_diff(other.constant);
        let is_same_value = one.cast == other.cast && one.value == other.value;
        is_same_value && self.is_fixed(&one.value, reached) && distance > 0 && distance < MAX_DISTANCE
    }

    /// Whether `second`, in one of the blocks `reached` from `first` or behind it in its own, may access the same memory.
    fn may_overlap(&self, first: &Access, second: &Access, reached: &BTreeSet<usize>) -> bool {
        let (Some(first), Some(second)) = (&first.range, &second.range) else { return true };
        if first.root != second.root {
            return !self.are_different_objects(&first.root, &second.root);
        }
        if first.pointer == second.pointer && self.is_fixed(&first.pointer, reached) {
            let first_end = first.offset.saturating_add(first.size);
            let second_end = second.offset.saturating_add(second.size);
            return first.offset < second_end && second.offset < first_end;
        }
        !self.are_different_elements(first, second, reached)
    }

    /// Whether two roots are two variables of the module, or a `local` array and an argument: programs pass no pointer into
    /// the group's memory of another name.
    fn are_different_objects(&self, first: &str, second: &str) -> bool {
        let are_variables = first.starts_with('@') && second.starts_with('@');
        are_variables
            || self.is_local_array(first) && self.is_argument(second)
            || self.is_argument(first) && self.is_local_array(second)
    }

    fn is_local_array(&self, root: &str) -> bool {
        root.strip_prefix('@').is_some_and(|name| self.local_arrays.contains(name))
    }

    fn is_argument(&self, root: &str) -> bool {
        root.strip_prefix('%').is_some_and(|name| self.values.arguments.contains(name))
    }

    /// Whether two accesses lie within elements of one array whose indices differ.
    fn are_different_elements(
        &self,
        first: &MemoryRange,
        second: &MemoryRange,
        reached: &BTreeSet<usize>,
    ) -> bool {
        let one = self.element_address(&first.pointer);
        let other = self.element_address(&second.pointer);
        let (Some(one), Some(other)) = (one, other) else { return false };
        if one.ty != other.ty || one.base != other.base || !self.is_fixed(&one.base, reached) {
            return false;
        }
        let size = self.types.layout(&one.ty).and_then(|layout| i64::try_from(layout.size).ok());
        size.is_some_and(|size| first.is_within(size) && second.is_within(size))
            && self.differ(&one.index, &other.index, reached)
    }

    /// The memory that a load or store accesses.
    fn range(&self, access: &Instruction) -> Option<MemoryRange> {
        let text = access.line.text();
        let parts = operands(&text);
        let first = parts.first()?;
        let ty = match access.opcode {
            Opcode::Load => first,
            _ => first_type(first)?.ty,
        };
        let size = i64::try_from(self.types.layout(ty)?.size).ok()?;
        let pointer = plain_pointer(parts.get(1)?)?;
        let mut range = MemoryRange { root: pointer.clone(), pointer, offset: 0, size };
        let mut is_constant = true;
        // A pointer is computed from itself by a phi alone, where this ends.
        while let Some(element) = self.element_address(&range.root) {
            match element.constant_offset(self.types).filter(|_| is_constant) {
                Some(bytes) => {
                    range.offset = range.offset.checked_add(bytes)?;
                    range.pointer.clone_from(&element.base);
                }
                None => is_constant = false,
            }
            range.root = element.base;
        }
        Some(range)
    }

    /// The `getelementptr` that computes `pointer`.
    fn element_address(&self, pointer: &str) -> Option<ElementAddress> {
        let definition = self.values.definitions.get(pointer.strip_prefix('%')?)?;
        ElementAddress::parse(&definition.instruction.line.text())
    }

    fn index(&self, text: &str) -> Option<IndexExpression> {
        let (_, value) = text.split_once(' ')?;
        let mut index = IndexExpression { cast: String::new(), value: value.to_string(), constant: 0 };
        while let Some(definition) =
            index.value.strip_prefix('%').and_then(|name| self.values.definitions.get(name))
        {
            let text = definition.instruction.line.text();
            let Some((value, constant)) = sum_with_constant(&text) else {
                let is_first = index.cast.is_empty() && index.constant == 0;
                let Some((cast, value)) = extension(&text).filter(|_| is_first) else { break };
                index.cast = cast;
                index.value = value;
                continue;
            };
            index.constant = index.constant.checked_add(constant)?;
            index.value = value;
        }
        Some(index)
    }
}

impl MemoryRange {
    /// Whether the range lies in the first `size` bytes behind its pointer.
    fn is_within(&self, size: i64) -> bool {
        self.offset >= 0 && self.offset.saturating_add(self.size) <= size
    }
}

impl ElementAddress {
    /// `getelementptr inbounds i32, ptr %x, i64 %i`.
    fn parse(text: &str) -> Option<ElementAddress> {
        let mut rest = text.strip_prefix("getelementptr ")?;
        for flag in ["inbounds ", "nusw ", "nuw "] {
            rest = rest.strip_prefix(flag).unwrap_or(rest);
        }
        let parts = list(rest);
        let [ty, base, index, ..] = parts.as_slice() else { return None };
        let has_one_index = parts.get(3).is_none_or(|part| part.starts_with('!'));
        if !has_one_index {
            return None;
        }
        Some(ElementAddress {
            ty: (*ty).to_string(),
            base: plain_pointer(base)?,
            index: (*index).to_string(),
        })
    }

    /// The distance in bytes, if the index is a constant.
    fn constant_offset(&self, types: &Types<'_>) -> Option<i64> {
        let (_, number) = self.index.split_once(' ')?;
        let size = i64::try_from(types.layout(&self.ty)?.size).ok()?;
        number.parse::<i64>().ok()?.checked_mul(size)
    }
}

/// `%x` of `ptr %x`.
fn plain_pointer(operand: &str) -> Option<String> {
    let name = operand.strip_prefix("ptr ")?;
    let is_name = name.starts_with(['%', '@']) && !name.contains([' ', '(']);
    is_name.then(|| name.to_string())
}

/// The value and the constant of `add nsw i32 %x, 3` and `or disjoint i32 %x, 3`.
fn sum_with_constant(text: &str) -> Option<(String, i64)> {
    if !text.starts_with("add ") && !text.starts_with("or disjoint ") {
        return None;
    }
    let (left, number) = text.split(", !").next()?.rsplit_once(", ")?;
    let value = left.rsplit(' ').next()?;
    Some((value.to_string(), number.parse().ok()?))
}

/// The cast and the value of `zext nneg i32 %x to i64`, or of a mask of low bits, `and i64 %x, 4294967295`.
fn extension(text: &str) -> Option<(String, String)> {
    let (word, rest) = text.split_once(' ')?;
    if word == "and" {
        let (typed, mask) = rest.split(", !").next()?.split_once(", ")?;
        let (ty, value) = typed.split_once(' ')?;
        let numbers = mask.parse::<u64>().ok()?.checked_add(1)?;
        let keeps_distances = numbers.is_power_of_two() && numbers >= MAX_DISTANCE.saturating_mul(2);
        return keeps_distances.then(|| (format!("and {ty} {mask}"), value.to_string()));
    }
    if word != "zext" && word != "sext" {
        return None;
    }
    let rest = rest.strip_prefix("nneg ").unwrap_or(rest);
    let (ty, rest) = rest.split_once(' ')?;
    let (value, to) = rest.split_once(" to ")?;
    Some((format!("{word} {ty} to {to}"), value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Validity;

    /// Whether accesses conflict in the body of a kernel with pointers `%5` and `%6` to 32-bit numbers and an index `%7`.
    fn conflicts(body: &str) -> bool {
        let text = format!(
            "define void @f(ptr %0) {{\n  %2 = getelementptr inbounds i8, ptr %0, i64 8\n  %3 = load ptr, ptr %0\n  \
             %4 = load ptr, ptr %2\n  %5 = load ptr, ptr %3\n  %6 = load ptr, ptr %4\n  \
             %7 = load i64, ptr @__offload_state_local_id\n  %8 = shl i64 %7, 1\n  %9 = or disjoint i64 %8, 1\n  \
             %10 = getelementptr i32, ptr %5, i64 %8\n  %11 = getelementptr i32, ptr %5, i64 %9\n  \
             %12 = getelementptr i32, ptr %6, i64 %8\n{body}\n  ret void"
        );
        let types = Types::new("");
        let lines: Vec<&str> = text.lines().collect();
        let function = Function::parse(&lines, &types).unwrap();
        let cfg = ControlFlowGraph::new(&function, Validity::Assumed);
        let values = Values::new(&function, &cfg);
        let local_arrays = BTreeSet::from(["f.tile"]);
        let conflicts = Conflicts {
            function: &function,
            cfg: &cfg,
            values: &values,
            types: &types,
            local_arrays: &local_arrays,
        };
        conflicts.interleaving() == Interleaving::Harmful
    }

    #[test]
    fn loads_before_stores_and_stores_to_different_elements_do_not_conflict() {
        assert!(!conflicts("  %13 = load i32, ptr %12\n  store i32 %13, ptr %10\n  store i32 %13, ptr %11"));
        assert!(conflicts("  store i32 1, ptr %10\n  store i32 2, ptr %12"));
        assert!(conflicts("  store i32 1, ptr %10\n  %13 = load i32, ptr %12\n  store i32 %13, ptr %11"));
        // Wider than an element.
        assert!(conflicts("  store i64 1, ptr %10\n  store i32 2, ptr %11"));
    }

    #[test]
    fn local_arrays_are_no_arguments() {
        let body = "  %13 = getelementptr i32, ptr @f.tile, i64 %8\n  %14 = load i32, ptr %10\n  store i32 %14, ptr %13\n  \
             %15 = load i32, ptr %11\n  %16 = getelementptr i32, ptr @f.tile, i64 %9\n  store i32 %15, ptr %16";
        assert!(!conflicts(body));
        assert!(conflicts(&body.replace("@f.tile", "@f.other")));
    }

    /// Two stores with these indices.
    fn stores(first: &str, second: &str) -> String {
        format!(
            "  %13 = trunc i64 %7 to i32\n  %14 = add i32 %13, 8\n  %15 = add i64 %7, 8\n  %16 = {first}\n  %17 = {second}\n  \
             %18 = getelementptr i32, ptr %5, i64 %16\n  %19 = getelementptr i32, ptr %5, i64 %17\n  \
             store i32 1, ptr %18\n  store i32 2, ptr %19"
        )
    }

    #[test]
    fn indices_are_compared_through_extensions_and_masks() {
        assert!(!conflicts(&stores("zext i32 %13 to i64", "zext i32 %14 to i64")));
        assert!(!conflicts(&stores("and i64 %7, 4294967295", "and i64 %15, 4294967295")));
        assert!(conflicts(&stores("and i64 %7, 15", "and i64 %15, 15")));
        assert!(conflicts(&stores("zext i32 %13 to i64", "and i64 %15, 4294967295")));
        assert!(conflicts(&stores("mul i64 %7, %7", "mul i64 %15, %7")));
    }

    #[test]
    fn rounds_of_a_loop_conflict_with_each_other() {
        let body = "  br label %13\n13:\n  store i32 1, ptr %10\n  br i1 undef, label %13, label %15\n15:";
        assert!(conflicts(body));
        // The store of a round, and the load of the next.
        let moving = "  br label %13\n13:\n  %14 = load i64, ptr %12\n  %15 = getelementptr i32, ptr %5, i64 %14\n  \
             %16 = load i32, ptr %15\n  %17 = getelementptr i8, ptr %15, i64 4\n  store i32 %16, ptr %17\n  \
             br i1 undef, label %13, label %18\n18:";
        assert!(conflicts(moving));
        assert!(!conflicts(&moving.replace("br i1 undef, label %13, label %18", "br label %18")));
    }

    #[test]
    fn a_chosen_pointer_can_be_any() {
        let body =
            "  %13 = select i1 undef, ptr %5, ptr %6\n  store i32 1, ptr %13\n  %14 = load i32, ptr %12";
        assert!(conflicts(body));
    }
}
