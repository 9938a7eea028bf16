//! Device properties: the fields of `hipDeviceProp_tR0600` that are used here.

use std::ffi::CStr;

use offload_format::bytes;

/// `sizeof(hipDeviceProp_tR0600)` in ROCm 6 and 7 is 1472. The rest is for a release that appends fields.
const SIZE: usize = 4096;
const WHAT: &str = "hipDeviceProp_tR0600";
const TEXT_SIZE: u64 = 256;

/// The structure that the runtime fills, as bytes: it has a hundred fields, of which few are of use here.
///
/// The offsets are those of <https://github.com/ROCm/HIP/blob/rocm-6.2.x/include/hip/hip_runtime_api.h>; the stand-in of the
/// tests has the whole structure, and fills it by its fields' names.
#[repr(C, align(8))]
pub(crate) struct Properties([u8; SIZE]);

impl Properties {
    /// All zero.
    pub(crate) fn empty() -> Properties {
        Properties([0; SIZE])
    }

    /// The name for people.
    pub(crate) fn name(&self) -> String {
        self.text(0)
    }

    /// `gcnArchName`: the target ID, as `gfx90a:sramecc+:xnack-`.
    pub(crate) fn target_id(&self) -> String {
        self.text(1160)
    }

    /// `totalGlobalMem`, in bytes.
    pub(crate) fn global_memory(&self) -> u64 {
        bytes::u64_at(&self.0, 288, WHAT).unwrap_or(0)
    }

    /// `sharedMemPerBlock`, in bytes.
    pub(crate) fn shared_memory(&self) -> u32 {
        let bytes = bytes::u64_at(&self.0, 296, WHAT).unwrap_or(0);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// `warpSize`: work-items of a wavefront.
    pub(crate) fn warp_size(&self) -> u32 {
        self.number(308)
    }

    /// `maxThreadsPerBlock`.
    pub(crate) fn max_threads(&self) -> u32 {
        self.number(320)
    }

    /// `maxThreadsDim`.
    pub(crate) fn max_block(&self) -> [u32; 3] {
        [324, 328, 332].map(|offset| self.number(offset))
    }

    /// `maxGridSize`, in blocks.
    pub(crate) fn max_grid(&self) -> [u32; 3] {
        [336, 340, 344].map(|offset| self.number(offset))
    }

    /// `uuid`: hexadecimal digits as text.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let place = bytes::range(&self.0, 256, 16, WHAT).unwrap_or_default();
        place.try_into().unwrap_or_default()
    }

    /// `clockRate`, in kHz.
    pub(crate) fn clock_khz(&self) -> u32 {
        self.number(348)
    }

    /// `multiProcessorCount`.
    pub(crate) fn compute_units(&self) -> u32 {
        self.number(388)
    }

    /// `integrated`.
    pub(crate) fn integrated(&self) -> u32 {
        self.number(396)
    }

    /// `pciDomainID`, `pciBusID` and `pciDeviceID`.
    pub(crate) fn pci(&self) -> [u32; 3] {
        [592, 584, 588].map(|offset| self.number(offset))
    }

    /// `l2CacheSize`, in bytes.
    pub(crate) fn l2_cache(&self) -> u32 {
        self.number(616)
    }

    /// An `int` that is not negative.
    fn number(&self, offset: u64) -> u32 {
        let value = bytes::u32_at(&self.0, offset, WHAT).unwrap_or(0);
        i32::try_from(value).map_or(0, |_| value)
    }

    /// An array of characters, cut where it has no end.
    fn text(&self, offset: u64) -> String {
        let place = bytes::range(&self.0, offset, TEXT_SIZE, WHAT).unwrap_or_default();
        let text = CStr::from_bytes_until_nul(place).map_or(place, CStr::to_bytes);
        String::from_utf8_lossy(text).into_owned()
    }
}
