//! Intel's native images ("zebin"): an ELF file with a section `.text.KERNEL` for each kernel and `.ze_info`.
//!
//! Follows <https://github.com/intel/intel-graphics-compiler/blob/master/documentation/igc/ZEBinary/>.

use object::read::elf::ElfFile64;
use object::read::{Object, ObjectSection};

use crate::{Error, ErrorKind};

/// `EM_INTELGT` (<https://github.com/llvm/llvm-project/blob/main/llvm/include/llvm/BinaryFormat/ELF.h>).
const EM_INTELGT: u16 = 205;

/// What `.ze_info` says of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The entry point.
    pub name: String,
    /// General registers a thread: 128 or, in large mode, 256.
    pub grf_count: Option<u32>,
    /// Work-items a thread.
    pub simd_size: Option<u32>,
    /// Spilled bytes a thread; only recent compilers tell.
    pub spill_size: Option<u64>,
}

/// The kernels that have code.
///
/// # Errors
/// [`ErrorKind::Magic`] if `bytes` are not an Intel image, [`ErrorKind::Text`] for a broken section name.
pub fn kernels(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let file = parse(bytes)?;
    let mut kernels = Vec::new();
    for section in file.sections() {
        let name = section
            .name()
            .map_err(|_| ErrorKind::Text { what: "section name", offset: section.address() })?;
        let Some(kernel) = name.strip_prefix(".text.") else { continue };
        // A section header may outlive the bytes it describes.
        section.data().map_err(|_| Error::truncated("code of a kernel", 0, section.size()))?;
        kernels.push(kernel.to_string());
    }
    Ok(kernels)
}

/// What the image says of its kernels.
///
/// # Errors
/// As [`kernels`]; an image without `.ze_info` gives an empty list.
pub fn info(bytes: &[u8]) -> Result<Vec<KernelInfo>, Error> {
    let file = parse(bytes)?;
    let Some(section) = file.section_by_name(".ze_info") else { return Ok(Vec::new()) };
    let data = section.data().map_err(|_| Error::truncated(".ze_info", 0, section.size()))?;
    let text = std::str::from_utf8(data).map_err(|_| ErrorKind::Text { what: ".ze_info", offset: 0 })?;
    Ok(scan(text))
}

fn parse(bytes: &[u8]) -> Result<ElfFile64<'_>, Error> {
    let not_ours = || Error::from(ErrorKind::Magic { what: "an Intel native image" });
    let file = ElfFile64::parse(bytes).map_err(|_| not_ours())?;
    let machine = file.elf_header().e_machine.get(file.endian());
    if machine.0 == EM_INTELGT { Ok(file) } else { Err(not_ours()) }
}

/// The document is YAML that the compiler writes in one shape: two-space steps, a list item for each kernel.
fn scan(text: &str) -> Vec<KernelInfo> {
    let mut kernels: Vec<KernelInfo> = Vec::new();
    let mut in_kernels = false;
    for line in text.lines() {
        if !line.starts_with([' ', '-']) {
            in_kernels = line.starts_with("kernels:");
        }
        if !in_kernels {
            continue;
        }
        if let Some(name) = line.strip_prefix("  - name:") {
            let name = name.trim().trim_matches(['"', '\'']).to_string();
            kernels.push(KernelInfo { name, ..KernelInfo::default() });
        }
        let (Some(kernel), Some((key, value))) = (kernels.last_mut(), line.trim().split_once(':')) else {
            continue;
        };
        match key {
            "grf_count" => kernel.grf_count = value.trim().parse().ok(),
            "simd_size" => kernel.simd_size = value.trim().parse().ok(),
            "spill_size" => kernel.spill_size = value.trim().parse().ok(),
            _ => {}
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_the_document() {
        let text = "version: '1.20'\nkernels:\n  - name: saxpy\n    execution_env:\n      grf_count: 128\n      simd_size: 32\n\
                    \x20   payload_arguments:\n      - arg_type: x\n  - name: big\n    execution_env:\n      grf_count: 256\n      spill_size: 64\n\
                    global_host_access_table:\n  - name: other\n";
        let found = scan(text);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].name.as_str(), found[0].grf_count, found[0].simd_size),
            ("saxpy", Some(128), Some(32))
        );
        assert_eq!((found[1].grf_count, found[1].spill_size), (Some(256), Some(64)));
    }
}
