//! Texture and surface objects of CUDA C++ in the program's memory, as kernels of `host` know them.
//!
//! A kernel has the address of a [`TextureDescriptor`]; `host_textures.c` of `offload-build` reads and writes elements.

use std::ptr;
use std::sync::Arc;

use super::image_object::{ImageDescriptor, ImageObject};
use super::memory::CONTEXT;
use crate::backend::{BackendTexture, ContextId};
use crate::images::{AddressingMode, Coordinates, FilterMode, TextureSettings};

/// `struct offload_texture`.
#[derive(Debug)]
#[repr(C)]
struct TextureDescriptor {
    image: ImageDescriptor,
    /// `cudaTextureAddressMode` of each dimension.
    addressing: [u32; 3],
    is_linear: u32,
    is_normalized: u32,
    border: [f32; 4],
}

/// A texture, or a surface, whose settings nothing reads.
#[derive(Debug)]
pub(super) struct TextureObject {
    descriptor: TextureDescriptor,
    /// Keeps the elements.
    _image: Arc<ImageObject>,
}

// SAFETY: as for `ImageObject`.
unsafe impl Send for TextureObject {}
// SAFETY: as above.
unsafe impl Sync for TextureObject {}

impl TextureObject {
    pub(super) fn new(image: Arc<ImageObject>, settings: &TextureSettings) -> TextureObject {
        let addressing = settings.addressing.map(|mode| match mode {
            AddressingMode::Repeat => 0,
            AddressingMode::ClampToEdge | AddressingMode::None => 1,
            AddressingMode::MirroredRepeat => 2,
            AddressingMode::Clamp => 3,
        });
        let descriptor = TextureDescriptor {
            image: image.descriptor(),
            addressing,
            is_linear: (settings.filter == FilterMode::Linear).into(),
            is_normalized: (settings.coordinates == Coordinates::Normalized).into(),
            border: settings.border_of(image.format()),
        };
        TextureObject { descriptor, _image: image }
    }
}

impl BackendTexture for TextureObject {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn number(&self) -> u64 {
        ptr::from_ref(&self.descriptor).expose_provenance() as u64
    }
}
