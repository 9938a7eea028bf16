//! The same files in other formats: clang's bundler and packager, and images compressed one by one.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::cost::Cost;
use super::sets::{Kind, Set, file_name};
use super::tool::{self, Tool};
use crate::rebuild::measure::output;
use offload_tests::error::{Error, Result};
use offload_tests::setup;
use offload_tests::workspace::Workspace;

pub(super) const CCOB: &str = "CCOB, default level";
pub(super) const CCOB_19: &str = "CCOB, level 19";
pub(super) const PACKAGER: &str = "clang-offload-packager";
pub(super) const KPACK: &str = "zstd 3 an image (kpack)";
pub(super) const ICPX: &str = "zstd 10 an image (icpx)";
pub(super) const NVCC: &str = "zstd 19 an image (nvcc, size mode)";
/// All images in one zstd stream, nearly the least size that zstd reaches. Not a format in use: one image costs decoding all.
const SOLID: &str = "zstd 19, one frame of all";

/// The peers' programs.
#[derive(Debug)]
pub(super) struct Peers<'a> {
    tool: &'a Tool,
    bundler: PathBuf,
    packager: Option<PathBuf>,
    dir: PathBuf,
}

impl<'a> Peers<'a> {
    pub(super) fn find(workspace: &Workspace, tool: &'a Tool, dir: &Path) -> Result<Peers<'a>> {
        let bundler = setup::llvm(workspace, "clang-offload-bundler").ok_or_else(|| {
            Error::new("`clang-offload-bundler` is not installed").hint("cargo xtask setup all")
        })?;
        let packager = setup::llvm(workspace, "clang-offload-packager");
        Ok(Peers { tool, bundler, packager, dir: dir.to_path_buf() })
    }

    /// All that fit the kind of the set.
    pub(super) fn measure(&self, set: &Set) -> Result<Vec<Cost>> {
        Ok(match set.kind {
            Kind::Hip => {
                let mut costs =
                    vec![self.bundles(set, (CCOB, None))?, self.bundles(set, (CCOB_19, Some(19)))?];
                costs.extend(self.packaged(set)?);
                costs.push(self.zstd("each", set, (KPACK, 3))?);
                costs.push(self.zstd("solid", set, (SOLID, 19))?);
                costs
            }
            Kind::Cuda => {
                [self.zstd("each", set, (NVCC, 19))?].into_iter().chain(self.packaged(set)?).collect()
            }
            Kind::Spirv => vec![self.zstd("each", set, (ICPX, 10))?],
        })
    }

    /// A compressed bundle for each module, as each translation unit has one.
    fn bundles(&self, set: &Set, (who, level): (&str, Option<u32>)) -> Result<Cost> {
        let mut cost = Cost::new(set, who)?;
        for (module, images) in set.modules()? {
            let out = self.ccob(&module, level);
            let ids = images.iter().map(|image| bundle_id(image)).collect::<Result<Vec<_>>>()?;
            let ran = self.tool.measure(&self.bundle(&images, &ids, (&out, level))?)?;
            self.check_bundle(&out, (&images, &ids))?;
            cost.add(&ran, tool::size(&out)?);
        }
        Ok(cost)
    }

    /// One compressed bundle of all modules. The bundler knows targets and no modules: numbers tell the images apart,
    /// and none can be taken out by them.
    pub(super) fn joined(&self, set: &Set) -> Result<Cost> {
        let images: Vec<PathBuf> = set.modules()?.into_iter().flat_map(|(_, images)| images).collect();
        let ids: Vec<String> = (0..images.len()).map(|number| hip_id(&format!("gfx{number:04}"))).collect();
        let out = self.ccob("joined", None);
        let ran = self.tool.measure(&self.bundle(&images, &ids, (&out, None))?)?;
        let mut cost = Cost::new(set, CCOB)?;
        cost.add(&ran, tool::size(&out)?);
        std::fs::remove_file(&out)?;
        Ok(cost)
    }

    /// Where the bundle of a module is.
    pub(super) fn ccob(&self, module: &str, level: Option<u32>) -> PathBuf {
        self.dir.join(format!("{module}.{}.ccob", level.unwrap_or(0)))
    }

    /// As clang calls the bundler for HIP.
    fn bundle(
        &self,
        images: &[PathBuf],
        ids: &[String],
        (out, level): (&Path, Option<u32>),
    ) -> Result<Command> {
        let host = self.dir.join("host");
        std::fs::write(&host, "")?;
        let mut command = Command::new(&self.bundler);
        command.args(["-type=o", "-compress", "-bundle-align=4096"]);
        command.args(level.map(|level| format!("-compression-level={level}")));
        command.arg(format!("-targets=host-x86_64-unknown-linux-gnu,{}", ids.join(",")));
        command.arg(option("-input=", &host)).args(images.iter().map(|image| option("-input=", image)));
        command.arg(option("-output=", out));
        Ok(command)
    }

    /// What the bundler takes out again is what was put in.
    fn check_bundle(&self, bundle: &Path, (images, ids): (&[PathBuf], &[String])) -> Result<()> {
        let dir = tempfile::tempdir_in(&self.dir)?;
        let mut command = self.unbundle(bundle, ids);
        command
            .args((0..images.len()).map(|number| option("-output=", &dir.path().join(number.to_string()))));
        output(&mut command)?;
        for (number, image) in images.iter().enumerate() {
            if std::fs::read(dir.path().join(number.to_string()))? != std::fs::read(image)? {
                let text = format!("the bundler reads other bytes for `{}`", image.display());
                return Err(Error::new(text));
            }
        }
        Ok(())
    }

    /// A command that takes images out of a bundle, but for the files that they go to.
    pub(super) fn unbundle(&self, bundle: &Path, ids: &[String]) -> Command {
        let mut command = Command::new(&self.bundler);
        command.args(["-type=o", "-unbundle"]).arg(option("-input=", bundle));
        command.arg(format!("-targets={}", ids.join(",")));
        command
    }

    /// One file with all images, which LLVM's packager does not compress.
    pub(super) fn packaged(&self, set: &Set) -> Result<Option<Cost>> {
        let Some(packager) = &self.packager else { return Ok(None) };
        let out = self.dir.join("packaged");
        let mut command = Command::new(packager);
        command.arg(option("-o=", &out));
        for image in set.modules()?.into_iter().flat_map(|(_, images)| images) {
            let name = file_name(&image)?;
            let (triple, arch) = match name.split_once(':') {
                Some(("amdgcn", arch)) => ("amdgcn-amd-amdhsa", arch),
                Some((_, arch)) => ("nvptx64-nvidia-cuda", arch),
                None => ("spirv64-unknown-unknown", ""),
            };
            let mut file = option("--image=file=", &image);
            file.push(format!(",triple={triple},arch={arch}"));
            command.arg(file);
        }
        let ran = self.tool.measure(&command)?;
        let mut cost = Cost::new(set, PACKAGER)?;
        cost.add(&ran, tool::size(&out)?);
        std::fs::remove_file(&out)?;
        Ok(Some(cost))
    }

    fn zstd(&self, how: &str, set: &Set, (who, level): (&str, u32)) -> Result<Cost> {
        let mut command = self.tool.command(how);
        command.arg(&set.dir).arg(level.to_string());
        let ran = self.tool.measure(&command)?;
        let mut cost = Cost::new(set, who)?;
        cost.add(&ran, ran.value("size").unwrap_or(f64::NAN) as u64);
        Ok(cost)
    }
}

/// The bundler's name for a target: HIP's of code object version 4 and later.
pub(super) fn bundle_id(image: &Path) -> Result<String> {
    let name = file_name(image)?;
    Ok(hip_id(name.split_once(':').map_or("", |(_, target)| target)))
}

fn hip_id(target: &str) -> String {
    format!("hipv4-amdgcn-amd-amdhsa--{target}")
}

/// An option whose value is a path.
pub(super) fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}
