//! The compatibility notes of a zebin, which name its devices.
//!
//! Numbers and layouts are those of `shared/source/device_binary_format/zebin/zebin_elf.h` in
//! <https://github.com/intel/compute-runtime>.

use object::LittleEndian as LE;
use object::elf::FileHeader64;
use object::read::elf::{Note, NoteIterator};

use super::elf;
use offload_format::{Error, ErrorKind, bytes};

const OWNER: &[u8] = b"IntelGT";
const PRODUCT_FAMILY: u32 = 1;
const CORE_FAMILY: u32 = 2;
const TARGET_METADATA: u32 = 3;
const ZEBIN_VERSION: u32 = 4;
const PRODUCT_CONFIG: u32 = 6;
const WHAT: &str = "a note of the zebin";

/// The devices of an image. Compilers before 2023 write families and steppings, later ones the IP version; a driver
/// refuses an image that has neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compatibility {
    /// The number of the product family: 0x4f7 for Ponte Vecchio.
    pub product_family: Option<u32>,
    /// The number of the graphics core's family.
    pub core_family: Option<u32>,
    /// Revisions of the device.
    pub steppings: Option<Steppings>,
    /// The version of the file's format: `1.20`.
    pub version: Option<String>,
    /// Architecture, release and revision of the device: `[12, 60, 7]`.
    pub ip_version: Option<[u32; 3]>,
}

/// An inclusive range of device revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Steppings {
    /// The oldest.
    pub first: u8,
    /// The newest.
    pub last: u8,
}

/// Reads the devices of `image`.
///
/// # Errors
/// [`ErrorKind::Magic`] if it is no zebin; [`ErrorKind::Truncated`] if a part is missing; [`ErrorKind::Text`] for a
/// version that is not text.
pub fn compatibility(image: &[u8]) -> Result<Compatibility, Error> {
    let notes = elf::read(image)?.notes;
    let mut compatibility = Compatibility::default();
    for note in NoteIterator::<FileHeader64<LE>>::new(LE, 4u64, notes).map_err(truncated)? {
        let note = note.map_err(truncated)?;
        if note.name() == OWNER {
            compatibility.add_note(&note)?;
        }
    }
    Ok(compatibility)
}

fn truncated(_: object::read::Error) -> Error {
    Error::truncated(WHAT, 0, 12)
}

impl Compatibility {
    fn add_note(&mut self, note: &Note<'_, FileHeader64<LE>>) -> Result<(), Error> {
        let desc = note.desc();
        match note.n_type(LE).0 {
            PRODUCT_FAMILY => self.product_family = Some(bytes::u32_at(desc, 0, WHAT)?),
            CORE_FAMILY => self.core_family = Some(bytes::u32_at(desc, 0, WHAT)?),
            TARGET_METADATA => self.steppings = Some(steppings(bytes::u32_at(desc, 0, WHAT)?)),
            ZEBIN_VERSION => self.version = Some(text(desc)?),
            PRODUCT_CONFIG => self.ip_version = Some(ip_version(bytes::u32_at(desc, 0, WHAT)?)),
            _ => {}
        }
        Ok(())
    }
}

/// Bits 8 to 12 and 16 to 20.
fn steppings(word: u32) -> Steppings {
    Steppings { first: (word >> 8 & 0x1f) as u8, last: (word >> 16 & 0x1f) as u8 }
}

/// `GFX_GMD_ID`: ten bits, eight bits, eight bits unused, six bits.
fn ip_version(word: u32) -> [u32; 3] {
    [word >> 22, word >> 14 & 0xff, word & 0x3f]
}

fn text(bytes: &[u8]) -> Result<String, Error> {
    let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let text = std::str::from_utf8(text).map_err(|_| ErrorKind::Text { what: WHAT, offset: 0 })?;
    Ok(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.zebin");

    #[test]
    fn an_image_for_ponte_vecchio() {
        let found = compatibility(SAMPLE).unwrap();
        assert_eq!((found.product_family, found.core_family), (Some(0x4f7), Some(0)));
        assert_eq!(
            (found.steppings, found.version.as_deref()),
            (Some(Steppings { first: 7, last: 7 }), Some("1.20"))
        );
        assert_eq!(found.ip_version, None);
    }

    #[test]
    fn an_ip_version_is_split() {
        // What `ocloc ids pvc` and `ocloc ids acm-g10` say.
        assert_eq!(ip_version(0x030f_0007), [12, 60, 7]);
        assert_eq!(ip_version(12 << 22 | 55 << 14 | 8), [12, 55, 8]);
        let mut later = SAMPLE.to_vec();
        let note = b"\x04\0\0\0\x03\0\0\0IntelGT\0";
        let at = later.windows(note.len()).position(|window| window == note).unwrap();
        later[at + 4] = 6;
        later[at + 16..at + 20].copy_from_slice(&0x030f_0007u32.to_le_bytes());
        let found = compatibility(&later).unwrap();
        assert_eq!((found.ip_version, found.steppings), (Some([12, 60, 7]), None));
    }
}
