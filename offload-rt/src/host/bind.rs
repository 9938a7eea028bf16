//! The arguments of a launch in the memory layout that images expect.

use std::ffi::c_void;

use offload_format::pack::KernelInfo;

use super::block::ALIGN;
use super::checks::{self, LocalArgument};
use super::image_object::{ImageObject, SamplerObject};
use super::memory::{HostMemory, start};
use crate::backend::{KernelArg, KernelArgKind, downcast};
use crate::error::Problem;

/// The arguments of one launch, shared by its threads.
pub(super) enum BoundArgs {
    Slots(Vec<Slot>),
    /// A pointer to each argument, as the image takes them.
    #[cfg(all(feature = "launchers", target_os = "linux"))]
    Pointers(*const *mut c_void),
}

pub(super) enum Slot {
    /// A copy of the bytes, aligned for every type.
    Value(HostMemory),
    /// A pointer, or what has the size of one.
    Pointer(*mut c_void),
    Local(usize),
}

// SAFETY: the pointers lead to memory that outlives the launch; which thread of it writes where is the caller's
// promise to `Kernel::launch`.
unsafe impl Sync for BoundArgs {}

impl BoundArgs {
    pub(super) fn new(info: &KernelInfo, args: &[KernelArg<'_>]) -> Result<BoundArgs, Problem> {
        let types = info.args.iter().flatten().map(|arg| arg.type_name.as_str()).chain(std::iter::repeat(""));
        let mut slots = Vec::with_capacity(args.len());
        for (index, (arg, type_name)) in args.iter().zip(types).enumerate() {
            let slot = slot(arg, type_name);
            slots.push(slot.map_err(|problem| problem.during(&format!("argument {index}")))?);
        }
        Ok(BoundArgs::Slots(slots))
    }

    /// The arguments as one thread passes them.
    pub(super) fn for_thread(&self) -> Result<ThreadArgs, Problem> {
        match self {
            BoundArgs::Slots(slots) => ThreadArgs::from_slots(slots),
            #[cfg(all(feature = "launchers", target_os = "linux"))]
            BoundArgs::Pointers(array) => Ok(ThreadArgs::from_pointers(*array)),
        }
    }
}

/// One thread's argument array with the memory that is its own.
pub(super) struct ThreadArgs {
    array: *const *mut c_void,
    _pointers: Vec<*mut c_void>,
    _cells: Vec<*mut c_void>,
    locals: Vec<Local>,
}

/// Local memory of an argument.
struct Local {
    number: usize,
    size: usize,
    memory: HostMemory,
}

impl ThreadArgs {
    fn from_slots(slots: &[Slot]) -> Result<ThreadArgs, Problem> {
        let mut locals = Vec::new();
        let mut cells: Vec<*mut c_void> = Vec::new();
        for (number, slot) in slots.iter().enumerate() {
            cells.push(match slot {
                Slot::Value(copy) => copy.address().cast(),
                Slot::Pointer(address) => *address,
                Slot::Local(size) => {
                    let memory = if checks::are_enabled() {
                        HostMemory::with_red_zones(*size)?
                    } else {
                        HostMemory::zeroed(*size)?
                    };
                    let address = memory.address();
                    locals.push(Local { number, size: *size, memory });
                    address.cast()
                }
            });
        }
        let mut pointers: Vec<*mut c_void> = Vec::with_capacity(cells.len());
        for (slot, cell) in slots.iter().zip(&mut cells) {
            let is_value = matches!(slot, Slot::Value(_));
            pointers.push(if is_value { *cell } else { (&raw mut *cell).cast() });
        }
        Ok(ThreadArgs { array: pointers.as_ptr(), _pointers: pointers, _cells: cells, locals })
    }

    #[cfg(all(feature = "launchers", target_os = "linux"))]
    fn from_pointers(array: *const *mut c_void) -> ThreadArgs {
        ThreadArgs { array, _pointers: Vec::new(), _cells: Vec::new(), locals: Vec::new() }
    }

    pub(super) fn pointers(&self) -> *const *mut c_void {
        self.array
    }

    /// Local memory, by its arguments.
    pub(super) fn local(&self) -> impl Iterator<Item = LocalArgument> {
        self.locals.iter().map(|Local { number, size, memory }| LocalArgument {
            number: *number,
            start: memory.address().expose_provenance(),
            size: *size,
        })
    }
}

fn slot(arg: &KernelArg<'_>, type_name: &str) -> Result<Slot, Problem> {
    match arg.0 {
        KernelArgKind::Local(size) => Ok(Slot::Local(size)),
        KernelArgKind::Value(bytes) => {
            let copy = HostMemory::zeroed(bytes.len())?;
            // SAFETY: the copy has the size of the bytes, and nothing else refers to it.
            unsafe { copy.address().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            Ok(Slot::Value(copy))
        }
        KernelArgKind::Image(image, _) => {
            Ok(Slot::Pointer(downcast::<ImageObject>(&**image)?.argument().cast_mut().cast()))
        }
        KernelArgKind::Sampler(sampler) => {
            Ok(Slot::Pointer(downcast::<SamplerObject>(&**sampler)?.argument().cast_mut().cast()))
        }
        KernelArgKind::Texture(texture) => {
            let copy = HostMemory::zeroed(size_of::<u64>())?;
            // SAFETY: the copy has the size of the number and its alignment, and nothing else refers to it.
            unsafe { copy.address().cast::<u64>().write(texture.number()) };
            Ok(Slot::Value(copy))
        }
        KernelArgKind::Memory(range) => match range.offset.checked_rem(alignment(type_name)) {
            Some(0) => Ok(Slot::Pointer(start(range)?.cast())),
            _ => {
                let offset = range.offset;
                let alignment = alignment(type_name);
                let text = format!(
                    "the part starts at byte {offset} of its buffer, the kernel needs a multiple of {alignment}"
                );
                Err(Problem::with_hint(text, "pass the whole buffer, and the index of the first value"))
            }
        },
    }
}

/// The alignment that a kernel may assume for a pointer of this type: its scalar's size times its vector's lanes,
/// or the largest alignment for other types.
fn alignment(type_name: &str) -> usize {
    let pointee = type_name.trim_end_matches(['*', ' ']);
    let word = pointee.split(' ').rfind(|word| !matches!(*word, "const" | "volatile" | "restrict"));
    let word = word.unwrap_or_default();
    let scalar = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = word.strip_prefix(scalar).unwrap_or_default();
    let size = match scalar {
        "char" | "uchar" => 1,
        "short" | "ushort" | "half" => 2,
        "int" | "uint" | "float" => 4,
        "long" | "ulong" | "double" => 8,
        _ => return ALIGN,
    };
    match lanes {
        "" => size,
        "2" => size * 2,
        "3" | "4" => size * 4,
        "8" => size * 8,
        _ => ALIGN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alignment_follows_the_type() {
        for (name, expected) in [
            ("float*", 4),
            ("const float *", 4),
            ("float4*", 16),
            ("uchar3 *", 4),
            ("double16*", 128),
            ("struct pair*", 128),
            ("void*", 128),
            ("unsigned int*", 4),
            ("", 128),
        ] {
            assert_eq!(alignment(name), expected, "{name}");
        }
    }
}
