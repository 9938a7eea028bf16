//! The arguments of a launch as CUDA takes them.

use offload_format::pack::{ArgInfo, ArgKind};

use super::api::CUstream;
use super::memory::start;
use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::thread_blocks::{Filled, LocalMemory, Parameters};

/// Sets `parameters`, which has room for them, to `args` for a launch in `stream`: addresses of device memory, offsets
/// into the dynamic shared memory, and pointers to values. Both have to stay where they are until the launch.
#[inline]
pub(super) fn fill(
    parameters: &mut Parameters<u64>,
    args: &[KernelArg<'_>],
    stream: CUstream,
) -> Result<Filled, Problem> {
    let (slots, pointers) = parameters.slots();
    let mut local = LocalMemory::default();
    for (slot, arg) in slots.zip(args) {
        match arg.0 {
            KernelArgKind::Value(bytes) => slot.set_value(bytes),
            KernelArgKind::Memory(range) => slot.set_word(start(range, stream)?),
            KernelArgKind::Local(size) => slot.set_word(local.add(size)?),
        }
    }
    Ok(Filled { pointers, local: local.size })
}

/// Whether arguments that fit the records `known` have the sizes that the driver has for a kernel's parameters.
pub(super) fn are_of_sizes(known: &[ArgInfo], sizes: &[usize]) -> bool {
    known.len() == sizes.len()
        && known.iter().zip(sizes).all(|(known, takes)| parameter_size(known) == Some(*takes))
}

fn parameter_size(arg: &ArgInfo) -> Option<usize> {
    match (arg.kind, arg.size) {
        (ArgKind::Value, size) => size.map(|size| size as usize),
        (ArgKind::Global | ArgKind::Constant | ArgKind::Local, _) => Some(size_of::<u64>()),
        _ => None,
    }
}

/// Compares `args` with the sizes that the driver has for a kernel's parameters.
pub(super) fn check_sizes(sizes: &[usize], args: &[KernelArg<'_>]) -> Result<(), Problem> {
    if sizes.len() != args.len() {
        return Err(format!("it takes {} arguments, {} are given", sizes.len(), args.len()).into());
    }
    for (index, (takes, arg)) in sizes.iter().zip(args).enumerate() {
        let given = match arg.0 {
            KernelArgKind::Value(bytes) => bytes.len(),
            KernelArgKind::Memory(_) | KernelArgKind::Local(_) => size_of::<u64>(),
        };
        if given != *takes {
            return Err(format!("argument {index} is {takes} bytes in the image, {given} are given").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::thread_blocks::ON_STACK;

    /// The parameters of `args`, which are all words, and the bytes of local memory.
    fn words(args: &[KernelArg<'_>]) -> Option<(Vec<u64>, u64)> {
        let mut parameters = Parameters::new(args.len());
        let Filled { pointers, local } = fill(&mut parameters, args, ptr::null_mut()).ok()?;
        // SAFETY: there is a pointer for each argument, to a word.
        let words = (0..args.len()).map(|index| unsafe { pointers.add(index).read().cast::<u64>().read() });
        Some((words.collect(), local))
    }

    #[test]
    fn local_arguments_are_offsets() {
        fn local<'a>(size: usize) -> KernelArg<'a> {
            KernelArg(KernelArgKind::Local(size))
        }
        let value = KernelArg::value(&7u64);
        assert_eq!(words(&[value, local(5), local(32), value]), Some((vec![7, 0, 16, 7], 48)));
        assert_eq!(words(&[]), Some((vec![], 0)));
        assert_eq!(words(&[local(usize::MAX)]), None);
    }

    #[test]
    fn sizes_are_compared_with_the_driver_s() {
        let args = [KernelArg::value(&1.0f32), KernelArg::local::<u8>(3), KernelArg::local::<u8>(1)];
        assert_eq!(check_sizes(&[4, 8, 8], &args), Ok(()));
        for (sizes, reason) in [
            (&[4, 8][..], "takes 2 arguments, 3 are given"),
            (&[8, 8, 8], "argument 0 is 8 bytes in the image, 4 are given"),
            (&[4, 4, 8], "argument 1 is 4 bytes in the image, 8 are given"),
            (&[4, 8, 4], "argument 2 is 4 bytes"),
        ] {
            assert!(check_sizes(sizes, &args).unwrap_err().text.contains(reason), "{sizes:?}");
        }
    }

    #[test]
    fn records_may_say_what_the_driver_does() {
        fn arg(kind: ArgKind, size: Option<u32>) -> ArgInfo {
            ArgInfo::new(kind).with_size(size)
        }
        let value = arg(ArgKind::Value, Some(4));
        let unsized_value = arg(ArgKind::Value, None);
        let buffer = arg(ArgKind::Global, None);
        let local = arg(ArgKind::Local, Some(8));
        assert!(are_of_sizes(&[value.clone(), buffer.clone(), local], &[4, 8, 8]) && are_of_sizes(&[], &[]));
        for (known, sizes) in [
            (vec![value.clone()], &[8][..]),
            (vec![buffer], &[4]),
            (vec![unsized_value], &[4]),
            (vec![value], &[4, 4]),
            (vec![arg(ArgKind::Image, Some(8))], &[8]),
        ] {
            assert!(!are_of_sizes(&known, sizes), "{known:?}");
        }
    }

    #[test]
    fn each_parameter_has_a_pointer_to_its_value() {
        for count in [2, ON_STACK, ON_STACK + 1, 100] {
            let values: Vec<u32> = (0..count as u32).collect();
            let arg = |value| match value % 2 {
                0 => KernelArg::value(&values[value]),
                _ => KernelArg::local::<u128>(1),
            };
            let args: Vec<KernelArg<'_>> = (0..count).map(arg).collect();
            let mut parameters = Parameters::new(count);
            let Filled { pointers, .. } = fill(&mut parameters, &args, ptr::null_mut()).unwrap();
            for index in 0..count {
                // SAFETY: there are so many pointers; they lead to `parameters` and to `values`.
                unsafe {
                    let pointer = pointers.add(index).read();
                    match index % 2 {
                        0 => assert_eq!(pointer.cast::<u32>().read(), index as u32),
                        _ => assert_eq!(pointer.cast::<u64>().read(), 16 * (index as u64 / 2)),
                    }
                }
            }
        }
    }
}
