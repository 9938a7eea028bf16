//! What launches of CUDA and HIP share: ranges as grids of thread blocks, and pointers to parameters.

use std::ffi::c_void;
use std::ptr;

use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::range::NdRange;

/// So many parameters need no allocation.
pub(crate) const ON_STACK: usize = 32;

/// How large blocks and grids of a device may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridLimits {
    /// `CUDA` or `HIP`, for messages.
    pub(crate) interface: &'static str,
    /// Threads of a block in each dimension.
    pub(crate) block: [u32; 3],
    /// Blocks of a grid in each dimension.
    pub(crate) grid: [u32; 3],
}

/// A range as the driver takes it.
pub(crate) struct Grid {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
}

impl GridLimits {
    /// The grid of `range` for a kernel that allows `max_threads` in a block, or why the device cannot launch it.
    pub(crate) fn grid(&self, range: &NdRange, max_threads: u32) -> Result<Grid, Problem> {
        if range.offset() != [0; 3] {
            let problem = format!("{} has no global offset, {:?} is given", self.interface, range.offset());
            return Err(Problem::with_hint(problem, "pass it to the kernel as an argument"));
        }
        let block = within(range.local(), self.block).ok_or_else(|| {
            format!("local size {:?} is more than the device's {:?}", range.local(), self.block)
        })?;
        if range.group_size() > u64::from(max_threads) {
            let size = range.group_size();
            let problem = format!(
                "a work-group of {size} work-items is more than the {max_threads} that this kernel allows"
            );
            return Err(problem.into());
        }
        let grid = within(range.groups(), self.grid).ok_or_else(|| {
            format!("{:?} work-groups are more than the device's {:?}", range.groups(), self.grid)
        })?;
        Ok(Grid { grid, block })
    }
}

fn within(sizes: [u64; 3], limits: [u32; 3]) -> Option<[u32; 3]> {
    let ([x, y, z], [mx, my, mz]) = (sizes, limits);
    let fit = |size: u64, most: u32| u32::try_from(size).ok().filter(|size| *size <= most);
    Some([fit(x, mx)?, fit(y, my)?, fit(z, mz)?])
}

/// `dynamic` bytes of shared memory, if a kernel with `fixed` bytes of its own can have them of `all`.
pub(crate) fn shared_memory(dynamic: u64, fixed: u32, all: u32) -> Result<u32, String> {
    let most = all.saturating_sub(fixed);
    u32::try_from(dynamic).ok().filter(|bytes| *bytes <= most).ok_or_else(|| {
        format!(
            "the launch asks for {dynamic} bytes of shared memory, and a work-group can have {most} on this device: \
             {all} less {fixed} of the kernel's own"
        )
    })
}

/// The parameters of one launch: words that the driver makes of arguments, and pointers to them and to values.
pub(crate) struct Parameters<T> {
    words: Words<T>,
    pointers: Words<*mut c_void>,
}

#[allow(clippy::large_enum_variant, reason = "a launch with few parameters allocates nothing")]
enum Words<T> {
    Few([T; ON_STACK]),
    Many(Vec<T>),
}

impl<T: Copy> Parameters<T> {
    /// At least `count` parameters, whose words are `zero`.
    pub(crate) fn new(zero: T, count: usize) -> Parameters<T> {
        Parameters { words: Words::new(zero, count), pointers: Words::new(ptr::null_mut(), count) }
    }

    pub(crate) fn words(&mut self) -> &mut [T] {
        self.words.get()
    }

    /// A pointer to the value of each of `args`, whose number this was made for; they are valid until this is moved or
    /// dropped.
    pub(crate) fn pointers(&mut self, args: &[KernelArg<'_>]) -> *mut *mut c_void {
        let pointers = self.pointers.get();
        for ((arg, word), pointer) in args.iter().zip(self.words.get()).zip(&mut *pointers) {
            *pointer = match arg.0 {
                KernelArgKind::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                KernelArgKind::Memory(_) | KernelArgKind::Local(_) => (&raw mut *word).cast(),
            };
        }
        pointers.as_mut_ptr()
    }
}

impl<T: Copy> Words<T> {
    fn new(value: T, count: usize) -> Words<T> {
        if count <= ON_STACK { Words::Few([value; ON_STACK]) } else { Words::Many(vec![value; count]) }
    }

    fn get(&mut self) -> &mut [T] {
        match self {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }
}
