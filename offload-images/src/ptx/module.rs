//! The declarations of a PTX module.

use offload_format::PtxVersion;

use super::kernel::PtxKernel;
use crate::cuda;

/// A PTX module over borrowed text.
#[derive(Clone, Debug, Default)]
pub struct Ptx<'a> {
    pub(super) version: PtxVersion,
    pub(super) target: &'a str,
    pub(super) address_size: u32,
    pub(super) kernels: Vec<PtxKernel<'a>>,
    pub(super) externs: Vec<&'a str>,
    pub(super) dynamic_shared: bool,
}

impl<'a> Ptx<'a> {
    /// The version of the language.
    pub fn version(&self) -> PtxVersion {
        self.version
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
    pub fn kernels(&self) -> &[PtxKernel<'a>] {
        &self.kernels
    }

    /// Functions without a body, and `.extern` variables in global and constant memory, in the order of the module;
    /// see [`Ptx::unresolved`].
    pub fn externs(&self) -> &[&'a str] {
        &self.externs
    }

    /// The symbols of [`Ptx::externs`] that the driver does not define (it has `vprintf`, `malloc`, `free` and
    /// `__assertfail`). An executable module has none.
    pub fn unresolved(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.externs.iter().copied().filter(|name| !cuda::is_system_call(name))
    }

    /// Whether the module uses dynamic shared memory (`.extern .shared`).
    pub fn uses_dynamic_shared_memory(&self) -> bool {
        self.dynamic_shared
    }
}
