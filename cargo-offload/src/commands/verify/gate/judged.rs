//! What came of a demand in a file, and how it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_rt::Entry;
use serde::Serialize;

use super::demand::{Demand, Demands, Wanted};
use super::modules::{Module, kernels};
use crate::commands::verify::message::Problem;
use crate::error::{Error, ExitStatus, Result};
use crate::print::output::Output;
use crate::print::text::{counted, escaped};

/// Of so many modules people see the names.
const NAMED: usize = 3;

/// A demand, and the modules of a file that have to meet it.
pub(super) struct Judged<'j> {
    demand: &'j Demand,
    /// The modules that do, by the targets of the images that are meant.
    met: BTreeMap<String, Vec<String>>,
    /// Those that do not, by what is wrong.
    unmet: BTreeMap<Lack, Vec<String>>,
    /// One of those is of this project, whose targets are in `offload.toml`.
    is_own: bool,
}

/// What a module lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    /// Every image. The texts are the targets that it has, each with the reason where there is one.
    All(Vec<String>),
    /// These kernels.
    Kernels(Vec<String>),
}

#[derive(Debug, Serialize)]
struct Met<'a> {
    reason: &'static str,
    file: &'a str,
    demand: &'a str,
    /// The targets of the images that are meant.
    targets: &'a str,
    modules: &'a [String],
}

#[derive(Debug, Serialize)]
struct Unmet<'a> {
    reason: &'static str,
    file: &'a str,
    demand: &'a str,
    modules: &'a [String],
    /// Of how many.
    of: usize,
    /// Kernels without an image; empty if all are.
    kernels: &'a [String],
    /// What there is instead, and for a device why it takes none of it.
    there: &'a [String],
    hint: Option<String>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    reason: &'static str,
    files: usize,
    modules: usize,
    problems: u64,
}

impl Demands {
    /// Whether `modules` meet what is demanded of each.
    pub(super) fn judge<'j>(&'j self, modules: &[Module<'_>]) -> Vec<Judged<'j>> {
        let mut judged: BTreeMap<&str, Judged<'j>> = BTreeMap::new();
        for module in modules {
            for demand in self.of_module(&module.name) {
                let fresh = || Judged { demand, met: BTreeMap::new(), unmet: BTreeMap::new(), is_own: false };
                judged.entry(&demand.text).or_insert_with(fresh).add(module);
            }
        }
        self.texts().into_iter().filter_map(|text| judged.remove(text)).collect()
    }
}

impl Judged<'_> {
    fn add(&mut self, module: &Module<'_>) {
        let judged = match &self.demand.wanted {
            Wanted::Any(_) => self.picked(module),
            _ => self.meant(module),
        };
        match judged {
            Ok(targets) => self.met.entry(targets).or_default().push(module.shown()),
            Err(lack) => {
                self.is_own |= module.is_own();
                self.unmet.entry(lack).or_default().push(module.shown());
            }
        }
    }

    /// The targets of the images that are meant.
    fn meant(&self, module: &Module<'_>) -> std::result::Result<String, Lack> {
        let is_meant = |image: &&Entry| self.demand.judge(image).is_ok();
        let meant: Vec<&Entry> = module.images.iter().copied().filter(is_meant).collect();
        if meant.is_empty() {
            return Err(Lack::All(module.targets().into_iter().collect()));
        }
        // An image without records of its kernels counts as having all.
        if meant.iter().all(|image| !image.kernels().is_empty()) {
            all_of(kernels(&module.images), &kernels(&meant))?;
        }
        Ok(targets(meant.into_iter()))
    }

    /// The targets of the images that the device would get.
    fn picked(&self, module: &Module<'_>) -> std::result::Result<String, Lack> {
        let Wanted::Any(device) = &self.demand.wanted else { return Err(Lack::All(Vec::new())) };
        let values: Vec<(&str, &str)> = module.variant.iter().collect();
        let selection =
            module.registry.and_then(|registry| registry.select_variant(&module.name, &values, device).ok());
        let Some(selection) = selection else { return Err(Lack::All(self.refusals(module))) };
        let has = selection.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        if !has_silent(selection.entries()) {
            all_of(kernels(&module.images), &has)?;
        }
        Ok(targets(selection.entries().iter()))
    }

    /// Why the device takes none of the images.
    fn refusals(&self, module: &Module<'_>) -> Vec<String> {
        let refusal = |image: &&Entry| match self.demand.judge(image) {
            Err(Some(why)) => format!("{}: {why}", image.target_text()),
            _ => image.target_text().to_string(),
        };
        let mut told: BTreeSet<String> = module.images.iter().map(refusal).collect();
        if module.images.is_empty() {
            told = module.targets();
        }
        told.into_iter().collect()
    }

    fn modules(&self) -> usize {
        self.met.values().chain(self.unmet.values()).map(Vec::len).sum()
    }
}

fn has_silent(images: &[Entry]) -> bool {
    images.iter().any(|image| image.kernels().is_empty())
}

fn all_of(all: BTreeSet<&str>, has: &BTreeSet<&str>) -> std::result::Result<(), Lack> {
    let lacking: Vec<String> = all.difference(has).map(ToString::to_string).collect();
    if lacking.is_empty() { Ok(()) } else { Err(Lack::Kernels(lacking)) }
}

fn targets<'i>(images: impl Iterator<Item = &'i Entry>) -> String {
    let targets: BTreeSet<&str> = images.map(Entry::target_text).collect();
    targets.into_iter().collect::<Vec<_>>().join(", ")
}

impl Summary {
    pub(super) fn add_file(&mut self, modules: usize) {
        self.files = self.files.saturating_add(usize::from(modules > 0));
        self.modules = self.modules.saturating_add(modules);
    }

    /// What cannot be read may lack anything.
    pub(super) fn add_problem(&mut self, output: &Output, file: &str, problem: &str) -> Result<()> {
        self.problems = self.problems.saturating_add(1);
        let text = format!("error: {}: {problem}", escaped(file));
        output.message(&Problem { reason: "unreadable", package: "", problem }, &text)
    }

    pub(super) fn add(&mut self, output: &Output, file: &str, judged: &Judged<'_>) -> Result<()> {
        let (demand, shown, of) = (judged.demand.text.as_str(), escaped(file), judged.modules());
        for (targets, modules) in &judged.met {
            let message = Met { reason: "met", file, demand, targets, modules };
            let text = format!("ok: {shown}: {demand}: {} by {}", named(modules), escaped(targets));
            output.done(&message, &text)?;
        }
        for (lack, modules) in &judged.unmet {
            self.problems = self.problems.saturating_add(1);
            let none = Vec::new();
            let (kernels, there) = match lack {
                Lack::All(there) => (&none, there),
                Lack::Kernels(kernels) => (kernels, &none),
            };
            let target = judged.demand.target().filter(|_| judged.is_own);
            let hint = target.map(|target| format!("`cargo offload targets add {target}`, and build again"));
            let told = hint.as_ref().map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            let text = format!("error: {shown}: {demand}: {}{told}", lack.sentence(modules, of));
            output.message(
                &Unmet { reason: "unmet", file, demand, modules, of, kernels, there, hint },
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
            return Err(Error::check(format!("{} carries no device images", shown.join(", "))));
        }
        self.reason = "summary";
        let [files, modules] =
            [(self.files, "file"), (self.modules, "module")].map(|(n, what)| counted(n as u64, what));
        let text = format!("{modules} in {files}, {}", counted(self.problems, "problem"));
        output.done(&self, &text)?;
        Ok(if self.problems == 0 { ExitStatus::Success } else { ExitStatus::CheckFailed })
    }
}

impl Lack {
    fn sentence(&self, modules: &[String], of: usize) -> String {
        match self {
            Lack::Kernels(kernels) => {
                format!("{} lacks {}", named(modules), escaped(&shortened(kernels)))
            }
            Lack::All(there) if there.is_empty() => format!("nothing in {}", many(modules, of)),
            Lack::All(there) if there.iter().any(|text| text.contains(": ")) => {
                let lines: Vec<String> = there.iter().map(|text| format!("\n  {}", escaped(text))).collect();
                format!("nothing in {}{}", many(modules, of), lines.concat())
            }
            Lack::All(there) => {
                format!("nothing in {}; there is {}", many(modules, of), escaped(&there.join(", ")))
            }
        }
    }
}

fn many(modules: &[String], of: usize) -> String {
    match modules.len() {
        1 => format!("module {}", escaped(&shortened(modules))),
        some => format!("{some} of {of} modules ({})", escaped(&shortened(modules))),
    }
}

fn named(modules: &[String]) -> String {
    match modules.len() {
        1 => format!("module {}", escaped(&shortened(modules))),
        some => format!("{some} modules"),
    }
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}
