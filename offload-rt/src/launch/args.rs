//! The arguments of a launch in the program's own memory, and what values may be.

use bytemuck::Pod;

use super::check::ArgShape;

/// One argument of [`Program::launch`](crate::Program::launch), in the program's own memory.
///
/// ```
/// use offload_rt::Arg;
///
/// let x = [1.0f32; 64];
/// let mut y = [2.0f32; 64];
/// // kernel void saxpy(float a, global const float *x, global float *y)
/// let args = [Arg::value(&3.0f32), Arg::input(&x), Arg::in_out(&mut y)];
/// # assert_eq!(args.len(), 3);
/// ```
#[derive(Debug)]
pub struct Arg<'a>(pub(super) ArgKind<'a>);

#[derive(Debug)]
pub(super) enum ArgKind<'a> {
    /// The bytes of a value.
    Value(&'a [u8]),
    In(Elements<&'a [u8]>),
    InOut(Elements<&'a mut [u8]>),
    /// Local memory of this size in bytes.
    Local(usize),
}

/// Values that a kernel has a pointer to.
#[derive(Debug)]
pub(super) struct Elements<B> {
    pub(super) bytes: B,
    /// Size of one in bytes.
    pub(super) size: usize,
}

impl<'a> Arg<'a> {
    /// A value; an OpenCL vector is an array, as `[f32; 4]` for `float4`.
    pub fn value<T: Plain>(value: &'a T) -> Arg<'a> {
        Arg(ArgKind::Value(bytemuck::bytes_of(value)))
    }

    /// A buffer in global or constant memory that the kernel only reads.
    pub fn input<T: Plain>(values: &'a [T]) -> Arg<'a> {
        Arg(ArgKind::In(Elements { bytes: bytemuck::cast_slice(values), size: size_of::<T>() }))
    }

    /// A buffer in global memory that the kernel reads and writes.
    pub fn in_out<T: Plain>(values: &'a mut [T]) -> Arg<'a> {
        Arg(ArgKind::InOut(Elements { bytes: bytemuck::cast_slice_mut(values), size: size_of::<T>() }))
    }

    /// Local memory for `count` values of `T`, for each work-group.
    pub fn local<T: Plain>(count: usize) -> Arg<'a> {
        Arg(ArgKind::Local(count.saturating_mul(size_of::<T>())))
    }

    pub(super) fn given(&self) -> ArgShape {
        match &self.0 {
            ArgKind::Value(bytes) => ArgShape::Value(bytes.len()),
            ArgKind::In(values) => ArgShape::Buffer { element: values.size },
            ArgKind::InOut(values) => ArgShape::Buffer { element: values.size },
            ArgKind::Local(size) => ArgShape::Local(*size),
        }
    }
}

/// A type that kernels take as its bytes: no padding, and every bit pattern is a value.
///
/// Numbers are, and arrays of them, as OpenCL C's vectors are, and every type that derives
/// [`bytemuck::Pod`](https://docs.rs/bytemuck/1/bytemuck/trait.Pod.html): the trait is implemented for those alone.
pub trait Plain: Pod {}

impl<T: Pod> Plain for T {}
