//! zebins, the native images of Intel's `ocloc`: their kernels and the resources of each.
//!
//! A zebin is an ELF file with a YAML section `.ze_info`; both are specified in
//! <https://github.com/intel/compute-runtime/blob/master/level_zero/doc/zebin_spec.md> and
//! <https://github.com/intel/intel-graphics-compiler/tree/master/documentation/visa> (the compiler that writes it).
//!
//! ```
//! use offload_images::zebin;
//!
//! let error = zebin::kernels(b"not an image").unwrap_err();
//! assert_eq!(error.to_string(), "this is not a zebin: it starts with other bytes");
//! ```

mod elf;
mod notes;
mod ze_info;

use std::collections::BTreeMap;

pub use self::notes::{Compatibility, Steppings, compatibility};
pub use self::ze_info::ZebinKernel;
use offload_format::{Error, ErrorKind};

/// The names of the kernels of `image`, in the order of their code.
///
/// # Errors
/// [`ErrorKind::Magic`] if it is no zebin; [`ErrorKind::Truncated`] if a part or a kernel's code is missing.
pub fn kernels(image: &[u8]) -> Result<Vec<String>, Error> {
    Ok(info(image)?.into_iter().map(|kernel| kernel.name).collect())
}

/// Reads the kernels of `image`, in the order of their code.
///
/// # Errors
/// Those of [`kernels`]; [`ErrorKind::Text`] if the description is not text.
pub fn info(image: &[u8]) -> Result<Vec<ZebinKernel>, Error> {
    let sections = elf::read(image)?;
    let mut described: BTreeMap<String, ZebinKernel> =
        ze_info::scan(sections.ze_info).into_iter().map(|kernel| (kernel.name.clone(), kernel)).collect();
    // It may have code.
    described.remove(SYMBOL_TABLE_KERNEL);
    // Other code sections are functions that kernels share.
    let kernels = sections.code.iter().filter_map(|name| described.remove(*name)).collect();
    if !described.is_empty() {
        let offset = image.len() as u64;
        return Err(ErrorKind::Truncated { what: "the code of a kernel", offset, size: 1 }.into());
    }
    Ok(kernels)
}

/// An empty kernel that the compiler adds to modules that export functions.
const SYMBOL_TABLE_KERNEL: &str = "Intel_Symbol_Table_Void_Program";

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &[u8] = include_bytes!("../../tests/data/saxpy-reduce.zebin");

    #[test]
    fn an_image_of_ocloc_is_read() {
        assert_eq!(kernels(SAMPLE).unwrap(), ["saxpy", "reduce"]);
        let info = info(SAMPLE).unwrap();
        assert_eq!((info[0].grf_count, info[0].simd_size), (Some(128), Some(32)));
        assert_eq!((info[0].required_work_group, info[0].spill_size), (None, None));
        assert_eq!((info[1].required_work_group, info[1].barrier_count), (Some([64, 1, 1]), Some(1)));
    }

    #[test]
    fn every_truncation_is_refused() {
        for size in 0..SAMPLE.len() {
            assert!(info(&SAMPLE[..size]).is_err(), "{size} of {} bytes", SAMPLE.len());
        }
    }

    #[test]
    fn no_changed_byte_makes_it_panic() {
        for at in 0..SAMPLE.len() {
            let mut changed = SAMPLE.to_vec();
            changed[at] ^= 0xff;
            let _either = info(&changed);
        }
    }

    #[test]
    fn a_kernel_without_code_is_an_error() {
        let name = SAMPLE.windows(11).position(|window| window == b".text.saxpy").unwrap();
        let mut renamed = SAMPLE.to_vec();
        renamed[name + 6] = b'z';
        assert!(matches!(info(&renamed).unwrap_err().kind(), ErrorKind::Truncated { .. }));
    }

    /// An ELF file with these sections and a table of their names.
    fn zebin(sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut names = b"\0.shstrtab\0".to_vec();
        let mut image = vec![0; 64];
        let mut table = vec![0; 64];
        for (name, content) in sections {
            table.extend(section_header(names.len(), 1, image.len(), content.len()));
            names.extend_from_slice(name.as_bytes());
            names.push(0);
            image.extend_from_slice(content);
        }
        table.extend(section_header(1, 3, image.len(), names.len()));
        image.extend_from_slice(&names);
        image[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\xcd\0");
        let offset = image.len() as u64;
        image[40..48].copy_from_slice(&offset.to_le_bytes());
        let count = sections.len() as u16 + 2;
        for (at, value) in [(52, 64), (58, 64), (60, count), (62, count - 1)] {
            image[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        image.extend_from_slice(&table);
        image
    }

    fn section_header(name: usize, kind: u32, offset: usize, size: usize) -> [u8; 64] {
        let mut header = [0; 64];
        header[..4].copy_from_slice(&(name as u32).to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        header
    }

    /// IGC adds it to modules that export functions, with code.
    #[test]
    fn the_table_of_symbols_is_no_kernel() {
        let info = b"kernels:\n  - name:            g\n    execution_env:\n      simd_size:       32\n\
              - name:            Intel_Symbol_Table_Void_Program\n    execution_env:\n      simd_size:       8\n";
        let image = zebin(&[
            (".text.g", b"code"),
            (".text.Intel_Symbol_Table_Void_Program", b"code"),
            (".ze_info", info),
        ]);
        assert_eq!(kernels(&image).unwrap(), ["g"]);
    }

    #[test]
    fn an_image_may_lie_at_any_address() {
        for shift in 0..8 {
            let mut moved = vec![0; shift];
            moved.extend_from_slice(SAMPLE);
            assert_eq!(info(&moved[shift..]).unwrap(), info(SAMPLE).unwrap());
        }
    }

    #[test]
    fn other_elf_files_are_refused() {
        let mut other = SAMPLE.to_vec();
        other[18..20].copy_from_slice(&62u16.to_le_bytes());
        assert!(matches!(info(&other).unwrap_err().kind(), ErrorKind::Magic { .. }));
    }
}
