//! Images, textures and surfaces: arrays of the library, and memory for those in buffers.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use super::api::DriverApi;
use super::array::{
    ArrayDescriptor, BoxCopy, CopyPlace, RawArray, ResourceDescriptor, TextureDescriptor, array_region,
};
use super::context::{Context, Entered};
use super::memory::GpuMemory;
use super::retired;
use super::retired_list::RetiredObject;
use super::stream_handle::StreamHandle;
use super::stream_users::StreamUsers;
use crate::backend::{
    BackendImage, BackendMemory, BackendTexture, ContextId, ImageLayout, ImageRange, downcast, no_surface,
};
use crate::error::Problem;
use crate::images::{
    FillColor, ImageFormat, ImageRegion, ImageShape, ImageType, TextureFormat, TextureSettings, encoded,
};

/// An image.
#[derive(Debug)]
pub(super) struct GpuImage<A: DriverApi> {
    elements: Elements,
    shape: ImageShape,
    format: ImageFormat,
    /// Of the image, its textures and surfaces.
    users: StreamUsers<A>,
    context: Arc<Context<A>>,
}

#[derive(Debug)]
enum Elements {
    Array(RawArray),
    Memory { address: u64, size: usize, _memory: Arc<dyn BackendMemory> },
}

/// A texture or a surface.
pub(super) struct GpuTexture<A: DriverApi> {
    number: u64,
    is_surface: bool,
    /// Keeps the elements, and the context.
    image: Arc<GpuImage<A>>,
}

/// A copy between a region of an image and memory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    ToImage(Outside),
    FromImage(Outside),
}

/// Memory with the elements of a region, one row after the other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outside {
    Program(*mut u8),
    /// An address of the device.
    Device(u64),
}

impl Outside {
    /// Memory of the program that is only read.
    pub(super) fn reading(bytes: *const u8) -> Outside {
        Outside::Program(bytes.cast_mut())
    }

    fn place(self, row: usize, rows: usize) -> CopyPlace {
        match self {
            Outside::Program(start) => CopyPlace::Host { start: start.cast(), row, rows },
            Outside::Device(address) => CopyPlace::Memory { address, row, rows },
        }
    }
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for GpuImage<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for GpuImage<A> {}

impl<A: DriverApi> GpuImage<A> {
    pub(super) fn new(context: &Arc<Context<A>>, layout: &ImageLayout<'_>) -> Result<GpuImage<A>, Problem> {
        let format = TextureFormat::new(layout.format)?;
        let elements = match layout.shape.image_type {
            ImageType::D1Buffer => in_memory(context, layout)?,
            _ => Elements::Array(new_array(context, ArrayDescriptor::new(&layout.shape, format))?),
        };
        let ImageLayout { shape, format, .. } = *layout;
        Ok(GpuImage { elements, shape, format, users: StreamUsers::new(), context: context.clone() })
    }

    /// Notes that work in `stream` uses the image.
    pub(super) fn use_in(&self, stream: &Arc<StreamHandle<A>>) {
        self.users.add(stream);
    }

    fn resource(&self) -> Result<ResourceDescriptor, Problem> {
        Ok(match self.elements {
            Elements::Array(array) => ResourceDescriptor::for_array(array),
            Elements::Memory { address, size, .. } => {
                ResourceDescriptor::for_memory(address, size, TextureFormat::new(self.format)?)
            }
        })
    }

    fn place(&self, region: &ImageRegion) -> CopyPlace {
        let [x, y, z] = array_region(self.shape.image_type, region).origin;
        let x_in_bytes = x.saturating_mul(self.format.element_size());
        match self.elements {
            Elements::Array(array) => CopyPlace::Array { array, x_in_bytes, y, z },
            Elements::Memory { address, size, .. } => {
                CopyPlace::Memory { address: address.wrapping_add(x_in_bytes as u64), row: size, rows: 1 }
            }
        }
    }

    /// A copy of `region`, which is of this image, to or from a place where it has the same form.
    fn copy(&self, region: &ImageRegion, from: CopyPlace, to: CopyPlace) -> BoxCopy {
        let [width, height, depth] = array_region(self.shape.image_type, region).extent;
        let width_in_bytes = width.saturating_mul(self.format.element_size());
        BoxCopy { from, to, width_in_bytes, height, depth }
    }
}

/// An array for textures and surfaces, or for textures alone.
fn new_array<A: DriverApi>(context: &Context<A>, descriptor: ArrayDescriptor) -> Result<RawArray, Problem> {
    let entered = context.enter()?;
    retired::collect(context, &entered);
    let mut array = ptr::null_mut();
    // SAFETY: the context is current; the function reads the descriptor, and writes one handle.
    let made = unsafe { entered.api().create_array(&raw mut array, &descriptor) };
    if made.is_err() {
        let smaller = descriptor.without_surface();
        // SAFETY: as above.
        unsafe { entered.api().create_array(&raw mut array, &smaller) }
            .map_err(|error| error.during("the library refuses it"))?;
    }
    Ok(array)
}

/// Memory that any stream uses.
fn in_memory<A: DriverApi>(context: &Arc<Context<A>>, layout: &ImageLayout<'_>) -> Result<Elements, Problem> {
    let memory: Arc<dyn BackendMemory> = match layout.memory {
        Some(memory) if memory.context() != context.id() => {
            return Err("the buffer is of another device".to_string().into());
        }
        Some(memory) => memory.clone(),
        None => Arc::new(GpuMemory::allocate(context, layout.size)?),
    };
    let address = downcast::<GpuMemory<A>>(&*memory)?.give_away()?;
    Ok(Elements::Memory { address, size: layout.size, _memory: memory })
}

/// Queues a copy between a region of an image and memory.
///
/// # Safety
/// The memory has the size of the range, and stays until the copy is done.
pub(super) unsafe fn copy_outside<A: DriverApi>(
    entered: &Entered<'_, A>,
    range: &ImageRange<'_>,
    direction: Direction,
    stream: &Arc<StreamHandle<A>>,
) -> Result<(), Problem> {
    let image = downcast::<GpuImage<A>>(&**range.image)?;
    image.use_in(stream);
    let [width, rows, _] = array_region(image.shape.image_type, &range.region).extent;
    let row = width.saturating_mul(image.format.element_size());
    let inside = image.place(&range.region);
    let copy = match direction {
        Direction::ToImage(outside) => image.copy(&range.region, outside.place(row, rows), inside),
        Direction::FromImage(outside) => image.copy(&range.region, inside, outside.place(row, rows)),
    };
    // SAFETY: the region lies within the image; the rest is the caller's to answer for.
    Ok(unsafe { entered.api().copy_box(&copy, stream.raw) }?)
}

/// Queues a copy between regions of one format and extent, of two images.
pub(super) fn copy_inside<A: DriverApi>(
    entered: &Entered<'_, A>,
    from: &ImageRange<'_>,
    to: &ImageRange<'_>,
    stream: &Arc<StreamHandle<A>>,
) -> Result<(), Problem> {
    let source = downcast::<GpuImage<A>>(&**from.image)?;
    let target = downcast::<GpuImage<A>>(&**to.image)?;
    source.use_in(stream);
    target.use_in(stream);
    let as_layers = |image: &GpuImage<A>| image.shape.image_type == ImageType::D1Array;
    if as_layers(source) == as_layers(target) {
        let copy = source.copy(&from.region, source.place(&from.region), target.place(&to.region));
        // SAFETY: both regions lie within their images.
        return Ok(unsafe { entered.api().copy_box(&copy, stream.raw) }?);
    }
    // The layers of one are the rows of the other.
    let [_, rows, _] = from.region.extent;
    for row in 0..rows {
        let from_row = row_of(&from.region, row);
        let to_row = row_of(&to.region, row);
        let copy = source.copy(&from_row, source.place(&from_row), target.place(&to_row));
        // SAFETY: as above.
        unsafe { entered.api().copy_box(&copy, stream.raw) }?;
    }
    Ok(())
}

/// A row of a region of one slice.
fn row_of(region: &ImageRegion, row: usize) -> ImageRegion {
    let [x, y, z] = region.origin;
    let [width, ..] = region.extent;
    ImageRegion { origin: [x, y.saturating_add(row), z], extent: [width, 1, 1] }
}

/// The elements of `range` after a fill with `color`.
pub(super) fn filled<A: DriverApi>(range: &ImageRange<'_>, color: FillColor) -> Result<Vec<u8>, Problem> {
    let element = encoded(downcast::<GpuImage<A>>(&**range.image)?.format, color);
    Ok(element.repeat(range.region.elements().unwrap_or(0)))
}

impl<A: DriverApi> GpuTexture<A> {
    /// Notes that work in `stream` uses the texture.
    pub(super) fn use_in(&self, stream: &Arc<StreamHandle<A>>) {
        self.image.use_in(stream);
    }
}

impl<A: DriverApi> BackendImage for GpuImage<A> {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn texture(self: Arc<Self>, settings: &TextureSettings) -> Result<Arc<dyn BackendTexture>, Problem> {
        let resource = self.resource()?;
        let settings = settings.in_dimensions(self.shape.image_type.dimensions());
        let description = TextureDescriptor::new(&settings, TextureFormat::new(self.format)?);
        let context = self.context.clone();
        let entered = context.enter()?;
        let mut number = 0;
        // SAFETY: the context is current, and the resource lives; the function writes one number.
        unsafe { entered.api().create_texture(&raw mut number, &resource, &description) }
            .map_err(|error| error.during("the library refuses it"))?;
        Ok(Arc::new(GpuTexture { number, is_surface: false, image: self }))
    }

    fn surface(self: Arc<Self>) -> Result<Arc<dyn BackendTexture>, Problem> {
        if matches!(self.elements, Elements::Memory { .. }) {
            return Err(no_surface());
        }
        let resource = self.resource()?;
        let context = self.context.clone();
        let entered = context.enter()?;
        let mut number = 0;
        // SAFETY: as above.
        unsafe { entered.api().create_surface(&raw mut number, &resource) }
            .map_err(|error| error.during("the library refuses it"))?;
        Ok(Arc::new(GpuTexture { number, is_surface: true, image: self }))
    }
}

impl<A: DriverApi> BackendTexture for GpuTexture<A> {
    fn context(&self) -> ContextId {
        self.image.context.id()
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn give_away(&self) {
        self.image.users.give_away();
    }
}

impl<A: DriverApi> fmt::Debug for GpuTexture<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuTexture").field("number", &self.number).field("image", &self.image).finish()
    }
}

impl<A: DriverApi> Drop for GpuImage<A> {
    fn drop(&mut self) {
        if let Elements::Array(array) = self.elements {
            retired::retire(&self.context, &self.users, RetiredObject::Array(array));
        }
    }
}

impl<A: DriverApi> Drop for GpuTexture<A> {
    fn drop(&mut self) {
        let object = if self.is_surface {
            RetiredObject::Surface(self.number)
        } else {
            RetiredObject::Texture(self.number)
        };
        retired::retire(&self.image.context, &self.image.users, object);
    }
}
