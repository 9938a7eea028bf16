//! Sections, notes and descriptors by which a linked program refers to its packs.
//!
//! Each crate with kernels adds one object to the link:
//!
//! | section | content |
//! |---|---|
//! | [`NOTE_SECTION`] | an ELF note that holds the object together and is found without section headers |
//! | [`TABLE_SECTION`] | one [`Descriptor`]; the linker concatenates those of all crates |
//! | [`PACK_SECTION`] | the pack |
//!
//! Linkers keep notes. The note refers to the descriptor and the descriptor to the pack, so that none of them is
//! garbage-collected. Every reference is PC-relative: there are no dynamic relocations.
//!
//! ```
//! use offload_format::section::{Descriptor, ParsedDescriptor};
//!
//! let mut descriptor = Descriptor::new(100, Default::default(), 0);
//! descriptor.pack = 4096;
//! let bytes = descriptor.encode();
//! let ParsedDescriptor { descriptor, size, .. } = Descriptor::parse(&bytes)?;
//! assert_eq!((descriptor.unwrap().pack, size), (4096, 64));
//! # Ok::<(), offload_format::Error>(())
//! ```

use crate::{Error, ErrorKind, bytes};

/// The note's section.
pub const NOTE_SECTION: &str = ".note.offload";
/// The table's section: a C identifier, so that linkers define `__start_` and `__stop_` symbols for it.
pub const TABLE_SECTION: &str = "offload_tab";
/// The pack's section on x86-64: large data lies out of the way of 32-bit references.
pub const PACK_SECTION_X86_64: &str = ".lrodata.offload";
/// The pack's section elsewhere.
pub const PACK_SECTION: &str = "offload_img";
/// `SHF_X86_64_LARGE` (x86-64 psABI, section "Special Sections").
pub const SHF_X86_64_LARGE: u64 = 0x1000_0000;
/// The section of PE programs with the descriptors of all crates, and behind them the packs. Its parts in objects are
/// sorted by what follows the dollar sign: `.offload$a` and `.offload$b`.
pub const PE_SECTION: &str = ".offload";
/// The section of Mach-O programs with the descriptors of all crates, in the segment `__DATA`.
pub const MACH_O_TABLE: &str = "__offload_tab";
/// The segment of Mach-O programs with the packs, which are its only section.
pub const MACH_O_SEGMENT: &str = "__OFFLOAD";
/// The note's owner.
pub const NOTE_OWNER: [u8; 8] = *b"OFFLOAD\0";
/// The note's type.
pub const NOTE_TYPE: u32 = 1;
/// Size of the note's description.
pub const NOTE_DESC_SIZE: u32 = 40;
/// Size of the note.
pub const NOTE_SIZE: u64 = 60;
/// Offset in the note of the i64 difference to the descriptor, counted from that field.
pub const NOTE_DESCRIPTOR: u64 = 28;
/// Offset in the note of the i64 difference to the ELF header, counted from that field.
pub const NOTE_EHDR: u64 = 36;
/// Offset in the note of 16 bytes that identify the crate's pack.
pub const NOTE_ID: u64 = 44;

/// Symbol prefix of kernel entry points in images for `host`.
pub const RUN_PREFIX: &str = "__offload_run_";

/// The sub-group sizes, in work-items, that a kernel for `host` may require; the last is the default.
pub const HOST_SUB_GROUP_SIZES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// Name prefix of the SPIR-V kernel that reads failed assertions; the name of another kernel of the module follows, because
/// modules that define the same kernel cannot be linked. It copies a record of 256 words and writes to one argument.
pub const READS_FAILURES_PREFIX: &str = "__offload_failures_of_";
/// Symbol prefix of the functions that a device library for `host` exports.
pub const EXPORT_PREFIX: &str = "__offload_export_";
/// Symbol prefix of the pointers through which an image for `host` calls imported functions.
pub const IMPORT_PREFIX: &str = "__offload_import_";
/// Symbol of the table of imported functions: their names as C strings, then a null pointer.
pub const IMPORTS: &str = "__offload_imports";

/// First bytes of a descriptor.
pub const DESCRIPTOR_MAGIC: [u8; 8] = *b"OFLDDESC";
/// Version of the descriptor that this release writes.
pub const DESCRIPTOR_VERSION: u16 = 1;
/// Size of that descriptor.
pub const DESCRIPTOR_SIZE: u64 = 64;
/// Offset in the descriptor of its flags.
pub const DESCRIPTOR_FLAGS: u64 = 14;
/// Offset in the descriptor of the i64 difference to the pack, counted from that field.
pub const DESCRIPTOR_PACK: u64 = 16;

/// Offset in the descriptor of what is zero up to its end.
pub const DESCRIPTOR_RESERVED: u64 = 48;

/// Flag of a descriptor whose pack has no images and names the sidecars that have them; see
/// [`Sidecar`](crate::pack::Sidecar).
pub const DESCRIPTOR_SIDECARS: u16 = 1;

/// Flag of a descriptor whose field [`DESCRIPTOR_PACK`] is the address of the pack, which the loader relocates: COFF has no
/// differences of 64 bits. In the file it is the address in memory at the preferred base of the program.
pub const DESCRIPTOR_ADDRESS: u16 = 2;

/// A crate's entry in the table.
///
/// | offset | type | field |
/// |---|---|---|
/// | 0 | `[u8; 8]` | [`DESCRIPTOR_MAGIC`] |
/// | 8 | u32 | size of this descriptor; a reader steps by it |
/// | 12 | u16 | version; a reader skips those it does not know |
/// | 14 | u16 | flags: [`DESCRIPTOR_SIDECARS`], [`DESCRIPTOR_ADDRESS`] |
/// | 16 | i64 | where the pack starts, counted from this field; its address with [`DESCRIPTOR_ADDRESS`] |
/// | 24 | u64 | size of the pack |
/// | 32 | `[u8; 16]` | identity of the pack: the hash of its index |
/// | 48 | `[u8; 16]` | zero |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Descriptor {
    /// Where the pack starts, in bytes from the descriptor's field [`DESCRIPTOR_PACK`]; with [`DESCRIPTOR_ADDRESS`] its address.
    pub pack: i64,
    /// Size of the pack in bytes.
    pub pack_size: u64,
    /// Hash of the pack's index.
    pub id: [u8; 16],
    /// [`DESCRIPTOR_SIDECARS`] and [`DESCRIPTOR_ADDRESS`], or zero.
    pub flags: u16,
}

/// What [`Descriptor::parse`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedDescriptor {
    /// `None` if its version is of a later release.
    pub descriptor: Option<Descriptor>,
    /// Bytes to the next one.
    pub size: u64,
}

impl Descriptor {
    /// A descriptor of the pack with the identity `id`; [`Descriptor::pack`] is zero, for a linker to fill in.
    pub fn new(pack_size: u64, id: [u8; 16], flags: u16) -> Descriptor {
        Descriptor { pack: 0, pack_size, id, flags }
    }

    /// The bytes of the descriptor; a relocation fills in [`Descriptor::pack`] where it is not known yet.
    pub fn encode(&self) -> [u8; DESCRIPTOR_SIZE as usize] {
        let mut out = [0; DESCRIPTOR_SIZE as usize];
        let size = (DESCRIPTOR_SIZE as u32).to_le_bytes();
        let version = DESCRIPTOR_VERSION.to_le_bytes();
        let flags = self.flags.to_le_bytes();
        let pack = self.pack.to_le_bytes();
        let pack_size = self.pack_size.to_le_bytes();
        let fields: [&[u8]; 7] = [&DESCRIPTOR_MAGIC, &size, &version, &flags, &pack, &pack_size, &self.id];
        for (slot, byte) in out.iter_mut().zip(fields.concat()) {
            *slot = byte;
        }
        out
    }

    /// Reads the descriptor at the start of `table`.
    ///
    /// # Errors
    /// [`ErrorKind::Magic`], [`ErrorKind::Truncated`], or [`ErrorKind::Invalid`] for an impossible size.
    pub fn parse(table: &[u8]) -> Result<ParsedDescriptor, Error> {
        const WHAT: &str = "the descriptor";
        if bytes::array(table, 0, WHAT)? != DESCRIPTOR_MAGIC {
            return Err(ErrorKind::Magic { what: "a descriptor of a pack" }.into());
        }
        let size = u64::from(bytes::u32_at(table, 8, WHAT)?);
        if size < DESCRIPTOR_SIZE || size % 8 != 0 {
            return Err(Error::invalid("the size of a descriptor", size));
        }
        bytes::range(table, 0, size, WHAT)?;
        let descriptor = Descriptor {
            flags: bytes::u16_at(table, DESCRIPTOR_FLAGS, WHAT)?,
            pack: bytes::i64_at(table, DESCRIPTOR_PACK, WHAT)?,
            pack_size: bytes::u64_at(table, 24, WHAT)?,
            id: bytes::array(table, 32, WHAT)?,
        };
        let known = bytes::u16_at(table, 12, WHAT)? == DESCRIPTOR_VERSION;
        Ok(ParsedDescriptor { descriptor: known.then_some(descriptor), size })
    }
}

/// The note of a crate; the linker fills in the two differences.
pub fn note(id: [u8; 16]) -> [u8; NOTE_SIZE as usize] {
    let mut out = [0; NOTE_SIZE as usize];
    let header = note_header();
    let version = u32::from(DESCRIPTOR_VERSION).to_le_bytes();
    let fields: [&[u8]; 4] = [&header, &version, &[0; 20], &id];
    for (slot, byte) in out.iter_mut().zip(fields.concat()) {
        *slot = byte;
    }
    out
}

/// The first 20 bytes of every note, for which a reader searches.
pub fn note_header() -> [u8; 20] {
    let mut out = [0; 20];
    let fields: [&[u8]; 4] =
        [&8u32.to_le_bytes(), &NOTE_DESC_SIZE.to_le_bytes(), &NOTE_TYPE.to_le_bytes(), &NOTE_OWNER];
    for (slot, byte) in out.iter_mut().zip(fields.concat()) {
        *slot = byte;
    }
    out
}

/// The references of a note, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoteFields {
    /// Where the descriptor is.
    pub descriptor: i64,
    /// Where the ELF header is.
    pub elf_header: i64,
}

/// Reads a note; `None` if it has another owner or type.
pub fn parse_note(note: &[u8]) -> Option<NoteFields> {
    if bytes::array::<20>(note, 0, "note").ok()? != note_header() {
        return None;
    }
    Some(NoteFields {
        descriptor: note_reference(note, NOTE_DESCRIPTOR)?,
        elf_header: note_reference(note, NOTE_EHDR)?,
    })
}

/// The target of the relative reference at `offset`.
fn note_reference(note: &[u8], offset: u64) -> Option<i64> {
    let difference = bytes::i64_at(note, offset, "note").ok()?;
    difference.checked_add_unsigned(offset)
}
