//! The address space of a program: bytes by address, and relocated pointers.

use offload_format::bytes;

/// The bytes of a file by address. The address of a section in a relocatable object is its file offset.
#[derive(Debug, Default)]
pub(super) struct View<'a> {
    pub(super) file: &'a [u8],
    /// By address.
    pub(super) maps: Vec<Map>,
    /// Relocated addresses with the pointers written there, by address.
    pub(super) relocations: Vec<(u64, u64)>,
    /// Whether addresses are those of the loaded program, with the alignment of the data.
    pub(super) linked: bool,
}

/// A mapped range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Map {
    pub(super) address: u64,
    pub(super) size: u64,
    /// Its offset in the file.
    pub(super) offset: u64,
    /// Whether it may hold records with pointers.
    pub(super) records: Records,
}

/// Whether a mapped range may hold registration records. Images, code and strings, most of a large program, hold none and
/// are not scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Records {
    Possible,
    None,
}

impl<'a> View<'a> {
    /// Sorts ranges and relocations.
    pub(super) fn sorted(mut self) -> View<'a> {
        // An empty range would hide the one at its address.
        self.maps.retain(|map| map.size > 0);
        self.maps.sort_unstable();
        self.relocations.sort_unstable();
        self
    }

    /// The file offset of an address, and the bytes from it to the end of its range.
    pub(super) fn at(&self, address: u64) -> Option<(u64, &'a [u8])> {
        let after = self.maps.partition_point(|map| map.address <= address);
        let map = self.maps.get(after.checked_sub(1)?)?;
        let within = address.checked_sub(map.address).filter(|within| *within < map.size)?;
        let offset = map.offset.checked_add(within)?;
        Some((offset, bytes::range(self.file, offset, map.size.checked_sub(within)?, "the bytes").ok()?))
    }

    /// The pointer at an address.
    pub(super) fn pointer(&self, address: u64) -> Option<u64> {
        if let Ok(index) = self.relocations.binary_search_by_key(&address, |(at, _)| *at) {
            return self.relocations.get(index).map(|(_, target)| *target);
        }
        bytes::u64_at(self.at(address)?.1, 0, "pointer").ok()
    }

    /// The zero-terminated string at an address, of at most `max_size` bytes.
    pub(super) fn text(&self, address: u64, max_size: usize) -> Option<&'a str> {
        let (_, bytes) = self.at(address)?;
        let bytes = bytes.get(..bytes.len().min(max_size))?;
        let text = std::ffi::CStr::from_bytes_until_nul(bytes).ok()?;
        text.to_str().ok()
    }
}
