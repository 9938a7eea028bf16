//! Devices, and their contexts when they are first used.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use super::api::DriverApi;
use super::context::Context;
use super::device_pool::DevicePool;
use super::graph::GpuGraph;
use super::image::GpuImage;
#[cfg(unix)]
use super::imported::GpuSemaphore;
use super::memory::{EXPORTABLE, GpuMemory};
use super::module::GpuModule;
use super::pinned::GpuHostMemory;
use super::stream::GpuStream;
#[cfg(unix)]
use crate::backend::BackendSemaphore;
use crate::backend::{
    Backend, BackendDevice, BackendGraph, BackendHostMemory, BackendImage, BackendMemory, BackendModule,
    BackendPool, BackendStream, GraphWork, ImageLayout, IpcMemoryHandle, MemoryAdvice, StreamPriority,
    downcast,
};
use crate::device::Device;
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
#[cfg(unix)]
use crate::external::{ExternalMemory, ExternalSemaphoreKind};
use crate::identity::DeviceIdentity;
use crate::images::{ImageFormat, ImageType, TextureFormat};
use crate::properties::DeviceProperties;
use crate::text::escape;

/// A device that the library has found.
#[derive(Debug)]
pub(crate) struct GpuDevice<A: DriverApi> {
    name: String,
    device: A::Device,
    context: Mutex<Option<Arc<Context<A>>>>,
}

impl<A: DriverApi> GpuDevice<A> {
    /// A device with the caller's `context`; without it, its primary context is taken when it is first used.
    pub(crate) fn new(name: String, device: A::Device, context: Option<Context<A>>) -> GpuDevice<A> {
        GpuDevice { name, device, context: Mutex::new(context.map(Arc::new)) }
    }

    #[cfg(feature = "hip")]
    pub(crate) fn device(&self) -> &A::Device {
        &self.device
    }

    /// # Errors
    /// `device` is of another back end.
    pub(crate) fn from_device(device: &Device) -> Result<&GpuDevice<A>, Error> {
        device.backend_as().ok_or_else(|| {
            let problem = format!("it is not a {} device", A::INTERFACE);
            Error::device(&device.to_string(), problem).with_hint(format!("take devices from {}", A::DEVICES))
        })
    }

    /// The device's name, safe to show.
    fn name(&self) -> String {
        escape(&self.name)
    }

    /// Bytes of memory that are free, if the device can be used.
    fn free_memory(&self) -> Option<u64> {
        let context = self.context().ok()?;
        let entered = context.enter().ok()?;
        let mut free = 0;
        let mut total = 0;
        // SAFETY: the function writes two sizes, of the device of the current context.
        unsafe { entered.api().memory_info(&raw mut free, &raw mut total) }.ok()?;
        Some(free as u64)
    }

    /// The context of the device: taken at the first call, since it may cost some hundred megabytes of its memory, and
    /// kept as long as the device or a program lives.
    pub(crate) fn context(&self) -> Result<Arc<Context<A>>, Problem> {
        let mut kept = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = kept.as_ref() {
            return Ok(context.clone());
        }
        let context = A::primary_context(&self.device);
        let context = Arc::new(context.map_err(|error| error.during("cannot use the device's context"))?);
        *kept = Some(context.clone());
        Ok(context)
    }
}

impl<A: DriverApi> BackendDevice for GpuDevice<A> {
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        A::check_libraries(image, libraries).map_err(|problem| Error::from_device(&self.name(), problem))?;
        let libraries = libraries.iter().map(Entry::load).collect::<Result<Vec<_>, _>>()?;
        let loaded = self.context().and_then(|context| GpuModule::load(&context, image, libraries));
        Ok(Arc::new(loaded.map_err(|problem| Error::from_device(&self.name(), problem))?))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        let stream = GpuStream::new(self.context()?);
        Ok(Box::new(stream.map_err(|error| error.during("cannot make a stream"))?))
    }

    fn stream_with_priority(
        &self,
        priority: StreamPriority,
    ) -> Result<Option<Box<dyn BackendStream>>, Problem> {
        let stream = GpuStream::with_priority(self.context()?, priority);
        let stream = stream.map_err(|error| error.during("cannot make a stream"))?;
        Ok(stream.map(|stream| Box::new(stream) as Box<dyn BackendStream>))
    }

    fn identity(&self) -> DeviceIdentity {
        A::identity(&self.device)
    }

    fn properties(&self) -> Result<DeviceProperties, Problem> {
        let properties = A::properties(&self.device);
        let properties = properties.map_err(|error| error.during("cannot query the device"))?;
        Ok(DeviceProperties { free_memory: self.free_memory(), ..properties })
    }

    fn pool(&self) -> Result<Option<Box<dyn BackendPool>>, Problem> {
        let pool = DevicePool::new(self.context()?)?;
        Ok(pool.map(|pool| Box::new(pool) as Box<dyn BackendPool>))
    }

    fn allocate_exportable(&self, size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        let Some(size) = size.checked_next_multiple_of(EXPORTABLE) else {
            return Err("it is more than 2^64 bytes".to_string().into());
        };
        Ok(Some(Arc::new(GpuMemory::allocate(&self.context()?, size)?)))
    }

    fn open_exported(
        &self,
        backend: Backend,
        handle: IpcMemoryHandle,
    ) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        let context = self.context()?;
        if context.id().backend != backend {
            return Err(format!("it is of {backend:?}, not of {}", A::INTERFACE).into());
        }
        Ok(Some(Arc::new(GpuMemory::open(&context, handle)?)))
    }

    #[cfg(unix)]
    fn import_memory(
        &self,
        memory: ExternalMemory,
        size: u64,
    ) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(Some(Arc::new(GpuMemory::import(&self.context()?, memory, size)?)))
    }

    #[cfg(unix)]
    fn import_semaphore(
        &self,
        kind: ExternalSemaphoreKind,
        descriptor: OwnedFd,
    ) -> Result<Option<Arc<dyn BackendSemaphore>>, Problem> {
        Ok(Some(Arc::new(GpuSemaphore::import(&self.context()?, kind, descriptor)?)))
    }

    fn allocate_managed(&self, size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        let memory = GpuMemory::managed(&self.context()?, size)?;
        Ok(memory.map(|memory| Arc::new(memory) as Arc<dyn BackendMemory>))
    }

    fn advise(&self, memory: &dyn BackendMemory, advice: MemoryAdvice) -> Result<(), Problem> {
        downcast::<GpuMemory<A>>(memory)?.advise(advice, &*self.context()?)
    }

    fn instantiate(&self, work: &dyn GraphWork) -> Result<Option<Box<dyn BackendGraph>>, Problem> {
        let context = self.context()?;
        if !context.api().has_graphs() {
            return Ok(None);
        }
        Ok(Some(Box::new(GpuGraph::new(&context, work)?)))
    }

    #[cfg(feature = "dlpack")]
    fn interchange(&self) -> Option<&dyn crate::backend::BackendInterchange> {
        Some(self)
    }

    fn image(&self, layout: &ImageLayout<'_>) -> Result<Arc<dyn BackendImage>, Problem> {
        Ok(Arc::new(GpuImage::new(&self.context()?, layout)?))
    }

    fn image_formats(&self, _: ImageType) -> Result<Vec<ImageFormat>, Problem> {
        Ok(TextureFormat::all())
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn BackendHostMemory>>, Problem> {
        Ok(Some(Box::new(GpuHostMemory::new(self.context()?, size)?)))
    }
}
