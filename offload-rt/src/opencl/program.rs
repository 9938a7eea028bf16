//! An image as a program of an OpenCL driver: building it, and what the driver says of the result.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;

use offload_format::pack::KernelInfo;
use offload_format::{Aspects, ImageKind, SpecConstant};
use opencl_sys::{
    CL_DEVICE_VERSION, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_WORK_GROUP_SIZE,
};

use super::answers::text;
use super::api::{ClError, Context, Program as DriverProgram};
use super::device::{self, ClDevice, LOADER};
use super::device_properties;
#[cfg(unix)]
use super::external;
use super::failures::{self, ClFailures};
use super::image::{self, ClImage, ClSampler};
use super::kernel_properties::{
    CL_KERNEL_REGISTER_COUNT_INTEL, CL_KERNEL_SPILL_MEM_SIZE_INTEL, kernel_count, kernel_number,
};
use super::memory::ClMemory;
use super::module::ClModule;
use super::pinned::ClHostMemory;
use super::rebuild::{self, Build, BuiltImage};
use super::records::{self, Record};
use super::stream::ClStream;
#[cfg(unix)]
use crate::backend::BackendSemaphore;
use crate::backend::{
    BackendDevice, BackendHostMemory, BackendImage, BackendMemory, BackendModule, BackendOutput, BackendPool,
    BackendSampler, BackendStream, ImageLayout, StreamPriority,
};
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
#[cfg(unix)]
use crate::external::{ExternalMemory, ExternalSemaphoreKind};
use crate::identity::DeviceIdentity;
use crate::images::{ImageFormat, ImageType, SamplerSettings};
use crate::properties::DeviceProperties;
use crate::specialization::Setting;
use crate::text::{escape, escape_lines};

const LATER_VERSION: &str = "-cl-std=CL3.0";

impl BackendDevice for ClDevice {
    /// The error holds the build log.
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        let context = self.context().map_err(|problem| Error::from_device(&self.name(), problem))?;
        let mut compiled = Vec::with_capacity(libraries.len());
        for entry in libraries {
            let library =
                context.libraries.compiled(entry, |image| self.compile_library(&context.context, image))?;
            compiled.push(library);
        }
        let libraries = compiled;
        let record = self.record(image);
        let compiler = ImageCompiler {
            context: &context.context,
            device: self,
            image,
            libraries: &libraries,
            failures: record.as_ref().map(Record::address),
        };
        let built = compiler.run()?;
        let kernels = image.entry().kernels().iter().map(|kernel| kernel.name.clone()).collect();
        let failures = match record {
            Some(record) => Some(ClFailures::for_process(record, kernels)),
            None if has_variable(image.entry()) => {
                let failures = ClFailures::for_program(&context, built.default_program(), kernels);
                failures.map_err(|problem| Error::from_device(&self.name(), problem))?
            }
            None => None,
        };
        let failures = failures.map(|failures| Arc::new(failures) as Arc<dyn BackendOutput>);
        Ok(Arc::new(ClModule { built, _libraries: libraries, failures, context }))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        Ok(Box::new(ClStream::new(self.context()?)?))
    }

    fn stream_with_priority(
        &self,
        priority: StreamPriority,
    ) -> Result<Option<Box<dyn BackendStream>>, Problem> {
        let stream = ClStream::with_priority(self.context()?, priority)?;
        Ok(stream.map(|stream| Box::new(stream) as Box<dyn BackendStream>))
    }

    fn identity(&self) -> DeviceIdentity {
        device_properties::identity(self.id())
    }

    fn properties(&self) -> Result<DeviceProperties, Problem> {
        Ok(device_properties::query(self.id()))
    }

    fn pool(&self) -> Result<Option<Box<dyn BackendPool>>, Problem> {
        Ok(Some(Box::new(self.context()?.pool.clone())))
    }

    fn image(&self, layout: &ImageLayout<'_>) -> Result<Arc<dyn BackendImage>, Problem> {
        Ok(Arc::new(ClImage::new(&*self.context()?, layout)?))
    }

    fn image_formats(&self, image_type: ImageType) -> Result<Vec<ImageFormat>, Problem> {
        image::formats(&*self.context()?, image_type)
    }

    fn sampler(&self, settings: SamplerSettings) -> Result<Arc<dyn BackendSampler>, Problem> {
        Ok(Arc::new(ClSampler::new(&*self.context()?, settings)?))
    }

    fn allocate_managed(&self, size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        let memory = ClMemory::managed(&self.context()?, size).map_err(|error| error.to_string())?;
        Ok(memory.map(|memory| Arc::new(memory) as Arc<dyn BackendMemory>))
    }

    #[cfg(unix)]
    fn import_memory(
        &self,
        memory: ExternalMemory,
        size: u64,
    ) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        external::import_memory(&self.context()?, memory, size)
    }

    #[cfg(unix)]
    fn import_semaphore(
        &self,
        kind: ExternalSemaphoreKind,
        descriptor: OwnedFd,
    ) -> Result<Option<Arc<dyn BackendSemaphore>>, Problem> {
        external::import_semaphore(self.context()?, kind, descriptor)
    }

    fn lock_memory(&self, size: usize) -> Result<Option<Box<dyn BackendHostMemory>>, Problem> {
        let memory = ClHostMemory::new(self.context()?, size).map_err(|error| error.to_string())?;
        Ok(Some(Box::new(memory)))
    }
}

/// The driver of one device, with an image for it.
struct ImageCompiler<'a> {
    context: &'a Context,
    device: &'a ClDevice,
    image: &'a LoadedImage,
    /// The libraries to link.
    libraries: &'a [Arc<DriverProgram>],
    /// Where its assertions fail, if it is OpenCL C that has some.
    failures: Option<usize>,
}

impl ClDevice {
    /// A library for [`DriverProgram::linked`].
    fn compile_library(&self, context: &Context, image: &LoadedImage) -> Result<DriverProgram, Error> {
        ImageCompiler { context, device: self, image, libraries: &[], failures: None }.compiled()
    }

    /// Where assertions of OpenCL C fail, if `image` has some and the device can tell.
    fn record(&self, image: &LoadedImage) -> Option<Record> {
        let source = (image.entry().image_kind() == ImageKind::OpenClC).then(|| image.bytes())?;
        let asserts = std::str::from_utf8(source).is_ok_and(|source| source.contains(failures::ADDRESS));
        (asserts && records::shares_memory(self.id())).then(|| Record::new(image.entry().hash())).flatten()
    }
}

impl ImageCompiler<'_> {
    /// Builds the image; twice if the driver compiles it, and says that kernels spill.
    fn run(&self) -> Result<BuiltImage<DriverProgram>, Error> {
        let entry = self.image.entry();
        // A driver that links takes no options for one part.
        let takes_options = entry.image_kind() == ImageKind::SpirV && self.libraries.is_empty();
        // Of two builds each would have failed assertions of its own.
        let takes_options = takes_options && !has_variable(entry);
        if takes_options && device::is_intel_gpu(self.device.id()) {
            rebuild::without_spills(self, entry.kernels())
        } else {
            Ok(BuiltImage::new(self.build(&self.definitions())?, entry.kernels()))
        }
    }

    fn create(&self) -> Result<DriverProgram, Error> {
        let entry = self.image.entry();
        let bytes = self.image.bytes();
        let whole = self.image.check_structure();
        whole.map_err(|problem| Error::device(LOADER, format!("cannot take {entry}: {problem}")))?;
        let created = match entry.image_kind() {
            ImageKind::OpenClC => {
                let source = std::str::from_utf8(bytes)
                    .map_err(|error| Error::device(LOADER, format!("{entry} is not UTF-8: {error}")))?;
                DriverProgram::from_source(self.context, source)
            }
            ImageKind::SpirV => {
                let program = DriverProgram::from_il(self.context, bytes);
                return self.specialized(program.map_err(|error| self.refused(error))?);
            }
            ImageKind::Object => DriverProgram::from_binary(self.context, self.device.id(), bytes),
            kind => {
                let problem = format!("{entry} is of kind {kind}, which no driver takes");
                return Err(Error::device(LOADER, problem));
            }
        };
        created.map_err(|error| self.refused(error))
    }

    fn refused(&self, error: ClError) -> Error {
        self.failed(&format!("cannot take {}: {error}", self.image.entry()))
    }

    /// SPIR-V with the values of its constants that differ from the defaults.
    fn specialized(&self, program: DriverProgram) -> Result<DriverProgram, Error> {
        for Setting { name, id, value } in self.image.settings() {
            let specialized = if has_values(&text(self.device.id(), CL_DEVICE_VERSION)) {
                program.specialize(id, value)
            } else {
                Err(ClError::Lacks("clSetProgramSpecializationConstant"))
            };
            specialized.map_err(|error| {
                let name = escape(&name);
                let error = format!("cannot set {name} = {value} in {}: {error}", self.image.entry());
                let hint = "values of SPIR-V need a driver of OpenCL 2.2 or later; images for `opencl-c` take them on every driver";
                self.failed(&error).with_hint(hint)
            })?;
        }
        Ok(program)
    }

    /// The macros for OpenCL C: the values of constants.
    fn definitions(&self) -> String {
        if self.image.entry().image_kind() != ImageKind::OpenClC {
            return String::new();
        }
        let mut definitions = Vec::new();
        for Setting { name, value, .. } in self.image.settings() {
            definitions.push(format!("-D{}={}", SpecConstant::bits_macro(&name), value.bits_literal()));
        }
        if let Some(address) = self.failures {
            definitions.push(format!("-D{}={address:#x}ul", failures::ADDRESS));
        }
        definitions.join(" ")
    }

    /// The compiled program, for the linker.
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

    /// SPIR-V with generic pointers, built with the functions of OpenCL C 3.0: Intel's runtime for CPUs otherwise lacks atomic
    /// functions on such pointers, whatever version the module names. Other drivers ignore the option, and are not
    /// asked unless they have failed.
    fn as_later_version(&self, options: &str) -> Option<DriverProgram> {
        let entry = self.image.entry();
        let has_generic_pointers = Aspects::GENERIC_POINTER.missing_from(entry.aspects()).is_empty();
        if entry.image_kind() != ImageKind::SpirV || !has_generic_pointers {
            return None;
        }
        let program = self.create().ok()?;
        let options = format!("{LATER_VERSION} {options}");
        program.build(self.device.id(), options.trim_end()).ok().map(|()| program)
    }

    fn with_log(&self, what: &str, error: ClError, program: &DriverProgram) -> Error {
        let entry = self.image.entry();
        let log = program.build_log(self.device.id());
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
            Err(error) => {
                let failed = self.with_log("cannot build", error, &program);
                self.as_later_version(options).ok_or(failed)
            }
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
        let device = self.device.id();
        info.registers = kernel_count(&kernel, device, CL_KERNEL_REGISTER_COUNT_INTEL);
        info.spilled = kernel_number(&kernel, device, CL_KERNEL_SPILL_MEM_SIZE_INTEL);
        // Twice as many on devices that run hardware threads in pairs, but so for both builds.
        info.sub_group_size = kernel_count(&kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE)
            .filter(|size| *size > 0);
        info.max_work_group =
            kernel_count(&kernel, device, CL_KERNEL_WORK_GROUP_SIZE).filter(|size| *size > 0);
        info
    }
}

/// Whether kernels of the image write failed assertions to a variable.
fn has_variable(entry: &Entry) -> bool {
    Aspects::GLOBAL_VARIABLES.missing_from(entry.aspects()).is_empty()
}

/// Whether a device of this version has the function that gives constants their values. OpenCL's loader does not look before
/// it calls an earlier driver.
fn has_values(version: &str) -> bool {
    let numbers = version.strip_prefix("OpenCL ").and_then(|rest| rest.split(' ').next()?.split_once('.'));
    let Some((major, minor)) = numbers else { return false };
    match (major.parse::<u32>(), minor.parse::<u32>()) {
        (Ok(major), Ok(minor)) => (major, minor) >= (2, 2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_constants_came_with_opencl_2_2() {
        for later in ["OpenCL 2.2 x", "OpenCL 3.0 (Build 0)", "OpenCL 10.0", "OpenCL 3.0"] {
            assert!(has_values(later), "{later}");
        }
        for earlier in ["OpenCL 2.1 NEO", "OpenCL 1.2 pocl", "", "OpenCL 3", "FULL_PROFILE 3.0"] {
            assert!(!has_values(earlier), "{earlier}");
        }
    }
}
