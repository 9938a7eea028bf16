//! Verdict on a requirement for a file, and its output.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_rt::{DeviceDescription, Entry};
use serde::Serialize;

use super::missing::{MissingImages, MissingKind, many, named};
use super::modules::{Module, kernels};
use super::requirement::{ImageRequirement, Requirement, Requirements};
use crate::commands::verify::message::Problem;
use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::text::{counted, escaped};

/// A demand, and the modules of a file that have to meet it.
pub(super) struct RequirementVerdict<'j> {
    demand: &'j Requirement,
    /// The modules that do, by the targets of the images that are meant.
    met: BTreeMap<String, Vec<String>>,
    /// Those that do not, by what is wrong.
    unmet: BTreeMap<MissingImages, Vec<String>>,
    /// Those that do not, and may.
    excepted: Vec<String>,
    /// One of those is of this project, whose targets are in `offload.toml`.
    is_own: bool,
}

#[derive(Debug, Serialize)]
struct MetMessage<'a> {
    reason: &'static str,
    file: &'a str,
    demand: &'a str,
    /// The targets of the images that are meant.
    targets: &'a str,
    modules: &'a [String],
}

#[derive(Debug, Serialize)]
struct ExceptedMessage<'a> {
    reason: &'static str,
    file: &'a str,
    demand: &'a str,
    modules: &'a [String],
}

#[derive(Debug, Serialize)]
struct UnmetMessage<'a> {
    reason: &'static str,
    file: &'a str,
    demand: &'a str,
    /// In these modes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    setting: Option<&'a str>,
    modules: &'a [String],
    /// Of how many.
    of: usize,
    /// Kernels without an image; empty if all are.
    kernels: &'a [String],
    /// Targets of the module, and for a device the reasons why it loads none.
    there: &'a [String],
    hint: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    reason: &'static str,
    files: usize,
    modules: usize,
    problems: u64,
    /// Kinds of code for a later link that were passed over.
    #[serde(skip)]
    for_link: usize,
}

/// Verdicts on all requirements for a file, by module.
pub(super) struct Verdicts<'j> {
    demands: &'j Requirements,
    judged: BTreeMap<&'j str, RequirementVerdict<'j>>,
    modules: usize,
}

impl Requirements {
    /// Of a file none of whose modules was judged.
    pub(super) fn verdicts(&self) -> Verdicts<'_> {
        Verdicts { demands: self, judged: BTreeMap::new(), modules: 0 }
    }
}

impl<'j> Verdicts<'j> {
    /// Adds whether `module` meets what is demanded of it.
    pub(super) fn add(&mut self, module: &Module<'_>) {
        self.modules = self.modules.saturating_add(1);
        for demand in self.demands.for_module(&module.name) {
            self.judged
                .entry(&demand.text)
                .or_insert_with(|| RequirementVerdict {
                    demand,
                    met: BTreeMap::new(),
                    unmet: BTreeMap::new(),
                    excepted: Vec::new(),
                    is_own: false,
                })
                .add(module);
        }
    }

    /// The number of modules.
    pub(super) fn modules(&self) -> usize {
        self.modules
    }

    /// The verdict on each requirement, in order.
    pub(super) fn finish(mut self) -> Vec<RequirementVerdict<'j>> {
        self.demands.texts().into_iter().filter_map(|text| self.judged.remove(text)).collect()
    }
}

impl RequirementVerdict<'_> {
    fn add(&mut self, module: &Module<'_>) {
        match self.judge_module(module) {
            Ok(targets) => {
                let targets = targets.into_iter().collect::<Vec<_>>().join(", ");
                self.met.entry(targets).or_default().push(module.shown());
            }
            Err(_) if module.may_lack(&self.demand.text) => self.excepted.push(module.shown()),
            Err(lack) => {
                self.is_own |= module.is_own();
                self.unmet.entry(lack).or_default().push(module.shown());
            }
        }
    }

    /// The targets of the images that meet all parts of the demand.
    fn judge_module(&self, module: &Module<'_>) -> std::result::Result<BTreeSet<String>, MissingImages> {
        let mut targets = BTreeSet::new();
        for part in self.demand.parts(&module.images) {
            let met = match &part.wanted {
                ImageRequirement::Any(device) => selected_targets(module, &part.wanted, &device.description),
                wanted => meant(module, wanted),
            };
            targets.extend(met.map_err(|images| MissingImages { setting: part.setting, images })?);
        }
        Ok(targets)
    }

    fn modules(&self) -> usize {
        let judged = self.met.values().chain(self.unmet.values()).map(Vec::len).sum::<usize>();
        judged.saturating_add(self.excepted.len())
    }
}

/// The targets of the images that are wanted.
fn meant(
    module: &Module<'_>,
    wanted: &ImageRequirement,
) -> std::result::Result<BTreeSet<String>, MissingKind> {
    let meant: Vec<&Entry> =
        module.images.iter().copied().filter(|image| wanted.judge(image).is_ok()).collect();
    if meant.is_empty() {
        return Err(MissingKind::All(named_targets(module)));
    }
    // An image without records of its kernels counts as having all.
    let targets = meant.iter().map(|image| image.target_text().to_string()).collect();
    if meant.iter().all(|image| !image.kernels().is_empty()) {
        all_of(module, &kernels(&meant), &targets)?;
    }
    Ok(targets)
}

/// The targets of the images that the device would get.
fn selected_targets(
    module: &Module<'_>,
    wanted: &ImageRequirement,
    device: &DeviceDescription,
) -> std::result::Result<BTreeSet<String>, MissingKind> {
    let selection = module.registry.and_then(|registry| {
        registry.request(&module.name).variants(module.variant.iter()).select(device).ok()
    });
    let Some(selection) = selection else {
        return Err(MissingKind::All(refusals(module, wanted)));
    };
    let has = selection.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    let targets = selection.entries().iter().map(|image| image.target_text().to_string()).collect();
    if !selection.entries().iter().any(|image| image.kernels().is_empty()) {
        all_of(module, &has, &targets)?;
    }
    Ok(targets)
}

/// The reasons why the device rejects each image.
fn refusals(module: &Module<'_>, wanted: &ImageRequirement) -> Vec<String> {
    if module.images.is_empty() {
        return named_targets(module);
    }
    let refusals: BTreeSet<String> = module
        .images
        .iter()
        .map(|image| match wanted.judge(image) {
            Err(Some(why)) => format!("{}: {why}", image.target_text()),
            _ => image.target_text().to_string(),
        })
        .collect();
    refusals.into_iter().collect()
}

/// For what the module has images, as far as the file says it.
fn named_targets(module: &Module<'_>) -> Vec<String> {
    module.targets().into_iter().filter(|target| !target.is_empty()).collect()
}

/// Refuses images for `targets` that have not all kernels of `module`, but for those that its settings keep away.
fn all_of(
    module: &Module<'_>,
    has: &BTreeSet<&str>,
    targets: &BTreeSet<String>,
) -> std::result::Result<(), MissingKind> {
    let all = kernels(&module.images);
    let lacking = all.difference(has).filter(|kernel| !module.keeps_away(kernel, targets));
    let lacking: Vec<String> = lacking.map(ToString::to_string).collect();
    if lacking.is_empty() { Ok(()) } else { Err(MissingKind::Kernels(lacking)) }
}

impl Summary {
    pub(super) fn add_file(&mut self, modules: usize) {
        self.files = self.files.saturating_add(usize::from(modules > 0));
        self.modules = self.modules.saturating_add(modules);
    }

    pub(super) fn add_for_link(&mut self, kinds: usize) {
        self.for_link = self.for_link.saturating_add(kinds);
    }

    /// A file was not looked into, and may not be left out.
    pub(super) fn add_unread(&mut self) {
        self.problems = self.problems.saturating_add(1);
    }

    /// Counts an unreadable file as a problem, because it may lack any image.
    pub(super) fn add_problem(&mut self, output: &Output, file: &str, problem: &str) -> Result<()> {
        self.problems = self.problems.saturating_add(1);
        let text = format!("error: {}: {problem}", escaped(file));
        output.message(&Problem { reason: "unreadable", package: "", problem }, &text)
    }

    pub(super) fn add(&mut self, output: &Output, file: &str, judged: &RequirementVerdict<'_>) -> Result<()> {
        let demand = judged.demand.text.as_str();
        let shown = escaped(file);
        let of = judged.modules();
        for (targets, modules) in &judged.met {
            let message = MetMessage { reason: "met", file, demand, targets, modules };
            let text = format!("ok: {shown}: {demand}: {} by {}", named(modules), escaped(targets));
            output.done(&message, &text)?;
        }
        if !judged.excepted.is_empty() {
            let modules = &judged.excepted;
            let message = ExceptedMessage { reason: "excepted", file, demand, modules };
            output
                .done(&message, &format!("excepted: {shown}: {demand}: no image in {}", many(modules, of)))?;
        }
        for (lack, modules) in &judged.unmet {
            self.problems = self.problems.saturating_add(1);
            let none = Vec::new();
            let (kernels, there) = match &lack.images {
                MissingKind::All(there) => (&none, there),
                MissingKind::Kernels(kernels) => (kernels, &none),
            };
            let setting = lack.setting.as_deref();
            let target = judged.demand.target().filter(|_| judged.is_own);
            let hint = target.map(|target| format!("`cargo offload targets add {target}`, and build again"));
            let hint_line = hint.as_ref().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            let text = format!("error: {shown}: {demand}: {}{hint_line}", lack.sentence(modules, of));
            output.message(
                &UnmetMessage { reason: "unmet", file, demand, setting, modules, of, kernels, there, hint },
                &text,
            )?;
        }
        Ok(())
    }

    /// # Errors
    /// There was nothing to be judged.
    pub(super) fn finish(mut self, output: &Output, paths: &[PathBuf]) -> Result<ExitStatus> {
        if self.files == 0 && self.problems == 0 {
            let shown: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
            let that = if self.for_link > 0 { " that a driver takes" } else { "" };
            return Err(Error::check(format!("{} has no device images{that}", shown.join(", "))));
        }
        self.reason = "summary";
        let [files, modules] =
            [(self.files, "file"), (self.modules, "module")].map(|(n, what)| counted(n as u64, what));
        let text = format!("{modules} in {files}, {}", counted(self.problems, "problem"));
        output.done(&self, &text)?;
        Ok(if self.problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
    }
}
