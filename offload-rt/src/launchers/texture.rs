//! Texture and surface objects (<https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TEXTURE__OBJECT.html>).

use std::ffi::{c_int, c_uint, c_void};

use super::array::form_of;
use super::channels::{ChannelDescriptor, normalized};
use super::current::Current;
use super::elements::{ArrayHandle, TextureElements, TextureSource};
use super::failure::{CudaError, Failure, INVALID_VALUE, NOT_SUPPORTED, Outcome, returned};
use crate::error::Error;
use crate::images::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FilterMode, ImageFormat, TextureSettings,
};

/// `cudaReadModeNormalizedFloat`.
const NORMALIZED_FLOAT: c_uint = 1;
/// `cudaFilterModeLinear`.
const LINEAR: c_uint = 1;

/// `cudaResourceDesc`.
#[repr(C)]
pub(super) struct ResourceDescriptor {
    kind: c_uint,
    resource: Resource,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Resource {
    array: ArrayHandle,
    linear: LinearMemory,
    pitched: PitchedMemory,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct LinearMemory {
    start: *mut c_void,
    channels: ChannelDescriptor,
    size: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct PitchedMemory {
    start: *mut c_void,
    channels: ChannelDescriptor,
    width: usize,
    height: usize,
    pitch: usize,
}

/// `cudaTextureDesc`, as far as it is used here.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct TextureDescriptor {
    addressing: [c_uint; 3],
    filter: c_uint,
    read_mode: c_uint,
    is_srgb: c_int,
    border: [f32; 4],
    has_normalized_coordinates: c_int,
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaCreateTextureObject(
    texture: *mut u64,
    resource: *const ResourceDescriptor,
    description: *const TextureDescriptor,
    view: *const c_void,
) -> CudaError {
    // SAFETY: the caller has a place for the number, and the descriptions.
    returned(unsafe { create_texture(texture, resource, description, view) })
}

unsafe fn create_texture(
    texture: *mut u64,
    resource: *const ResourceDescriptor,
    description: *const TextureDescriptor,
    view: *const c_void,
) -> Outcome {
    if !view.is_null() {
        return Err(Failure::new(NOT_SUPPORTED, "a texture has no view of its resource"));
    }
    // SAFETY: by the contract.
    let Some(description) = (unsafe { description.as_ref() }) else {
        return Err(Failure::new(INVALID_VALUE, "a texture has a description, null is given"));
    };
    // SAFETY: by the contract.
    let mut source = unsafe { source(resource) }?;
    if description.read_mode == NORMALIZED_FLOAT {
        source.format = normalized(source.format);
        if description.is_srgb != 0 {
            source.format = srgb(source.format)?;
        }
    }
    let settings = description.settings()?;
    settings
        .check(source.format)
        .map_err(|problem| Failure::with_error(INVALID_VALUE, Error::from_device("launchers", problem)))?;
    // SAFETY: by the contract.
    let created = unsafe { Current::for_thread()?.platform.create_texture(&source, &settings) }?;
    // SAFETY: by the contract.
    unsafe { *texture = created };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDestroyTextureObject(texture: u64) -> CudaError {
    // SAFETY: the caller gives its texture away.
    returned(Current::for_thread().and_then(|current| unsafe { current.platform.destroy_texture(texture) }))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaCreateSurfaceObject(
    surface: *mut u64,
    resource: *const ResourceDescriptor,
) -> CudaError {
    // SAFETY: the caller has a place for the number, and the description.
    returned(unsafe { create_surface(surface, resource) })
}

unsafe fn create_surface(surface: *mut u64, resource: *const ResourceDescriptor) -> Outcome {
    // SAFETY: by the contract.
    let TextureElements::Array { array, form } = unsafe { source(resource) }?.elements else {
        return Err(Failure::new(INVALID_VALUE, "a surface is of an array"));
    };
    // SAFETY: by the contract.
    let created = unsafe { Current::for_thread()?.platform.create_surface(array, &form) }?;
    // SAFETY: by the contract.
    unsafe { *surface = created };
    Ok(())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn offload_cudaDestroySurfaceObject(surface: u64) -> CudaError {
    // SAFETY: the caller gives its surface away.
    returned(Current::for_thread().and_then(|current| unsafe { current.platform.destroy_surface(surface) }))
}

unsafe fn source(resource: *const ResourceDescriptor) -> Outcome<TextureSource> {
    // SAFETY: by the contract.
    let Some(ResourceDescriptor { kind, resource }) = (unsafe { resource.as_ref() }) else {
        return Err(Failure::new(INVALID_VALUE, "a texture has a resource, null is given"));
    };
    // SAFETY: the kind tells what the caller has written.
    unsafe {
        match kind {
            0 => {
                let array = resource.array;
                let form = form_of(array)?;
                Ok(TextureSource { elements: TextureElements::Array { array, form }, format: form.format })
            }
            2 => {
                let LinearMemory { start, channels, size } = resource.linear;
                let elements = TextureElements::Linear { start, size };
                Ok(TextureSource { elements, format: channels.format()? })
            }
            3 => {
                let PitchedMemory { start, channels, width, height, pitch } = resource.pitched;
                let elements = TextureElements::Pitched { start, width, height, pitch };
                Ok(TextureSource { elements, format: channels.format()? })
            }
            _ => Err(Failure::new(NOT_SUPPORTED, format!("a resource of kind {kind}: there are no mipmaps"))),
        }
    }
}

/// The format of which kernels read linear numbers.
fn srgb(format: ImageFormat) -> Outcome<ImageFormat> {
    let colors = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8);
    if format != colors {
        let problem = format!("textures convert four channels of 8 bits from sRGB, and not {format}");
        return Err(Failure::new(NOT_SUPPORTED, problem));
    }
    Ok(ImageFormat::new(ChannelOrder::SRgba, ChannelType::UnormInt8))
}

impl TextureDescriptor {
    /// Coordinates in elements do not repeat: there "cudaAddressModeWrap and cudaAddressModeMirror" are as
    /// `cudaAddressModeClamp`.
    fn settings(&self) -> Outcome<TextureSettings> {
        let is_normalized = self.has_normalized_coordinates != 0;
        let coordinates = if is_normalized { Coordinates::Normalized } else { Coordinates::Elements };
        let mut addressing = [AddressingMode::ClampToEdge; 3];
        for (mode, number) in addressing.iter_mut().zip(self.addressing) {
            *mode = match number {
                0 if is_normalized => AddressingMode::Repeat,
                2 if is_normalized => AddressingMode::MirroredRepeat,
                0..=2 => AddressingMode::ClampToEdge,
                3 => AddressingMode::Clamp,
                _ => return Err(Failure::new(INVALID_VALUE, format!("{number} is no addressing mode"))),
            };
        }
        let filter = if self.filter == LINEAR { FilterMode::Linear } else { FilterMode::Nearest };
        let settings = TextureSettings::new(AddressingMode::ClampToEdge, filter, coordinates);
        Ok(settings.with_addressing(addressing).with_border(self.border))
    }
}
