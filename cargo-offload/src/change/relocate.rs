//! Images of a program in other places: in it, in files beside it, nearer to each other.
//!
//! `prune` and `repack` differ in what they leave out and in what they wish; this carries both out.

mod form;
mod publish;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_format::pack::{Elsewhere, Image, NoticeKind};
use offload_format::section::DESCRIPTOR_ELSEWHERE;

use self::form::Home;
pub(crate) use self::form::{Form, Names};
use crate::change::repack::{self, About, NewBytes, Part, Storage};
use crate::change::rewrite::NewPack;
use crate::error::Result;
use crate::read::pack_file::Source;
use crate::read::program::Crate;

/// What a program is to become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) form: Form,
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

/// What a program becomes.
#[derive(Debug)]
pub(crate) struct Moved {
    packs: Vec<NewPack>,
    /// Files of packs to be written.
    files: Vec<(PathBuf, Vec<NewBytes>)>,
}

/// The images of a crate that go to one place.
type Load<'a> = Vec<(Source<'a>, Vec<Image<'a>>)>;

/// A crate whose images are on their way.
#[derive(Debug)]
struct Moving<'a> {
    one: Crate<'a>,
    loads: BTreeMap<Home, Load<'a>>,
    /// What its pack in the program will say.
    about: About,
}

/// Decides every byte of the new packs.
pub(crate) fn moved(crates: Vec<Crate<'_>>, names: &Names<'_>, wish: Wish) -> Result<Moved> {
    let moving = crates.into_iter().map(|one| Moving::new(one, names, wish.form));
    let mut crates = moving.collect::<Result<Vec<_>>>()?;
    let homes: BTreeSet<Home> = crates.iter().flat_map(|moving| moving.loads.keys().cloned()).collect();
    let mut files = Vec::new();
    for home in homes {
        if let Home::File(name) = &home {
            files.push((names.path(name)?, outside(&mut crates, name, wish)?));
        }
    }
    let inside = inside(&mut crates, wish)?;
    if crates.iter().all(|moving| moving.one.place.is_none()) {
        files.push((names.destination().into(), inside.into_iter().map(|(_, bytes)| bytes).collect()));
        return Ok(Moved { packs: Vec::new(), files });
    }
    let new_pack = |(at, bytes): (usize, NewBytes)| {
        let moving = crates.get(at)?;
        let place = moving.one.place.clone()?;
        let flag = if moving.about.elsewhere.is_empty() { 0 } else { DESCRIPTOR_ELSEWHERE };
        let flags = place.descriptor.flags & !DESCRIPTOR_ELSEWHERE | flag;
        Some(NewPack { flags, place, bytes })
    };
    Ok(Moved { packs: inside.into_iter().filter_map(new_pack).collect(), files })
}

/// The packs of the file `name`; those in the program are told of them.
fn outside(crates: &mut [Moving<'_>], name: &str, wish: Wish) -> Result<Vec<NewBytes>> {
    let mut parts = Vec::new();
    for (at, moving) in crates.iter_mut().enumerate() {
        if let Some(kept) = moving.loads.remove(&Home::File(name.to_string())) {
            moving.tell(name, &kept);
            parts.push((at, Part { about: moving.about_in_file(&kept, wish.form)?, kept }));
        }
    }
    let packs = stored(parts, wish)?;
    for (at, bytes) in &packs {
        let there = Elsewhere::new(name, bytes.id);
        crates.get_mut(*at).into_iter().for_each(|moving| moving.about.elsewhere.extend(there.clone()));
    }
    Ok(packs.into_iter().map(|(_, bytes)| bytes).collect())
}

/// The packs of the program.
fn inside<'a>(crates: &mut [Moving<'a>], wish: Wish) -> Result<Vec<(usize, NewBytes)>> {
    let part = |(at, moving): (usize, &mut Moving<'a>)| {
        let kept = moving.loads.remove(&Home::Program);
        let kept = kept.unwrap_or_else(|| vec![(moving.one.source, Vec::new())]);
        (at, Part { about: moving.about.clone(), kept })
    };
    stored(crates.iter_mut().enumerate().map(part).collect(), wish)
}

/// The packs of one place, each with the number of its crate. Those that share are neighbours.
fn stored<'a>(parts: Vec<(usize, Part<'a>)>, wish: Wish) -> Result<Vec<(usize, NewBytes)>> {
    let mut groups: Vec<(Vec<usize>, Vec<Part<'a>>)> = Vec::new();
    for (at, part) in parts {
        let joins =
            |group: &(Vec<usize>, Vec<Part<'a>>)| group.1.iter().any(|other| share(other, &part, wish));
        match groups.iter_mut().find(|group| joins(group)) {
            Some((numbers, parts)) => {
                numbers.push(at);
                parts.push(part);
            }
            None => groups.push((vec![at], vec![part])),
        }
    }
    let mut packs = Vec::new();
    for (numbers, parts) in groups {
        packs.extend(numbers.into_iter().zip(repack::rebuild(&parts, wish.storage)?));
    }
    Ok(packs)
}

fn share(one: &Part<'_>, other: &Part<'_>, wish: Wish) -> bool {
    let has_images = |part: &Part<'_>| part.kept.iter().any(|(_, images)| !images.is_empty());
    let share =
        || one.kept.iter().any(|(source, _)| other.kept.iter().any(|(with, _)| source.shares_with(with)));
    let wished = match wish.sharing {
        Sharing::Kept => share(),
        Sharing::Merged => true,
        Sharing::Apart => false,
    };
    wished && has_images(one) && has_images(other)
}

impl<'a> Moving<'a> {
    fn new(one: Crate<'a>, names: &Names<'_>, form: Form) -> Result<Moving<'a>> {
        let mut loads: BTreeMap<Home, Load<'a>> = BTreeMap::new();
        for pile in &one.piles {
            let mut of_pile: BTreeMap<Home, Vec<Image<'a>>> = BTreeMap::new();
            for image in &pile.images {
                of_pile.entry(names.home(form, pile, image)?).or_default().push(image.clone());
            }
            for (home, images) in of_pile {
                loads.entry(home).or_default().push((pile.source, images));
            }
        }
        let about = one.about.clone();
        Ok(Moving { one, loads, about })
    }

    /// The pack in the program says of each module and target in which file it is.
    fn tell(&mut self, name: &str, load: &Load<'_>) {
        let images = load.iter().flat_map(|(_, images)| images);
        let told: BTreeSet<[String; 3]> =
            images.map(|image| [image.module, image.target_text, name].map(str::to_string)).collect();
        self.about.missing.extend(told.into_iter().map(|texts| (NoticeKind::Elsewhere, texts)));
    }

    /// What its pack in a file says.
    fn about_in_file(&self, load: &Load<'_>, form: Form) -> Result<About> {
        match (form, load.as_slice()) {
            (Form::Kept, [(source, _)]) => About::of(&source.pack),
            // It can come back as it is.
            (Form::One, _) => Ok(self.one.about.clone()),
            _ => Ok(self.one.about.package_of()),
        }
    }
}
