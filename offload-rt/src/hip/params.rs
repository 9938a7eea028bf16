//! The arguments of a launch as HIP takes them.

use std::ffi::c_void;
use std::ptr;

use super::api::hipDeviceptr_t;
use super::stream::start;
use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::thread_blocks::Parameters;

/// The parameters of one launch: addresses of device memory, and pointers to values. The arguments that it was made from
/// outlive it.
pub(super) struct Params {
    parameters: Parameters<hipDeviceptr_t>,
    /// Bytes of dynamic shared memory that the local argument needs.
    pub(super) local: u64,
}

impl Params {
    pub(super) fn new(args: &[KernelArg<'_>]) -> Result<Params, Problem> {
        let mut parameters = Parameters::new(ptr::null_mut(), args.len());
        for (word, arg) in parameters.words().iter_mut().zip(args) {
            if let KernelArgKind::Memory(range) = arg.0 {
                *word = start(range)?;
            }
            // The runtime puts the place of the local memory into the parameter.
        }
        Ok(Params { parameters, local: local_memory(args)? })
    }

    /// As [`Parameters::pointers`].
    pub(super) fn pointers(&mut self, args: &[KernelArg<'_>]) -> *mut *mut c_void {
        self.parameters.pointers(args)
    }
}

/// The runtime gives each local argument four bytes, whatever the caller says, and the dynamic shared memory behind the
/// last: <https://github.com/ROCm/clr/blob/rocm-6.2.x/rocclr/platform/kernel.cpp>, `KernelParameters::captureAndSet`.
fn local_memory(args: &[KernelArg<'_>]) -> Result<u64, Problem> {
    let mut sizes = args.iter().filter_map(|arg| match arg.0 {
        KernelArgKind::Local(size) => Some(size as u64),
        _ => None,
    });
    let local = sizes.next().unwrap_or(0);
    match sizes.count() {
        0 => Ok(local),
        more => {
            let count = more.saturating_add(1);
            let problem = format!("it has {count} arguments in local memory; HIP's launch has room for one");
            Err(Problem::with_hint(
                problem,
                "pass one and divide it in the kernel, or declare local arrays there",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_blocks::ON_STACK;

    #[test]
    fn one_argument_is_in_local_memory_at_most() {
        let local = |args: &[KernelArg<'_>]| Params::new(args).map(|params| params.local);
        let (byte, some) = (KernelArg::value(&1u8), KernelArg::local::<u32>(33));
        assert_eq!((local(&[]).unwrap(), local(&[byte, some, byte]).unwrap()), (0, 132));
        let error = local(&[some, byte, some]).unwrap_err();
        assert!(error.text.contains("2 arguments in local memory") && error.hint.is_some(), "{error:?}");
    }

    #[test]
    fn each_parameter_has_a_pointer_to_its_value() {
        for count in [2, ON_STACK, ON_STACK + 1, 100] {
            let values: Vec<u32> = (0..count as u32).collect();
            let args: Vec<KernelArg<'_>> = values.iter().map(KernelArg::value).collect();
            let mut params = Params::new(&args).unwrap();
            let pointers = params.pointers(&args);
            for (index, value) in values.iter().enumerate() {
                // SAFETY: there are so many pointers, and they lead to `values`.
                unsafe { assert_eq!(pointers.add(index).read().cast::<u32>().read(), *value) };
            }
        }
    }
}
