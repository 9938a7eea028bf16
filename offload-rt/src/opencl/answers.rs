//! Typed queries of `clGetDeviceInfo`.

use opencl_sys::CL_DEVICE_MAX_WORK_ITEM_SIZES;

use super::api::{DeviceId, info};

/// A text that the driver has of the device; empty if it does not answer, as PoCL 3.1 to the question for
/// intermediate languages.
pub(super) fn text(id: DeviceId, parameter: u32) -> String {
    let bytes = id.info(parameter).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_string()
}

pub(super) fn word(id: DeviceId, parameter: u32) -> Option<u32> {
    let bytes = id.info(parameter).ok()?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// A `cl_bool`; false if the driver does not answer.
pub(super) fn flag(id: DeviceId, parameter: u32) -> bool {
    word(id, parameter).is_some_and(|value| value != 0)
}

pub(super) fn long(id: DeviceId, parameter: u32) -> Option<u64> {
    let bytes = id.info(parameter).ok()?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// Numbers as large as addresses; none if the driver does not answer.
pub(super) fn sizes(id: DeviceId, parameter: u32) -> Vec<u64> {
    sizes_of(&id.info(parameter).unwrap_or_default())
}

/// The largest extent of a work-group in each dimension, if the driver tells.
pub(super) fn group_extents(id: DeviceId) -> Option<[u64; 3]> {
    sizes(id, CL_DEVICE_MAX_WORK_ITEM_SIZES).first_chunk().copied()
}

/// The numbers of an answer.
pub(super) fn sizes_of(answer: &[u8]) -> Vec<u64> {
    info::sizes(answer).into_iter().map(|size| size as u64).collect()
}

pub(super) fn has(extensions: &str, name: &str) -> bool {
    extensions.split(' ').any(|extension| extension == name)
}
