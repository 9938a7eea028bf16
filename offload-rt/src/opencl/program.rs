//! An image as a program of an OpenCL driver: building it, and what the driver says of the result.

use std::sync::Arc;

use offload_format::ImageKind;
use offload_format::pack::KernelInfo;
use opencl_sys::{CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_WORK_GROUP_SIZE};

use super::api::{ClError, Context, Program as DriverProgram};
use super::device::{self, ClDevice, LOADER};
use super::module::ClModule;
use super::pinned::ClHostMemory;
use super::rebuild::{self, Build, Built};
use super::stream::ClStream;
use crate::driver::{Driver, DriverHostMemory, DriverModule, DriverStream};
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
use crate::text::{escape, escape_lines};

/// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
const CL_KERNEL_SPILL_MEM_SIZE_INTEL: u32 = 0x4109;
/// `CL_KERNEL_REGISTER_COUNT_INTEL`
/// (<https://github.com/intel/compute-runtime/blob/master/opencl/extensions/public/cl_ext_private.h>).
const CL_KERNEL_REGISTER_COUNT_INTEL: u32 = 0x425b;

impl Driver for ClDevice {
    /// The error holds the build log.
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn DriverModule>, Error> {
        let context = self.context().map_err(|problem| Error::of_device(&self.name(), problem))?;
        let of =
            |entry| context.libraries.compiled(entry, |image| self.compile_library(&context.context, image));
        let libraries = libraries.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let compiler =
            ImageCompiler { context: &context.context, device: self, image, libraries: &libraries };
        let built = compiler.run()?;
        Ok(Arc::new(ClModule { built, _libraries: libraries, context }))
    }

    fn stream(&self) -> Result<Box<dyn DriverStream>, Problem> {
        Ok(Box::new(ClStream::new(self.context()?)?))
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn DriverHostMemory>>, Problem> {
        let memory = ClHostMemory::new(self.context()?, size).map_err(|error| error.to_string())?;
        Ok(Some(Box::new(memory)))
    }
}

/// The driver of one device, with an image for it.
struct ImageCompiler<'a> {
    context: &'a Context,
    device: &'a ClDevice,
    image: &'a LoadedImage,
    /// What is linked with it.
    libraries: &'a [Arc<DriverProgram>],
}

impl ClDevice {
    /// A library for [`DriverProgram::linked`].
    fn compile_library(&self, context: &Context, image: &LoadedImage) -> Result<DriverProgram, Error> {
        ImageCompiler { context, device: self, image, libraries: &[] }.compiled()
    }
}

impl ImageCompiler<'_> {
    /// Builds the image; twice if the driver compiles it, and says that kernels spill.
    fn run(&self) -> Result<Built<DriverProgram>, Error> {
        let entry = self.image.entry();
        // A driver that links takes no options for one part.
        let takes_options = entry.image_kind() == ImageKind::SpirV && self.libraries.is_empty();
        match takes_options && device::is_intel_gpu(self.device.id()) {
            true => rebuild::without_spills(self, entry.kernels()),
            false => Ok(Built::new(self.build("")?, entry.kernels())),
        }
    }

    fn create(&self) -> Result<DriverProgram, Error> {
        let (entry, bytes) = (self.image.entry(), self.image.bytes());
        let whole = self.image.check_structure();
        whole.map_err(|problem| Error::device(LOADER, format!("cannot take {entry}: {problem}")))?;
        let created = match entry.image_kind() {
            ImageKind::OpenClC => {
                let source = std::str::from_utf8(bytes)
                    .map_err(|error| Error::device(LOADER, format!("{entry} is not UTF-8: {error}")))?;
                DriverProgram::from_source(self.context, source)
            }
            ImageKind::SpirV => DriverProgram::from_il(self.context, bytes),
            ImageKind::Object => DriverProgram::from_binary(self.context, self.device.id(), bytes),
            kind => {
                let problem = format!("{entry} is of kind {kind}, which no driver takes");
                return Err(Error::device(LOADER, problem));
            }
        };
        created.map_err(|error| self.failed(&format!("cannot take {entry}: {error}")))
    }

    /// What can be linked.
    fn compiled(&self) -> Result<DriverProgram, Error> {
        let program = self.create()?;
        match program.compile(self.device.id()) {
            Ok(()) => Ok(program),
            Err(error) => Err(self.with_log("cannot compile", error, &program)),
        }
    }

    /// Compiled, and linked with the libraries.
    fn linked(&self) -> Result<DriverProgram, Error> {
        let own = self.compiled()?;
        let parts: Vec<&DriverProgram> =
            std::iter::once(&own).chain(self.libraries.iter().map(|library| &**library)).collect();
        let entry = self.image.entry();
        let names: Vec<String> = entry.imports().iter().map(ToString::to_string).collect();
        DriverProgram::linked(self.context, self.device.id(), &parts).map_err(|error| {
            self.failed(&format!("cannot link {entry} with {}: {error}", escape(&names.join(", "))))
        })
    }

    fn with_log(&self, what: &str, error: ClError, program: &DriverProgram) -> Error {
        let (entry, log) = (self.image.entry(), program.build_log(self.device.id()));
        self.failed(&format!("{what} {entry}: {error}\n{}", escape_lines(&log)))
    }

    fn failed(&self, problem: &str) -> Error {
        Error::device(&self.device.name(), problem.trim_end())
    }
}

impl Build for ImageCompiler<'_> {
    type Program = DriverProgram;

    fn build(&self, options: &str) -> Result<DriverProgram, Error> {
        if !self.libraries.is_empty() {
            return self.linked();
        }
        let program = self.create()?;
        match program.build(self.device.id(), options) {
            Ok(()) => Ok(program),
            Err(error) => Err(self.with_log("cannot build", error, &program)),
        }
    }

    fn kernel_names(&self, program: &DriverProgram) -> Vec<String> {
        let names = program.kernel_names().unwrap_or_default();
        let names = names.split(';').map(|name| name.trim_end_matches('\0'));
        names.filter(|name| !name.is_empty()).map(str::to_string).collect()
    }

    fn usage(&self, program: &DriverProgram, kernel: &str) -> KernelInfo {
        let mut info = KernelInfo::default();
        let Ok(kernel) = program.kernel(kernel) else { return info };
        let told = |parameter| number(&kernel.work_group_info(self.device.id(), parameter).ok()?);
        let count = |parameter| u32::try_from(told(parameter)?).ok();
        let size = |parameter| count(parameter).filter(|size| *size > 0);
        info.registers = count(CL_KERNEL_REGISTER_COUNT_INTEL);
        info.spilled = told(CL_KERNEL_SPILL_MEM_SIZE_INTEL);
        // Twice as many on devices that run hardware threads in pairs, but so for both builds.
        info.sub_group_size = size(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
        info.max_work_group = size(CL_KERNEL_WORK_GROUP_SIZE);
        info
    }
}

/// A number of 4 or 8 bytes: releases of Intel's driver differ.
fn number(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_sizes() {
        assert_eq!(number(&640u32.to_ne_bytes()), Some(640));
        assert_eq!(number(&(1u64 << 40).to_ne_bytes()), Some(1 << 40));
        assert_eq!((number(&[]), number(&[1, 2])), (None, None));
    }
}
