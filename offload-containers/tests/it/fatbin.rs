//! Fatbins as NVIDIA's own tool writes them, read and written again.
#![cfg(feature = "fatbin")]

use offload_containers::fatbin::{
    self, Compression, EntryKind, EntryVersion, Fatbin, FatbinImage, Flags, InflatedImage, Packing,
};
use offload_format::{Error, ErrorKind, Limits, Target};

const STORED: &[u8] = include_bytes!("../../../tests/data/stored.fatbin");
const ZSTD: &[u8] = include_bytes!("../../../tests/data/zstd.fatbin");
const LZ4: &[u8] = include_bytes!("../../../tests/data/lz4.fatbin");
const GROUP: &[u8] = include_bytes!("../../../tests/data/group.fatbin");

fn read(file: &[u8]) -> Fatbin<'_> {
    let read = fatbin::parse(file, &Limits::default()).expect("the file is well-formed");
    assert_eq!(read.size, file.len() as u64);
    read
}

fn images(file: &[u8]) -> Vec<InflatedImage<'_>> {
    let entries = read(file).entries;
    entries.iter().flat_map(|entry| entry.images(&Limits::default()).unwrap()).collect()
}

/// Target, version and image, in one order.
fn sorted(file: &[u8]) -> Vec<(String, EntryVersion, Vec<u8>)> {
    let mut found = Vec::new();
    for image in images(file) {
        let target = image.record.target().unwrap().to_string();
        found.push((target, image.record.version, image.bytes.to_vec()));
    }
    found.sort();
    found
}

#[test]
fn all_forms_hold_the_same_images() {
    let stored = sorted(STORED);
    let targets: Vec<&str> = stored.iter().map(|(target, ..)| target.as_str()).collect();
    assert_eq!(targets, ["cubin:sm_100f", "cubin:sm_80", "cubin:sm_90a", "nvptx:sm_75"]);
    assert_eq!((stored[0].1.major, stored[0].1.minor), (1, 8));
    assert_eq!((stored[3].1.major, stored[3].1.minor), (9, 5));
    // The sizes are those of the files that were packed, without what pads them.
    let sizes: Vec<usize> = stored.iter().map(|(.., image)| image.len()).collect();
    assert_eq!(sizes, [8938, 4960, 5596, 1655]);
    for file in [ZSTD, LZ4, GROUP] {
        assert_eq!(sorted(file), stored);
    }
}

#[test]
fn headers_are_read() {
    for (file, compression) in
        [(STORED, Compression::Stored), (ZSTD, Compression::Zstd), (LZ4, Compression::Lz4)]
    {
        let entries = read(file).entries;
        assert_eq!(entries.len(), 4);
        assert!(entries.iter().all(|entry| entry.compression == compression), "{compression:?}");
    }
    let read = read(ZSTD);
    let ptx = read.entries[3].record;
    assert_eq!((ptx.kind, ptx.name, ptx.options), (EntryKind::Ptx, Some("saxpy.cu"), Some("-O3")));
    assert_eq!(ptx.flags, Flags::BITS_64 | Flags::LINUX | Flags::ZSTD);
    let family = read.entries[2].record;
    assert!(family.flags.has(Flags::FAMILY | Flags::COMPAT) && family.options.is_none());
}

#[test]
fn a_group_lists_its_members() {
    let limits = Limits::default();
    let entries = read(GROUP).entries;
    let group = entries.iter().find(|entry| entry.record.kind == EntryKind::Group).unwrap();
    assert!(group.record.target().is_none() && group.record.options.is_none());
    let members = group.members(&limits).unwrap();
    let names: Vec<_> = members.iter().map(|member| (member.record.arch(), member.record.name)).collect();
    assert_eq!(names, ["sm_80", "sm_90a"].map(|arch| (arch.to_string(), Some("saxpy.cu"))));
    // The second image is 5,596 bytes and what pads them.
    let places: Vec<_> = members.iter().map(|member| (member.offset, member.size)).collect();
    assert_eq!(places, [(0, 4960), (4960, 5600)]);
    assert_eq!(read(STORED).entries[0].members(&limits).unwrap(), []);
}

/// The images of `file` as they are given to the writer.
fn write(file: &[u8], name: &str, packing: Packing) -> Vec<u8> {
    let images = images(file);
    let targets: Vec<Target> = images.iter().map(|image| image.record.target().unwrap()).collect();
    let images: Vec<FatbinImage<'_>> = (images.iter().zip(&targets))
        .map(|(image, target)| FatbinImage {
            target,
            bytes: &image.bytes,
            name,
            options: image.record.options.unwrap_or_default(),
        })
        .collect();
    fatbin::write(&images, packing).unwrap()
}

#[test]
fn stored_images_are_written_as_nvidia_writes_them() {
    assert!(write(STORED, "", Packing::Stored) == STORED);
}

/// The header of each entry with its appendix, the compressed size and its padding taken out.
fn headers(file: &[u8]) -> Vec<Vec<u8>> {
    let mut at = 16;
    let mut found = Vec::new();
    while at < file.len() {
        let header_size = u32::from_le_bytes(file[at + 4..at + 8].try_into().unwrap()) as usize;
        let size = u64::from_le_bytes(file[at + 8..at + 16].try_into().unwrap()) as usize;
        let mut header = file[at..at + header_size].to_vec();
        header[8..20].fill(0);
        found.push(header);
        at += header_size + size;
    }
    found
}

#[test]
fn compressed_images_have_nvidia_s_headers() {
    let ours = write(ZSTD, "saxpy.cu", Packing::Zstd { level: 19 });
    assert_eq!(headers(&ours), headers(ZSTD));
    assert_eq!(sorted(&ours), sorted(ZSTD));
    assert!(ours.len() < ZSTD.len() + ZSTD.len() / 10, "{} bytes for {}", ours.len(), ZSTD.len());
}

#[test]
fn containers_follow_each_other() {
    let section = [STORED, &[0; 8], ZSTD, GROUP, &[0; 24]].concat();
    let limits = Limits::default();
    let found: Vec<_> = fatbin::fatbins(&section, &limits).map(|found| found.unwrap()).collect();
    let second = (STORED.len() + 8) as u64;
    let at: Vec<u64> = found.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [0, second, second + ZSTD.len() as u64]);
    let broken = [STORED, b"garbage"].concat();
    let ok: Vec<bool> = fatbin::fatbins(&broken, &limits).map(|found| found.is_ok()).collect();
    assert_eq!(ok, [true, false]);
}

#[test]
fn sizes_are_claims() {
    let limits = Limits::default();
    for file in [ZSTD, LZ4] {
        for size in [5595_u64, 5597, 300_000_000, u64::MAX] {
            let mut bad = file.to_vec();
            // The second entry's; the first has no more than its name as an appendix.
            let at = 16 + (read(file).entries[0].stored.len().next_multiple_of(8)) + first_header(file);
            bad[at + 56..at + 64].copy_from_slice(&size.to_le_bytes());
            let read = fatbin::parse(&bad, &limits).unwrap();
            assert!(read.entries[0].image(&limits).is_ok());
            assert!(read.entries[1].image(&limits).is_err(), "{size}");
        }
    }
    let small = limits.with_raw_bytes(1000);
    let error = read(ZSTD).entries[0].image(&small).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TooLarge { limit: 1000, .. }));
    assert!(read(GROUP).entries[0].images(&small).is_err());
}

fn first_header(file: &[u8]) -> usize {
    u32::from_le_bytes(file[20..24].try_into().unwrap()) as usize
}

fn write_one(target: &str, bytes: &[u8], options: &str) -> Result<Vec<u8>, Error> {
    let target: Target = target.parse().unwrap();
    fatbin::write(&[FatbinImage { target: &target, bytes, name: "", options }], Packing::Stored)
}

#[test]
fn what_cannot_be_written_is_refused() {
    let text: &[u8] = b"//\n.version 8.1\n.target sm_80\n";
    assert!(write_one("nvptx:sm_80", text, "-O3").is_ok());
    let of_amd = write_one("amdgcn:gfx90a", text, "").unwrap_err();
    assert!(matches!(of_amd.kind(), ErrorKind::Unsupported { .. }));
    let of_text = write_one("cubin:sm_80", text, "").unwrap_err();
    assert!(matches!(of_text.kind(), ErrorKind::Magic { .. }));
    let of_nothing = write_one("nvptx:sm_80", b"// nothing", "").unwrap_err();
    assert!(matches!(of_nothing.kind(), ErrorKind::Text { .. }));
    let of_options = write_one("nvptx:sm_80", text, "-O3\0").unwrap_err();
    assert!(matches!(of_options.kind(), ErrorKind::Text { .. }));
}
