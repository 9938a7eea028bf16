//! Images of a program in other places: in it, in files beside it, nearer to each other.
//!
//! `prune` and `repack` differ in what they leave out and in what they ask for; this carries both out.

pub(crate) mod location;
pub(crate) mod publish;

use std::collections::{BTreeMap, BTreeSet};

use offload_format::pack::{Image, MissingKind, Sidecar};
use offload_format::section::DESCRIPTOR_SIDECARS;

use self::location::{FileNames, Location, Placement};
use self::publish::{NewFiles, PacksFile};
use crate::change::repack::pack::{NewPack, PackContent, Storage};
use crate::change::repack::repack;
use crate::change::rewrite::Replacement;
use crate::error::Result;
use crate::read::metadata::{MissingImage, PackMetadata};
use crate::read::program::{CrateImages, PackImages};

/// How the images of a program are to lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) placement: Placement,
    pub(crate) sharing: Sharing,
    pub(crate) storage: Storage,
}

/// Whose images are stored relative to each other.
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
    /// What its pack in the program will say.
    metadata: PackMetadata,
}

/// Something of one crate, by the crate's number.
#[derive(Debug)]
struct OfCrate<T> {
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
    let mut files = Vec::new();
    for location in locations {
        if let Location::Sidecar(name) = &location {
            files.push(PacksFile { path: names.path(name)?, packs: sidecar(&mut moves, name, layout)? });
        }
    }
    let packs = packs_of_program(&mut moves, layout)?;
    if moves.iter().all(|one| one.from.link.is_none()) {
        let packs = packs.into_iter().map(|pack| pack.it).collect();
        files.push(PacksFile { path: names.destination().into(), packs });
        return Ok(NewFiles { replacements: Vec::new(), files });
    }
    let replacement = |pack: OfCrate<NewPack>| moves.get(pack.number)?.replacement(pack.it);
    Ok(NewFiles { replacements: packs.into_iter().filter_map(replacement).collect(), files })
}

/// The packs of the sidecar `name`; those in the program are told of them.
fn sidecar(moves: &mut [CrateMove<'_>], name: &str, layout: Layout) -> Result<Vec<NewPack>> {
    let mut contents = Vec::new();
    for (number, one) in moves.iter_mut().enumerate() {
        if let Some(kept) = one.to.remove(&Location::Sidecar(name.to_string())) {
            one.tell(name, &kept);
            let metadata = one.metadata_in_sidecar(&kept, layout.placement)?;
            contents.push(OfCrate { number, it: PackContent { metadata, kept } });
        }
    }
    let packs = stored(contents, layout)?;
    for OfCrate { number, it: pack } in &packs {
        let sidecar = Sidecar::new(name, pack.id);
        moves.get_mut(*number).into_iter().for_each(|one| one.metadata.sidecars.extend(sidecar.clone()));
    }
    Ok(packs.into_iter().map(|pack| pack.it).collect())
}

fn packs_of_program<'a>(moves: &mut [CrateMove<'a>], layout: Layout) -> Result<Vec<OfCrate<NewPack>>> {
    let mut contents = Vec::new();
    for (number, one) in moves.iter_mut().enumerate() {
        let kept = one.to.remove(&Location::Program);
        let kept = kept.unwrap_or_else(|| vec![PackImages { source: one.from.source, images: Vec::new() }]);
        contents.push(OfCrate { number, it: PackContent { metadata: one.metadata.clone(), kept } });
    }
    stored(contents, layout)
}

/// The packs of one location. Those that share are neighbours.
fn stored(contents: Vec<OfCrate<PackContent<'_>>>, layout: Layout) -> Result<Vec<OfCrate<NewPack>>> {
    #[derive(Default)]
    struct Group<'a> {
        numbers: Vec<usize>,
        contents: Vec<PackContent<'a>>,
    }
    let mut groups: Vec<Group<'_>> = Vec::new();
    for OfCrate { number, it } in contents {
        let joins = |group: &Group<'_>| group.contents.iter().any(|other| share(other, &it, layout.sharing));
        let found = groups.iter().position(joins).unwrap_or(groups.len());
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
        packs.extend(numbers.into_iter().zip(new).map(|(number, it)| OfCrate { number, it }));
    }
    Ok(packs)
}

fn share(one: &PackContent<'_>, other: &PackContent<'_>, sharing: Sharing) -> bool {
    let has_images = |content: &PackContent<'_>| content.kept.iter().any(|kept| !kept.images.is_empty());
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

    /// The pack in the program says of each module and target in which file it is.
    fn tell(&mut self, name: &str, kept: &[PackImages<'_>]) {
        let images = kept.iter().flat_map(|kept| &kept.images);
        let told: BTreeSet<[String; 3]> =
            images.map(|image| [image.module, image.target_text, name].map(str::to_string)).collect();
        let missing = |[module, target, reason]: [String; 3]| MissingImage {
            kind: MissingKind::Sidecar,
            module,
            target,
            reason,
        };
        self.metadata.missing.extend(told.into_iter().map(missing));
    }

    /// What its pack in a sidecar says.
    fn metadata_in_sidecar(&self, kept: &[PackImages<'_>], placement: Placement) -> Result<PackMetadata> {
        match (placement, kept) {
            (Placement::Kept, [kept]) => PackMetadata::of(&kept.source.pack),
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
