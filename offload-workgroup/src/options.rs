//! The permission to rely on what valid kernels do.

/// Whether transformations rely on the rules of OpenCL C for barriers and for accesses of one memory by several work-items.
///
/// `docs/design/work-groups.md` says which transformation relies on which rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Validity {
    /// They do: a kernel that breaks the rules computes anything.
    Assumed,
    /// They do not: the build finds out whether the kernel keeps them. What remains is correct for every execution.
    Checked,
}
