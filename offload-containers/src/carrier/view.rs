//! A program as it lies in memory: addresses to bytes, and pointers as the loader leaves them.

use offload_format::bytes;

/// The bytes of a file by address. In a relocatable object, whose sections have no addresses yet, a section's address is
/// its place in the file.
#[derive(Debug, Default)]
pub(super) struct View<'a> {
    pub(super) file: &'a [u8],
    /// By address.
    pub(super) maps: Vec<Map>,
    /// Where relocations write, and the address that they write there; by the former.
    pub(super) relocations: Vec<(u64, u64)>,
    /// Whether addresses are those of the memory, and so as aligned as what lies there.
    pub(super) linked: bool,
}

/// A run of bytes that has addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Map {
    pub(super) address: u64,
    pub(super) size: u64,
    /// In the file.
    pub(super) offset: u64,
    /// Whether records with pointers may lie there.
    pub(super) records: Records,
}

/// Most of a large program is images, code and text, which hold no record: they are not even read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Records {
    Possible,
    None,
}

impl<'a> View<'a> {
    /// Puts maps and relocations in order.
    pub(super) fn sorted(mut self) -> View<'a> {
        // One without bytes would hide what starts at its address.
        self.maps.retain(|map| map.size > 0);
        self.maps.sort_unstable();
        self.relocations.sort_unstable();
        self
    }

    /// The bytes from an address to the end of their run, and where they start in the file.
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

    /// The text that ends with a zero at an address.
    pub(super) fn text(&self, address: u64, longest: usize) -> Option<&'a str> {
        let (_, bytes) = self.at(address)?;
        let bytes = bytes.get(..bytes.len().min(longest))?;
        let text = std::ffi::CStr::from_bytes_until_nul(bytes).ok()?;
        text.to_str().ok()
    }
}
