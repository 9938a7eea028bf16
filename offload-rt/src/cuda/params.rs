//! The arguments of a launch as CUDA takes them.

use std::ffi::c_void;
use std::ptr;

use super::api::CUstream;
use super::stream::start;
use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;

/// What a launch's local memory is aligned to: the size of the largest vectors of CUDA C++.
const LOCAL_ALIGN: u64 = 16;
/// So many parameters need no allocation.
const ON_STACK: usize = 32;

/// The parameters of one launch: addresses of device memory, offsets into the dynamic shared memory, and pointers to
/// values. The arguments that it was made from outlive it.
pub(super) struct Params {
    words: Words,
    pointers: Pointers,
    /// Bytes of dynamic shared memory that local arguments need together.
    pub(super) local: u64,
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Words {
    Few([u64; ON_STACK]),
    Many(Vec<u64>),
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Pointers {
    Few([*mut c_void; ON_STACK]),
    Many(Vec<*mut c_void>),
}

impl Params {
    /// For a launch in `stream`.
    pub(super) fn new(args: &[KernelArg<'_>], stream: CUstream) -> Result<Params, Problem> {
        let is_few = args.len() <= ON_STACK;
        let (words, pointers) = match is_few {
            true => (Words::Few([0; ON_STACK]), Pointers::Few([ptr::null_mut(); ON_STACK])),
            false => (Words::Many(vec![0; args.len()]), Pointers::Many(vec![ptr::null_mut(); args.len()])),
        };
        let mut params = Params { words, pointers, local: 0 };
        for (index, arg) in args.iter().enumerate() {
            let word = params.word(arg, stream)?;
            if let Some(place) = params.words.get_mut(index) {
                *place = word;
            }
        }
        Ok(params)
    }

    /// A pointer to the value of each of `args`, of which this was made; they are valid until this is moved or dropped.
    pub(super) fn pointers(&mut self, args: &[KernelArg<'_>]) -> *mut *mut c_void {
        let pointers = self.pointers.get_mut();
        for ((arg, word), pointer) in args.iter().zip(self.words.get()).zip(&mut *pointers) {
            *pointer = match arg.0 {
                KernelArgKind::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                KernelArgKind::Memory(_) | KernelArgKind::Local(_) => (&raw mut *word).cast(),
            };
        }
        pointers.as_mut_ptr()
    }

    fn word(&mut self, arg: &KernelArg<'_>, stream: CUstream) -> Result<u64, Problem> {
        match arg.0 {
            KernelArgKind::Value(_) => Ok(0),
            KernelArgKind::Memory(range) => start(range, stream),
            KernelArgKind::Local(size) => {
                let start = self.local;
                let end =
                    start.checked_add(size as u64).and_then(|end| end.checked_next_multiple_of(LOCAL_ALIGN));
                self.local = end.ok_or_else(|| {
                    Problem::from("it is given more than 2^64 bytes of local memory".to_string())
                })?;
                Ok(start)
            }
        }
    }
}

impl Words {
    fn get(&mut self) -> &mut [u64] {
        match self {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut u64> {
        self.get().get_mut(index)
    }
}

impl Pointers {
    fn get_mut(&mut self) -> &mut [*mut c_void] {
        match self {
            Pointers::Few(pointers) => pointers,
            Pointers::Many(pointers) => pointers,
        }
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
    use super::*;

    fn words(args: &[KernelArg<'_>]) -> Option<(Vec<u64>, u64)> {
        let mut params = Params::new(args, ptr::null_mut()).ok()?;
        let words = params.words.get().get(..args.len())?.to_vec();
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
