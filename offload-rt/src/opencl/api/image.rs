//! Images and samplers, and the commands of images.

use std::ffi::c_void;
use std::ptr;

use opencl_sys::{
    _cl_image_desc, CL_FALSE, CL_TRUE, cl_addressing_mode, cl_bool, cl_filter_mode, cl_image_format,
    cl_mem_flags, cl_mem_object_type, cl_uint,
};

use super::error::ClResult;
use super::info::check;
use super::library::call;
use super::object::{Buffer, CommandQueue, Context, Event, Image, Sampler, created};
use super::queue::Region;
use crate::images::ImageRegion;

/// What an image is made of.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) struct ImageDescriptor<'a> {
    pub(in crate::opencl) flags: cl_mem_flags,
    pub(in crate::opencl) format: cl_image_format,
    pub(in crate::opencl) image_type: cl_mem_object_type,
    /// Width, height and depth; 0 where there is none.
    pub(in crate::opencl) extent: [usize; 3],
    pub(in crate::opencl) layers: usize,
    /// The memory of a buffer image.
    pub(in crate::opencl) buffer: Option<&'a Buffer>,
}

/// The settings of a sampler.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) struct SamplerDescriptor {
    pub(in crate::opencl) normalized: bool,
    pub(in crate::opencl) addressing: cl_addressing_mode,
    pub(in crate::opencl) filter: cl_filter_mode,
}

impl Context {
    /// The formats of images of a type that kernels may use in the way of `flags`.
    pub(in crate::opencl) fn image_formats(
        &self,
        flags: cl_mem_flags,
        image_type: cl_mem_object_type,
    ) -> ClResult<Vec<cl_image_format>> {
        let mut count = 0;
        let no_formats = ptr::null_mut();
        // SAFETY: without space for formats the driver tells their number alone.
        check(unsafe {
            let count = &raw mut count;
            call!(
                self.functions,
                clGetSupportedImageFormats(self.raw, flags, image_type, 0, no_formats, count)
            )?
        })?;
        let none = cl_image_format { image_channel_order: 0, image_channel_data_type: 0 };
        let mut formats = vec![none; count as usize];
        if count > 0 {
            let space = formats.as_mut_ptr();
            // SAFETY: there is space for so many formats.
            check(unsafe {
                let no_count = ptr::null_mut();
                call!(
                    self.functions,
                    clGetSupportedImageFormats(self.raw, flags, image_type, count, space, no_count)
                )?
            })?;
        }
        Ok(formats)
    }
}

impl Image {
    /// An image whose elements are unspecified, or those of its buffer.
    pub(in crate::opencl) fn new(context: &Context, descriptor: &ImageDescriptor<'_>) -> ClResult<Image> {
        let functions = context.functions;
        let [image_width, image_height, image_depth] = descriptor.extent;
        let raw_descriptor = _cl_image_desc {
            image_type: descriptor.image_type,
            image_width,
            image_height,
            image_depth,
            image_array_size: descriptor.layers,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: descriptor.buffer.map_or(ptr::null_mut(), |buffer| buffer.raw),
        };
        let format = &raw const descriptor.format;
        let raw = created(|status| {
            let flags = descriptor.flags;
            let no_pointer = ptr::null_mut();
            // The crate has the descriptor with a union in place of the buffer too, by one of its features.
            let raw_descriptor = (&raw const raw_descriptor).cast();
            // SAFETY: the driver reads format and descriptor during the call, and keeps the buffer; there is no memory
            // of the host.
            unsafe {
                call!(
                    functions,
                    clCreateImage(context.raw, flags, format, raw_descriptor, no_pointer, status)
                )
            }
        })?;
        Ok(Image { functions, raw })
    }
}

impl Sampler {
    pub(in crate::opencl) fn new(context: &Context, descriptor: SamplerDescriptor) -> ClResult<Sampler> {
        let functions = context.functions;
        let raw = created(|status| {
            let SamplerDescriptor { normalized, addressing, filter } = descriptor;
            let normalized = if normalized { CL_TRUE } else { CL_FALSE };
            // Not `clCreateSamplerWithProperties`: drivers of OpenCL 1.2 lack it.
            // SAFETY: the driver looks at the numbers.
            unsafe { call!(functions, clCreateSampler(context.raw, normalized, addressing, filter, status)) }
        })?;
        Ok(Sampler { functions, raw })
    }
}

impl CommandQueue {
    /// Waits for what is in the queue, and copies a region to `bytes`, which are of its size.
    pub(in crate::opencl) fn read_image(
        &self,
        from: &Image,
        region: &ImageRegion,
        bytes: &mut [u8],
    ) -> ClResult<()> {
        // SAFETY: the copy is finished on return, and there are as many bytes as the region has.
        unsafe { self.enqueue_read(from, region, bytes.as_mut_ptr().cast(), None) }
    }

    /// Copies `bytes` to a region of their size, when what is in the queue has run, and waits for it.
    pub(in crate::opencl) fn write_image(
        &self,
        to: &Image,
        region: &ImageRegion,
        bytes: &[u8],
    ) -> ClResult<()> {
        // SAFETY: as for `read_image`.
        unsafe { self.enqueue_write(to, region, bytes.as_ptr().cast(), None) }
    }

    /// Puts a copy from a region to `bytes` into the queue, and hands it to the device. After an error none is under way.
    ///
    /// # Safety
    /// There is room for the elements of the region, which is not accessed before the copy is done.
    pub(in crate::opencl) unsafe fn read_image_later(
        &self,
        from: &Image,
        region: &ImageRegion,
        bytes: *mut u8,
    ) -> ClResult<Event> {
        let mut raw = ptr::null_mut();
        // SAFETY: the caller answers for the bytes.
        unsafe { self.enqueue_read(from, region, bytes.cast(), Some(&mut raw))? };
        self.begun(Event { functions: self.functions, raw })
    }

    /// Puts a copy of `bytes` to a region into the queue, and hands it to the device. After an error none is under way.
    ///
    /// # Safety
    /// The elements of the region are there, and are neither written nor released before the copy is done.
    pub(in crate::opencl) unsafe fn write_image_later(
        &self,
        to: &Image,
        region: &ImageRegion,
        bytes: *const u8,
    ) -> ClResult<Event> {
        let mut raw = ptr::null_mut();
        // SAFETY: the caller answers for the bytes.
        unsafe { self.enqueue_write(to, region, bytes.cast(), Some(&mut raw))? };
        self.begun(Event { functions: self.functions, raw })
    }

    /// A copy that is waited for, or one with an event.
    ///
    /// # Safety
    /// There is room for the elements of the region until the copy is done.
    unsafe fn enqueue_read(
        &self,
        from: &Image,
        region: &ImageRegion,
        into: *mut c_void,
        event: Option<&mut *mut c_void>,
    ) -> ClResult<()> {
        let wait = blocking(event.is_none());
        let origin = region.origin.as_ptr();
        let extent = region.extent.as_ptr();
        let event = event.map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: the driver compares the region with the image; elements are without padding.
        check(unsafe {
            let none = ptr::null();
            call!(
                self.functions,
                clEnqueueReadImage(self.raw, from.raw, wait, origin, extent, 0, 0, into, 0, none, event)
            )?
        })
    }

    /// A copy that is waited for, or one with an event.
    ///
    /// # Safety
    /// The elements of the region are there until the copy is done.
    unsafe fn enqueue_write(
        &self,
        to: &Image,
        region: &ImageRegion,
        from: *const c_void,
        event: Option<&mut *mut c_void>,
    ) -> ClResult<()> {
        let wait = blocking(event.is_none());
        let origin = region.origin.as_ptr();
        let extent = region.extent.as_ptr();
        let event = event.map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: the driver compares the region with the image; elements are without padding.
        check(unsafe {
            let none = ptr::null();
            call!(
                self.functions,
                clEnqueueWriteImage(self.raw, to.raw, wait, origin, extent, 0, 0, from, 0, none, event)
            )?
        })
    }

    /// Puts a copy to a region of the same extent into the queue.
    pub(in crate::opencl) fn copy_image(
        &self,
        from: (&Image, &ImageRegion),
        to: (&Image, &ImageRegion),
    ) -> ClResult<()> {
        let (source, source_region) = from;
        let (target, target_region) = to;
        let source_origin = source_region.origin.as_ptr();
        let target_origin = target_region.origin.as_ptr();
        let extent = target_region.extent.as_ptr();
        // SAFETY: the driver compares the regions with the images.
        check(unsafe {
            let none = ptr::null();
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueCopyImage(
                    self.raw,
                    source.raw,
                    target.raw,
                    source_origin,
                    target_origin,
                    extent,
                    0,
                    none,
                    no_event
                )
            )?
        })
    }

    /// Puts a copy of a buffer's region, one row after the other, into the queue.
    pub(in crate::opencl) fn copy_to_image(
        &self,
        from: Region<'_>,
        to: &Image,
        region: &ImageRegion,
    ) -> ClResult<()> {
        let origin = region.origin.as_ptr();
        let extent = region.extent.as_ptr();
        // SAFETY: the driver compares the regions with buffer and image.
        check(unsafe {
            let none = ptr::null();
            let no_event = ptr::null_mut();
            let source = from.buffer.raw;
            call!(
                self.functions,
                clEnqueueCopyBufferToImage(
                    self.raw,
                    source,
                    to.raw,
                    from.offset,
                    origin,
                    extent,
                    0,
                    none,
                    no_event
                )
            )?
        })
    }

    /// Puts a copy to a buffer's region, one row after the other, into the queue.
    pub(in crate::opencl) fn copy_from_image(
        &self,
        from: &Image,
        region: &ImageRegion,
        to: Region<'_>,
    ) -> ClResult<()> {
        let origin = region.origin.as_ptr();
        let extent = region.extent.as_ptr();
        // SAFETY: as above.
        check(unsafe {
            let none = ptr::null();
            let no_event = ptr::null_mut();
            let target = to.buffer.raw;
            call!(
                self.functions,
                clEnqueueCopyImageToBuffer(
                    self.raw, from.raw, target, origin, extent, to.offset, 0, none, no_event
                )
            )?
        })
    }

    /// Puts filling a region into the queue. `color` has four numbers of 4 bytes, of the type that a kernel writes.
    pub(in crate::opencl) fn fill_image(
        &self,
        to: &Image,
        region: &ImageRegion,
        color: [u32; 4],
    ) -> ClResult<()> {
        let color = color.as_ptr().cast();
        let origin = region.origin.as_ptr();
        let extent = region.extent.as_ptr();
        // SAFETY: the color has four numbers, which are read during the call; the driver compares the region.
        check(unsafe {
            let none = ptr::null();
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueFillImage(self.raw, to.raw, color, origin, extent, 0, none, no_event)
            )?
        })
    }
}

fn blocking(waits: bool) -> cl_bool {
    let flag: cl_uint = if waits { CL_TRUE } else { CL_FALSE };
    flag
}
