//! What a work-item's function reads of where it is and of its arguments: the same whenever it is read.

use super::function::{Instruction, Kind};
use crate::ir::{global_name, integers};

/// Variables of `host_shim.c`.
const PREFIX: &str = "__offload_state_";
/// The position of a work-item in its group.
const LOCAL_ID: &str = "local_id";

/// A variable of `host_shim.c` that a group has one value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupField {
    pub(super) name: &'static str,
    /// Where it lies in `struct offload_group`, in bytes.
    pub(super) offset: u64,
    pub(super) dimensions: u64,
}

/// All of them.
pub(super) const GROUP_FIELDS: [GroupField; 6] = [
    GroupField { name: "global_offset", offset: 0, dimensions: 3 },
    GroupField { name: "global_size", offset: 24, dimensions: 3 },
    GroupField { name: "local_size", offset: 48, dimensions: 3 },
    GroupField { name: "num_groups", offset: 72, dimensions: 3 },
    GroupField { name: "group_id", offset: 96, dimensions: 3 },
    GroupField { name: "work_dim", offset: 120, dimensions: 1 },
];

/// What a load of such a variable reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Group { field: GroupField, dimension: u64 },
    LocalId { dimension: u64 },
}

/// What `instruction` reads, if it is a load of one number of a work-item's state.
pub(super) fn read(instruction: &Instruction) -> Option<State> {
    if instruction.kind != Kind::Load || instruction.operands().next().is_some() {
        return None;
    }
    let text = instruction.line.plain();
    let address = text.strip_prefix("load i64, ptr ")?;
    let name = global_name(address)?.0.strip_prefix(PREFIX)?;
    let dimension = match address.strip_prefix("getelementptr ") {
        Some(rest) => index(rest)?,
        None => 0,
    };
    if name == LOCAL_ID {
        return (dimension < 3).then_some(State::LocalId { dimension });
    }
    let field = GROUP_FIELDS.into_iter().find(|field| field.name == name && dimension < field.dimensions)?;
    Some(State::Group { field, dimension })
}

/// The element that `inbounds nuw (i8, ptr @x, i64 8), align 8` addresses.
fn index(text: &str) -> Option<u64> {
    let (ty, rest) = text.split_once('(')?.1.split_once(", ")?;
    let indices = integers(rest.split_once(')')?.0);
    let last = u64::from(*indices.last()?);
    match ty {
        "i8" => (last % 8 == 0).then_some(last / 8),
        // Any other element would have another size.
        "i64" | "{ i64" => Some(last),
        _ => ty.starts_with("%struct.vec").then_some(last),
    }
}

/// Whether the text of an instruction reads where the work-item is in a way that [`read`] does not know.
pub(super) fn mentions_local_id(instruction: &Instruction) -> bool {
    const NAME: &str = "@__offload_state_local_id";
    let is_incoming = instruction.incoming.iter().any(|incoming| incoming.value.contains(NAME));
    is_incoming || instruction.line.contains(NAME) && read(instruction).is_none()
}

/// The letter of a dimension.
pub(super) fn axis(dimension: u64) -> &'static str {
    match dimension {
        0 => "x",
        1 => "y",
        _ => "z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::types::Types;
    use crate::ir::work_items::function::Function;

    fn state(line: &str) -> Option<State> {
        let types = Types::of("%struct.vec = type { i64, i64, i64 }\n");
        let text = ["define void @f(ptr %args) {", line, "  ret void"];
        let function = Function::parse(&text, &types).unwrap();
        function.instructions().next().and_then(read)
    }

    #[test]
    fn loads_of_state_are_known_in_every_form() {
        let [.., group_id, _] = GROUP_FIELDS;
        assert_eq!(
            state("  %1 = load i64, ptr @__offload_state_group_id, align 8"),
            Some(State::Group { field: group_id, dimension: 0 })
        );
        assert_eq!(
            state(
                "  %1 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__offload_state_local_id, i64 16), align 8"
            ),
            Some(State::LocalId { dimension: 2 })
        );
        assert_eq!(
            state(
                "  %1 = load i64, ptr getelementptr inbounds (%struct.vec, ptr @__offload_state_group_id, i32 0, i32 1), align 8"
            ),
            Some(State::Group { field: group_id, dimension: 1 })
        );
        assert_eq!(state("  %1 = load i64, ptr %args, align 8"), None);
        assert_eq!(state("  %1 = load i64, ptr @other, align 8"), None);
    }
}
