//! From what a build script says to a pack in the program.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use offload_format::pack::{NoticeKind, PackBuilder};

use crate::build::Build;
use crate::cache::Cache;
use crate::compile::{self, Outcome, Sources, Workshop};
use crate::config::{Config, WantedTarget};
use crate::embed::{self, Owner, Pack};
use crate::env::{self, CargoEnv};
use crate::error::{Error, Result};
use crate::flight::Flights;
use crate::generate;
use crate::jobs::Jobs;
use crate::packing;
use crate::syclbin;
use crate::targets;
use crate::tool::Runner;
use crate::toolchain::{Finder, Known};
use crate::vendor;

/// Compiles several kernel modules into one pack; on failure shows the error and ends the build script with exit
/// code 1.
///
/// Modules that resemble each other share their bytes only within a pack. The program includes each by its name, as
/// after [`Build::compile`].
///
/// ```no_run
/// use offload_build::Build;
///
/// offload_build::compile_all([
///     ("blas", Build::new().file("kernels/blas.cl")),
///     ("stats", Build::new().file("kernels/stats.cl").define("BINS", "64")),
/// ]);
/// ```
pub fn compile_all<'n, B: Borrow<Build>>(modules: impl IntoIterator<Item = (&'n str, B)>) {
    if let Err(error) = try_compile_all(modules) {
        env::exit_with(&error);
    }
}

/// As [`compile_all`], for build scripts that handle errors themselves.
///
/// # Errors
/// As [`Build::try_compile`]; or if two modules have the same name.
pub fn try_compile_all<'n, B: Borrow<Build>>(
    modules: impl IntoIterator<Item = (&'n str, B)>,
) -> std::result::Result<(), Error> {
    let modules: Vec<(&str, B)> = modules.into_iter().collect();
    let modules: Vec<(&str, &Build)> = modules.iter().map(|(name, build)| (*name, build.borrow())).collect();
    refuse_doubles(&modules)?;
    run(&modules, Owner::Package)
}

/// Compiles, packs and embeds `modules`, whose pack belongs to `owner`.
pub(crate) fn run(modules: &[(&str, &Build)], owner: Owner<'_>) -> Result<()> {
    let env = CargoEnv::read()?;
    let config = Config::load(&env)?;
    let variants =
        modules.iter().map(|(name, build)| build.variants_of(name, &config)).collect::<Result<Vec<_>>>()?;
    let cache = Cache::open(&env)?;
    let anchor = cache.remaking(|| {
        let pack = match env.skip_reason() {
            Some(reason) => skipped(&env, modules, reason)?,
            None if env.only_checks() => {
                compiled((&env, &cache), &Jobs::from_env(), (&config, &variants), compile::syntax)?;
                skipped(&env, modules, "this build only checked the syntax of kernels")?
            }
            None => packed((&env, &cache), &config, (modules, &variants))?,
        };
        let pack = embed::place((&env, &cache), config.embedding, pack)?;
        embed::embed(&env, owner, &pack)
    })?;
    modules.iter().try_for_each(|(name, _)| generate::write(&env, name, &anchor))?;
    env.send();
    cache.sweep();
    Ok(())
}

/// Names become file names and Rust modules: `a-b` and `a_b` would be one.
fn refuse_doubles(modules: &[(&str, &Build)]) -> Result<()> {
    let mut seen = BTreeSet::new();
    let double = modules.iter().find(|(name, _)| !seen.insert(generate::identifier(name)));
    match double {
        Some((name, _)) => {
            Err(Error::new(format!("two kernel modules are called `{}`", name.escape_default()))
                .with_hint("add the files of both to one `Build`, or rename one"))
        }
        None => Ok(()),
    }
}

fn skipped(env: &CargoEnv, modules: &[(&str, &Build)], reason: &str) -> Result<Pack> {
    let mut builder = PackBuilder::new(&env.package, &env.version);
    for (module, build) in modules {
        if let Some(wanted) = build.wanted_syclbin() {
            syclbin::write_empty(env, module, &wanted)?;
        }
        builder.notice(NoticeKind::SkippedBuild, [module, "", reason]);
    }
    Ok(Pack { layout: builder.finish()?, frames: Vec::new(), flags: 0 })
}

/// Compiles every module and packs what comes of it.
fn packed(
    (env, cache): (&CargoEnv, &Cache),
    config: &Config,
    (builds, modules): (&[(&str, &Build)], &[Vec<Sources>]),
) -> Result<Pack> {
    let jobs = Jobs::from_env();
    let vendor = vendor::Wanted::by(env);
    let mut builder = PackBuilder::new(&env.package, &env.version);
    let mut images = Vec::new();
    let outcomes = compiled((env, cache), &jobs, (config, modules), compile::images)?;
    let vendor = vendor.map(|wanted| wanted.made(env)).transpose()?;
    for (((_, build), variants), (module, outcome)) in builds.iter().zip(modules).zip(outcomes) {
        if let Some(wanted) = build.wanted_syclbin() {
            syclbin::write_files(env, &module, (&wanted, &outcome.images))?;
        }
        if let Some(vendor) = &vendor {
            vendor.write((env, cache, &jobs), variants, &outcome.images)?;
        }
        for (target, reason) in &outcome.skipped {
            builder.notice(NoticeKind::SkippedTarget, [&module, &target.to_string(), reason]);
        }
        images.extend(outcome.images);
    }
    packing::pack((cache, &jobs), config.compression, (builder, images))
}

/// What compiles a module in one variant for every target.
type Compile = fn(&Workshop<'_>, &[WantedTarget], &Sources) -> Result<Outcome>;

/// Every variant of every module for every target, by module.
fn compiled(
    (env, cache): (&CargoEnv, &Cache),
    jobs: &Jobs,
    (config, modules): (&Config, &[Vec<Sources>]),
    compile: Compile,
) -> Result<Vec<(String, Outcome)>> {
    let runner = Runner { env, jobs };
    let flights = Flights::default();
    let finder = Finder {
        env,
        cache,
        runner: &runner,
        flights: &flights,
        tools: Known::default(),
        files: Known::default(),
    };
    let workshop = Workshop::new(&finder, jobs, config.vendored);
    let targets = targets::expand(&finder, &config.targets)?;
    let variants = jobs.map(modules, |variants| {
        let mut all = Outcome::default();
        for outcome in jobs.map(variants, |sources| compile(&workshop, &targets, sources)) {
            let outcome = outcome?;
            all.images.extend(outcome.images);
            all.skipped.extend(outcome.skipped);
        }
        all.skipped.sort();
        all.skipped.dedup();
        let module = variants.first().map(|sources| sources.module.clone()).unwrap_or_default();
        Ok((module, all))
    });
    variants.into_iter().collect()
}
