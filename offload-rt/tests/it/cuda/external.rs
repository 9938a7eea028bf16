//! External memory and semaphores of a CUDA device.

use std::ffi::c_int;
use std::os::fd::{FromRawFd, OwnedFd};

use cudarc_0_19::driver::sys;
use offload_rt::cuda::raw;
use offload_rt::{Buffer, ExternalMemory, ExternalMemoryKind};

use super::graphs::ready;
use super::{gpu, peers};
use crate::common::external;

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_buffer_is_over_memory_of_another_interface() {
    external::a_buffer_is_over_memory_of_another_interface(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_buffer_is_exported_as_a_dma_buf() {
    external::a_buffer_is_exported_as_a_dma_buf(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn semaphores_order_streams_with_another_interface() {
    let Some(devices) = peers::devices() else { return };
    external::semaphores_order_streams_with_another_interface(&devices);
}

/// Memory that the driver's functions have made and mapped, with a file descriptor for it.
struct Allocation {
    handle: sys::CUmemGenericAllocationHandle,
    address: u64,
    size: usize,
}

impl Allocation {
    /// Of the first device, whose context is current; `None` if the driver refuses to make memory that is handed out.
    ///
    /// # Safety
    /// The driver is there, and has been started.
    unsafe fn new(least: usize) -> Option<(Allocation, OwnedFd)> {
        // SAFETY: zeros are values of the C structures; each function writes one value.
        unsafe {
            let handles = sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
            let mut as_told: sys::CUmemAllocationProp = std::mem::zeroed();
            as_told.type_ = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
            as_told.requestedHandleTypes = handles;
            as_told.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            let mut granularity = 0;
            let minimum = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
            sys::cuMemGetAllocationGranularity(&raw mut granularity, &raw const as_told, minimum)
                .result()
                .unwrap();
            let size = least.next_multiple_of(granularity);
            let mut handle = 0;
            if let Err(error) = sys::cuMemCreate(&raw mut handle, size, &raw const as_told, 0).result() {
                println!("no memory that is handed out: {error}");
                return None;
            }
            let mut address = 0;
            sys::cuMemAddressReserve(&raw mut address, size, 0, 0, 0).result().unwrap();
            sys::cuMemMap(address, size, 0, handle, 0).result().unwrap();
            let access = sys::CUmemAccessDesc {
                location: as_told.location,
                flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            };
            sys::cuMemSetAccess(address, size, &raw const access, 1).result().unwrap();
            let mut descriptor: c_int = -1;
            sys::cuMemExportToShareableHandle((&raw mut descriptor).cast(), handle, handles, 0)
                .result()
                .unwrap();
            Some((Allocation { handle, address, size }, OwnedFd::from_raw_fd(descriptor)))
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: each was made once, and the tests have waited for all work.
        unsafe {
            sys::cuMemUnmap(self.address, self.size).result().unwrap();
            sys::cuMemAddressFree(self.address, self.size).result().unwrap();
            sys::cuMemRelease(self.handle).result().unwrap();
        }
    }
}

/// An opaque handle, as Vulkan of the same driver exports, is that of `cuMemExportToShareableHandle`.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn an_opaque_handle_of_the_driver_is_imported() {
    const LEN: usize = 100_000;
    let device = gpu();
    let ready = ready();
    let context = raw::as_raw_context(&device).unwrap();
    // SAFETY: the context lives, and is made current for the functions below.
    let made = unsafe {
        sys::cuCtxSetCurrent(context.cast()).result().unwrap();
        Allocation::new(4 * LEN)
    };
    let Some((allocation, descriptor)) = made else { return };
    let stream = &ready.stream;
    // SAFETY: the memory lives until the end, and has room for the values.
    let mut own: Buffer<f32> =
        unsafe { raw::from_raw_address(stream.device(), allocation.address, LEN, ()) }.unwrap();
    stream.fill(&mut own, 3.0).unwrap();
    stream.synchronize().unwrap();
    let size = allocation.size as u64;
    let memory = ExternalMemory::new(ExternalMemoryKind::OpaqueFd, descriptor, size).with_offset(4096);
    // SAFETY: the handle is of memory of this size, which one stream uses.
    let mut imported = unsafe { stream.device().import_buffer::<f32>(memory, LEN - 1024) }.unwrap();
    let ones = stream.upload(&vec![1.0f32; LEN - 1024]).unwrap();
    ready.add(stream, 2.0, &ones, &mut imported).unwrap();
    let found = stream.download(&own).unwrap();
    assert!(found[..1024].iter().all(|value| *value == 3.0));
    assert!(found[1024..].iter().all(|value| *value == 5.0));
    drop(imported);
    assert_eq!(stream.download(own.slice(LEN - 1..).unwrap()).unwrap(), [5.0]);
    println!("imported an opaque handle");
}
