//! Selection of the member for a device in an ocloc archive.
//!
//! Members are named `64.12.60.7` for a device by its version, or `64.dg2` for a product, sometimes with its stepping:
//! `shared/offline_compiler/source/ocloc_fatbinary.cpp` of <https://github.com/intel/compute-runtime>.

use object::read::archive::ArchiveFile;
use offload_format::{Error, IntelArch, Target};

use super::intel::{self, same_release};
use super::mismatch::Mismatch;
use super::patch_tokens;
use crate::ImageFormat;

const MAGIC: &[u8] = b"!<arch>\n";

pub(super) fn is_archive(image: &[u8]) -> bool {
    image.starts_with(MAGIC)
}

/// The first member of `archive` whose name covers `arch`; the notes of a zebin have to agree with the name.
pub(super) fn member_for<'a>(arch: &IntelArch, archive: &'a [u8]) -> Result<&'a [u8], Mismatch> {
    let mut others = Vec::new();
    for member in ArchiveFile::parse(archive).map_err(truncated)?.members() {
        let member = member.map_err(truncated)?;
        let Some(devices) = devices(member.name()) else { continue };
        if !fits(arch, &devices) {
            others.push(format!("intel:{devices}"));
            continue;
        }
        let image = member.data(archive).map_err(truncated)?;
        // Other releases of ocloc may write other formats.
        if ImageFormat::detect(image).is_some() || patch_tokens::is_container(image) {
            intel::check(arch, image)?;
        }
        return Ok(image);
    }
    if others.is_empty() {
        return Err(Mismatch::new("the archive names no Intel GPU"));
    }
    Err(Mismatch::new(format!("the archive is for {}", others.join(", "))))
}

fn truncated(_: object::read::Error) -> Error {
    Error::truncated("the archive of ocloc", 0, 1)
}

/// The devices in the name of a member. The driver also compares the pointer size, and this project's programs have 64
/// bits.
fn devices(member: &[u8]) -> Option<IntelArch> {
    let name = std::str::from_utf8(member).ok()?.strip_prefix("64.")?;
    // Without the stepping, if the whole name is unknown.
    parse_arch(name).or_else(|| parse_arch(name.split_once('.')?.0))
}

fn parse_arch(name: &str) -> Option<IntelArch> {
    match format!("intel:{name}").parse() {
        Ok(Target::Intel(arch)) => Some(arch),
        _ => None,
    }
}

/// Whether an image for `member` runs on `arch`: each may be a device or a group of devices.
fn fits(arch: &IntelArch, member: &IntelArch) -> bool {
    match (arch.ip_version(), member.ip_version()) {
        (_, Some(device)) => arch.covers(device) || same_release(arch, device),
        (Some(device), None) => member.covers(device),
        (None, None) => arch == member,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZEBIN: &[u8] = include_bytes!("../../../tests/data/saxpy-reduce.zebin");

    fn arch(name: &str) -> IntelArch {
        devices(format!("64.{name}").as_bytes()).unwrap()
    }

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = MAGIC.to_vec();
        for (name, data) in members {
            let header =
                format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 0, data.len());
            archive.extend_from_slice(header.as_bytes());
            archive.extend_from_slice(data);
            archive.resize(archive.len().next_multiple_of(2), b'\n');
        }
        archive
    }

    fn mismatch(name: &str, members: &[(&str, &[u8])]) -> String {
        member_for(&arch(name), &archive(members)).unwrap_err().to_string()
    }

    #[test]
    fn the_member_of_the_device_is_found() {
        let file =
            archive(&[("pad_1", b" "), ("64.12.55.8", b"g10"), ("64.12.60.7", ZEBIN), ("generic_ir", b"ir")]);
        for (name, image) in
            [("pvc", ZEBIN), ("xe-hpc", ZEBIN), ("acm-g10", b"g10"), ("dg2", b"g10"), ("12.55.8", b"g10")]
        {
            assert!(member_for(&arch(name), &file).unwrap() == image, "{name}");
        }
        let file = archive(&[("64.dg2", b"dg2"), ("64.tgllp.b0", b"b0")]);
        for (name, image) in [("acm-g11", b"dg2".as_slice()), ("dg2", b"dg2"), ("tgllp", b"b0")] {
            assert_eq!(member_for(&arch(name), &file).unwrap(), image, "{name}");
        }
    }

    #[test]
    fn an_archive_for_other_devices_says_which() {
        let pvc: (&str, &[u8]) = ("64.12.60.7", ZEBIN);
        assert_eq!(mismatch("acm-g10", &[pvc]), "the archive is for intel:12.60.7");
        assert_eq!(
            mismatch("acm-g10", &[pvc, ("64.tgllp.b0", b"")]),
            "the archive is for intel:12.60.7, intel:tgllp"
        );
        assert_eq!(
            mismatch("pvc", &[("32.12.60.7", ZEBIN), ("generic_ir", b"")]),
            "the archive names no Intel GPU"
        );
        // The name and the notes disagree.
        assert_eq!(
            mismatch("acm-g10", &[("64.12.55.8", ZEBIN)]),
            "the image is for Intel's product family 1271"
        );
    }

    #[test]
    fn every_truncation_is_refused() {
        let file = archive(&[("64.12.60.7", ZEBIN)]);
        let pvc = arch("pvc");
        for size in (0..200).chain(file.len() - 200..file.len() - 1) {
            assert!(member_for(&pvc, &file[..size]).is_err(), "{size} of {} bytes", file.len());
        }
    }
}
