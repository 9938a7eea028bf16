//! Numbers as bytes.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
}

/// A number, or an array of numbers as OpenCL C's vectors are: no padding, and every bit pattern is a value.
///
/// The trait is sealed.
pub trait Plain: Copy + Debug + sealed::Sealed + 'static {}

macro_rules! plain {
    ($($number:ty)*) => { $(impl sealed::Sealed for $number {} impl Plain for $number {})* };
}

plain!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);

impl<T: Plain, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Plain, const N: usize> Plain for [T; N] {}

/// The bytes of `values`.
pub(super) fn bytes<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the sealed trait is implemented for types without padding alone, so every byte is initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The bytes of `values`, to be written.
pub(super) fn bytes_mut<T: Plain>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes`, and every bit pattern that is written is a value of `T`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
