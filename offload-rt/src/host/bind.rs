//! The arguments of a launch in the memory layout that images expect.

use std::ffi::c_void;

use offload_format::pack::KernelInfo;

use crate::launch::Arg;

/// OpenCL's largest vectors, `double16` and `long16`, have this alignment.
const ALIGN: usize = 128;

#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Block([u8; ALIGN]);

/// Zeroed memory with the alignment of any OpenCL type.
pub(super) struct Aligned {
    blocks: Vec<Block>,
    size: usize,
}

impl Aligned {
    fn zeroed(size: usize) -> Aligned {
        // At least one block, so that also an empty buffer has an address.
        let count = size.div_ceil(ALIGN).max(1);
        Aligned { blocks: vec![Block([0; ALIGN]); count], size }
    }

    fn copied(bytes: &[u8]) -> Aligned {
        let mut aligned = Aligned::zeroed(bytes.len());
        aligned.bytes_mut().copy_from_slice(bytes);
        aligned
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `size` is at most the size of the blocks, which are bytes without padding.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), self.size) }
    }

    fn address(&mut self) -> *mut c_void {
        self.blocks.as_mut_ptr().cast()
    }
}

/// The arguments of one launch, shared by its threads.
pub(super) struct Bound {
    slots: Vec<Slot>,
}

struct Slot {
    /// A value's bytes, or a buffer whose own memory is not aligned for its type.
    copy: Option<Aligned>,
    kind: Kind,
}

enum Kind {
    Value(*mut c_void),
    Buffer(*mut c_void),
    Local(usize),
}

// SAFETY: the pointers lead to memory that outlives the launch; which thread of it writes where is the caller's
// promise to `Program::launch`.
unsafe impl Sync for Bound {}

impl Bound {
    pub(super) fn new(info: &KernelInfo, args: &mut [Arg<'_>]) -> Bound {
        let types = info.args.iter().flatten().map(|arg| arg.type_name.as_str()).chain(std::iter::repeat(""));
        Bound { slots: args.iter_mut().zip(types).map(|(arg, type_name)| slot(arg, type_name)).collect() }
    }

    /// Copies buffers that were not used in place back to where they came from.
    pub(super) fn write_back(&mut self, args: &mut [Arg<'_>]) {
        for (slot, arg) in self.slots.iter_mut().zip(args) {
            if let (Some(copy), Arg::InOut(buffer)) = (&mut slot.copy, arg) {
                buffer.copy_from_slice(copy.bytes_mut());
            }
        }
    }

    /// The arguments as one thread passes them.
    pub(super) fn for_thread(&self) -> ThreadArgs {
        let mut locals = Vec::new();
        let mut cells: Vec<*mut c_void> = Vec::new();
        for slot in &self.slots {
            cells.push(match slot.kind {
                Kind::Value(address) | Kind::Buffer(address) => address,
                Kind::Local(size) => {
                    let mut local = Aligned::zeroed(size);
                    let address = local.address();
                    locals.push(local);
                    address
                }
            });
        }
        let by_value = self.slots.iter().map(|slot| matches!(slot.kind, Kind::Value(_)));
        let pointers = by_value.zip(&mut cells).map(|(value, cell)| match value {
            true => *cell,
            false => (&raw mut *cell).cast(),
        });
        ThreadArgs { pointers: pointers.collect(), _cells: cells, _locals: locals }
    }
}

/// One thread's argument array with the memory that is its own.
pub(super) struct ThreadArgs {
    pointers: Vec<*mut c_void>,
    _cells: Vec<*mut c_void>,
    _locals: Vec<Aligned>,
}

impl ThreadArgs {
    pub(super) fn pointers(&self) -> *const *mut c_void {
        self.pointers.as_ptr()
    }
}

fn slot(arg: &mut Arg<'_>, type_name: &str) -> Slot {
    let needed = alignment(type_name);
    let (mut copy, in_place): (Option<Aligned>, *mut c_void) = match arg {
        Arg::Local(size) => return Slot { copy: None, kind: Kind::Local(*size) },
        Arg::Value(bytes) => {
            let mut copy = Aligned::copied(bytes);
            return Slot { kind: Kind::Value(copy.address()), copy: Some(copy) };
        }
        Arg::In(bytes) if bytes.as_ptr().addr() % needed == 0 => (None, bytes.as_ptr().cast_mut().cast()),
        Arg::InOut(bytes) if bytes.as_ptr().addr() % needed == 0 => (None, bytes.as_mut_ptr().cast()),
        Arg::In(bytes) => (Some(Aligned::copied(bytes)), std::ptr::null_mut()),
        Arg::InOut(bytes) => (Some(Aligned::copied(bytes)), std::ptr::null_mut()),
    };
    let address = copy.as_mut().map_or(in_place, Aligned::address);
    Slot { copy, kind: Kind::Buffer(address) }
}

/// The alignment that a kernel may assume for a pointer of this type: its scalar's size times its vector's lanes,
/// or the largest there is for types that the name does not tell about.
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

    #[test]
    fn misaligned_buffers_are_copied_there_and_back() {
        let mut memory = Aligned::copied(&[7; 200]);
        let buffer = memory.bytes_mut().get_mut(4..68).unwrap();
        let mut args = [Arg::InOut(buffer)];
        let mut slot = slot(&mut args[0], "float4*");
        let Kind::Buffer(address) = slot.kind else { panic!("not a buffer") };
        assert_eq!(address.addr() % 128, 0);
        slot.copy.as_mut().unwrap().bytes_mut().fill(9);
        Bound { slots: vec![slot] }.write_back(&mut args);
        assert_eq!(memory.bytes_mut()[3..69], [&[7][..], &[9; 64], &[7]].concat());
    }
}
