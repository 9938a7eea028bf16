//! Relocation of a program's images into the program, into sidecars, or into a merged pack.
//!
//! `prune` and `repack` select the images and the layout; this module carries them out.

mod cleanup;
pub(crate) mod location;
pub(crate) mod publish;
mod sidecar_name;

use std::collections::{BTreeMap, BTreeSet};

use offload_format::Hash128;
use offload_format::pack::{self, Image, MissingKind};
use offload_format::section::DESCRIPTOR_SIDECARS;

use self::location::{FileNames, Location, Placement};
use self::publish::{NewFiles, NewProgram, NewSidecar};
use crate::change::repack::pack::{NewPack, PackContent, Storage};
use crate::change::repack::repack;
use crate::change::rewrite::Replacement;
use crate::error::{Error, Result};
use crate::read::metadata::{MissingRecord, PackMetadata};
use crate::read::program::{CrateImages, PackImages};

/// Layout of the images of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) placement: Placement,
    pub(crate) sharing: Sharing,
    pub(crate) storage: Storage,
}

/// Crates whose images may be stored relative to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// As it is.
    Kept,
    /// Those of all crates that lie in one place.
    Merged,
    /// Those of one crate.
    Apart,
}

/// A crate, and which of its images go where.
#[derive(Debug)]
struct CrateMove<'a> {
    from: CrateImages<'a>,
    to: BTreeMap<Location, Vec<PackImages<'a>>>,
    /// Metadata of its pack in the program.
    metadata: PackMetadata,
}

/// Something of one crate, by the crate's number.
#[derive(Debug)]
struct PerCrate<T> {
    number: usize,
    it: T,
}

/// Decides every byte of the new packs.
pub(crate) fn relocate(
    crates: Vec<CrateImages<'_>>,
    names: &FileNames<'_>,
    layout: Layout,
) -> Result<NewFiles> {
    let moves = crates.into_iter().map(|from| CrateMove::new(from, names, layout.placement));
    let mut moves = moves.collect::<Result<Vec<_>>>()?;
    let locations: BTreeSet<Location> = moves.iter().flat_map(|one| one.to.keys().cloned()).collect();
    let mut sidecars = Vec::new();
    for location in locations {
        let Location::Sidecar(start) = &location else { continue };
        let packs = packs_of_sidecar(&moves, &location, layout)?;
        let ids: Vec<_> = packs.iter().map(|pack| PerCrate { number: pack.number, it: pack.it.id }).collect();
        let packs: Vec<NewPack> = packs.into_iter().map(|pack| pack.it).collect();
        let name = names.sidecar(start, &packs)?;
        for PerCrate { number, it: id } in ids {
            moves.get_mut(number).map_or(Ok(()), |one| one.record_missing(&location, &name, id))?;
        }
        sidecars.push(NewSidecar { path: names.path(&name), packs });
    }
    let packs = packs_of_program(&moves, layout)?;
    let program = if moves.iter().all(|one| one.from.link.is_none()) {
        NewProgram::Packs(packs.into_iter().map(|pack| pack.it).collect())
    } else {
        NewProgram::Linked(
            packs.into_iter().filter_map(|pack| moves.get(pack.number)?.replacement(pack.it)).collect(),
        )
    };
    Ok(NewFiles { sidecars, program })
}

/// The packs of the sidecar at `location`.
fn packs_of_sidecar(
    moves: &[CrateMove<'_>],
    location: &Location,
    layout: Layout,
) -> Result<Vec<PerCrate<NewPack>>> {
    let mut contents = Vec::new();
    for (number, one) in moves.iter().enumerate() {
        if let Some(kept) = one.to.get(location) {
            let metadata = one.metadata_in_sidecar(kept, layout.placement)?;
            contents.push(PerCrate { number, it: PackContent { metadata, kept: kept.clone() } });
        }
    }
    store(contents, layout)
}

fn packs_of_program(moves: &[CrateMove<'_>], layout: Layout) -> Result<Vec<PerCrate<NewPack>>> {
    let mut contents = Vec::new();
    for (number, one) in moves.iter().enumerate() {
        let kept = one.to.get(&Location::Program).cloned();
        let kept = kept.unwrap_or_else(|| vec![PackImages { source: one.from.source, images: Vec::new() }]);
        contents.push(PerCrate { number, it: PackContent { metadata: one.metadata.clone(), kept } });
    }
    store(contents, layout)
}

/// The packs of one location. Those that share are neighbours.
fn store(contents: Vec<PerCrate<PackContent<'_>>>, layout: Layout) -> Result<Vec<PerCrate<NewPack>>> {
    #[derive(Default)]
    struct Group<'a> {
        numbers: Vec<usize>,
        contents: Vec<PackContent<'a>>,
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for PerCrate { number, it } in contents {
        let found = groups
            .iter()
            .position(|group| group.contents.iter().any(|other| share(other, &it, layout.sharing)))
            .unwrap_or(groups.len());
        if found == groups.len() {
            groups.push(Group::default());
        }
        if let Some(group) = groups.get_mut(found) {
            group.numbers.push(number);
            group.contents.push(it);
        }
    }
    let mut packs = Vec::new();
    for Group { numbers, contents } in groups {
        let new = repack(&contents, layout.storage)?;
        packs.extend(numbers.into_iter().zip(new).map(|(number, it)| PerCrate { number, it }));
    }
    Ok(packs)
}

fn share(one: &PackContent<'_>, other: &PackContent<'_>, sharing: Sharing) -> bool {
    let share =
        || one.kept.iter().any(|kept| other.kept.iter().any(|with| kept.source.shares_with(&with.source)));
    let asked = match sharing {
        Sharing::Kept => share(),
        Sharing::Merged => true,
        Sharing::Apart => false,
    };
    asked && has_images(one) && has_images(other)
}

impl<'a> CrateMove<'a> {
    fn new(from: CrateImages<'a>, names: &FileNames<'_>, placement: Placement) -> Result<CrateMove<'a>> {
        let mut to: BTreeMap<Location, Vec<PackImages<'a>>> = BTreeMap::new();
        for file in &from.files {
            let mut of_file: BTreeMap<Location, Vec<Image<'a>>> = BTreeMap::new();
            for image in &file.pack.images {
                of_file.entry(names.location(placement, file, image)?).or_default().push(image.clone());
            }
            for (location, images) in of_file {
                to.entry(location).or_default().push(PackImages { source: file.pack.source, images });
            }
        }
        let metadata = from.metadata.clone();
        Ok(CrateMove { from, to, metadata })
    }

    /// The pack in the program says of the images at `location` that they are in the pack `id` of the file `name`.
    fn record_missing(&mut self, location: &Location, name: &str, id: Hash128) -> Result<()> {
        let sidecar = pack::Sidecar::new(name, id)
            .ok_or_else(|| Error::usage(format!("`{}` is not a valid file name", name.escape_debug())))?;
        self.metadata.sidecars.push(sidecar);
        let images = self.to.get(location).into_iter().flatten().flat_map(|kept| &kept.images);
        let unique: BTreeSet<[String; 3]> =
            images.map(|image| [image.module, image.target_text, name].map(str::to_string)).collect();
        self.metadata.missing.extend(unique.into_iter().map(|[module, target, reason]| MissingRecord {
            kind: MissingKind::Sidecar,
            module,
            target,
            reason,
        }));
        Ok(())
    }

    /// The metadata of its pack in a sidecar.
    fn metadata_in_sidecar(&self, kept: &[PackImages<'_>], placement: Placement) -> Result<PackMetadata> {
        match (placement, kept) {
            (Placement::Kept, [kept]) => PackMetadata::from_pack(&kept.source.pack),
            // It can come back as it is.
            (Placement::Sidecar, _) => Ok(self.from.metadata.clone()),
            _ => Ok(self.from.metadata.package_alone()),
        }
    }

    /// `pack` in place of the crate's pack in the program.
    fn replacement(&self, pack: NewPack) -> Option<Replacement> {
        let link = self.from.link.clone()?;
        let flag = if self.metadata.sidecars.is_empty() { 0 } else { DESCRIPTOR_SIDECARS };
        let flags = link.descriptor.flags & !DESCRIPTOR_SIDECARS | flag;
        Some(Replacement { flags, link, pack })
    }
}

fn has_images(content: &PackContent<'_>) -> bool {
    content.kept.iter().any(|kept| !kept.images.is_empty())
}
