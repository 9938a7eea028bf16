//! The flow of a build script, from its request to a pack in the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use offload_format::pack::{Missing, MissingKind, PackBuilder, newer_file};
use offload_protocol::variable;
use offload_signatures::{DeclaredBound, Method, Places};

use crate::compile::{self, Session, Shared};
use crate::config::{Config, misspelt};
use crate::embed::{self, Anchor, Bindings, Carrier, Owner};
use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::fs;
use crate::library::{self, Export};
use crate::module::{LauncherObject, LeftOutKernel, Library, ModuleImages, ModuleKernels, Origin, Sources};
use crate::options::Options;
use crate::packing::{Pack, Packer};
use crate::progress::Progress;
use crate::remote::Remote;
use crate::request::KernelModule;
use crate::syclbin::{self, SyclbinOptions};
use crate::targets::{self, WantedTarget};
use crate::tool::Context;
use crate::toolchain::Tools;
use crate::vendor::{self, UseVendored, VendorBuild};

/// Compiles, packs and embeds `modules`, whose pack belongs to `owner`.
pub(crate) fn run(modules: &[KernelModule<'_>], owner: Owner<'_>) -> Result<()> {
    refuse_doubles(modules)?;
    let context = Context::for_build_script()?;
    offload_files::remove_leftovers(&context.env.out_dir);
    let config = Config::load(&context.env)?;
    let remote = remote(&context, &config);
    if config.names_others_than(modules) {
        misspelt::tell(&context.env, &config, modules);
    }
    let build = PackageBuild::new(&context, &config, modules)?.with_remote(remote.as_ref());
    if let Some(folder) = context.env.reload_packs() {
        return build.hand_out(&folder);
    }
    context.env.write_recipe()?;
    match Carrier::for_target(&context.env) {
        Carrier::Object => build.embed(owner)?,
        Carrier::Rust => {
            let parts = build.split();
            let results = context.jobs.map(&parts, |part| part.embed(part.owner()));
            results.into_iter().collect::<Result<()>>()?;
        }
    }
    context.env.name_modules(&embed::bound_modules(&context.env)?);
    finish(&context, remote.as_ref())
}

/// Exports `module` as a device library whose headers are in the folder `include`.
pub(crate) fn export(module: KernelModule<'_>, include: &Path) -> Result<()> {
    let context = Context::for_build_script()?;
    offload_files::remove_leftovers(&context.env.out_dir);
    let config = Config::load(&context.env)?;
    let remote = remote(&context, &config);
    if config.names_others_than(&[module]) {
        misspelt::tell(&context.env, &config, &[module]);
    }
    let options = config.options(module.name, module.options);
    let library = library::export(&context.env, Export { module, options: &options, include })?;
    let build = LibraryBuild { context: &context, config: &config, remote: remote.as_ref() };
    if context.env.skip_reason().is_none() {
        context.cache.retry_lost_entries(&context.env.out_dir, || compile_alone(&build, &library))?;
    }
    // No Rust is generated for a library. Who links it at load is refused.
    if library.has_images && Carrier::for_target(&context.env) == Carrier::Object {
        context.cache.retry_lost_entries(&context.env.out_dir, || embed_library(&build, &library))?;
    }
    finish(&context, remote.as_ref())
}

/// The machines that the configuration names. Where they run compilers, more run at once.
fn remote(context: &Context, config: &Config) -> Option<Remote> {
    let settings = config.remote.as_ref()?;
    if settings.execute {
        context.jobs.set_remote_limit(settings.jobs);
    }
    Some(Remote::new(settings.clone()))
}

/// What comes after all work.
fn finish(context: &Context, remote: Option<&Remote>) -> Result<()> {
    if let Some(remote) = remote {
        remote.finish(context);
    }
    let results = context.tally.results();
    results.record(context.cache.dir());
    if let Some(progress) = Progress::from_env(&context.env) {
        progress.remote(&results);
    }
    context.env.send()?;
    context.cache.sweep();
    Ok(())
}

/// With what a library is compiled.
#[derive(Clone, Copy, Debug)]
struct LibraryBuild<'a> {
    context: &'a Context,
    config: &'a Config,
    remote: Option<&'a Remote>,
}

/// Compiles a library for every target, so that its errors appear in the build of its own package.
fn compile_alone(build: &LibraryBuild<'_>, library: &Library) -> Result<()> {
    let LibraryBuild { context, config, remote } = *build;
    let tools = Tools::new(context);
    let shared = Shared::new(&tools, remote, config.vendored);
    let targets = targets::expand(&tools, &config.targets)?;
    compile::library(&Session::new(&shared, &library.sources), library, &targets)
}

/// Puts images of a library into programs that have its package.
fn embed_library(build: &LibraryBuild<'_>, library: &Library) -> Result<()> {
    let LibraryBuild { context, config, remote } = *build;
    let env = &context.env;
    let mut builder = PackBuilder::new(&env.package, &env.version);
    let not_compiled = "this build only checked the syntax of kernels".to_string();
    let reason = env.skip_reason().map(str::to_string).or(env.only_checks().then_some(not_compiled));
    let mut images = Vec::new();
    if let Some(reason) = reason {
        builder.missing(Missing::new(MissingKind::Build, library.name()).with_reason(&reason));
    } else {
        let tools = Tools::new(context);
        let shared = Shared::new(&tools, remote, config.vendored);
        let targets = targets::expand(&tools, &config.targets)?;
        let session = Session::new(&shared, &library.sources);
        let compiled = compile::library_images(&session, library, &targets)?;
        for missing in &compiled.missing {
            let target = missing.target.to_string();
            let record = Missing::new(MissingKind::Target, library.name()).with_target(&target);
            builder.missing(record.with_reason(&missing.reason));
        }
        images = compiled.images;
    }
    let pack = Packer { context, settings: config.compression, remote }.pack(builder, images)?;
    let pack = embed::place(context, config.embedding, pack)?;
    embed::embed(env, Owner::Library(library.name()), config.embedding, &pack).map(drop)
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

/// Refuses what only programs with objects of ours can have, before any compiler runs.
fn refuse_object_only(env: &CargoEnv, sources: &Sources) -> Result<()> {
    if Carrier::for_target(env) == Carrier::Object {
        return Ok(());
    }
    let name = sources.name();
    if sources.has_launchers() {
        let error = format!(
            "the kernel module `{name}` has `launchers`, which programs for {} cannot have",
            env.target
        );
        return Err(Error::new(error)
            .with_hint("leave `launchers` out for this system, and launch the kernels from Rust"));
    }
    if let Some(library) = sources.origin.imports.first().filter(|_| sources.link_at_load()) {
        let error = format!(
            "the kernel module `{name}` links `{}` of {} at load, and programs for {} have no images of device libraries",
            library.name(),
            library.provider(),
            env.target
        );
        return Err(Error::new(error)
            .with_hint("leave `link` out for this system: the library is linked when it builds"));
    }
    Ok(())
}

/// The modules of a build script.
#[derive(Debug)]
struct PackageBuild<'a> {
    context: &'a Context,
    config: &'a Config,
    remote: Option<&'a Remote>,
    modules: Vec<ModuleBuild<'a>>,
}

#[derive(Clone, Debug)]
struct ModuleBuild<'a> {
    name: &'a str,
    /// Those of build script and configuration.
    options: Options,
    variants: Vec<Sources>,
}

/// A pack, and what is known of the kernels of each module, by variant; nothing where no front end ran.
struct Packed {
    pack: Pack,
    kernels: Vec<ModuleKernels>,
    /// The host part of all modules that have one.
    launchers: Vec<LauncherObject>,
}

/// The same when the program has the pack.
struct Embedded {
    anchor: Anchor,
    kernels: Vec<ModuleKernels>,
}

impl ModuleBuild<'_> {
    /// The Rust of the module, with a method for each kernel.
    fn write_bindings(
        &self,
        package: &PackageBuild<'_>,
        anchor: &Anchor,
        mut recorded: ModuleKernels,
    ) -> Result<()> {
        let env = &package.context.env;
        let vendored = package.config.vendored != UseVendored::Never;
        let mut known = ModuleKernels::new();
        let mut all_declared = Vec::new();
        recorded.resize_with(self.variants.len(), Vec::new);
        for (sources, mut recorded) in self.variants.iter().zip(recorded) {
            if recorded.is_empty() && vendored {
                recorded = vendor::kernels(env, sources)?;
            }
            let declared = sources.declared(&env.manifest_dir);
            declared.files.iter().for_each(|file| env.depends_on_source(&env.manifest_dir.join(file)));
            known.push(offload_signatures::known(recorded, offload_signatures::declared(&declared)));
            all_declared.push(declared);
        }
        // Kernels are at the same places in every variant.
        let (Some(sources), Some(declared)) = (self.variants.first(), all_declared.first()) else {
            return Ok(());
        };
        let methods = offload_signatures::methods(&known);
        let places = Places::new(sources.only_file(), declared);
        let bounds = self.bounds(&methods)?;
        let spec = &self.options.spec;
        Bindings { module: self.name, anchor, methods: &methods, bounds: &bounds, spec, places: &places }
            .write(env)
    }

    /// The declared bounds of kernels, by their entry points.
    fn bounds(&self, methods: &[Method]) -> Result<BTreeMap<String, Vec<DeclaredBound>>> {
        let mut bounds = BTreeMap::new();
        for (name, kernel) in &self.options.kernels {
            if kernel.bounds.is_empty() {
                continue;
            }
            let Some(method) = methods.iter().find(|method| method.entry == *name || method.name == *name)
            else {
                let error =
                    Error::new(format!("bounds of `{name}`: the module `{}` has no such kernel", self.name));
                let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
                return Err(error.with_hint(format!("its kernels are {}", names.join(", "))));
            };
            let of_kernel = method.bounds(&kernel.bounds).map_err(|problem| {
                let error = Error::new(format!("bounds of the kernel `{name}` of `{}`: {problem}", self.name));
                error.with_hint(
                    "each pointer needs a number of elements, made of integer arguments, numbers, global_size(0), \
                     local_size(0), num_groups(0), min(a, b), max(a, b), + - * / % and parentheses",
                )
            })?;
            bounds.insert(method.entry.clone(), of_kernel);
        }
        Ok(bounds)
    }
}

/// What is done with each module in each variant.
type Step = fn(&Session<'_>, &[WantedTarget]) -> Result<ModuleImages>;

impl<'a> PackageBuild<'a> {
    fn new(
        context: &'a Context,
        config: &'a Config,
        modules: &[KernelModule<'a>],
    ) -> Result<PackageBuild<'a>> {
        let mut builds = Vec::new();
        for module in modules {
            let options = config.options(module.name, module.options);
            let mut variants = module.variants(&options)?;
            let imports = library::imports(&context.env, &options.imports)?;
            let origin = Origin { root: context.env.manifest_dir.clone(), imports };
            for sources in &mut variants {
                sources.origin = origin.clone();
                refuse_object_only(&context.env, sources)?;
            }
            builds.push(ModuleBuild { name: module.name, variants, options });
        }
        Ok(PackageBuild { context, config, remote: None, modules: builds })
    }

    fn with_remote(self, remote: Option<&'a Remote>) -> PackageBuild<'a> {
        PackageBuild { remote, ..self }
    }

    /// The same for each module alone.
    fn split(&self) -> Vec<PackageBuild<'a>> {
        let PackageBuild { context, config, remote, modules } = self;
        let mut parts = Vec::new();
        for module in modules {
            parts.push(PackageBuild { context, config, remote: *remote, modules: vec![module.clone()] });
        }
        parts
    }

    /// The owner of the pack of a part.
    fn owner(&self) -> Owner<'a> {
        self.modules.first().map_or(Owner::Package, |module| Owner::Module(module.name))
    }

    /// Compiles and packs all modules, and puts the pack into the program.
    fn embed(&self, owner: Owner<'_>) -> Result<()> {
        let PackageBuild { context, config, .. } = self;
        let Embedded { anchor, kernels } =
            context.cache.retry_lost_entries::<_, Error>(&context.env.out_dir, || {
                let Packed { pack, kernels, launchers } = self.pack()?;
                let pack = embed::place(context, config.embedding, pack)?;
                let anchor = embed::embed(&context.env, owner, config.embedding, &pack)?;
                embed::launchers::embed(&context.env, owner, config.embedding, &launchers)?;
                Ok(Embedded { anchor, kernels })
            })?;
        self.write_bindings(&anchor, kernels)
    }

    /// The pack of all modules, without images where none are to be compiled.
    fn pack(&self) -> Result<Packed> {
        if let Some(reason) = self.context.env.skip_reason() {
            return self.pack_without_images(reason, Vec::new());
        }
        if self.context.env.only_checks() {
            return match self.each_module(compile::syntax) {
                Err(error) if error.is_missing_tool() => {
                    self.context.env.warn(&format!("kernels were not checked: {error}"));
                    let reason = "this build would have checked the syntax of kernels alone";
                    self.pack_without_images(reason, Vec::new())
                }
                checked => {
                    let kernels = checked?.into_iter().map(|module| module.kernels).collect();
                    self.pack_without_images("this build only checked the syntax of kernels", kernels)
                }
            };
        }
        let env = &self.context.env;
        let vendor = env.var(variable::VENDOR_DIR).map(|dir| VendorBuild::new(env, &dir));
        let compiled = self.each_module(compile::images)?;
        if let Some(vendor) = vendor {
            let variants = self.modules.iter().flat_map(|module| &module.variants);
            let imported: Vec<&Library> = variants.flat_map(Sources::libraries).collect();
            let writer = vendor.finish(&self.context.env, &imported)?;
            for (module, compiled) in self.modules.iter().zip(&compiled) {
                writer.write(self.context, &module.variants, &compiled.images)?;
            }
        }
        self.pack_of(compiled)
    }

    /// Writes the pack into `folder`, for a program that runs.
    fn hand_out(&self, folder: &Path) -> Result<()> {
        let Context { env, cache, .. } = self.context;
        cache.retry_lost_entries(&env.out_dir, || {
            let Packed { pack, .. } = self.pack()?;
            let names =
                self.modules.iter().filter_map(|module| newer_file(&env.package, &env.version, module.name));
            let mut paths = names.map(|name| folder.join(name));
            paths.try_for_each(|path| fs::publish(&path, |out| pack.write_to(out)))
        })?;
        env.send()
    }

    fn pack_without_images(&self, reason: &str, kernels: Vec<ModuleKernels>) -> Result<Packed> {
        let mut builder = self.builder();
        for module in &self.modules {
            if let Some(state) = module.options.syclbin {
                syclbin::write_empty(&self.context.env, module.name, state)?;
            }
            builder.missing(Missing::new(MissingKind::Build, module.name).with_reason(reason));
        }
        let pack = Pack { layout: builder.finish()?, frames: Vec::new(), flags: 0 };
        Ok(Packed { pack, kernels, launchers: Vec::new() })
    }

    /// The Rust of each module, with a method for each of its `kernels`, as far as those are known.
    fn write_bindings(&self, anchor: &Anchor, mut kernels: Vec<ModuleKernels>) -> Result<()> {
        kernels.resize_with(self.modules.len(), Vec::new);
        for (module, kernels) in self.modules.iter().zip(kernels) {
            module.write_bindings(self, anchor, kernels)?;
        }
        Ok(())
    }

    /// The pack of what was compiled, in the order of the modules.
    fn pack_of(&self, compiled: Vec<ModuleImages>) -> Result<Packed> {
        let mut builder = self.builder();
        let mut all = Vec::new();
        let mut kernels = Vec::new();
        let mut launchers = Vec::new();
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
            for LeftOutKernel { target, kernel, is_by_settings, reason } in &compiled.left_out {
                let target = target.to_string();
                let reason = format!("{kernel}: {reason}");
                let kind = if *is_by_settings { MissingKind::KeptKernel } else { MissingKind::Kernel };
                let record = Missing::new(kind, module.name).with_target(&target);
                builder.missing(record.with_reason(&reason));
            }
            all.extend(compiled.images);
            kernels.push(compiled.kernels);
            launchers.extend(compiled.launchers);
        }
        let packer = Packer { context: self.context, settings: self.config.compression, remote: self.remote };
        Ok(Packed { pack: packer.pack(builder, all)?, kernels, launchers })
    }

    fn builder(&self) -> PackBuilder {
        PackBuilder::new(&self.context.env.package, &self.context.env.version)
    }

    /// What `step` makes of every variant of every module for every target, by module.
    fn each_module(&self, step: Step) -> Result<Vec<ModuleImages>> {
        let tools = Tools::new(self.context);
        let shared = Shared::new(&tools, self.remote, self.config.vendored);
        let targets = targets::expand(&tools, &self.config.targets)?;
        let jobs = &self.context.jobs;
        let results = jobs.map(&self.modules, |module| {
            let mut all = ModuleImages::default();
            for images in
                jobs.map(&module.variants, |sources| step(&Session::new(&shared, sources), &targets))
            {
                all.extend(images?);
            }
            all.missing.sort();
            all.missing.dedup();
            all.left_out.sort();
            all.left_out.dedup();
            Ok(all)
        });
        results.into_iter().collect()
    }
}
