//! The backend of the target `host`: native code that runs on the program's own CPU, in this process, without a driver.
//!
//! An image is a shared object, of ELF on Linux and a DLL on Windows, with this interface, version 2, in the C calling
//! convention of the system:
//!
//! ```c
//! extern const uint32_t __offload_host_abi; // 2
//! struct offload_group {
//!   uint64_t global_offset[3], global_size[3], local_size[3], num_groups[3], group_id[3];
//!   uint64_t work_dim;
//!   void (*print)(void *, const char *, uint64_t);
//!   void *print_data;
//!   void *frame;
//!   uint64_t enqueued_local_size[3];
//! };
//! // For each kernel K: bytes of the frame for each work-item of a group.
//! extern const uint64_t __offload_frame_K;
//! // Runs the work-items first[d] <= local id[d] < last[d] of one group in the calling thread; all of them where the
//! // kernel has a barrier. Every first[d] is less than last[d].
//! uint32_t __offload_run_K(const struct offload_group *group, void *const *args,
//!                          const uint64_t first[3], const uint64_t last[3]);
//! ```
//!
//! - `local_size` is that of the group. `enqueued_local_size` is that of the launch, of which the last groups of a dimension
//!   may be smaller.
//! - `args[i]` points to the argument: to the bytes of a value, or to a pointer to global, constant or local memory.
//!   Values and local memory are aligned to 128 bytes, as OpenCL's largest vector needs.
//! - An argument `image2d_t` and the like is a pointer to `struct offload_image` of `host_images.c`, which holds as long
//!   as the call. A `sampler_t` is a number of the size of a pointer, made of clang's constants `CLK_`.
//! - The state of an image between calls is thread-local: groups run on several threads at once.
//! - `frame` points to memory for values that are live across a barrier, aligned to 128 bytes, with `__offload_frame_K`
//!   bytes for each work-item of the group. Its initial content is unspecified.
//! - The function returns 0, or 2 to the 31 plus the line of a barrier (0 if it is unknown) that not all work-items of
//!   the group reached. The group is abandoned there.
//! - An image with assertions exports `uint32_t __offload_guarded(run, group, args, first, last, char *message, uint64_t
//!   size)`, which calls `run`, a function as `__offload_run_K`. It returns the result of `run`, or 2 to the 30 if an
//!   assertion failed; then the group is abandoned, and `message` holds the text of the failure.
//! - `print(print_data, text, size)` writes to the standard output.
//! - An image with `extern __shared__` arrays of CUDA C++ has `extern const uint64_t __offload_dynamic_shared_size`, the most
//!   bytes of shared memory that a launch may ask for.
//! - A variable `V` that the program may read and write (CUDA's `__device__` and `__constant__`) has
//!   `extern const struct { void *start; uint64_t size; } __offload_variable_V`.
//! - An instrumented image has the variable `__offload_checks`, which is null or points to functions that it
//!   calls before each access, barrier and computation of an index (`struct offload_checks` in `host_checks.c`).
//!
//! The code comes from the program itself and is verified against its hash, so that it is trusted as much as the
//! program is.

mod bind;
mod block;
mod checks;
mod executor;
mod image;
mod image_descriptor;
mod image_object;
#[cfg(feature = "dlpack")]
mod interchange;
mod library;
mod memory;
mod object;
mod stream;
mod texture_object;
mod threads;

use std::io::Write;
use std::sync::Arc;

use offload_format::ImageKind;
use offload_format::pack::KernelInfo;

use self::bind::BoundArgs;
use self::checks::Sanitizer;
use self::executor::Launch;
use self::image::{HostCode, HostImage};
use self::image_object::{ImageObject, SamplerObject};
use self::library::HostLibrary;
#[cfg(all(feature = "launchers", target_os = "linux"))]
pub(crate) use self::memory::HostMemory;
use self::memory::{CONTEXT, HostPool};
use self::stream::HostStream;
#[cfg(all(feature = "launchers", target_os = "linux"))]
pub(crate) use self::texture_object::{TextureMemory, TextureObject};
use crate::backend::{
    BackendDevice, BackendImage, BackendKernel, BackendMemory, BackendModule, BackendPool, BackendSampler,
    BackendStream, ContextId, ImageLayout, KernelArg, find_kernel, refuse_mode, refuse_shared_memory,
};
use crate::cpu_properties;
use crate::entry::{Entry, LoadedImage};
use crate::error::{Error, Problem};
use crate::group_size::{GroupSizes, USUAL_GROUP};
use crate::identity::DeviceIdentity;
use crate::images::{ImageFormat, ImageType, SamplerSettings};
use crate::properties::{DeviceProperties, KernelProperties};
use crate::range::NdRange;
use crate::text::escape;

/// Work-items of a work-group that fill the widest vectors with numbers of 32 bits: 512 bits of x86-64-v4.
const VECTOR_ITEMS: u32 = 16;

/// The program's own CPU.
#[derive(Debug)]
pub(crate) struct Host {
    pool: Arc<HostPool>,
}

/// A `host` image that is loaded into this process.
#[derive(Debug)]
struct HostModule {
    kernels: Vec<KernelInfo>,
    image: HostImage,
}

#[derive(Debug)]
pub(crate) struct HostKernel {
    info: KernelInfo,
    code: HostCode,
    /// Keeps the code.
    _module: Arc<HostModule>,
}

impl Host {
    pub(crate) fn new() -> Host {
        Host { pool: HostPool::shared() }
    }
}

impl BackendDevice for Host {
    fn load(&self, image: &LoadedImage, libraries: &[Entry]) -> Result<Arc<dyn BackendModule>, Error> {
        let entry = image.entry();
        if entry.image_kind() != ImageKind::HostObject {
            let problem = format!("{entry} is of kind {}, not for the host CPU", entry.image_kind());
            return Err(Error::device("host CPU", problem));
        }
        let whole = image.check_structure();
        whole.map_err(|problem| Error::device("host CPU", format!("cannot load {entry}: {problem}")))?;
        let kernels = entry.kernels().to_vec();
        let libraries = libraries.iter().map(HostLibrary::for_entry).collect::<Result<_, _>>()?;
        let image = HostImage::load(image.bytes(), &kernels, libraries).map_err(|problem| {
            Error::from_device("host CPU", problem.during(&format!("cannot load {entry}")))
        })?;
        Ok(Arc::new(HostModule { kernels, image }))
    }

    fn stream(&self) -> Result<Box<dyn BackendStream>, Problem> {
        Ok(Box::new(HostStream { pool: self.pool.clone() }))
    }

    fn identity(&self) -> DeviceIdentity {
        DeviceIdentity::unknown("host")
    }

    fn properties(&self) -> Result<DeviceProperties, Problem> {
        Ok(cpu_properties::query())
    }

    fn pool(&self) -> Result<Option<Box<dyn BackendPool>>, Problem> {
        Ok(Some(Box::new(self.pool.blocks.clone())))
    }

    /// All memory is the program's.
    fn allocate_managed(&self, size: usize) -> Result<Option<Arc<dyn BackendMemory>>, Problem> {
        Ok(Some(Arc::new(self.pool.allocate(size)?)))
    }

    fn image(&self, layout: &ImageLayout<'_>) -> Result<Arc<dyn BackendImage>, Problem> {
        Ok(Arc::new(ImageObject::new(layout)?))
    }

    fn image_formats(&self, _: ImageType) -> Result<Vec<ImageFormat>, Problem> {
        Ok(image_object::formats())
    }

    fn sampler(&self, settings: SamplerSettings) -> Result<Arc<dyn BackendSampler>, Problem> {
        Ok(Arc::new(SamplerObject::new(settings)))
    }

    #[cfg(feature = "dlpack")]
    fn interchange(&self) -> Option<&dyn crate::backend::BackendInterchange> {
        Some(self)
    }
}

impl BackendModule for HostModule {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn BackendKernel>, Error> {
        let info = find_kernel(&self.kernels, name)?.clone();
        let code = self.image.code(name).ok_or_else(|| Error::launch(name, "the image lost its entry"))?;
        Ok(Box::new(HostKernel { info, code, _module: self }))
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    fn variable(&self, name: &str) -> Option<crate::backend::ImageVariable> {
        let variable = self.image.variable(name)?;
        Some(crate::backend::ImageVariable {
            address: variable.start.expose_provenance(),
            size: variable.size,
        })
    }

    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let written = match self.image.variable(name) {
            None => Err("the image has no such variable".to_string()),
            Some(variable) => variable.write(bytes),
        };
        written.map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }

    fn read_global(&self, name: &str, bytes: &mut [u8]) -> Result<(), Error> {
        let read = match self.image.variable(name) {
            None => Err("the image has no such variable".to_string()),
            Some(variable) => variable.read(bytes),
        };
        read.map_err(|problem| Error::device(&format!("variable `{}`", escape(name)), problem))
    }
}

impl HostKernel {
    /// The most dynamic shared memory of a block in bytes.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) fn max_shared_memory(&self) -> u64 {
        self.code.dynamic_shared
    }

    /// Runs the kernel with arguments that `arguments` leads to, a pointer to each, aligned as its type is.
    ///
    /// # Safety
    /// There are as many arguments as the kernel has, of its types, and the caller answers for what the kernel does with
    /// them.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    pub(crate) unsafe fn launch_with_pointers(
        &self,
        range: &NdRange,
        arguments: *const *mut std::ffi::c_void,
    ) -> Result<(), Problem> {
        self.check_shared_memory(range)?;
        // SAFETY: the contract is the same.
        unsafe { self.run(range, &BoundArgs::Pointers(arguments), &[]) }
    }

    /// # Safety
    /// `bound` has the arguments of the kernel, and the caller answers for what the kernel does with them.
    unsafe fn run(&self, range: &NdRange, bound: &BoundArgs, args: &[KernelArg<'_>]) -> Result<(), Problem> {
        let sanitizer = checks::are_enabled().then(|| Sanitizer::new(&self.info, args, range));
        let launch =
            Launch { code: self.code, range, args: bound, print: &print, sanitizer: sanitizer.as_ref() };
        // SAFETY: the entry is this kernel's, and the rest is the contract.
        let ran = unsafe { executor::run(&launch) };
        sanitizer.map_or(Ok(()), Sanitizer::conclude)?;
        ran
    }

    fn check_shared_memory(&self, range: &NdRange) -> Result<(), Problem> {
        let capacity = self.code.dynamic_shared;
        if capacity == 0 {
            return refuse_shared_memory(range);
        }
        let bytes = range.shared_memory();
        if u64::from(bytes) <= capacity {
            return Ok(());
        }
        Err(Problem::from(format!(
            "the launch asks for {bytes} bytes of shared memory, and a block on the CPU has {capacity}"
        )))
    }
}

impl BackendKernel for HostKernel {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn info(&self) -> &KernelInfo {
        &self.info
    }

    fn properties(&self) -> KernelProperties {
        let properties = KernelProperties::from_info(&self.info);
        KernelProperties {
            preferred_multiple: properties.preferred_multiple.or(Some(VECTOR_ITEMS)),
            ..properties
        }
    }

    /// Small launches are spread over the threads.
    fn group_sizes(&self, shared_memory: u32) -> Result<GroupSizes, Problem> {
        self.check_shared_memory(&NdRange::linear_at_least(1, 1).with_shared_memory(shared_memory))?;
        let most = self.info.max_work_group.map_or(USUAL_GROUP, |most| most as usize);
        let multiple = self.info.sub_group_size.unwrap_or(VECTOR_ITEMS);
        let sizes = GroupSizes::with_most(most.min(USUAL_GROUP), multiple as usize);
        Ok(GroupSizes { units: executor::cpus(), ..sizes })
    }

    unsafe fn launch(
        &self,
        _: &dyn BackendStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        refuse_mode(range)?;
        self.check_shared_memory(range)?;
        let bound = BoundArgs::new(&self.info, args)?;
        // SAFETY: the arguments are bound as the kernel's record says, and the caller answers for the rest.
        unsafe { self.run(range, &bound, args) }
    }
}

fn print(text: &[u8]) {
    // A closed standard output is no reason to fail a launch: OpenCL's printf has no error that the host sees.
    let _ = std::io::stdout().lock().write_all(text);
}

#[cfg(test)]
mod tests;
