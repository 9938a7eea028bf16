//! Having a driver compile, link and build code that comes from no pack.

use std::ffi::CString;
use std::time::Duration;

use opencl3::error_codes::ClError;
use opencl3::kernel::{Kernel, create_kernel};
use opencl3::program::{CL_PROGRAM_BINARIES, Program, get_program_info, link_program, release_program};
use opencl3::types::cl_program;

use super::driver::from_il;
use super::queue::{Queue, refused};
use super::{describe, traits};
use crate::bundle::Traits;
use crate::device::OpenClDevice;
use crate::error::Error;
use crate::launch::{Arg, NdRange};
use crate::text::{escape, escape_lines};

/// The driver of one device.
#[derive(Debug)]
pub(crate) struct Online {
    queue: Queue,
    device: OpenClDevice,
}

/// A program that kernels can be taken from.
#[derive(Debug)]
pub(crate) enum Built {
    Whole(Program),
    Linked(Linked),
}

/// The crate `opencl3` makes no [`Program`] of what it links.
#[derive(Debug)]
pub(crate) struct Linked(isize);

impl Drop for Linked {
    fn drop(&mut self) {
        // SAFETY: the program is this value's, which is gone afterwards.
        // There is nobody to tell if the driver fails to release it.
        let _ = unsafe { release_program(self.0 as cl_program) };
    }
}

impl Online {
    pub(crate) fn new(device: &OpenClDevice) -> Result<Online, Error> {
        Ok(Online { queue: Queue::new(device)?, device: device.clone() })
    }

    pub(crate) fn traits(&self) -> Traits {
        traits::of(self.queue.id(), &self.device)
    }

    /// Whether it is the driver of `device`.
    pub(crate) fn is_of(&self, device: &OpenClDevice) -> bool {
        device.handle.is_some_and(|handle| handle.id() == self.queue.id())
    }

    /// The device's name.
    pub(crate) fn name(&self) -> String {
        escape(&self.device.name)
    }

    /// Compiles SPIR-V to what can be linked. `what` names it in errors, here and below.
    pub(crate) fn compile(&self, what: &str, spirv: &[u8]) -> Result<Program, Error> {
        let mut program = self.create_from_il(what, spirv)?;
        match program.compile(&[self.queue.id()], "", &[], &[]) {
            Ok(()) => Ok(program),
            Err(error) => Err(self.with_log(&format!("cannot compile {what}"), error, &program)),
        }
    }

    /// Builds SPIR-V.
    pub(crate) fn build(&self, what: &str, spirv: &[u8]) -> Result<Built, Error> {
        self.finish(what, self.create_from_il(what, spirv)?)
    }

    /// Takes native code.
    pub(crate) fn take(&self, what: &str, native: &[u8]) -> Result<Built, Error> {
        let (context, id) = (self.queue.context(), self.queue.id());
        // SAFETY: the device is the one that the context was made for.
        let created = unsafe { Program::create_from_binary(context, &[id], &[native]) };
        self.finish(what, created.map_err(self.failed(format!("cannot take {what}")))?)
    }

    /// Links what was compiled.
    pub(crate) fn link(&self, what: &str, programs: &[&Program]) -> Result<Built, Error> {
        let failed = self.failed(format!("cannot link {what}"));
        let programs: Vec<cl_program> = programs.iter().map(|program| program.get()).collect();
        if programs.is_empty() {
            return Err(Error::device(&self.name(), format!("{what}: there is nothing to link")));
        }
        let (context, id) = (self.queue.context().get(), self.queue.id());
        // SAFETY: context, device and programs belong together; the call returns when the program is linked.
        let linked = unsafe {
            link_program(context, &[id], &CString::default(), &programs, None, std::ptr::null_mut())
        };
        let linked = linked.map_err(|code| failed(ClError(code)))?;
        Ok(Built::Linked(Linked(linked as isize)))
    }

    /// The driver's own form of a program.
    pub(crate) fn binary(&self, what: &str, built: &Built) -> Result<Vec<u8>, Error> {
        let failed = self.failed(format!("cannot tell the code of {what}"));
        let binaries = get_program_info(built.program(), CL_PROGRAM_BINARIES);
        let binaries: Vec<Vec<u8>> = binaries.map_err(|code| failed(ClError(code)))?.into();
        let only = binaries.into_iter().next().filter(|binary| !binary.is_empty());
        only.ok_or_else(|| Error::device(&self.name(), format!("the driver tells no code of {what}")))
    }

    /// # Safety
    /// As that of [`Program::launch`](crate::Program::launch).
    pub(crate) unsafe fn launch(
        &self,
        (built, name): (&Built, &str),
        range: &NdRange,
        args: &mut [Arg<'_>],
    ) -> Result<Duration, Error> {
        let create = || {
            let text = CString::new(name).map_err(|_| Error::launch(name, "the name has a NUL"))?;
            let kernel = create_kernel(built.program(), &text);
            kernel.map(Kernel::new).map_err(|code| refused(name, "cannot be created")(ClError(code)))
        };
        // SAFETY: the contract is the same, and the caller's to keep.
        unsafe { self.queue.launch(name, create, (range, args)) }
    }

    fn create_from_il(&self, what: &str, spirv: &[u8]) -> Result<Program, Error> {
        from_il(self.queue.context(), spirv).map_err(self.failed(format!("cannot take {what}")))
    }

    fn finish(&self, what: &str, mut program: Program) -> Result<Built, Error> {
        match program.build(&[self.queue.id()], "") {
            Ok(()) => Ok(Built::Whole(program)),
            Err(error) => Err(self.with_log(&format!("cannot build {what}"), error, &program)),
        }
    }

    fn failed(&self, problem: String) -> impl Fn(ClError) -> Error + use<> {
        let name = self.name();
        move |error| Error::device(&name, format!("{problem}: {}", describe(error)))
    }

    fn with_log(&self, problem: &str, error: ClError, program: &Program) -> Error {
        let log = program.get_build_log(self.queue.id()).unwrap_or_default();
        let text = format!("{problem}: {}\n{}", describe(error), escape_lines(&log));
        Error::device(&self.name(), text.trim_end())
    }
}

impl Built {
    fn program(&self) -> cl_program {
        match self {
            Built::Whole(program) => program.get(),
            Built::Linked(Linked(program)) => *program as cl_program,
        }
    }
}
