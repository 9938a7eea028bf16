//! Handles: taking references to objects of other code, what such objects belong to, and giving handles away.

use std::ffi::c_void;
use std::ptr;

use opencl_sys::{
    CL_MEM_CONTEXT, CL_MEM_SIZE, CL_QUEUE_CONTEXT, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    CL_QUEUE_PROPERTIES, cl_device_id, cl_ulong,
};

use super::device::DeviceId;
use super::error::ClResult;
use super::info::check;
use super::library::{call, functions};
use super::object::{Buffer, CommandQueue, Context, Kernel, Program};

impl DeviceId {
    /// # Safety
    /// `raw` is a device of a platform.
    pub(in crate::opencl) unsafe fn from_raw(raw: cl_device_id) -> ClResult<DeviceId> {
        Ok(DeviceId { functions: functions()?, raw })
    }

    pub(in crate::opencl) fn raw(self) -> cl_device_id {
        self.raw
    }
}

macro_rules! taken {
    ($($name:ident, $retain:ident;)*) => {$(
        impl $name {
            /// A reference of its own to the object `raw`.
            ///
            /// # Safety
            /// `raw` is such an object.
            pub(in crate::opencl) unsafe fn retained(raw: *mut c_void) -> ClResult<$name> {
                let functions = functions()?;
                // SAFETY: by the contract.
                check(unsafe { call!(functions, $retain(raw))? })?;
                Ok($name { functions, raw })
            }
        }
    )*};
}

taken! {
    Context, clRetainContext;
    CommandQueue, clRetainCommandQueue;
    Buffer, clRetainMemObject;
}

macro_rules! given {
    ($($name:ident,)*) => {$(
        impl $name {
            /// The driver's handle, which is valid as long as this.
            pub(in crate::opencl) fn raw(&self) -> *mut c_void {
                self.raw
            }
        }
    )*};
}

given! { Context, CommandQueue, Buffer, Program, }

impl Kernel {
    /// The driver's handle, with the reference that this had.
    pub(in crate::opencl) fn into_raw(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).raw
    }
}

impl CommandQueue {
    /// The handle of its context, as a number to compare.
    pub(in crate::opencl) fn context_handle(&self) -> ClResult<usize> {
        self.number(CL_QUEUE_CONTEXT)
    }

    /// Whether commands may overtake each other.
    pub(in crate::opencl) fn is_out_of_order(&self) -> ClResult<bool> {
        let properties: cl_ulong = self.number(CL_QUEUE_PROPERTIES)?;
        Ok(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0)
    }

    fn number<N: bytemuck::Pod>(&self, parameter: u32) -> ClResult<N> {
        let mut number = N::zeroed();
        let capacity = size_of::<N>();
        let value = (&raw mut number).cast();
        // SAFETY: there is space for the number.
        check(unsafe {
            call!(
                self.functions,
                clGetCommandQueueInfo(self.raw, parameter, capacity, value, ptr::null_mut())
            )?
        })?;
        Ok(number)
    }
}

impl Buffer {
    /// The handle of its context, as a number to compare.
    pub(in crate::opencl) fn context_handle(&self) -> ClResult<usize> {
        self.number(CL_MEM_CONTEXT)
    }

    /// In bytes.
    pub(in crate::opencl) fn size(&self) -> ClResult<usize> {
        self.number(CL_MEM_SIZE)
    }

    fn number(&self, parameter: u32) -> ClResult<usize> {
        let mut number = 0usize;
        let capacity = size_of_val(&number);
        let value = (&raw mut number).cast();
        // SAFETY: there is space for the number.
        check(unsafe {
            call!(self.functions, clGetMemObjectInfo(self.raw, parameter, capacity, value, ptr::null_mut()))?
        })?;
        Ok(number)
    }
}
