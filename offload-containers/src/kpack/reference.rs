//! A program's reference to the kpacks with its code objects.

use offload_format::limits::push;
use offload_format::{Error, ErrorKind, Limits};
use offload_images::msgpack::{Reader, set};

/// The number of bytes that AMD's loader reads.
const MAX_SIZE: usize = 64 << 10;
const WHAT: &str = "the kpack reference";

/// The content of the section `.rocm_kpack_ref`, to which each wrapper of a program points.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reference<'a> {
    /// The program's key in the kpacks, without the `#` and index of the wrapper.
    pub kernel_name: &'a str,
    /// The paths of the kpacks, relative to the program's directory; `@GFXARCH@` stands for a target ID. Never opened here.
    pub search_paths: Vec<&'a str>,
}

/// Reads the reference at the start of `input`; bytes behind it are ignored.
///
/// # Errors
/// [`ErrorKind::Text`] if it is malformed, or longer than 64 KiB; [`ErrorKind::TooMany`] for more paths than
/// [`Limits::entries`].
pub fn reference<'a>(input: &'a [u8], limits: &Limits) -> Result<Reference<'a>, Error> {
    let reference = Reference::read(input.get(..MAX_SIZE).unwrap_or(input));
    let reference = reference.ok_or(ErrorKind::Text { what: WHAT, offset: 0 })?;
    limits.records(WHAT, reference.search_paths.len() as u64)?;
    Ok(reference)
}

impl<'a> Reference<'a> {
    fn read(input: &'a [u8]) -> Option<Reference<'a>> {
        let mut kernel_name = None;
        let mut search_paths = None;
        Reader::new(input).map(|key, value| match key {
            "kernel_name" => set(&mut kernel_name, Some(value.text()?)),
            "kpack_search_paths" => set(&mut search_paths, Some(texts(value)?)),
            _ => value.skip(),
        })?;
        Some(Reference { kernel_name: kernel_name?, search_paths: search_paths? })
    }
}

fn texts<'a>(value: &mut Reader<'a>) -> Option<Vec<&'a str>> {
    let mut texts = Vec::new();
    value.list(|text| {
        push(&mut texts, text.text()?);
        Some(())
    })?;
    Some(texts)
}
