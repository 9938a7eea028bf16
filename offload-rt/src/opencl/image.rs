//! Images and samplers of OpenCL devices: what a driver has of them, and making them.

use std::sync::Arc;

use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE,
    CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE2D_MAX_WIDTH,
    CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_FILTER_LINEAR,
    CL_FILTER_NEAREST, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, cl_image_format, cl_mem_flags, cl_mem_object_type,
};

use super::answers::{flag, sizes};
use super::api::{Buffer, ClError, DeviceId, Image, ImageDescriptor, Sampler, SamplerDescriptor};
use super::context::ClContext;
use super::memory::ClMemory;
use crate::backend::{BackendImage, BackendMemory, BackendSampler, ContextId, ImageLayout, downcast};
use crate::error::Problem;
use crate::images::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FilterMode, ImageFormat, ImageShape, ImageType,
    SamplerSettings,
};

/// The ways in which kernels use images, the most useful first: some formats are for reading alone.
const USES: [cl_mem_flags; 3] = [CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY];

#[derive(Debug)]
pub(super) struct ClImage {
    pub(super) image: Image,
    context: ContextId,
}

#[derive(Debug)]
pub(super) struct ClSampler {
    pub(super) sampler: Sampler,
    context: ContextId,
}

impl BackendImage for ClImage {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl BackendSampler for ClSampler {
    fn context(&self) -> ContextId {
        self.context
    }
}

impl ClImage {
    pub(super) fn new(context: &ClContext, layout: &ImageLayout<'_>) -> Result<ClImage, Problem> {
        check_support(context.device())?;
        check_extent(context.device(), &layout.shape)?;
        let image_type = layout.shape.image_type;
        let memory = match layout.memory {
            Some(memory) if memory.context() != context.id() => {
                return Err("the buffer is of another device".to_string().into());
            }
            Some(memory) => Some(buffer_of_image(memory)?),
            None => None,
        };
        let own = match (image_type, memory) {
            (ImageType::D1Buffer, None) => {
                Some(Buffer::new(&context.context, layout.size).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        let mut descriptor = descriptor(layout);
        descriptor.buffer = memory.or(own.as_ref());
        descriptor.flags = match best_use(context, image_type, layout.format)? {
            Some(flags) => flags,
            None => return Err(no_format(context, image_type)),
        };
        let image = Image::new(&context.context, &descriptor).map_err(|error| error.to_string())?;
        Ok(ClImage { image, context: context.id() })
    }
}

/// The buffer of an image, whose commands hand nothing over.
fn buffer_of_image(memory: &Arc<dyn BackendMemory>) -> Result<&Buffer, Problem> {
    let memory = downcast::<ClMemory>(&**memory)?;
    #[cfg(unix)]
    if memory.external_buffer().is_some() {
        let problem = "an image cannot be in a buffer of external memory".to_string();
        return Err(Problem::with_hint(problem, "copy it to a buffer of a stream first"));
    }
    Ok(memory.shared())
}

impl ClSampler {
    pub(super) fn new(context: &ClContext, settings: SamplerSettings) -> Result<ClSampler, Problem> {
        check_support(context.device())?;
        let descriptor = SamplerDescriptor {
            normalized: settings.coordinates == Coordinates::Normalized,
            addressing: match settings.addressing {
                AddressingMode::None => CL_ADDRESS_NONE,
                AddressingMode::ClampToEdge => CL_ADDRESS_CLAMP_TO_EDGE,
                AddressingMode::Clamp => CL_ADDRESS_CLAMP,
                AddressingMode::Repeat => CL_ADDRESS_REPEAT,
                AddressingMode::MirroredRepeat => CL_ADDRESS_MIRRORED_REPEAT,
            },
            filter: match settings.filter {
                FilterMode::Nearest => CL_FILTER_NEAREST,
                FilterMode::Linear => CL_FILTER_LINEAR,
            },
        };
        let sampler = Sampler::new(&context.context, descriptor).map_err(|error| error.to_string())?;
        Ok(ClSampler { sampler, context: context.id() })
    }
}

/// The formats that kernels read or write, in the driver's order.
pub(super) fn formats(context: &ClContext, image_type: ImageType) -> Result<Vec<ImageFormat>, Problem> {
    check_support(context.device())?;
    let mut all = Vec::new();
    for flags in USES {
        for format in context.context.image_formats(flags, object_type(image_type)).map_err(no_answer)? {
            let order = ChannelOrder::from_code(format.image_channel_order);
            let channel_type = ChannelType::from_code(format.image_channel_data_type);
            let (Some(order), Some(channel_type)) = (order, channel_type) else { continue };
            let format = ImageFormat::new(order, channel_type);
            if !all.contains(&format) {
                all.push(format);
            }
        }
    }
    Ok(all)
}

/// The most useful way in which kernels may use images of a format; `None` if there is none.
fn best_use(
    context: &ClContext,
    image_type: ImageType,
    format: ImageFormat,
) -> Result<Option<cl_mem_flags>, Problem> {
    let wanted = raw_format(format);
    for flags in USES {
        let formats = context.context.image_formats(flags, object_type(image_type)).map_err(no_answer)?;
        let has_format = formats.iter().any(|one| {
            one.image_channel_order == wanted.image_channel_order
                && one.image_channel_data_type == wanted.image_channel_data_type
        });
        if has_format {
            return Ok(Some(flags));
        }
    }
    Ok(None)
}

fn no_answer(error: ClError) -> Problem {
    format!("the driver does not tell its image formats: {error}").into()
}

fn no_format(context: &ClContext, image_type: ImageType) -> Problem {
    let problem = "the device has no such format".to_string();
    let formats = formats(context, image_type).unwrap_or_default();
    let names: Vec<String> = formats.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        return format!("{problem}, and no other for images of this type").into();
    }
    Problem::with_hint(problem, format!("it has {}", names.join(", ")))
}

fn check_support(device: DeviceId) -> Result<(), Problem> {
    if flag(device, CL_DEVICE_IMAGE_SUPPORT) {
        return Ok(());
    }
    let problem = "the device has no images (CL_DEVICE_IMAGE_SUPPORT)".to_string();
    Err(Problem::with_hint(problem, "pass a buffer, or take another device"))
}

/// Refuses what is larger than the device's largest images.
fn check_extent(device: DeviceId, shape: &ImageShape) -> Result<(), Problem> {
    let layers = CL_DEVICE_IMAGE_MAX_ARRAY_SIZE;
    let limits: &[u32] = match shape.image_type {
        ImageType::D1 => &[CL_DEVICE_IMAGE2D_MAX_WIDTH],
        ImageType::D1Array => &[CL_DEVICE_IMAGE2D_MAX_WIDTH, layers],
        ImageType::D1Buffer => &[CL_DEVICE_IMAGE_MAX_BUFFER_SIZE],
        ImageType::D2 => &[CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT],
        ImageType::D2Array => &[CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT, layers],
        ImageType::D3 => {
            &[CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_DEPTH]
        }
    };
    let mut most = Vec::new();
    for parameter in limits {
        most.push(sizes(device, *parameter).first().copied().unwrap_or(u64::MAX));
    }
    let is_above = shape.extent.iter().zip(&most).any(|(size, most)| *size as u64 > *most);
    if is_above {
        return Err(format!("the device's largest has {most:?} elements").into());
    }
    Ok(())
}

fn descriptor(layout: &ImageLayout<'_>) -> ImageDescriptor<'static> {
    let [width, height, depth] = layout.shape.extent;
    let (extent, layers) = match layout.shape.image_type {
        ImageType::D1 | ImageType::D1Buffer => ([width, 0, 0], 0),
        ImageType::D1Array => ([width, 0, 0], height),
        ImageType::D2 => ([width, height, 0], 0),
        ImageType::D2Array => ([width, height, 0], depth),
        ImageType::D3 => ([width, height, depth], 0),
    };
    ImageDescriptor {
        flags: CL_MEM_READ_WRITE,
        format: raw_format(layout.format),
        image_type: object_type(layout.shape.image_type),
        extent,
        layers,
        buffer: None,
    }
}

fn raw_format(format: ImageFormat) -> cl_image_format {
    cl_image_format {
        image_channel_order: format.order.code(),
        image_channel_data_type: format.channel_type.code(),
    }
}

fn object_type(image_type: ImageType) -> cl_mem_object_type {
    match image_type {
        ImageType::D1 => CL_MEM_OBJECT_IMAGE1D,
        ImageType::D1Array => CL_MEM_OBJECT_IMAGE1D_ARRAY,
        ImageType::D1Buffer => CL_MEM_OBJECT_IMAGE1D_BUFFER,
        ImageType::D2 => CL_MEM_OBJECT_IMAGE2D,
        ImageType::D2Array => CL_MEM_OBJECT_IMAGE2D_ARRAY,
        ImageType::D3 => CL_MEM_OBJECT_IMAGE3D,
    }
}
