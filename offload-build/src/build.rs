//! What a build script says: [`Build`].

use std::path::{Path, PathBuf};

use offload_format::codec::{self, Codec, FrameInfo};
use offload_format::pack::{NoticeKind, PackBuilder};

use crate::cache::{Blob, Cache, KeyBuilder};
use crate::compile::{self, Outcome, Sources};
use crate::config::{Compression, Config};
use crate::embed::{self, Pack};
use crate::env::{self, CargoEnv};
use crate::error::{Error, Result};
use crate::generate;

/// Compiles kernel sources and embeds the images; a builder in the manner of `cc::Build`.
///
/// All files of one `Build` form one kernel module. Flags reach the compiler in this order, later ones winning:
/// what the target needs, the language, include directories, definitions, [`Build::flag`].
///
/// ```no_run
/// offload_build::Build::new()
///     .file("kernels/blas.cl")
///     .file("kernels/stats.cl")
///     .include("kernels")
///     .define("TILE", "16")
///     .compile("demo");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Build {
    files: Vec<PathBuf>,
    includes: Vec<PathBuf>,
    defines: Vec<String>,
    flags: Vec<String>,
    std: OpenClStd,
}

/// A version of OpenCL C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenClStd {
    /// OpenCL C 1.2, which every device takes.
    #[default]
    C12,
    /// OpenCL C 2.0.
    C20,
    /// OpenCL C 3.0.
    C30,
}

impl Build {
    /// A build without files.
    pub fn new() -> Build {
        Build::default()
    }

    /// Adds a kernel source; the path is relative to the crate's Cargo.toml.
    pub fn file(&mut self, path: impl AsRef<Path>) -> &mut Build {
        self.files.push(path.as_ref().to_path_buf());
        self
    }

    /// Adds kernel sources.
    pub fn files<P: AsRef<Path>>(&mut self, paths: impl IntoIterator<Item = P>) -> &mut Build {
        self.files.extend(paths.into_iter().map(|path| path.as_ref().to_path_buf()));
        self
    }

    /// Adds a directory where `#include` looks.
    pub fn include(&mut self, dir: impl AsRef<Path>) -> &mut Build {
        self.includes.push(dir.as_ref().to_path_buf());
        self
    }

    /// Defines a macro.
    pub fn define(&mut self, name: &str, value: &str) -> &mut Build {
        self.defines.push(format!("-D{name}={value}"));
        self
    }

    /// Adds a flag for clang's front end, which sees it for every target.
    pub fn flag(&mut self, flag: &str) -> &mut Build {
        self.flags.push(flag.to_string());
        self
    }

    /// Chooses the version of OpenCL C; 1.2 unless said.
    pub fn std(&mut self, std: OpenClStd) -> &mut Build {
        self.std = std;
        self
    }

    /// Compiles and embeds the kernels as the module `name`; on failure shows the error and ends the build script
    /// with exit code 1.
    pub fn compile(&self, name: &str) {
        if let Err(error) = self.try_compile(name) {
            env::exit_with(&error);
        }
    }

    /// Compiles and embeds the kernels as the module `name`.
    ///
    /// # Errors
    /// If the configuration is wrong, a tool is missing, a kernel does not compile, or an image is not what it
    /// should be.
    pub fn try_compile(&self, name: &str) -> std::result::Result<(), Error> {
        let sources = self.sources(name)?;
        let env = CargoEnv::read()?;
        let config = Config::load(&env)?;
        let cache = Cache::open(&env)?;
        let anchor = cache.remaking(|| {
            let pack = match env.skip_reason() {
                Some(reason) => skipped(&env, name, reason)?,
                None => {
                    let outcome = compile::images(&env, &cache, &config, &sources)?;
                    pack(&env, &cache, &config, (name, outcome))?
                }
            };
            embed::embed(&env, name, &pack)
        })?;
        generate::write(&env, name, &anchor)?;
        env.send();
        cache.sweep();
        Ok(())
    }

    fn sources(&self, name: &str) -> Result<Sources> {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(legal) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Error::new(format!("`{}` cannot name a kernel module", name.escape_default()))
                .hint("use letters, digits, `_` and `-`, with a letter first"));
        }
        if self.files.is_empty() {
            return Err(Error::new(format!("the kernel module `{name}` has no files"))
                .hint("add `.file(\"kernel.cl\")`"));
        }
        let includes = self.includes.iter().map(|dir| format!("-I{}", dir.display()));
        Ok(Sources {
            module: name.to_string(),
            files: self.files.clone(),
            std: match self.std {
                OpenClStd::C12 => "CL1.2",
                OpenClStd::C20 => "CL2.0",
                OpenClStd::C30 => "CL3.0",
            },
            flags: includes.chain(self.defines.iter().cloned()).chain(self.flags.iter().cloned()).collect(),
        })
    }
}

fn skipped(env: &CargoEnv, module: &str, reason: &str) -> Result<Pack> {
    let mut builder = PackBuilder::new(&env.package, &env.version);
    builder.notice(NoticeKind::SkippedBuild, [module, "", reason]);
    Ok(Pack { layout: builder.finish()?, frames: Vec::new() })
}

/// Compresses every image and lays out the pack.
fn pack(env: &CargoEnv, cache: &Cache, config: &Config, (module, outcome): (&str, Outcome)) -> Result<Pack> {
    let mut builder = PackBuilder::new(&env.package, &env.version);
    for (target, reason) in &outcome.skipped {
        builder.notice(NoticeKind::SkippedTarget, [module, &target.to_string(), reason]);
    }
    let mut frames = Vec::new();
    for compiled in outcome.images {
        let (info, frame) = compress(cache, config.compression, &compiled.raw)?;
        builder.image(compiled.image, info)?;
        frames.push((info.hash, frame));
    }
    let layout = builder.finish()?;
    let find = |hash| frames.iter().find(|(other, _)| *other == hash).map(|(_, frame)| frame.clone());
    let frames = layout.frames.iter().filter_map(|placement| find(placement.hash)).collect();
    Ok(Pack { layout, frames })
}

fn compress(cache: &Cache, compression: Compression, raw: &Blob) -> Result<(FrameInfo, Blob)> {
    let level = match compression {
        Compression::None => {
            return Ok((FrameInfo::new(Codec::Raw, raw.size, (raw.size, raw.hash)), raw.clone()));
        }
        Compression::Zstd { level } => level,
    };
    let key = KeyBuilder::new("zstd 1").part(&raw.hash.0).part(&level.to_le_bytes()).finish();
    let frame =
        cache.get_or(key, || Ok(codec::encode(&raw.read()?, Codec::Zstd, level)?.bytes().to_vec()))?;
    // An image that does not shrink is kept as it is.
    let codec = if frame.hash == raw.hash { Codec::Raw } else { Codec::Zstd };
    Ok((FrameInfo::new(codec, frame.size, (raw.size, raw.hash)), frame))
}
