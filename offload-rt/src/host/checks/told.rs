//! What images tell, in their structures and in ours.

use std::ffi::{c_char, c_void};

use super::site::Site;

/// The position of a work-item in its group, and a place of the source.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct By {
    pub(super) item: [u64; 3],
    pub(super) site: *const Site,
}

/// A variable of a function or of a program, or a row of an array, which has no name.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) base: *mut c_void,
    pub(super) size: u64,
    pub(super) name: *const c_char,
}

/// Bytes that are accessed, and a pointer from which their address was computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    pub(super) first: usize,
    pub(super) size: usize,
    pub(super) base: usize,
}

impl Bytes {
    pub(super) fn new(address: *mut c_void, base: *mut c_void, size: u64) -> Bytes {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Bytes { first: address.expose_provenance(), size, base: base.addr() }
    }

    pub(super) fn end(&self) -> usize {
        self.first.saturating_add(self.size)
    }
}

/// What an access is outside of.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) size: usize,
    pub(super) name: Option<String>,
}
