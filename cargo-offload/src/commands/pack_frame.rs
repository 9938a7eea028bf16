//! `pack-frame`: compresses images for a build script of another machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use offload_format::Hash128;
use offload_format::codec::{Codec, Filter};
use offload_format::packer::{self, Content, FrameWork, ImageSource};

use crate::cli;
use crate::error::{Error, ExitStatus, Result};
use crate::files::publish;

pub(super) fn run(args: &cli::PackFrame) -> Result<ExitStatus> {
    let codec = Codec::from_u16(args.codec);
    let own = packer::compressor(codec)?;
    if own != args.compressor {
        let error = format!("this is {own}, which compresses otherwise than {}", args.compressor);
        return Err(
            Error::usage(error).hint("build with the same release of offload-build and cargo-offload")
        );
    }
    let images = Files::read(&args.files)?;
    let count = args.files.len().saturating_sub(args.parents);
    let (own, parents) = images.hashes.split_at_checked(count).unwrap_or_default();
    let content =
        |filter, images: &[Hash128]| Content { filter: Filter::from_u16(filter), images: images.to_vec() };
    let work = FrameWork {
        codec,
        level: args.level,
        content: content(args.filter, own),
        parent: args.parent_filter.map(|filter| content(filter, parents)),
    };
    publish::publish(&args.output, work.encode(&images)?.bytes())?;
    Ok(ExitStatus::Success)
}

/// Images that are files, by their hashes.
struct Files {
    hashes: Vec<Hash128>,
    by_hash: BTreeMap<Hash128, Vec<u8>>,
}

impl Files {
    fn read(paths: &[PathBuf]) -> Result<Files> {
        let mut files = Files { hashes: Vec::new(), by_hash: BTreeMap::new() };
        for path in paths {
            let content = std::fs::read(path).map_err(|error| Error::io("read", path, &error))?;
            let hash = Hash128::digest(&content);
            files.hashes.push(hash);
            files.by_hash.insert(hash, content);
        }
        Ok(files)
    }
}

impl ImageSource for Files {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>> {
        let found = self.by_hash.get(&hash).cloned();
        found.ok_or_else(|| Error::check(format!("no file has the image {hash}")))
    }
}
