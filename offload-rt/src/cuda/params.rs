//! The arguments of a launch as CUDA takes them.

use std::ffi::c_void;

use crate::launch::Arg;

/// What a launch's local memory is aligned to: the size of the largest vectors of CUDA C++.
const LOCAL_ALIGN: u64 = 16;

/// What one parameter is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Param {
    /// Where the bytes of an [`Arg::Value`] are.
    Bytes(*mut c_void),
    /// An address of device memory, or an offset into the dynamic shared memory.
    Word(u64),
}

/// The parameters of one launch. The arguments that it was made from outlive it.
pub(super) struct Params {
    params: Vec<Param>,
    /// Where the words are while the driver reads them.
    words: Vec<u64>,
}

/// Where each local argument starts in the dynamic shared memory, and how many bytes they need together; `None` if
/// that is more than 2⁶⁴ − 1.
pub(super) fn local_layout(args: &[Arg<'_>]) -> Option<(Vec<u64>, u64)> {
    let mut end = 0u64;
    let mut offsets = Vec::new();
    for arg in args {
        offsets.push(end);
        if let Arg::Local(size) = arg {
            end = end.checked_add(*size as u64)?.checked_next_multiple_of(LOCAL_ALIGN)?;
        }
    }
    Some((offsets, end))
}

/// Compares `args` with the sizes that the driver has for a kernel's parameters.
pub(super) fn check_sizes(sizes: &[usize], args: &[Arg<'_>]) -> Result<(), String> {
    if sizes.len() != args.len() {
        return Err(format!("it takes {} arguments, {} are given", sizes.len(), args.len()));
    }
    for (index, (takes, arg)) in sizes.iter().zip(args).enumerate() {
        let given = match arg {
            Arg::Value(bytes) => bytes.len(),
            Arg::In(_) | Arg::InOut(_) | Arg::Local(_) => size_of::<u64>(),
        };
        if given != *takes {
            return Err(format!("argument {index} is {takes} bytes in the image, {given} are given"));
        }
    }
    Ok(())
}

impl Params {
    pub(super) fn new(params: Vec<Param>) -> Params {
        let word = |param: &Param| match param {
            Param::Word(word) => *word,
            Param::Bytes(_) => 0,
        };
        Params { words: params.iter().map(word).collect(), params }
    }

    /// A pointer to each parameter; they are valid until this is changed or dropped.
    pub(super) fn pointers(&mut self) -> Vec<*mut c_void> {
        let pointer = |(param, word): (&Param, &mut u64)| match param {
            Param::Bytes(bytes) => *bytes,
            Param::Word(_) => (&raw mut *word).cast(),
        };
        self.params.iter().zip(&mut self.words).map(pointer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_memory_is_laid_out_in_steps_of_sixteen() {
        let args =
            [Arg::value(&1u8), Arg::local::<u8>(5), Arg::local::<f32>(8), Arg::Local(1), Arg::value(&1u8)];
        assert_eq!(local_layout(&args), Some((vec![0, 0, 16, 48, 64], 64)));
        assert_eq!(local_layout(&[]), Some((vec![], 0)));
        assert_eq!(local_layout(&[Arg::Local(usize::MAX)]), None);
        assert_eq!(local_layout(&[Arg::Local(usize::MAX - 15), Arg::Local(16)]), None);
    }

    #[test]
    fn sizes_are_compared_with_the_driver_s() {
        let mut buffer = [0u8; 3];
        let args = [Arg::value(&1.0f32), Arg::in_out(&mut buffer), Arg::local::<u8>(1)];
        assert_eq!(check_sizes(&[4, 8, 8], &args), Ok(()));
        for (sizes, reason) in [
            (&[4, 8][..], "takes 2 arguments, 3 are given"),
            (&[8, 8, 8], "argument 0 is 8 bytes in the image, 4 are given"),
            (&[4, 4, 8], "argument 1 is 4 bytes in the image, 8 are given"),
            (&[4, 8, 4], "argument 2 is 4 bytes"),
        ] {
            assert!(check_sizes(sizes, &args).unwrap_err().contains(reason), "{sizes:?}");
        }
    }

    #[test]
    fn each_parameter_has_a_pointer_to_its_value() {
        let mut value = 7u32;
        let mut params =
            Params::new(vec![Param::Word(5), Param::Bytes((&raw mut value).cast()), Param::Word(9)]);
        let pointers = params.pointers();
        // SAFETY: the pointers lead to `params` and `value`.
        let read = unsafe {
            (
                pointers[0].cast::<u64>().read(),
                pointers[1].cast::<u32>().read(),
                pointers[2].cast::<u64>().read(),
            )
        };
        assert_eq!(read, (5, 7, 9));
    }
}
