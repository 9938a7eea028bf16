//! The registration wrapper of a fatbin, in the section `.nvFatBinSegment`.

use offload_format::{Error, ErrorKind, bytes};

/// First bytes of a wrapper, `0x466243B1`.
pub const MAGIC: u32 = 0x4662_43b1;
const WRAPPER: &str = "the wrapper of the fatbin";

/// `__fatBinC_Wrapper_t` of CUDA's `fatbinary_section.h`. The addresses in a file may need relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wrapper {
    /// 1, or 2 for linked device code: [`Wrapper::extra`] is then a list of the linked fatbins.
    pub version: u32,
    /// The address of the container.
    pub data: u64,
    /// The address of a file name or of a list of containers, or 0.
    pub extra: u64,
}

impl Wrapper {
    /// Size of a wrapper in bytes.
    pub const SIZE: u64 = 24;
}

/// Reads the wrapper at the start of `input`.
///
/// # Errors
/// [`ErrorKind::Magic`], or [`ErrorKind::Truncated`].
pub fn wrapper(input: &[u8]) -> Result<Wrapper, Error> {
    if bytes::u32_at(input, 0, WRAPPER)? != MAGIC {
        return Err(ErrorKind::Magic { what: "the wrapper of a fatbin" }.into());
    }
    Ok(Wrapper {
        version: bytes::u32_at(input, 4, WRAPPER)?,
        data: bytes::u64_at(input, 8, WRAPPER)?,
        extra: bytes::u64_at(input, 16, WRAPPER)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrapper_is_24_bytes() {
        let bytes = [&MAGIC.to_le_bytes()[..], &[1, 0, 0, 0], &64_u64.to_le_bytes(), &[0; 8]].concat();
        assert_eq!(bytes[..4], [0xb1, 0x43, 0x62, 0x46]);
        assert_eq!(wrapper(&bytes).unwrap(), Wrapper { version: 1, data: 64, extra: 0 });
        assert!(wrapper(&bytes[..23]).is_err() && wrapper(&[0; 24]).is_err());
    }
}
