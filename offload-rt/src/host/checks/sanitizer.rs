//! The checks of one launch.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offload_format::pack::KernelInfo;

use super::findings::{Bounds, Fault, Finding, Findings, LaunchNames, ObjectBytes, WorkItem};
use super::layout::{AddressRange, CallSite, Extent};
use super::objects::{Object, Objects, Role, Target};
use super::shadow::{Access, AccessResult};
use super::site::{self, Site, SiteInfo, SiteKind};
use crate::backend::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::range::NdRange;

/// Bits of the flags of a barrier: the memory that it orders.
const LOCAL: u32 = 1;
const GLOBAL: u32 = 2;
/// The flags of a barrier of a warp.
const WARP: u32 = 1 << 30;
/// Sites are numbered by their distance from the first one, which is in the same image, plus this.
const SITE_BIAS: usize = 1 << 30;
/// An access in the first page is one of a null pointer.
const PAGE: usize = 4096;

/// The sanitizer of one launch.
#[derive(Debug)]
pub(crate) struct Sanitizer {
    names: LaunchNames,
    /// Never contended: all groups run in one thread.
    state: Mutex<LaunchState>,
}

#[derive(Debug, Default)]
struct LaunchState {
    objects: Objects,
    group: u32,
    /// The sizes of the group that runs.
    local: [u64; 3],
    /// Of each work-item of the group that runs.
    barriers: Vec<BarrierCounts>,
    findings: Findings,
    /// The memory to which faulty accesses are redirected.
    scratch: Vec<Box<[Line]>>,
    first_site: Option<usize>,
    pending: Option<Pending>,
    suspects: Vec<Suspect>,
}

/// A plain read of a value that another work-item changes by an atomic operation. It is no fault if an atomic operation of
/// the reader follows, as in a loop around `atomic_cmpxchg`.
#[derive(Debug)]
struct Suspect {
    address: usize,
    finding: Finding,
}

/// The most suspects that are kept.
const MAX_SUSPECTS: usize = 1024;

/// Scratch memory with the size and alignment of the largest vector.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Line(#[expect(dead_code, reason = "it is written and read by kernels")] [u8; LINE]);

const LINE: usize = 128;

/// The barriers that a work-item has reached.
#[derive(Clone, Copy, Debug, Default)]
struct BarrierCounts {
    local: u32,
    global: u32,
    warp: u32,
    all: u32,
    last: usize,
}

/// A write-write conflict, which is no fault if both work-items write the same value.
#[derive(Debug)]
struct Pending {
    address: usize,
    before: Vec<u8>,
    finding: Finding,
}

/// Local memory of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalArgument {
    pub(crate) number: usize,
    pub(crate) start: usize,
    pub(crate) size: usize,
}

impl Sanitizer {
    pub(crate) fn new(info: &KernelInfo, args: &[KernelArg<'_>], range: &NdRange) -> Sanitizer {
        let mut starts = Vec::new();
        let mut ends = BTreeMap::new();
        for arg in args {
            let KernelArgKind::Memory(range) = arg.0 else {
                starts.push(None);
                continue;
            };
            let start = range.memory.get().in_program().map(|memory| memory.addr());
            starts.push(start);
            if let Some(start) = start.filter(|_| range.is_bounded) {
                let end = ends.entry(start).or_insert(0);
                *end = range.offset.saturating_add(range.size).max(*end);
            }
        }
        let mut objects =
            Objects::from_process(|start| starts.iter().position(|other| *other == Some(start)));
        for (start, size) in ends {
            objects.narrow(start, size);
        }
        let names = LaunchNames::new(info, range);
        Sanitizer { names, state: Mutex::new(LaunchState { objects, ..LaunchState::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, LaunchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers the local memory of a thread that starts to run groups.
    pub(super) fn begin_in_thread(&self, local: impl Iterator<Item = LocalArgument>) {
        let mut state = self.state();
        // The memory is allocated again each time that a thread starts.
        state.objects.forget_arguments();
        for LocalArgument { number, start, size } in local {
            state.objects.add(Object::new(start, size, Role::LocalArgument(number)));
        }
    }

    /// Starts a group of `local` work-items in each dimension.
    pub(crate) fn begin(&self, group: u64, local: [u64; 3]) {
        let mut state = self.state();
        state.group = u32::try_from(group).unwrap_or(u32::MAX - 1);
        state.local = local;
        let items = local.iter().fold(1u64, |all, size| all.saturating_mul(*size));
        state.barriers.clear();
        state.barriers.resize(usize::try_from(items).unwrap_or(0), BarrierCounts::default());
        for object in state.objects.iter_mut().filter(|object| object.role.is_local()) {
            object.shadow.clear();
        }
    }

    /// Ends the group, whose local memory is still valid.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.resolve_pending_write();
        state.report_suspects(|_| true);
    }

    /// Reports a barrier that not all work-items of the group reached.
    pub(crate) fn report_divergence(&self) {
        let mut state = self.state();
        let most = state.barriers.iter().map(|waited| waited.all).max().unwrap_or(0);
        if most == 0 {
            return;
        }
        let Some(waiting) = state.barriers.iter().position(|counts| counts.all == most) else { return };
        let last = state.barriers.get(waiting).map_or(0, |counts| counts.last);
        let other = state.barriers.iter().position(|counts| counts.all != most || counts.last != last);
        let Some(other) = other else { return };
        let other = WorkItem { group: state.group, item: u32::try_from(other).unwrap_or(u32::MAX) };
        let item = WorkItem { group: state.group, item: u32::try_from(waiting).unwrap_or(u32::MAX) };
        let line = site::source_line(std::ptr::with_exposed_provenance(last));
        let fault = Fault::Divergent { other };
        state.findings.add(Finding { fault, line, kind: SiteKind::Wait, item, count: 1 });
    }

    /// Checks an access; returns the address to use instead if it is faulty.
    pub(super) fn access(&self, bytes: AddressRange, by: CallSite) -> Option<*mut c_void> {
        let mut state = self.state();
        state.resolve_pending_write();
        let now = state.now(state.item(by.item), by.site);
        let number = match state.objects.resolve(&bytes) {
            Target::Inside(number) => number,
            Target::Outside(number) => {
                let fault = state.outside(number, &bytes);
                return state.redirect(fault, &now, bytes.size);
            }
            Target::Unknown if bytes.first < PAGE => {
                return state.redirect(Fault::Null { size: bytes.size }, &now, bytes.size);
            }
            Target::Unknown => return None,
        };
        if state.objects.get(number).is_some_and(|object| object.role == Role::Freed) {
            let fault = state.outside(number, &bytes);
            return state.redirect(fault, &now, bytes.size);
        }
        let align = usize::try_from(now.info.detail).unwrap_or(1).max(1);
        if !bytes.first.is_multiple_of(align) {
            let fault = Fault::Misaligned { align, at: state.at(number, &bytes) };
            return state.redirect(fault, &now, bytes.size);
        }
        state.note(number, &bytes, &now);
        None
    }

    /// Reports an access outside of a variable, or of a row (without a name) of the object that `base` points into.
    pub(super) fn outside(&self, bytes: AddressRange, whole: Extent, by: CallSite) -> Option<*mut c_void> {
        let mut state = self.state();
        let now = state.now(state.item(by.item), by.site);
        let part = match (
            whole.name,
            state.objects.resolve(&AddressRange { first: bytes.base, size: 1, ..bytes }),
        ) {
            (Some(name), _) => Bounds::Variable(name),
            (None, Target::Inside(number)) => {
                Bounds::Row(state.objects.get(number).map(|object| object.role.clone()))
            }
            (None, _) => Bounds::Row(None),
        };
        let fault = Fault::Outside { part, start: bytes.base, whole: whole.size, bytes };
        state.redirect(fault, &now, bytes.size)
    }

    pub(super) fn array(&self, start: usize, whole: Extent) {
        let role = Role::LocalArray(whole.name.unwrap_or_default());
        self.state().objects.add(Object::new(start, whole.size, role));
    }

    pub(super) fn wait(&self, flags: u32, by: CallSite) {
        let mut state = self.state();
        state.resolve_pending_write();
        let item = state.item(by.item);
        state.report_suspects(|work_item| work_item.item == item);
        let number = usize::try_from(item).unwrap_or(0);
        if let Some(waited) = state.barriers.get_mut(number) {
            if flags == WARP {
                waited.warp = waited.warp.saturating_add(1);
                return;
            }
            waited.local = waited.local.saturating_add(u32::from(flags & LOCAL != 0));
            waited.global = waited.global.saturating_add(u32::from(flags & GLOBAL != 0));
            waited.all = waited.all.saturating_add(1);
            waited.last = by.site.expose_provenance();
        }
    }

    pub(super) fn overflow(&self, operands: [i64; 2], by: CallSite) {
        let mut state = self.state();
        let now = state.now(state.item(by.item), by.site);
        state.report(Fault::Overflow { operands, is_long: now.info.detail == 64 }, &now);
    }

    /// # Errors
    /// The kernel has faults, each reported once for a line of its source.
    pub(crate) fn conclude(self) -> Result<(), Problem> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.findings.conclude(&self.names)
    }
}

/// The work-item and site of an operation.
#[derive(Clone, Copy, Debug)]
struct AccessContext {
    work_item: WorkItem,
    site: *const Site,
    info: SiteInfo,
}

impl LaunchState {
    /// The number of a work-item in its group.
    fn item(&self, [x, y, z]: [u64; 3]) -> u32 {
        let [width, height, _] = self.local;
        let number = z.saturating_mul(height).saturating_add(y).saturating_mul(width).saturating_add(x);
        u32::try_from(number).unwrap_or(u32::MAX - 1)
    }

    fn now(&self, item: u32, site: *const Site) -> AccessContext {
        AccessContext { work_item: WorkItem { group: self.group, item }, site, info: site::read_info(site) }
    }

    /// Reports a fault; returns scratch memory for the access, of `size` bytes.
    fn redirect(&mut self, fault: Fault, now: &AccessContext, size: usize) -> Option<*mut c_void> {
        self.report(fault, now);
        self.scratch(size)
    }

    /// Zeroed scratch memory of `size` bytes.
    fn scratch(&mut self, size: usize) -> Option<*mut c_void> {
        /// No sound kernel accesses more bytes at once.
        const MAX_SCRATCH: usize = 1 << 30;
        let lines = Some(size).filter(|size| *size < MAX_SCRATCH)?.div_ceil(LINE).max(1);
        match self.scratch.last_mut().filter(|last| last.len() >= lines) {
            Some(last) => last.fill(Line([0; LINE])),
            None => self.scratch.push(vec![Line([0; LINE]); lines].into()),
        }
        self.scratch.last_mut().map(|last| last.as_mut_ptr().cast())
    }

    /// Records an access in the shadow memory, and reports its faults.
    fn note(&mut self, number: usize, bytes: &AddressRange, context: &AccessContext) {
        let AccessContext { work_item, site, info } = *context;
        let site_number = self.number(site);
        let waited = usize::try_from(work_item.item).ok().and_then(|item| self.barriers.get(item)).copied();
        let waited = waited.unwrap_or_default();
        let Some(object) = self.objects.get_mut(number) else { return };
        let is_local = object.role.is_local();
        let barriers = if is_local { waited.local } else { waited.global };
        let access = Access {
            kind: info.kind,
            item: work_item.item,
            group: work_item.group,
            barriers,
            warp_barriers: waited.warp,
            site: site_number,
        };
        let first = bytes.first.saturating_sub(object.start);
        let AccessResult { conflict, is_unwritten } = object.shadow.note(first, bytes.size, &access);
        if is_unwritten && is_local {
            self.report(Fault::Unwritten { at: self.at(number, bytes) }, context);
        }
        if info.kind.is_atomic() {
            self.suspects
                .retain(|suspect| suspect.finding.item != work_item || suspect.address != bytes.first);
        }
        let Some(conflict) = conflict else { return };
        let other_line = site::source_line(self.site(conflict.site));
        let fault = Fault::Race { conflict, other_line, at: self.at(number, bytes) };
        let line = site::source_line(site);
        let finding = Finding { fault, line, kind: info.kind, item: work_item, count: 1 };
        match (info.kind, conflict.other_writes) {
            (SiteKind::Read, _) if conflict.other_is_atomic => {
                self.suspects.push(Suspect { address: bytes.first, finding });
                if self.suspects.len() > MAX_SUSPECTS {
                    self.report_suspects(|_| true);
                }
            }
            (SiteKind::Write, true) => self.defer_write(bytes, finding),
            _ => self.findings.add(finding),
        }
    }

    /// Reports the suspects of the selected work-items: no atomic operation has followed.
    fn report_suspects(&mut self, is_selected: impl Fn(&WorkItem) -> bool) {
        for suspect in std::mem::take(&mut self.suspects) {
            if is_selected(&suspect.finding.item) {
                self.findings.add(suspect.finding);
            } else {
                self.suspects.push(suspect);
            }
        }
    }

    /// Defers the report of a write-write conflict until the new value is known.
    fn defer_write(&mut self, bytes: &AddressRange, finding: Finding) {
        // SAFETY: the bytes lie in a buffer or in local memory of this thread's group, and no other thread runs groups.
        let before = unsafe {
            let start: *const u8 = std::ptr::with_exposed_provenance(bytes.first);
            std::slice::from_raw_parts(start, bytes.size).to_vec()
        };
        self.pending = Some(Pending { address: bytes.first, before, finding });
    }

    fn report(&mut self, fault: Fault, AccessContext { work_item, site, info }: &AccessContext) {
        let line = site::source_line(*site);
        self.findings.add(Finding { fault, line, kind: info.kind, item: *work_item, count: 1 });
    }

    /// Reports the deferred write-write conflict if the write has changed the value.
    fn resolve_pending_write(&mut self) {
        let Some(Pending { address, before, finding }) = self.pending.take() else { return };
        // SAFETY: as in `note`; local memory stays until the group has ended.
        let now = unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), before.len())
        };
        if now != before {
            self.findings.add(finding);
        }
    }

    fn outside(&self, number: usize, bytes: &AddressRange) -> Fault {
        match self.objects.get(number) {
            Some(object) => Fault::Outside {
                part: Bounds::Memory(object.role.clone()),
                start: object.start,
                whole: object.size,
                bytes: *bytes,
            },
            None => Fault::Null { size: bytes.size },
        }
    }

    /// The bytes relative to their object.
    fn at(&self, number: usize, bytes: &AddressRange) -> ObjectBytes {
        let object = self.objects.get(number);
        ObjectBytes {
            role: object.map_or(Role::Buffer(None), |object| object.role.clone()),
            byte: bytes.first.saturating_sub(object.map_or(0, |object| object.start)),
            size: bytes.size,
        }
    }

    fn number(&mut self, site: *const Site) -> u32 {
        let first = *self.first_site.get_or_insert(site.expose_provenance());
        let number = site.expose_provenance().wrapping_sub(first).wrapping_add(SITE_BIAS);
        u32::try_from(number).unwrap_or(0)
    }

    fn site(&self, number: u32) -> *const Site {
        let Some(first) = self.first_site else { return std::ptr::null() };
        let number = usize::try_from(number).unwrap_or(SITE_BIAS);
        std::ptr::with_exposed_provenance(first.wrapping_add(number).wrapping_sub(SITE_BIAS))
    }
}
