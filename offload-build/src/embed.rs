//! Putting a pack into the program: an object in an archive that cargo hands to the final link.

mod archive;
mod asm;
mod cached;
mod elf;

use std::io::{self, Write};

use offload_format::pack::PackLayout;

pub(crate) use self::cached::place;
use crate::cache::Blob;
use crate::env::{BinaryFormat, CargoEnv};
use crate::error::{Error, Result};
use crate::fs;

/// A pack whose frames are still in the cache.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) layout: PackLayout,
    /// The frames, in the order of `layout.frames`.
    pub(crate) frames: Vec<Blob>,
    /// Of its descriptor.
    pub(crate) flags: u16,
}

/// What a pack is named after.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'a> {
    /// A kernel module.
    Module(&'a str),
    /// The package: all its modules are in the pack.
    Package,
}

/// The names that an object of this module goes by; no two crates may share them.
#[derive(Debug)]
struct Names {
    archive: String,
    anchor: String,
}

/// Above this the link may need help.
const LARGE: u64 = 1 << 30;
/// What 32-bit relative references span.
const NEAR: u64 = 2 << 30;

/// Writes the archive, tells cargo to link it, and returns the name of the symbol on the pack's descriptor.
pub(crate) fn embed(env: &CargoEnv, owner: Owner<'_>, pack: &Pack) -> Result<String> {
    refuse_unlinkable(env, pack.layout.size)?;
    let names = names(env, owner, pack);
    remove_stale(env, &names, owner)?;
    let path = env.out_dir.join(format!("lib{}.a", names.archive));
    match machine(env) {
        Some(machine) => {
            let object = elf::Object::new(machine, &names.anchor, pack)?;
            fs::publish(&path, |out| archive::write(out, &names.anchor, &object))?;
            env.link(&names.archive, &env.out_dir);
        }
        None => asm::assemble(env, &names, pack)?,
    }
    Ok(names.anchor)
}

impl Pack {
    /// Writes index and frames, holding one buffer in memory.
    pub(crate) fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.layout.index)?;
        let mut at = 0;
        for (placement, frame) in self.layout.frames.iter().zip(&self.frames) {
            pad(out, placement.offset.saturating_sub(at))?;
            frame.copy_to(out)?;
            at = placement.offset.saturating_add(placement.size);
        }
        Ok(())
    }
}

/// The machine, if our own writer knows its relocations.
fn machine(env: &CargoEnv) -> Option<elf::Machine> {
    if env.var("OFFLOAD_OBJECT").is_some_and(|value| value == "cc") {
        return None;
    }
    match env.cfg.arch.as_str() {
        "x86_64" => Some(elf::Machine::X86_64),
        "aarch64" => Some(elf::Machine::Aarch64),
        _ => None,
    }
}

fn refuse_unlinkable(env: &CargoEnv, size: u64) -> Result<()> {
    if env.cfg.binary_format != BinaryFormat::Elf {
        return Err(Error::new(format!("kernels cannot be embedded in programs for {} yet", env.target))
            .with_hint("leave the crate with kernels out on that system, for example by a `[target.'cfg(...)'.dependencies]`"));
    }
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
        // No module has this name.
        Owner::Package => "",
    };
    let id = offload_format::Hash128::of_parts(&[
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
        Owner::Module(module) => format!("_{}", crate::generate::identifier(module)),
        Owner::Package => format!("-{}", crate::generate::identifier(&env.package)),
    }
}

/// `OUT_DIR` keeps what earlier builds wrote.
fn remove_stale(env: &CargoEnv, names: &Names, owner: Owner<'_>) -> Result<()> {
    let prefix = format!("liboffload{}_", name(env, owner));
    let current = format!("lib{}.a", names.archive);
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

fn pad(out: &mut dyn Write, count: u64) -> io::Result<()> {
    io::copy(&mut io::Read::take(io::repeat(0), count), out).map(drop)
}
