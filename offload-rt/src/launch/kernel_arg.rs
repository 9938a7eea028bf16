//! The arguments of kernels whose data is on the device.

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::check::Given;
use crate::driver::{KernelArg, KernelArgKind};

impl<'a> KernelArg<'a> {
    /// A value; an OpenCL vector is an array, as `[f32; 4]` for `float4`.
    pub fn value<T: Plain>(value: &'a T) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Value(bytemuck::bytes_of(value)))
    }

    /// A buffer, or a part of one, that the kernel only reads.
    ///
    /// OpenCL devices take parts that start at a multiple of their address alignment alone, 128 bytes on most.
    pub fn buffer<T: Plain>(values: impl Into<Slice<'a, T>>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Memory(values.into().range()))
    }

    /// A buffer, or a part of one, that the kernel reads and writes.
    pub fn buffer_mut<T: Plain>(values: impl Into<SliceMut<'a, T>>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Memory(values.into().range()))
    }

    /// Local memory for `count` values of `T`, for each work-group.
    pub fn local<T: Plain>(count: usize) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Local(count.saturating_mul(size_of::<T>())))
    }

    pub(super) fn given(&self) -> Given {
        match self.0 {
            KernelArgKind::Value(bytes) => Given::Value(bytes.len()),
            KernelArgKind::Memory(_) => Given::Buffer,
            KernelArgKind::Local(size) => Given::Local(size),
        }
    }
}
