//! `export`: an image for other programs, as SYCLBIN or as it is.

use std::path::PathBuf;

use offload_format::pack::{Image, Pack};
use offload_format::syclbin::{self, ImageKindNumber, KERNEL_PREFIX, State};
use offload_format::{ImageKind, spirv};
use serde::Serialize;

use crate::carrier::{Carrier, FoundPack};
use crate::cli::{self, ExportFormat, SyclRuntime};
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::publish::publish;

#[derive(Debug, Serialize)]
struct Message<'a> {
    reason: &'static str,
    module: &'a str,
    target: &'a str,
    file: String,
    size: u64,
}

pub(super) fn run(output: &Output, args: &cli::Export) -> Result<ExitStatus> {
    let carrier = Carrier::open(&args.path)?;
    let all: Vec<Candidate<'_>> = candidates(&carrier)?;
    let chosen = choose(&all, args)?;
    let raw = carrier.decode(chosen.found, &chosen.pack, &chosen.image)?;
    let (content, ending) = match args.format {
        ExportFormat::Raw => (raw, raw_ending(chosen.image.image_kind)),
        ExportFormat::Syclbin => (syclbin(&raw, args.runtime)?, "syclbin"),
    };
    let (module, target) = (chosen.image.module, chosen.image.target_text);
    let path = args.output.clone().unwrap_or_else(|| default_name(module, ending));
    publish(&path, &content)?;
    let message = Message {
        reason: "exported",
        module,
        target,
        file: path.display().to_string(),
        size: content.len() as u64,
    };
    let text = format!("wrote {} ({} bytes) from {target} of module {module}", path.display(), content.len());
    output.message(&message, &text)?;
    Ok(ExitStatus::Success)
}

struct Candidate<'a> {
    found: &'a FoundPack,
    pack: Pack<'a>,
    image: Image<'a>,
}

fn candidates(carrier: &Carrier) -> Result<Vec<Candidate<'_>>> {
    let mut all = Vec::new();
    for (found, pack) in carrier.packs() {
        for image in pack.images() {
            let image = image.map_err(|error| Error::check(error.to_string()))?;
            all.push(Candidate { found, pack, image });
        }
    }
    Ok(all)
}

/// The one image that module, target and format leave.
fn choose<'a, 'b>(all: &'b [Candidate<'a>], args: &cli::Export) -> Result<&'b Candidate<'a>> {
    let fits = |candidate: &&Candidate<'_>| {
        let image = &candidate.image;
        args.module.as_ref().is_none_or(|module| module == image.module)
            && args.target.as_ref().is_none_or(|target| target == image.target_text)
            && (args.format == ExportFormat::Raw || image.image_kind == ImageKind::SpirV)
    };
    let fitting: Vec<_> = all.iter().filter(fits).collect();
    let listed = |candidates: &mut dyn Iterator<Item = &Candidate<'_>>| {
        let name =
            |candidate: &Candidate<'_>| format!("{} {}", candidate.image.module, candidate.image.target_text);
        candidates.map(name).collect::<Vec<_>>().join(", ")
    };
    match fitting.as_slice() {
        [only] => Ok(only),
        [] => {
            let what = if args.format == ExportFormat::Syclbin { "SPIR-V image" } else { "image" };
            let error = Error::usage(format!("there is no such {what} in `{}`", args.path.display()));
            Err(error.hint(format!("it has {}", listed(&mut all.iter()))))
        }
        several => {
            let error = Error::usage("several images fit");
            let names = listed(&mut several.iter().copied());
            Err(error.hint(format!("choose with --module and --target among {names}")))
        }
    }
}

/// A SYCL runtime finds a kernel only under a prefixed name.
fn syclbin(spirv: &[u8], runtime: SyclRuntime) -> Result<Vec<u8>> {
    let failed =
        |error: offload_format::Error| Error::check(format!("the SPIR-V cannot be exported: {error}"));
    let spirv = spirv::with_prefixed_kernels(spirv, KERNEL_PREFIX).map_err(failed)?;
    let parsed = spirv::Module::parse(&spirv).map_err(failed)?;
    let names = parsed.kernels().iter().map(|entry| entry.name.clone());
    let module = syclbin::Module {
        kernels: names.collect(),
        aspects: parsed.capabilities().iter().filter_map(|capability| aspect(*capability)).collect(),
        spirv: &spirv,
    };
    let kind = match runtime {
        SyclRuntime::Oneapi2026 => ImageKindNumber::default(),
        SyclRuntime::Oneapi2025_3 => ImageKindNumber::ONEAPI_2025_3,
    };
    syclbin::write(State::Executable, &[module], kind).map_err(failed)
}

/// The SYCL aspect that a SPIR-V capability asks for
/// (<https://github.com/intel/llvm/blob/sycl/sycl/include/sycl/info/aspects.def>).
fn aspect(capability: u32) -> Option<u32> {
    match capability {
        // Float16, Float64, Int64Atomics.
        9 => Some(5),
        10 => Some(6),
        12 => Some(28),
        _ => None,
    }
}

fn raw_ending(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::SpirV => "spv",
        ImageKind::OpenClC => "cl",
        ImageKind::HostObject => "so",
        ImageKind::Ptx => "ptx",
        ImageKind::Cubin => "cubin",
        _ => "bin",
    }
}

/// The module's name, without anything that would lead elsewhere: it comes from the file.
fn default_name(module: &str, ending: &str) -> PathBuf {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    PathBuf::from(format!("{}.{ending}", module.chars().take(100).map(safe).collect::<String>()))
}
