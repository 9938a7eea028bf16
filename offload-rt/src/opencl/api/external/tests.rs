//! Imports and hand-overs with a library whose functions write down their calls.

use std::cell::RefCell;
use std::ffi::c_char;
use std::fs::File;
use std::os::fd::{FromRawFd, RawFd};

use opencl_sys::{
    cl_context, cl_device_id, cl_device_info, cl_event, cl_int, cl_mem_flags, cl_mem_properties,
    cl_platform_id, cl_semaphore_khr, cl_semaphore_payload_khr, cl_semaphore_properties_khr, cl_uint,
};

use super::*;
use crate::external::ExternalMemoryKind;
use crate::opencl::api::library::Functions;

const REFUSED: cl_int = -30;
const PLATFORM: usize = 77;

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(in crate::opencl) fn note(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

unsafe extern "C" fn device_info(
    _: cl_device_id,
    what: cl_device_info,
    room: usize,
    value: *mut c_void,
    size: *mut usize,
) -> cl_int {
    assert_eq!(what, CL_DEVICE_PLATFORM);
    // SAFETY: the caller gives a place for the size, and one for the answer if there is room.
    unsafe {
        if !size.is_null() {
            *size = size_of::<usize>();
        }
        if room >= size_of::<usize>() {
            value.cast::<usize>().write_unaligned(PLATFORM);
        }
    }
    0
}

unsafe extern "C" fn acquire(
    _: cl_command_queue,
    count: cl_uint,
    objects: *const cl_mem,
    _: cl_uint,
    _: *const cl_event,
    _: *mut cl_event,
) -> cl_int {
    // SAFETY: there is one object.
    note(format!("acquire {count} {:?}", unsafe { *objects }.addr()));
    0
}

unsafe extern "C" fn release(
    _: cl_command_queue,
    count: cl_uint,
    objects: *const cl_mem,
    _: cl_uint,
    _: *const cl_event,
    _: *mut cl_event,
) -> cl_int {
    // SAFETY: as above.
    note(format!("release {count} {:?}", unsafe { *objects }.addr()));
    0
}

unsafe extern "C" fn create_semaphore(
    _: cl_context,
    list: *const cl_semaphore_properties_khr,
    status: *mut cl_int,
) -> cl_semaphore_khr {
    // SAFETY: the list has five numbers, and the caller gives a place for the code.
    unsafe {
        let list = std::slice::from_raw_parts(list, 5);
        assert_eq!((&list[..3], list[4]), (&[0x203d, 1, 0x2055][..], 0));
        close(list[3]);
        *status = 0;
    }
    ptr::without_provenance_mut(5)
}

unsafe extern "C" fn use_semaphore(
    _: cl_command_queue,
    count: cl_uint,
    semaphores: *const cl_semaphore_khr,
    payloads: *const cl_semaphore_payload_khr,
    _: cl_uint,
    _: *const cl_event,
    _: *mut cl_event,
) -> cl_int {
    assert!(payloads.is_null());
    // SAFETY: there is one semaphore.
    note(format!("semaphore {count} {:?}", unsafe { *semaphores }.addr()));
    0
}

unsafe extern "C" fn release_semaphore(semaphore: cl_semaphore_khr) -> cl_int {
    note(format!("release semaphore {:?}", semaphore.addr()));
    0
}

unsafe extern "C" fn address(platform: cl_platform_id, name: *const c_char) -> *mut c_void {
    assert_eq!(platform.addr(), PLATFORM);
    // SAFETY: the name ends with a NUL.
    match unsafe { CStr::from_ptr(name) }.to_str().unwrap() {
        "clEnqueueAcquireExternalMemObjectsKHR" => acquire as *mut c_void,
        "clEnqueueReleaseExternalMemObjectsKHR" => release as *mut c_void,
        "clCreateSemaphoreWithPropertiesKHR" => create_semaphore as *mut c_void,
        "clEnqueueWaitSemaphoresKHR" | "clEnqueueSignalSemaphoresKHR" => use_semaphore as *mut c_void,
        "clReleaseSemaphoreKHR" => release_semaphore as *mut c_void,
        name => panic!("{name}"),
    }
}

unsafe extern "C" fn no_address(_: cl_platform_id, _: *const c_char) -> *mut c_void {
    ptr::null_mut()
}

/// What the driver does with a descriptor that is its own.
fn close(descriptor: u64) {
    let descriptor = RawFd::try_from(descriptor).unwrap();
    // SAFETY: the descriptor was given away.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
}

unsafe extern "C" fn create_buffer(
    _: cl_context,
    list: *const cl_mem_properties,
    _: cl_mem_flags,
    size: usize,
    memory: *mut c_void,
    status: *mut cl_int,
) -> cl_mem {
    assert!(memory.is_null());
    // SAFETY: the list has three numbers, and the caller gives a place for the code.
    unsafe {
        let list = std::slice::from_raw_parts(list, 3);
        assert_eq!(list[2], 0);
        note(format!("import {:#x} {size}", list[0]));
        *status = if size == 13 { REFUSED } else { 0 };
        if *status == 0 {
            close(list[1]);
        }
    }
    ptr::without_provenance_mut(3)
}

unsafe extern "C" fn create_part(
    _: cl_mem,
    _: cl_mem_flags,
    _: cl_uint,
    region: *const c_void,
    status: *mut cl_int,
) -> cl_mem {
    // SAFETY: the region is whole, and the caller gives a place for the code.
    unsafe {
        let [origin, size] = region.cast::<[usize; 2]>().read();
        note(format!("part {origin} {size}"));
        *status = 0;
    }
    ptr::without_provenance_mut(4)
}

unsafe extern "C" fn release_memory(memory: cl_mem) -> cl_int {
    note(format!("release memory {:?}", memory.addr()));
    0
}

unsafe extern "C" fn done(_: *mut c_void) -> cl_int {
    0
}

fn functions() -> Functions {
    Functions {
        clCreateBufferWithProperties: Some(create_buffer),
        clCreateSubBuffer: Some(create_part),
        clFlush: Some(done),
        clGetDeviceInfo: Some(device_info),
        clGetExtensionFunctionAddressForPlatform: Some(address),
        clReleaseCommandQueue: Some(done),
        clReleaseContext: Some(done),
        clReleaseMemObject: Some(release_memory),
        ..Functions::default()
    }
}

/// Objects of a library with these functions.
pub(in crate::opencl) struct Fake {
    device: DeviceId,
    context: Context,
    pub(in crate::opencl) queue: CommandQueue,
}

/// The calls since the last time.
pub(in crate::opencl) fn calls() -> Vec<String> {
    CALLS.take()
}

impl Fake {
    pub(in crate::opencl) fn with_functions() -> Fake {
        Fake::new(functions())
    }

    pub(in crate::opencl) fn imported(&self) -> ExternalBuffer {
        let memory = memory(ExternalMemoryKind::OpaqueFd, 16);
        ExternalBuffer::import(&self.context, self.device, memory, 16).unwrap()
    }

    fn new(functions: Functions) -> Fake {
        let functions: &'static Functions = Box::leak(Box::new(functions));
        let raw = ptr::without_provenance_mut(1);
        Fake {
            device: DeviceId { functions, raw },
            context: Context { functions, raw },
            queue: CommandQueue { functions, raw },
        }
    }
}

fn memory(kind: ExternalMemoryKind, size: u64) -> ExternalMemory {
    ExternalMemory::new(kind, File::open("/dev/null").unwrap().into(), size)
}

#[test]
fn memory_is_imported_taken_over_and_handed_back_as_a_whole() {
    let Fake { device, context, queue } = Fake::new(functions());
    let part = memory(ExternalMemoryKind::OpaqueFd, 4096).with_offset(1024);
    let imported = ExternalBuffer::import(&context, device, part, 512).unwrap();
    assert_eq!(imported.buffer().raw.addr(), 4);
    queue.take_over(&imported).unwrap();
    queue.hand_back(&imported).unwrap();
    drop(imported);
    let whole = memory(ExternalMemoryKind::DmaBuf, 4096);
    assert_eq!(ExternalBuffer::import(&context, device, whole, 4096).unwrap().buffer().raw.addr(), 3);
    // The descriptor stays the caller's, who closes it.
    let refused = memory(ExternalMemoryKind::DmaBuf, 13);
    let error = ExternalBuffer::import(&context, device, refused, 13).unwrap_err();
    assert_eq!(error, ClError::Code(REFUSED));
    let calls = CALLS.take();
    let expected = [
        "import 0x2060 4096",
        "part 1024 512",
        "acquire 1 3",
        "release 1 3",
        "release memory 4",
        "release memory 3",
        "import 0x2067 4096",
        "release memory 3",
        "import 0x2067 13",
    ];
    assert_eq!(calls, expected);
}

#[test]
fn semaphores_are_binary_and_released_once() {
    let Fake { device, context, queue } = Fake::new(functions());
    let semaphore = Semaphore::import(&context, device, File::open("/dev/null").unwrap().into()).unwrap();
    queue.wait_for_semaphore(&semaphore).unwrap();
    queue.signal_semaphore(&semaphore).unwrap();
    drop(semaphore);
    assert_eq!(CALLS.take(), ["semaphore 1 5", "semaphore 1 5", "release semaphore 5"]);
}

#[test]
fn a_platform_without_the_functions_is_an_error() {
    let without = Functions { clGetExtensionFunctionAddressForPlatform: Some(no_address), ..functions() };
    let Fake { device, context, .. } = Fake::new(without);
    let error = ExternalBuffer::import(&context, device, memory(ExternalMemoryKind::DmaBuf, 16), 16);
    assert_eq!(error.unwrap_err(), ClError::Lacks("clEnqueueAcquireExternalMemObjectsKHR"));
    let error = Semaphore::import(&context, device, File::open("/dev/null").unwrap().into());
    assert_eq!(error.unwrap_err(), ClError::Lacks("clCreateSemaphoreWithPropertiesKHR"));
    assert!(CALLS.take().is_empty());
}
