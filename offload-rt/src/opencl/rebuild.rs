//! Kernels that spill registers are built once more for the large register file, and each is taken from its better
//! build.
//!
//! That is for Intel GPUs and for code that the driver compiles. How the driver is asked stands in `program`.

use offload_format::pack::KernelInfo;
use offload_format::{RegisterFile, RegisterFileChoice};

use crate::error::Error;

/// The options for the large register file: the newer name first, since drivers know different ones.
const LARGE: [&str; 2] = ["-cl-intel-256-GRF-per-thread", "-ze-opt-large-register-file"];

/// The build operations of a driver.
pub(super) trait Build {
    type Program;

    /// Builds the image.
    fn build(&self, options: &str) -> Result<Self::Program, Error>;

    /// The kernels of a program.
    fn kernel_names(&self, program: &Self::Program) -> Vec<String>;

    /// Registers, spilled bytes of a hardware thread, work-items of one (as the size of its sub-group) and largest
    /// work-group of a kernel, as far as the driver tells.
    fn usage(&self, program: &Self::Program, kernel: &str) -> KernelInfo;
}

/// An image that is built once, or twice.
#[derive(Debug)]
pub(super) struct BuiltImage<P> {
    default: P,
    large: Option<P>,
    /// The kernels that are taken from `large`.
    from_large: Vec<LargeKernel>,
    kernels: Vec<KernelInfo>,
}

/// A kernel that is taken from the second build.
#[derive(Debug)]
struct LargeKernel {
    kernel: String,
    /// The work-items of the largest work-group there.
    max_work_group: u64,
}

/// Builds the image, and again if a kernel spills. A second build that fails changes nothing.
pub(super) fn without_spills<D: Build>(
    driver: &D,
    kernels: &[KernelInfo],
) -> Result<BuiltImage<D::Program>, Error> {
    let mut built = BuiltImage::new(driver.build("")?, kernels);
    let names = driver.kernel_names(&built.default);
    let first: Vec<KernelInfo> = names
        .into_iter()
        .map(|name| {
            let mut info = driver.usage(&built.default, &name);
            info.name = name.clone();
            info
        })
        .collect();
    first.iter().for_each(|usage| built.tell(usage, ""));
    let spilling: Vec<KernelInfo> =
        first.into_iter().filter(|usage| usage.spilled.is_some_and(|bytes| bytes > 0)).collect();
    if spilling.is_empty() {
        return Ok(built);
    }
    match LARGE.iter().find_map(|options| driver.build(options).ok()) {
        Some(large) => built.add(driver, large, &spilling),
        None => spilling.iter().for_each(|usage| built.tell(usage, "the driver has no large register file")),
    }
    Ok(built)
}

impl<P> BuiltImage<P> {
    /// A program that is built once; `kernels` are the records that the pack has of it.
    pub(super) fn new(program: P, kernels: &[KernelInfo]) -> BuiltImage<P> {
        BuiltImage { default: program, large: None, from_large: Vec::new(), kernels: kernels.to_vec() }
    }

    /// The first build.
    pub(super) fn default_program(&self) -> &P {
        &self.default
    }

    /// The build for the large register file, if `kernel` is better there.
    pub(super) fn large_program(&self, kernel: &str) -> Option<&P> {
        let from_large = self.from_large.iter().any(|from| from.kernel == kernel);
        self.large.as_ref().filter(|_| from_large)
    }

    /// Whether `kernel` is launched from the build for the large register file in work-groups of `size` work-items,
    /// which allows only smaller ones: a launch that is possible without it must not fail because of it.
    pub(super) fn is_large_better(&self, kernel: &str, size: u64) -> bool {
        self.from_large.iter().any(|from| from.kernel == kernel && size <= from.max_work_group)
    }

    /// The records of the pack, with what the driver tells.
    pub(super) fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    /// The program that `kernel` is launched from in work-groups of `size` work-items.
    pub(super) fn program_for(&self, kernel: &str, size: u64) -> &P {
        match &self.large {
            Some(large) if self.is_large_better(kernel, size) => large,
            _ => &self.default,
        }
    }

    /// Takes those of the `spilling` kernels from `large` that are better there.
    fn add<D: Build<Program = P>>(&mut self, driver: &D, large: P, spilling: &[KernelInfo]) {
        for first in spilling {
            let second = {
                let mut info = driver.usage(&large, &first.name);
                info.name = first.name.clone();
                info
            };
            let required = self.required(&first.name);
            let choice = choose(first, &second, required);
            match choice.registers {
                RegisterFile::Default => self.tell(first, &choice.reason),
                RegisterFile::Large => {
                    self.tell(&second, &choice.reason);
                    let max_work_group = second.max_work_group.map_or(u64::MAX, u64::from);
                    self.from_large.push(LargeKernel { kernel: first.name.clone(), max_work_group });
                }
            }
        }
        // A program that no kernel is taken from would only take memory.
        self.large = (!self.from_large.is_empty()).then_some(large);
    }

    /// The work-items of the work-group that the source requires, 0 if it requires none.
    fn required(&self, kernel: &str) -> u64 {
        let known = self.kernels.iter().find(|known| known.name == kernel);
        let size = known.and_then(|known| known.required_work_group);
        size.map_or(0, |size| size.map(u64::from).iter().product())
    }

    /// Puts `usage` into the record of its kernel, and why it is so.
    fn tell(&mut self, usage: &KernelInfo, why: &str) {
        for known in self.kernels.iter_mut().filter(|known| known.name == usage.name) {
            known.registers = usage.registers.or(known.registers);
            known.spilled = usage.spilled.or(known.spilled);
            known.max_work_group = usage.max_work_group.or(known.max_work_group);
            if !why.is_empty() {
                known.remark = why.to_string();
            }
        }
    }
}

/// The better build of one kernel, and why. The large register file is no choice where it does not allow the
/// work-group that the kernel requires, of this many work-items.
fn choose(first: &KernelInfo, second: &KernelInfo, required: u64) -> RegisterFileChoice {
    let mut choice = RegisterFile::better(first, second);
    match second.max_work_group {
        Some(most) if choice.registers == RegisterFile::Large && u64::from(most) < required => {
            let spilled = first.spilled.unwrap_or(0);
            choice.reason = format!(
                "spills {spilled} bytes; with the large register file a work-group has at most {most} work-items, {required} are required"
            );
            choice.registers = RegisterFile::Default;
        }
        _ => {}
    }
    choice
}

#[cfg(test)]
mod tests;
