//! Embedding of a pack: an object in an archive for the final link, or a file of the cache, and the Rust that refers
//! to it.

mod asm;
mod bindings;
pub(crate) mod launchers;
mod names;

use std::collections::BTreeSet;
use std::str::FromStr;

use offload_embed::archive::{self, Member};
use offload_embed::{Machine, PackObject};
use offload_format::Hash128;
use offload_format::pack::{
    CACHE, Missing, MissingKind, Pack as Index, PackBuilder, Pages, SIDECAR, SPARE, Sidecar, cached_name,
};
use offload_format::section::DESCRIPTOR_SIDECARS;
use offload_protocol::variable;

pub(crate) use self::bindings::Bindings;
use self::names::Names;
use crate::env::{Archives, CargoEnv, Runner};
use crate::error::{Error, Result};
use crate::fs;
use crate::packing::Pack;
use crate::tool::Context;

/// What a pack is named after.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'a> {
    /// A kernel module.
    Module(&'a str),
    /// The package: all its modules are in the pack.
    Package,
    /// A device library that the package exports.
    Library(&'a str),
}

/// What leads the generated Rust to a pack.
#[derive(Debug)]
pub(crate) enum Anchor {
    /// The symbol on the descriptor of a linked pack.
    Symbol(String),
    /// A file in `OUT_DIR`, which the Rust includes.
    File(String),
}

/// Which packs the program carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Embedding {
    /// In development builds of cargo small ones, in others all.
    #[default]
    Auto,
    /// All.
    Always,
    /// In development builds none, in others all.
    Release,
    /// All, and Rust's own libraries carry them as well: one for C programs has to.
    Library,
}

impl FromStr for Embedding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Embedding> {
        match text {
            "auto" => Ok(Embedding::Auto),
            "always" => Ok(Embedding::Always),
            "release" => Ok(Embedding::Release),
            "library" => Ok(Embedding::Library),
            _ => Err(Error::new(format!("`{}` does not say when to embed", text.escape_default()))
                .with_hint("write \"auto\", \"always\", \"release\" or \"library\"")),
        }
    }
}

impl Embedding {
    /// How the archive reaches the program.
    fn archives(self) -> Archives {
        match self {
            Embedding::Library => Archives::InLibraries,
            Embedding::Auto | Embedding::Always | Embedding::Release => Archives::Apart,
        }
    }
}

/// Packs below this size cost a link less than a program costs that depends on the cache.
const SMALL: u64 = 4 << 20;

/// Above this the link may need help.
const LARGE: u64 = 1 << 30;
/// What 32-bit relative references span.
const NEAR: u64 = 2 << 30;

/// What the program gets: `pack`, or one that names it.
pub(crate) fn place(context: &Context, wanted: Embedding, pack: Pack) -> Result<Pack> {
    match context.cache.release().filter(|_| is_named(&context.env, wanted, &pack)) {
        Some(release) => named(context, release, &pack),
        None => Ok(pack),
    }
}

/// Release builds never depend on a cache, and neither does a program for another machine, or one of a build system that
/// knows nothing of the cache.
fn is_named(env: &CargoEnv, wanted: Embedding, pack: &Pack) -> bool {
    let development = !env.profile.release && !env.profile.optimized && env.host == env.target;
    let large = match wanted {
        Embedding::Auto => env.runner == Runner::Cargo && pack.layout.size >= SMALL,
        Embedding::Always | Embedding::Library => false,
        Embedding::Release => true,
    };
    development && large && !pack.frames.is_empty()
}

/// `prune` and `repack` put names of sidecars there, of at most 255 bytes, and reasons.
const SPARE_BYTES: usize = 1024;

/// Puts `pack` into the cache, where development builds read it so that no link copies large payloads, and makes one
/// that leads to it.
fn named(context: &Context, release: &str, pack: &Pack) -> Result<Pack> {
    let env = &context.env;
    let id = pack.layout.id;
    let path = context.cache.put_pack(id, pack.layout.size, |out| pack.write_to(out))?;
    env.depends_on(&path);
    let file = cached_name(id);
    let mut builder = PackBuilder::new(&env.package, &env.version);
    builder.meta(CACHE, release);
    builder.meta(SPARE, &" ".repeat(SPARE_BYTES));
    if let Some(sidecar) = Sidecar::new(&file, id) {
        builder.meta(SIDECAR, &sidecar.to_string());
    }
    let pages = Pages::default();
    let index = Index::parse_index(&pack.layout.index, &pages)?;
    let mut sidecar_images = BTreeSet::new();
    for image in index.images() {
        let image = image?;
        sidecar_images.insert((image.module, image.target_text));
    }
    for (module, target) in sidecar_images {
        builder.missing(Missing::new(MissingKind::Sidecar, module).with_target(target).with_reason(&file));
    }
    for missing in index.missing() {
        builder.missing(missing?);
    }
    Ok(Pack { layout: builder.finish()?, frames: Vec::new(), flags: DESCRIPTOR_SIDECARS })
}

/// What brings packs into programs for a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// An object with the sections of `offload_format::section`.
    Object,
    /// The generated Rust, which includes the file. Each module has a pack of its own then: two that included one pack
    /// would carry it twice.
    Rust,
}

impl Carrier {
    /// Objects hold differences of 64 bits, which are read as little-endian.
    pub(crate) fn for_target(env: &CargoEnv) -> Carrier {
        let cfg = &env.cfg;
        if cfg.os == "linux" && cfg.pointer_width == "64" && cfg.endian == "little" {
            Carrier::Object
        } else {
            Carrier::Rust
        }
    }
}

/// Puts the pack where the program's build takes it in: writes the archive and tells cargo to link it, or writes the
/// file that the generated Rust includes.
pub(crate) fn embed(env: &CargoEnv, owner: Owner<'_>, wanted: Embedding, pack: &Pack) -> Result<Anchor> {
    if Carrier::for_target(env) == Carrier::Rust {
        return include(env, owner, pack);
    }
    refuse_unlinkable(env, pack.layout.size)?;
    let names = names(env, owner, pack);
    remove_stale(env, &format!("offload{}", name(env, owner)), &names.archive)?;
    let path = env.out_dir.join(format!("lib{}.a", names.archive));
    match machine(env) {
        Some(machine) => {
            let object = PackObject::new(machine, &names.anchor, pack.info(), pack);
            let object = object.map_err(|error| Error::new(error.to_string()))?;
            let member = Member { name: "images.o", symbols: vec![&names.anchor], content: &object };
            fs::publish(&path, |out| archive::write(out, &[member]))?;
        }
        None => asm::assemble(env, &names, pack)?,
    }
    env.link(&names.archive, wanted.archives());
    Ok(Anchor::Symbol(names.anchor))
}

/// Packs of this size take rustc seconds and several times the memory.
const SLOW_TO_INCLUDE: u64 = 32 << 20;

/// Writes the pack as a file for the generated Rust.
fn include(env: &CargoEnv, owner: Owner<'_>, pack: &Pack) -> Result<Anchor> {
    let size = pack.layout.size;
    // Of what rustc refuses, or what ends with signed 32-bit sizes in the formats of other systems.
    if size >= NEAR {
        let error = format!("{size} bytes of images cannot be included in Rust for {}", env.target);
        return Err(Error::new(error).with_hint("build with fewer targets, or load the images from files"));
    }
    if size >= SLOW_TO_INCLUDE {
        env.warn(&format!(
            "{size} bytes of device images are part of the Rust that rustc compiles, because no object is written for {}: \
             that takes it longer than the link of an object would",
            env.target
        ));
    }
    let file = format!("offload{}.pack", name(env, owner));
    fs::publish(&env.out_dir.join(&file), |out| pack.write_to(out))?;
    Ok(Anchor::File(file))
}

/// The modules that have bindings: those of this call, of earlier calls of the same script, and of earlier builds.
pub(crate) fn bound_modules(env: &CargoEnv) -> Result<Vec<String>> {
    let files = fs::list(&env.out_dir)?;
    let mut modules = Vec::new();
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        modules.extend(name.strip_suffix(".offload.rs").map(str::to_string));
    }
    Ok(modules)
}

/// `module` as a Rust identifier.
pub(crate) fn identifier(module: &str) -> String {
    module.replace('-', "_")
}

/// The machine, if our own writer knows its relocations.
fn machine(env: &CargoEnv) -> Option<Machine> {
    if env.var(variable::OBJECT).is_some_and(|value| value == "cc") {
        return None;
    }
    match env.cfg.arch.as_str() {
        "x86_64" => Some(Machine::X86_64),
        "aarch64" => Some(Machine::Aarch64),
        _ => None,
    }
}

fn refuse_unlinkable(env: &CargoEnv, size: u64) -> Result<()> {
    if env.cfg.crt_static && size >= NEAR {
        return Err(Error::new(format!("{size} bytes of images cannot be linked into a static program"))
            .with_hint("build without `-C target-feature=+crt-static`, or with fewer targets"));
    }
    if size >= LARGE {
        env.warn(&format!(
            "{size} bytes of device images are embedded; link as position-independent code, and consider fewer targets"
        ));
    }
    Ok(())
}

/// Package, version and content make the names unique: two archives of one name, or two symbols, break the link.
fn names(env: &CargoEnv, owner: Owner<'_>, pack: &Pack) -> Names {
    let module = match owner {
        Owner::Module(module) => module,
        // No module has these names.
        Owner::Package => "",
        Owner::Library(library) => &format!("library {library}"),
    };
    let id = Hash128::digest_parts(&[
        env.package.as_bytes(),
        b"\0",
        env.version.as_bytes(),
        b"\0",
        module.as_bytes(),
        b"\0",
        &pack.layout.id.0,
    ]);
    let name = name(env, owner);
    Names {
        archive: format!("offload{name}_{id}"),
        anchor: format!("__offload_anchor{}_{id}", name.replace('-', "_")),
    }
}

/// What people see of the owner. Modules come without a hyphen, so that none is taken for a package.
fn name(env: &CargoEnv, owner: Owner<'_>) -> String {
    match owner {
        Owner::Module(module) => format!("_{}", identifier(module)),
        Owner::Package => format!("-{}", identifier(&env.package)),
        // No package has a second hyphen here.
        Owner::Library(library) => format!("-library-{}", identifier(library)),
    }
}

/// `OUT_DIR` keeps what earlier builds wrote: archives called `prefix` and a hash, of which `current` stays.
fn remove_stale(env: &CargoEnv, prefix: &str, current: &str) -> Result<()> {
    let prefix = format!("lib{prefix}_");
    let current = format!("lib{current}.a");
    for path in fs::list(&env.out_dir)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A hash follows the prefix, so that module `a` does not take away `a_b`.
        let ours = name.strip_prefix(&prefix).is_some_and(|rest| rest.len() == 34 && rest.ends_with(".a"));
        if ours && name != current {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
