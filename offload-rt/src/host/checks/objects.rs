//! What kernels may access: buffers of the process, and local memory of the group that runs.

use std::alloc::{Layout, dealloc};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError, RwLock};

use super::shadow::Shadow;
use super::told::Bytes;

/// Bytes before and behind a buffer; a multiple of its alignment. What lies there was meant for the buffer, even where
/// nothing says from which pointer an address was computed.
pub(crate) const RED_ZONE: usize = 64 * 1024;
/// So many bytes of buffers that were freed are kept, so that no other memory has their addresses.
const KEPT: usize = 256 * 1024 * 1024;

/// The buffers by their addresses, with their sizes: all of this process, since kernels use pointers.
static BUFFERS: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());
static FREED: Mutex<VecDeque<Freed>> = Mutex::new(VecDeque::new());

/// A buffer that lies between red zones, for as long as this is there.
#[derive(Debug)]
pub(crate) struct Registered {
    start: usize,
    size: usize,
}

struct Freed {
    start: usize,
    size: usize,
    memory: NonNull<u8>,
    layout: Layout,
}

// SAFETY: nobody else has the memory.
unsafe impl Send for Freed {}

impl Registered {
    pub(crate) fn new(start: usize, size: usize) -> Registered {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).insert(start, size);
        Registered { start, size }
    }

    /// Keeps the memory of a buffer that nobody may use any more, rather than freeing it at once.
    pub(crate) fn free(self, memory: NonNull<u8>, layout: Layout) {
        let (start, size) = (self.start, self.size);
        drop(self);
        let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        freed.push_back(Freed { start, size, memory, layout });
        let mut kept: usize = freed.iter().map(|freed| freed.layout.size()).sum();
        while kept > KEPT
            && let Some(oldest) = freed.pop_front()
        {
            kept = kept.saturating_sub(oldest.layout.size());
            // SAFETY: it was allocated with this layout, and nobody else has it.
            unsafe { dealloc(oldest.memory.as_ptr(), oldest.layout) };
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.start);
    }
}

/// What a piece of memory is to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The number of the argument, if it is one.
    Buffer(Option<usize>),
    LocalArgument(usize),
    LocalArray(String),
    /// A buffer that was freed.
    Freed,
}

impl Role {
    pub(super) fn is_local(&self) -> bool {
        matches!(self, Role::LocalArgument(_) | Role::LocalArray(_))
    }
}

/// A piece of memory.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) start: usize,
    pub(super) size: usize,
    pub(super) role: Role,
    pub(super) shadow: Shadow,
}

impl Object {
    pub(super) fn new(start: usize, size: usize, role: Role) -> Object {
        Object { start, size, role, shadow: Shadow::default() }
    }

    fn end(&self) -> usize {
        self.start.saturating_add(self.size)
    }

    pub(super) fn has(&self, bytes: &Bytes) -> bool {
        bytes.first >= self.start && bytes.end() <= self.end()
    }
}

/// All that is known while a launch runs, in the order of addresses.
#[derive(Debug, Default)]
pub(super) struct Objects(Vec<Object>);

/// What an access means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// These bytes of the object with this number.
    Inside(usize),
    /// The object, and not all of the bytes are in it.
    Outside(usize),
    /// Nothing that is known.
    Other,
}

impl Objects {
    /// The buffers that there are; `number` tells which of them are arguments.
    pub(super) fn of_process(number: impl Fn(usize) -> Option<usize>) -> Objects {
        let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
        let freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        let buffers =
            buffers.iter().map(|(start, size)| Object::new(*start, *size, Role::Buffer(number(*start))));
        let freed = freed.iter().map(|freed| Object::new(freed.start, freed.size, Role::Freed));
        let mut objects: Vec<Object> = buffers.chain(freed).collect();
        objects.sort_by_key(|object| object.start);
        Objects(objects)
    }

    pub(super) fn add(&mut self, object: Object) {
        let at = self.0.partition_point(|other| other.start < object.start);
        match self.0.get(at) {
            Some(other) if other.start == object.start => {}
            _ => self.0.insert(at, object),
        }
    }

    /// Forgets local memory that a launch has given.
    pub(super) fn forget_arguments(&mut self) {
        self.0.retain(|object| !matches!(object.role, Role::LocalArgument(_)));
    }

    pub(super) fn get(&self, number: usize) -> Option<&Object> {
        self.0.get(number)
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Object> {
        self.0.get_mut(number)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Object> {
        self.0.iter_mut()
    }

    /// The object that has the byte at `address`.
    fn with(&self, address: usize) -> Option<usize> {
        let at = self.0.partition_point(|object| object.start <= address).checked_sub(1)?;
        self.0.get(at).filter(|object| address < object.end()).map(|_| at)
    }

    pub(super) fn meant(&self, bytes: &Bytes) -> Meant {
        let by_base = self.with(bytes.base);
        let number = by_base.or_else(|| self.with(bytes.first)).or_else(|| self.near(bytes));
        match number.and_then(|number| Some((number, self.0.get(number)?))) {
            Some((number, object)) if object.has(bytes) => Meant::Inside(number),
            Some((number, _)) => Meant::Outside(number),
            None => Meant::Other,
        }
    }

    /// The buffer whose red zone is touched.
    fn near(&self, bytes: &Bytes) -> Option<usize> {
        // Two red zones lie between two buffers, so that no other one comes into question.
        let at = self.0.partition_point(|object| object.start < bytes.end().saturating_add(RED_ZONE));
        let at = at.checked_sub(1)?;
        let object = self.0.get(at).filter(|object| !matches!(object.role, Role::LocalArray(_)))?;
        (bytes.first < object.end().saturating_add(RED_ZONE)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::HostMemory;

    fn bytes(first: usize, size: usize) -> Bytes {
        Bytes { first, size, base: 0 }
    }

    fn objects(all: &[(usize, usize)]) -> Objects {
        let mut objects = Objects::default();
        for (start, size) in all {
            objects.add(Object::new(*start, *size, Role::Buffer(None)));
        }
        objects
    }

    #[test]
    fn red_zones_are_touched_by_the_byte() {
        let start = 0x1000_0000usize;
        let objects = objects(&[(start, 10)]);
        for (first, size, expected) in [
            (start, 10, Meant::Inside(0)),
            (start + 9, 1, Meant::Inside(0)),
            (start + 10, 1, Meant::Outside(0)),
            (start + 9, 2, Meant::Outside(0)),
            (start - 1, 1, Meant::Outside(0)),
            (start - 1, 20, Meant::Outside(0)),
            (start + 10 + RED_ZONE - 1, 1, Meant::Outside(0)),
            (start + 10 + RED_ZONE, 1, Meant::Other),
        ] {
            assert_eq!(objects.meant(&bytes(first, size)), expected, "{}", first.wrapping_sub(start));
        }
    }

    #[test]
    fn an_access_between_two_buffers_is_the_nearer_one_s() {
        let (low, high) = (0x1000_0000usize, 0x1000_0000 + 3 * RED_ZONE);
        let objects = objects(&[(high, 64), (low, 64)]);
        assert_eq!(objects.meant(&bytes(low + 64, 4)), Meant::Outside(0));
        assert_eq!(objects.meant(&bytes(high - 4, 4)), Meant::Outside(1));
        assert_eq!(objects.meant(&bytes(high + 60, 4)), Meant::Inside(1));
        // Computed from the other one, it is outside of that.
        assert_eq!(objects.meant(&Bytes { base: low, ..bytes(high, 4) }), Meant::Outside(0));
    }

    #[test]
    fn buffers_are_known_until_they_are_freed() {
        let memory = HostMemory::between_red_zones(10).unwrap();
        let start = memory.address().addr();
        assert_eq!(start % 128, 0);
        let role = |address: usize| {
            let objects = Objects::of_process(|start| (start == address).then_some(3));
            match objects.meant(&bytes(address, 4)) {
                Meant::Inside(number) => objects.get(number).map(|object| object.role.clone()),
                _ => None,
            }
        };
        assert_eq!(role(start), Some(Role::Buffer(Some(3))));
        drop(memory);
        assert_eq!(role(start), Some(Role::Freed));
    }
}
