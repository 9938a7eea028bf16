//! The signature of a kernel, as far as the passes depend on it.

/// A kernel of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// The symbol, without the prefix of its work-item function.
    pub name: String,
    /// The arguments, in their order.
    pub arguments: Vec<Argument>,
    /// `reqd_work_group_size`, which becomes a constant.
    pub required_work_group: Option<[u32; 3]>,
    /// The size that most of its work-groups have: the function has a version for it.
    pub usual_work_group: Option<[u32; 3]>,
    /// `intel_reqd_sub_group_size`: the work-items of a warp in this kernel, up to [`WARP_SIZE`](crate::WARP_SIZE).
    pub required_sub_group: Option<u32>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Argument {
    /// The name, for messages.
    pub name: String,
    /// Where a pointer leads to, or that the argument is a value.
    pub kind: ArgumentKind,
    /// Size in bytes of a value. Needed where the calling convention has split or coerced a structure.
    pub size: Option<u32>,
    /// Whether a value is a structure: empty ones of C++ have one byte, and CPUs pass none of it.
    pub is_structure: bool,
}

/// The class of an argument, by OpenCL's address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentKind {
    /// A number, a vector or a structure.
    Value,
    /// A pointer to global memory.
    Global,
    /// A pointer to constant memory.
    Constant,
    /// A pointer to local memory: one allocation for each work-group that runs.
    Local,
}

impl Kernel {
    /// A kernel without arguments.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            arguments: Vec::new(),
            required_work_group: None,
            usual_work_group: None,
            required_sub_group: None,
        }
    }

    /// The kernel with these arguments.
    #[must_use]
    pub fn with_arguments(self, arguments: Vec<Argument>) -> Kernel {
        Kernel { arguments, ..self }
    }

    /// The kernel with a required size of its work-groups, if it has one.
    #[must_use]
    pub fn with_required_work_group(self, size: Option<[u32; 3]>) -> Kernel {
        Kernel { required_work_group: size, ..self }
    }

    /// The kernel with the size that most of its work-groups have, if that is known.
    #[must_use]
    pub fn with_usual_work_group(self, size: Option<[u32; 3]>) -> Kernel {
        Kernel { usual_work_group: size, ..self }
    }

    /// The kernel with a required size of its sub-groups, if it has one.
    #[must_use]
    pub fn with_required_sub_group(self, size: Option<u32>) -> Kernel {
        Kernel { required_sub_group: size, ..self }
    }
}

impl Argument {
    /// An argument of unknown size.
    pub fn new(name: impl Into<String>, kind: ArgumentKind) -> Argument {
        Argument { name: name.into(), kind, size: None, is_structure: false }
    }

    /// The argument with its size in bytes, if that is known.
    #[must_use]
    pub fn with_size(self, size: Option<u32>) -> Argument {
        Argument { size, ..self }
    }

    /// The argument as a structure.
    #[must_use]
    pub fn structure(self) -> Argument {
        Argument { is_structure: true, ..self }
    }
}
