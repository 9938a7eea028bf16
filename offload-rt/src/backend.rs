//! The traits between the launch layer and its backends: device, module, kernel, stream, event and memory.
//!
//! A [`BackendDevice`] loads images as modules, whose kernels are looked up once, and creates streams, which allocate, copy
//! and order. The launch layer checks before it calls: ranges lie within their memory, and all values of one call are of one
//! [`ContextId`], so that a backend can downcast them to its own types.

use std::any::Any;
use std::fmt::{self, Debug};
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use offload_format::pack::KernelInfo;

use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
#[cfg(unix)]
use crate::external::{ExternalMemory, ExternalSemaphoreKind};
use crate::group_size::GroupSizes;
use crate::identity::DeviceIdentity;
use crate::images::{
    FillColor, ImageFormat, ImageRegion, ImageShape, ImageType, SamplerSettings, TextureSettings,
};
use crate::properties::{DeviceProperties, KernelProperties};
use crate::range::NdRange;
use crate::text::escape;

/// The owner of a borrowed handle, which keeps it valid.
#[cfg(any(feature = "cuda", feature = "hip", feature = "dlpack"))]
pub(crate) type Owner = Arc<dyn Any + Send + Sync>;

/// One device of a backend.
pub(crate) trait BackendDevice: Any + Debug + Send + Sync {
    /// Loads `image`, linked with the images `libraries`.
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error>;

    /// A new stream.
    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem>;

    /// A new stream of this priority, which is not the usual one; `None` if the device's streams have none.
    fn stream_with_priority(
        &self,
        _priority: StreamPriority,
    ) -> Result<Option<Box<dyn BackendStream>>, Problem> {
        Ok(None)
    }

    /// What other drivers tell of the same device too.
    fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::unknown("")
    }

    /// The properties beside aspects and identity.
    fn properties(&self) -> Result<DeviceProperties, Problem> {
        Ok(DeviceProperties::default())
    }

    /// The pool that memory of the device comes from; `None` if the driver has none.
    fn pool(&self) -> Result<Option<Box<dyn BackendPool>>, Problem> {
        Ok(None)
    }

    /// Memory of `size` bytes, at least 1, that other processes can open; `None` if the driver has none. What it holds is
    /// unspecified.
    fn allocate_exportable(&self, _size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(None)
    }

    /// Memory of another process, which `backend` has exported there; `None` as above.
    fn open_exported(
        &self,
        _backend: Backend,
        _handle: IpcMemoryHandle,
    ) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(None)
    }

    /// `size` bytes of external memory from its offset on, which it has; `None` if the driver imports no such memory.
    #[cfg(unix)]
    fn import_memory(
        &self,
        _memory: ExternalMemory,
        _size: u64,
    ) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(None)
    }

    /// The semaphore of a file descriptor; `None` if the driver imports no such semaphores.
    #[cfg(unix)]
    fn import_semaphore(
        &self,
        _kind: ExternalSemaphoreKind,
        _descriptor: OwnedFd,
    ) -> Result<Option<Arc<dyn BackendSemaphore>>, Problem> {
        Ok(None)
    }

    /// The driver's graph of `work`, which outlives it; `None` if the launch layer gives the operations one by one.
    fn instantiate(&self, _work: &dyn GraphWork) -> Result<Option<Box<dyn BackendGraph>>, Problem> {
        Ok(None)
    }

    /// What shares its memory with other libraries; `None` if it has no addresses.
    #[cfg(feature = "dlpack")]
    fn interchange(&self) -> Option<&dyn BackendInterchange> {
        None
    }

    /// Memory of the program of `size` bytes, at least 1, that copies go straight to and from; `None` if the driver has
    /// none.
    fn lock_memory(&self, _size: usize) -> Result<Option<Box<dyn BackendHostMemory>>, Problem> {
        Ok(None)
    }

    /// Memory of `size` bytes, at least 1, that the program reaches too; `None` if driver or device have none. What it
    /// holds is unspecified.
    fn allocate_managed(&self, _size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(None)
    }

    /// Gives the driver advice on managed memory, which this device can use. It has no effect where the driver takes none.
    fn advise(&self, memory: &dyn BackendMemory, _advice: MemoryAdvice) -> Result<(), Problem> {
        if memory.takes_advice() { Err(other_back_end()) } else { Ok(()) }
    }

    /// An image whose elements are unspecified.
    fn image(&self, _layout: &ImageLayout<'_>) -> Result<Arc<dyn BackendImage>, Problem> {
        Err(no_images())
    }

    /// The formats of images of a type; none if the device has no such images.
    fn image_formats(&self, _image_type: ImageType) -> Result<Vec<ImageFormat>, Problem> {
        Err(no_images())
    }

    fn sampler(&self, _settings: SamplerSettings) -> Result<Arc<dyn BackendSampler>, Problem> {
        let problem = "samplers: not supported by this back end".to_string();
        Err(Problem::with_hint(
            problem,
            "kernels of CUDA C++ take a `Texture`, which is an image with its settings",
        ))
    }
}

/// The problem of a back end without images.
pub(crate) fn no_images() -> Problem {
    let problem = "images: not supported by this back end".to_string();
    Problem::with_hint(problem, "OpenCL devices and the host CPU have them; elsewhere pass a buffer")
}

/// The problem of an image or a sampler as an argument where kernels take neither.
#[cfg(any(feature = "cuda", feature = "hip"))]
pub(crate) fn no_image_arguments() -> Problem {
    let problem = "kernels of this back end take neither images nor samplers".to_string();
    Problem::with_hint(problem, "a kernel of CUDA C++ takes a `Texture` or a `Surface` of an image")
}

/// What an image is made of.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "only some back ends have images")]
pub(crate) struct ImageLayout<'a> {
    pub(crate) shape: ImageShape,
    pub(crate) format: ImageFormat,
    /// The size of all elements in bytes, at least 1.
    pub(crate) size: usize,
    /// Memory that holds them, of the same device and of at least this size, if there is some already.
    pub(crate) memory: Option<&'a Arc<dyn BackendMemory>>,
}

/// An image of a device. It can be dropped at any time, as memory can.
pub(crate) trait BackendImage: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// A texture object, which keeps the image; the settings were compared with its format.
    fn texture(self: Arc<Self>, _settings: &TextureSettings) -> Result<Arc<dyn BackendTexture>, Problem> {
        Err(no_textures())
    }

    /// A surface object, which keeps the image.
    fn surface(self: Arc<Self>) -> Result<Arc<dyn BackendTexture>, Problem> {
        Err(no_textures())
    }
}

/// The problem of a back end with images and without textures.
pub(crate) fn no_textures() -> Problem {
    let problem = "textures and surfaces: not supported by this back end".to_string();
    Problem::with_hint(problem, "kernels of CUDA C++ have them on GPUs of NVIDIA and on the host CPU")
}

/// The problem of a surface in a buffer.
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "cuda", feature = "hip"))]
pub(crate) fn no_surface() -> Problem {
    Problem::with_hint("an image in a buffer has no surface".to_string(), "pass the buffer to the kernel")
}

/// A texture or surface object. It can be dropped at any time, as memory can.
pub(crate) trait BackendTexture: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// What kernels take.
    fn number(&self) -> u64;

    /// Notes that other code has the number.
    fn give_away(&self) {}
}

/// A sampler of a device. It can be dropped at any time.
pub(crate) trait BackendSampler: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;
}

/// A region of an image, which lies within it and has elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRange<'a> {
    pub(crate) image: &'a Arc<dyn BackendImage>,
    pub(crate) region: ImageRegion,
    /// The size of its elements in bytes, one row after the other.
    pub(crate) size: usize,
}

/// Memory that is shared with other libraries by its address.
#[cfg(feature = "dlpack")]
pub(crate) trait BackendInterchange {
    /// The device as `DLDevice` names it: `DLDeviceType`, and the number of the device.
    fn dlpack_device(&self) -> Result<[i32; 2], Problem>;

    /// The context of its memory.
    fn memory_context(&self) -> Result<ContextId, Problem>;

    /// The address of `memory`, of this context, for other code, which may use it until it is dropped.
    fn share(&self, memory: &dyn BackendMemory) -> Result<*mut std::ffi::c_void, Problem>;

    /// Memory of other code, of `size` bytes. `owner` is dropped when nothing uses it any more.
    fn adopt(
        &self,
        address: *mut std::ffi::c_void,
        size: usize,
        owner: Owner,
    ) -> Result<Arc<dyn BackendMemory>, Problem>;
}

/// The driver's handle of memory for other processes: `CUipcMemHandle`, `hipIpcMemHandle_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpcMemoryHandle(pub(crate) [u8; 64]);

/// The memory pool of a device. Sizes are in bytes.
pub(crate) trait BackendPool: Debug + Send + Sync {
    fn statistics(&self) -> Result<PoolStatistics, Problem>;

    /// Sets how much memory that is not used stays with the pool when a stream is waited for.
    fn keep(&self, bytes: u64) -> Result<(), Problem>;

    /// Gives unused memory back now, but for so much.
    fn trim(&self, bytes: u64) -> Result<(), Problem>;
}

/// The memory of a pool in bytes, made by [`MemoryPool::statistics`](crate::MemoryPool::statistics).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStatistics {
    /// Of buffers.
    pub used: u64,
    /// The most that buffers had together.
    pub max_used: u64,
    /// What the pool has of the device, used or not.
    pub reserved: u64,
    /// The most that the pool had of the device.
    pub max_reserved: u64,
}

/// How soon a device does the work of a stream, beside that of other streams; see
/// [`Device::stream_with_priority`](crate::Device::stream_with_priority).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamPriority {
    /// The driver's lowest. On NVIDIA GPUs that is the usual one.
    Low,
    /// That of [`Device::stream`](crate::Device::stream).
    #[default]
    Normal,
    /// The driver's highest.
    High,
}

/// Memory of the program that the driver has allocated.
pub(crate) trait BackendHostMemory: Debug + Send + Sync {
    fn address(&self) -> *mut u8;
}

/// The context of memory, streams and kernels; values of different contexts cannot be used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextId {
    /// The backend, since handles of two backends may be equal.
    pub(crate) backend: Backend,
    /// The driver's handle; 0 where there is one context for all.
    pub(crate) handle: usize,
}

/// The kind of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a variant is unused without the feature of its backend")]
pub(crate) enum Backend {
    Host,
    OpenCl,
    Cuda,
    Hip,
}

/// An image that a driver has accepted.
pub(crate) trait BackendModule: Debug + Send + Sync {
    /// The kernels, as far as pack or driver know them.
    fn kernels(&self) -> &[KernelInfo];

    /// Looks up a kernel, which keeps the module.
    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error>;

    /// Where a variable of the image is, for launchers.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    fn variable(&self, _name: &str) -> Option<ImageVariable> {
        None
    }

    /// Writes a variable of the image.
    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let problem = format!("cannot write {} bytes: OpenCL devices have no variables", bytes.len());
        let error = Error::device(&format!("variable `{}`", escape(name)), problem);
        Err(error.with_hint("pass the value to the kernel as an argument"))
    }

    /// Reads a variable of the image, after all work of the device.
    fn read_global(&self, name: &str, bytes: &mut [u8]) -> Result<(), Error> {
        let problem = format!("cannot read {} bytes: OpenCL devices have no variables", bytes.len());
        let error = Error::device(&format!("variable `{}`", escape(name)), problem);
        Err(error.with_hint("let the kernel write the value to a buffer"))
    }
}

/// A variable of a loaded image.
#[cfg(all(feature = "launchers", target_os = "linux"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageVariable {
    /// Its address for kernels and copies.
    pub(crate) address: usize,
    /// In bytes.
    pub(crate) size: usize,
}

/// A kernel of a loaded module.
pub(crate) trait BackendKernel: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// The record of the kernel, from pack and driver; only the name if they have none.
    fn info(&self) -> &KernelInfo;

    /// The driver's properties of the kernel, and those of its record.
    fn properties(&self) -> KernelProperties {
        KernelProperties::from_info(self.info())
    }

    /// The sizes of work-groups that suit the kernel if each has `shared_memory` bytes beside its own.
    fn group_sizes(&self, shared_memory: u32) -> Result<GroupSizes, Problem>;

    /// The most work-groups of a cooperative launch over ranges as `range`; `None` if the device has no such launches.
    fn cooperative_groups(&self, _range: &NdRange) -> Result<Option<u64>, Problem> {
        Ok(None)
    }

    /// The output of the image, if the launch layer has to read it.
    #[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
    fn output(&self) -> Option<Arc<dyn BackendOutput>> {
        None
    }

    /// Puts the kernel into `stream`. It allocates nothing, and copies what it needs of `args`.
    ///
    /// # Safety
    /// As that of [`Kernel::launch`](crate::Kernel::launch).
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    unsafe fn launch(
        &self,
        stream: &dyn BackendStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem>;
}

/// The output of an image's kernels, if the driver does not print it.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
pub(crate) trait BackendOutput: Debug + Send + Sync {
    /// The present end of the output.
    fn mark(&self) -> OutputMark;

    /// Prints what kernels that were waited for have printed. Returns the first assertion that failed after `before` in
    /// one of the kernels.
    fn print(
        &self,
        before: OutputMark,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Result<Option<AssertionFailure>, Problem>;
}

/// A position in the failures of an image: the counts of failed assertions and of their messages.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputMark {
    pub(crate) failed: u32,
    pub(crate) messages: usize,
}

/// A failed assertion.
#[cfg(any(feature = "opencl", feature = "cuda", feature = "hip"))]
#[derive(Clone, Debug)]
pub(crate) struct AssertionFailure {
    /// Empty if it is not known.
    pub(crate) kernel: String,
    pub(crate) text: String,
}

/// Memory of a device. It can be dropped at any time: it is released after the work that uses it.
pub(crate) trait BackendMemory: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// Whether work of `context` can use it.
    fn is_usable_in(&self, context: ContextId) -> bool {
        self.context() == context
    }

    /// The address for a launch of a context that can use it.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn device_address(&self) -> DeviceAddress {
        DeviceAddress::default()
    }

    /// The handle for other processes; `None` if the driver has none.
    fn export(&self) -> Result<Option<IpcMemoryHandle>, Problem> {
        Ok(None)
    }

    /// A dma-buf of the memory, from its start on; `None` if the driver has none.
    #[cfg(unix)]
    fn export_dma_buf(&self) -> Result<Option<OwnedFd>, Problem> {
        Ok(None)
    }

    /// Waits for all work that uses the memory, and hands it to the program, which alone has it until
    /// [`end_program_access`](BackendMemory::end_program_access). The memory is managed.
    fn begin_program_access(&self) -> Result<*mut u8, Problem> {
        Err("it is not managed memory".to_string().into())
    }

    /// Hands the memory back to the device.
    fn end_program_access(&self) -> Result<(), Problem> {
        Ok(())
    }

    /// Whether it is managed memory that the driver takes advice on.
    fn takes_advice(&self) -> bool {
        false
    }

    /// The address in the program's own memory, if it has one. Its bytes are initialized, and work uses them only during a
    /// call.
    fn in_program(&self) -> Option<*mut u8> {
        None
    }
}

/// The address of memory of CUDA or HIP.
#[cfg(any(feature = "cuda", feature = "hip"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeviceAddress {
    pub(crate) start: u64,
    /// The handle of the stream that it was borrowed for, as a number; 0 if any stream may use it.
    pub(crate) only_in: usize,
    /// The handle of the stream whose work needs no [`prepare`](BackendStream::prepare), as a number; 0 if none needs it.
    pub(crate) home: usize,
}

#[cfg(any(feature = "cuda", feature = "hip"))]
impl DeviceAddress {
    /// `offset` bytes behind the start, for work in `stream`.
    pub(crate) fn at(self, offset: usize, stream: *mut std::ffi::c_void) -> Result<u64, Problem> {
        if self.only_in == 0 || self.only_in == stream.addr() {
            Ok(self.start.wrapping_add(offset as u64))
        } else {
            Err("the memory was borrowed for another stream".to_string().into())
        }
    }
}

/// Memory that an operation uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemoryRef<'a> {
    /// Memory that a graph can keep.
    Shared(&'a Arc<dyn BackendMemory>),
    /// The same, of a buffer that was made in a capture.
    Leased(&'a Arc<dyn BackendMemory>, &'a Arc<Lease>),
    /// Memory that is there for one call.
    #[allow(dead_code, reason = "only drivers have it")]
    Borrowed(&'a dyn BackendMemory),
}

impl<'a> MemoryRef<'a> {
    /// The memory, for work outside of captures.
    #[inline]
    pub(crate) fn get(self) -> &'a dyn BackendMemory {
        self.end_lease();
        self.memory()
    }

    #[inline]
    pub(crate) fn context(self) -> ContextId {
        self.memory().context()
    }

    /// Whether work of `context` can use it.
    #[inline]
    pub(crate) fn is_usable_in(self, context: ContextId) -> bool {
        self.memory().is_usable_in(context)
    }

    /// Notes that more than the work of its capture uses the memory.
    #[inline]
    pub(crate) fn end_lease(self) {
        if let MemoryRef::Leased(_, lease) = self {
            lease.end();
        }
    }

    #[inline]
    fn memory(self) -> &'a dyn BackendMemory {
        match self {
            MemoryRef::Shared(memory) | MemoryRef::Leased(memory, _) => &**memory,
            MemoryRef::Borrowed(memory) => memory,
        }
    }
}

/// The memory of a buffer that was made in a capture: other buffers may have it after this one, unless the lease was ended.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    is_ended: AtomicBool,
}

impl Lease {
    /// More than the work of the capture uses the memory.
    pub(crate) fn end(&self) {
        // The lease is looked at when its buffer is gone, and so after all uses.
        self.is_ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }
}

/// A range of memory, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryRange<'a> {
    pub(crate) memory: MemoryRef<'a>,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    /// Size of one of the values that the caller has in it.
    pub(crate) element: usize,
    /// Whether a kernel is declared to access nothing else of the memory.
    pub(crate) is_bounded: bool,
}

impl<'a> MemoryRange<'a> {
    /// `size` bytes of `memory` from `offset` on, with values of `element` bytes.
    pub(crate) fn new(memory: MemoryRef<'a>, offset: usize, size: usize, element: usize) -> MemoryRange<'a> {
        MemoryRange { memory, offset, size, element, is_bounded: false }
    }

    /// `size` bytes of it from `offset` on.
    pub(crate) fn part(self, offset: usize, size: usize) -> MemoryRange<'a> {
        MemoryRange { offset: self.offset.saturating_add(offset), size, ..self }
    }
}

/// A fill value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FillPattern {
    Bytes1(u8),
    Bytes2(u16),
    Bytes4(u32),
}

/// Where managed memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the host CPU's memory does not move")]
pub(crate) enum MemoryPlace {
    Device,
    Program,
}

/// Advice to the driver on managed memory from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "only CUDA and HIP take advice")]
pub(crate) struct MemoryAdvice {
    pub(crate) kind: AdviceKind,
    /// Of the device that it is given to, or of the program.
    pub(crate) place: MemoryPlace,
    /// In bytes, at least 1.
    pub(crate) size: usize,
    /// Earlier advice has no effect any more.
    pub(crate) is_withdrawn: bool,
}

/// What advice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdviceKind {
    ReadMostly,
    PreferredLocation,
    AccessedBy,
}

/// A function of the program that a stream calls. It does not unwind, and is called once.
pub(crate) type HostFunction = Box<dyn FnOnce(WorkBefore) + Send>;

/// A function of the program that is called at each launch of a graph; it does not unwind.
pub(crate) struct RepeatedFunction(Box<dyn Fn(WorkBefore) + Send + Sync>);

impl RepeatedFunction {
    pub(crate) fn new(function: impl Fn(WorkBefore) + Send + Sync + 'static) -> RepeatedFunction {
        RepeatedFunction(Box::new(function))
    }

    pub(crate) fn call(&self, before: WorkBefore) {
        (self.0)(before);
    }

    /// One call of it, for a stream.
    pub(crate) fn once(self: &Arc<Self>) -> HostFunction {
        let function = self.clone();
        Box::new(move |before| function.call(before))
    }
}

impl Debug for RepeatedFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RepeatedFunction")
    }
}

/// How the work before a host function ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a program without back ends has none, and the host CPU no failures")]
pub(crate) enum WorkBefore {
    Done,
    Failed,
}

/// Work for a device, in order. Sizes are in bytes and at least 1; no range of a call overlaps another.
pub(crate) trait BackendStream: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// The driver's handle, which a launch needs; null if there is none.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn handle(&self) -> *mut std::ffi::c_void {
        std::ptr::null_mut()
    }

    /// Memory that any stream of the device may use at once. What it holds is unspecified.
    fn allocate(&self, size: usize) -> Result<Arc<dyn BackendMemory>, Problem>;

    /// Copies `bytes`, which are the caller's again on return.
    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem>;

    /// Waits for all work before it, and copies to `bytes`.
    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem>;

    /// Queues a copy from `bytes`, and returns an event for its end. After an error no copy is in flight.
    ///
    /// # Safety
    /// There are as many bytes as the range has, and they are neither written nor released before the copy is done.
    #[allow(unsafe_code, reason = "the device reads memory of the program")]
    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem>;

    /// Queues a copy to `bytes`, and returns an event for its end. After an error no copy is in flight.
    ///
    /// # Safety
    /// There is room for as many bytes as the range has, which are neither read, written nor released before the copy is
    /// done.
    #[allow(unsafe_code, reason = "the device writes memory of the program")]
    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem>;

    /// Queues a copy from a range to another of the same size.
    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem>;

    /// Queues a copy from a range of another context, of which `source` is a stream, after the work of both streams and
    /// before their later work; `false` if the driver has no such copy.
    fn copy_from(
        &self,
        _source: &dyn BackendStream,
        _from: MemoryRange<'_>,
        _to: MemoryRange<'_>,
    ) -> Result<bool, Problem> {
        Ok(false)
    }

    /// Queues moving managed memory to `place`.
    fn prefetch(&self, _range: MemoryRange<'_>, _place: MemoryPlace) -> Result<(), Problem> {
        Ok(())
    }

    /// Queues filling a range whose size is a multiple of the pattern's, and whose start is aligned to it.
    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem>;

    /// As [`write`](BackendStream::write).
    fn write_image(&self, _to: ImageRange<'_>, _bytes: &[u8]) -> Result<(), Problem> {
        Err(no_images())
    }

    /// As [`read`](BackendStream::read).
    fn read_image(&self, _from: ImageRange<'_>, _bytes: &mut [u8]) -> Result<(), Problem> {
        Err(no_images())
    }

    /// As [`write_later`](BackendStream::write_later).
    ///
    /// # Safety
    /// As there.
    #[allow(unsafe_code, reason = "the device reads memory of the program")]
    unsafe fn write_image_later(
        &self,
        _to: ImageRange<'_>,
        _bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(no_images())
    }

    /// As [`read_later`](BackendStream::read_later).
    ///
    /// # Safety
    /// As there.
    #[allow(unsafe_code, reason = "the device writes memory of the program")]
    unsafe fn read_image_later(
        &self,
        _from: ImageRange<'_>,
        _bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        Err(no_images())
    }

    /// Queues a copy from a region to another of the same extent, of an image of the same format.
    fn copy_image(&self, _from: ImageRange<'_>, _to: ImageRange<'_>) -> Result<(), Problem> {
        Err(no_images())
    }

    /// Queues a copy from a range to a region of the same size, one row after the other.
    fn copy_to_image(&self, _from: MemoryRange<'_>, _to: ImageRange<'_>) -> Result<(), Problem> {
        Err(no_images())
    }

    /// Queues a copy from a region to a range of the same size, one row after the other.
    fn copy_from_image(&self, _from: ImageRange<'_>, _to: MemoryRange<'_>) -> Result<(), Problem> {
        Err(no_images())
    }

    /// Queues filling a region with a color of its channels' class.
    fn fill_image(&self, _to: ImageRange<'_>, _color: FillColor) -> Result<(), Problem> {
        Err(no_images())
    }

    /// Queues a call of `function`, after the work before it and before later work. After an error it is not called.
    fn call(&self, function: HostFunction) -> Result<(), Problem>;

    /// The same for a function of a graph, which keeps it longer than any launch of it.
    fn call_again(&self, function: &Arc<RepeatedFunction>) -> Result<(), Problem> {
        self.call(function.once())
    }

    /// Whether memory of a buffer that was dropped may serve another one of a capture.
    fn reuses_memory(&self) -> bool {
        true
    }

    /// Marks the present end for other streams, by an event that need not tell times.
    fn mark(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        self.record()
    }

    /// Marks the present end.
    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem>;

    /// Prepares `memory`, which the context can use, for work in this stream.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn prepare(&self, _memory: &dyn BackendMemory) -> Result<(), Problem> {
        Ok(())
    }

    /// Notes that work in this stream uses `image`, of the same context.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn prepare_image(&self, _image: &dyn BackendImage) -> Result<(), Problem> {
        Ok(())
    }

    /// Notes that work in this stream uses `texture`, of the same context.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    fn prepare_texture(&self, _texture: &dyn BackendTexture) -> Result<(), Problem> {
        Ok(())
    }

    /// Whether the driver lets work of this stream wait for `event`.
    fn waits_for(&self, event: &dyn BackendEvent) -> bool {
        event.context() == self.context()
    }

    /// Makes later work of this stream wait for `event`, if [`waits_for`](BackendStream::waits_for) says that it can.
    fn wait_for(&self, event: &dyn BackendEvent) -> Result<(), Problem>;

    /// Makes later work wait until `semaphore`, of the same context, has at least `value`.
    #[cfg(unix)]
    fn wait_external(&self, _semaphore: &dyn BackendSemaphore, _value: u64) -> Result<(), Problem> {
        Err(no_semaphores())
    }

    /// Sets `semaphore`, of the same context, to `value` after the work before.
    #[cfg(unix)]
    fn signal_external(&self, _semaphore: &dyn BackendSemaphore, _value: u64) -> Result<(), Problem> {
        Err(no_semaphores())
    }

    /// Waits for all work.
    fn synchronize(&self) -> Result<(), Problem>;
}

/// A semaphore of another programming interface. It can be dropped at any time, as memory can.
#[cfg(unix)]
pub(crate) trait BackendSemaphore: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;
}

#[cfg(unix)]
fn no_semaphores() -> Problem {
    "external semaphores: not supported by this back end".to_string().into()
}

/// The work of a graph: operations in an order that keeps all their dependencies.
#[allow(dead_code, reason = "back ends without graphs run one lane")]
pub(crate) trait GraphWork {
    /// The number of lanes: streams of the capture.
    fn lanes(&self) -> usize;

    /// The place of each operation.
    fn places(&self) -> Vec<OperationPlace<'_>>;

    /// Puts the operation of this number into `stream`.
    ///
    /// # Safety
    /// As that of [`Kernel::launch`](crate::Kernel::launch), if it is a launch.
    #[allow(unsafe_code, reason = "what a kernel does is up to its author and the caller")]
    unsafe fn run(&self, number: usize, stream: &dyn BackendStream) -> Result<(), Problem>;
}

/// What an operation of a graph comes after.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "back ends without graphs run one lane")]
pub(crate) struct OperationPlace<'w> {
    /// It comes after the operations of the same lane before it.
    pub(crate) lane: usize,
    /// Numbers of operations of other lanes that it comes after.
    pub(crate) after: &'w [usize],
    pub(crate) is_launch: bool,
}

/// A launch of a kernel.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "back ends without graphs have none")]
pub(crate) struct GraphLaunch<'l> {
    pub(crate) kernel: &'l dyn BackendKernel,
    pub(crate) range: &'l NdRange,
    pub(crate) args: &'l [KernelArg<'l>],
}

/// A graph that a driver launches as one.
pub(crate) trait BackendGraph: Debug + Send + Sync {
    /// Puts all its work into `stream`.
    fn launch(&self, stream: &dyn BackendStream) -> Result<(), Problem>;

    /// Replaces the launch of this number, whose kernel stays, in launches of the graph from now on.
    fn update(&mut self, number: usize, launch: GraphLaunch<'_>) -> Result<(), Problem>;
}

/// A point in a stream.
pub(crate) trait BackendEvent: Any + Debug + Send + Sync {
    fn context(&self) -> ContextId;

    /// Waits until the work before it has run.
    fn wait(&self) -> Result<(), Problem>;

    /// Whether the work before it has run.
    fn is_done(&self) -> Result<bool, Problem>;

    /// The device's time from `earlier`, of the same context, to this; both are done.
    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem>;
}

/// Downcasts a value to the type of its backend. The launch layer has compared the contexts, so that an error is a bug.
pub(crate) fn downcast<T: Any>(value: &dyn Any) -> Result<&T, Problem> {
    value.downcast_ref().ok_or_else(other_back_end)
}

fn other_back_end() -> Problem {
    "it is of another back end".to_string().into()
}

/// One argument of [`Kernel::launch`](crate::Kernel::launch).
///
/// ```
/// use offload_rt::KernelArg;
///
/// let stream = offload_rt::Device::host().stream()?;
/// let x = stream.upload(&[1.0f32; 64])?;
/// let mut y = stream.zeroed::<f32>(64)?;
/// // kernel void saxpy(float a, global const float *x, global float *y)
/// let args = [KernelArg::value(&3.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
/// # assert_eq!(args.len(), 3);
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KernelArg<'a>(pub(crate) KernelArgKind<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum KernelArgKind<'a> {
    /// The bytes of a value.
    Value(&'a [u8]),
    /// Global or constant memory.
    Memory(MemoryRange<'a>),
    /// Local memory of this size in bytes.
    Local(usize),
    Image(&'a Arc<dyn BackendImage>, ImageType),
    Sampler(&'a Arc<dyn BackendSampler>),
    /// A texture or a surface.
    Texture(&'a Arc<dyn BackendTexture>),
}

impl KernelArgKind<'_> {
    /// Whether work of `context` can use what it refers to.
    #[inline]
    pub(crate) fn is_usable_in(&self, context: ContextId) -> bool {
        match self {
            KernelArgKind::Value(_) | KernelArgKind::Local(_) => true,
            KernelArgKind::Memory(range) => range.memory.is_usable_in(context),
            KernelArgKind::Image(image, _) => image.context() == context,
            KernelArgKind::Sampler(sampler) => sampler.context() == context,
            KernelArgKind::Texture(texture) => texture.context() == context,
        }
    }
}

/// The record of the kernel `name`.
pub(crate) fn find_kernel<'k>(kernels: &'k [KernelInfo], name: &str) -> Result<&'k KernelInfo, Error> {
    let found = kernels.iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| {
        let names: Vec<String> = kernels.iter().map(|kernel| escape(&kernel.name)).collect();
        let names = if names.is_empty() { "no kernels".to_string() } else { names.join(", ") };
        Error::launch(name, "the image has no such kernel").with_hint(format!("it has {names}"))
    })
}

/// Refuses what only GPUs of CUDA and HIP have.
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "opencl"))]
pub(crate) fn refuse_mode(range: &NdRange) -> Result<(), Problem> {
    let mode = range.mode();
    let (what, method) = if mode.is_plain() {
        return Ok(());
    } else if mode.is_cooperative {
        ("is cooperative: its work-groups need not run at the same time", "cooperative")
    } else if mode.cluster.is_some() {
        ("has clusters of work-groups", "with_cluster")
    } else {
        ("may start before the work before it has ended", "programmatic_dependent")
    };
    Err(Problem::with_hint(
        format!("the launch {what}, which this device cannot do"),
        format!("leave `NdRange::{method}` out on OpenCL devices and the host CPU"),
    ))
}

/// A launch over an uneven range on a device whose work-groups are all of one size.
#[cfg(any(feature = "cuda", feature = "hip", feature = "opencl"))]
#[cold]
pub(crate) fn uneven_range(range: &NdRange, device: &str) -> Problem {
    let text = format!(
        "local size {:?} does not divide global size {:?}, and {device} has no smaller last work-groups",
        range.local(),
        range.global()
    );
    Problem::with_hint(text, range.fitting_hint())
}

/// Refuses dynamic shared memory, which only CUDA and HIP have.
#[cfg(any(all(feature = "host", any(unix, windows)), feature = "opencl"))]
pub(crate) fn refuse_shared_memory(range: &NdRange) -> Result<(), Problem> {
    match range.shared_memory() {
        0 => Ok(()),
        bytes => {
            let problem = format!(
                "the launch asks for {bytes} bytes of shared memory, which the kernel has no use for on this device"
            );
            Err(Problem::with_hint(
                problem,
                "leave `with_shared_memory` out; local memory of OpenCL C is an argument, KernelArg::local",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(any(all(feature = "host", any(unix, windows)), feature = "opencl"))]
    fn shared_memory_beside_the_arguments_is_refused() {
        let range = NdRange::new([4], [2]);
        assert!(refuse_shared_memory(&range).is_ok());
        let error = refuse_shared_memory(&range.with_shared_memory(64)).unwrap_err();
        assert!(error.text.contains("asks for 64 bytes") && error.hint.is_some(), "{error:?}");
    }

    #[test]
    #[cfg(any(all(feature = "host", any(unix, windows)), feature = "opencl"))]
    fn what_only_gpus_of_cuda_and_hip_have_is_refused_by_name() {
        let range = NdRange::new([4], [2]);
        assert!(refuse_mode(&range.with_shared_memory(4)).is_ok());
        for (range, method) in [
            (range.cooperative(), "cooperative"),
            (range.with_cluster([2]), "with_cluster"),
            (range.programmatic_dependent(), "programmatic_dependent"),
        ] {
            let hint = refuse_mode(&range).unwrap_err().hint.unwrap();
            assert!(hint.contains(&format!("`NdRange::{method}`")), "{hint}");
        }
    }

    #[test]
    fn an_unknown_kernel_names_the_known_ones() {
        let error = find_kernel(&[KernelInfo::new("k")], "saxpi").unwrap_err().to_string();
        assert!(error.contains("`saxpi`") && error.contains("hint: it has k"), "{error}");
    }
}
