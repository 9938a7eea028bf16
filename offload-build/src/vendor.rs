//! Images that a package brings along, compiled when it was published: `offload-vendor/MODULE.pack`, and beside it
//! `MODULE.toml`, which says what they were made of.
//!
//! An image is used only if every source still has its recorded content and the options are the recorded ones.

mod ingredients;
mod recipe;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use offload_format::codec;
use offload_format::pack::{NewImage, Pack, Pages};
use offload_format::provenance::{DIRECTORY, Made, Provenance, VERSION};

pub(crate) use self::write::Wanted;
use crate::cache::{Cache, KeyBuilder};
use crate::compile::{Compiled, Sources};
use crate::config::WantedTarget;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;

/// What a package brings along, by module. Each is looked at once, whatever the number of its variants.
#[derive(Debug, Default)]
pub(crate) struct Shelf(Mutex<BTreeMap<String, Slot>>);

/// Locked while somebody looks: the variants of a module are compiled at the same time.
type Slot = Arc<Mutex<Option<Arc<Brought>>>>;

/// What a package brings along for one module.
#[derive(Debug)]
enum Brought {
    Nothing,
    /// Images of other sources, and how these differ.
    Outdated(String),
    /// Images of the sources at hand, of every variant.
    Images(Provenance, Vec<Compiled>),
}

/// The vendored images of one kernel module in one variant, as far as they fit.
#[derive(Debug)]
pub(crate) struct Vendored {
    module: String,
    variant: String,
    brought: Arc<Brought>,
    /// Whether build script and configuration ask for what was vendored.
    recipe: Recipe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recipe {
    Same,
    Other,
}

impl Shelf {
    /// Looks at what the package brings along for `sources`.
    ///
    /// # Errors
    /// If a file cannot be read, or is not what it should be.
    pub(crate) fn look(&self, (env, cache): (&CargoEnv, &Cache), sources: &Sources) -> Result<Vendored> {
        let slot = {
            let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            slots.entry(sources.module.clone()).or_default().clone()
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let brought = match &*slot {
            Some(brought) => brought.clone(),
            None => slot.insert(Arc::new(Brought::look((env, cache), &sources.module)?)).clone(),
        };
        Vendored::new(brought, sources)
    }
}

impl Brought {
    fn look((env, cache): (&CargoEnv, &Cache), module: &str) -> Result<Brought> {
        let [record, pack] = paths(env, module);
        if !record.exists() {
            return Ok(Brought::Nothing);
        }
        env.depends_on(&record);
        env.depends_on(&pack);
        let named = |error: Error| error.context(format!("`{}`", record.display()));
        let provenance = parse(&fs::read_text(&record)?).map_err(named)?;
        if let Some(difference) = outdated(env, &provenance)? {
            return Ok(Brought::Outdated(difference));
        }
        let named = |error: Error| error.context(format!("`{}`", pack.display()));
        let images = images(cache, &fs::read(&pack)?, &provenance).map_err(named)?;
        Ok(Brought::Images(provenance, images))
    }
}

impl Vendored {
    fn new(brought: Arc<Brought>, sources: &Sources) -> Result<Vendored> {
        let variant = sources.variant.to_string();
        let recipe = match &*brought {
            Brought::Images(provenance, _) => recipe_of(provenance, &variant, &recipe::hash(sources)?),
            _ => Recipe::Same,
        };
        Ok(Vendored { module: sources.module.clone(), variant, brought, recipe })
    }

    /// The images for `wanted`; none if there are none that fit.
    pub(crate) fn images(&self, env: &CargoEnv, wanted: &WantedTarget) -> Vec<Compiled> {
        let (Brought::Images(provenance, images), Recipe::Same) = (&*self.brought, self.recipe) else {
            return Vec::new();
        };
        let target = &wanted.target;
        // Code for the program's own CPU is code for the machine that it was made on.
        let elsewhere =
            matches!(target, offload_format::Target::Host(_)) && provenance.machine != machine(env);
        let fits = |compiled: &&Compiled| {
            compiled.image.variant == self.variant && compiled.image.target == *target && !elsewhere
        };
        images.iter().filter(fits).cloned().collect()
    }

    /// `error`, which says that a tool is missing, with the reason why vendored images do not help.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let reason = match (&*self.brought, self.recipe) {
            (Brought::Outdated(difference), _) => difference,
            (Brought::Images(..), Recipe::Other) => {
                "files, flags or options are others in build.rs or the configuration"
            }
            _ => return error,
        };
        error.note(format!("the vendored images of `{}` do not fit: {reason}", self.module))
    }
}

/// The record and the pack of a module.
fn paths(env: &CargoEnv, module: &str) -> [PathBuf; 2] {
    ["toml", "pack"].map(|kind| env.manifest_dir.join(DIRECTORY).join(format!("{module}.{kind}")))
}

/// What programs of this build run on.
fn machine(env: &CargoEnv) -> String {
    format!("{}-{}", env.cfg.arch, env.cfg.os)
}

fn parse(text: &str) -> Result<Provenance> {
    let provenance: Provenance = toml::from_str(text).map_err(|error| Error::new(error.to_string()))?;
    if provenance.version > VERSION {
        return Err(Error::new(format!("the record has version {}, of a later release", provenance.version))
            .with_hint("update offload-build, or set `vendored = \"never\"`"));
    }
    Ok(provenance)
}

/// How the sources differ from those that were recorded, if they do.
fn outdated(env: &CargoEnv, provenance: &Provenance) -> Result<Option<String>> {
    for source in &provenance.sources {
        let path = env.manifest_dir.join(&source.name);
        env.depends_on(&path);
        if !path.exists() {
            return Ok(Some(format!("`{}` is not there", source.name)));
        }
        if ingredients::hash(&path)? != source.blake3 {
            return Ok(Some(format!("`{}` has changed since", source.name)));
        }
    }
    Ok(None)
}

fn recipe_of(provenance: &Provenance, variant: &str, recipe: &str) -> Recipe {
    let other = |made: &Made| made.variant == variant && made.recipe != recipe;
    if provenance.images.iter().any(other) { Recipe::Other } else { Recipe::Same }
}

/// The images in the pack `bytes`, each checked against the record and put into the cache.
fn images(cache: &Cache, bytes: &[u8], provenance: &Provenance) -> Result<Vec<Compiled>> {
    let pages = Pages::default();
    let pack = Pack::parse(bytes, &pages)?;
    pack.verify_index()?;
    let mut images = Vec::new();
    for image in pack.images() {
        let image = image?;
        let recorded = |made: &&Made| {
            (made.target.as_str(), made.variant.as_str(), made.part.as_str())
                == (image.target_text, image.variant, image.part)
        };
        // A target of a later release is nobody's wish.
        let (Some(made), Ok(target)) = (provenance.images.iter().find(recorded), image.target()) else {
            continue;
        };
        let raw = codec::decode(&pack, &image)?;
        if blake3::hash(&raw).to_hex().as_str() != made.blake3 {
            return Err(Error::new(format!("the image for `{target}` is not the recorded one"))
                .with_hint("`cargo offload vendor` makes both files anew"));
        }
        let key = KeyBuilder::new("vendored").part(&image.hash.0).finish();
        let raw = cache.get_or(key, || Ok(raw))?;
        images.push(Compiled { image: NewImage::of(&pack, &image, target)?, raw });
    }
    Ok(images)
}
