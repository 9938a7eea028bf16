//! Lexical scope and control-flow position of a generated statement.

use super::shared::Shared;

/// The names that statements of a function can use.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Variables of type `uint` that any statement may assign.
    pub(super) variables: Vec<String>,
    /// Variables of type `uint` that are equal for all work-items of a group and assigned where control flow is uniform.
    pub(super) uniform_variables: Vec<String>,
    /// Numbers that are equal for all work-items of a group, and not assigned.
    pub(super) uniform_values: Vec<String>,
    /// Numbers that differ between work-items, and are not assigned: positions, counters of loops.
    pub(super) varying_values: Vec<String>,
    /// Private arrays and pointers to one, of [`PRIVATE_ELEMENTS`] elements.
    pub(super) arrays: Vec<String>,
    /// Private arrays of as many elements of 8 or 16 bits.
    pub(super) narrow_arrays: Vec<String>,
    /// Pointers among `arrays`, which may be assigned.
    pub(super) pointers: Vec<String>,
    /// Variables of type `uint4`, `ulong`, `float` and `bool`.
    pub(super) vectors: Vec<String>,
    pub(super) longs: Vec<String>,
    pub(super) floats: Vec<String>,
    pub(super) bools: Vec<String>,
    /// Variables of the structure of the program.
    pub(super) structures: Vec<String>,
    /// Pointers through which a work-item reaches its own elements of the output; all are equal.
    pub(super) outputs: Vec<String>,
    /// Arrays that the work-items of a group share.
    pub(super) shared: Vec<Shared>,
    /// Two local arrays that swap their roles, if there are such.
    pub(super) buffers: Option<[String; 2]>,
}

/// Elements of each private array.
pub(super) const PRIVATE_ELEMENTS: u32 = 8;

/// Where a statement stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Context {
    /// Whether all work-items of the group come here, so that a barrier is valid.
    pub(super) is_uniform: bool,
    /// Whether a barrier may follow for the work-items that leave the kernel here.
    pub(super) may_return: bool,
    /// Whether `break` and `continue` leave a loop of this function that is no barrier's.
    pub(super) in_loop: bool,
    /// How many constructs it stands in.
    pub(super) depth: u32,
    /// Whether the function is the kernel.
    pub(super) in_kernel: bool,
}

impl Context {
    /// Inside of a construct that only some work-items execute, or with a count of their own.
    pub(super) fn divergent(self) -> Context {
        Context { is_uniform: false, depth: self.depth.saturating_add(1), ..self }
    }

    /// Inside of a construct that all work-items execute alike.
    pub(super) fn nested(self) -> Context {
        Context { depth: self.depth.saturating_add(1), ..self }
    }
}
