//! Streams: work for a device, in order.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, PoisonError};

use super::api::{DriverApi, PeerCopy, RawStream};
use super::context::{Context, Entered};
use super::error::{ApiResult, failed};
use super::event::GpuEvent;
use super::host_function;
use super::image::{self, Direction, GpuImage, GpuTexture, Outside};
#[cfg(unix)]
use super::imported::GpuSemaphore;
use super::managed::PROGRAM;
use super::memory::{GpuMemory, start};
use super::peers;
use super::retired;
use super::stream_handle::{GraphMemory, StreamHandle, StreamRole};
#[cfg(unix)]
use crate::backend::BackendSemaphore;
use crate::backend::{
    BackendEvent, BackendImage, BackendMemory, BackendStream, BackendTexture, ContextId, FillPattern,
    HostFunction, ImageRange, MemoryPlace, MemoryRange, Owner, RepeatedFunction, StreamPriority, downcast,
};
use crate::error::Problem;
use crate::images::FillColor;

/// A stream, its own or the caller's.
#[derive(Debug)]
pub(crate) struct GpuStream<A: DriverApi> {
    pub(crate) raw: RawStream,
    context: Arc<Context<A>>,
    handle: Arc<StreamHandle<A>>,
}

// SAFETY: the library's functions may be called from any thread.
unsafe impl<A: DriverApi> Send for GpuStream<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for GpuStream<A> {}

impl<A: DriverApi> GpuStream<A> {
    pub(crate) fn new(context: Arc<Context<A>>) -> ApiResult<GpuStream<A>, A> {
        GpuStream::with_role(context, StreamRole::Own)
    }

    /// A stream of this priority; `None` if the device has none.
    pub(super) fn with_priority(
        context: Arc<Context<A>>,
        priority: StreamPriority,
    ) -> ApiResult<Option<GpuStream<A>>, A> {
        let entered = context.enter()?;
        let api = entered.api();
        let mut lowest = 0;
        let mut highest = 0;
        // SAFETY: the context is current; the function writes two numbers.
        unsafe { api.stream_priorities(&raw mut lowest, &raw mut highest) }?;
        if lowest == highest {
            return Ok(None);
        }
        let number = match priority {
            StreamPriority::Low => lowest,
            StreamPriority::Normal => 0,
            StreamPriority::High => highest,
        };
        let mut raw = ptr::null_mut();
        // SAFETY: the context is current; the function writes one handle.
        unsafe { api.create_stream_with_priority(&raw mut raw, number) }?;
        drop(entered);
        Ok(Some(GpuStream::from_handle(StreamHandle { raw, context, role: StreamRole::Own })))
    }

    /// A stream for the capture of a graph.
    pub(super) fn for_capture(
        context: Arc<Context<A>>,
        memory: Arc<GraphMemory>,
    ) -> ApiResult<GpuStream<A>, A> {
        GpuStream::with_role(context, StreamRole::Capturing(memory))
    }

    fn with_role(context: Arc<Context<A>>, role: StreamRole) -> ApiResult<GpuStream<A>, A> {
        let mut raw = ptr::null_mut();
        let entered = context.enter()?;
        // SAFETY: the context is current; the function writes one handle.
        unsafe { entered.api().create_stream(&raw mut raw) }?;
        drop(entered);
        Ok(GpuStream::from_handle(StreamHandle { raw, context, role }))
    }

    /// The caller's stream `raw`; `None` if it is of another context, as far as the library tells.
    ///
    /// # Safety
    /// `raw` is a stream of this library, of `context` where the library does not tell, and `owner` keeps it.
    pub(crate) unsafe fn adopt(
        context: Arc<Context<A>>,
        raw: RawStream,
        owner: Owner,
    ) -> ApiResult<Option<GpuStream<A>>, A> {
        let entered = context.enter()?;
        // SAFETY: by the contract; the context is current.
        let is_own = unsafe { entered.api().is_stream_of(raw, context.handle()) }?;
        drop(entered);
        let role = StreamRole::Adopted { _owner: owner };
        let stream = GpuStream::from_handle(StreamHandle { raw, context, role });
        Ok(is_own.then_some(stream))
    }

    fn from_handle(handle: StreamHandle<A>) -> GpuStream<A> {
        GpuStream { raw: handle.raw, context: handle.context.clone(), handle: Arc::new(handle) }
    }

    /// Copies `bytes`, which are the caller's again on return, to `to`, which has room for them.
    pub(super) fn copy_in(&self, to: u64, bytes: &[u8]) -> ApiResult<(), A> {
        let entered = self.context.enter()?;
        let api = entered.api();
        // SAFETY: the memory has room for `bytes`, which lives until the library has read it: see below.
        unsafe { api.copy_to_device(to, bytes.as_ptr().cast(), bytes.len(), self.raw) }?;
        self.end_reading(bytes, &entered)
    }

    /// Waits until the library has read `bytes`, which a copy was queued from.
    fn end_reading(&self, bytes: &[u8], entered: &Entered<'_, A>) -> ApiResult<(), A> {
        // The work of a graph keeps its bytes.
        if !self.handle.is_capturing() && entered.api().reads_later(self.context.handle(), bytes) {
            self.wait(entered)
        } else {
            Ok(())
        }
    }

    /// Queues a copy between an image and memory.
    ///
    /// # Safety
    /// As that of [`image::copy_outside`].
    unsafe fn copy_image_outside(
        &self,
        range: &ImageRange<'_>,
        direction: Direction,
        entered: &Entered<'_, A>,
    ) -> Result<(), Problem> {
        // SAFETY: the contract is the same.
        let copied = unsafe { image::copy_outside(entered, range, direction, &self.handle) };
        copied.map_err(|problem| problem.during("cannot copy an image"))
    }

    /// Records `event` at the present end; after an error no queued work is in flight.
    fn end(&self, event: GpuEvent<A>, entered: &Entered<'_, A>) -> Result<Box<dyn BackendEvent>, Problem> {
        match event.record(self.raw, entered) {
            Ok(()) => Ok(Box::new(event)),
            Err(problem) => {
                let _ = self.wait(entered);
                Err(problem)
            }
        }
    }

    /// It takes the work of a graph.
    pub(super) fn is_capturing(&self) -> bool {
        self.handle.is_capturing()
    }

    pub(super) fn wait(&self, entered: &Entered<'_, A>) -> ApiResult<(), A> {
        // SAFETY: the stream lives.
        unsafe { entered.api().synchronize_stream(self.raw) }
    }
}

impl<A: DriverApi> BackendStream for GpuStream<A> {
    fn context(&self) -> ContextId {
        self.context.id()
    }

    fn handle(&self) -> *mut c_void {
        self.raw.cast()
    }

    fn allocate(&self, size: usize) -> Result<Arc<dyn BackendMemory>, Problem> {
        // A stream that is the caller's may go before the memory does.
        let memory = match self.handle.role {
            StreamRole::Adopted { .. } => GpuMemory::allocate(&self.context, size),
            StreamRole::Own | StreamRole::Capturing(_) => GpuMemory::in_order(&self.handle, size),
        };
        Ok(Arc::new(memory?))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        self.copy_in(start(to, self)?, bytes).map_err(failed("cannot copy to a buffer"))
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let failed = failed("cannot copy from a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let from = start(from, self)?;
        let into = bytes.as_mut_ptr().cast();
        // SAFETY: the range has this size, and `bytes` lives until the stream has been waited for.
        unsafe { entered.api().copy_from_device(into, from, bytes.len(), self.raw) }.map_err(&failed)?;
        self.wait(&entered).map_err(failed)
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let failed = failed("cannot copy to a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let to = start(to, self)?;
        let event = GpuEvent::new(&self.context, &entered)?;
        // SAFETY: the range has this size; by the contract the bytes stay until the event.
        unsafe { entered.api().copy_to_device(to, bytes.cast(), size, self.raw) }.map_err(failed)?;
        self.end(event, &entered)
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let failed = failed("cannot copy from a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let size = from.size;
        let from = start(from, self)?;
        let event = GpuEvent::new(&self.context, &entered)?;
        // SAFETY: as above.
        unsafe { entered.api().copy_from_device(bytes.cast(), from, size, self.raw) }.map_err(failed)?;
        self.end(event, &entered)
    }

    fn copy_from(
        &self,
        source: &dyn BackendStream,
        from: MemoryRange<'_>,
        to: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        let Ok(source) = downcast::<GpuStream<A>>(source) else { return Ok(false) };
        let failed = failed("cannot copy between devices");
        if !self.context.api().has_peer_copy() {
            return Ok(false);
        }
        peers::connect(&self.context, &source.context);
        let copy = PeerCopy {
            to: start(to, self)?,
            to_context: self.context.handle(),
            from: start(from, source)?,
            from_context: source.context.handle(),
            size: to.size,
        };
        self.handle.wait_for(&source.handle)?;
        let entered = self.context.enter().map_err(&failed)?;
        // SAFETY: both ranges have this size, and are of these contexts.
        unsafe { entered.api().copy_peer(&copy, self.raw) }.map_err(failed)?;
        drop(entered);
        // Releasing the memory waits for work of its own context alone.
        source.handle.wait_for(&self.handle)?;
        Ok(true)
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let failed = failed("cannot copy between buffers");
        let entered = self.context.enter().map_err(&failed)?;
        let size = to.size;
        let from = start(from, self)?;
        let to = start(to, self)?;
        // SAFETY: both ranges have this size, and do not overlap.
        unsafe { entered.api().copy_on_device(to, from, size, self.raw) }.map_err(failed)
    }

    fn prefetch(&self, range: MemoryRange<'_>, place: MemoryPlace) -> Result<(), Problem> {
        let failed = failed("cannot prefetch managed memory");
        let entered = self.context.enter().map_err(&failed)?;
        let size = range.size;
        let address = start(range, self)?;
        let device = match place {
            MemoryPlace::Device => A::ordinal(self.context.handle()),
            MemoryPlace::Program => PROGRAM,
        };
        // SAFETY: the range lies within managed memory.
        unsafe { entered.api().prefetch(address, size, device, self.raw) }.map_err(failed)
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let failed = failed("cannot fill a buffer");
        let entered = self.context.enter().map_err(&failed)?;
        let api = entered.api();
        let size = to.size;
        let to = start(to, self)?;
        // SAFETY: the range has this size, a multiple of the pattern's, and starts at one.
        let filled = unsafe {
            match pattern {
                FillPattern::Bytes1(value) => api.fill_u8(to, value, size, self.raw),
                FillPattern::Bytes2(value) => api.fill_u16(to, value, size / 2, self.raw),
                FillPattern::Bytes4(value) => api.fill_u32(to, value, size / 4, self.raw),
            }
        };
        filled.map_err(failed)
    }

    fn write_image(&self, to: ImageRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        // SAFETY: `bytes` have the size of the range, and live until the library has read them.
        unsafe {
            self.copy_image_outside(&to, Direction::ToImage(Outside::reading(bytes.as_ptr())), &entered)
        }?;
        self.end_reading(bytes, &entered).map_err(failed("cannot copy an image"))
    }

    fn read_image(&self, from: ImageRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        // SAFETY: `bytes` have the size of the range, and live until the stream has been waited for.
        unsafe {
            self.copy_image_outside(
                &from,
                Direction::FromImage(Outside::Program(bytes.as_mut_ptr())),
                &entered,
            )
        }?;
        self.wait(&entered).map_err(failed("cannot copy an image"))
    }

    unsafe fn write_image_later(
        &self,
        to: ImageRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter()?;
        let event = GpuEvent::new(&self.context, &entered)?;
        // SAFETY: by the contract.
        unsafe { self.copy_image_outside(&to, Direction::ToImage(Outside::reading(bytes)), &entered) }?;
        self.end(event, &entered)
    }

    unsafe fn read_image_later(
        &self,
        from: ImageRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter()?;
        let event = GpuEvent::new(&self.context, &entered)?;
        // SAFETY: by the contract.
        unsafe { self.copy_image_outside(&from, Direction::FromImage(Outside::Program(bytes)), &entered) }?;
        self.end(event, &entered)
    }

    fn copy_to_image(&self, from: MemoryRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        let direction = Direction::ToImage(Outside::Device(start(from, self)?));
        // SAFETY: the range has the size of the region.
        unsafe { self.copy_image_outside(&to, direction, &entered) }
    }

    fn copy_from_image(&self, from: ImageRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        let direction = Direction::FromImage(Outside::Device(start(to, self)?));
        // SAFETY: as above.
        unsafe { self.copy_image_outside(&from, direction, &entered) }
    }

    fn copy_image(&self, from: ImageRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        let copied = image::copy_inside(&entered, &from, &to, &self.handle);
        copied.map_err(|problem| problem.during("cannot copy between images"))
    }

    /// The libraries fill memory, and no arrays: the elements are copied from the program's memory, or from memory that the
    /// graph has filled once.
    fn fill_image(&self, to: ImageRange<'_>, color: FillColor) -> Result<(), Problem> {
        let elements = image::filled::<A>(&to, color)?;
        let StreamRole::Capturing(graph) = &self.handle.role else {
            return self.write_image(to, &elements);
        };
        let entered = self.context.enter()?;
        let filled = GpuMemory::allocate(&self.context, elements.len())?;
        let beside = GpuStream::new(self.context.clone())?;
        beside.copy_in(filled.address(), &elements)?;
        beside.wait(&entered)?;
        let direction = Direction::ToImage(Outside::Device(filled.address()));
        // SAFETY: the memory has the size of the region, and the graph keeps it.
        unsafe { self.copy_image_outside(&to, direction, &entered) }?;
        graph.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(filled));
        Ok(())
    }

    fn call(&self, function: HostFunction) -> Result<(), Problem> {
        let failed = failed("cannot call a host function");
        let entered = self.context.enter().map_err(&failed)?;
        host_function::queue(&entered, self.raw, function).map_err(failed)
    }

    fn call_again(&self, function: &Arc<RepeatedFunction>) -> Result<(), Problem> {
        if !self.is_capturing() {
            return self.call(function.once());
        }
        let failed = failed("a graph cannot call a host function");
        let entered = self.context.enter().map_err(&failed)?;
        host_function::capture(&entered, self.raw, function).map_err(failed)
    }

    fn mark(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter().map_err(failed("cannot make an event"))?;
        self.end(GpuEvent::for_order(&self.context, &entered)?, &entered)
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        let entered = self.context.enter().map_err(failed("cannot make an event"))?;
        self.end(GpuEvent::new(&self.context, &entered)?, &entered)
    }

    fn prepare(&self, memory: &dyn BackendMemory) -> Result<(), Problem> {
        downcast::<GpuMemory<A>>(memory)?.use_in(&self.handle)
    }

    fn prepare_image(&self, image: &dyn BackendImage) -> Result<(), Problem> {
        downcast::<GpuImage<A>>(image)?.use_in(&self.handle);
        Ok(())
    }

    fn prepare_texture(&self, texture: &dyn BackendTexture) -> Result<(), Problem> {
        downcast::<GpuTexture<A>>(texture)?.use_in(&self.handle);
        Ok(())
    }

    fn waits_for(&self, event: &dyn BackendEvent) -> bool {
        event.context().backend == self.context().backend
    }

    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem> {
        let failed = failed("cannot wait for an event");
        let entered = self.context.enter().map_err(&failed)?;
        let event = downcast::<GpuEvent<A>>(event)?;
        // SAFETY: the stream is of the current context, and the event may be of another.
        unsafe { entered.api().wait_event(self.raw, event.raw) }.map_err(failed)
    }

    #[cfg(unix)]
    fn wait_external(&self, semaphore: &dyn BackendSemaphore, value: u64) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        downcast::<GpuSemaphore<A>>(semaphore)?.wait_in(value, &self.handle, &entered)
    }

    #[cfg(unix)]
    fn signal_external(&self, semaphore: &dyn BackendSemaphore, value: u64) -> Result<(), Problem> {
        let entered = self.context.enter()?;
        downcast::<GpuSemaphore<A>>(semaphore)?.signal_in(value, &self.handle, &entered)
    }

    fn synchronize(&self) -> Result<(), Problem> {
        let failed = failed("the work of the stream failed");
        let entered = self.context.enter().map_err(&failed)?;
        self.wait(&entered).map_err(failed)?;
        retired::collect(&self.context, &entered);
        Ok(())
    }
}
