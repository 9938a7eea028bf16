//! What can be tested without a device; launches on real ones are in `tests/opencl.rs`.

use super::*;

#[test]
fn what_was_looked_for_is_said() {
    let error = no_platform(ClError::NoLibrary).to_string();
    assert!(error.contains("libOpenCL.so.1") && error.contains("hint: install an OpenCL loader"), "{error}");
    let error = no_platform(ClError::Code(CL_PLATFORM_NOT_FOUND_KHR)).to_string();
    assert!(error.contains("/etc/OpenCL/vendors") && error.contains("hint: install the device's"), "{error}");
    let error = no_platform(ClError::Code(-6)).to_string();
    assert!(error.contains("CL_OUT_OF_HOST_MEMORY (-6)"), "{error}");
}
