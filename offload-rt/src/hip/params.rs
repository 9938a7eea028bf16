//! The parameters for local memory of a kernel as HIP takes them.

use offload_format::pack::{ArgKind, KernelInfo};

use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::gpu::ArgumentCheck;

/// The form of a kernel's parameters for local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalParameters {
    /// Where it starts in the dynamic shared memory, in bytes.
    Offsets,
    /// An address that the runtime makes. It gives each argument four bytes, whatever the caller says, and the dynamic
    /// shared memory behind the last: <https://github.com/ROCm/clr/blob/rocm-6.2.x/rocclr/platform/kernel.cpp>,
    /// `KernelParameters::captureAndSet`. So there can be one.
    Addresses,
}

impl ArgumentCheck for LocalParameters {
    /// Those of the kernel that the pack describes: only of an offset it tells the size.
    fn new(kernel: &KernelInfo, _: Option<Vec<usize>>) -> LocalParameters {
        let args = kernel.args.iter().flatten();
        let mut sizes = args.filter(|arg| arg.kind == ArgKind::Local).map(|arg| arg.size);
        if sizes.all(|size| size == Some(size_of::<u64>() as u32)) && kernel.args.is_some() {
            LocalParameters::Offsets
        } else {
            LocalParameters::Addresses
        }
    }

    /// Offsets are passed for both: the runtime looks at no address, and makes its own.
    #[inline]
    fn check(&self, args: &[KernelArg<'_>]) -> Result<(), Problem> {
        match self {
            LocalParameters::Offsets => Ok(()),
            LocalParameters::Addresses => check_count(args),
        }
    }
}

fn check_count(args: &[KernelArg<'_>]) -> Result<(), Problem> {
    match args.iter().filter(|arg| matches!(arg.0, KernelArgKind::Local(_))).count() {
        0 | 1 => Ok(()),
        count => {
            let problem = format!(
                "it has {count} arguments in local memory; HIP's launch has room for one in code that takes addresses"
            );
            let hint = "compile the kernel from source with a clang of LLVM 21 or later, which has it take offsets; or divide one argument in the kernel";
            Err(Problem::with_hint(problem, hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use offload_format::pack::ArgInfo;

    use super::*;

    #[test]
    fn an_image_with_addresses_has_one_argument_in_local_memory() {
        let byte = KernelArg::value(&1u8);
        let local = KernelArg::local::<u32>(33);
        for args in [&[][..], &[byte, local, byte]] {
            assert_eq!(LocalParameters::Addresses.check(args), Ok(()));
        }
        let several = [local, byte, local];
        assert_eq!(LocalParameters::Offsets.check(&several), Ok(()));
        let error = LocalParameters::Addresses.check(&several).unwrap_err();
        assert!(error.text.contains("2 arguments in local memory") && error.hint.is_some(), "{error:?}");
    }

    #[test]
    fn only_a_size_tells_of_offsets() {
        fn kernel(sizes: Option<&[Option<u32>]>) -> LocalParameters {
            let mut info = KernelInfo::new("k");
            info.args = sizes.map(|sizes| {
                sizes.iter().map(|size| ArgInfo::new(ArgKind::Local).with_size(*size)).collect()
            });
            LocalParameters::new(&info, None)
        }
        assert_eq!(kernel(Some(&[Some(8), Some(8)])), LocalParameters::Offsets);
        for other in [None, Some(&[None][..]), Some(&[Some(8), None]), Some(&[Some(4)])] {
            assert_eq!(kernel(other), LocalParameters::Addresses, "{other:?}");
        }
    }
}
