//! Vendoring: writes the images of a package and their record, for `cargo offload vendor`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_format::pack::PackBuilder;
use offload_format::provenance::{Provenance, VendoredImage};
use offload_packer::{Mode, Settings};

use super::materials::{self, Materials, machine};
use super::{options, record};
use crate::env::CargoEnv;
use crate::error::Result;
use crate::fs;
use crate::module::{DeviceImage, Library, Sources};
use crate::packing::Packer;
use crate::tool::Context;

/// What writes the packs and records of a package's modules, which are all made of the same files.
#[derive(Debug)]
pub(crate) struct Writer {
    dir: PathBuf,
    materials: Materials,
}

/// Small files are worth the time: they are made once and kept in a repository.
const SETTINGS: Settings = Settings { mode: Mode::Max, level: 22 };

impl Writer {
    /// Writes to `dir`, of images that were made of `files`, some of them of the libraries `imported`.
    ///
    /// # Errors
    /// If a source lies outside of the package, or a file cannot be read.
    pub(super) fn new(
        env: &CargoEnv,
        dir: PathBuf,
        files: &BTreeSet<PathBuf>,
        imported: &[&Library],
    ) -> Result<Writer> {
        Ok(Writer { dir, materials: materials::sort(env, files, imported)? })
    }

    /// Writes pack and record of a module.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn write(
        &self,
        context: &Context,
        variants: &[Sources],
        images: &[DeviceImage],
    ) -> Result<()> {
        let Some(first) = variants.first() else { return Ok(()) };
        let env = &context.env;
        let provenance = self.provenance(env, first, made(variants, images)?);
        let text = record::write(&provenance);
        let builder = PackBuilder::new(&env.package, &env.version);
        let packer = Packer { context, settings: SETTINGS, remote: None };
        let pack = packer.pack(builder, images.to_vec())?;
        fs::create_dir_all(&self.dir)?;
        fs::publish(&self.dir.join(format!("{}.pack", first.module)), |out| pack.write_to(out))?;
        fs::publish(&self.dir.join(format!("{}.toml", first.module)), |out| {
            out.write_all(HEADER.as_bytes())?;
            out.write_all(text.as_bytes())
        })
    }

    fn provenance(&self, env: &CargoEnv, module: &Sources, images: Vec<VendoredImage>) -> Provenance {
        let mut record = Provenance::new(env.package.clone(), module.module.clone());
        record.libraries = materials::libraries(module);
        record.machine = machine(env);
        record.made_by = concat!("offload-build ", env!("CARGO_PKG_VERSION")).to_string();
        record.sources = self.materials.sources.clone();
        record.inputs = self.materials.inputs.clone();
        record.images = images;
        record
    }
}

const HEADER: &str =
    "# Of what the images in the pack beside this file were made. Written by `cargo offload vendor`.\n\n";

fn made(variants: &[Sources], images: &[DeviceImage]) -> Result<Vec<VendoredImage>> {
    let mut hashes = BTreeMap::new();
    for sources in variants {
        hashes.insert(sources.variant.to_string(), options::hash(sources));
    }
    let mut all = Vec::new();
    for DeviceImage { record, bytes } in images {
        let blake3 = blake3::hash(&bytes.read()?).to_hex().to_string();
        let mut image = VendoredImage::new(record.target.to_string(), blake3);
        image.variant.clone_from(&record.variant);
        image.part.clone_from(&record.part);
        image.options = hashes.get(&record.variant).cloned().unwrap_or_default();
        image.size = bytes.size;
        all.push(image);
    }
    all.sort();
    Ok(all)
}
