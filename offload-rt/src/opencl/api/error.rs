//! The error codes of OpenCL's functions.

use std::fmt;

use opencl_sys::cl_int;

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::opencl) enum ClError {
    /// The code that the function returned.
    Code(cl_int),
    /// The library lacks the function.
    Lacks(&'static str),
    /// No library can be opened.
    NoLibrary,
}

pub(in crate::opencl) type ClResult<T> = Result<T, ClError>;

impl fmt::Display for ClError {
    /// The name of a code and its number, as in `CL_OUT_OF_HOST_MEMORY (-6)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClError::Code(code) => write!(f, "{} ({code})", name(*code)),
            ClError::Lacks(function) => write!(f, "the OpenCL library lacks the function {function}"),
            ClError::NoLibrary => f.write_str("no OpenCL library can be opened"),
        }
    }
}

macro_rules! names {
    ($($name:ident)*) => {
        /// The name of a code.
        fn name(code: cl_int) -> &'static str {
            match code {
                $(opencl_sys::$name => stringify!($name),)*
                _ => "UNKNOWN_ERROR",
            }
        }
    };
}

// Those of the specification, and what extensions add to the functions that are called here.
names! {
    CL_SUCCESS
    CL_DEVICE_NOT_FOUND
    CL_DEVICE_NOT_AVAILABLE
    CL_COMPILER_NOT_AVAILABLE
    CL_MEM_OBJECT_ALLOCATION_FAILURE
    CL_OUT_OF_RESOURCES
    CL_OUT_OF_HOST_MEMORY
    CL_PROFILING_INFO_NOT_AVAILABLE
    CL_MEM_COPY_OVERLAP
    CL_IMAGE_FORMAT_MISMATCH
    CL_IMAGE_FORMAT_NOT_SUPPORTED
    CL_BUILD_PROGRAM_FAILURE
    CL_MAP_FAILURE
    CL_MISALIGNED_SUB_BUFFER_OFFSET
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    CL_COMPILE_PROGRAM_FAILURE
    CL_LINKER_NOT_AVAILABLE
    CL_LINK_PROGRAM_FAILURE
    CL_DEVICE_PARTITION_FAILED
    CL_KERNEL_ARG_INFO_NOT_AVAILABLE
    CL_INVALID_VALUE
    CL_INVALID_DEVICE_TYPE
    CL_INVALID_PLATFORM
    CL_INVALID_DEVICE
    CL_INVALID_CONTEXT
    CL_INVALID_QUEUE_PROPERTIES
    CL_INVALID_COMMAND_QUEUE
    CL_INVALID_HOST_PTR
    CL_INVALID_MEM_OBJECT
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR
    CL_INVALID_IMAGE_SIZE
    CL_INVALID_SAMPLER
    CL_INVALID_BINARY
    CL_INVALID_BUILD_OPTIONS
    CL_INVALID_PROGRAM
    CL_INVALID_PROGRAM_EXECUTABLE
    CL_INVALID_KERNEL_NAME
    CL_INVALID_KERNEL_DEFINITION
    CL_INVALID_KERNEL
    CL_INVALID_ARG_INDEX
    CL_INVALID_ARG_VALUE
    CL_INVALID_ARG_SIZE
    CL_INVALID_KERNEL_ARGS
    CL_INVALID_WORK_DIMENSION
    CL_INVALID_WORK_GROUP_SIZE
    CL_INVALID_WORK_ITEM_SIZE
    CL_INVALID_GLOBAL_OFFSET
    CL_INVALID_EVENT_WAIT_LIST
    CL_INVALID_EVENT
    CL_INVALID_OPERATION
    CL_INVALID_GL_OBJECT
    CL_INVALID_BUFFER_SIZE
    CL_INVALID_MIP_LEVEL
    CL_INVALID_GLOBAL_WORK_SIZE
    CL_INVALID_PROPERTY
    CL_INVALID_IMAGE_DESCRIPTOR
    CL_INVALID_COMPILER_OPTIONS
    CL_INVALID_LINKER_OPTIONS
    CL_INVALID_DEVICE_PARTITION_COUNT
    CL_INVALID_PIPE_SIZE
    CL_INVALID_DEVICE_QUEUE
    CL_INVALID_SPEC_ID
    CL_MAX_SIZE_RESTRICTION_EXCEEDED
    CL_PLATFORM_NOT_FOUND_KHR
    CL_CONTEXT_TERMINATED_KHR
    CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM
    CL_CANCELLED_IMG
    CL_PAGE_FAULT_IMG
    CL_SAFETY_FAULT_IMG
    CL_GENERAL_FAULT_IMG
    CL_ECC_UNRECOVERED_IMG
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names() {
        assert_eq!(ClError::Code(-11).to_string(), "CL_BUILD_PROGRAM_FAILURE (-11)");
        assert_eq!(ClError::Code(-1001).to_string(), "CL_PLATFORM_NOT_FOUND_KHR (-1001)");
        // NVIDIA's, which no header has.
        assert_eq!(ClError::Code(-9999).to_string(), "UNKNOWN_ERROR (-9999)");
        let lacks = ClError::Lacks("clLinkProgram").to_string();
        assert_eq!(lacks, "the OpenCL library lacks the function clLinkProgram");
    }
}
