//! The table of contents. Nothing is allocated for an untrusted count, so that memory stays in proportion to the file.

use offload_format::limits::push;
use offload_format::{Error, ErrorKind, Limits};
use offload_images::msgpack::{Reader, set};

use super::code_object::{CodeObject, Compression};

pub(super) const WHAT: &str = "the table of contents of the kpack";

#[derive(Debug, Default)]
pub(super) struct Contents<'a> {
    pub(super) group_name: &'a str,
    pub(super) gfx_arch_family: &'a str,
    pub(super) compression_scheme: &'a str,
    pub(super) blobs: Vec<Blob>,
    pub(super) zstd_offset: u64,
    pub(super) zstd_size: u64,
    /// Still without their bytes.
    pub(super) code_objects: Vec<CodeObject<'a>>,
}

/// The range of a stored code object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blob {
    pub(super) offset: u64,
    pub(super) size: u64,
}

pub(super) fn read<'a>(table: &'a [u8], limits: &Limits) -> Result<Contents<'a>, Error> {
    let contents = Contents::read(table).ok_or(ErrorKind::Text { what: WHAT, offset: 0 })?;
    limits.records(WHAT, contents.code_objects.len() as u64)?;
    Ok(contents)
}

impl<'a> Contents<'a> {
    fn read(table: &'a [u8]) -> Option<Contents<'a>> {
        let mut group_name = None;
        let mut family = None;
        let mut scheme = None;
        let mut zstd_offset = None;
        let mut zstd_size = None;
        let mut blobs = None;
        let mut toc = None;
        Reader::new(table).map(|key, value| match key {
            "group_name" => set(&mut group_name, Some(value.text()?)),
            "gfx_arch_family" => set(&mut family, Some(value.text()?)),
            "compression_scheme" => set(&mut scheme, Some(value.text()?)),
            "blobs" => set(&mut blobs, Some(Blob::list(value)?)),
            "zstd_offset" => set(&mut zstd_offset, Some(value.number()?)),
            "zstd_size" => set(&mut zstd_size, Some(value.number()?)),
            "toc" => set(&mut toc, Some(programs(value)?)),
            _ => value.skip(),
        })?;
        Some(Contents {
            group_name: group_name.unwrap_or_default(),
            gfx_arch_family: family.unwrap_or_default(),
            compression_scheme: scheme?,
            blobs: blobs.unwrap_or_default(),
            zstd_offset: zstd_offset.unwrap_or_default(),
            zstd_size: zstd_size.unwrap_or_default(),
            code_objects: toc?,
        })
    }
}

impl Blob {
    fn list(value: &mut Reader<'_>) -> Option<Vec<Blob>> {
        let mut blobs = Vec::new();
        value.list(|blob| {
            push(&mut blobs, Blob::read(blob)?);
            Some(())
        })?;
        Some(blobs)
    }

    fn read(value: &mut Reader<'_>) -> Option<Blob> {
        let mut offset = None;
        let mut size = None;
        value.map(|key, value| match key {
            "offset" => set(&mut offset, Some(value.number()?)),
            "size" => set(&mut size, Some(value.number()?)),
            _ => value.skip(),
        })?;
        Some(Blob { offset: offset?, size: size? })
    }
}

/// The code objects of all programs and target IDs.
fn programs<'a>(value: &mut Reader<'a>) -> Option<Vec<CodeObject<'a>>> {
    let mut code_objects = Vec::new();
    value.map(|key, targets| {
        let program = Program::read(key)?;
        targets.map(|target_id, record| {
            push(&mut code_objects, program.code_object(target_id, record)?);
            Some(())
        })
    })?;
    Some(code_objects)
}

/// A key of the table.
#[derive(Clone, Copy, Debug)]
struct Program<'a> {
    binary: &'a str,
    index: Option<u32>,
}

impl<'a> Program<'a> {
    fn read(key: &'a str) -> Option<Program<'a>> {
        Some(match key.rsplit_once('#') {
            Some((binary, index)) => Program { binary, index: Some(index.parse().ok()?) },
            None => Program { binary: key, index: None },
        })
    }

    /// Reads the record of the program's code object for `target_id`.
    fn code_object(self, target_id: &'a str, record: &mut Reader<'a>) -> Option<CodeObject<'a>> {
        let Program { binary, index } = self;
        let mut kind = None;
        let mut ordinal = None;
        let mut raw_size = None;
        record.map(|key, value| match key {
            "type" => set(&mut kind, Some(value.text()?)),
            "ordinal" => set(&mut ordinal, Some(value.number()?)),
            "original_size" => set(&mut raw_size, Some(value.number()?)),
            _ => value.skip(),
        })?;
        Some(CodeObject {
            binary,
            index,
            target_id,
            kind: kind?,
            ordinal: ordinal?,
            raw_size: raw_size?,
            stored: &[],
            compression: Compression::None,
        })
    }
}
