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

use std::io::Write;
use std::time::{Duration, Instant};

use offload_format::ImageKind;
use offload_format::pack::KernelInfo;

use self::bind::Bound;
use self::executor::Job;
use self::image::HostImage;
use crate::entry::LoadedImage;
use crate::error::Error;
use crate::launch::{self, Arg, Driver, NdRange, Program};

/// The program's own CPU.
#[derive(Debug)]
pub(crate) struct Host;

impl Driver for Host {
    fn open(&self, image: &LoadedImage) -> Result<Box<dyn Program>, Error> {
        Ok(Box::new(HostProgram::new(image)?))
    }
}

/// A `host` image that is loaded into this process.
#[derive(Debug)]
pub struct HostProgram {
    kernels: Vec<KernelInfo>,
    image: HostImage,
}

impl HostProgram {
    /// Loads `image`.
    ///
    /// # Errors
    /// It is no `host` image, has another version of the interface, or the system refuses to load it.
    pub fn new(image: &LoadedImage) -> Result<HostProgram, Error> {
        let entry = image.entry();
        if entry.image_kind() != ImageKind::HostObject {
            let problem = format!("{entry} is of kind {}, not for the host CPU", entry.image_kind());
            return Err(Error::device("host CPU", problem));
        }
        let kernels = entry.kernels().to_vec();
        let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let image = HostImage::load(image.bytes(), &names)
            .map_err(|problem| Error::device("host CPU", format!("cannot load {entry}: {problem}")))?;
        Ok(HostProgram { kernels, image })
    }
}

impl Program for HostProgram {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    unsafe fn launch(&self, kernel: &str, range: &NdRange, args: &mut [Arg<'_>]) -> Result<Duration, Error> {
        let info = launch::find(&self.kernels, kernel)?;
        launch::check(info, range, args)?;
        launch::refuse_shared_memory(kernel, range)?;
        let run = self.image.run(kernel).ok_or_else(|| Error::launch(kernel, "the image lost its entry"))?;
        let mut bound = Bound::new(info, args);
        let started = Instant::now();
        // SAFETY: the entry is this kernel's, the arguments are bound as its record says, and the caller answers for
        // what the kernel does with them.
        let ran = unsafe { executor::run(&Job { run, info, range, bound: &bound, print: &print }) };
        let took = started.elapsed();
        bound.write_back(args);
        ran.map(|()| took).map_err(|problem| Error::of_launch(kernel, problem))
    }
}

fn print(text: &[u8]) {
    // A closed standard output is no reason to fail a launch: OpenCL's printf has no error that the host sees.
    let _ = std::io::stdout().lock().write_all(text);
}

#[cfg(test)]
mod tests;
