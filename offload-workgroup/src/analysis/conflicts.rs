//! Accesses of one work-item to one location in one interval, of which one is a store.
//!
//! For a loop whose iterations are marked as independent (`llvm.loop.parallel_accesses`), LLVM's vectoriser computes no
//! dependences, not even within an iteration. It then joins strided accesses of an iteration into interleave groups: loads
//! at the place of the first of a group, stores at that of the last, and moves them across accesses in between. That is
//! harmless only where no two accesses of a work-item conflict (`docs/design/work-groups.md`).

use std::collections::BTreeSet;

use super::facts::Facts;
use super::flow::Flow;
use super::function::{Function, Instruction, Kind, operands};
use super::state;
use crate::ir::types::{Types, first_type};

/// Kernels with more accesses are taken for ones with conflicts: they have too many pairs to look at.
const MAX_ACCESSES: usize = 200;
/// Indices that differ by less than this are different in every type of integer.
const MAX_DISTANCE: u64 = 128;

/// A plain load or store.
struct Access {
    block: usize,
    /// Its position in the block.
    position: usize,
    is_store: bool,
    /// What it accesses; `None` if that is not known.
    place: Option<Place>,
}

/// A range of memory. Pointers are written as `%x` or `@x`.
struct Place {
    /// The pointer that the address is computed from, through every `getelementptr`.
    root: String,
    /// The last pointer on the way from there that is computed with an index that is no constant, or the root.
    pointer: String,
    /// From `pointer`, in bytes.
    offset: i64,
    size: i64,
}

/// A `getelementptr` with one index.
struct Step {
    ty: String,
    base: String,
    /// `i64 %x`, or `i64 4`.
    index: String,
}

/// An index: a value plus a number, extended by a cast.
#[derive(PartialEq, Eq)]
struct Index {
    /// `zext i32  to i64`, or nothing.
    cast: String,
    value: String,
    number: i64,
}

/// What is known of the function of a work-item.
pub(super) struct Conflicts<'a, 'f> {
    pub(super) function: &'f Function,
    pub(super) flow: &'a Flow,
    pub(super) facts: &'a Facts<'f>,
    pub(super) types: &'a Types<'a>,
    /// `local` arrays of the module, by name.
    pub(super) local_arrays: &'a BTreeSet<&'a str>,
}

/// What interleave groups would do to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interleaving {
    /// Two accesses of one kind from one pointer may become a group, and nothing conflicts.
    Useful,
    /// There is nothing to join.
    Useless,
    /// It may reorder accesses that conflict.
    Harmful,
}

impl Conflicts<'_, '_> {
    pub(super) fn interleaving(&self) -> Interleaving {
        let accesses = self.accesses();
        if accesses.len() > MAX_ACCESSES || self.exist(&accesses) {
            return Interleaving::Harmful;
        }
        for (number, first) in accesses.iter().enumerate() {
            for second in accesses.iter().skip(number.saturating_add(1)) {
                let have_one_root = match (&first.place, &second.place) {
                    (Some(first), Some(second)) => first.root == second.root,
                    _ => true,
                };
                if first.is_store == second.is_store && have_one_root {
                    return Interleaving::Useful;
                }
            }
        }
        Interleaving::Useless
    }

    /// Whether a work-item may store to a location and access it again before the next barrier.
    fn exist(&self, accesses: &[Access]) -> bool {
        for store in accesses.iter().filter(|access| access.is_store) {
            let reached = self.flow.until_barrier_after(store.block);
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

    fn accesses(&self) -> Vec<Access> {
        let mut found = Vec::new();
        for (number, block) in self.function.blocks.iter().enumerate() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                let is_store = match instruction.kind {
                    Kind::Store => true,
                    Kind::Load => false,
                    _ => continue,
                };
                let name = instruction.result.as_deref().unwrap_or_default();
                // Nothing is stored where these are loaded from.
                let is_constant = state::read(instruction).is_some() || self.facts.arguments.contains(name);
                if !is_constant {
                    let place = self.place(instruction);
                    found.push(Access { block: number, position, is_store, place });
                }
            }
        }
        found
    }

    /// Whether the value `name`, as `%x` or `@x`, is the same for an access and for all that follow it in the interval, which
    /// are in the blocks `reached`: it is not computed again in between.
    fn is_fixed(&self, name: &str, reached: &BTreeSet<usize>) -> bool {
        let definition = name.strip_prefix('%').and_then(|name| self.facts.definitions.get(name));
        definition.is_none_or(|definition| !reached.contains(&definition.block))
    }

    /// Whether two numbers differ by a constant that is not zero.
    fn differ(&self, one: &str, other: &str, reached: &BTreeSet<usize>) -> bool {
        let (Some(one), Some(other)) = (self.index(one), self.index(other)) else { return false };
        let distance = one.number.abs_diff(other.number);
        let is_same_value = one.cast == other.cast && one.value == other.value;
        is_same_value && self.is_fixed(&one.value, reached) && distance > 0 && distance < MAX_DISTANCE
    }

    /// Whether `second`, in one of the blocks `reached` from `first` or behind it in its own, may access the same memory.
    fn may_overlap(&self, first: &Access, second: &Access, reached: &BTreeSet<usize>) -> bool {
        let (Some(first), Some(second)) = (&first.place, &second.place) else { return true };
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

    /// Whether two roots are two variables of the module, or a `local` one and an argument: what a program passes is no
    /// pointer into the group's memory of another name.
    fn are_different_objects(&self, first: &str, second: &str) -> bool {
        let is_local =
            |root: &str| root.strip_prefix('@').is_some_and(|name| self.local_arrays.contains(name));
        let is_argument =
            |root: &str| root.strip_prefix('%').is_some_and(|name| self.facts.arguments.contains(name));
        let are_variables = first.starts_with('@') && second.starts_with('@');
        are_variables || is_local(first) && is_argument(second) || is_argument(first) && is_local(second)
    }

    /// Whether two accesses lie within elements of one array whose indices differ.
    fn are_different_elements(&self, first: &Place, second: &Place, reached: &BTreeSet<usize>) -> bool {
        let (Some(one), Some(other)) = (self.step(&first.pointer), self.step(&second.pointer)) else {
            return false;
        };
        if one.ty != other.ty || one.base != other.base || !self.is_fixed(&one.base, reached) {
            return false;
        }
        let size = self.types.layout(&one.ty).and_then(|layout| i64::try_from(layout.size).ok());
        let is_within = |place: &Place| {
            let end = place.offset.saturating_add(place.size);
            place.offset >= 0 && size.is_some_and(|size| end <= size)
        };
        if !is_within(first) || !is_within(second) {
            return false;
        }
        self.differ(&one.index, &other.index, reached)
    }

    /// Where a load or store accesses memory.
    fn place(&self, access: &Instruction) -> Option<Place> {
        let text = access.line.plain();
        let parts = operands(&text);
        let first = parts.first()?;
        let ty = match access.kind {
            Kind::Load => first,
            _ => first_type(first)?.ty,
        };
        let size = i64::try_from(self.types.layout(ty)?.size).ok()?;
        let pointer = plain_pointer(parts.get(1)?)?;
        let mut place = Place { root: pointer.clone(), pointer, offset: 0, size };
        let mut is_constant = true;
        // A pointer is computed from itself by a phi alone, where this ends.
        while let Some(step) = self.step(&place.root) {
            let bytes = step.constant(self.types).filter(|_| is_constant);
            match bytes {
                Some(bytes) => {
                    place.offset = place.offset.checked_add(bytes)?;
                    place.pointer.clone_from(&step.base);
                }
                None => is_constant = false,
            }
            place.root = step.base;
        }
        Some(place)
    }

    /// The `getelementptr` that computes `pointer`.
    fn step(&self, pointer: &str) -> Option<Step> {
        let definition = self.facts.definitions.get(pointer.strip_prefix('%')?)?;
        Step::parse(&definition.instruction.line.plain())
    }

    fn index(&self, text: &str) -> Option<Index> {
        let (_, value) = text.split_once(' ')?;
        let mut index = Index { cast: String::new(), value: value.to_string(), number: 0 };
        while let Some(definition) =
            index.value.strip_prefix('%').and_then(|name| self.facts.definitions.get(name))
        {
            let text = definition.instruction.line.plain();
            let Some((value, number)) = sum(&text) else {
                let is_first = index.cast.is_empty() && index.number == 0;
                let Some((cast, value)) = extension(&text).filter(|_| is_first) else { break };
                index.cast = cast;
                index.value = value;
                continue;
            };
            index.number = index.number.checked_add(number)?;
            index.value = value;
        }
        Some(index)
    }
}

impl Step {
    /// `getelementptr inbounds i32, ptr %x, i64 %i`.
    fn parse(text: &str) -> Option<Step> {
        let rest = text.strip_prefix("getelementptr ")?;
        let rest = ["inbounds ", "nusw ", "nuw "]
            .iter()
            .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
        let parts = crate::ir::types::list(rest);
        let [ty, base, index, ..] = parts.as_slice() else { return None };
        let is_only = parts.get(3).is_none_or(|part| part.starts_with('!'));
        if !is_only {
            return None;
        }
        Some(Step { ty: (*ty).to_string(), base: plain_pointer(base)?, index: (*index).to_string() })
    }

    /// The distance in bytes, if the index is a number.
    fn constant(&self, types: &Types<'_>) -> Option<i64> {
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

/// The value and the number of `add nsw i32 %x, 3` and `or disjoint i32 %x, 3`.
fn sum(text: &str) -> Option<(String, i64)> {
    if !text.starts_with("add ") && !text.starts_with("or disjoint ") {
        return None;
    }
    let (left, number) = text.split(", !").next()?.rsplit_once(", ")?;
    let value = left.rsplit(' ').next()?;
    Some((value.to_string(), number.parse().ok()?))
}

/// The types and the value of `zext nneg i32 %x to i64`, or of a mask of low bits, `and i64 %x, 4294967295`.
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
    use super::super::validity::Validity;
    use super::*;

    /// Whether accesses conflict in the body of a kernel with pointers `%5` and `%6` to 32-bit numbers and an index `%7`.
    fn conflicts(body: &str) -> bool {
        let text = format!(
            "define void @f(ptr %0) {{\n  %2 = getelementptr inbounds i8, ptr %0, i64 8\n  %3 = load ptr, ptr %0\n  \
             %4 = load ptr, ptr %2\n  %5 = load ptr, ptr %3\n  %6 = load ptr, ptr %4\n  \
             %7 = load i64, ptr @__offload_state_local_id\n  %8 = shl i64 %7, 1\n  %9 = or disjoint i64 %8, 1\n  \
             %10 = getelementptr i32, ptr %5, i64 %8\n  %11 = getelementptr i32, ptr %5, i64 %9\n  \
             %12 = getelementptr i32, ptr %6, i64 %8\n{body}\n  ret void"
        );
        let types = Types::of("");
        let lines: Vec<&str> = text.lines().collect();
        let function = Function::parse(&lines, &types).unwrap();
        let flow = Flow::new(&function, Validity::Assumed);
        let facts = Facts::of(&function, &flow);
        let local_arrays = BTreeSet::from(["f.tile"]);
        let conflicts = Conflicts {
            function: &function,
            flow: &flow,
            facts: &facts,
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

    #[test]
    fn indices_are_compared_through_extensions_and_masks() {
        let stores = |first: &str, second: &str| {
            format!(
                "  %13 = trunc i64 %7 to i32\n  %14 = add i32 %13, 8\n  %15 = add i64 %7, 8\n  %16 = {first}\n  %17 = {second}\n  \
                 %18 = getelementptr i32, ptr %5, i64 %16\n  %19 = getelementptr i32, ptr %5, i64 %17\n  \
                 store i32 1, ptr %18\n  store i32 2, ptr %19"
            )
        };
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
