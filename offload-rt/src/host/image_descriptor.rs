//! The description of an image that kernels of `host` have.

use crate::images::ImageFormat;

/// `struct offload_image`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct ImageDescriptor {
    pub(super) elements: *mut u8,
    /// Width, height and depth; an array has its layers where the dimension behind its last one would be.
    extent: [u32; 3],
    channel_order: u32,
    channel_type: u32,
    pub(super) element_size: u32,
    /// The number of channels in memory.
    channels: u32,
    /// Bytes from a row to the next one.
    pub(super) row_pitch: u64,
    /// Bytes from a slice, or a layer of two dimensions, to the next one.
    pub(super) slice_pitch: u64,
}

impl ImageDescriptor {
    /// Elements of `format` from `elements` on, one row and one slice after the other. The size of all fits.
    pub(super) fn new(elements: *mut u8, extent: [usize; 3], format: ImageFormat) -> ImageDescriptor {
        let [width, height, _] = extent;
        let element_size = format.element_size();
        let row_pitch = width.saturating_mul(element_size) as u64;
        ImageDescriptor {
            elements,
            extent: extent.map(|size| u32::try_from(size).unwrap_or(u32::MAX)),
            channel_order: format.order.code(),
            channel_type: format.channel_type.code(),
            element_size: element_size as u32,
            channels: format.order.channels() as u32,
            row_pitch,
            slice_pitch: row_pitch.saturating_mul(height as u64),
        }
    }

    /// In bytes.
    pub(super) fn set_pitches(&mut self, row: u64, slice: u64) {
        self.row_pitch = row;
        self.slice_pitch = slice;
    }
}
