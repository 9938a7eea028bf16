//! The C structures that instrumented images pass, and their Rust forms.

use std::ffi::{c_char, c_void};

use super::site::Site;

/// The position of a work-item in its group, and a place of the source.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CallSite {
    pub(super) item: [u64; 3],
    pub(super) site: *const Site,
}

/// A variable of a function or of a program, or a row of an array, which has no name.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawExtent {
    pub(super) base: *mut c_void,
    pub(super) size: u64,
    pub(super) name: *const c_char,
}

/// The bytes of an access, and the pointer from which their address was computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct AddressRange {
    pub(super) first: usize,
    pub(super) size: usize,
    pub(super) base: usize,
}

impl AddressRange {
    pub(super) fn new(address: *mut c_void, base: *mut c_void, size: u64) -> AddressRange {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        AddressRange { first: address.expose_provenance(), size, base: base.addr() }
    }

    pub(super) fn end(&self) -> usize {
        self.first.saturating_add(self.size)
    }
}

/// The size and name of a variable.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) size: usize,
    pub(super) name: Option<String>,
}
