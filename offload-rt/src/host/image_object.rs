//! Images and samplers of OpenCL C in the program's memory, as kernels of `host` know them.
//!
//! A kernel has a pointer to an [`ImageDescriptor`]; `host_images.c` of `offload-build` reads and writes elements.

use std::ptr;
use std::sync::Arc;

use super::image_descriptor::ImageDescriptor;
use super::memory::{CONTEXT, HostMemory};
use super::texture_object::{TextureObject, UNREAD};
use crate::backend::{
    BackendImage, BackendMemory, BackendSampler, BackendTexture, ContextId, ImageLayout, ImageRange,
    downcast, no_surface,
};
use crate::error::Problem;
use crate::images::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FillColor, FilterMode, ImageFormat, ImageType,
    SamplerSettings, TextureFormat, TextureSettings, encoded,
};

/// The largest extent: coordinates are numbers of 32 bits, and may be beside the image.
const LARGEST: usize = 1 << 30;

/// An image.
#[derive(Debug)]
pub(super) struct ImageObject {
    descriptor: ImageDescriptor,
    format: ImageFormat,
    image_type: ImageType,
    /// Keeps the elements.
    _memory: Arc<dyn BackendMemory>,
}

// SAFETY: as for `HostMemory`: borrows of `Image` exclude concurrent reads and writes, and for kernels the caller of a
// launch.
unsafe impl Send for ImageObject {}
// SAFETY: as above.
unsafe impl Sync for ImageObject {}

/// A sampler, as the value that clang makes of a literal one.
#[derive(Debug)]
pub(super) struct SamplerObject(usize);

impl BackendImage for ImageObject {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn texture(self: Arc<Self>, settings: &TextureSettings) -> Result<Arc<dyn BackendTexture>, Problem> {
        TextureFormat::new(self.format)?;
        Ok(Arc::new(TextureObject::new(self.descriptor, self.format, self, settings)))
    }

    fn surface(self: Arc<Self>) -> Result<Arc<dyn BackendTexture>, Problem> {
        TextureFormat::new(self.format)?;
        if self.image_type == ImageType::D1Buffer {
            return Err(no_surface());
        }
        Ok(Arc::new(TextureObject::new(self.descriptor, self.format, self, &UNREAD)))
    }
}

impl BackendSampler for SamplerObject {
    fn context(&self) -> ContextId {
        CONTEXT
    }
}

impl ImageObject {
    pub(super) fn new(layout: &ImageLayout<'_>) -> Result<ImageObject, Problem> {
        if !is_known(layout.format) {
            let names: Vec<String> = formats().iter().map(ToString::to_string).collect();
            let problem = "the host CPU has no such format".to_string();
            return Err(Problem::with_hint(problem, format!("it has {}", names.join(", "))));
        }
        if layout.shape.extent.iter().any(|size| *size > LARGEST) {
            return Err(format!("no extent is above {LARGEST}").into());
        }
        let memory: Arc<dyn BackendMemory> = match layout.memory {
            Some(memory) if memory.context() != CONTEXT => {
                return Err("the buffer is of another device".to_string().into());
            }
            Some(memory) => memory.clone(),
            None => Arc::new(HostMemory::zeroed(layout.size)?),
        };
        let elements = downcast::<HostMemory>(&*memory)?.address();
        let mut descriptor = ImageDescriptor::new(elements, layout.shape.extent, layout.format);
        if layout.shape.image_type == ImageType::D1Array {
            // Its layers are rows.
            descriptor.set_pitches(descriptor.row_pitch, descriptor.row_pitch);
        }
        let image_type = layout.shape.image_type;
        Ok(ImageObject { descriptor, format: layout.format, image_type, _memory: memory })
    }

    /// The pointer that kernels take.
    pub(super) fn argument(&self) -> *const () {
        ptr::from_ref(&self.descriptor).cast()
    }

    /// The start of the row `row` of slice `slice`, at the element `first`; they lie within the image.
    fn row(&self, first: usize, row: usize, slice: usize) -> *mut u8 {
        let descriptor = &self.descriptor;
        let first = first.saturating_mul(descriptor.element_size as usize);
        let row = row.saturating_mul(descriptor.row_pitch as usize);
        let slice = slice.saturating_mul(descriptor.slice_pitch as usize);
        descriptor.elements.wrapping_add(first).wrapping_add(row).wrapping_add(slice)
    }
}

impl SamplerObject {
    pub(super) fn new(settings: SamplerSettings) -> SamplerObject {
        // `CLK_` of clang's header opencl-c-base.h.
        let normalized = usize::from(settings.coordinates == Coordinates::Normalized);
        let addressing = match settings.addressing {
            AddressingMode::None => 0,
            AddressingMode::ClampToEdge => 2,
            AddressingMode::Clamp => 4,
            AddressingMode::Repeat => 6,
            AddressingMode::MirroredRepeat => 8,
        };
        let filter = match settings.filter {
            FilterMode::Nearest => 0x10,
            FilterMode::Linear => 0x20,
        };
        SamplerObject(normalized | addressing | filter)
    }

    /// The value that kernels take.
    pub(super) fn argument(&self) -> *const () {
        ptr::without_provenance(self.0)
    }
}

/// A row of a region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) start: *mut u8,
    pub(super) size: usize,
}

/// The rows of a region, which lies within its image.
pub(super) fn rows(range: ImageRange<'_>) -> Result<impl Iterator<Item = Row>, Problem> {
    let image = downcast::<ImageObject>(&**range.image)?;
    let [first, top, front] = range.region.origin;
    let [width, height, depth] = range.region.extent;
    let size = width.saturating_mul(image.format.element_size());
    let slices = front..front.saturating_add(depth);
    let rows = move |slice| (top..top.saturating_add(height)).map(move |row| (row, slice));
    Ok(slices.flat_map(rows).map(move |(row, slice)| Row { start: image.row(first, row, slice), size }))
}

/// The bytes of an element of `color` in the image of `range`.
pub(super) fn element_of(range: ImageRange<'_>, color: FillColor) -> Result<Vec<u8>, Problem> {
    Ok(encoded(downcast::<ImageObject>(&**range.image)?.format, color))
}

/// All formats, of every type of image.
pub(super) fn formats() -> Vec<ImageFormat> {
    let mut all = Vec::new();
    for order in ChannelOrder::ALL {
        for channel_type in ChannelType::ALL {
            let format = ImageFormat::new(*order, *channel_type);
            if is_known(format) {
                all.push(format);
            }
        }
    }
    all
}

/// Whether OpenCL has the format
/// (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#image-format-descriptor>).
fn is_known(format: ImageFormat) -> bool {
    let channel_type = format.channel_type;
    let is_packed = matches!(
        channel_type,
        ChannelType::UnormShort565 | ChannelType::UnormShort555 | ChannelType::UnormInt101010
    );
    let is_packed_with_alpha = channel_type == ChannelType::UnormInt1010102;
    match format.order {
        ChannelOrder::Rgb | ChannelOrder::Rgbx => is_packed,
        ChannelOrder::Rgba => !is_packed,
        ChannelOrder::Bgra | ChannelOrder::Argb | ChannelOrder::Abgr => matches!(
            channel_type,
            ChannelType::SnormInt8
                | ChannelType::UnormInt8
                | ChannelType::SignedInt8
                | ChannelType::UnsignedInt8
        ),
        ChannelOrder::Intensity | ChannelOrder::Luminance => matches!(
            channel_type,
            ChannelType::SnormInt8
                | ChannelType::SnormInt16
                | ChannelType::UnormInt8
                | ChannelType::UnormInt16
                | ChannelType::HalfFloat
                | ChannelType::Float
        ),
        ChannelOrder::SRgb | ChannelOrder::SRgbx | ChannelOrder::SRgba | ChannelOrder::SBgra => {
            channel_type == ChannelType::UnormInt8
        }
        _ => !is_packed && !is_packed_with_alpha,
    }
}
