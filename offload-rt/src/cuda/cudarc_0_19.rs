//! Conversions for [`cudarc`](https://docs.rs/cudarc/0.19): kernels of this crate in the program's own context, on its own
//! streams, with its own memory.
//!
//! - [`Device`] is made of a `CudaContext`, and [`Stream`] of a `CudaStream`; both keep what they were made of.
//! - [`borrow`] and [`borrow_mut`] make arguments of `CudaSlice`s and their views.
//!
//! ```no_run
//! # fn blas() -> &'static offload_rt::Module { unimplemented!() }
//! use offload_rt::cuda::cudarc_0_19::{borrow, borrow_mut};
//! use offload_rt::{Device, KernelArg, NdRange, Stream};
//! # use cudarc_0_19 as cudarc;
//!
//! let context = cudarc::driver::CudaContext::new(0)?;
//! let cuda_stream = context.new_stream()?;
//! let x = cuda_stream.clone_htod(&vec![1.0f32; 1 << 20])?;
//! let mut y = cuda_stream.alloc_zeros::<f32>(1 << 20)?;
//!
//! let saxpy = blas().load(&Device::try_from(&context)?)?.kernel("saxpy")?;
//! let stream = Stream::try_from(&cuda_stream)?;
//! {
//!     let x = borrow(&x, &cuda_stream);
//!     let mut y = borrow_mut(&mut y, &cuda_stream);
//!     let args = [KernelArg::value(&2.5f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
//!     // SAFETY: each work-item reads and writes one element.
//!     unsafe { saxpy.launch(&stream, NdRange::linear_at_least(1 << 20, 256), &args)? };
//! }
//! assert_eq!(cuda_stream.clone_dtoh(&y)?[0], 2.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program that launches with `cudarc` alone takes the image, with `cudarc`'s feature `nvrtc`, which has the type `Ptx`:
//!
//! ```no_run
//! # fn blas() -> &'static offload_rt::Module { unimplemented!() }
//! # use cudarc_0_19 as cudarc;
//! # let context = cudarc::driver::CudaContext::new(0)?;
//! use cudarc::nvrtc::Ptx;
//!
//! let image = blas().request().select(&offload_rt::Device::try_from(&context)?)?.entry().load()?;
//! let module = context.load_module(Ptx::from_binary(image.bytes().to_vec()))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc_0_19::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};

use super::api::CudaApi;
use super::context::id_of;
use super::raw;
use crate::backend::ContextId;
use crate::device::Device;
use crate::error::Error;
use crate::gpu::GpuMemory;
use crate::launch::{Plain, Slice, SliceMut, Stream};

impl TryFrom<&Arc<CudaContext>> for Device {
    type Error = Error;

    /// The device of the context, whose streams, buffers and programs are of this context, and keep it.
    fn try_from(context: &Arc<CudaContext>) -> Result<Device, Error> {
        // SAFETY: the context is valid as long as its `Arc`.
        unsafe { raw::from_raw_context(context.cu_ctx().cast(), context.clone()) }
    }
}

impl TryFrom<&Arc<CudaStream>> for Stream {
    type Error = Error;

    /// The same stream, which is kept.
    fn try_from(stream: &Arc<CudaStream>) -> Result<Stream, Error> {
        let device = Device::try_from(stream.context())?;
        // SAFETY: the stream is valid as long as its `Arc`.
        unsafe { raw::from_raw_stream(&device, stream.cu_stream().cast(), stream.clone()) }
    }
}

/// Values of `cudarc` that a kernel reads; [`KernelArg::buffer`](crate::KernelArg::buffer) takes a reference to it.
pub struct Borrowed<'a, T> {
    memory: Memory<'a>,
    values: PhantomData<&'a T>,
}

/// Values of `cudarc` that a kernel writes; [`KernelArg::buffer_mut`](crate::KernelArg::buffer_mut) takes a reference to
/// it.
pub struct BorrowedMut<'a, T> {
    memory: Memory<'a>,
    values: PhantomData<&'a mut T>,
}

struct Memory<'a> {
    memory: GpuMemory<CudaApi>,
    len: usize,
    /// Tells `cudarc` when it is dropped that the memory was used.
    _used: SyncOnDrop<'a>,
}

/// Borrows a `CudaSlice` or a view for work in `stream`; other streams are refused. The work waits for what writes the
/// values in other streams of `cudarc`. Drop the result after the launch: then those wait for the work.
pub fn borrow<'a, T: Plain>(values: &'a impl DevicePtr<T>, stream: &'a CudaStream) -> Borrowed<'a, T> {
    let context = context(values.stream());
    let len = values.len();
    let (address, used) = values.device_ptr(stream);
    let memory = GpuMemory::borrowed(address, context, stream.cu_stream().cast());
    Borrowed { memory: Memory { memory, len, _used: used }, values: PhantomData }
}

/// As [`borrow`], to write; the work waits for what reads the values too.
pub fn borrow_mut<'a, T: Plain>(
    values: &'a mut impl DevicePtrMut<T>,
    stream: &'a CudaStream,
) -> BorrowedMut<'a, T> {
    let context = context(values.stream());
    let len = values.len();
    let (address, used) = values.device_ptr_mut(stream);
    let memory = GpuMemory::borrowed(address, context, stream.cu_stream().cast());
    BorrowedMut { memory: Memory { memory, len, _used: used }, values: PhantomData }
}

/// The context that the memory of `stream` is of.
fn context(stream: &CudaStream) -> ContextId {
    id_of(stream.context().cu_ctx().cast())
}

impl<'b, T: Plain> From<&'b Borrowed<'_, T>> for Slice<'b, T> {
    fn from(values: &'b Borrowed<'_, T>) -> Slice<'b, T> {
        Slice::whole(&values.memory.memory, values.memory.len)
    }
}

impl<'b, T: Plain> From<&'b BorrowedMut<'_, T>> for Slice<'b, T> {
    fn from(values: &'b BorrowedMut<'_, T>) -> Slice<'b, T> {
        Slice::whole(&values.memory.memory, values.memory.len)
    }
}

impl<'b, T: Plain> From<&'b mut BorrowedMut<'_, T>> for SliceMut<'b, T> {
    fn from(values: &'b mut BorrowedMut<'_, T>) -> SliceMut<'b, T> {
        SliceMut::whole(&values.memory.memory, values.memory.len)
    }
}

impl<T> fmt::Debug for Borrowed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory.memory.fmt(f)
    }
}

impl<T> fmt::Debug for BorrowedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.memory.memory.fmt(f)
    }
}
