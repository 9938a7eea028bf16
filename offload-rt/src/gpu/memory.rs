//! Device memory: of the context's pool, of an allocation of its own, imported, or the caller's.
//!
//! Memory of the pool is allocated and released in the order of the stream that made it, its home. Its first use in
//! another stream comes after the work that the home has by then, and its release after the work of all streams that used
//! it; none of it waits. Where other code has the address, nothing tells which streams use it: then allocation and release
//! are waited for.

#[cfg(unix)]
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::api::DriverApi;
#[cfg(feature = "cudarc-0_19")]
use super::api::RawStream;
use super::context::Context;
use super::error::ApiResult;
#[cfg(unix)]
use super::imported::ImportedMemory;
use super::managed::ManagedMemory;
use super::stream_handle::StreamHandle;
use crate::backend::{
    BackendMemory, BackendStream, ContextId, DeviceAddress, IpcMemoryHandle, MemoryAdvice, MemoryRange, Owner,
};
use crate::error::Problem;
#[cfg(unix)]
use crate::external::ExternalMemory;

/// "It is recommended to only share allocations with a 2MiB aligned size": others share their block with what else is in
/// it (<https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#interprocess-communication>).
pub(super) const EXPORTABLE: usize = 2 << 20;

/// The home of memory that each use is to be noted of: no stream has this handle.
const NO_HOME: usize = usize::MAX;

/// Memory of a device.
#[derive(Debug)]
pub(crate) struct GpuMemory<A: DriverApi> {
    address: u64,
    context: ContextId,
    held: MemoryHeld<A>,
}

#[derive(Debug)]
enum MemoryHeld<A: DriverApi> {
    Pooled(PooledMemory<A>),
    /// It is released in its context.
    Own(OwnMemory<A>),
    /// The program uses it too, after the work of the streams that use it.
    Managed(ManagedMemory<A>),
    /// It is of another process, and is closed in this context.
    Opened(Arc<Context<A>>),
    /// It is of another programming interface.
    #[cfg(unix)]
    Imported(ImportedMemory<A>),
    /// It is the caller's.
    Owned {
        _owner: Owner,
    },
    /// It is of other code, which may have it again when no work of this context uses it.
    #[cfg(feature = "dlpack")]
    Adopted {
        context: Arc<Context<A>>,
        _owner: Owner,
    },
    /// It is the caller's, who outlives this, for one stream.
    #[cfg(feature = "cudarc-0_19")]
    Borrowed(RawStream),
}

/// An allocation of its own.
#[derive(Debug)]
struct OwnMemory<A: DriverApi> {
    context: Arc<Context<A>>,
    /// In bytes.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no dma-bufs"))]
    size: usize,
}

/// What decides when memory of a pool is released.
#[derive(Debug)]
struct PooledMemory<A: DriverApi> {
    home: Arc<StreamHandle<A>>,
    /// Other streams that use it.
    others: Mutex<Vec<Arc<StreamHandle<A>>>>,
    /// Streams use it that are not known.
    is_given_away: AtomicBool,
}

// SAFETY: the library's functions may be called from any thread; the handle of a stream is only compared.
unsafe impl<A: DriverApi> Send for GpuMemory<A> {}
// SAFETY: as above.
unsafe impl<A: DriverApi> Sync for GpuMemory<A> {}

impl<A: DriverApi> GpuMemory<A> {
    /// Memory of its own.
    pub(super) fn allocate(context: &Arc<Context<A>>, size: usize) -> ApiResult<GpuMemory<A>, A> {
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: the context is current; the function writes one address.
        unsafe { entered.api().allocate(&raw mut address, size) }?;
        let own = OwnMemory { context: context.clone(), size };
        Ok(GpuMemory { address, context: context.id(), held: MemoryHeld::Own(own) })
    }

    /// Memory of another process.
    pub(super) fn open(context: &Arc<Context<A>>, handle: IpcMemoryHandle) -> ApiResult<GpuMemory<A>, A> {
        let entered = context.enter()?;
        let mut address = 0;
        // SAFETY: the context is current; the function writes one address.
        unsafe { entered.api().open_ipc_memory(&raw mut address, handle) }?;
        Ok(GpuMemory { address, context: context.id(), held: MemoryHeld::Opened(context.clone()) })
    }

    /// `size` bytes of memory of another programming interface.
    #[cfg(unix)]
    pub(super) fn import(
        context: &Arc<Context<A>>,
        memory: ExternalMemory,
        size: u64,
    ) -> Result<GpuMemory<A>, Problem> {
        let imported = ImportedMemory::import(context, memory, size)?;
        let address = imported.address();
        Ok(GpuMemory { address, context: context.id(), held: MemoryHeld::Imported(imported) })
    }

    /// Memory in the order of `home`, or memory of its own if the device has no pool.
    pub(super) fn in_order(home: &Arc<StreamHandle<A>>, size: usize) -> ApiResult<GpuMemory<A>, A> {
        let context = &home.context;
        let entered = context.enter()?;
        let Some(pool) = context.pool() else {
            return GpuMemory::allocate(context, size);
        };
        let mut address = 0;
        // SAFETY: the context is current, and pool and stream are of it; the function writes one address.
        unsafe { entered.api().allocate_from_pool(&raw mut address, size, pool, home.raw) }?;
        let held = PooledMemory {
            home: home.clone(),
            others: Mutex::default(),
            is_given_away: AtomicBool::new(false),
        };
        Ok(GpuMemory { address, context: context.id(), held: MemoryHeld::Pooled(held) })
    }

    /// The caller's memory, which `owner` keeps.
    pub(crate) fn owned(address: u64, context: ContextId, owner: Owner) -> GpuMemory<A> {
        GpuMemory { address, context, held: MemoryHeld::Owned { _owner: owner } }
    }

    /// Memory of other code, which `owner` keeps until work of this context that uses it is done.
    #[cfg(feature = "dlpack")]
    pub(super) fn adopted(address: u64, context: Arc<Context<A>>, owner: Owner) -> GpuMemory<A> {
        let held = MemoryHeld::Adopted { context: context.clone(), _owner: owner };
        GpuMemory { address, context: context.id(), held }
    }

    /// The caller's memory, who outlives the result, for work in `stream`.
    #[cfg(feature = "cudarc-0_19")]
    pub(crate) fn borrowed(address: u64, context: ContextId, stream: RawStream) -> GpuMemory<A> {
        GpuMemory { address, context, held: MemoryHeld::Borrowed(stream) }
    }

    /// Memory that the program uses too; `None` if library or device have none.
    pub(super) fn managed(context: &Arc<Context<A>>, size: usize) -> ApiResult<Option<GpuMemory<A>>, A> {
        let Some((address, managed)) = ManagedMemory::allocate(context, size)? else { return Ok(None) };
        Ok(Some(GpuMemory { address, context: context.id(), held: MemoryHeld::Managed(managed) }))
    }

    /// Prepares for work in `stream`, of a context that can use it.
    pub(super) fn use_in(&self, stream: &Arc<StreamHandle<A>>) -> Result<(), Problem> {
        let pooled = match &self.held {
            MemoryHeld::Pooled(pooled) => pooled,
            MemoryHeld::Managed(managed) => return managed.use_in(stream),
            #[cfg(unix)]
            MemoryHeld::Imported(imported) => {
                imported.users.add(stream);
                return Ok(());
            }
            _ => return Ok(()),
        };
        if stream.is_capturing() || stream.raw == pooled.home.raw {
            // Launches of a graph are uses, its capture is none.
            return Ok(());
        }
        if stream.is_adopted() { pooled.give_away() } else { pooled.use_in(stream) }
    }

    /// Gives the library advice, for the device of `context`.
    pub(super) fn advise(&self, advice: MemoryAdvice, context: &Context<A>) -> Result<(), Problem> {
        if !self.takes_advice() {
            return Err(not_managed());
        }
        let advised = ManagedMemory::advise(self.address, advice, context);
        advised.map_err(|error| error.during("the advice is refused"))
    }

    /// Its address, for work that keeps it.
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// The address for other code, which may use it in any stream until this is dropped.
    pub(crate) fn give_away(&self) -> Result<u64, Problem> {
        match &self.held {
            MemoryHeld::Pooled(pooled) => pooled.give_away()?,
            MemoryHeld::Managed(managed) => managed.users.give_away(),
            #[cfg(unix)]
            MemoryHeld::Imported(imported) => imported.users.give_away(),
            _ => {}
        }
        Ok(self.address)
    }
}

impl<A: DriverApi> PooledMemory<A> {
    /// Waits until it is allocated, so that any stream may use it.
    fn give_away(&self) -> Result<(), Problem> {
        if !self.is_given_away.swap(true, Ordering::AcqRel) {
            let entered = self.home.context.enter()?;
            // SAFETY: the stream lives.
            unsafe { entered.api().synchronize_stream(self.home.raw) }?;
        }
        Ok(())
    }

    /// Orders the first use in another stream.
    fn use_in(&self, stream: &Arc<StreamHandle<A>>) -> Result<(), Problem> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if others.iter().any(|other| other.raw == stream.raw) {
            return Ok(());
        }
        stream.wait_for(&self.home)?;
        others.push(stream.clone());
        Ok(())
    }

    fn release(&mut self, address: u64) -> Result<(), Problem> {
        let entered = self.home.context.enter()?;
        let others = self.others.get_mut().unwrap_or_else(PoisonError::into_inner);
        for other in others.iter() {
            self.home.wait_for(other)?;
        }
        if self.is_given_away.load(Ordering::Acquire) {
            // SAFETY: the context is current.
            unsafe { entered.api().synchronize() }?;
        }
        // SAFETY: it was allocated once; the stream is of the current context.
        Ok(unsafe { entered.api().free_in_order(address, self.home.raw) }?)
    }
}

impl<A: DriverApi> BackendMemory for GpuMemory<A> {
    fn context(&self) -> ContextId {
        self.context
    }

    /// All devices of a library use its managed memory.
    fn is_usable_in(&self, context: ContextId) -> bool {
        context == self.context || (self.takes_advice() && context.backend == self.context.backend)
    }

    fn takes_advice(&self) -> bool {
        matches!(self.held, MemoryHeld::Managed(_))
    }

    fn device_address(&self) -> DeviceAddress {
        let (only_in, home) = match &self.held {
            MemoryHeld::Pooled(pooled) => (0, pooled.home.raw.addr()),
            MemoryHeld::Managed(_) => (0, NO_HOME),
            #[cfg(feature = "cudarc-0_19")]
            MemoryHeld::Borrowed(stream) => (stream.addr(), 0),
            #[cfg(feature = "dlpack")]
            MemoryHeld::Adopted { .. } => (0, 0),
            #[cfg(unix)]
            MemoryHeld::Imported(_) => (0, NO_HOME),
            MemoryHeld::Own(_) | MemoryHeld::Opened(_) | MemoryHeld::Owned { .. } => (0, 0),
        };
        DeviceAddress { start: self.address, only_in, home }
    }

    fn begin_program_access(&self) -> Result<*mut u8, Problem> {
        let MemoryHeld::Managed(managed) = &self.held else {
            return Err(not_managed());
        };
        managed.wait()?;
        let address = usize::try_from(self.address).map_err(|_| "its address has more bits".to_string())?;
        Ok(ptr::with_exposed_provenance_mut(address))
    }

    fn export(&self) -> Result<Option<IpcMemoryHandle>, Problem> {
        let MemoryHeld::Own(own) = &self.held else {
            return Err(not_exportable("other processes cannot open"));
        };
        let entered = own.context.enter()?;
        let mut handle = IpcMemoryHandle([0; 64]);
        // SAFETY: the memory lives; the function writes one handle.
        unsafe { entered.api().ipc_memory_handle(&raw mut handle, self.address) }?;
        Ok(Some(handle))
    }

    #[cfg(unix)]
    fn export_dma_buf(&self) -> Result<Option<OwnedFd>, Problem> {
        let own = match &self.held {
            MemoryHeld::Own(own) if own.size.is_multiple_of(EXPORTABLE) => own,
            _ => return Err(not_exportable("there is no dma-buf of")),
        };
        let entered = own.context.enter()?;
        let mut descriptor = -1;
        // SAFETY: the memory lives, and has this size; the function writes one descriptor.
        unsafe { entered.api().dma_buf(&raw mut descriptor, self.address, own.size) }
            .map_err(|error| error.during("the memory has no dma-buf"))?;
        if descriptor < 0 {
            return Err("the library gives no dma-buf".to_string().into());
        }
        // SAFETY: the library has opened it for the caller.
        Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }
}

fn not_exportable(what: &str) -> Problem {
    Problem::with_hint(
        format!("{what} memory of a pool, nor that of another owner"),
        "`Device::exportable_buffer` makes a buffer that has memory of its own",
    )
}

impl<A: DriverApi> Drop for GpuMemory<A> {
    fn drop(&mut self) {
        match &mut self.held {
            MemoryHeld::Pooled(pooled) => {
                let _ = pooled.release(self.address);
            }
            MemoryHeld::Managed(managed) => managed.release(self.address),
            MemoryHeld::Own(own) => {
                if let Ok(entered) = own.context.enter() {
                    // SAFETY: it was allocated once; the library waits for work that uses it.
                    let _ = unsafe { entered.api().free(self.address) };
                }
            }
            MemoryHeld::Opened(context) => {
                if let Ok(entered) = context.enter() {
                    // SAFETY: it was opened once. Neither documentation says that closing waits for work that uses it.
                    unsafe {
                        let _ = entered.api().synchronize();
                        let _ = entered.api().close_ipc_memory(self.address);
                    }
                }
            }
            #[cfg(feature = "dlpack")]
            MemoryHeld::Adopted { context, .. } => {
                if let Ok(entered) = context.enter() {
                    // SAFETY: the context is current.
                    let _ = unsafe { entered.api().synchronize() };
                }
            }
            MemoryHeld::Owned { .. } => {}
            // It is released by its own drop.
            #[cfg(unix)]
            MemoryHeld::Imported(_) => {}
            #[cfg(feature = "cudarc-0_19")]
            MemoryHeld::Borrowed(_) => {}
        }
    }
}

fn not_managed() -> Problem {
    "it is not managed memory".to_string().into()
}

/// Where `range` starts, for work in `stream`.
#[inline]
pub(super) fn start(range: MemoryRange<'_>, stream: &dyn BackendStream) -> Result<u64, Problem> {
    let memory = range.memory.get();
    let address = memory.device_address();
    if address.home != 0 && address.home != stream.handle().addr() {
        stream.prepare(memory)?;
    }
    address.at(range.offset, stream.handle())
}
