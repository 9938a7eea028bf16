//! Compilers other than LLVM's: nvcc, hipcc and icpx. One run makes the image of a target from all files.

use offload_format::pack::NewImage;
use offload_format::{AmdArch, SmArch, Target};

use crate::cache::Blob;
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::reading::{FrontEnd, NVCC};
use crate::compile::session::{Scan, Unit};
use crate::compile::steps::action::{self, Arg, texts};
use crate::compile::steps::check;
use crate::compile::targets::cubin;
use crate::compile::targets::ready;
use crate::error::{Error, Result};
use crate::module::DeviceImage;
use crate::tool::Tool;

/// CUDA C++ by NVIDIA's own compiler.
pub(crate) fn nvcc(session: &Session<'_>, target: &Target) -> Result<DeviceImage> {
    let (sm, output) = match target {
        Target::Nvptx(sm) => (sm, "-ptx"),
        Target::Cubin(sm) => (sm, "-cubin"),
        other => return Err(Error::new(format!("nvcc does not compile for `{other}`"))),
    };
    let tool = session.tools().nvcc()?;
    let args = nvcc_args(session, &tool, sm, output);
    let input = Some(translation_unit(session)?);
    compile(session, target, &FrontEnd { name: NVCC, tool: &tool, args, input })
}

/// `-I.`: the files are named relative to the crate, where nvcc runs; the unit itself lies elsewhere. `-v` says what
/// a cubin does not: spilled bytes.
fn nvcc_args(session: &Session<'_>, nvcc: &Tool, sm: &SmArch, output: &str) -> Vec<Arg> {
    let lines: &[&str] = if session.env().profile.debug_info { &["-lineinfo"] } else { &[] };
    let registers = session.sources.options.max_registers.map(|count| format!("-maxrregcount={count}"));
    let arch = format!("-arch={sm}");
    // Names of what is local to a file have a hash of its path, which is another one in every build.
    let path = ["-Xcicc", "--orig_src_path_name=in.cu"].map(str::to_string);
    let path = path.into_iter().filter(|_| takes_path(nvcc));
    texts(["-O3", output, &arch, "-I.", "-Xptxas", "-v"])
        .chain(texts(path))
        .chain(texts(lines.iter().copied()))
        .chain(texts(registers))
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-MD", "-MT", "out", "-MF"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".cu")])
        .collect()
}

/// Whether this nvcc is known to hand its compiler another name of the file: that of CUDA 13 does.
fn takes_path(nvcc: &Tool) -> bool {
    let release = nvcc.version.split_once("release ").map(|(_, rest)| rest);
    let major = release.and_then(|release| release.split('.').next()?.parse::<u32>().ok());
    major.is_some_and(|major| major >= 13)
}

/// HIP C++ by AMD's own compiler driver.
pub(crate) fn hipcc(session: &Session<'_>, target: &Target) -> Result<DeviceImage> {
    let Target::Amdgcn(arch) = target else {
        return Err(Error::new(format!("hipcc does not compile for `{target}`")));
    };
    let tool = session.tools().hipcc()?;
    let args = hipcc_args(session, arch);
    let input = Some(translation_unit(session)?);
    compile(session, target, &FrontEnd { name: "hipcc", tool: &tool, args, input })
}

/// A code object as it is, without a bundle around it; names without a hash of the output's path; a dependency file
/// from the inner compiler, because the driver drops `-MF`.
fn hipcc_args(session: &Session<'_>, arch: &AmdArch) -> Vec<Arg> {
    let arch = format!("--offload-arch={arch}");
    let fixed = ["--cuda-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none", "-O3", "-I.", &arch];
    texts(fixed)
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-Xclang", "-MT", "-Xclang", "out", "-Xclang", "-dependency-file", "-Xclang"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".hip")])
        .collect()
}

/// SYCL C++ by Intel's DPC++ compiler, which writes a SYCLBIN
/// (<https://github.com/intel/llvm/blob/sycl/sycl/doc/design/SYCLBINDesign.md>); its SPIR-V serves every Intel target.
///
/// No machine that this was developed on has the compiler: its command line is tested, its output is not.
pub(crate) fn icpx(session: &Session<'_>, target: &Target) -> Result<DeviceImage> {
    let module = icpx_spirv(session)?;
    match target {
        Target::Spirv64(version) => ready::taken_by(&module, *version)?,
        Target::Intel(_) => {}
        other => return Err(Error::new(format!("no compiler makes code for `{other}` from SYCL C++"))),
    }
    ready::from_spirv(session, target, module)
}

fn icpx_spirv(session: &Session<'_>) -> Result<Blob> {
    let tool = session.tools().icpx()?;
    let input = Some(translation_unit(session)?);
    let action = FrontEnd { name: "icpx", tool: &tool, args: icpx_args(session), input };
    let (file, printed) = session.front_end_with_output(&action)?;
    session.env().warn(&action::warnings(&printed));
    ready::only_ir(session, &file)
}

/// `executable`: all device code is linked. One module: kernels are identified by name, not by module.
fn icpx_args(session: &Session<'_>) -> Vec<Arg> {
    let fixed = [
        "-fsycl",
        "--offload-new-driver",
        "-fsyclbin=executable",
        "-fsycl-targets=spir64",
        "-fsycl-device-code-split=off",
        "-O2",
        "-I.",
    ];
    texts(fixed)
        .chain(texts(session.sources.flags.clone()))
        .chain(texts(["-MD", "-MT", "out", "-MF"]))
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output, Arg::InputFile(".cpp")])
        .collect()
}

/// All files as one translation unit: device code of several files is linked only at a cost in speed.
fn translation_unit(session: &Session<'_>) -> Result<String> {
    let files = session.sources.files.iter();
    files.map(|file| front_end::include_line(&file.path)).collect()
}

/// Runs `action`, and describes its output as the image of `target`.
fn compile(session: &Session<'_>, target: &Target, action: &FrontEnd<'_>) -> Result<DeviceImage> {
    let (bytes, printed) = session.front_end_with_output(action)?;
    session.env().warn(&action::warnings(&printed));
    let described = check::described(target, &bytes.read()?);
    let described = described.map_err(|error| error.with_output_of(&action.tool.path))?;
    let mut record = NewImage {
        format_version: described.format_version,
        aspects: described.aspects,
        kernels: described.kernels,
        ..Unit::whole(&Scan::default()).image_record(session, target.clone())
    };
    cubin::add_ptxas(&mut record.kernels, &printed);
    Ok(DeviceImage { record, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_named_for_releases_that_take_it() {
        for (version, takes) in [
            ("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0", true),
            ("Cuda compilation tools, release 12.9, V12.9.86", false),
            ("", false),
        ] {
            let nvcc = Tool { path: "nvcc".into(), version: version.into() };
            assert_eq!(takes_path(&nvcc), takes, "{version}");
        }
    }
}
