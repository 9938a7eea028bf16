//! Arrays, and what textures are made of, as back ends take them.

use std::ffi::{c_uint, c_void};

use crate::images::ImageFormat;

/// A `cudaArray_t`: an array of the back end.
pub(super) type ArrayHandle = *mut c_void;

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

/// What an array is made of. A dimension that it has not is 0; layers are its depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayForm {
    pub(super) extent: Extent,
    /// `cudaArrayLayered` and so on.
    pub(super) flags: c_uint,
    pub(super) format: ImageFormat,
}

impl ArrayForm {
    /// Bytes of a row.
    pub(super) fn row(&self) -> usize {
        self.extent.width.saturating_mul(self.format.element_size())
    }

    /// Rows of a slice.
    pub(super) fn rows(&self) -> usize {
        self.extent.height.max(1)
    }
}

/// What a texture is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextureSource {
    pub(super) elements: TextureElements,
    /// As the kernel reads them.
    pub(super) format: ImageFormat,
}

/// Where elements are. Sizes of memory are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum TextureElements {
    Array { array: ArrayHandle, form: ArrayForm },
    Linear { start: *mut c_void, size: usize },
    Pitched { start: *mut c_void, width: usize, height: usize, pitch: usize },
}
