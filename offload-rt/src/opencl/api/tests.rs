//! Objects of a library that has few functions, which count their calls.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr;

use opencl_sys::{
    cl_command_queue, cl_command_queue_properties, cl_context, cl_context_properties, cl_device_id, cl_event,
    cl_int, cl_program, cl_queue_properties, cl_uint,
};

use super::device::DeviceId;
use super::error::ClError;
use super::library::Functions;
use super::object::{CommandQueue, Context, Program};
use crate::backend::HostFunction;

thread_local! {
    static RELEASED: Cell<usize> = const { Cell::new(0) };
    static STATUS: Cell<cl_int> = const { Cell::new(0) };
    static PROPERTIES: RefCell<Vec<[cl_queue_properties; 2]>> = const { RefCell::new(Vec::new()) };
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static CALLBACK: Cell<Option<(EventCallback, *mut c_void)>> = const { Cell::new(None) };
    static GIVEN: RefCell<Vec<(cl_uint, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
}

type Notify = unsafe extern "C" fn(*const std::ffi::c_char, *const c_void, usize, *mut c_void);

unsafe extern "C" fn create_context(
    _: *const cl_context_properties,
    devices: cl_uint,
    _: *const cl_device_id,
    _: Option<Notify>,
    _: *mut c_void,
    status: *mut cl_int,
) -> cl_context {
    assert_eq!(devices, 1);
    // SAFETY: the caller gives a place for the code.
    unsafe { *status = STATUS.get() };
    ptr::without_provenance_mut(1)
}

unsafe extern "C" fn create_from_il(
    _: cl_context,
    _: *const c_void,
    length: usize,
    status: *mut cl_int,
) -> cl_program {
    assert_eq!(length, 4);
    // SAFETY: the caller gives a place for the code.
    unsafe { *status = 0 };
    ptr::without_provenance_mut(2)
}

unsafe extern "C" fn specialize(_: cl_program, id: cl_uint, size: usize, value: *const c_void) -> cl_int {
    // SAFETY: the value has this size.
    let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), size) };
    GIVEN.with_borrow_mut(|given| given.push((id, bytes.to_vec())));
    STATUS.get()
}

unsafe extern "C" fn release(_: *mut c_void) -> cl_int {
    RELEASED.set(RELEASED.get() + 1);
    0
}

fn device(functions: Functions) -> DeviceId {
    DeviceId { functions: Box::leak(Box::new(functions)), raw: ptr::null_mut() }
}

fn contexts() -> Functions {
    Functions {
        clCreateContext: Some(create_context),
        clReleaseContext: Some(release),
        clReleaseProgram: Some(release),
        ..Functions::default()
    }
}

#[test]
fn values_of_constants_are_given_in_their_sizes() {
    let known = Functions {
        clCreateProgramWithIL: Some(create_from_il),
        clSetProgramSpecializationConstant: Some(specialize),
        ..contexts()
    };
    let context = Context::new(device(known)).unwrap();
    let program = Program::from_il(&context, &[0; 4]).unwrap();
    program.specialize(7, (-2).into()).unwrap();
    program.specialize(8, true.into()).unwrap();
    program.specialize(9, 1.0f64.into()).unwrap();
    let given = GIVEN.take();
    assert_eq!(given[0], (7, vec![0xfe, 0xff, 0xff, 0xff]));
    assert_eq!(given[1], (8, vec![1]));
    assert_eq!(given[2], (9, vec![0, 0, 0, 0, 0, 0, 0xf0, 0x3f]));
    STATUS.set(-71);
    assert_eq!(program.specialize(1, 2u32.into()).unwrap_err(), ClError::Code(-71));
    STATUS.set(0);
    // A library of OpenCL 2.1.
    let context =
        Context::new(device(Functions { clCreateProgramWithIL: Some(create_from_il), ..contexts() }));
    let program = Program::from_il(&context.unwrap(), &[0; 4]).unwrap();
    let error = program.specialize(7, 1.into()).unwrap_err();
    assert_eq!(error, ClError::Lacks("clSetProgramSpecializationConstant"));
}

unsafe extern "C" fn create_queue(
    _: cl_context,
    _: cl_device_id,
    properties: *const cl_queue_properties,
    status: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller gives a place for the code, and a list that ends with a zero.
    unsafe {
        *status = 0;
        let mut at = properties;
        while at.read() != 0 {
            PROPERTIES.with_borrow_mut(|given| given.push([at.read(), at.add(1).read()]));
            at = at.add(2);
        }
    }
    ptr::without_provenance_mut(3)
}

#[test]
fn a_queue_of_a_priority_keeps_it_when_it_tells_times() {
    let functions = Functions {
        clCreateCommandQueueWithProperties: Some(create_queue),
        clReleaseCommandQueue: Some(release),
        ..contexts()
    };
    let device = device(functions);
    let context = Context::new(device).unwrap();
    drop(CommandQueue::new(&context, device, Some(1)).unwrap());
    drop(CommandQueue::timed(&context, device, Some(4)).unwrap());
    assert_eq!(PROPERTIES.take(), [[0x1093, 0], [0x1096, 1], [0x1093, 2], [0x1096, 4]]);
    let error = CommandQueue::new(&context, device, None).unwrap_err();
    assert_eq!(error, ClError::Lacks("clCreateCommandQueue"));
}

const PROGRAM_S_EVENT: usize = 7;
const MARKER: usize = 8;

type EventCallback = unsafe extern "C" fn(cl_event, cl_int, *mut c_void);

fn log(call: String) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

unsafe extern "C" fn create_plain_queue(
    _: cl_context,
    _: cl_device_id,
    _: cl_command_queue_properties,
    status: *mut cl_int,
) -> cl_command_queue {
    // SAFETY: the caller gives a place for the code.
    unsafe { *status = 0 };
    ptr::without_provenance_mut(3)
}

unsafe extern "C" fn create_user_event(_: cl_context, status: *mut cl_int) -> cl_event {
    // SAFETY: the caller gives a place for the code.
    unsafe { *status = 0 };
    ptr::without_provenance_mut(PROGRAM_S_EVENT)
}

unsafe extern "C" fn mark(
    _: cl_command_queue,
    count: cl_uint,
    _: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    log(format!("marker after {count}"));
    // SAFETY: the caller gives a place for the event.
    unsafe { *event = ptr::without_provenance_mut(MARKER) };
    0
}

unsafe extern "C" fn barrier(
    _: cl_command_queue,
    count: cl_uint,
    events: *const cl_event,
    _: *mut cl_event,
) -> cl_int {
    assert_eq!(count, 1);
    // SAFETY: there is one event.
    log(format!("barrier after event {}", unsafe { (*events).addr() }));
    0
}

unsafe extern "C" fn flush(_: cl_command_queue) -> cl_int {
    0
}

unsafe extern "C" fn set_callback(
    event: cl_event,
    status: cl_int,
    callback: Option<EventCallback>,
    data: *mut c_void,
) -> cl_int {
    log(format!("callback of event {} at {status}", event.addr()));
    if STATUS.get() == 0 {
        CALLBACK.set(callback.map(|callback| (callback, data)));
    }
    STATUS.get()
}

unsafe extern "C" fn set_status(event: cl_event, status: cl_int) -> cl_int {
    log(format!("event {} is {status}", event.addr()));
    0
}

#[test]
fn later_commands_wait_for_a_host_function() {
    let functions = Functions {
        clCreateCommandQueue: Some(create_plain_queue),
        clCreateUserEvent: Some(create_user_event),
        clEnqueueBarrierWithWaitList: Some(barrier),
        clEnqueueMarkerWithWaitList: Some(mark),
        clFlush: Some(flush),
        clReleaseCommandQueue: Some(release),
        clReleaseEvent: Some(release),
        clSetEventCallback: Some(set_callback),
        clSetUserEventStatus: Some(set_status),
        ..contexts()
    };
    let device = device(functions);
    let context = Context::new(device).unwrap();
    let queue = CommandQueue::new(&context, device, None).unwrap();
    let function = || -> HostFunction { Box::new(|before| log(format!("called: {before:?}"))) };
    for (status, before) in [(0, "called: Done"), (-14, "called: Failed")] {
        queue.call(&context, function()).unwrap();
        let queued = ["marker after 0", "barrier after event 7", "callback of event 8 at 0"];
        assert_eq!(CALLS.take(), queued);
        let (callback, data) = CALLBACK.take().unwrap();
        // SAFETY: it is called once with its data.
        unsafe { callback(ptr::without_provenance_mut(MARKER), status, data) };
        assert_eq!(CALLS.take(), [before, "event 7 is 0"]);
    }
    STATUS.set(-59);
    assert_eq!(queue.call(&context, function()).unwrap_err(), ClError::Code(-59));
    STATUS.set(0);
    // It is not called, and the queue goes on.
    assert_eq!(CALLS.take().last().unwrap(), "event 7 is 0");
    // Two events of each call.
    assert_eq!(RELEASED.get(), 6);
}

#[test]
fn a_function_that_the_library_lacks_is_named() {
    let device = device(contexts());
    let context = Context::new(device).unwrap();
    assert_eq!(device.info(0).unwrap_err(), ClError::Lacks("clGetDeviceInfo"));
    assert_eq!(Program::from_il(&context, &[0; 4]).unwrap_err(), ClError::Lacks("clCreateProgramWithIL"));
    let error = Program::from_source(&context, "").unwrap_err().to_string();
    assert_eq!(error, "the OpenCL library lacks the function clCreateProgramWithSource");
}

#[test]
fn the_function_of_the_extension_serves_for_intermediate_code() {
    let functions = Functions { clCreateProgramWithILKHR: Some(create_from_il), ..contexts() };
    let context = Context::new(device(functions)).unwrap();
    assert_eq!(format!("{:?}", Program::from_il(&context, &[0; 4]).unwrap()), "Program(0x2)");
}

#[test]
fn each_object_is_released_once_and_what_failed_is_none() {
    let device = device(Functions { clCreateProgramWithIL: Some(create_from_il), ..contexts() });
    let context = Context::new(device).unwrap();
    let program = Program::from_il(&context, &[0; 4]).unwrap();
    assert_eq!(RELEASED.get(), 0);
    drop(program);
    assert_eq!(RELEASED.get(), 1);
    drop(context);
    assert_eq!(RELEASED.get(), 2);
    STATUS.set(-6);
    assert_eq!(Context::new(device).unwrap_err(), ClError::Code(-6));
    assert_eq!(RELEASED.get(), 2);
}
