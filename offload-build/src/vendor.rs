//! Images that a package brings along, compiled when it was published: `offload-vendor/MODULE.pack`, and beside it
//! `MODULE.toml`, which says what they were made of.
//!
//! An image is used only if every source still has its recorded content and the options are the recorded ones.

mod ingredients;
mod recipe;
mod write;

use std::path::PathBuf;

use offload_format::codec;
use offload_format::pack::{NewImage, Pack, Pages};
use offload_format::provenance::{DIRECTORY, Made, Provenance, VERSION};

pub(crate) use self::write::{Wanted, write};
use crate::cache::{Cache, KeyBuilder};
use crate::compile::{Compiled, Sources};
use crate::config::WantedTarget;
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;

/// The vendored images of one kernel module in one variant, as far as they fit.
#[derive(Debug)]
pub(crate) struct Vendored {
    module: String,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The package brings none.
    None,
    /// They are of other sources or options.
    Misfit(String),
    Fits {
        provenance: Provenance,
        images: Vec<Compiled>,
    },
}

impl Vendored {
    /// Looks at what the package brings along for `sources`.
    ///
    /// # Errors
    /// If a file cannot be read, or is not what it should be.
    pub(crate) fn look((env, cache): (&CargoEnv, &Cache), sources: &Sources) -> Result<Vendored> {
        let module = sources.module.clone();
        let [record, pack] = paths(env, &module);
        if !record.exists() {
            return Ok(Vendored { module, state: State::None });
        }
        env.depends_on(&record);
        env.depends_on(&pack);
        let named = |error: Error| error.context(format!("`{}`", record.display()));
        let provenance = parse(&fs::read_text(&record)?).map_err(named)?;
        if let Some(reason) = misfit(env, &provenance, sources)? {
            return Ok(Vendored { module, state: State::Misfit(reason) });
        }
        let named = |error: Error| error.context(format!("`{}`", pack.display()));
        let images = images(cache, &fs::read(&pack)?, (&provenance, sources)).map_err(named)?;
        Ok(Vendored { module, state: State::Fits { provenance, images } })
    }

    /// The images for `wanted`; none if there are none that fit.
    pub(crate) fn images(&self, env: &CargoEnv, wanted: &WantedTarget) -> Vec<Compiled> {
        let State::Fits { provenance, images } = &self.state else { return Vec::new() };
        let target = &wanted.target;
        // Code for the program's own CPU is code for the machine that it was made on.
        let elsewhere =
            matches!(target, offload_format::Target::Host(_)) && provenance.machine != machine(env);
        let fits = |compiled: &&Compiled| compiled.image.target == *target && !elsewhere;
        images.iter().filter(fits).cloned().collect()
    }

    /// `error`, which says that a tool is missing, with the reason why vendored images do not help.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match &self.state {
            State::Misfit(reason) => {
                error.note(format!("the vendored images of `{}` do not fit: {reason}", self.module))
            }
            _ => error,
        }
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
            .hint("update offload-build, or set `vendored = \"never\"`"));
    }
    Ok(provenance)
}

/// Why the recorded images are not those of `sources`, if so.
fn misfit(env: &CargoEnv, provenance: &Provenance, sources: &Sources) -> Result<Option<String>> {
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
    let variant = sources.variant.to_string();
    let recipe = recipe::hash(sources)?;
    let other = |made: &&Made| made.variant == variant && made.recipe != recipe;
    let changed = provenance.images.iter().find(other);
    Ok(changed.map(|_| "files, flags or options are others in build.rs or the configuration".to_string()))
}

/// The images of `sources` in the pack `bytes`, each checked against the record and put into the cache.
fn images(
    cache: &Cache,
    bytes: &[u8],
    (provenance, sources): (&Provenance, &Sources),
) -> Result<Vec<Compiled>> {
    let pages = Pages::default();
    let pack = Pack::parse_with(bytes, &pages)?;
    pack.verify_index()?;
    let variant = sources.variant.to_string();
    let mut images = Vec::new();
    for image in pack.images() {
        let image = image?;
        let recorded = |made: &&Made| {
            (made.target.as_str(), made.variant.as_str(), made.part.as_str())
                == (image.target_text, image.variant, image.part)
        };
        // A target of a later release is nobody's wish.
        let (true, Some(made), Ok(target)) =
            (image.variant == variant, provenance.images.iter().find(recorded), image.target())
        else {
            continue;
        };
        let raw = codec::decode(&pack, &image)?;
        if blake3::hash(&raw).to_hex().as_str() != made.blake3 {
            return Err(Error::new(format!("the image for `{target}` is not the recorded one"))
                .hint("`cargo offload vendor` makes both files anew"));
        }
        let key = KeyBuilder::new("vendored").part(&image.hash.0).finish();
        let raw = cache.get_or(key, || Ok(raw))?;
        images.push(Compiled { image: NewImage::of(&pack, &image, target)?, raw });
    }
    Ok(images)
}
