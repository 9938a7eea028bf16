//! Byte layout of the pack. All integers are little-endian.
//!
//! Header, 64 bytes:
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | `[u8; 8]` | magic [`MAGIC`] |
//! | 8 | u16 | major version [`MAJOR`]: a reader refuses others |
//! | 10 | u16 | minor version [`MINOR`]: a reader ignores it |
//! | 12 | u32 | size of this header |
//! | 16 | u64 | size of the whole pack |
//! | 24 | u64 | offset of the table directory |
//! | 32 | u32 | tables in the directory |
//! | 36 | u32 | size of a directory entry |
//! | 40 | u64 | offset of the payload, which is the end of the index |
//! | 48 | `[u8; 16]` | hash of the index: bytes 0 to 48, then 64 to the payload |
//!
//! Directory entry, 12 bytes: u16 kind, u16 record size, u32 offset, u32 record count. A reader skips unknown kinds and
//! steps by the recorded sizes of records and entries, so that both can grow at their end.
//! A text is a pair of u32: offset and size within the string table.

/// First bytes of a pack.
pub const MAGIC: [u8; 8] = *b"OFLDPACK";
/// Readers refuse another major version.
pub const MAJOR: u16 = 1;
/// Grows with additions that earlier readers may ignore.
pub const MINOR: u16 = 0;
/// Size of the header.
pub const HEADER_SIZE: u64 = 64;
/// Offset in the header of the directory's offset, number of entries and size of an entry.
pub const DIRECTORY: u64 = 24;
/// Offset in the header of the hash of the index.
pub const HASH_OFFSET: u64 = 48;
/// Size of a directory entry.
pub const DIRECTORY_ENTRY: u64 = 12;
/// Alignment of tables and frames.
pub const ALIGN: u64 = 16;
/// "No such record" in a u32 reference.
pub const NONE: u32 = u32::MAX;
/// "Not known" in a u64 quantity.
pub const UNKNOWN: u64 = u64::MAX;

/// Table of UTF-8 bytes; its records are single bytes.
pub const TABLE_STRINGS: u16 = 1;
/// Table of key and value texts about the pack: `package`, `version`.
pub const TABLE_META: u16 = 2;
/// Table of images, sorted by module, variant, target.
pub const TABLE_IMAGES: u16 = 3;
/// Table of kernels, with what the selection of an image needs; an image names a range of it.
pub const TABLE_KERNELS: u16 = 4;
/// Table of kernel arguments; the details of a kernel name a range of it.
pub const TABLE_ARGS: u16 = 5;
/// Table of blocks: frames that hold several small images.
pub const TABLE_BLOCKS: u16 = 6;
/// Table of missing images, with reasons.
pub const TABLE_MISSING: u16 = 7;
/// Table of pages: compressed parts of the index, in place of the tables of images, kernels and arguments.
pub const TABLE_PAGES: u16 = 8;
/// Table of parents in other packs with the same payload. Its records are those of images without module and target;
/// their numbers follow those of the pack's own images.
pub const TABLE_PARENTS: u16 = 9;
/// Table of the details of kernels: arguments and resources. An image names the first of as many as it has kernels.
pub const TABLE_DETAILS: u16 = 10;

/// Size of a metadata record: key text, value text.
pub const META_RECORD: u64 = 16;
/// Size of an image record.
pub const IMAGE_RECORD: u64 = 132;
/// Offset in an image record of the fields from the codec to the hash.
pub const IMAGE_STORED: u64 = 28;
/// Size of a kernel record: name text, 3 u32 required work-group size, u32 sub-group size.
pub const KERNEL_RECORD: u64 = 24;
/// Size of a record of a kernel's details.
pub const DETAILS_RECORD: u64 = 64;
/// Size of an argument record.
pub const ARG_RECORD: u64 = 32;
/// Size of a block record: u64 offset, u64 stored size, u64 raw size, u16 codec, u16 filter, u32 parent block,
/// `[u8; 16]` hash of the raw bytes.
pub const BLOCK_RECORD: u64 = 48;
/// Size of a record of the missing table: u32 kind, u32 zero, module text, target text, reason text.
pub const MISSING_RECORD: u64 = 32;
/// Size of a page record: u64 offset of its frame from the payload, u64 base of the offsets of frames in it, u32 stored
/// size, u32 raw size, u32 number of its first image, u32 number of images, text: module of the first image, text: module
/// of the last image, u16 codec, u16 codec of the details, u32 stored size and u32 raw size of the details, `[u8; 16]` hash
/// of the frame, `[u8; 16]` hash of the details' frame, which follows.
pub const PAGE_RECORD: u64 = 92;
/// Size of the header of a page: u64 offset of its directory, u32 entries, u32 size of an entry.
pub const PAGE_HEAD: u64 = 16;

/// The kernel calls `barrier`.
pub const KERNEL_HAS_BARRIER: u32 = 1;
/// The kernel's arguments are unknown; without this flag a kernel without argument records has none.
pub const KERNEL_ARGS_UNKNOWN: u32 = 2;
/// The argument is a pointer to what the source declares `const`.
pub const ARG_IS_CONST: u16 = 1;
