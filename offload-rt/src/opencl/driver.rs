//! Having a driver build an image, and asking it about the result.

use offload_format::ImageKind;
use offload_format::pack::KernelInfo;
use opencl3::context::Context;
use opencl3::error_codes::{ClError, DLOPEN_FUNCTION_NOT_AVAILABLE};
use opencl3::kernel::Kernel;
use opencl3::program::Program;

use super::device::{self, ClDevice, LOADER, describe};
use super::rebuild::{self, Build, Built};
use crate::entry::LoadedImage;
use crate::error::Error;
use crate::text::escape_lines;

/// `CL_KERNEL_SPILL_MEM_SIZE_INTEL`
/// (<https://registry.khronos.org/OpenCL/extensions/intel/cl_intel_required_subgroup_size.html>).
const CL_KERNEL_SPILL_MEM_SIZE_INTEL: u32 = 0x4109;
/// `CL_KERNEL_REGISTER_COUNT_INTEL`
/// (<https://github.com/intel/compute-runtime/blob/master/opencl/extensions/public/cl_ext_private.h>).
const CL_KERNEL_REGISTER_COUNT_INTEL: u32 = 0x425b;

/// The driver of one device, with an image for it.
#[derive(Debug)]
pub(super) struct ImageCompiler<'a> {
    pub(super) context: &'a Context,
    pub(super) device: &'a ClDevice,
    pub(super) image: &'a LoadedImage,
}

impl ImageCompiler<'_> {
    /// Builds the image; twice if the driver compiles it, and says that kernels spill.
    pub(super) fn run(&self) -> Result<Built<Program>, Error> {
        let entry = self.image.entry();
        match entry.image_kind() == ImageKind::SpirV && device::is_intel_gpu(self.device.id()) {
            true => rebuild::without_spills(self, entry.kernels()),
            false => rebuild::once(self, entry.kernels()),
        }
    }

    fn create(&self) -> Result<Program, Error> {
        let (entry, bytes) = (self.image.entry(), self.image.bytes());
        let created = match entry.image_kind() {
            ImageKind::OpenClC => {
                let source = std::str::from_utf8(bytes)
                    .map_err(|error| Error::device(LOADER, format!("{entry} is not UTF-8: {error}")))?;
                Program::create_from_source(self.context, source)
            }
            ImageKind::SpirV => from_il(self.context, bytes),
            // SAFETY: the device is the one that the context was made for.
            ImageKind::Object => unsafe {
                Program::create_from_binary(self.context, &[self.device.id()], &[bytes])
            },
            kind => {
                let problem = format!("{entry} is of kind {kind}, which no driver takes");
                return Err(Error::device(LOADER, problem));
            }
        };
        created.map_err(|error| self.failed(&format!("cannot take {entry}: {}", describe(error))))
    }

    fn failed(&self, problem: &str) -> Error {
        Error::device(&self.device.name(), problem.trim_end())
    }
}

impl Build for ImageCompiler<'_> {
    type Program = Program;

    fn build(&self, options: &str) -> Result<Program, Error> {
        let mut program = self.create()?;
        if let Err(error) = program.build(&[self.device.id()], options) {
            let log = program.get_build_log(self.device.id()).unwrap_or_default();
            let (entry, error) = (self.image.entry(), describe(error));
            return Err(self.failed(&format!("cannot build {entry}: {error}\n{}", escape_lines(&log))));
        }
        Ok(program)
    }

    fn kernel_names(&self, program: &Program) -> Vec<String> {
        let names = program.kernel_names().split(';').filter(|name| !name.is_empty());
        // The list of some drivers ends with the NUL of C.
        names.map(|name| name.trim_end_matches('\0').to_string()).collect()
    }

    fn usage(&self, program: &Program, kernel: &str) -> KernelInfo {
        let unknown = KernelInfo::default();
        if kernel.contains('\0') {
            return unknown;
        }
        let Ok(kernel) = Kernel::create(program, kernel) else { return unknown };
        let number = |parameter| number(&kernel.get_work_group_data(self.device.id(), parameter).ok()?);
        let size = |size: usize| u32::try_from(size).ok().filter(|size| *size > 0);
        {
            let mut info = unknown;
            info.registers =
                number(CL_KERNEL_REGISTER_COUNT_INTEL).and_then(|count| u32::try_from(count).ok());
            info.spilled = number(CL_KERNEL_SPILL_MEM_SIZE_INTEL);
            // Twice as many on devices that run hardware threads in pairs, but so for both builds.
            info.sub_group_size = kernel.get_work_group_size_multiple(self.device.id()).ok().and_then(size);
            info.max_work_group = kernel.get_work_group_size(self.device.id()).ok().and_then(size);
            info
        }
    }
}

/// A program of SPIR-V that is not built yet.
pub(super) fn from_il(context: &Context, spirv: &[u8]) -> Result<Program, ClError> {
    match Program::create_from_il(context, spirv) {
        // Before OpenCL 2.1 the function is one of the extension cl_khr_il_program.
        Err(ClError(DLOPEN_FUNCTION_NOT_AVAILABLE)) => Program::create_from_il_khr(context, spirv),
        other => other,
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
