//! Streams of the host CPU: all work is done before a call returns.
//!
//! A thread for each stream was considered: kernels already use every CPU, so that it would only add the time of waking
//! it, which is more than many kernels take.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::checks;
use super::image_object::{element_of, rows};
use super::memory::{CONTEXT, HostPool, start};
use crate::backend::{
    BackendEvent, BackendMemory, BackendStream, ContextId, FillPattern, HostFunction, ImageRange,
    MemoryRange, WorkBefore, downcast,
};
use crate::error::Problem;
use crate::images::FillColor;

#[derive(Debug)]
pub(super) struct HostStream {
    pub(super) pool: Arc<HostPool>,
}

/// The time at which it was recorded.
#[derive(Debug)]
struct HostEvent(Instant);

impl BackendStream for HostStream {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn allocate(&self, size: usize) -> Result<Arc<dyn BackendMemory>, Problem> {
        Ok(Arc::new(self.pool.allocate(size)?))
    }

    fn write(&self, to: MemoryRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        let to_start = start(to)?;
        // SAFETY: the range lies within memory that the caller has borrowed to write, and is as long as `bytes`.
        unsafe { to_start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    fn read(&self, from: MemoryRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        let from_start = start(from)?;
        // SAFETY: the range lies within memory that the caller has borrowed, which is initialised, as all of a pool, and is
        // as long as `bytes`.
        unsafe { from_start.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    unsafe fn write_later(
        &self,
        to: MemoryRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let to_start = start(to)?;
        // SAFETY: as in `write`; there are so many bytes by the contract.
        unsafe { to_start.copy_from_nonoverlapping(bytes, to.size) };
        self.record()
    }

    unsafe fn read_later(
        &self,
        from: MemoryRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        let from_start = start(from)?;
        // SAFETY: as in `read`; there is room for so many bytes by the contract.
        unsafe { from_start.copy_to_nonoverlapping(bytes, from.size) };
        self.record()
    }

    fn copy(&self, from: MemoryRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        let from_start = start(from)?;
        let to_start = start(to)?;
        // SAFETY: both lie within their memory, are equally long, and do not overlap.
        unsafe { to_start.copy_from_nonoverlapping(from_start, to.size) };
        Ok(())
    }

    fn fill(&self, to: MemoryRange<'_>, pattern: FillPattern) -> Result<(), Problem> {
        let to_start = start(to)?;
        // SAFETY: the range lies within memory that the caller has borrowed to write; its start and size are multiples
        // of the pattern's size.
        unsafe {
            match pattern {
                FillPattern::Bytes1(value) => to_start.write_bytes(value, to.size),
                FillPattern::Bytes2(value) => {
                    std::slice::from_raw_parts_mut(to_start.cast::<u16>(), to.size / 2).fill(value);
                }
                FillPattern::Bytes4(value) => {
                    std::slice::from_raw_parts_mut(to_start.cast::<u32>(), to.size / 4).fill(value);
                }
            }
        }
        Ok(())
    }

    fn write_image(&self, to: ImageRange<'_>, bytes: &[u8]) -> Result<(), Problem> {
        // SAFETY: there are as many bytes as the region has.
        unsafe { write_rows(to, bytes.as_ptr()) }
    }

    fn read_image(&self, from: ImageRange<'_>, bytes: &mut [u8]) -> Result<(), Problem> {
        // SAFETY: as above.
        unsafe { read_rows(from, bytes.as_mut_ptr()) }
    }

    unsafe fn write_image_later(
        &self,
        to: ImageRange<'_>,
        bytes: *const u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        // SAFETY: the contract is the same.
        unsafe { write_rows(to, bytes)? };
        self.record()
    }

    unsafe fn read_image_later(
        &self,
        from: ImageRange<'_>,
        bytes: *mut u8,
    ) -> Result<Box<dyn BackendEvent>, Problem> {
        // SAFETY: the contract is the same.
        unsafe { read_rows(from, bytes)? };
        self.record()
    }

    fn copy_to_image(&self, from: MemoryRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        // SAFETY: there are as many bytes as the region has.
        unsafe { write_rows(to, start(from)?) }
    }

    fn copy_from_image(&self, from: ImageRange<'_>, to: MemoryRange<'_>) -> Result<(), Problem> {
        // SAFETY: there is room for as many bytes as the region has.
        unsafe { read_rows(from, start(to)?) }
    }

    fn copy_image(&self, from: ImageRange<'_>, to: ImageRange<'_>) -> Result<(), Problem> {
        for (source, target) in rows(from)?.zip(rows(to)?) {
            // SAFETY: both regions lie within their images, have the same extent, and do not overlap.
            unsafe { target.start.copy_from_nonoverlapping(source.start, target.size) };
        }
        Ok(())
    }

    fn fill_image(&self, to: ImageRange<'_>, color: FillColor) -> Result<(), Problem> {
        let element = element_of(to, color)?;
        for row in rows(to)? {
            // SAFETY: the region lies within an image that the caller has borrowed to write.
            let bytes = unsafe { std::slice::from_raw_parts_mut(row.start, row.size) };
            bytes.chunks_exact_mut(element.len()).for_each(|place| place.copy_from_slice(&element));
        }
        Ok(())
    }

    fn call(&self, function: HostFunction) -> Result<(), Problem> {
        function(WorkBefore::Done);
        Ok(())
    }

    /// Accesses to memory of a dropped buffer are errors while accesses are checked.
    fn reuses_memory(&self) -> bool {
        !checks::are_enabled()
    }

    fn record(&self) -> Result<Box<dyn BackendEvent>, Problem> {
        Ok(Box::new(HostEvent(Instant::now())))
    }

    fn wait_for(&self, _: &dyn BackendEvent) -> Result<(), Problem> {
        Ok(())
    }

    fn synchronize(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// # Safety
/// There are as many bytes as the region has.
unsafe fn write_rows(to: ImageRange<'_>, mut bytes: *const u8) -> Result<(), Problem> {
    for row in rows(to)? {
        // SAFETY: the region lies within an image that the caller has borrowed to write, and the rows have as many bytes
        // together as there are.
        unsafe {
            row.start.copy_from_nonoverlapping(bytes, row.size);
            bytes = bytes.add(row.size);
        }
    }
    Ok(())
}

/// # Safety
/// There is room for as many bytes as the region has.
unsafe fn read_rows(from: ImageRange<'_>, mut bytes: *mut u8) -> Result<(), Problem> {
    for row in rows(from)? {
        // SAFETY: the region lies within an image that the caller has borrowed, which was zeroed when it was made, and the
        // rows have as many bytes together as there is room for.
        unsafe {
            row.start.copy_to_nonoverlapping(bytes, row.size);
            bytes = bytes.add(row.size);
        }
    }
    Ok(())
}

impl BackendEvent for HostEvent {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn wait(&self) -> Result<(), Problem> {
        Ok(())
    }

    fn is_done(&self) -> Result<bool, Problem> {
        Ok(true)
    }

    fn since(&self, earlier: &dyn BackendEvent) -> Result<Duration, Problem> {
        Ok(self.0.saturating_duration_since(downcast::<HostEvent>(earlier)?.0))
    }
}
