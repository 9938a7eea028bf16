//! Arrays, resources and textures as structures, which CUDA's driver and HIP's runtime have alike
//! (<https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TEXOBJECT.html>).

use std::ffi::{c_int, c_uint, c_void};

use crate::images::{
    AddressingMode, Coordinates, FilterMode, ImageRegion, ImageShape, ImageType, TextureFormat,
    TextureSettings,
};

/// The opaque target of a handle.
pub(crate) enum ArrayTarget {}
/// `CUarray`, `hipArray_t`.
pub(crate) type RawArray = *mut ArrayTarget;

// `CUDA_ARRAY3D_*`, `hipArray*`.
pub(crate) const LAYERED: c_uint = 1;
pub(crate) const SURFACE: c_uint = 2;
pub(crate) const GATHER: c_uint = 8;

/// The largest width and height of arrays for `tex2Dgather` that every GPU has
/// (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/#features-and-technical-specifications-technical-specifications-per-compute-capability>).
const LARGEST_GATHER: usize = 16384;

/// `CU_TRSF_READ_AS_INTEGER`.
const READ_AS_INTEGER: c_uint = 1;
/// `CU_TRSF_NORMALIZED_COORDINATES`.
const NORMALIZED_COORDINATES: c_uint = 2;

/// `CU_TRSF_SRGB`, `HIP_TRSF_SRGB`.
const SRGB: c_uint = 0x10;

/// `CU_RESOURCE_TYPE_LINEAR`; that of an array is 0.
const LINEAR_RESOURCE: c_uint = 2;

/// `CU_RESOURCE_TYPE_PITCH2D`.
#[cfg(all(feature = "launchers", target_os = "linux"))]
const PITCHED_RESOURCE: c_uint = 3;

/// `CUDA_ARRAY3D_DESCRIPTOR`, `HIP_ARRAY3D_DESCRIPTOR`. A dimension that an array has not is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayDescriptor {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
    pub(crate) flags: c_uint,
}

/// `CUDA_RESOURCE_DESC`, `HIP_RESOURCE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct ResourceDescriptor {
    kind: c_uint,
    resource: Resource,
    flags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
union Resource {
    array: RawArray,
    linear: LinearResource,
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    rows: PitchedResource,
    _reserved: [c_int; 32],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct LinearResource {
    address: u64,
    format: c_uint,
    channels: c_uint,
    size: usize,
}

/// Rows of memory, each `pitch` bytes behind the one before it.
#[cfg(all(feature = "launchers", target_os = "linux"))]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PitchedResource {
    pub(crate) address: u64,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pitch: usize,
}

/// `CUDA_TEXTURE_DESC`, `HIP_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextureDescriptor {
    addressing: [c_uint; 3],
    filter: c_uint,
    flags: c_uint,
    max_anisotropy: c_uint,
    mipmap_filter: c_uint,
    mipmap_level_bias: f32,
    min_mipmap_level: f32,
    max_mipmap_level: f32,
    border: [f32; 4],
    reserved: [c_int; 12],
}

/// A copy of a box of elements to, from or between arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxCopy {
    pub(crate) from: CopyPlace,
    pub(crate) to: CopyPlace,
    pub(crate) width_in_bytes: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// Where a box is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CopyPlace {
    /// One row after the other in memory of the program.
    Host { start: *mut c_void, row: usize, rows: usize },
    /// The same at an address from which the library knows whose memory it is.
    Memory { address: u64, row: usize, rows: usize },
    /// In an array.
    Array { array: RawArray, x_in_bytes: usize, y: usize, z: usize },
}

impl ArrayDescriptor {
    /// The array of an image, with all that its type may have.
    pub(super) fn new(shape: &ImageShape, format: TextureFormat) -> ArrayDescriptor {
        let [width, height, depth] = shape.extent;
        let has_gather = width <= LARGEST_GATHER && height <= LARGEST_GATHER;
        let (height, depth, flags) = match shape.image_type {
            ImageType::D1 | ImageType::D1Buffer => (0, 0, 0),
            ImageType::D1Array => (0, height, LAYERED),
            ImageType::D2 if has_gather => (height, 0, GATHER),
            ImageType::D2 => (height, 0, 0),
            ImageType::D2Array => (height, depth, LAYERED),
            ImageType::D3 => (height, depth, 0),
        };
        let TextureFormat { channels, code, .. } = format;
        ArrayDescriptor { width, height, depth, format: code, channels, flags: flags | SURFACE }
    }

    /// The same for textures alone, whose arrays may be larger.
    pub(super) fn without_surface(self) -> ArrayDescriptor {
        ArrayDescriptor { flags: self.flags & LAYERED, ..self }
    }
}

impl ResourceDescriptor {
    pub(crate) fn for_array(array: RawArray) -> ResourceDescriptor {
        let mut resource = Resource { _reserved: [0; 32] };
        resource.array = array;
        ResourceDescriptor { kind: 0, resource, flags: 0 }
    }

    pub(crate) fn for_memory(address: u64, size: usize, format: TextureFormat) -> ResourceDescriptor {
        let mut resource = Resource { _reserved: [0; 32] };
        resource.linear = LinearResource { address, format: format.code, channels: format.channels, size };
        ResourceDescriptor { kind: LINEAR_RESOURCE, resource, flags: 0 }
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn for_rows(rows: PitchedResource) -> ResourceDescriptor {
        let mut resource = Resource { _reserved: [0; 32] };
        resource.rows = rows;
        ResourceDescriptor { kind: PITCHED_RESOURCE, resource, flags: 0 }
    }
}

impl TextureDescriptor {
    pub(crate) fn new(settings: &TextureSettings, format: TextureFormat) -> TextureDescriptor {
        let addressing = settings.addressing.map(|mode| match mode {
            AddressingMode::Repeat => 0,
            AddressingMode::ClampToEdge | AddressingMode::None => 1,
            AddressingMode::MirroredRepeat => 2,
            AddressingMode::Clamp => 3,
        });
        let mut flags = 0;
        if format.is_integer {
            flags |= READ_AS_INTEGER;
        }
        if settings.coordinates == Coordinates::Normalized {
            flags |= NORMALIZED_COORDINATES;
        }
        if format.is_srgb {
            flags |= SRGB;
        }
        TextureDescriptor {
            addressing,
            filter: (settings.filter == FilterMode::Linear).into(),
            flags,
            max_anisotropy: 0,
            mipmap_filter: 0,
            mipmap_level_bias: 0.0,
            min_mipmap_level: 0.0,
            max_mipmap_level: 0.0,
            border: settings.border,
            reserved: [0; 12],
        }
    }
}

/// The origin and extent of a region as arrays have it: layers are the third dimension.
pub(super) fn array_region(image_type: ImageType, region: &ImageRegion) -> ImageRegion {
    let [x, y, _] = region.origin;
    let [width, height, _] = region.extent;
    match image_type {
        ImageType::D1Array => ImageRegion { origin: [x, 0, y], extent: [width, 1, height] },
        _ => *region,
    }
}
