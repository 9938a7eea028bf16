//! Numbers as bytes.

use std::fmt::Debug;

use bytemuck::Pod;

/// What a kernel takes as its bytes: no padding, and every bit pattern is a value.
///
/// Numbers are, and arrays of them, as OpenCL C's vectors are, and every type that derives
/// [`bytemuck::Pod`](https://docs.rs/bytemuck/1/bytemuck/trait.Pod.html): the trait is implemented for those alone.
pub trait Plain: Pod + Debug {}

impl<T: Pod + Debug> Plain for T {}
