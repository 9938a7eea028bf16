//! The driver's objects: each is a reference that is released when it is dropped.
//!
//! Objects hold those that they are made of, so that the order of drops does not matter.

use std::ffi::c_void;
use std::fmt;

use opencl_sys::{CL_SUCCESS, cl_int};

use super::error::ClResult;
use super::info::check;
use super::library::{Functions, call};

macro_rules! objects {
    ($($(#[doc = $text:literal])* $name:ident, $release:ident;)*) => {$(
        $(#[doc = $text])*
        pub(in crate::opencl) struct $name {
            pub(super) functions: &'static Functions,
            pub(super) raw: *mut c_void,
        }

        // SAFETY: OpenCL's functions may be called from any thread
        // (https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html, "Multiple Host Threads").
        unsafe impl Send for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: the reference is this value's, which is gone afterwards.
                // A failed release cannot be handled.
                let _ = unsafe { call!(self.functions, $release(self.raw)) };
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:p})", stringify!($name), self.raw)
            }
        }
    )*};
}

objects! {
    /// A context of a device.
    Context, clReleaseContext;
    /// Commands for a device, run in order.
    CommandQueue, clReleaseCommandQueue;
    /// Memory of a context.
    Buffer, clReleaseMemObject;
    /// An image of a context.
    Image, clReleaseMemObject;
    /// A sampler of a context.
    Sampler, clReleaseSampler;
    /// Code for the devices of a context: to be compiled, to be linked, or built.
    Program, clReleaseProgram;
    /// A kernel of a built program with its arguments. It is for one thread at a time.
    Kernel, clReleaseKernel;
    /// The status of a command.
    Event, clReleaseEvent;
}

/// The object that `create` returns; the driver stores an error code at the address that it gets.
pub(super) fn created(create: impl FnOnce(*mut cl_int) -> ClResult<*mut c_void>) -> ClResult<*mut c_void> {
    let mut status = CL_SUCCESS;
    let raw = create(&raw mut status)?;
    check(status)?;
    Ok(raw)
}

// SAFETY: as for `Send`. A `Kernel` is no such object: its arguments may not be set by two threads.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Sync for CommandQueue {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Image {}
// SAFETY: as above.
unsafe impl Sync for Sampler {}
// SAFETY: as above.
unsafe impl Sync for Program {}
// SAFETY: as above.
unsafe impl Sync for Event {}
