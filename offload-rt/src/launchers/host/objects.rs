//! Events, arrays and rows of memory of the CPU.

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::time::Instant;

use crate::gpu::{BoxCopy, CopyPlace};
use crate::host::HostMemory;
use crate::launchers::elements::ArrayForm;

/// A `cudaEvent_t`: when it was recorded.
#[derive(Debug, Default)]
pub(super) struct HostEvent(pub(super) Mutex<Option<Instant>>);

/// A `cudaArray_t`.
#[derive(Debug)]
pub(super) struct HostArray {
    pub(super) memory: HostMemory,
    pub(super) form: ArrayForm,
}

/// Rows of a box in memory.
pub(super) struct BoxRows {
    start: *mut c_void,
    pitch: usize,
    /// Rows of a slice.
    rows: usize,
    /// Bytes, rows and slices from the start of the box on, of an array.
    room: Option<[usize; 3]>,
}

impl BoxRows {
    /// # Safety
    /// An array is one of `create_array`.
    pub(super) unsafe fn new(place: CopyPlace) -> BoxRows {
        match place {
            CopyPlace::Host { start, row, rows } => BoxRows { start, pitch: row, rows, room: None },
            CopyPlace::Memory { address, row, rows } => {
                let start = ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0));
                BoxRows { start, pitch: row, rows, room: None }
            }
            CopyPlace::Array { array, x_in_bytes, y, z } => {
                // SAFETY: by the contract.
                let HostArray { memory, form } = unsafe { &*array.cast::<HostArray>() };
                let row = z.saturating_mul(form.rows()).saturating_add(y);
                let offset = row.saturating_mul(form.row()).saturating_add(x_in_bytes);
                let room = [
                    form.row().saturating_sub(x_in_bytes),
                    form.rows().saturating_sub(y),
                    form.extent.depth.max(1).saturating_sub(z),
                ];
                let start = memory.address().wrapping_add(offset).cast();
                BoxRows { start, pitch: form.row(), rows: form.rows(), room: Some(room) }
            }
        }
    }

    pub(super) fn hold(&self, copy: &BoxCopy) -> bool {
        let size = [copy.width_in_bytes, copy.height, copy.depth];
        self.room.is_none_or(|room| room.iter().zip(size).all(|(room, size)| size <= *room))
    }

    pub(super) fn row(&self, row: usize, slice: usize) -> *mut c_void {
        let row = slice.saturating_mul(self.rows).saturating_add(row);
        self.start.wrapping_byte_add(row.saturating_mul(self.pitch))
    }
}
