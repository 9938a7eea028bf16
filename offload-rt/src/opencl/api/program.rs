//! Programs and kernels: making them, what the driver says of them, and launching.

use std::ffi::CString;
use std::ptr;

use offload_format::SpecValue;
use opencl_sys::{
    CL_INVALID_BUILD_OPTIONS, CL_INVALID_KERNEL_NAME, CL_KERNEL_NUM_ARGS, CL_PROGRAM_BINARIES,
    CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_KERNEL_NAMES, cl_kernel_work_group_info,
    cl_mem, cl_program_info, cl_uint,
};

use super::device::DeviceId;
use super::error::{ClError, ClResult};
use super::info::{self, Answer, check};
use super::library::call;
use super::object::{Buffer, CommandQueue, Context, Image, Kernel, Program, Sampler, created};
use crate::range::NdRange;

/// A value for an argument of a kernel.
#[derive(Clone, Copy, Debug)]
pub(in crate::opencl) enum KernelArg<'a> {
    /// The bytes of a value.
    Value(&'a [u8]),
    /// Local memory of this size in bytes.
    Local(usize),
    /// Memory. The driver keeps it until the kernel has run.
    Buffer(&'a Buffer),
    /// No memory: a null pointer.
    NoBuffer,
    Image(&'a Image),
    Sampler(&'a Sampler),
}

impl Program {
    /// OpenCL C, to be built.
    pub(in crate::opencl) fn from_source(context: &Context, source: &str) -> ClResult<Program> {
        let functions = context.functions;
        let mut text = source.as_ptr().cast();
        let length = source.len();
        let raw = created(|status| {
            // SAFETY: there is one text of this length, which the driver reads during the call.
            unsafe {
                call!(
                    functions,
                    clCreateProgramWithSource(context.raw, 1, &raw mut text, &raw const length, status)
                )
            }
        })?;
        Ok(Program { functions, raw })
    }

    /// SPIR-V, to be built or compiled.
    pub(in crate::opencl) fn from_il(context: &Context, spirv: &[u8]) -> ClResult<Program> {
        let functions = context.functions;
        let code = spirv.as_ptr().cast();
        let length = spirv.len();
        let raw = created(|status| {
            // SAFETY: the code has this length; the driver reads it during the call.
            unsafe { call!(functions, clCreateProgramWithIL(context.raw, code, length, status)) }
        });
        let raw = match raw {
            // Before OpenCL 2.1 the function is one of the extension cl_khr_il_program.
            Err(ClError::Lacks(_)) if functions.clCreateProgramWithILKHR.is_some() => created(|status| {
                // SAFETY: as above.
                unsafe { call!(functions, clCreateProgramWithILKHR(context.raw, code, length, status)) }
            }),
            other => other,
        };
        Ok(Program { functions, raw: raw? })
    }

    /// Gives a specialisation constant of SPIR-V its value, before the program is built or compiled.
    pub(in crate::opencl) fn specialize(&self, id: u32, value: SpecValue) -> ClResult<()> {
        let bytes = value.bits().to_le_bytes();
        let bytes = bytes.get(..value.size()).unwrap_or(&bytes);
        let size = bytes.len();
        let value = bytes.as_ptr().cast();
        // SAFETY: the value has this size; the driver copies it during the call. Drivers of OpenCL are on machines that begin
        // with the low byte, as this one.
        check(unsafe {
            call!(self.functions, clSetProgramSpecializationConstant(self.raw, id, size, value))?
        })
    }

    /// Native code for `device`, to be built.
    pub(in crate::opencl) fn from_binary(
        context: &Context,
        device: DeviceId,
        code: &[u8],
    ) -> ClResult<Program> {
        let functions = context.functions;
        let length = code.len();
        let mut bytes = code.as_ptr();
        let mut of_device = 0;
        let length = &raw const length;
        let bytes = &raw mut bytes;
        let of_device = &raw mut of_device;
        let raw = created(|status| {
            let context = context.raw;
            let devices = &raw const device.raw;
            // SAFETY: there is one code of this length for one device; the driver reads it during the call.
            unsafe {
                call!(
                    functions,
                    clCreateProgramWithBinary(context, 1, devices, length, bytes, of_device, status)
                )
            }
        })?;
        Ok(Program { functions, raw })
    }

    /// Links compiled programs into one with kernels.
    pub(in crate::opencl) fn linked(
        context: &Context,
        device: DeviceId,
        compiled: &[&Program],
    ) -> ClResult<Program> {
        let functions = context.functions;
        let inputs: Vec<_> = compiled.iter().map(|program| program.raw).collect();
        let devices = &raw const device.raw;
        let no_options = c"".as_ptr();
        let no_data = ptr::null_mut();
        let raw = created(|status| {
            let context = context.raw;
            let count = inputs.len() as cl_uint;
            let inputs = inputs.as_ptr();
            // SAFETY: there are so many programs and one device; without a function to call, the call returns when the
            // program is linked.
            unsafe {
                call!(
                    functions,
                    clLinkProgram(context, 1, devices, no_options, count, inputs, None, no_data, status)
                )
            }
        })?;
        Ok(Program { functions, raw })
    }

    /// Compiles and links it.
    pub(in crate::opencl) fn build(&self, device: DeviceId, options: &str) -> ClResult<()> {
        let options = CString::new(options).map_err(|_| ClError::Code(CL_INVALID_BUILD_OPTIONS))?;
        let devices = &raw const device.raw;
        let options = options.as_ptr();
        // SAFETY: there is one device; without a function to call, the call returns when the program is built.
        check(unsafe {
            call!(self.functions, clBuildProgram(self.raw, 1, devices, options, None, ptr::null_mut()))?
        })
    }

    /// Compiles it, to be linked.
    pub(in crate::opencl) fn compile(&self, device: DeviceId) -> ClResult<()> {
        let devices = &raw const device.raw;
        let no_options = c"".as_ptr();
        let no_headers = ptr::null();
        let no_names = ptr::null_mut();
        let no_data = ptr::null_mut();
        // SAFETY: there is one device and no header; without a function to call, the call returns when the program is
        // compiled.
        check(unsafe {
            call!(
                self.functions,
                clCompileProgram(self.raw, 1, devices, no_options, 0, no_headers, no_names, None, no_data)
            )?
        })
    }

    /// The log of the compiler or linker, empty if the driver has none.
    pub(in crate::opencl) fn build_log(&self, device: DeviceId) -> String {
        let program = self.raw;
        let device = device.raw;
        let parameter = CL_PROGRAM_BUILD_LOG;
        let log = info::bytes(&|Answer { capacity, value, size }| {
            // SAFETY: the answer has space for what the driver says.
            unsafe {
                call!(
                    self.functions,
                    clGetProgramBuildInfo(program, device, parameter, capacity, value, size)
                )
            }
        });
        String::from_utf8_lossy(&log.unwrap_or_default()).into_owned()
    }

    /// The names of the kernels, separated by `;`; some drivers end the list with the NUL of C.
    pub(in crate::opencl) fn kernel_names(&self) -> ClResult<String> {
        Ok(String::from_utf8_lossy(&self.info(CL_PROGRAM_KERNEL_NAMES)?).into_owned())
    }

    /// The driver's own form of the code for the only device, empty if it has none.
    pub(in crate::opencl) fn binary(&self) -> ClResult<Vec<u8>> {
        let sizes = info::sizes(&self.info(CL_PROGRAM_BINARY_SIZES)?);
        let mut binaries: Vec<Vec<u8>> = sizes.into_iter().map(|size| vec![0; size]).collect();
        let mut places: Vec<*mut u8> = binaries.iter_mut().map(Vec::as_mut_ptr).collect();
        let capacity = size_of_val(places.as_slice());
        let value = places.as_mut_ptr().cast();
        // SAFETY: each place has space for the code of one device, of the size that the driver has reported.
        check(unsafe {
            call!(
                self.functions,
                clGetProgramInfo(self.raw, CL_PROGRAM_BINARIES, capacity, value, ptr::null_mut())
            )?
        })?;
        Ok(binaries.into_iter().next().unwrap_or_default())
    }

    /// A kernel whose arguments are not set.
    pub(in crate::opencl) fn kernel(&self, name: &str) -> ClResult<Kernel> {
        let name = CString::new(name).map_err(|_| ClError::Code(CL_INVALID_KERNEL_NAME))?;
        let raw = created(|status| {
            // SAFETY: the name is a C string.
            unsafe { call!(self.functions, clCreateKernel(self.raw, name.as_ptr(), status)) }
        })?;
        Ok(Kernel { functions: self.functions, raw })
    }

    fn info(&self, parameter: cl_program_info) -> ClResult<Vec<u8>> {
        info::bytes(&|Answer { capacity, value, size }| {
            // SAFETY: the answer has space for what the driver says.
            unsafe { call!(self.functions, clGetProgramInfo(self.raw, parameter, capacity, value, size)) }
        })
    }
}

impl Kernel {
    /// The number of its arguments.
    pub(in crate::opencl) fn arg_count(&self) -> ClResult<usize> {
        let mut count: cl_uint = 0;
        let capacity = size_of_val(&count);
        let value = (&raw mut count).cast();
        // SAFETY: there is space for the number.
        check(unsafe {
            call!(
                self.functions,
                clGetKernelInfo(self.raw, CL_KERNEL_NUM_ARGS, capacity, value, ptr::null_mut())
            )?
        })?;
        Ok(count as usize)
    }

    /// A property of the kernel on `device`.
    pub(in crate::opencl) fn work_group_info(
        &self,
        device: DeviceId,
        parameter: cl_kernel_work_group_info,
    ) -> ClResult<Vec<u8>> {
        let kernel = self.raw;
        let device = device.raw;
        info::bytes(&|Answer { capacity, value, size }| {
            // SAFETY: the answer has space for what the driver says.
            unsafe {
                call!(
                    self.functions,
                    clGetKernelWorkGroupInfo(kernel, device, parameter, capacity, value, size)
                )
            }
        })
    }

    /// Sets the argument number `index`.
    ///
    /// # Safety
    /// The kernel's argument is of this kind; a buffer lives until the kernel was put into a queue.
    pub(in crate::opencl) unsafe fn set_arg(&self, index: cl_uint, arg: KernelArg<'_>) -> ClResult<()> {
        let (size, value) = match arg {
            KernelArg::Value(bytes) => (bytes.len(), bytes.as_ptr().cast()),
            KernelArg::Local(size) => (size, ptr::null()),
            KernelArg::Buffer(Buffer { raw, .. }) => (size_of_val(raw), (&raw const *raw).cast()),
            KernelArg::NoBuffer => (size_of::<cl_mem>(), ptr::null()),
            KernelArg::Image(Image { raw, .. }) => (size_of_val(raw), (&raw const *raw).cast()),
            KernelArg::Sampler(Sampler { raw, .. }) => (size_of_val(raw), (&raw const *raw).cast()),
        };
        // SAFETY: the value has this size; the driver reads it during the call, or has none to read.
        check(unsafe { call!(self.functions, clSetKernelArg(self.raw, index, size, value))? })
    }

    /// Puts it into `queue`.
    ///
    /// # Safety
    /// Every argument is set, and the kernel may run on them over `range`.
    pub(in crate::opencl) unsafe fn launch(&self, queue: &CommandQueue, range: &NdRange) -> ClResult<()> {
        let offset = range.offset();
        let global = range.global();
        let local = range.local();
        // SAFETY: each array has at least as many sizes as there are dimensions; the caller answers for the rest.
        check(unsafe {
            let queue = queue.raw;
            let kernel = self.raw;
            let none = ptr::null();
            let no_event = ptr::null_mut();
            call!(
                self.functions,
                clEnqueueNDRangeKernel(
                    queue,
                    kernel,
                    range.dimensions(),
                    offset.as_ptr(),
                    global.as_ptr(),
                    local.as_ptr(),
                    0,
                    none,
                    no_event
                )
            )?
        })
    }
}
