//! Tests without a device; those on real devices are in `tests/opencl.rs`.

use super::*;

#[test]
fn errors_name_the_missing_library_or_driver() {
    let error = no_platform(ClError::NoLibrary).to_string();
    assert!(error.contains("libOpenCL.so.1") && error.contains("hint: install an OpenCL loader"), "{error}");
    let error = no_platform(ClError::Code(CL_PLATFORM_NOT_FOUND_KHR)).to_string();
    assert!(error.contains("/etc/OpenCL/vendors") && error.contains("hint: install the device's"), "{error}");
    let error = no_platform(ClError::Code(-6)).to_string();
    assert!(error.contains("CL_OUT_OF_HOST_MEMORY (-6)"), "{error}");
}
