//! The states of a bundle, and what leads from one to the next.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use offload_containers::syclbin::{
    self, AbstractModule, File, ImageKindNumber, NewModule, Requirements, write,
};
use offload_format::Limits;
use offload_images::spirv;

use crate::choose::Form;
use crate::context::{Context, MissingModule, OnDevice, Picked};
use crate::executable::{BundleProgram, Code, Image, listed_name};
use crate::links::{self, Names};
use crate::named_syclbin::NamedSyclbin;
use crate::needs;
use crate::rules;
use offload_rt::opencl::Object as DriverObject;
use offload_rt::{Device, Error};

/// Kernels for the devices of a context: `sycl::kernel_bundle`
/// (<https://registry.khronos.org/SYCL/specs/sycl-2020/html/sycl-2020.html#sec:bundles.overview>).
#[derive(Debug)]
pub struct Bundle<S: BundleState> {
    pub(super) context: Context,
    /// The files of inputs and objects.
    sources: Vec<Arc<NamedSyclbin>>,
    /// One for each device of the context.
    pub(super) devices: Vec<S::OfDevice>,
    kernels: Vec<String>,
    missing: Vec<MissingModule>,
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
    program: Arc<DriverObject>,
}

/// A state of a bundle: [`Input`], [`Object`] or [`Executable`]. No other type can implement it.
pub trait BundleState: Sized + Debug {
    /// The state that a file has to have.
    const STATE: syclbin::BundleState;

    /// The part of a bundle for each device.
    #[doc(hidden)]
    type OfDevice: Debug + Send + Sync;

    /// The result of opening the selected forms of a file.
    #[doc(hidden)]
    fn ready(on: &OnDevice, source: &NamedSyclbin, picked: &[Picked]) -> Result<Self::OfDevice, Error>;
}

impl BundleState for Input {
    const STATE: syclbin::BundleState = syclbin::BundleState::Input;
    type OfDevice = Vec<Picked>;

    fn ready(_: &OnDevice, _: &NamedSyclbin, picked: &[Picked]) -> Result<Vec<Picked>, Error> {
        Ok(picked.to_vec())
    }
}

impl BundleState for Object {
    const STATE: syclbin::BundleState = syclbin::BundleState::Object;
    type OfDevice = Vec<Compiled>;

    fn ready(on: &OnDevice, source: &NamedSyclbin, picked: &[Picked]) -> Result<Vec<Compiled>, Error> {
        let file = source.parse()?;
        chosen(&file, picked).map(|chosen| Compiled::new(on, source, &chosen)).collect()
    }
}

impl BundleState for Executable {
    const STATE: syclbin::BundleState = syclbin::BundleState::Executable;
    type OfDevice = BundleProgram;

    fn ready(on: &OnDevice, source: &NamedSyclbin, picked: &[Picked]) -> Result<BundleProgram, Error> {
        let file = source.parse()?;
        let images =
            chosen(&file, picked).map(|chosen| build(on, source, &chosen)).collect::<Result<_, _>>()?;
        Ok(BundleProgram::new(on, images))
    }
}

/// A module, and which form of it was chosen.
struct Chosen<'f, 'a> {
    picked: &'f Picked,
    module: &'f AbstractModule<'a>,
}

/// The modules of `picked`, which came from the same file.
fn chosen<'f, 'a>(
    file: &'f File<'a>,
    picked: &'f [Picked],
) -> impl Iterator<Item = Chosen<'f, 'a>> + use<'f, 'a> {
    picked.iter().filter_map(|picked| Some(Chosen { picked, module: file.modules.get(picked.module)? }))
}

impl Context {
    /// Makes a bundle of the SYCLBIN in `bytes`, which has to be in the state that is asked for.
    ///
    /// # Errors
    /// The bytes are malformed or of another state; the rules refuse a module, or a driver the form that was chosen:
    /// no other one is tried.
    pub fn open<S: BundleState>(&self, bytes: Vec<u8>) -> Result<Bundle<S>, Error> {
        Bundle::load(self, NamedSyclbin::from_bytes(bytes))
    }

    /// Makes a bundle of a SYCLBIN file.
    ///
    /// # Errors
    /// The file cannot be read, and as [`Context::open`].
    pub fn open_file<S: BundleState>(&self, path: impl AsRef<Path>) -> Result<Bundle<S>, Error> {
        Bundle::load(self, NamedSyclbin::from_file(path.as_ref())?)
    }
}

impl<S: BundleState> Bundle<S> {
    /// Reads `source`, chooses a form of each module for each device, and makes them ready.
    pub(super) fn load(context: &Context, source: NamedSyclbin) -> Result<Bundle<S>, Error> {
        let file = source.parse_in(S::STATE)?;
        rules::check_file(context.rules(), &file).map_err(|problem| source.error(problem))?;
        let mut devices = Vec::new();
        let mut kernels = BTreeSet::new();
        let mut missing = Vec::new();
        for on in context.devices() {
            let picked = on.pick(&source, S::STATE, &mut missing)?;
            let listed = chosen(&file, &picked).flat_map(|chosen| chosen.module.kernels());
            kernels.extend(listed.map(str::to_string));
            devices.push(S::ready(on, &source, &picked)?);
        }
        let context = context.clone();
        let sources = vec![Arc::new(source)];
        Ok(Bundle { context, sources, devices, kernels: kernels.into_iter().collect(), missing })
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
    pub fn missing(&self) -> &[MissingModule] {
        &self.missing
    }

    /// The context that the bundle was made in.
    pub fn context(&self) -> &Context {
        &self.context
    }
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
            missing: self.missing.clone(),
        })
    }

    /// The bundle as a SYCLBIN in state input.
    ///
    /// # Errors
    /// It is too large for the format.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        content(&self.sources, syclbin::BundleState::Input)
    }
}

impl Bundle<Object> {
    /// The bundle as a SYCLBIN in state object. OpenCL has no portable form of what is compiled, so that it holds what
    /// was read: it is compiled again when it is opened.
    ///
    /// # Errors
    /// It is too large for the format.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        content(&self.sources, syclbin::BundleState::Object)
    }
}

impl Bundle<Executable> {
    /// The kernels for `device`; each is called with or without SYCL's prefix `__sycl_kernel_`.
    ///
    /// # Errors
    /// The device is not one of the context's.
    pub fn program(&self, device: &Device) -> Result<&BundleProgram, Error> {
        let index = self.context.index_of(device);
        match index.and_then(|index| self.devices.get(index)) {
            Some(of_device) => Ok(of_device),
            None => Err(Error::device(&device.to_string(), "is not a device of the bundle's context")),
        }
    }

    /// The bundle as a SYCLBIN in state executable: the native code of each device, as its driver tells it, for
    /// example to spare the next run the compilation.
    ///
    /// # Errors
    /// SYCL has no name for the architecture of a device, by which the code would be found again; or a driver does not
    /// tell it.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        let mut codes: Vec<Code> = Vec::new();
        for code in self
            .devices
            .iter()
            .map(BundleProgram::codes)
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
        {
            // Two devices of one kind have one code.
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        let modules = codes.iter().map(Code::module).collect::<Result<Vec<_>, _>>();
        let written = modules.and_then(|modules| {
            write(syclbin::BundleState::Executable, &modules, ImageKindNumber::default())
        });
        written.map_err(|error| Error::device("SYCLBIN", error.to_string()))
    }
}

/// All that was read, modules that no device takes too.
fn content(sources: &[Arc<NamedSyclbin>], state: syclbin::BundleState) -> Result<Vec<u8>, Error> {
    let files = sources.iter().map(|source| source.parse()).collect::<Result<Vec<_>, _>>()?;
    let modules: Vec<NewModule<'_>> =
        files.iter().flat_map(|file| &file.modules).map(NewModule::from).collect();
    write(state, &modules, ImageKindNumber::default())
        .map_err(|error| Error::device("SYCLBIN", error.to_string()))
}

/// Links the modules of all `objects` for each device, duplicates once: which become one program is up to the
/// context's [`Rules`](crate::Rules).
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
            .with_hint("open all of them by one `Context`"));
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
    let missing = objects.iter().flat_map(|object| object.missing.iter().cloned()).collect();
    Ok(Bundle { context, sources: Vec::new(), devices, kernels, missing })
}

fn linked(on: &OnDevice, modules: &[&Compiled]) -> Result<BundleProgram, Error> {
    let names: Vec<Names> = modules.iter().map(|module| module.names.clone()).collect();
    let programs = links::programs(on.rules, &names);
    let programs = programs.map_err(|problem| Error::device("link of bundles", problem))?;
    let mut images = Vec::with_capacity(programs.len());
    for program in programs {
        let modules: Vec<&Compiled> =
            program.iter().filter_map(|index| modules.get(*index).copied()).collect();
        let programs: Vec<&DriverObject> = modules.iter().map(|module| &*module.program).collect();
        let needs = needs::merge(modules.iter().map(|module| &module.needs));
        let kernels = modules.iter().flat_map(|module| module.names.kernels.iter().cloned()).collect();
        images.push(Image { built: on.compiler.link("the bundles", &programs)?, kernels, needs });
    }
    Ok(BundleProgram::new(on, images))
}

impl Compiled {
    fn new(on: &OnDevice, source: &NamedSyclbin, chosen: &Chosen<'_, '_>) -> Result<Compiled, Error> {
        let Chosen { picked, module } = *chosen;
        let what = source.module(picked.module);
        let (spirv, used) = checked_spirv(source, chosen)?;
        let names = Names {
            kernels: module.kernels().map(str::to_string).collect(),
            imported: module.imported().map(str::to_string).collect(),
            exported: module.exported().map(str::to_string).collect(),
            used,
        };
        let program = Arc::new(on.compiler.compile(&what, spirv)?);
        Ok(Compiled { names, needs: needs::from_module(module), program })
    }
}

fn build(on: &OnDevice, source: &NamedSyclbin, chosen: &Chosen<'_, '_>) -> Result<Image, Error> {
    let Chosen { picked, module } = *chosen;
    let what = source.module(picked.module);
    let native = match picked.form {
        Form::Native(index) => module.native.get(index),
        Form::Ir(_) => None,
    };
    let built = match native {
        Some(native) => on.compiler.load(&what, native.bytes)?,
        None => on.compiler.build(&what, checked_spirv(source, chosen)?.0)?,
    };
    let kernels = module.kernels().map(str::to_string).collect();
    Ok(Image { built, kernels, needs: needs::from_module(module) })
}

/// The IR that was chosen, and what it imports. Drivers end the process at SPIR-V that was cut.
fn checked_spirv<'a>(
    source: &NamedSyclbin,
    chosen: &Chosen<'_, 'a>,
) -> Result<(&'a [u8], Vec<String>), Error> {
    let Chosen { picked, module } = *chosen;
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
