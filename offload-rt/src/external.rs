//! Handles of memory and semaphores, as Vulkan, V4L2 and other programming interfaces hand them out.

use std::os::fd::OwnedFd;

/// Memory of another programming interface, for [`Device::import_buffer`](crate::Device::import_buffer).
///
/// The file descriptor goes to the driver if the import succeeds, and is closed if not: give a
/// [`try_clone`](OwnedFd::try_clone) where you need it longer.
#[derive(Debug)]
#[must_use]
#[cfg_attr(
    not(any(feature = "cuda", feature = "hip")),
    allow(dead_code, reason = "only these drivers import memory")
)]
pub struct ExternalMemory {
    pub(crate) kind: ExternalMemoryKind,
    pub(crate) descriptor: OwnedFd,
    /// In bytes.
    pub(crate) size: u64,
    /// Of the buffer, in bytes.
    pub(crate) offset: u64,
    pub(crate) is_dedicated: bool,
}

/// The kind of a handle of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExternalMemoryKind {
    /// `VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT` of Vulkan, for a device of the same GPU and driver.
    OpaqueFd,
    /// A dma-buf of Linux: `VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT` of Vulkan, `VIDIOC_EXPBUF` of V4L2, or
    /// [`Buffer::export_dma_buf`](crate::Buffer::export_dma_buf).
    DmaBuf,
}

/// The kind of a handle of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExternalSemaphoreKind {
    /// A binary semaphore: `VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT` of Vulkan.
    OpaqueFd,
    /// A timeline semaphore, which has a value: the same handle of a semaphore of `VK_SEMAPHORE_TYPE_TIMELINE`.
    TimelineFd,
}

impl ExternalMemory {
    /// Memory of `size` bytes, which is that of the allocation as the other interface has made it.
    pub fn new(kind: ExternalMemoryKind, descriptor: OwnedFd, size: u64) -> ExternalMemory {
        ExternalMemory { kind, descriptor, size, offset: 0, is_dedicated: false }
    }

    /// The buffer starts so many bytes behind the start of the memory: `memoryOffset` of `vkBindBufferMemory`.
    pub fn with_offset(self, bytes: u64) -> ExternalMemory {
        ExternalMemory { offset: bytes, ..self }
    }

    /// The memory is a dedicated allocation: `VkMemoryDedicatedAllocateInfo`.
    pub fn dedicated(self) -> ExternalMemory {
        ExternalMemory { is_dedicated: true, ..self }
    }
}
