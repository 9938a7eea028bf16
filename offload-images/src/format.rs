//! Detection of the format of a device image.

use std::fmt;

use offload_format::bytes;

/// A format that this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ImageFormat {
    /// SPIR-V.
    SpirV,
    /// NVIDIA's PTX.
    Ptx,
    /// NVIDIA's cubin.
    Cubin,
    /// An AMD code object.
    AmdCodeObject,
    /// Native code for an Intel GPU.
    Zebin,
}

impl ImageFormat {
    /// Detects the format by the first bytes. PTX may start with comments.
    ///
    /// ```
    /// use offload_images::ImageFormat;
    ///
    /// assert_eq!(ImageFormat::detect(b"\x03\x02\x23\x07\0\0\x01\0"), Some(ImageFormat::SpirV));
    /// assert_eq!(ImageFormat::detect(b"// by a compiler\n.version 8.0\n"), Some(ImageFormat::Ptx));
    /// assert_eq!(ImageFormat::detect(b"text"), None);
    /// ```
    pub fn detect(bytes: &[u8]) -> Option<ImageFormat> {
        match bytes {
            [0x03, 0x02, 0x23, 0x07, ..] | [0x07, 0x23, 0x02, 0x03, ..] => Some(ImageFormat::SpirV),
            [0x7f, b'E', b'L', b'F', ..] => elf(bytes),
            _ => is_ptx(bytes).then_some(ImageFormat::Ptx),
        }
    }
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ImageFormat::SpirV => "SPIR-V",
            ImageFormat::Ptx => "PTX",
            ImageFormat::Cubin => "a cubin",
            ImageFormat::AmdCodeObject => "an AMD code object",
            ImageFormat::Zebin => "a zebin",
        })
    }
}

/// Detects by `e_machine` and `e_type`; those of ocloc are in
/// <https://github.com/intel/compute-runtime/blob/master/shared/source/device_binary_format/elf/elf.h>.
fn elf(bytes: &[u8]) -> Option<ImageFormat> {
    let machine = bytes::u16_at(bytes, 18, "the ELF header").unwrap_or_default();
    let kind = bytes::u16_at(bytes, 16, "the ELF header").unwrap_or_default();
    match (machine, kind) {
        (224, _) => Some(ImageFormat::AmdCodeObject),
        (190, _) => Some(ImageFormat::Cubin),
        (205, _) | (_, 0xff11..=0xff13) => Some(ImageFormat::Zebin),
        _ => None,
    }
}

/// The length in bytes of the leading comments in which `.version` is searched for.
const MAX_COMMENTS: usize = 1 << 16;

fn is_ptx(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(..MAX_COMMENTS).unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = match rest {
            [b'/', b'/', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => return rest.starts_with(b".version"),
        };
        let Some(at) = rest.windows(end.len()).skip(2).position(|window| window == end) else { return false };
        rest = rest.get(at.saturating_add(2).saturating_add(end.len())..).unwrap_or_default();
    }
}
