//! Having a driver compile, link and build code that comes from no pack.

use std::sync::Arc;
use std::time::Duration;

use super::api::{ClError, Program};
use super::context::ClContext;
use super::device::ClDevice;
use super::module::ClModule;
use super::properties::Properties;
use super::rebuild::BuiltImage;
use crate::backend::BackendModule;
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Arg, Kernel};
use crate::range::NdRange;
use crate::text::{escape, escape_lines};

/// The compiler and linker of an OpenCL device's driver, for SPIR-V and native code that come from no pack.
///
/// In all functions `what` names the code in errors. Code is trusted as a part of the program is: drivers may end the
/// process at SPIR-V that is not valid.
///
/// ```no_run
/// use offload_rt::opencl::{self, Compiler};
/// use offload_rt::{Arg, NdRange};
///
/// let devices = opencl::devices()?;
/// let compiler = Compiler::new(&devices[0])?;
/// let object = compiler.compile("fill.spv", &std::fs::read("fill.spv").unwrap())?;
/// let program = compiler.link("the program", &[&object])?;
/// let mut out = [0u32; 256];
/// // SAFETY: the kernel writes one number for each work-item.
/// unsafe { program.launch("fill", NdRange::new([256], [64]), &mut [Arg::in_out(&mut out)])? };
/// # Ok::<(), offload_rt::Error>(())
/// ```
#[derive(Debug)]
pub struct Compiler {
    context: Arc<ClContext>,
    device: Device,
}

/// Compiled code, to be linked.
#[derive(Debug)]
pub struct Object {
    program: Program,
}

/// A program that kernels can be launched from.
#[derive(Debug)]
pub struct Executable {
    module: Arc<ClModule>,
    device: Device,
}

impl Compiler {
    /// That of `device`.
    ///
    /// # Errors
    /// It is not an OpenCL device, or the driver refuses a context.
    pub fn new(device: &Device) -> Result<Compiler, Error> {
        let context = ClDevice::from_device(device)?.context();
        let context = context.map_err(|problem| Error::from_device(&device.to_string(), problem))?;
        Ok(Compiler { context, device: device.clone() })
    }

    /// The driver's properties of the device.
    pub fn properties(&self) -> Properties {
        Properties::query(self.context.device())
    }

    /// Whether it is the compiler of `device`.
    pub fn is_of(&self, device: &Device) -> bool {
        let context = device.backend_as::<ClDevice>().and_then(|device| device.context().ok());
        context.is_some_and(|context| context.id() == self.context.id())
    }

    /// The device's name, safe to show.
    pub fn name(&self) -> String {
        escape(self.device.name())
    }

    /// Compiles SPIR-V to what can be linked.
    ///
    /// # Errors
    /// The driver refuses it; the message holds its build log, here and below.
    pub fn compile(&self, what: &str, spirv: &[u8]) -> Result<Object, Error> {
        let program = self.create_from_il(what, spirv)?;
        match program.compile(self.context.device()) {
            Ok(()) => Ok(Object { program }),
            Err(error) => Err(self.with_log(&format!("cannot compile {what}"), error, &program)),
        }
    }

    /// Links what was compiled.
    ///
    /// # Errors
    /// There is nothing to link, or the driver refuses.
    pub fn link(&self, what: &str, objects: &[&Object]) -> Result<Executable, Error> {
        let programs: Vec<&Program> = objects.iter().map(|object| &object.program).collect();
        if programs.is_empty() {
            return Err(Error::device(&self.name(), format!("{what}: there is nothing to link")));
        }
        let linked = Program::linked(&self.context.context, self.context.device(), &programs);
        Ok(self.executable(linked.map_err(self.failed(format!("cannot link {what}")))?))
    }

    /// Compiles and links SPIR-V.
    ///
    /// # Errors
    /// The driver refuses it.
    pub fn build(&self, what: &str, spirv: &[u8]) -> Result<Executable, Error> {
        self.finish(what, self.create_from_il(what, spirv)?)
    }

    /// Takes native code, in the driver's own form.
    ///
    /// # Errors
    /// The driver refuses it.
    pub fn load(&self, what: &str, native: &[u8]) -> Result<Executable, Error> {
        let created = Program::from_binary(&self.context.context, self.context.device(), native);
        self.finish(what, created.map_err(self.failed(format!("cannot take {what}")))?)
    }

    /// The driver's own form of a program of this device, which [`Compiler::load`] takes.
    ///
    /// # Errors
    /// The driver does not tell it.
    pub fn binary(&self, what: &str, program: &Executable) -> Result<Vec<u8>, Error> {
        let binary = program.module.built.default_program().binary();
        let binary = binary.map_err(self.failed(format!("cannot tell the code of {what}")))?;
        if binary.is_empty() {
            Err(Error::device(&self.name(), format!("the driver tells no code of {what}")))
        } else {
            Ok(binary)
        }
    }

    fn create_from_il(&self, what: &str, spirv: &[u8]) -> Result<Program, Error> {
        Program::from_il(&self.context.context, spirv).map_err(self.failed(format!("cannot take {what}")))
    }

    fn finish(&self, what: &str, program: Program) -> Result<Executable, Error> {
        match program.build(self.context.device(), "") {
            Ok(()) => Ok(self.executable(program)),
            Err(error) => Err(self.with_log(&format!("cannot build {what}"), error, &program)),
        }
    }

    fn executable(&self, program: Program) -> Executable {
        let module = Arc::new(ClModule {
            built: BuiltImage::new(program, &[]),
            _libraries: Vec::new(),
            failures: None,
            context: self.context.clone(),
        });
        Executable { module, device: self.device.clone() }
    }

    fn failed(&self, problem: String) -> impl Fn(ClError) -> Error + use<> {
        let name = self.name();
        move |error| Error::device(&name, format!("{problem}: {error}"))
    }

    fn with_log(&self, problem: &str, error: ClError, program: &Program) -> Error {
        let log = program.build_log(self.context.device());
        let text = format!("{problem}: {error}\n{}", escape_lines(&log));
        Error::device(&self.name(), text.trim_end())
    }
}

impl Executable {
    /// Looks up a kernel. Nothing is known of its arguments but their number, which the driver tells.
    ///
    /// # Errors
    /// The kernel does not exist.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Ok(Kernel::new(self.module.clone().kernel(name)?, self.device.clone()))
    }

    /// Runs `kernel` over `range`, waits for its end, and says how long it ran. Nothing is known of its arguments but
    /// their number, which the driver tells.
    ///
    /// # Errors
    /// The kernel does not exist, or the driver reports a failure.
    ///
    /// # Safety
    /// As that of [`Program::launch`](crate::Program::launch); the kinds and sizes of the arguments are the kernel's.
    pub unsafe fn launch(
        &self,
        kernel: &str,
        range: NdRange,
        args: &mut [Arg<'_>],
    ) -> Result<Duration, Error> {
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.kernel(kernel)?.launch_with_copies(range, args) }
    }
}
