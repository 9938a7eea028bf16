//! What an image says about itself, and what it must not: functions that nobody has, or no kernel at all.

use offload_format::Target;
use offload_format::pack::KernelInfo;
use offload_images::cubin;
use offload_images::describe::{self, Description};

use crate::error::{Error, Result};

/// Reads an image for `target`; one with undefined functions or without kernels is refused.
pub(super) fn image(target: &Target, bytes: &[u8]) -> Result<Description> {
    let (described, what) = match target {
        Target::Spirv64(_) => (describe::spirv(bytes)?, "the SPIR-V module"),
        Target::Nvptx(_) => (describe::ptx(bytes)?, "the PTX module"),
        Target::Cubin(_) => (of_cubin(bytes)?, "the cubin"),
        Target::Amdgcn(_) => (describe::code_object(bytes)?, "the code object"),
        Target::Intel(_) => (describe::zebin(bytes)?, "the native image"),
        other => return Err(Error::new(format!("images of `{other}` cannot be read"))),
    };
    if let Some(name) = described.undefined.first() {
        return Err(Error::new(format!("{what} leaves the function `{name}` undefined")));
    }
    if described.kernels.is_empty() {
        return Err(Error::new("the image has no kernel"));
    }
    Ok(described)
}

fn of_cubin(bytes: &[u8]) -> Result<Description> {
    let described = describe::cubin(bytes)?;
    if described.undefined.is_empty() && cubin::info(bytes)?.relocatable {
        return Err(Error::new("the cubin is not linked").with_hint("compile it without `-c` or `-rdc=true`"));
    }
    Ok(described)
}

/// `kernel`, as the source describes it, with what an image tells of registers and memory.
pub(super) fn with_resources(kernel: &KernelInfo, resources: KernelInfo) -> KernelInfo {
    KernelInfo {
        name: kernel.name.clone(),
        args: kernel.args.clone(),
        required_work_group: kernel.required_work_group,
        has_barrier: kernel.has_barrier,
        ..resources
    }
}
