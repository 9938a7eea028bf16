//! The states of a bundle, and what leads from one to the next.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use offload_containers::syclbin::{
    AbstractModule, File, ImageKindNumber, KERNEL_PREFIX, Module, Requirements, State, write,
};
use offload_format::Limits;
use offload_images::spirv;
use opencl3::program::Program as DriverProgram;

use super::context::{Context, OnDevice, Picked, Skipped};
use super::executable::{Image, OfDevice};
use super::links::{self, Names};
use super::needs;
use super::rules::{self, Form, Rules};
use super::source::Source;
use crate::error::Error;

/// Kernels for the devices of a context: `sycl::kernel_bundle`
/// (<https://registry.khronos.org/SYCL/specs/sycl-2020/html/sycl-2020.html#sec:bundles.overview>).
#[derive(Debug)]
pub struct Bundle<S: BundleState> {
    pub(super) context: Context,
    /// What inputs and objects were read from.
    sources: Vec<Arc<Source>>,
    /// One for each device of the context.
    pub(super) devices: Vec<S::OfDevice>,
    kernels: Vec<String>,
    skipped: Vec<Skipped>,
}

/// To be compiled.
#[derive(Clone, Copy, Debug)]
pub enum Input {}
/// Compiled, to be linked.
#[derive(Clone, Copy, Debug)]
pub enum Object {}
/// To be launched.
#[derive(Clone, Copy, Debug)]
pub enum Executable {}

/// A module of an object.
#[derive(Clone, Debug)]
pub struct Compiled {
    names: Names,
    needs: Requirements,
    program: Arc<DriverProgram>,
}

/// A state of a bundle: [`Input`], [`Object`] or [`Executable`]. No other type can implement it.
pub trait BundleState: Sized + Debug {
    /// The state that a file has to have.
    const STATE: State;

    /// What a bundle has for each device.
    #[doc(hidden)]
    type OfDevice: Debug + Send + Sync;

    /// What is made of the chosen forms when a file is opened.
    #[doc(hidden)]
    fn ready(on: &OnDevice, source: &Source, picked: &[Picked]) -> Result<Self::OfDevice, Error>;
}

impl BundleState for Input {
    const STATE: State = State::Input;
    type OfDevice = Vec<Picked>;

    fn ready(_: &OnDevice, _: &Source, picked: &[Picked]) -> Result<Vec<Picked>, Error> {
        Ok(picked.to_vec())
    }
}

impl BundleState for Object {
    const STATE: State = State::Object;
    type OfDevice = Vec<Compiled>;

    fn ready(on: &OnDevice, source: &Source, picked: &[Picked]) -> Result<Vec<Compiled>, Error> {
        let file = source.parse()?;
        let compile = |(picked, module): (&Picked, _)| Compiled::new(on, source, (picked, module));
        picked.iter().zip(modules(&file, picked)).map(compile).collect()
    }
}

impl BundleState for Executable {
    const STATE: State = State::Executable;
    type OfDevice = OfDevice;

    fn ready(on: &OnDevice, source: &Source, picked: &[Picked]) -> Result<OfDevice, Error> {
        let file = source.parse()?;
        let build = |(picked, module): (&Picked, _)| build(on, source, (picked, module));
        let images = picked.iter().zip(modules(&file, picked)).map(build).collect::<Result<_, _>>()?;
        Ok(OfDevice::new(on, images))
    }
}

/// The module of each of `picked`, which came from the same file.
fn modules<'f, 'a>(
    file: &'f File<'a>,
    picked: &'f [Picked],
) -> impl Iterator<Item = &'f AbstractModule<'a>> + use<'f, 'a> {
    picked.iter().filter_map(|picked| file.modules.get(picked.module))
}

impl<S: BundleState> Bundle<S> {
    /// Reads `source`, chooses a form of each module for each device, and makes them ready.
    pub(super) fn load(context: &Context, source: Source) -> Result<Bundle<S>, Error> {
        let file = source.parse_in(S::STATE)?;
        rules::check_file(context.rules(), &file).map_err(|problem| source.error(problem))?;
        let (mut devices, mut kernels, mut skipped) = (Vec::new(), BTreeSet::new(), Vec::new());
        for on in context.devices() {
            let picked = on.pick::<S>((&source, &file), &mut skipped)?;
            let listed = modules(&file, &picked).flat_map(AbstractModule::kernels);
            kernels.extend(listed.map(str::to_string));
            devices.push(S::ready(on, &source, &picked)?);
        }
        let context = context.clone();
        let sources = vec![Arc::new(source)];
        Ok(Bundle { context, sources, devices, kernels: kernels.into_iter().collect(), skipped })
    }

    /// The kernels, as modules list them, sorted: those that at least one of the devices can have.
    pub fn kernels(&self) -> &[String] {
        &self.kernels
    }

    /// Whether there is a kernel of this name, with or without SYCL's prefix `__sycl_kernel_`.
    pub fn has_kernel(&self, name: &str) -> bool {
        listed_name(self.context.rules(), self.kernels.iter().map(String::as_str), name).is_some()
    }

    /// The modules that devices go without.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The context that the bundle was made in.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

/// The kernel that a program means by `name`. A runtime puts the prefix before every name without it; by the rules of
/// the extension a kernel that is listed without prefix can be asked for as well.
pub(super) fn listed_name<'k>(
    rules: Rules,
    mut listed: impl Iterator<Item = &'k str> + Clone,
    name: &str,
) -> Option<&'k str> {
    let prefix = if name.starts_with(KERNEL_PREFIX) { "" } else { KERNEL_PREFIX };
    let meant = |kernel: &&str| kernel.strip_prefix(prefix) == Some(name);
    let mut plain = listed.clone().filter(|kernel| rules == Rules::Spec && *kernel == name);
    listed.find(meant).or_else(|| plain.next())
}

impl Bundle<Input> {
    /// Compiles every module for every device.
    ///
    /// # Errors
    /// A driver refuses one.
    pub fn compile(&self) -> Result<Bundle<Object>, Error> {
        let Some(source) = self.sources.first() else {
            return Err(Error::device("bundle", "it has nothing to compile"));
        };
        let devices = self.context.devices().iter().zip(&self.devices);
        let devices = devices.map(|(on, picked)| Object::ready(on, source, picked));
        Ok(Bundle {
            devices: devices.collect::<Result<_, _>>()?,
            context: self.context.clone(),
            sources: self.sources.clone(),
            kernels: self.kernels.clone(),
            skipped: self.skipped.clone(),
        })
    }

    /// The bundle as a SYCLBIN in state input.
    ///
    /// # Errors
    /// It is too large for the format.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        content(&self.sources, State::Input)
    }
}

impl Bundle<Object> {
    /// The bundle as a SYCLBIN in state object. OpenCL has no portable form of what is compiled, so that it holds what
    /// was read: it is compiled again when it is opened.
    ///
    /// # Errors
    /// It is too large for the format.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        content(&self.sources, State::Object)
    }
}

/// All that was read, modules that no device takes too.
fn content(sources: &[Arc<Source>], state: State) -> Result<Vec<u8>, Error> {
    let files = sources.iter().map(|source| source.parse()).collect::<Result<Vec<_>, _>>()?;
    let modules: Vec<Module<'_>> = files.iter().flat_map(|file| &file.modules).map(Module::from).collect();
    write(state, &modules, ImageKindNumber::default())
        .map_err(|error| Error::device("SYCLBIN", error.to_string()))
}

/// Links the modules of all `objects` for each device, duplicates once: which become one program is up to the
/// context's [`Rules`].
///
/// # Errors
/// There is nothing to link; bundles are of different contexts; a symbol has no definition or several; a kernel is in
/// several modules; or a driver refuses.
pub fn link(objects: &[&Bundle<Object>]) -> Result<Bundle<Executable>, Error> {
    let Some((first, others)) = objects.split_first() else {
        return Err(Error::device("link of bundles", "there is no bundle"));
    };
    let context = first.context.clone();
    if others.iter().any(|other| !other.context.is(&context)) {
        return Err(Error::device("link of bundles", "they are of different contexts")
            .hint("open all of them by one `Context`"));
    }
    let devices = context.devices().iter().enumerate().map(|(index, on)| {
        let mut modules: Vec<&Compiled> = Vec::new();
        for module in objects.iter().filter_map(|object| object.devices.get(index)).flatten() {
            // The same bundle may be given twice.
            if !modules.iter().any(|other| Arc::ptr_eq(&other.program, &module.program)) {
                modules.push(module);
            }
        }
        linked(on, &modules)
    });
    let devices = devices.collect::<Result<_, _>>()?;
    let kernels: BTreeSet<&String> = objects.iter().flat_map(|object| &object.kernels).collect();
    let kernels = kernels.into_iter().cloned().collect();
    let skipped = objects.iter().flat_map(|object| object.skipped.iter().cloned()).collect();
    Ok(Bundle { context, sources: Vec::new(), devices, kernels, skipped })
}

fn linked(on: &OnDevice, modules: &[&Compiled]) -> Result<OfDevice, Error> {
    let names: Vec<Names> = modules.iter().map(|module| module.names.clone()).collect();
    let programs = links::programs(on.rules, &names);
    let programs = programs.map_err(|problem| Error::device("link of bundles", problem))?;
    let image = |program: Vec<usize>| {
        let modules: Vec<&Compiled> =
            program.iter().filter_map(|index| modules.get(*index).copied()).collect();
        let programs: Vec<&DriverProgram> = modules.iter().map(|module| &*module.program).collect();
        let needs = needs::of_all(modules.iter().map(|module| &module.needs));
        let kernels = modules.iter().flat_map(|module| module.names.kernels.iter().cloned()).collect();
        Ok(Image { built: on.online.link("the bundles", &programs)?, kernels, needs })
    };
    Ok(OfDevice::new(on, programs.into_iter().map(image).collect::<Result<_, Error>>()?))
}

impl Compiled {
    fn new(
        on: &OnDevice,
        source: &Source,
        (picked, module): (&Picked, &AbstractModule<'_>),
    ) -> Result<Compiled, Error> {
        let what = source.module(picked.module);
        let (spirv, used) = checked_spirv(source, (picked, module))?;
        let own = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_string).collect::<Vec<_>>();
        let names = Names {
            kernels: own(&mut module.kernels()),
            imported: own(&mut module.imported()),
            exported: own(&mut module.exported()),
            used,
        };
        let program = Arc::new(on.online.compile(&what, spirv)?);
        Ok(Compiled { names, needs: needs::of(module), program })
    }
}

fn build(
    on: &OnDevice,
    source: &Source,
    (picked, module): (&Picked, &AbstractModule<'_>),
) -> Result<Image, Error> {
    let what = source.module(picked.module);
    let native = match picked.form {
        Form::Native(index) => module.native.get(index),
        Form::Ir(_) => None,
    };
    let built = match native {
        Some(native) => on.online.take(&what, native.bytes)?,
        None => on.online.build(&what, checked_spirv(source, (picked, module))?.0)?,
    };
    let kernels = module.kernels().map(str::to_string).collect();
    Ok(Image { built, kernels, needs: needs::of(module) })
}

/// The IR that was chosen, and what it imports. Drivers end the process at SPIR-V that was cut.
fn checked_spirv<'a>(
    source: &Source,
    (picked, module): (&Picked, &AbstractModule<'a>),
) -> Result<(&'a [u8], Vec<String>), Error> {
    let ir = match picked.form {
        Form::Ir(index) => module.ir.get(index),
        Form::Native(_) => None,
    };
    let bytes = ir.map(|ir| ir.bytes).unwrap_or_default();
    let parsed = spirv::Module::parse(bytes, &Limits::default());
    let parsed =
        parsed.map_err(|error| source.error(format!("module {}: its IR: {error}", picked.module)))?;
    Ok((bytes, parsed.imports().to_vec()))
}
