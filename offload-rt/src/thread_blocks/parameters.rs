//! The parameters of a launch: pointers to values, and to words that the driver makes of buffers and local memory.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use crate::error::Problem;

/// So many parameters need no allocation.
pub(crate) const ON_STACK: usize = 32;

/// The alignment of the local memory of an argument: the size of the largest vectors of CUDA C++.
const LOCAL_ALIGN: u64 = 16;

/// The dynamic shared memory of a launch, which its local arguments share.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    /// Bytes that they need together.
    pub(crate) size: u64,
}

impl LocalMemory {
    /// Where `size` bytes more start.
    pub(crate) fn add(&mut self, size: usize) -> Result<u64, Problem> {
        let start = self.size;
        let end = start.checked_add(size as u64).and_then(|end| end.checked_next_multiple_of(LOCAL_ALIGN));
        self.size =
            end.ok_or_else(|| Problem::from("it is given more than 2^64 bytes of local memory".to_string()))?;
        Ok(start)
    }
}

/// Parameters that are set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    /// A pointer to each.
    pub(crate) pointers: *mut *mut c_void,
    /// Bytes of dynamic shared memory that local arguments need together.
    pub(crate) local: u64,
}

/// Memory for the parameters of one launch: words that the driver makes of arguments, and pointers to them and to
/// values.
///
/// It is filled where it lies, and only as far as there are arguments: a launch neither copies nor clears it.
pub(crate) struct Parameters<T> {
    words: Slots<T>,
    pointers: Slots<*mut c_void>,
}

/// Memory for one parameter.
pub(crate) struct Parameter<'p, T> {
    word: &'p mut MaybeUninit<T>,
    pointer: &'p mut MaybeUninit<*mut c_void>,
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Slots<T> {
    Few([MaybeUninit<T>; ON_STACK]),
    Many(Vec<MaybeUninit<T>>),
}

impl<T> Parameters<T> {
    /// For at least `count` parameters.
    pub(crate) fn new(count: usize) -> Parameters<T> {
        Parameters { words: Slots::new(count), pointers: Slots::new(count) }
    }

    /// Memory for each parameter, and where the pointers to them begin. These lead to `self` and to the values, and are
    /// there as far as parameters were set.
    pub(crate) fn slots(&mut self) -> (impl Iterator<Item = Parameter<'_, T>>, *mut *mut c_void) {
        let words = self.words.get();
        let pointers = self.pointers.get();
        let first = pointers.as_mut_ptr().cast();
        let slots = words.iter_mut().zip(pointers).map(|(word, pointer)| Parameter { word, pointer });
        (slots, first)
    }
}

impl<T> Parameter<'_, T> {
    /// The parameter is a copy of these bytes.
    pub(crate) fn set_value(self, bytes: &[u8]) {
        self.pointer.write(bytes.as_ptr().cast_mut().cast());
    }

    /// The parameter is this word.
    pub(crate) fn set_word(self, word: T) {
        let word: *mut T = self.word.write(word);
        self.pointer.write(word.cast());
    }
}

impl<T> Slots<T> {
    fn new(count: usize) -> Slots<T> {
        match count {
            0..=ON_STACK => Slots::Few([const { MaybeUninit::uninit() }; ON_STACK]),
            _ => Slots::Many((0..count).map(|_| MaybeUninit::uninit()).collect()),
        }
    }

    fn get(&mut self) -> &mut [MaybeUninit<T>] {
        match self {
            Slots::Few(slots) => slots,
            Slots::Many(slots) => slots,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_memory_is_laid_out_in_steps_of_sixteen() {
        let mut local = LocalMemory::default();
        let starts = [5, 32, 1, 16].map(|size| local.add(size).unwrap());
        assert_eq!((starts, local.size), ([0, 16, 48, 64], 80));
        assert!(local.add(usize::MAX).is_err());
        assert!(LocalMemory::default().add(usize::MAX).is_err());
    }
}
