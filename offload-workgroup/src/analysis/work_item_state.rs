//! Loads of the state of a work-item: its local id, and the numbers that all work-items of its group share.
//!
//! Both are invariant while the work-item runs, so that work-group functions keep them in registers.

use crate::ir::function::{Instruction, Opcode};
use crate::ir::{global_name, integers};

/// The prefix of the variables that hold state.
pub(crate) const STATE_PREFIX: &str = "__offload_state_";
/// The prefix of the variables with which the lanes of a warp exchange values.
pub(crate) const WARP_PREFIX: &str = "__offload_warp_";
/// The variable with the size of sub-groups, if the module has functions of them.
pub(crate) const SUB_GROUP_SIZE: &str = "__offload_state_sub_group_size";
/// The position of a work-item in its group.
const LOCAL_ID: &str = "local_id";

/// A variable whose value all work-items of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupField {
    pub(crate) name: &'static str,
    /// The offset in `struct offload_group`, in bytes.
    pub(crate) offset: u64,
    pub(crate) dimensions: u64,
}

/// The fields of `struct offload_group`.
pub(crate) const GROUP_FIELDS: [GroupField; 7] = [
    GroupField { name: "global_offset", offset: 0, dimensions: 3 },
    GroupField { name: "global_size", offset: 24, dimensions: 3 },
    GroupField { name: "local_size", offset: 48, dimensions: 3 },
    GroupField { name: "num_groups", offset: 72, dimensions: 3 },
    GroupField { name: "group_id", offset: 96, dimensions: 3 },
    GroupField { name: "work_dim", offset: 120, dimensions: 1 },
    GroupField { name: "enqueued_local_size", offset: 152, dimensions: 3 },
];

/// The variable that a load of state reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateLoad {
    Group { field: GroupField, dimension: u64 },
    LocalId { dimension: u64 },
}

/// The variable that `instruction` reads, if it is a load of one number of the state.
pub(crate) fn state_load(instruction: &Instruction) -> Option<StateLoad> {
    if instruction.opcode != Opcode::Load || instruction.operands().next().is_some() {
        return None;
    }
    // Without operands it is one text.
    let address = instruction.line.start().strip_prefix("load i64, ptr ")?;
    let name = global_name(address)?.strip_prefix(STATE_PREFIX)?;
    let dimension = match address.strip_prefix("getelementptr ") {
        Some(rest) => element_index(rest)?,
        None => 0,
    };
    if name == LOCAL_ID {
        return (dimension < 3).then_some(StateLoad::LocalId { dimension });
    }
    let field = GROUP_FIELDS.into_iter().find(|field| field.name == name && dimension < field.dimensions)?;
    Some(StateLoad::Group { field, dimension })
}

/// The element that `inbounds nuw (i8, ptr @x, i64 8), align 8` addresses.
fn element_index(text: &str) -> Option<u64> {
    let (ty, rest) = text.split_once('(')?.1.split_once(", ")?;
    let indices = integers(rest.split_once(')')?.0);
    let last = u64::from(*indices.last()?);
    match ty {
        "i8" => (last % 8 == 0).then_some(last / 8),
        // Elements of other types have other sizes.
        "i64" | "{ i64" => Some(last),
        _ => ty.starts_with("%struct.vec").then_some(last),
    }
}

/// Whether `instruction` uses the address of the local id otherwise than [`state_load`] recognises.
pub(crate) fn uses_local_id_address(instruction: &Instruction) -> bool {
    const NAME: &str = "@__offload_state_local_id";
    let is_incoming = instruction.incoming.iter().any(|incoming| incoming.value.contains(NAME));
    is_incoming || instruction.line.contains(NAME) && state_load(instruction).is_none()
}

/// The letter of a dimension.
pub(crate) fn axis(dimension: u64) -> &'static str {
    match dimension {
        0 => "x",
        1 => "y",
        _ => "z",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Types;
    use crate::ir::function::Function;

    fn state(line: &str) -> Option<StateLoad> {
        let types = Types::new("%struct.vec = type { i64, i64, i64 }\n");
        let text = ["define void @f(ptr %args) {", line, "  ret void"];
        let function = Function::parse(&text, &types).unwrap();
        function.instructions().next().and_then(state_load)
    }

    #[test]
    fn loads_of_state_are_known_in_every_form() {
        let [.., group_id, _, _] = GROUP_FIELDS;
        assert_eq!(
            state("  %1 = load i64, ptr @__offload_state_group_id, align 8"),
            Some(StateLoad::Group { field: group_id, dimension: 0 })
        );
        assert_eq!(
            state(
                "  %1 = load i64, ptr getelementptr inbounds nuw (i8, ptr @__offload_state_local_id, i64 16), align 8"
            ),
            Some(StateLoad::LocalId { dimension: 2 })
        );
        assert_eq!(
            state(
                "  %1 = load i64, ptr getelementptr inbounds (%struct.vec, ptr @__offload_state_group_id, i32 0, i32 1), align 8"
            ),
            Some(StateLoad::Group { field: group_id, dimension: 1 })
        );
        assert_eq!(state("  %1 = load i64, ptr %args, align 8"), None);
        assert_eq!(state("  %1 = load i64, ptr @other, align 8"), None);
    }
}
