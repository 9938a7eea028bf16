//! The objects that kernels may access: buffers of the process, and local memory of the running group.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError, RwLock};

use super::layout::AddressRange;
use super::shadow::Shadow;
use crate::host::block::HostBlock;

/// The size of a red zone before or behind a buffer; a multiple of its alignment. An access of the zone is one of the
/// buffer, even if the pointer from which the address was computed is unknown.
pub(crate) const RED_ZONE: usize = 64 * 1024;
/// The capacity of the quarantine for freed buffers, whose addresses are not reused.
const QUARANTINE_SIZE: usize = 256 * 1024 * 1024;

/// The buffers by their addresses, with their sizes: all of this process, since kernels use pointers.
static BUFFERS: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());
static FREED: Mutex<VecDeque<FreedBuffer>> = Mutex::new(VecDeque::new());

/// The registration of a buffer that lies between red zones.
#[derive(Debug)]
pub(crate) struct RegisteredBuffer {
    start: usize,
    size: usize,
}

struct FreedBuffer {
    start: usize,
    size: usize,
    block: HostBlock,
}

impl RegisteredBuffer {
    pub(crate) fn new(start: usize, size: usize) -> RegisteredBuffer {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).insert(start, size);
        RegisteredBuffer { start, size }
    }

    /// Puts the memory of a dropped buffer into the quarantine.
    pub(in crate::host) fn free(self, block: HostBlock) {
        let start = self.start;
        let size = self.size;
        drop(self);
        let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        freed.push_back(FreedBuffer { start, size, block });
        let mut kept: usize = freed.iter().map(|freed| freed.block.size()).sum();
        while kept > QUARANTINE_SIZE
            && let Some(oldest) = freed.pop_front()
        {
            kept = kept.saturating_sub(oldest.block.size());
        }
    }
}

impl Drop for RegisteredBuffer {
    fn drop(&mut self) {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.start);
    }
}

/// The role of an object in a launch.
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

/// A piece of memory, with its shadow.
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

    pub(super) fn has(&self, bytes: &AddressRange) -> bool {
        bytes.first >= self.start && bytes.end() <= self.end()
    }
}

/// All known objects during a launch, sorted by address.
#[derive(Debug, Default)]
pub(super) struct Objects(Vec<Object>);

/// The object that an access targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The bytes lie in the object with this number.
    Inside(usize),
    /// The bytes lie in part or entirely outside of the object.
    Outside(usize),
    /// No known object.
    Unknown,
}

impl Objects {
    /// The buffers of the process; `argument` returns the number of the argument at an address.
    pub(super) fn from_process(argument: impl Fn(usize) -> Option<usize>) -> Objects {
        let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
        let quarantine = FREED.lock().unwrap_or_else(PoisonError::into_inner);
        let mut objects = Vec::with_capacity(buffers.len().saturating_add(quarantine.len()));
        for (start, size) in buffers.iter() {
            objects.push(Object::new(*start, *size, Role::Buffer(argument(*start))));
        }
        for freed in quarantine.iter() {
            objects.push(Object::new(freed.start, freed.size, Role::Freed));
        }
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

    /// Leaves the object at `start` its first `size` bytes, for kernels that are declared to access no more.
    pub(super) fn narrow(&mut self, start: usize, size: usize) {
        if let Some(object) = self.0.iter_mut().find(|object| object.start == start) {
            object.size = object.size.min(size);
        }
    }

    /// Removes the local memory of arguments.
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

    pub(super) fn resolve(&self, bytes: &AddressRange) -> Target {
        let by_base = self.with(bytes.base);
        let number = by_base.or_else(|| self.with(bytes.first)).or_else(|| self.near(bytes));
        match number.and_then(|number| Some((number, self.0.get(number)?))) {
            Some((number, object)) if object.has(bytes) => Target::Inside(number),
            Some((number, _)) => Target::Outside(number),
            None => Target::Unknown,
        }
    }

    /// The buffer whose red zone is touched.
    fn near(&self, bytes: &AddressRange) -> Option<usize> {
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

    fn bytes(first: usize, size: usize) -> AddressRange {
        AddressRange { first, size, base: 0 }
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
            (start, 10, Target::Inside(0)),
            (start + 9, 1, Target::Inside(0)),
            (start + 10, 1, Target::Outside(0)),
            (start + 9, 2, Target::Outside(0)),
            (start - 1, 1, Target::Outside(0)),
            (start - 1, 20, Target::Outside(0)),
            (start + 10 + RED_ZONE - 1, 1, Target::Outside(0)),
            (start + 10 + RED_ZONE, 1, Target::Unknown),
        ] {
            assert_eq!(objects.resolve(&bytes(first, size)), expected, "{}", first.wrapping_sub(start));
        }
    }

    #[test]
    fn an_access_between_two_buffers_is_the_nearer_one_s() {
        let low = 0x1000_0000usize;
        let high = 0x1000_0000 + 3 * RED_ZONE;
        let objects = objects(&[(high, 64), (low, 64)]);
        assert_eq!(objects.resolve(&bytes(low + 64, 4)), Target::Outside(0));
        assert_eq!(objects.resolve(&bytes(high - 4, 4)), Target::Outside(1));
        assert_eq!(objects.resolve(&bytes(high + 60, 4)), Target::Inside(1));
        // Computed from the other one, it is outside of that.
        assert_eq!(objects.resolve(&AddressRange { base: low, ..bytes(high, 4) }), Target::Outside(0));
    }

    #[test]
    fn buffers_are_known_until_they_are_freed() {
        let memory = HostMemory::registered(10).unwrap();
        let start = memory.address().addr();
        assert_eq!(start % 128, 0);
        fn role(address: usize) -> Option<Role> {
            let objects = Objects::from_process(|start| (start == address).then_some(3));
            match objects.resolve(&bytes(address, 4)) {
                Target::Inside(number) => objects.get(number).map(|object| object.role.clone()),
                _ => None,
            }
        }
        assert_eq!(role(start), Some(Role::Buffer(Some(3))));
        drop(memory);
        assert_eq!(role(start), Some(Role::Freed));
    }
}
