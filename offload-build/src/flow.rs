//! From what a build script asks for to a pack in the program.

use std::collections::BTreeSet;

use offload_format::pack::{Missing, MissingKind, PackBuilder};

use crate::compile::{self, Session, Shared};
use crate::config::{Config, misspelt};
use crate::embed::{self, Owner};
use crate::error::{Error, Result};
use crate::module::{KernelModule, ModuleImages, Sources};
use crate::options::Options;
use crate::packing::{self, Pack};
use crate::syclbin::{self, SyclbinOptions};
use crate::targets::{self, WantedTarget};
use crate::tool::Context;
use crate::toolchain::Tools;
use crate::vendor::{VENDOR_DIR, VendorBuild};

/// Compiles, packs and embeds `modules`, whose pack belongs to `owner`.
pub(crate) fn run(modules: &[KernelModule<'_>], owner: Owner<'_>) -> Result<()> {
    refuse_doubles(modules)?;
    let context = Context::of_build_script()?;
    let config = Config::load(&context.env)?;
    if config.names_others_than(modules) {
        misspelt::tell(&context.env, &config, modules);
    }
    let build = PackageBuild::new(&context, &config, modules)?;
    let anchor = context.cache.retry_lost_entries(|| {
        let pack = embed::place(&context, config.embedding, build.pack()?)?;
        embed::embed(&context.env, owner, &pack)
    })?;
    modules.iter().try_for_each(|module| embed::write_bindings(&context.env, module.name, &anchor))?;
    context.env.name_modules(&embed::bound_modules(&context.env)?);
    context.env.send();
    context.cache.sweep();
    Ok(())
}

/// Names become file names and Rust modules: `a-b` and `a_b` would be one.
fn refuse_doubles(modules: &[KernelModule<'_>]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let double = modules.iter().find(|module| !seen.insert(embed::identifier(module.name)));
    match double {
        Some(module) => {
            Err(Error::new(format!("two kernel modules are called `{}`", module.name.escape_default()))
                .with_hint("add the files of both to one `Build`, or rename one"))
        }
        None => Ok(()),
    }
}

/// The modules of a build script.
#[derive(Debug)]
struct PackageBuild<'a> {
    context: &'a Context,
    config: &'a Config,
    modules: Vec<ModuleBuild<'a>>,
}

#[derive(Debug)]
struct ModuleBuild<'a> {
    name: &'a str,
    /// Those of build script and configuration.
    options: Options,
    variants: Vec<Sources>,
}

/// What is done with each module in each variant.
type Step = fn(&Session<'_>, &[WantedTarget]) -> Result<ModuleImages>;

impl<'a> PackageBuild<'a> {
    fn new(
        context: &'a Context,
        config: &'a Config,
        modules: &[KernelModule<'a>],
    ) -> Result<PackageBuild<'a>> {
        let build = |module: &KernelModule<'a>| {
            let options = config.options(module.name, module.options);
            Ok(ModuleBuild { name: module.name, variants: module.variants(&options)?, options })
        };
        let modules = modules.iter().map(build).collect::<Result<_>>()?;
        Ok(PackageBuild { context, config, modules })
    }

    /// The pack of all modules, without images where none are to be compiled.
    fn pack(&self) -> Result<Pack> {
        if let Some(reason) = self.context.env.skip_reason() {
            return self.pack_without_images(reason);
        }
        if let Some(obstacle) = embed::obstacle(&self.context.env) {
            let names: Vec<String> = self.modules.iter().map(|module| format!("`{}`", module.name)).collect();
            self.context.env.warn(&format!("{}: no image of {}", obstacle, names.join(", ")));
            return self.pack_without_images(&obstacle);
        }
        if self.context.env.only_checks() {
            return match self.each_module(compile::syntax) {
                Err(error) if error.is_missing_tool() => {
                    self.context.env.warn(&format!("kernels were not checked: {error}"));
                    self.pack_without_images("this build would have checked the syntax of kernels alone")
                }
                checked => {
                    checked?;
                    self.pack_without_images("this build only checked the syntax of kernels")
                }
            };
        }
        let env = &self.context.env;
        let vendor = env.var(VENDOR_DIR).map(|dir| VendorBuild::new(env, &dir));
        let compiled = self.each_module(compile::images)?;
        if let Some(vendor) = vendor {
            let writer = vendor.finish(&self.context.env)?;
            for (module, compiled) in self.modules.iter().zip(&compiled) {
                writer.write(self.context, &module.variants, &compiled.images)?;
            }
        }
        self.pack_of(compiled)
    }

    fn pack_without_images(&self, reason: &str) -> Result<Pack> {
        let mut builder = self.builder();
        for module in &self.modules {
            if let Some(state) = module.options.syclbin {
                syclbin::write_empty(&self.context.env, module.name, state)?;
            }
            builder.missing(Missing::new(MissingKind::Build, module.name).with_reason(reason));
        }
        Ok(Pack { layout: builder.finish()?, frames: Vec::new(), flags: 0 })
    }

    /// The pack of what was compiled, in the order of the modules.
    fn pack_of(&self, compiled: Vec<ModuleImages>) -> Result<Pack> {
        let mut builder = self.builder();
        let mut all = Vec::new();
        for (module, compiled) in self.modules.iter().zip(compiled) {
            if let Some(state) = module.options.syclbin {
                let options = SyclbinOptions { state, libraries: &module.options.syclbin_libraries };
                syclbin::write_files(&self.context.env, module.name, &options, &compiled.images)?;
            }
            for missing in &compiled.missing {
                let target = missing.target.to_string();
                let record = Missing::new(MissingKind::Target, module.name).with_target(&target);
                builder.missing(record.with_reason(&missing.reason));
            }
            all.extend(compiled.images);
        }
        packing::pack(self.context, self.config.compression, builder, all)
    }

    fn builder(&self) -> PackBuilder {
        PackBuilder::new(&self.context.env.package, &self.context.env.version)
    }

    /// What `step` makes of every variant of every module for every target, by module.
    fn each_module(&self, step: Step) -> Result<Vec<ModuleImages>> {
        let tools = Tools::new(self.context);
        let shared = Shared::new(&tools, self.config.vendored);
        let targets = targets::expand(&tools, &self.config.targets)?;
        let jobs = &self.context.jobs;
        let results = jobs.map(&self.modules, |module| {
            let mut all = ModuleImages::default();
            let variant = |sources: &Sources| step(&Session { shared: &shared, sources }, &targets);
            for images in jobs.map(&module.variants, variant) {
                all.extend(images?);
            }
            all.missing.sort();
            all.missing.dedup();
            Ok(all)
        });
        results.into_iter().collect()
    }
}
