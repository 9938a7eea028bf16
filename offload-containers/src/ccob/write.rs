//! The writer of compressed bundles.

use super::inflate::hash;
use super::{MAGIC, Method, Version};
use crate::{bundle, frame};
use offload_format::{Error, ErrorKind};

/// Compresses `bundle` as a zstd frame with checksum and content size; `level` is zstd's (1 to 22).
///
/// A bundle over the 4 GiB of version 2 is written as version 3. [`Ccob::inflate`](super::Ccob::inflate) detects every
/// single-byte change in the file of a bundle of up to 128 MiB.
///
/// # Errors
/// [`ErrorKind::Magic`] if `bundle` is not a bundle; [`ErrorKind::Unsupported`] for version 1;
/// [`ErrorKind::Compression`].
pub fn write(bundle: &[u8], version: Version, level: i32) -> Result<Vec<u8>, Error> {
    if !bundle.starts_with(&bundle::MAGIC) {
        return Err(ErrorKind::Magic { what: "an offload bundle" }.into());
    }
    let frame = frame::deflate(bundle, level)?;
    let sizes = [frame.len() as u64, bundle.len() as u64];
    let mut out = header(version, sizes, hash(bundle))?;
    out.extend_from_slice(&frame);
    Ok(out)
}

fn header(version: Version, [stored, raw]: [u64; 2], hash: u64) -> Result<Vec<u8>, Error> {
    if version == Version::V1 {
        let what = "writing compressed offload bundles of version";
        return Err(ErrorKind::Unsupported { what, value: 1 }.into());
    }
    let small_size = u32::try_from(Version::V2.header_size().saturating_add(stored));
    let (version, sizes) = match (version, small_size, u32::try_from(raw)) {
        (Version::V2, Ok(size), Ok(raw)) => (Version::V2, [size.to_le_bytes(), raw.to_le_bytes()].concat()),
        _ => {
            let size = Version::V3.header_size().saturating_add(stored);
            (Version::V3, [size.to_le_bytes(), raw.to_le_bytes()].concat())
        }
    };
    let number = version.to_u16().to_le_bytes();
    let method = Method::Zstd.to_u16().to_le_bytes();
    Ok([&MAGIC[..], &number, &method, &sizes, &hash.to_le_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_version_2_take_version_3() {
        let limit = u64::from(u32::MAX);
        assert_eq!(header(Version::V2, [limit - 24, limit], 0).unwrap().len(), 24);
        for sizes in [[limit - 23, 1], [1, limit + 1]] {
            let header = header(Version::V2, sizes, 0).unwrap();
            assert_eq!((header.len(), header[4]), (32, 3));
            assert_eq!(header[8..16], (sizes[0] + 32).to_le_bytes());
            assert_eq!(header[16..24], sizes[1].to_le_bytes());
        }
    }

    #[test]
    fn only_bundles_and_readable_versions_are_written() {
        assert!(matches!(write(b"ELF", Version::V2, 3).unwrap_err().kind(), ErrorKind::Magic { .. }));
        let bundle = bundle::write(&[], 1).unwrap();
        assert!(matches!(write(&bundle, Version::V1, 3).unwrap_err().kind(), ErrorKind::Unsupported { .. }));
    }
}
