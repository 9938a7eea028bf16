//! The arguments of a launch as CUDA takes them.

use std::ffi::c_void;

use super::api::CUstream;
use super::stream::start;
use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::thread_blocks::Parameters;

/// What a launch's local memory is aligned to: the size of the largest vectors of CUDA C++.
const LOCAL_ALIGN: u64 = 16;

/// The parameters of one launch: addresses of device memory, offsets into the dynamic shared memory, and pointers to
/// values. The arguments that it was made from outlive it.
pub(super) struct Params {
    parameters: Parameters<u64>,
    /// Bytes of dynamic shared memory that local arguments need together.
    pub(super) local: u64,
}

impl Params {
    /// For a launch in `stream`.
    pub(super) fn new(args: &[KernelArg<'_>], stream: CUstream) -> Result<Params, Problem> {
        let (mut parameters, mut local) = (Parameters::new(0, args.len()), 0u64);
        for (word, arg) in parameters.words().iter_mut().zip(args) {
            match arg.0 {
                KernelArgKind::Value(_) => {}
                KernelArgKind::Memory(range) => *word = start(range, stream)?,
                KernelArgKind::Local(size) => {
                    *word = local;
                    let end = local.checked_add(size as u64);
                    let end = end.and_then(|end| end.checked_next_multiple_of(LOCAL_ALIGN));
                    local = end.ok_or_else(|| {
                        Problem::from("it is given more than 2^64 bytes of local memory".to_string())
                    })?;
                }
            }
        }
        Ok(Params { parameters, local })
    }

    /// As [`Parameters::pointers`].
    pub(super) fn pointers(&mut self, args: &[KernelArg<'_>]) -> *mut *mut c_void {
        self.parameters.pointers(args)
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

    fn words(args: &[KernelArg<'_>]) -> Option<(Vec<u64>, u64)> {
        let mut params = Params::new(args, ptr::null_mut()).ok()?;
        let words = params.parameters.words().get(..args.len())?.to_vec();
        Some((words, params.local))
    }

    #[test]
    fn local_memory_is_laid_out_in_steps_of_sixteen() {
        let (byte, local) = (KernelArg::value(&1u8), |size| KernelArg(KernelArgKind::Local(size)));
        let args = [byte, local(5), local(32), local(1), byte];
        assert_eq!(words(&args), Some((vec![0, 0, 16, 48, 0], 64)));
        assert_eq!(words(&[]), Some((vec![], 0)));
        assert_eq!(words(&[local(usize::MAX)]), None);
        assert_eq!(words(&[local(usize::MAX - 15), local(16)]), None);
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
    fn each_parameter_has_a_pointer_to_its_value() {
        for count in [2, ON_STACK, ON_STACK + 1, 100] {
            let values: Vec<u32> = (0..count as u32).collect();
            let arg = |value| match value % 2 {
                0 => KernelArg::value(&values[value]),
                _ => KernelArg::local::<u128>(1),
            };
            let args: Vec<KernelArg<'_>> = (0..count).map(arg).collect();
            let mut params = Params::new(&args, ptr::null_mut()).unwrap();
            let pointers = params.pointers(&args);
            for index in 0..count {
                // SAFETY: there are so many pointers; they lead to `params` and to `values`.
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
