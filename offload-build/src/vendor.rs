//! Vendored images: `offload-vendor/MODULE.pack`, compiled when the package was published, with a record of its inputs
//! in `MODULE.toml`.
//!
//! An image is used only if every source still has its recorded content and the options are the recorded ones.

mod kernels;
mod materials;
mod options;
mod record;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use offload_format::pack::{NewImage, Pack, Pages};
use offload_format::provenance::{DIRECTORY, Provenance, VERSION};
use offload_format::{Target, codec};

pub(crate) use self::kernels::kernels;
use self::materials::machine;
use self::write::Writer;
use crate::cache::{Cache, KeyBuilder};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::library;
use crate::module::{DeviceImage, Library, SourceFile, Sources, TargetImages};
use crate::targets::WantedTarget;
use crate::tool::Context;

/// When vendored images are used that were made of the very sources and options at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UseVendored {
    /// Where the tools that would compile are not installed.
    #[default]
    Fallback,
    /// Always; what is missing is compiled.
    Prefer,
    Never,
}

impl FromStr for UseVendored {
    type Err = Error;

    fn from_str(text: &str) -> Result<UseVendored> {
        match text {
            "fallback" => Ok(UseVendored::Fallback),
            "prefer" => Ok(UseVendored::Prefer),
            "never" => Ok(UseVendored::Never),
            _ => Err(Error::new(format!("`vendored = \"{}\"` is not understood", text.escape_default()))
                .with_hint("write \"fallback\", \"prefer\" or \"never\"")),
        }
    }
}

/// Vendored images of a package by module. Each module is read once, for all of its variants.
#[derive(Debug, Default)]
pub(crate) struct VendoredPackage {
    /// The policy of the configuration.
    pub(crate) used: UseVendored,
    modules: Mutex<BTreeMap<String, Slot>>,
}

/// Locked during the lookup: the variants of a module are compiled in parallel.
type Slot = Arc<Mutex<Option<Arc<VendoredModule>>>>;

/// The vendored images of one module.
#[derive(Debug)]
enum VendoredModule {
    Nothing,
    /// Images of other sources, and how these differ.
    Outdated(String),
    /// Images of the sources at hand, of every variant.
    Images(Provenance, Vec<DeviceImage>),
}

/// The vendored images of one kernel module in one variant, as far as they fit.
#[derive(Debug)]
struct VendoredVariant {
    name: String,
    variant: String,
    module: Arc<VendoredModule>,
    /// Whether build script and configuration ask for what was vendored.
    request: Request,
    /// The device library that is not the one that was vendored, and how, if there is one.
    other_library: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    AsRecorded,
    Other,
}

impl VendoredPackage {
    /// The images that are there for any of `targets`, whatever tools are installed.
    ///
    /// # Errors
    /// If a file cannot be read, or is not what it should be.
    pub(crate) fn preferred(
        &self,
        context: &Context,
        sources: &Sources,
        targets: &[WantedTarget],
    ) -> Result<Vec<TargetImages>> {
        let vendored = self.variant(context, sources)?;
        let mut results = Vec::new();
        for target in targets {
            let images = vendored.images(&context.env, &target.target);
            if !images.is_empty() {
                results.push(TargetImages { target: target.clone(), images: Ok(images) });
            }
        }
        Ok(results)
    }

    /// `results` with images of the package in place of those that could not be compiled for want of a tool, or
    /// whatever failed if `vendored = "prefer"`; where there are none that fit, the error says why.
    ///
    /// # Errors
    /// As [`VendoredPackage::preferred`].
    pub(crate) fn in_place_of_failed(
        &self,
        context: &Context,
        sources: &Sources,
        results: Vec<TargetImages>,
    ) -> Result<Vec<TargetImages>> {
        if !results.iter().any(|result| result.images.as_ref().is_err_and(|error| self.is_used_after(error)))
        {
            return Ok(results);
        }
        let vendored = self.variant(context, sources)?;
        let mut supplied = Vec::new();
        let mut reason = String::new();
        let mut filled = Vec::new();
        for TargetImages { target, images } in results {
            let images = match images {
                Err(error) if self.is_used_after(&error) => {
                    let images = vendored.images(&context.env, &target.target);
                    if images.is_empty() {
                        Err(vendored.explain(error))
                    } else {
                        supplied.push(format!("`{}`", target.target));
                        reason = error.summary().to_string();
                        Ok(images)
                    }
                }
                images => images,
            };
            filled.push(TargetImages { target, images });
        }
        // A build whose output differs from another's has to show that these images were not built here.
        if !supplied.is_empty() {
            let module = &sources.module;
            let targets = supplied.join(", ");
            context.env.warn(&format!("the images of `{module}` for {targets} were not built here: the package brings them along, and {reason}"));
        }
        Ok(filled)
    }

    /// Whether its images take the place of those that `error` kept from being compiled.
    fn is_used_after(&self, error: &Error) -> bool {
        self.used == UseVendored::Prefer || error.is_missing_tool()
    }

    /// What the package brings along for `sources`.
    fn variant(&self, context: &Context, sources: &Sources) -> Result<VendoredVariant> {
        let slot = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            modules.entry(sources.module.clone()).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match &*slot {
            Some(module) => module.clone(),
            None => slot.insert(Arc::new(VendoredModule::read(context, &sources.module)?)).clone(),
        };
        // No front end tells what is read of the libraries.
        let imported = sources.libraries().into_iter().flat_map(library::files);
        imported.for_each(|file| context.env.depends_on(&file));
        Ok(VendoredVariant::new(module, sources))
    }
}

impl VendoredModule {
    fn read(context: &Context, module: &str) -> Result<VendoredModule> {
        let env = &context.env;
        let [record, pack] = paths(env, module);
        if !record.exists() {
            return Ok(VendoredModule::Nothing);
        }
        env.depends_on(&record);
        env.depends_on(&pack);
        let provenance = parse(&fs::read_text(&record)?)
            .map_err(|error| error.context(format!("`{}`", record.display())))?;
        if provenance.module != module {
            let error = Error::new(format!("this is the record of the module `{}`", provenance.module))
                .with_hint("`cargo offload vendor` writes it again");
            return Err(error.context(format!("`{}`", record.display())));
        }
        if let Some(difference) = outdated(env, &provenance)? {
            return Ok(VendoredModule::Outdated(difference));
        }
        let images = images(&context.cache, &fs::read(&pack)?, &provenance)
            .map_err(|error| error.context(format!("`{}`", pack.display())))?;
        Ok(VendoredModule::Images(provenance, images))
    }
}

impl VendoredVariant {
    fn new(module: Arc<VendoredModule>, sources: &Sources) -> VendoredVariant {
        let variant = sources.variant.to_string();
        let (request, other_library) = match &*module {
            VendoredModule::Images(provenance, _) => {
                (request(provenance, sources), other_library(provenance, sources))
            }
            _ => (Request::AsRecorded, None),
        };
        VendoredVariant { name: sources.module.clone(), variant, module, request, other_library }
    }

    /// The images for `target`; none if there are none that fit.
    fn images(&self, env: &CargoEnv, target: &Target) -> Vec<DeviceImage> {
        let (VendoredModule::Images(provenance, images), Request::AsRecorded) = (&*self.module, self.request)
        else {
            return Vec::new();
        };
        // Code for the program's own CPU is code for the machine that it was made on.
        if matches!(target, Target::Host(_)) && provenance.machine != machine(env) {
            return Vec::new();
        }
        let mut fitting = Vec::new();
        for image in images {
            if image.record.variant == self.variant && image.record.target == *target {
                fitting.push(image.clone());
            }
        }
        fitting
    }

    /// `error`, which says that a tool is missing, with the reason why vendored images do not help.
    fn explain(&self, error: Error) -> Error {
        let reason = match (&*self.module, self.request) {
            (VendoredModule::Outdated(difference), _) => difference,
            (VendoredModule::Images(..), Request::Other) => self
                .other_library
                .as_deref()
                .unwrap_or("build.rs or the configuration has other files, flags or options"),
            _ => return error,
        };
        error.note(format!("this build cannot use the vendored images of `{}`: {reason}", self.name))
    }
}

/// A build for `cargo offload vendor`, and what was known before the first image was compiled.
#[derive(Debug)]
pub(crate) struct VendorBuild {
    dir: PathBuf,
    /// Files that decide what is compiled, and are no part of it.
    before: BTreeSet<PathBuf>,
}

impl VendorBuild {
    /// A build that writes what it compiles below `dir`. To be made before the first image is compiled.
    pub(crate) fn new(env: &CargoEnv, dir: &OsStr) -> VendorBuild {
        VendorBuild { dir: Path::new(dir).join(&env.package), before: env.files_read() }
    }

    /// Looks at what the images were made of: files of this package, and of the libraries that it imports. To be called
    /// when all are compiled.
    ///
    /// # Errors
    /// If a source lies outside of the package, or a file cannot be read.
    pub(crate) fn finish(self, env: &CargoEnv, imported: &[&Library]) -> Result<Writer> {
        let mut files = env.files_read();
        files.retain(|file| !self.before.contains(file));
        Writer::new(env, self.dir, &files, imported)
    }
}

/// The record and the pack of a module.
fn paths(env: &CargoEnv, module: &str) -> [PathBuf; 2] {
    ["toml", "pack"].map(|kind| env.manifest_dir.join(DIRECTORY).join(format!("{module}.{kind}")))
}

fn parse(text: &str) -> Result<Provenance> {
    let provenance = record::read(text)?;
    if provenance.version > VERSION {
        return Err(Error::new(format!("the record has version {}, of a later release", provenance.version))
            .with_hint("update offload-build, or set `vendored = \"never\"`"));
    }
    Ok(provenance)
}

/// The difference between the sources and the recorded ones, if there is one.
///
/// # Errors
/// If the record names a file outside of the package, or a file cannot be read.
fn outdated(env: &CargoEnv, provenance: &Provenance) -> Result<Option<String>> {
    for source in &provenance.sources {
        // `cargo offload vendor` writes no such name, and reading a device or a pipe might never end.
        if materials::within(Path::new(&source.name)).as_deref() != Some(source.name.as_str()) {
            let record = &paths(env, &provenance.module)[0];
            return Err(Error::new(format!(
                "`{}` names a source outside of the package: `{}`",
                record.display(),
                source.name
            ))
            .with_hint("`cargo offload vendor` writes the record again"));
        }
        let path = env.manifest_dir.join(&source.name);
        env.depends_on(&path);
        if !path.exists() {
            return Ok(Some(format!("`{}` is not there", source.name)));
        }
        if materials::hash(&path)? != source.blake3 {
            return Ok(Some(format!("`{}` has changed since", source.name)));
        }
    }
    Ok(None)
}

fn request(provenance: &Provenance, sources: &Sources) -> Request {
    // The content of a file that the record lacks was never compared.
    if !sources.files.iter().all(|file| is_recorded(provenance, file)) {
        return Request::Other;
    }
    let variant = sources.variant.to_string();
    let options = options::hash(sources);
    if provenance.images.iter().any(|image| image.variant == variant && image.options != options) {
        return Request::Other;
    }
    Request::AsRecorded
}

fn is_recorded(provenance: &Provenance, file: &SourceFile) -> bool {
    let Some(name) = materials::within(&file.path) else { return false };
    provenance.sources.iter().any(|source| source.name == name)
}

/// The library that has changed since the images were made: of several, one that imports none of the others.
fn other_library(provenance: &Provenance, sources: &Sources) -> Option<String> {
    let now = materials::libraries(sources);
    let changed = now.iter().rev().find_map(|library| {
        let made = provenance.libraries.iter().find(|made| made.name == library.name)?;
        (made != library).then_some((made, library))
    });
    let (made, library) = changed?;
    let [then, now] = [made, library].map(|it| it.version.as_deref().unwrap_or_default());
    if then == now {
        Some(format!("the device library `{}` of crate {now} has changed since", library.name))
    } else {
        Some(format!("they have functions of crate {then}, and this build has {now}"))
    }
}

/// Adds the hint for a pack that was recompressed with another codec.
fn unreadable(error: offload_format::Error) -> Error {
    let lacks_feature = matches!(error.kind(), offload_format::ErrorKind::Feature { .. });
    let error = Error::from(error);
    if lacks_feature {
        error.with_hint("enable the feature `archive` of offload-build below [build-dependencies]")
    } else {
        error
    }
}

/// The images in the pack `bytes`, each checked against the record and put into the cache.
fn images(cache: &Cache, bytes: &[u8], provenance: &Provenance) -> Result<Vec<DeviceImage>> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    let mut images = Vec::new();
    for image in pack.images() {
        let image = image?;
        let recorded = provenance.images.iter().find(|recorded| {
            recorded.target == image.target_text
                && recorded.variant == image.variant
                && recorded.part == image.part
        });
        // This release cannot request a target of a later one.
        let (Some(recorded), Ok(target)) = (recorded, image.target()) else { continue };
        let raw = codec::decode(&pack, &image).map_err(unreadable)?;
        if blake3::hash(&raw).to_hex().as_str() != recorded.blake3 {
            return Err(Error::new(format!("the image for `{target}` differs from the recorded one"))
                .with_hint("`cargo offload vendor` writes both files again"));
        }
        let key = KeyBuilder::new("vendored").part(&image.hash.0).finish();
        let bytes = cache.get_or::<Error>(key, || Ok(raw))?;
        images.push(DeviceImage { record: NewImage::from_image(&pack, &image, target)?, bytes });
    }
    Ok(images)
}
