//! The arguments of a launch as HIP takes them.

use std::ffi::c_void;
use std::ptr;

use super::api::hipDeviceptr_t;
use super::stream::start;
use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;

/// So many parameters need no allocation.
const ON_STACK: usize = 32;

/// What the parameters of one launch point to: addresses of device memory. The arguments that it was made from outlive it.
pub(super) struct Params {
    words: Words<hipDeviceptr_t>,
    pointers: Words<*mut c_void>,
    /// Bytes of dynamic shared memory that the local argument needs.
    pub(super) local: u64,
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Words<T> {
    Few([T; ON_STACK]),
    Many(Vec<T>),
}

impl Params {
    pub(super) fn new(args: &[KernelArg<'_>]) -> Result<Params, Problem> {
        let (words, pointers) =
            (Words::new(ptr::null_mut(), args.len()), Words::new(ptr::null_mut(), args.len()));
        let mut params = Params { words, pointers, local: local_memory(args)? };
        for (word, arg) in params.words.get().iter_mut().zip(args) {
            *word = match arg.0 {
                KernelArgKind::Memory(range) => start(range)?,
                // The runtime puts the place of the local memory into the parameter.
                KernelArgKind::Value(_) | KernelArgKind::Local(_) => ptr::null_mut(),
            };
        }
        Ok(params)
    }

    /// A pointer to the value of each of `args`, of which this was made; they are valid until this is moved or dropped.
    pub(super) fn pointers(&mut self, args: &[KernelArg<'_>]) -> *mut *mut c_void {
        let pointers = self.pointers.get();
        for ((arg, word), pointer) in args.iter().zip(self.words.get()).zip(&mut *pointers) {
            *pointer = match arg.0 {
                KernelArgKind::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                KernelArgKind::Memory(_) | KernelArgKind::Local(_) => (&raw mut *word).cast(),
            };
        }
        pointers.as_mut_ptr()
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

impl<T: Copy> Words<T> {
    fn new(value: T, count: usize) -> Words<T> {
        if count <= ON_STACK { Words::Few([value; ON_STACK]) } else { Words::Many(vec![value; count]) }
    }

    fn get(&mut self) -> &mut [T] {
        match self {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
