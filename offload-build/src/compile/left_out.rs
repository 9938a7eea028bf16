//! Kernels that images for a target are without: what the settings keep to other targets, and what comes to code that only
//! NVIDIA's targets have. The other kernels of their files are compiled.

use std::collections::{BTreeMap, BTreeSet};

use offload_clang::inline_ptx::is_ptx;
use offload_format::Target;
use offload_ir::{ForeignCode, ForeignConstruct, References};

use crate::cache::{Blob, read_texts};
use crate::compile::Session;
use crate::compile::advice::ptx;
use crate::compile::session::Scan;
use crate::compile::targets::{host, llvm};
use crate::error::{Error, Result};
use crate::module::{LanguageFamily, LeftOutKernel, family};
use crate::options::TargetKind;
use crate::targets::WantedTarget;

/// A kernel that no code is made of for a target, though the settings leave it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefusedKernel {
    pub(super) kernel: String,
    pub(super) what: ForeignConstruct,
    /// Where that is, and what.
    pub(super) reason: String,
}

/// The kernels of a module for one target.
#[derive(Debug)]
pub(super) struct KeptScan {
    /// With the kernels that it has.
    pub(super) scan: Scan,
    pub(super) refused: Vec<RefusedKernel>,
}

/// `scan` with the kernels that `target` has code for.
///
/// # Errors
/// None is left, and at least one is refused.
pub(super) fn kept(session: &Session<'_>, scan: Scan, target: &Target) -> Result<KeptScan> {
    let mut scan = scan.by_settings(session, target);
    let mut refused = Vec::new();
    let is_vendors = matches!(family(&session.sources.files), Ok(LanguageFamily::Cuda | LanguageFamily::Hip));
    if !is_vendors || scan.has_no_kernel() {
        return Ok(KeptScan { scan, refused });
    }
    let is_nvidia = matches!(target, Target::Nvptx(_) | Target::Cubin(_));
    let modules = modules(session, &scan, target, LineTables::AsNeeded)?;
    let texts = read_texts(&modules)?;
    let mut all = foreign(&texts, is_nvidia);
    if all.is_empty() {
        return Ok(KeptScan { scan, refused });
    }
    if all.iter().any(|(_, code)| code.place.is_none()) {
        let modules = self::modules(session, &scan, target, LineTables::Always)?;
        all = foreign(&read_texts(&modules)?, is_nvidia);
    }
    let references = References::new(&texts);
    for (number, file) in scan.files.iter_mut().enumerate() {
        let path = file.file.path.display().to_string();
        file.kernels.retain(|kernel| {
            let Some(code) = references.first_reached(number, &kernel.name, &all) else { return true };
            let kernel = kernel.name.clone();
            refused.push(RefusedKernel { kernel, what: code.what.clone(), reason: ptx::reason(&path, code) });
            false
        });
        let here = all.iter().filter(|(of, _)| *of == number);
        file.foreign = here.map(|(_, code)| code.function.clone()).collect();
    }
    match refused.first() {
        // They are meant for it.
        Some(first) if is_nvidia => {
            let hint = format!(
                "write `cuda-sdk = true` below `[modules.{}]` in offload.toml for NVIDIA's headers",
                session.sources.module
            );
            Err(Error::new(first.reason.clone()).with_hint(hint))
        }
        Some(first) if scan.has_no_kernel() => {
            Err(Error::new(first.reason.clone()).with_hint(ptx::hint(&first.what)))
        }
        _ => Ok(KeptScan { scan, refused }),
    }
}

/// Whether a front end writes the lines of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineTables {
    /// If it does for an image.
    AsNeeded,
    Always,
}

/// The IR of each file for `target`.
fn modules(session: &Session<'_>, scan: &Scan, target: &Target, lines: LineTables) -> Result<Vec<Blob>> {
    let always = lines == LineTables::Always;
    let flags: &[&str] = if always { &["-gline-tables-only"] } else { &[] };
    let results = session.context().jobs.map(&scan.files, |file| match target {
        Target::Host(level) => host::cuda_ir(session, &file.file, *level, flags),
        _ if always => llvm::with_types(session, &file.file, target),
        _ => Ok(file.ir.clone()),
    });
    results.into_iter().collect()
}

/// The foreign code of each file, by the file's number.
fn foreign(texts: &[String], is_nvidia: bool) -> Vec<(usize, ForeignCode)> {
    let mut all = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let found = offload_ir::foreign_code(text, |template| !is_nvidia && is_ptx(template));
        all.extend(found.into_iter().map(|code| (number, code)));
    }
    all
}

/// Warns of the kernels that each target is without, once for those with the same reason.
pub(super) fn warn(session: &Session<'_>, of_targets: &[(&WantedTarget, &[RefusedKernel])]) {
    // By kernel, the first reason and the targets.
    let mut kernels: BTreeMap<&str, (&str, BTreeSet<String>)> = BTreeMap::new();
    for (wanted, refused) in of_targets {
        for RefusedKernel { kernel, reason, .. } in *refused {
            let known = kernels.entry(kernel).or_insert((reason, BTreeSet::new()));
            known.1.insert(format!("`{}`", wanted.target));
        }
    }
    let mut reasons: BTreeMap<(&str, BTreeSet<String>), Vec<&str>> = BTreeMap::new();
    for (kernel, reason) in kernels {
        reasons.entry(reason).or_default().push(kernel);
    }
    let name = session.sources.name();
    let module = &session.sources.module;
    for ((reason, targets), kernels) in reasons {
        let targets: Vec<String> = targets.into_iter().collect();
        let first = kernels.first().copied().unwrap_or_default();
        let kinds: Vec<String> =
            kept_kinds(first, of_targets).iter().map(|kind| format!("\"{kind}\"")).collect();
        session.env().warn(&format!(
            "`{name}`: {reason}; left out for {}: {}. `kernels.{first}.targets = [{}]` below `[modules.{module}]` in offload.toml says so",
            targets.join(", "),
            listed(&kernels),
            kinds.join(", ")
        ));
    }
}

/// The kinds of targets that have `kernel`: NVIDIA's, and those of `of_targets` that do not refuse it.
fn kept_kinds(kernel: &str, of_targets: &[(&WantedTarget, &[RefusedKernel])]) -> Vec<TargetKind> {
    let mut kinds = vec![TargetKind::Nvptx, TargetKind::Cubin];
    for (wanted, refused) in of_targets {
        let Some(kind) = TargetKind::for_target(&wanted.target) else { continue };
        let is_refused = refused.iter().any(|other| other.kernel == kernel);
        if !is_refused && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The kernels as a sentence has them; of many the first.
fn listed(kernels: &[&str]) -> String {
    /// How many are named.
    const NAMED: usize = 4;
    let what = if kernels.len() == 1 { "kernel" } else { "kernels" };
    let names: Vec<String> = kernels.iter().take(NAMED).map(|kernel| format!("`{kernel}`")).collect();
    let others = kernels.len().saturating_sub(NAMED);
    let others = if others == 0 { String::new() } else { format!(" and {others} others") };
    format!("{what} {}{others}", names.join(", "))
}

/// What the pack says of the kernels that the settings keep away from `targets`.
pub(super) fn settings_records(session: &Session<'_>, targets: &[WantedTarget]) -> Vec<LeftOutKernel> {
    let options = &session.sources.options;
    let mut records = Vec::new();
    for kernel in options.kernels.keys() {
        for wanted in targets {
            let Some(kinds) = options.left_out_of(kernel, &wanted.target) else { continue };
            let reason = format!("the settings keep it to {}", kinds_listed(kinds));
            let target = wanted.target.clone();
            let kernel = kernel.clone();
            records.push(LeftOutKernel { target, kernel, is_by_settings: true, reason });
        }
    }
    records
}

fn kinds_listed(kinds: &[TargetKind]) -> String {
    let names: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
    names.join(", ")
}

/// What the pack says of the kernels that `target` has no code for.
pub(super) fn records(target: &Target, refused: &[RefusedKernel]) -> Vec<LeftOutKernel> {
    let mut records = Vec::new();
    for RefusedKernel { kernel, reason, .. } in refused {
        let [kernel, reason] = [kernel, reason].map(Clone::clone);
        records.push(LeftOutKernel { target: target.clone(), kernel, is_by_settings: false, reason });
    }
    records
}
