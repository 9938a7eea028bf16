//! Moving images back into the program, from the files beside it.

use std::collections::BTreeMap;
use std::path::Path;

use offload_format::pack::{Elsewhere, Pack};
use offload_format::section::DESCRIPTOR_ELSEWHERE;

use super::Repacked;
use crate::carrier::FoundPack;
use crate::error::{Error, Result};
use crate::output::escaped;
use crate::program::{self, Program};
use crate::rewrite::NewPack;
use crate::thin::{self, About, NewBytes};

pub(super) fn repack(program: &Program) -> Result<Repacked> {
    let beside = open_files(program)?;
    if beside.is_empty() {
        let text = format!("the images of `{}` are in it already", program.path().display());
        return Err(Error::usage(text));
    }
    let mut packs = Vec::new();
    for (found, pack, place) in program.places()? {
        let there = elsewhere(&pack)?;
        let bytes = match there.is_empty() {
            true => thin::copy(&program.source(found, &pack))?,
            false => gather(&pack, &there, &beside)?,
        };
        packs.push(NewPack { flags: place.descriptor.flags & !DESCRIPTOR_ELSEWHERE, place, bytes });
    }
    Ok(Repacked { packs, files: Vec::new() })
}

fn elsewhere(pack: &Pack<'_>) -> Result<Vec<Elsewhere>> {
    pack.elsewhere().collect::<std::result::Result<_, _>>().map_err(|error| Error::check(error.to_string()))
}

/// The files that the program's packs name, by name.
fn open_files(program: &Program) -> Result<BTreeMap<String, Program>> {
    let directory = program.path().parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    for (_, pack) in program.packs() {
        for there in elsewhere(&pack)? {
            if !files.contains_key(there.file()) {
                files.insert(there.file().to_string(), Program::open(&directory.join(there.file()))?);
            }
        }
    }
    Ok(files)
}

/// The pack whose images lie in the packs `there`.
fn gather(pack: &Pack<'_>, there: &[Elsewhere], beside: &BTreeMap<String, Program>) -> Result<NewBytes> {
    let mut parts: Vec<(&Program, &FoundPack, Pack<'_>)> = Vec::new();
    for place in there {
        let file = beside.get(place.file());
        let found = file.and_then(|file| {
            let mut packs = file.packs();
            let (found, pack) = packs.find(|(_, pack)| pack.id().is_ok_and(|id| id == place.id()))?;
            Some((file, found, pack))
        });
        parts.push(found.ok_or_else(|| {
            let text = format!("`{}` is of another build of the program", escaped(place.file()));
            Error::check(text).hint("put the file beside the program that was written with it")
        })?);
    }
    let about = About::of(pack)?;
    if let [(file, found, pack)] = parts.as_slice() {
        // It was moved as it is, and comes back as it is.
        if About::of(pack)? == about {
            return thin::copy(&file.source(found, pack));
        }
    }
    let mut kept = Vec::new();
    for (file, found, pack) in &parts {
        kept.push((file.source(found, pack), program::images(pack)?));
    }
    thin::rebuild(&about, &kept)
}
