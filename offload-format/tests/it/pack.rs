//! Packs through the public interface: round trips, forward compatibility, detection of damage.

use std::path::Path;

use offload_format::codec::{self, Codec, Frame};
use offload_format::pack::{
    ArgInfo, ArgKind, KernelInfo, Missing, MissingKind, NewImage, Pack, PackBuilder, Pages, layout,
};
use offload_format::{ErrorKind, Hash128, Import, SpecConstant, Target};

fn kernel(name: &str) -> KernelInfo {
    {
        let mut info = KernelInfo::new(name);
        let a = ArgInfo::new(ArgKind::Value).named("a", "float*").with_size(Some(4));
        let x = ArgInfo::new(ArgKind::Global).named("x", "float*").with_base_type("float").constant();
        info.args = Some(vec![a, x]);
        info.required_work_group = Some([64, 1, 1]);
        info.sub_group_size = Some(16);
        info.registers = Some(128);
        info.local_memory = Some(1024);
        info.private_memory = None;
        info.spilled = Some(0);
        info.has_barrier = true;
        info.scalar_registers = Some(104);
        info.accumulator_registers = Some(8);
        info.max_work_group = Some(1024);
        info.remark = "rebuilt".into();
        info
    }
}

fn image(module: &str, target: &str) -> NewImage {
    NewImage {
        kernels: vec![kernel("saxpy"), kernel("matmul")],
        ..NewImage::new(module, target.parse().unwrap())
    }
}

/// A pack with a compressed image, a raw one, and a second user of the first one's bytes.
fn sample() -> Vec<u8> {
    sample_with(Index::Paged)
}

/// How the index of a sample is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Index {
    Paged,
    Plain,
}

fn sample_with(index: Index) -> Vec<u8> {
    let text = "the quick brown fox jumps over the lazy dog. ".repeat(20);
    let packed = codec::encode(text.as_bytes(), Codec::Zstd, 19).unwrap();
    let raw = codec::encode(b"\x7fELF native", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.2.3");
    builder.image(image("stats", "spirv64"), packed.info()).unwrap();
    builder.image(image("blas", "intel:pvc"), raw.info()).unwrap();
    builder.image(image("blas", "opencl-c"), packed.info()).unwrap();
    let missing = Missing::new(MissingKind::Target, "blas").with_target("cubin:sm_90");
    builder.missing(missing.with_reason("ptxas was not found"));
    if index == Index::Plain {
        builder.plain_index();
    }
    assemble(builder, &[packed, raw])
}

fn assemble(builder: PackBuilder, frames: &[Frame]) -> Vec<u8> {
    let laid_out = builder.finish().unwrap();
    let bytes = laid_out.with_frames(frames).unwrap();
    assert_eq!(bytes.len() as u64, laid_out.size);
    bytes
}

/// Reads everything there is; any error counts.
fn read_all(bytes: &[u8]) -> Result<Vec<Vec<u8>>, offload_format::Error> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    let mut images = Vec::new();
    for image in pack.images() {
        let image = image?;
        for kernel in pack.kernels(&image) {
            kernel?;
        }
        images.push(codec::decode(&pack, &image)?);
    }
    pack.missing().try_for_each(|missing| missing.map(drop))?;
    Ok(images)
}

#[test]
fn what_is_written_is_read() {
    for (index, decoded) in [(Index::Paged, 1), (Index::Plain, 0)] {
        check_sample(&sample_with(index), decoded);
    }
}

/// Checks all of a sample with so many pages.
fn check_sample(bytes: &[u8], pages_of_it: usize) {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages).unwrap();
    pack.verify_index().unwrap();
    assert_eq!(
        (pack.meta("package"), pack.meta("version"), pack.meta("x")),
        (Some("sample"), Some("1.2.3"), None)
    );
    let images: Vec<_> = pack.images().map(Result::unwrap).collect();
    let names: Vec<_> = images.iter().map(|image| (image.module, image.target_text)).collect();
    assert_eq!(names, [("blas", "intel:pvc"), ("blas", "opencl-c"), ("stats", "spirv64")]);
    assert_eq!(images[0].target().unwrap(), "intel:pvc".parse::<Target>().unwrap());
    assert_eq!((images[0].codec, images[1].codec), (Codec::Raw, Codec::Zstd));
    // Equal images are stored once.
    assert_eq!(images[1].offset, images[2].offset);
    assert!(images[1].stored_size * 4 < images[1].raw_size);
    let needs = pack.kernel_needs(&images[2]).map(|needs| needs.unwrap().name).collect::<Vec<_>>();
    assert_eq!(needs, ["saxpy", "matmul"]);
    assert_eq!((pages.decoded(), pages.decoded_details()), (pages_of_it, 0));

    let kernels: Vec<_> = pack.kernels(&images[2]).map(Result::unwrap).collect();
    assert_eq!(
        (kernels.len(), kernels[1].name.as_str(), kernels[1].required_work_group),
        (2, "matmul", Some([64, 1, 1]))
    );
    assert_eq!(
        (kernels[1].local_memory, kernels[1].private_memory, kernels[1].has_barrier),
        (Some(1024), None, true)
    );
    let args = kernels[1].args.as_ref().unwrap();
    assert_eq!(
        (args[0].name.as_str(), args[0].size, args[1].kind, args[1].size),
        ("a", Some(4), ArgKind::Global, None)
    );
    assert_eq!(pages.decoded_details(), pages_of_it);
    let missing = pack.missing().next().unwrap().unwrap();
    assert_eq!(
        (missing.kind, missing.target, missing.reason),
        (MissingKind::Target, "cubin:sm_90", "ptxas was not found")
    );
}

fn index_of(targets: [&str; 3]) -> Vec<u8> {
    let mut builder = PackBuilder::new("p", "1.0.0");
    for target in targets {
        let frame = codec::encode(target.as_bytes(), Codec::Zstd, 3).unwrap();
        builder.image(image("m", target), frame.info()).unwrap();
    }
    builder.finish().unwrap().index
}

#[test]
fn the_order_of_insertion_does_not_matter() {
    let index = index_of(["host", "spirv64", "intel:pvc"]);
    assert_eq!(index, index_of(["intel:pvc", "host", "spirv64"]));
}

#[test]
fn every_changed_byte_is_noticed_or_harmless() {
    for good in [sample(), sample_with(Index::Plain)] {
        let images = read_all(&good).unwrap();
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                if let Ok(read) = read_all(&bad) {
                    // Only padding between frames may change unseen.
                    assert_eq!(read, images, "byte {at} bit {bit}");
                }
            }
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    let good = [sample(), sample_with(Index::Plain)];
    for (good, size) in good.iter().flat_map(|good| (0..good.len()).map(move |size| (good, size))) {
        assert!(read_all(&good[..size]).is_err(), "cut to {size}");
    }
}

#[test]
fn boundary_values_do_not_panic() {
    for good in [sample(), sample_with(Index::Plain)] {
        set_boundary_values(&good);
    }
}

fn set_boundary_values(good: &[u8]) {
    let payload = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    let values =
        [0, 1, 2, 0x7f, 0xff, 0x7fff_ffff, 0xffff_ffff, 1 << 32, 1 << 62, 1 << 63, u64::MAX - 7, u64::MAX];
    for at in 0..payload - 8 {
        for value in values {
            let mut bad = good.to_vec();
            bad[at..at + 8].copy_from_slice(&value.to_le_bytes());
            // Without the index hash, to get past the first defence.
            let pages = Pages::default();
            if let Ok(pack) = Pack::parse(&bad, &pages) {
                for image in pack.images().take(100).flatten() {
                    let _ = pack.kernels(&image).take(100).count();
                    let _ = codec::decode(&pack, &image);
                }
            }
        }
    }
}

#[test]
fn a_pack_of_a_later_minor_version_is_read() {
    let good = sample_with(Index::Plain);
    let mut pack = with_longer_records(&good);
    assert_eq!(read_all(&pack).unwrap(), read_all(&good).unwrap());
    // A table of an unknown kind in place of the missing images.
    let directory = layout::HEADER_SIZE as usize + 6 * LONGER_ENTRY;
    assert_eq!(pack[directory], layout::TABLE_MISSING as u8);
    pack[directory] = 99;
    let pages = Pages::default();
    let read = Pack::parse(&pack, &pages).unwrap();
    assert_eq!((read.images().count(), read.missing().count()), (3, 0));
    // An unknown codec on the first image only.
    let entry = layout::HEADER_SIZE as usize + 2 * LONGER_ENTRY;
    assert_eq!(pack[entry], layout::TABLE_IMAGES as u8);
    let table = number_at(&pack, entry + 4);
    assert_eq!(u16::from_le_bytes(pack[table + 28..table + 30].try_into().unwrap()), 0);
    pack[table + 28] = 77;
    let pages = Pages::default();
    let read = Pack::parse(&pack, &pages).unwrap();
    let results: Vec<_> = read.images().map(|image| codec::decode(&read, &image.unwrap())).collect();
    let kind = results[0].as_ref().unwrap_err().kind().clone();
    assert_eq!(kind, ErrorKind::Unsupported { what: "codec", value: 77 });
    assert!(results[1].is_ok() && results[2].is_ok());
    // Another major version is refused as such.
    pack[8] = 2;
    let kind = Pack::parse(&pack, &Pages::default()).unwrap_err().kind().clone();
    assert_eq!(kind, ErrorKind::Version { what: "the pack", found: 2 });
}

/// The size of a directory entry in the made-up version 1.1.
const LONGER_ENTRY: usize = layout::DIRECTORY_ENTRY as usize + 8;

/// An offset or a number in the directory.
fn number_at(pack: &[u8], at: usize) -> usize {
    u32::from_le_bytes(pack[at..at + 4].try_into().unwrap()) as usize
}

/// The same pack in a made-up version 1.1, whose records and directory entries have eight more bytes.
fn with_longer_records(pack: &[u8]) -> Vec<u8> {
    let tables = number_at(pack, 32);
    let payload = number_at(pack, 40);
    let start = (layout::HEADER_SIZE as usize + tables * LONGER_ENTRY).next_multiple_of(16);
    let mut directory = Vec::new();
    let mut body = Vec::new();
    for table in 0..tables {
        let entry = layout::HEADER_SIZE as usize + table * layout::DIRECTORY_ENTRY as usize;
        let kind = &pack[entry..entry + 2];
        let size = u16::from_le_bytes(pack[entry + 2..entry + 4].try_into().unwrap()) as usize;
        let records = &pack[number_at(pack, entry + 4)..][..size * number_at(pack, entry + 8)];
        // Texts are bytes, not records.
        let extra = if size == 1 { 0 } else { 8 };
        body.resize(body.len().next_multiple_of(16), 0);
        directory.extend_from_slice(kind);
        directory.extend(((size + extra) as u16).to_le_bytes());
        directory.extend(((start + body.len()) as u32).to_le_bytes());
        directory.extend_from_slice(&pack[entry + 8..entry + 12]);
        directory.extend([0xee; 8]);
        for record in records.chunks(size) {
            body.extend_from_slice(record);
            body.extend(vec![0xee; extra]);
        }
    }
    let mut out = pack[..layout::HEADER_SIZE as usize].to_vec();
    out.extend(directory);
    out.resize(start, 0);
    out.extend(body);
    out.resize(out.len().next_multiple_of(16), 0);
    let index = out.len();
    out.extend_from_slice(&pack[payload..]);
    let size = out.len() as u64;
    out[10..12].copy_from_slice(&(layout::MINOR + 1).to_le_bytes());
    out[16..24].copy_from_slice(&size.to_le_bytes());
    out[36..40].copy_from_slice(&(LONGER_ENTRY as u32).to_le_bytes());
    out[40..48].copy_from_slice(&(index as u64).to_le_bytes());
    let hash = Hash128::digest_parts(&[&out[..48], &out[64..index]]);
    out[48..64].copy_from_slice(&hash.0);
    out
}

/// The pack that tests of other crates read. `OFFLOAD_BLESS` writes it again.
#[test]
fn the_sample_of_other_tests_is_of_this_version() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/sample.pack");
    if std::env::var_os("OFFLOAD_BLESS").is_some() {
        std::fs::write(&path, sample()).unwrap();
    }
    let stored = std::fs::read(&path).unwrap();
    assert_eq!(stored[8..12], sample()[8..12]);
    assert_eq!(read_all(&stored).unwrap(), read_all(&sample()).unwrap());
}

#[test]
fn an_image_tells_the_libraries_that_it_needs_and_what_it_has_for_others() {
    let raw = codec::encode(b"code", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.2.3");
    let imports = Import::list("num=num-device@1.2.0,vec=vec@0.3.1");
    builder.image(NewImage { imports, ..image("blas", "host") }, raw.info()).unwrap();
    let exports = vec!["add".to_string(), "_Z3mulDv4_f".to_string()];
    builder.image(NewImage { exports, ..NewImage::new("num", "host".parse().unwrap()) }, raw.info()).unwrap();
    builder.image(image("plain", "host"), raw.info()).unwrap();
    let bytes = assemble(builder, &[raw]);
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    let [blas, num] = [0, 1].map(|index| {
        let image = pack.image(index).unwrap();
        NewImage::from_image(&pack, &image, "host".parse().unwrap()).unwrap()
    });
    let names: Vec<String> = blas.imports.iter().map(Import::to_string).collect();
    assert_eq!(names, ["num=num-device@1.2.0", "vec=vec@0.3.1"]);
    assert!(blas.exports.is_empty() && num.imports.is_empty());
    assert_eq!(num.exports, ["add", "_Z3mulDv4_f"]);
    let plain = pack.image(2).unwrap();
    assert_eq!((plain.imports, plain.exports), ("", ""));
}

#[test]
fn an_image_tells_its_specialisation_constants() {
    let raw = codec::encode(b"code", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.2.3");
    let spec = SpecConstant::list("SCALE@0:float=1.5,TILE:int=16");
    builder.image(NewImage { spec: spec.clone(), ..image("blas", "spirv64") }, raw.info()).unwrap();
    builder.image(image("plain", "host"), raw.info()).unwrap();
    let bytes = assemble(builder, &[raw]);
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    let found = pack.image(0).unwrap();
    assert_eq!(found.spec, "SCALE@0:float=1.5,TILE:int=16");
    assert_eq!(NewImage::from_image(&pack, &found, "spirv64".parse().unwrap()).unwrap().spec, spec);
    assert_eq!(pack.image(1).unwrap().spec, "");
}

fn kernels(group: Option<[u32; 3]>, names: &[&str], registers: u32) -> Vec<KernelInfo> {
    let mut kernels = Vec::new();
    for name in names {
        let mut info = kernel(name);
        info.registers = Some(registers);
        info.required_work_group = group;
        kernels.push(info);
    }
    kernels
}

/// Registers are no requirement; a name, a count and a work-group are.
#[test]
fn images_with_the_same_requirements_are_known_by_their_records() {
    let group = Some([64, 1, 1]);
    let images = [
        ("cubin:sm_50", kernels(group, &["a", "b"], 1)),
        ("cubin:sm_60", kernels(group, &["a", "b"], 2)),
        ("cubin:sm_70", kernels(group, &["a", "c"], 1)),
        ("cubin:sm_80", kernels(group, &["a"], 1)),
        ("cubin:sm_86", kernels(Some([32, 1, 1]), &["a", "b"], 1)),
        ("cubin:sm_89", kernels(None, &["a", "b"], 1)),
        ("cubin:sm_90", vec![]),
    ];
    let frame = codec::encode(b"code", Codec::Raw, 0).unwrap();
    let mut builder = PackBuilder::new("sample", "1.2.3");
    for (target, kernels) in images {
        builder.image(NewImage { kernels, ..image("m", target) }, frame.info()).unwrap();
    }
    let bytes = assemble(builder, &[frame]);
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    let images: Vec<_> = pack.images().map(Result::unwrap).collect();
    for one in &images {
        let needs: Vec<_> = pack.kernel_needs(one).map(Result::unwrap).collect();
        for other in &images {
            let needs_of_other: Vec<_> = pack.kernel_needs(other).map(Result::unwrap).collect();
            let same = pack.have_same_needs(one, other);
            assert_eq!(same, needs == needs_of_other, "{} {}", one.target_text, other.target_text);
        }
    }
    assert!(pack.have_same_needs(&images[0], &images[1]));
}
