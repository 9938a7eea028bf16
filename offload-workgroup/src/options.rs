//! Options of work-group generation.

/// Options of [`generate_work_groups`](crate::generate_work_groups).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Bits of the CPU's widest vectors, for example 256 with AVX2: vectorisation factors, and the variants of
    /// mathematical functions, depend on it.
    pub vector_bits: u32,
    /// Whether transformations rely on the validity of kernels.
    pub validity: Validity,
    /// Whether loops that work-items leave in different iterations are vectorised. The text is several times longer, and
    /// without LLVM's optimisations much slower.
    pub divergent_loops: bool,
}

impl Options {
    /// Options for valid kernels on a CPU with vectors of `vector_bits` bits.
    pub fn new(vector_bits: u32) -> Options {
        Options { vector_bits, validity: Validity::Assumed, divergent_loops: true }
    }

    /// The options with another validity.
    #[must_use]
    pub fn with_validity(self, validity: Validity) -> Options {
        Options { validity, ..self }
    }

    /// The options with vectors for divergent loops, or without them.
    #[must_use]
    pub fn with_divergent_loops(self, divergent_loops: bool) -> Options {
        Options { divergent_loops, ..self }
    }
}

/// Whether transformations rely on OpenCL C's rules for barriers and data races.
///
/// `docs/design/work-groups.md` of the repository names the rule that each transformation relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// The rules hold: a kernel that breaks them has undefined behaviour.
    Assumed,
    /// The rule for data races holds alone, as in kernels with barriers of CUDA.
    RaceFree,
    /// Nothing is assumed, as in a build that checks the rules: the output is correct for every execution.
    Checked,
}
