//! Packs record by record: the writer of `offload-format` makes no bombs.

use offload_format::Hash128;
use offload_format::pack::layout::{
    ARG_RECORD, BLOCK_RECORD, DETAILS_RECORD, DIRECTORY_ENTRY, HASH_OFFSET, HEADER_SIZE, IMAGE_RECORD,
    KERNEL_RECORD, MAGIC, MAJOR, META_RECORD, MINOR, MISSING_RECORD, NONE, PAGE_RECORD, TABLE_ARGS,
    TABLE_BLOCKS, TABLE_DETAILS, TABLE_IMAGES, TABLE_KERNELS, TABLE_META, TABLE_MISSING, TABLE_PAGES,
    TABLE_STRINGS,
};

/// A reference to a text.
#[derive(Clone, Copy)]
pub(crate) struct Text(u32, u32);

/// The tables of a pack and its payload.
#[derive(Default)]
pub(crate) struct RawPack {
    texts: Vec<u8>,
    meta: Vec<u8>,
    images: Vec<u8>,
    kernels: Vec<u8>,
    details: Vec<u8>,
    args: Vec<u8>,
    blocks: Vec<u8>,
    missing: Vec<u8>,
    pages: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// What an image's record says; the rest is nothing.
#[derive(Clone, Copy)]
pub(crate) struct RawImage {
    pub(crate) module: Text,
    pub(crate) target: Text,
    pub(crate) codec: u16,
    pub(crate) parent: u32,
    pub(crate) block: u32,
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
    pub(crate) kernels: u32,
}

/// A frame in the payload.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) offset: u64,
    pub(crate) stored: u64,
    pub(crate) raw: u64,
}

impl RawPack {
    pub(crate) fn text(&mut self, text: &str) -> Text {
        let start = self.texts.len() as u32;
        self.texts.extend_from_slice(text.as_bytes());
        Text(start, text.len() as u32)
    }

    pub(crate) fn frame(&mut self, bytes: &[u8], raw: u64) -> Frame {
        self.payload.resize(self.payload.len().next_multiple_of(16), 0);
        let offset = self.payload.len() as u64;
        self.payload.extend_from_slice(bytes);
        Frame { offset, stored: bytes.len() as u64, raw }
    }

    pub(crate) fn meta(&mut self, key: Text, value: Text) {
        push(&mut self.meta, META_RECORD, &[&words(&[key.0, key.1, value.0, value.1])]);
    }

    pub(crate) fn image(&mut self, image: RawImage) {
        let number = self.images.len() as u128;
        let RawImage { module, target, .. } = image;
        push(
            &mut self.images,
            IMAGE_RECORD,
            &[
                &words(&[module.0, module.1, 0, 0, target.0, target.1, 3, u32::from(image.codec)]),
                &words(&[image.parent, image.block]),
                &longs(&[image.offset, image.stored, image.raw]),
                &number.to_le_bytes(),
                &words(&[0, image.kernels]),
            ],
        );
    }

    pub(crate) fn kernel(&mut self, name: Text, args: u32) {
        push(&mut self.kernels, KERNEL_RECORD, &[&words(&[name.0, name.1])]);
        push(&mut self.details, DETAILS_RECORD, &[&words(&[0, args])]);
    }

    pub(crate) fn arg(&mut self, name: Text) {
        push(&mut self.args, ARG_RECORD, &[&words(&[name.0, name.1, name.0, name.1])]);
    }

    pub(crate) fn block(&mut self, frame: Frame, codec: u16) {
        let codec = words(&[u32::from(codec), NONE]);
        push(&mut self.blocks, BLOCK_RECORD, &[&longs(&[frame.offset, frame.stored, frame.raw]), &codec]);
    }

    pub(crate) fn missing(&mut self, module: Text, target: Text, reason: Text) {
        let texts = words(&[module.0, module.1, target.0, target.1, reason.0, reason.1]);
        push(&mut self.missing, MISSING_RECORD, &[&words(&[1, 0]), &texts]);
    }

    /// A page with a frame of images and no details.
    pub(crate) fn page(&mut self, frame: Frame, codec: u16, hash: Hash128) {
        let sizes = words(&[frame.stored as u32, frame.raw as u32, 0, 0, 0, 0, 0, 0, u32::from(codec), 0, 0]);
        push(&mut self.pages, PAGE_RECORD, &[&longs(&[frame.offset, 0]), &sizes, &hash.0]);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let tables: [(u16, u64, &[u8]); 9] = [
            (TABLE_STRINGS, 1, &self.texts),
            (TABLE_META, META_RECORD, &self.meta),
            (TABLE_IMAGES, IMAGE_RECORD, &self.images),
            (TABLE_KERNELS, KERNEL_RECORD, &self.kernels),
            (TABLE_DETAILS, DETAILS_RECORD, &self.details),
            (TABLE_ARGS, ARG_RECORD, &self.args),
            (TABLE_BLOCKS, BLOCK_RECORD, &self.blocks),
            (TABLE_MISSING, MISSING_RECORD, &self.missing),
            (TABLE_PAGES, PAGE_RECORD, &self.pages),
        ];
        let mut at = HEADER_SIZE + DIRECTORY_ENTRY * tables.len() as u64;
        let mut directory = Vec::new();
        let mut body = Vec::new();
        for (kind, record, bytes) in tables {
            directory.extend(kind.to_le_bytes());
            directory.extend((record as u16).to_le_bytes());
            directory.extend(words(&[at as u32, (bytes.len() as u64 / record) as u32]));
            body.extend_from_slice(bytes);
            body.resize(body.len().next_multiple_of(16), 0);
            at = HEADER_SIZE + DIRECTORY_ENTRY * tables.len() as u64 + body.len() as u64;
        }
        let mut head = MAGIC.to_vec();
        head.extend(MAJOR.to_le_bytes());
        head.extend(MINOR.to_le_bytes());
        head.extend(words(&[HEADER_SIZE as u32]));
        head.extend(longs(&[at + self.payload.len() as u64, HEADER_SIZE]));
        head.extend(words(&[tables.len() as u32, DIRECTORY_ENTRY as u32]));
        head.extend(longs(&[at]));
        assert_eq!(head.len() as u64, HASH_OFFSET);
        let rest = [directory, body].concat();
        let hash = Hash128::digest_parts(&[&head, &rest]);
        [head, hash.0.to_vec(), rest, self.payload].concat()
    }
}

fn push(table: &mut Vec<u8>, size: u64, fields: &[&[u8]]) {
    let end = table.len() + size as usize;
    fields.iter().for_each(|field| table.extend_from_slice(field));
    assert!(table.len() <= end, "a record of {size} bytes");
    table.resize(end, 0);
}

pub(crate) fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn longs(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A zstd frame of `size` zeros: four bytes for each 128 KiB of them.
pub(crate) fn zeros(size: u64) -> Vec<u8> {
    padded(&[], size)
}

/// A zstd frame of `start`, which is short, and zeros up to `size` (RFC 8878, section 3.1.1).
pub(crate) fn padded(start: &[u8], size: u64) -> Vec<u8> {
    const BLOCK: u64 = 128 << 10;
    const RUN: u32 = 1 << 1;
    // A content size of eight bytes, and a window of 8 MiB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x68];
    frame.extend(size.to_le_bytes());
    if !start.is_empty() {
        frame.extend_from_slice(&((start.len() as u32) << 3).to_le_bytes()[..3]);
        frame.extend_from_slice(start);
    }
    let mut left = size - start.len() as u64;
    while left > 0 {
        let block = left.min(BLOCK);
        left -= block;
        let header = (block as u32) << 3 | RUN | u32::from(left == 0);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}
