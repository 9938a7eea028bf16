//! The arguments of kernels whose data is on the device.

use super::args::Plain;
use super::buffer::{Slice, SliceMut};
use super::check::ArgShape;
use super::image::Image;
use super::sampler::Sampler;
use super::texture::{Surface, Texture};
use crate::backend::{KernelArg, KernelArgKind};
use crate::images::ImageDimension;

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

    /// An image that the kernel only reads: `read_only image2d_t`.
    pub fn image<D: ImageDimension>(image: &'a Image<D>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Image(image.backend(), D::TYPE))
    }

    /// An image that the kernel writes: `write_only image2d_t`, `read_write image2d_t`.
    pub fn image_mut<D: ImageDimension>(image: &'a mut Image<D>) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Image(image.backend(), D::TYPE))
    }

    /// A sampler: `sampler_t`.
    pub fn sampler(sampler: &'a Sampler) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Sampler(sampler.backend()))
    }

    /// A texture: `cudaTextureObject_t`.
    pub fn texture(texture: &'a Texture) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Texture(texture.backend()))
    }

    /// A surface: `cudaSurfaceObject_t`.
    pub fn surface(surface: &'a mut Surface) -> KernelArg<'a> {
        KernelArg(KernelArgKind::Texture(surface.backend()))
    }

    /// [`KernelArg::value`] of a type of `SIZE` bytes; another one does not compile.
    pub fn value_of_size<T: Plain, const SIZE: usize>(value: &'a T) -> KernelArg<'a> {
        const { assert!(size_of::<T>() == SIZE, "the kernel takes a value of another size") };
        KernelArg::value(value)
    }

    /// [`KernelArg::buffer`] of values of `SIZE` bytes; others do not compile.
    pub fn buffer_of_size<T: Plain, const SIZE: usize>(values: impl Into<Slice<'a, T>>) -> KernelArg<'a> {
        const { assert!(size_of::<T>() == SIZE, "the kernel's pointer is to values of another size") };
        KernelArg::buffer(values)
    }

    /// [`KernelArg::buffer_mut`] of values of `SIZE` bytes; others do not compile.
    pub fn buffer_mut_of_size<T: Plain, const SIZE: usize>(
        values: impl Into<SliceMut<'a, T>>,
    ) -> KernelArg<'a> {
        const { assert!(size_of::<T>() == SIZE, "the kernel's pointer is to values of another size") };
        KernelArg::buffer_mut(values)
    }

    pub(super) fn given(&self) -> ArgShape {
        match self.0 {
            KernelArgKind::Value(bytes) => ArgShape::Value(bytes.len()),
            KernelArgKind::Memory(range) => ArgShape::Buffer { element: range.element },
            KernelArgKind::Local(size) => ArgShape::Local(size),
            KernelArgKind::Image(_, image_type) => ArgShape::Image(image_type),
            KernelArgKind::Sampler(_) => ArgShape::Sampler,
            KernelArgKind::Texture(_) => ArgShape::Value(size_of::<u64>()),
        }
    }
}
