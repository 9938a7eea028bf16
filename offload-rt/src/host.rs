//! Runs images of the target `host`: native code for the program's own CPU, in this process, without a driver.
//!
//! An image is an ELF shared object with this interface, version 1:
//!
//! ```c
//! extern const uint32_t __offload_host_abi; // 1
//! struct offload_group {
//!   uint64_t global_offset[3], global_size[3], local_size[3], num_groups[3], group_id[3];
//!   uint64_t work_dim;
//!   void (*barrier)(void *);
//!   void *barrier_data;
//!   void (*print)(void *, const char *, uint64_t);
//!   void *print_data;
//! };
//! // For each kernel K: runs the work-items first[d] <= local id[d] < last[d] of one group in the calling thread.
//! void __offload_run_K(const struct offload_group *group, void *const *args,
//!                      const uint64_t first[3], const uint64_t last[3]);
//! ```
//!
//! - `args[i]` points to the argument: to the bytes of a value, or to a pointer to global, constant or local memory.
//!   Values and local memory are aligned to 128 bytes, as OpenCL's largest vector needs.
//! - What an image keeps between calls is thread-local: groups run on several threads at once.
//! - The work-items of a kernel with a barrier run each in a coroutine of their own. `barrier(barrier_data)` returns
//!   when the other work-items of the group have come to the barrier; the image restores its state of the work-item
//!   after it.
//! - `print(print_data, text, size)` writes to the standard output.
//!
//! The code comes from the program itself and is verified against its hash, so that it is trusted as much as the
//! program is.

mod bind;
mod coroutine;
mod executor;
mod image;
mod memory;
mod stream;

use std::io::Write;
use std::sync::Arc;

use offload_format::ImageKind;
use offload_format::pack::KernelInfo;

use self::bind::Bound;
use self::executor::Job;
use self::image::{HostImage, Run};
use self::memory::CONTEXT;
use self::stream::HostStream;
use crate::driver::{ContextId, Driver, DriverKernel, DriverModule, DriverStream};
use crate::driver::{KernelArg, find, refuse_shared_memory};
use crate::entry::LoadedImage;
use crate::error::{Error, Problem};
use crate::range::NdRange;

/// The program's own CPU.
#[derive(Debug)]
pub(crate) struct Host;

/// A `host` image that is loaded into this process.
#[derive(Debug)]
struct HostModule {
    kernels: Vec<KernelInfo>,
    image: HostImage,
}

#[derive(Debug)]
struct HostKernel {
    info: KernelInfo,
    run: Run,
    /// Keeps the code of `run`.
    _module: Arc<HostModule>,
}

impl Driver for Host {
    fn load(&self, image: &LoadedImage) -> Result<Arc<dyn DriverModule>, Error> {
        let entry = image.entry();
        if entry.image_kind() != ImageKind::HostObject {
            let problem = format!("{entry} is of kind {}, not for the host CPU", entry.image_kind());
            return Err(Error::device("host CPU", problem));
        }
        let whole = image.check_structure();
        whole.map_err(|problem| Error::device("host CPU", format!("cannot load {entry}: {problem}")))?;
        let kernels = entry.kernels().to_vec();
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let image = HostImage::load(image.bytes(), &names)
            .map_err(|problem| Error::device("host CPU", format!("cannot load {entry}: {problem}")))?;
        Ok(Arc::new(HostModule { kernels, image }))
    }

    fn stream(&self) -> Result<Box<dyn DriverStream>, Problem> {
        Ok(Box::new(HostStream))
    }
}

impl DriverModule for HostModule {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(self: Arc<Self>, name: &str) -> Result<Box<dyn DriverKernel>, Error> {
        let info = find(&self.kernels, name)?.clone();
        let run = self.image.run(name).ok_or_else(|| Error::launch(name, "the image lost its entry"))?;
        Ok(Box::new(HostKernel { info, run, _module: self }))
    }
}

impl DriverKernel for HostKernel {
    fn context(&self) -> ContextId {
        CONTEXT
    }

    fn info(&self) -> &KernelInfo {
        &self.info
    }

    unsafe fn launch(
        &self,
        _: &dyn DriverStream,
        range: &NdRange,
        args: &[KernelArg<'_>],
    ) -> Result<(), Problem> {
        refuse_shared_memory(range)?;
        let bound = Bound::new(&self.info, args)?;
        let job = Job { run: self.run, info: &self.info, range, bound: &bound, print: &print };
        // SAFETY: the entry is this kernel's, the arguments are bound as its record says, and the caller answers for
        // what the kernel does with them.
        unsafe { executor::run(&job) }
    }
}

fn print(text: &[u8]) {
    // A closed standard output is no reason to fail a launch: OpenCL's printf has no error that the host sees.
    let _ = std::io::stdout().lock().write_all(text);
}

#[cfg(test)]
mod tests;
