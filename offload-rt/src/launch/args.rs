//! The arguments of a launch in the program's own memory, and what values may be.

use std::fmt::Debug;

use bytemuck::Pod;

use super::check::Given;

/// One argument of [`Program::launch`](crate::Program::launch), in the program's own memory.
///
/// ```
/// use offload_rt::Arg;
///
/// let (x, mut y) = ([1.0f32; 64], [2.0f32; 64]);
/// // kernel void saxpy(float a, global const float *x, global float *y)
/// let args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y)];
/// # assert!(matches!(&args, [Arg::Value(a), Arg::In(x), _] if a.len() == 4 && x.len() == 256));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Arg<'a> {
    /// The bytes of a value.
    Value(&'a [u8]),
    /// A buffer in global or constant memory that the kernel only reads.
    In(&'a [u8]),
    /// A buffer in global memory that the kernel reads and writes.
    InOut(&'a mut [u8]),
    /// Local memory of this size in bytes, for each work-group.
    Local(usize),
}

impl<'a> Arg<'a> {
    /// A value; an OpenCL vector is an array, as `[f32; 4]` for `float4`.
    pub fn value<T: Plain>(value: &'a T) -> Arg<'a> {
        Arg::Value(bytemuck::bytes_of(value))
    }

    /// A buffer that the kernel only reads.
    pub fn input<T: Plain>(values: &'a [T]) -> Arg<'a> {
        Arg::In(bytemuck::cast_slice(values))
    }

    /// A buffer that the kernel reads and writes.
    pub fn in_out<T: Plain>(values: &'a mut [T]) -> Arg<'a> {
        Arg::InOut(bytemuck::cast_slice_mut(values))
    }

    /// Local memory for `count` values of `T`.
    pub fn local<T: Plain>(count: usize) -> Arg<'a> {
        Arg::Local(count.saturating_mul(size_of::<T>()))
    }

    pub(super) fn given(&self) -> Given {
        match self {
            Arg::Value(bytes) => Given::Value(bytes.len()),
            Arg::In(_) | Arg::InOut(_) => Given::Buffer,
            Arg::Local(size) => Given::Local(*size),
        }
    }
}

/// What a kernel takes as its bytes: no padding, and every bit pattern is a value.
///
/// Numbers are, and arrays of them, as OpenCL C's vectors are, and every type that derives
/// [`bytemuck::Pod`](https://docs.rs/bytemuck/1/bytemuck/trait.Pod.html): the trait is implemented for those alone.
pub trait Plain: Pod + Debug {}

impl<T: Pod + Debug> Plain for T {}
