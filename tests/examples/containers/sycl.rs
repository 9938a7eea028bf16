//! SYCL device images of libraries, beside the linker's own table of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSection};
use offload_containers::carrier::{self, RangeOrigin, SyclImage};
use offload_containers::ocloc;
use offload_containers::ocloc::MemberKind;
use offload_format::Limits;
use offload_images::spirv;

/// Every library below `folder`.
pub fn check(folder: &Path) {
    let mut libraries = 0;
    let mut images = BTreeMap::<String, (usize, usize)>::new();
    for path in below(folder) {
        let file = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(found) = library(&name, &file) else { continue };
        libraries += 1;
        for (what, size) in found {
            let (count, bytes) = images.entry(what).or_default();
            *count += 1;
            *bytes += size;
        }
    }
    println!("SYCL: {libraries} libraries, images and bytes: {images:?}");
    assert!(libraries > 0 && !images.is_empty());
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(below(&path));
        } else if path.extension().is_some_and(|end| end == "so") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// What each image of a library is, and its size; `None` if the linker wrote no table, `.tgtimg`, of their places and
/// sizes. Every image in the table has a record, and the other way round.
pub fn library(name: &str, file: &[u8]) -> Option<Vec<(String, usize)>> {
    let program = object::File::parse(file).unwrap();
    let table = table(&program)?;
    let records: BTreeMap<u64, (SyclImage<'_>, &[u8])> = carrier::find(file, &Limits::default())
        .unwrap()
        .into_iter()
        .filter_map(|found| match found.origin {
            RangeOrigin::Sycl(record) => Some((found.offset, (record, found.bytes))),
            _ => None,
        })
        .collect();
    assert!(table.keys().eq(records.keys()), "{name}: {table:x?} {:x?}", records.keys());
    let images = records.iter().map(|(offset, (record, stored))| {
        let (what, size) = image(name, stored);
        assert_eq!(size as u64, table[offset], "{name}: {record:?}");
        (format!("layout {}, {}: {what}", record.version, record.target), size)
    });
    let images: Vec<_> = images.collect();
    println!("{name}: {} SYCL images", images.len());
    Some(images)
}

/// Offsets in the file with the sizes of images as they are inflated.
fn table(program: &object::File<'_>) -> Option<BTreeMap<u64, u64>> {
    let section = program.section_by_name(".tgtimg")?;
    // Without packed relocations the addresses stand in the relocations alone.
    let relocations: BTreeMap<u64, u64> = program
        .dynamic_relocations()
        .into_iter()
        .flatten()
        .map(|(address, relocation)| (address, relocation.addend() as u64))
        .collect();
    let places = (section.address()..).step_by(16);
    let numbers = section.data().unwrap().chunks_exact(16).zip(places).map(|(record, place)| {
        (relocations.get(&place).copied().unwrap_or(number(record, 0)), number(record, 8))
    });
    Some(numbers.map(|(address, size)| (offset(program, address), size)).collect())
}

fn number(record: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(record[at..at + 8].try_into().unwrap())
}

/// The place in the file of what is loaded at `address`.
fn offset(program: &object::File<'_>, address: u64) -> u64 {
    let mut sections = program.sections().filter(|section| section.address() > 0);
    let section =
        sections.find(|section| (section.address()..section.address() + section.size()).contains(&address));
    let section = section.unwrap();
    section.file_range().unwrap().0 + address - section.address()
}

/// What an image is once inflated; it has to be read to its end.
fn image(name: &str, stored: &[u8]) -> (String, usize) {
    let inflated = if stored.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        assert_eq!(zstd::zstd_safe::find_frame_compressed_size(stored).unwrap(), stored.len());
        zstd::decode_all(stored).unwrap()
    } else {
        stored.to_vec()
    };
    if inflated.starts_with(&ocloc::MAGIC) {
        let archive = ocloc::parse(&inflated, &Limits::default()).unwrap();
        assert!(archive.members.iter().all(|member| !member.data.is_empty()));
        let devices = archive.members.iter().filter(|it| matches!(it.kind(), MemberKind::Device(_))).count();
        let ir =
            archive.spirv().unwrap().map(|module| spirv::Module::parse(module, &Limits::default()).unwrap());
        return (format!("archive of {devices} devices, SPIR-V: {}", ir.is_some()), inflated.len());
    }
    let module = spirv::Module::parse(&inflated, &Limits::default());
    module.unwrap_or_else(|error| panic!("{name}: {error}: {:?}", inflated.get(..8)));
    ("SPIR-V".to_string(), inflated.len())
}
