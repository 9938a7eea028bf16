//! NVIDIA's PTX: which kernels a module holds and what it needs.
//!
//! PTX is text, described in <https://docs.nvidia.com/cuda/parallel-thread-execution/index.html>. Only declarations are
//! read; what stands in a function's body is skipped.
//!
//! ```
//! use offload_images::ptx::Ptx;
//!
//! let text = b".version 7.8\n.target sm_90a, debug\n.address_size 64\n\
//!     .visible .entry scale(.param .u64 .ptr .global .align 4 x, .param .align 4 .b8 by[12]) { ret; }\n";
//! let module = Ptx::parse(text)?;
//! assert_eq!((module.target(), module.version_word()), ("sm_90a", 0x0007_0800));
//! let [kernel] = module.entries() else { panic!("one kernel") };
//! assert_eq!((kernel.name, kernel.parameters[1].size), ("scale", Some(12)));
//! # Ok::<(), offload_format::Error>(())
//! ```

mod entry;
mod lexer;
mod parser;

use crate::cuda;
use offload_format::Error;

/// What a module declares, over borrowed text.
#[derive(Clone, Debug, Default)]
pub struct Ptx<'a> {
    version: (u16, u8),
    target: &'a str,
    address_size: u32,
    entries: Vec<Entry<'a>>,
    externs: Vec<&'a str>,
    dynamic_shared: bool,
}

/// A kernel. `None`: the module does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter<'a>>,
    /// `.maxntid`: the most threads that a block may have in each dimension.
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid`: the required size of a block.
    pub required_work_group: Option<[u32; 3]>,
    /// `.maxnreg`: the most registers that a thread may use.
    pub max_registers: Option<u32>,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its size in bytes; textures, surfaces and samplers have none.
    pub size: Option<u64>,
    /// Where it points to, if it is declared as a pointer (`.ptr`).
    pub pointer: Option<StateSpace>,
}

/// A state space that a pointer can point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateSpace {
    /// Any of them.
    Generic,
    /// `.global`.
    Global,
    /// `.const`.
    Const,
    /// `.shared`.
    Shared,
    /// `.local`.
    Local,
}

impl<'a> Ptx<'a> {
    /// Reads the declarations of a module; zeros at its end, which a C string has, are skipped.
    ///
    /// A module that was cut is refused if the cut lies inside of a declaration, a body, a comment or a line. Between
    /// two declarations a cut cannot be seen: compare [`Ptx::entries`] with what is expected.
    ///
    /// # Errors
    /// [`Magic`](offload_format::ErrorKind::Magic) if it does not start with `.version`,
    /// [`Truncated`](offload_format::ErrorKind::Truncated) or [`Text`](offload_format::ErrorKind::Text).
    pub fn parse(text: &'a [u8]) -> Result<Ptx<'a>, Error> {
        parser::parse(text)
    }

    /// The version of the language: `(7, 8)`.
    pub fn version(&self) -> (u16, u8) {
        self.version
    }

    /// The version of the language in the form that SPIR-V uses: `0x00070800` for 7.8.
    pub fn version_word(&self) -> u32 {
        let (major, minor) = self.version;
        u32::from(major) << 16 | u32::from(minor) << 8
    }

    /// The architecture that `.target` names: `sm_90a`.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// Bits of an address: 32 or 64.
    pub fn address_size(&self) -> u32 {
        self.address_size
    }

    /// The kernels, in the order of the module.
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Functions without a body, and `.extern` variables in global and constant memory, in the order of the module;
    /// see [`Ptx::unresolved`].
    pub fn externs(&self) -> &[&'a str] {
        &self.externs
    }

    /// Those of [`Ptx::externs`] that the driver does not define either (it has `vprintf`, `malloc`, `free` and
    /// `__assertfail`). A module made for execution has none.
    pub fn unresolved(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.externs.iter().copied().filter(|name| !cuda::is_system_call(name))
    }

    /// Whether the module uses shared memory whose size the launch gives (`.extern .shared`).
    pub fn uses_dynamic_shared_memory(&self) -> bool {
        self.dynamic_shared
    }
}
