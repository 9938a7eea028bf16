//! The arguments of a launch as HIP takes them.

use std::ptr;

use offload_format::pack::{ArgKind, KernelInfo};

use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::thread_blocks::{Filled, LocalMemory, Parameters};

/// The form of a kernel's parameters for local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalParameters {
    /// Where it starts in the dynamic shared memory, in bytes.
    Offsets,
    /// An address that the runtime makes. It gives each argument four bytes, whatever the caller says, and the dynamic
    /// shared memory behind the last: <https://github.com/ROCm/clr/blob/rocm-6.2.x/rocclr/platform/kernel.cpp>,
    /// `KernelParameters::captureAndSet`. So there can be one.
    Addresses,
}

impl LocalParameters {
    /// Those of the kernel that the pack describes: only of an offset it tells the size.
    pub(super) fn for_kernel(kernel: &KernelInfo) -> LocalParameters {
        let args = kernel.args.iter().flatten();
        let mut sizes = args.filter(|arg| arg.kind == ArgKind::Local).map(|arg| arg.size);
        if sizes.all(|size| size == Some(size_of::<u64>() as u32)) && kernel.args.is_some() {
            LocalParameters::Offsets
        } else {
            LocalParameters::Addresses
        }
    }
}

/// Sets `parameters`, which has room for them, to `args`: addresses of device memory, offsets into the dynamic shared
/// memory, and pointers to values. Both have to stay where they are until the launch.
pub(super) fn fill(
    parameters: &mut Parameters<u64>,
    args: &[KernelArg<'_>],
    locals: LocalParameters,
) -> Result<Filled, Problem> {
    if locals == LocalParameters::Addresses {
        check_count(args)?;
    }
    let (slots, pointers) = parameters.slots();
    let mut local = LocalMemory::default();
    for (slot, arg) in slots.zip(args) {
        match arg.0 {
            KernelArgKind::Value(bytes) => slot.set_value(bytes),
            KernelArgKind::Memory(range) => {
                // The caller's streams and memory are not bound to each other.
                slot.set_word(range.memory.device_address().at(range.offset, ptr::null_mut())?);
            }
            // The runtime looks at no address: it makes its own.
            KernelArgKind::Local(size) => slot.set_word(local.add(size)?),
        }
    }
    Ok(Filled { pointers, local: local.size })
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
    use crate::thread_blocks::ON_STACK;

    fn local(args: &[KernelArg<'_>], locals: LocalParameters) -> Result<u64, Problem> {
        fill(&mut Parameters::new(args.len()), args, locals).map(|filled| filled.local)
    }

    #[test]
    fn an_image_with_addresses_has_one_argument_in_local_memory() {
        let byte = KernelArg::value(&1u8);
        let some = KernelArg::local::<u32>(33);
        fn with_addresses(args: &[KernelArg<'_>]) -> Result<u64, Problem> {
            local(args, LocalParameters::Addresses)
        }
        assert_eq!((with_addresses(&[]), with_addresses(&[byte, some, byte])), (Ok(0), Ok(144)));
        let error = with_addresses(&[some, byte, some]).unwrap_err();
        assert!(error.text.contains("2 arguments in local memory") && error.hint.is_some(), "{error:?}");
    }

    #[test]
    fn offsets_are_laid_out_one_after_the_other() {
        let args = [KernelArg::local::<u32>(33), KernelArg::value(&1u64), KernelArg::local::<u8>(1)];
        let mut parameters = Parameters::new(args.len());
        let filled = fill(&mut parameters, &args, LocalParameters::Offsets).unwrap();
        // SAFETY: there is a pointer for each argument, to eight bytes.
        let words = [0, 1, 2].map(|index| unsafe { filled.pointers.add(index).read().cast::<u64>().read() });
        assert_eq!((words, filled.local), ([0, 1, 144], 160));
    }

    #[test]
    fn only_a_size_tells_of_offsets() {
        fn kernel(sizes: Option<&[Option<u32>]>) -> LocalParameters {
            let mut info = KernelInfo::new("k");
            info.args = sizes.map(|sizes| {
                sizes.iter().map(|size| ArgInfo::new(ArgKind::Local).with_size(*size)).collect()
            });
            LocalParameters::for_kernel(&info)
        }
        assert_eq!(kernel(Some(&[Some(8), Some(8)])), LocalParameters::Offsets);
        for other in [None, Some(&[None][..]), Some(&[Some(8), None]), Some(&[Some(4)])] {
            assert_eq!(kernel(other), LocalParameters::Addresses, "{other:?}");
        }
    }

    #[test]
    fn each_parameter_has_a_pointer_to_its_value() {
        for count in [2, ON_STACK, ON_STACK + 1, 100] {
            let values: Vec<u32> = (0..count as u32).collect();
            let args: Vec<KernelArg<'_>> = values.iter().map(KernelArg::value).collect();
            let mut parameters = Parameters::new(count);
            let Filled { pointers, .. } = fill(&mut parameters, &args, LocalParameters::Offsets).unwrap();
            for (index, value) in values.iter().enumerate() {
                // SAFETY: there are so many pointers, and they lead to `values`.
                unsafe { assert_eq!(pointers.add(index).read().cast::<u32>().read(), *value) };
            }
        }
    }
}
