//! Every codec and filter through a pack: what is stored comes back, and damage is an error, never a panic or a flood
//! of memory.

use offload_format::codec::{self, Codec, EncodeOptions, Filter, Frame, InBlock, Parent};
use offload_format::pack::{NewImage, Pack, PackBuilder, Pages, layout};
use offload_format::{Error, ErrorKind, Hash128};

/// Bytes that compress a little, the same each time.
fn noise(seed: u64, size: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = Vec::with_capacity(size);
    for _ in 0..size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.push((state % 61) as u8);
    }
    bytes
}

/// A SPIR-V module: header, a type, a constant, a function that adds.
fn spirv(seed: u32) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0200, 0, 100, 0];
    words.extend([4 << 16 | 21, 1, 32, 0]);
    for id in 2..40 {
        words.extend([4 << 16 | 43, 1, id + seed, id]);
        words.extend([5 << 16 | 128, 1, id + 50 + seed, id + seed, id + 1]);
        words.extend([3 << 16 | 62, id, id + seed]);
        words.extend([3 << 16 | 71, id, 44]);
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// A 64-bit ELF file with a symbol table of `count` records between its headers.
fn elf(count: u64) -> Vec<u8> {
    let mut file = vec![0; 64];
    file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    for at in 0..count {
        let fields = [(at * 13) as u32 | 0x12_0000, 0x0007_0000];
        file.extend(fields.into_iter().flat_map(u32::to_le_bytes));
        file.extend([0x1000 + at * 64, 64].into_iter().flat_map(u64::to_le_bytes));
    }
    let headers = file.len() as u64;
    let mut header = [0; 64];
    header[4] = 2;
    header[24..32].copy_from_slice(&64u64.to_le_bytes());
    header[32..40].copy_from_slice(&(count * 24).to_le_bytes());
    header[56..64].copy_from_slice(&24u64.to_le_bytes());
    file.extend([0; 64]);
    file.extend(header);
    file[0x28..0x30].copy_from_slice(&headers.to_le_bytes());
    file[0x3a..0x3e].copy_from_slice(&[64, 0, 2, 0]);
    file
}

struct Made {
    builder: PackBuilder,
    frames: Vec<Frame>,
    images: Vec<(String, Vec<u8>)>,
}

impl Made {
    fn new() -> Made {
        // Tests change records.
        let mut builder = PackBuilder::new("p", "1.0.0");
        builder.plain_index();
        Made { builder, frames: Vec::new(), images: Vec::new() }
    }

    fn add(&mut self, module: &str, image: &[u8], options: &EncodeOptions<'_>) -> Frame {
        let frame = codec::encode_with(image, options).unwrap();
        assert_eq!(frame.info().codec, options.codec, "{module}");
        self.builder.image(NewImage::new(module, "opencl-c".parse().unwrap()), frame.info()).unwrap();
        self.frames.push(frame.clone());
        self.images.push((module.to_string(), image.to_vec()));
        frame
    }

    /// Images in one block, each after `filter`.
    fn block(&mut self, images: &[(&str, Vec<u8>)], filter: Filter) {
        self.block_on(None, images, filter);
    }

    /// The same, of which the content is next to that of a parent; the block's content is given back.
    fn block_on(&mut self, lender: Option<&[u8]>, images: &[(&str, Vec<u8>)], filter: Filter) -> Vec<u8> {
        let content: Vec<u8> = images
            .iter()
            .flat_map(|(_, image)| codec::content_of(image, filter).unwrap().into_owned())
            .collect();
        let parent = lender.map(|content| Parent { hash: Hash128::digest(content), content });
        let codec = if parent.is_some() { Codec::ZstdPrefix } else { Codec::Zstd };
        let frame =
            codec::encode_with(&content, &EncodeOptions { codec, filter: Filter::None, parent, level: 19 })
                .unwrap();
        let info = frame.info();
        self.builder.block(info.into());
        self.frames.push(frame);
        let mut offset = 0;
        for (module, image) in images {
            let alone = codec::encode(image, Codec::Raw, 0).unwrap().info();
            let placed = alone.related(filter, None).in_block(InBlock { hash: info.hash, offset });
            self.builder.image(NewImage::new(module, "opencl-c".parse().unwrap()), placed).unwrap();
            self.images.push((module.to_string(), image.clone()));
            offset += image.len() as u64;
        }
        content
    }

    fn finish(self) -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
        let laid_out = self.builder.finish().unwrap();
        let bytes = laid_out.with_frames(&self.frames).unwrap();
        assert_eq!(bytes.len() as u64, laid_out.size);
        (bytes, self.images)
    }
}

/// The options of an image that needs no other.
fn alone(codec: Codec, filter: Filter) -> EncodeOptions<'static> {
    EncodeOptions { codec, filter, parent: None, level: 19 }
}

fn parent_of(content: &[u8]) -> Option<Parent<'_>> {
    Some(Parent { hash: Hash128::digest(content), content })
}

/// One image of every codec and filter, in every place that an image can have.
fn everything() -> (Vec<u8>, Vec<(String, Vec<u8>)>) {
    let mut made = Made::new();
    let root = noise(1, 700);
    let mut child = root.clone();
    let mut grandchild = root.clone();
    child.splice(100..200, noise(2, 120));
    grandchild.splice(100..300, noise(2, 150));
    let mut patched = grandchild.clone();
    patched[48] ^= 1;
    patched[600] ^= 7;
    made.add("a-root", &root, &alone(Codec::Zstd, Filter::None));
    let prefix = EncodeOptions { parent: parent_of(&root), ..alone(Codec::ZstdPrefix, Filter::None) };
    made.add("b-child", &child, &prefix);
    let prefix = EncodeOptions { parent: parent_of(&child), ..alone(Codec::ZstdPrefix, Filter::None) };
    made.add("c-grandchild", &grandchild, &prefix);
    let patch = EncodeOptions { parent: parent_of(&grandchild), ..alone(Codec::Patch, Filter::None) };
    made.add("d-patched", &patched, &patch);
    made.add("e-raw", b"raw", &alone(Codec::Raw, Filter::None));
    let plain = spirv(0);
    let symbols = elf(40);
    made.add("f-spirv", &plain, &alone(Codec::Zstd, Filter::SpirvIds));
    made.add("g-elf", &symbols, &alone(Codec::Zstd, Filter::ElfSymbols));
    made.block(&[("h-one", spirv(1)), ("i-two", spirv(2)), ("j-three", spirv(3))], Filter::SpirvIds);
    made.block(&[("k-one", noise(5, 200)), ("l-two", noise(5, 190))], Filter::None);
    #[cfg(feature = "archive")]
    {
        let root = noise(9, 500);
        let mut child = root.clone();
        child.splice(100..200, noise(2, 20));
        made.add("m-lzma", &root, &alone(Codec::Lzma, Filter::None));
        let parent = parent_of(&root);
        made.add(
            "n-lzma",
            &child,
            &EncodeOptions { codec: Codec::LzmaPrefix, filter: Filter::None, parent, level: 0 },
        );
    }
    // A parent that lends what its filter made of it.
    let content = codec::content_of(&plain, Filter::SpirvIds).unwrap();
    let parent = Some(Parent { hash: Hash128::digest(&plain), content: &content });
    let filtered = EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::SpirvIds, parent, level: 19 };
    made.add("o-filtered", &spirv(7), &filtered);
    made.finish()
}

fn read_all(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Error> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    pack.images()
        .map(|image| {
            let image = image?;
            codec::check(&pack, &image)?;
            Ok((image.module.to_string(), codec::decode(&pack, &image)?))
        })
        .collect()
}

#[test]
fn everything_comes_back() {
    let (bytes, images) = everything();
    assert_eq!(read_all(&bytes).unwrap(), {
        let mut sorted = images;
        sorted.sort();
        sorted
    });
    let pages = Pages::default();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    assert_eq!(pack.blocks().count(), 2);
    let [child, patched, one] = ["b-child", "d-patched", "h-one"]
        .map(|module| pack.images().map(Result::unwrap).find(|image| image.module == module).unwrap());
    assert!(child.stored_size < 200 && patched.stored_size <= 7, "{}", patched.stored_size);
    assert_eq!(one.stored_size, one.raw_size);
}

#[test]
fn every_flipped_byte_is_refused_or_harmless() {
    let (good, _) = everything();
    let images = read_all(&good).unwrap();
    for at in 0..good.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            // Only padding between frames may change unseen.
            if let Ok(read) = read_all(&bad) {
                assert_eq!(read, images, "byte {at}");
            }
        }
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The index with another value in a field of an image's or block's record, and a right hash again.
fn with_field(good: &[u8], (table, record, field): (u16, u64, u64), value: &[u8]) -> Vec<u8> {
    let mut bad = good.to_vec();
    let directory = (0..u32_at(good, 32) as usize).map(|entry| u64_at(good, 24) as usize + entry * 12);
    let entry = directory.into_iter().find(|entry| u32_at(good, *entry) as u16 == table).unwrap();
    let step = u64::from(u32_at(good, entry) >> 16);
    let at = (u64::from(u32_at(good, entry + 4)) + record * step + field) as usize;
    bad[at..at + value.len()].copy_from_slice(value);
    let payload = u64_at(good, 40) as usize;
    let hash = Hash128::digest_parts(&[&bad[..48], &bad[64..payload]]);
    bad[48..64].copy_from_slice(&hash.0);
    bad
}

fn kind_of(bytes: &[u8], module: &str) -> ErrorKind {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages).unwrap();
    let image = pack.images().map(Result::unwrap).find(|image| image.module == module).unwrap();
    codec::decode(&pack, &image).unwrap_err().kind().clone()
}

fn with_parent(good: &[u8], record: u64, parent: u32) -> Vec<u8> {
    with_field(good, (layout::TABLE_IMAGES, record, 32), &parent.to_le_bytes())
}

#[test]
fn impossible_ancestors_are_refused() {
    let (good, _) = everything();
    // Itself, a cycle of two, a patch, none, one that does not exist, one too many.
    for (bytes, module) in [
        (with_parent(&good, 1, 1), "b-child"),
        (with_parent(&good, 1, 2), "b-child"),
        (with_parent(&good, 2, 3), "c-grandchild"),
        (with_parent(&good, 1, layout::NONE), "b-child"),
        (with_parent(&good, 1, 1000), "b-child"),
        (with_field(&with_parent(&good, 1, 2), (layout::TABLE_IMAGES, 0, 28), &[2, 0]), "d-patched"),
    ] {
        let kind = kind_of(&bytes, module);
        assert!(matches!(kind, ErrorKind::Invalid { .. }), "{module}: {kind:?}");
    }
    // The neighbours are not touched by it.
    let pack_bytes = with_parent(&good, 1, 1);
    let pages = Pages::default();
    let pack = Pack::parse(&pack_bytes, &pages).unwrap();
    assert!(codec::decode(&pack, &pack.image(0).unwrap()).is_ok());
    assert!(codec::check(&pack, &pack.image(1).unwrap()).is_err());
}

#[test]
fn impossible_sizes_take_no_memory() {
    let (good, _) = everything();
    for size in [5u64 << 30, 1 << 40, u64::MAX] {
        for (table, record, field, module) in [
            (layout::TABLE_IMAGES, 0, 56, "a-root"),
            (layout::TABLE_IMAGES, 0, 56, "b-child"),
            (layout::TABLE_BLOCKS, 0, 16, "h-one"),
        ] {
            let kind = kind_of(&with_field(&good, (table, record, field), &size.to_le_bytes()), module);
            assert!(matches!(kind, ErrorKind::TooLarge { .. }), "{module}: {kind:?}");
        }
    }
    // Within the limit, but not what the frame says.
    let bytes = with_field(&good, (layout::TABLE_IMAGES, 0, 56), &(1u64 << 32).to_le_bytes());
    assert!(matches!(kind_of(&bytes, "a-root"), ErrorKind::Damaged { .. }));
}

#[test]
fn offsets_outside_their_block_are_refused() {
    let (good, _) = everything();
    for offset in [1u64 << 20, u64::MAX, u64::MAX - 700] {
        let bytes = with_field(&good, (layout::TABLE_IMAGES, 7, 40), &offset.to_le_bytes());
        assert!(matches!(kind_of(&bytes, "h-one"), ErrorKind::Invalid { .. }));
        let bytes = with_field(&good, (layout::TABLE_BLOCKS, 0, 0), &offset.to_le_bytes());
        let kind = kind_of(&bytes, "h-one");
        assert!(matches!(kind, ErrorKind::Truncated { .. } | ErrorKind::Invalid { .. }), "{kind:?}");
    }
    let bytes = with_field(&good, (layout::TABLE_IMAGES, 7, 36), &9u32.to_le_bytes());
    assert!(matches!(kind_of(&bytes, "h-one"), ErrorKind::Invalid { .. }));
    let bytes = with_field(&good, (layout::TABLE_IMAGES, 7, 28), &[1]);
    assert!(matches!(kind_of(&bytes, "h-one"), ErrorKind::Invalid { .. }));
}

#[test]
fn blocks_build_on_two_others_at_most() {
    let root = noise(1, 700);
    let mut made = Made::new();
    let mut content = None;
    for (module, at) in [("a", 100), ("b", 300), ("c", 500)] {
        let mut image = root.clone();
        image.splice(at..at + 50, noise(at as u64, 60));
        content = Some(made.block_on(content.as_deref(), &[(module, image)], Filter::None));
    }
    let (good, images) = made.finish();
    let pages = Pages::default();
    let pack = Pack::parse(&good, &pages).unwrap();
    assert_eq!(pack.blocks().filter(|block| block.as_ref().unwrap().parent.is_some()).count(), 2);
    assert_eq!(read_all(&good).unwrap(), images);
    // The first one, which has number 0, builds on the last one.
    let codec = 2u16.to_le_bytes();
    let parent = 2u32.to_le_bytes();
    let bytes = with_field(&good, (layout::TABLE_BLOCKS, 0, 24), &codec);
    let bytes = with_field(&bytes, (layout::TABLE_BLOCKS, 0, 28), &parent);
    for module in ["a", "b", "c"] {
        let kind = kind_of(&bytes, module);
        assert!(matches!(kind, ErrorKind::Invalid { what: "the parent of a block", .. }), "{kind:?}");
    }
}

#[test]
fn filters_are_exact_or_refuse() {
    for image in [spirv(0), spirv(1 << 31), elf(2), elf(40)] {
        let filter = Filter::for_image(&image);
        let content = filter.forward(&image).unwrap();
        assert!(content.len() == image.len() && content != image);
        assert_eq!(filter.inverse(content).unwrap(), image);
    }
    // Whatever the words are: an instruction's shape is all that the filter looks at.
    let mut wild = spirv(0);
    for (at, byte) in noise(3, wild.len()).into_iter().enumerate().filter(|(at, _)| at % 4 < 2 && *at > 20) {
        wild[at] = wild[at].wrapping_add(byte);
    }
    let content = Filter::SpirvIds.forward(&wild).unwrap();
    assert_eq!(Filter::SpirvIds.inverse(content).unwrap(), wild);
    for (filter, image) in [
        (Filter::SpirvIds, b"text".to_vec()),
        (Filter::SpirvIds, spirv(0)[..22].to_vec()),
        (Filter::SpirvIds, [&spirv(0)[..20], &[1, 0, 0, 0]].concat()),
        (Filter::ElfSymbols, elf(0)),
        (Filter::ElfSymbols, spirv(0)),
        (Filter::ElfSymbols, elf(9)[..100].to_vec()),
    ] {
        assert_eq!(filter.forward(&image), None);
    }
    // A table over the headers would change what the way back needs.
    let mut overlapping = elf(40);
    let header = overlapping.len() - 64;
    overlapping[header + 24..header + 32].copy_from_slice(&8u64.to_le_bytes());
    assert_eq!(Filter::ElfSymbols.forward(&overlapping), None);
    assert!(Filter::ElfSymbols.inverse(overlapping).is_err());
}

fn append(frame: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Error> {
    frame.extend_from_slice(bytes);
    Ok(())
}

#[test]
fn a_stream_makes_what_a_reader_takes() {
    let image = noise(4, 3 << 20);
    let mut stream = codec::ZstdStream::new(3, image.len() as u64).unwrap();
    let mut frame = Vec::new();
    for chunk in image.chunks(100_001) {
        stream.feed(chunk, &mut |bytes| append(&mut frame, bytes)).unwrap();
    }
    stream.finish(&mut |bytes| append(&mut frame, bytes)).unwrap();
    let info =
        codec::FrameInfo::new(Codec::Zstd, frame.len() as u64, image.len() as u64, Hash128::digest(&image));
    let mut builder = PackBuilder::new("p", "1.0.0");
    builder.image(NewImage::new("m", "host".parse().unwrap()), info).unwrap();
    let mut bytes = builder.finish().unwrap().index;
    bytes.extend(frame);
    assert_eq!(read_all(&bytes).unwrap(), [("m".to_string(), image)]);
}

/// The first image of a pack.
fn decoded(bytes: &[u8], threads: usize) -> Result<Vec<u8>, Error> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    codec::decode_on(&pack, &pack.image(0)?, codec::Threads::new(threads))
}

#[test]
fn a_large_image_is_decoded_in_several_threads() {
    let image = noise(5, 100_000).repeat(170);
    let frame = codec::encode(&image, Codec::Zstd, 3).unwrap();
    assert_eq!(frame.info().codec, Codec::ZstdChunks);
    assert_eq!(codec::encode(&image, Codec::Zstd, 1).unwrap().info().codec, Codec::Zstd);
    let mut builder = PackBuilder::new("p", "1.0.0");
    builder.image(NewImage::new("m", "host".parse().unwrap()), frame.info()).unwrap();
    let mut bytes = builder.finish().unwrap().with_frames([&frame]).unwrap();
    for threads in [1, 2, 5] {
        assert!(decoded(&bytes, threads).unwrap() == image, "{threads}");
    }
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    let at = last - frame.bytes().len() / 8;
    bytes[at] ^= 1;
    for threads in [1, 5] {
        assert!(decoded(&bytes, threads).is_err(), "{threads}");
    }
}

fn frame_behind(parent: &[u8], image: &[u8]) -> Vec<u8> {
    let parent = parent_of(parent);
    let options = EncodeOptions { codec: Codec::ZstdPrefix, filter: Filter::None, parent, level: 3 };
    codec::encode_with(image, &options).unwrap().into_bytes()
}

#[test]
fn frames_do_not_depend_on_where_the_prefix_lies() {
    let both = [noise(1, 50_000), noise(1, 50_000)].concat();
    let (parent, image) = both.split_at(50_000);
    let far_parent = parent.to_vec();
    let far_image = image.to_vec();
    assert_eq!(frame_behind(parent, image), frame_behind(&far_parent, &far_image));
}

#[test]
#[cfg(not(feature = "archive"))]
fn archives_name_the_feature() {
    let (good, _) = everything();
    let kind = kind_of(&with_field(&good, (layout::TABLE_IMAGES, 0, 28), &[4, 0]), "a-root");
    assert!(matches!(kind, ErrorKind::Feature { feature: "archive", .. }), "{kind:?}");
    assert!(Error::from(kind).to_string().contains("the feature `archive` of the crate `offload-rt`"));
}
