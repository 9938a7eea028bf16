//! Selection of the images to export.

use std::collections::BTreeSet;
use std::path::PathBuf;

use offload_format::pack::Image;

use crate::cli;
use crate::error::{Error, Result};
use crate::print::text::escaped;
use crate::read::metadata::PackMetadata;
use crate::read::pack_file::LocatedPack;
use crate::read::packs::{Packs, ReachedPack};

/// Options of an export, and its input file.
pub(super) struct Request<'a> {
    pub(super) path: PathBuf,
    pub(super) args: &'a cli::Export,
}

/// Content of an export.
pub(super) struct ExportedFile {
    pub(super) modules: Vec<String>,
    pub(super) targets: Vec<String>,
    pub(super) content: Vec<u8>,
    pub(super) ending: &'static str,
    pub(super) hazards: Vec<String>,
}

/// An image and the pack that it lies in.
pub(super) struct PackedImage<'a> {
    pub(super) package: String,
    pub(super) source: LocatedPack<'a>,
    pub(super) image: Image<'a>,
}

/// All images; of a file that is named, those of the package that is named.
pub(super) fn images<'a>(packs: &'a Packs, request: &Request<'_>) -> Result<Vec<PackedImage<'a>>> {
    // Without a file it is the package that cargo builds.
    let named = request.args.package.project.package.as_ref().filter(|_| !request.args.path.is_empty());
    let mut all = Vec::new();
    let mut packages = BTreeSet::new();
    for ReachedPack { source, .. } in packs.all() {
        let PackMetadata { package, .. } = PackMetadata::without_missing(&source.pack);
        if named.is_none_or(|named| *named == package) {
            for image in source.pack.images() {
                all.push(PackedImage { package: package.clone(), source, image: image? });
            }
        }
        packages.insert(package);
    }
    match named.filter(|named| !packages.contains(*named)) {
        None => Ok(all),
        Some(named) => {
            let packages = escaped(&packages.into_iter().collect::<Vec<_>>().join(", "));
            let text = format!("`{}` has no images of a package `{named}`", request.path.display());
            Err(Error::usage(text).hint(format!("available packages: {packages}")))
        }
    }
}

/// Whether `name` is among `names`.
pub(super) fn named(names: &[String], name: &str) -> bool {
    names.iter().any(|other| other == name)
}

/// The one image that `fits`; an error that lists what there is otherwise.
pub(super) fn only<'a, 'b>(
    all: &'b [PackedImage<'a>],
    what: &str,
    request: &Request<'_>,
    fits: impl Fn(&PackedImage<'_>) -> bool,
) -> Result<&'b PackedImage<'a>> {
    let fitting: Vec<_> = all.iter().filter(|packed| fits(packed)).collect();
    let several_packages =
        all.iter().any(|one| Some(&one.package) != all.first().map(|first| &first.package));
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => {
            let error = Error::usage(format!("`{}` has no such {what}", request.path.display()));
            Err(error.hint(format!("it has {}", listed(all, several_packages))))
        }
        several => {
            let names = listed(several.iter().copied(), several_packages);
            let error = Error::usage(format!("several {what}s match"));
            let options = match (several_packages, !request.args.path.is_empty()) {
                (false, _) => "--module and --target".to_string(),
                (true, true) => "--package, --module and --target".to_string(),
                // Cargo's build is of one package, with images of others in it.
                (true, false) => {
                    format!("--package, --module and --target, and name `{}`,", request.path.display())
                }
            };
            Err(error.hint(format!("choose one with {options}: {names}")))
        }
    }
}

/// The images by module and target, and by package if there are several.
fn listed<'a: 'b, 'b>(
    images: impl IntoIterator<Item = &'b PackedImage<'a>>,
    several_packages: bool,
) -> String {
    let mut names = Vec::new();
    for PackedImage { package, image, .. } in images {
        let name = format!("{} {}", image.module, image.target_text);
        names.push(if several_packages { format!("{package}: {name}") } else { name });
    }
    escaped(&names.join(", "))
}
