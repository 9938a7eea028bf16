//! Texture and surface objects of CUDA C++ in the program's memory, as kernels of `host` know them.
//!
//! A kernel has the address of a [`TextureDescriptor`]; `host_textures.c` of `offload-build` reads and writes elements.

use std::ptr;
use std::sync::Arc;

use super::image_descriptor::ImageDescriptor;
use super::memory::CONTEXT;
use crate::backend::{BackendImage, BackendTexture, ContextId};
use crate::images::{AddressingMode, Coordinates, FilterMode, ImageFormat, TextureSettings};

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
pub(crate) struct TextureObject {
    descriptor: TextureDescriptor,
    /// Keeps the elements, unless their owner does.
    _image: Option<Arc<dyn BackendImage>>,
}

/// Elements of an owner who outlives their textures. Pitches are in bytes.
#[cfg(all(feature = "launchers", target_os = "linux"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureMemory {
    pub(crate) start: *mut u8,
    pub(crate) extent: [usize; 3],
    pub(crate) format: ImageFormat,
    pub(crate) row_pitch: usize,
    pub(crate) slice_pitch: usize,
}

// SAFETY: as for `ImageObject`.
unsafe impl Send for TextureObject {}
// SAFETY: as above.
unsafe impl Sync for TextureObject {}

impl TextureObject {
    /// Of `image`, which is kept.
    pub(super) fn new(
        descriptor: ImageDescriptor,
        format: ImageFormat,
        image: Arc<dyn BackendImage>,
        settings: &TextureSettings,
    ) -> TextureObject {
        TextureObject {
            descriptor: TextureDescriptor::new(descriptor, format, settings),
            _image: Some(image),
        }
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn for_elements(memory: &TextureMemory, settings: &TextureSettings) -> TextureObject {
        let TextureMemory { start, extent, format, row_pitch, slice_pitch } = *memory;
        let mut image = ImageDescriptor::new(start, extent, format);
        image.set_pitches(row_pitch as u64, slice_pitch as u64);
        TextureObject { descriptor: TextureDescriptor::new(image, format, settings), _image: None }
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn for_surface(memory: &TextureMemory) -> TextureObject {
        TextureObject::for_elements(memory, &UNREAD)
    }
}

/// The settings of a surface.
pub(super) const UNREAD: TextureSettings =
    TextureSettings::new(AddressingMode::None, FilterMode::Nearest, Coordinates::Elements);

impl TextureDescriptor {
    fn new(image: ImageDescriptor, format: ImageFormat, settings: &TextureSettings) -> TextureDescriptor {
        let addressing = settings.addressing.map(|mode| match mode {
            AddressingMode::Repeat => 0,
            AddressingMode::ClampToEdge | AddressingMode::None => 1,
            AddressingMode::MirroredRepeat => 2,
            AddressingMode::Clamp => 3,
        });
        TextureDescriptor {
            image,
            addressing,
            is_linear: (settings.filter == FilterMode::Linear).into(),
            is_normalized: (settings.coordinates == Coordinates::Normalized).into(),
            border: settings.border_of(format),
        }
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
