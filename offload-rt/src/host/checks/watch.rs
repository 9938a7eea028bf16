//! A launch that is watched.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use offload_format::pack::KernelInfo;

use super::found::{At, Finding, Findings, Names, Part, What, Who};
use super::objects::{Meant, Object, Objects, Role};
use super::shadow::{Access, Verdict};
use super::site::{self, Kind, Site, Told};
use super::told::{By, Bytes, Whole};
use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::range::NdRange;

/// Bits of the flags of a barrier: for which memory it is.
const LOCAL: u32 = 1;
const GLOBAL: u32 = 2;
/// Places are known by where they lie from the first one, which is in the same image.
const MIDDLE: usize = 1 << 30;
/// An access in the first page is one of a null pointer.
const PAGE: usize = 4096;

/// What is known of a launch while it runs.
#[derive(Debug)]
pub(crate) struct Watch {
    names: Names,
    local: [u64; 3],
    /// All groups run in one thread: nobody waits for this.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    objects: Objects,
    group: u32,
    /// Of each work-item of the group that runs.
    waited: Vec<Waited>,
    findings: Findings,
    /// Where wrong accesses go.
    aside: Vec<Box<[Line]>>,
    first_site: Option<usize>,
    pending: Option<Pending>,
    suspects: Vec<Suspect>,
}

/// A plain read of what another work-item changes by an atomic operation: no mistake if one by the reader follows, as in a
/// loop around `atomic_cmpxchg`.
#[derive(Debug)]
struct Suspect {
    address: usize,
    finding: Finding,
}

/// So many suspects are kept at most.
const SUSPECTS: usize = 1024;

/// As much memory as the largest vector needs, and aligned for it.
#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Line(#[expect(dead_code, reason = "it is written and read by kernels")] [u8; LINE]);

const LINE: usize = 128;

/// The barriers that a work-item has come to.
#[derive(Clone, Copy, Debug, Default)]
struct Waited {
    local: u32,
    global: u32,
    all: u32,
    last: usize,
}

/// A write of what another work-item writes: no mistake if both write the same.
#[derive(Debug)]
struct Pending {
    address: usize,
    before: Vec<u8>,
    finding: Finding,
}

/// Local memory that a launch gives a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalArgument {
    pub(crate) number: usize,
    pub(crate) start: usize,
    pub(crate) size: usize,
}

impl Watch {
    pub(crate) fn new(info: &KernelInfo, args: &[KernelArg<'_>], range: &NdRange) -> Watch {
        let start = |arg: &KernelArg<'_>| match arg.0 {
            KernelArgKind::Memory(range) => range.memory.in_program().map(|memory| memory.addr()),
            _ => None,
        };
        let starts: Vec<Option<usize>> = args.iter().map(start).collect();
        let objects = Objects::of_process(|start| starts.iter().position(|other| *other == Some(start)));
        let names = Names::new(info, range);
        Watch { names, local: range.local(), state: Mutex::new(State { objects, ..State::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread begins, which has this local memory.
    pub(super) fn begin_in_thread(&self, local: impl Iterator<Item = LocalArgument>) {
        let mut state = self.state();
        // A thread has others each time that it begins.
        state.objects.forget_arguments();
        for LocalArgument { number, start, size } in local {
            state.objects.add(Object::new(start, size, Role::LocalArgument(number)));
        }
    }

    /// The group with this number runs next.
    pub(crate) fn begin(&self, group: u64) {
        let mut state = self.state();
        state.group = u32::try_from(group).unwrap_or(u32::MAX - 1);
        let items = self.local.iter().fold(1u64, |all, size| all.saturating_mul(*size));
        state.waited.clear();
        state.waited.resize(usize::try_from(items).unwrap_or(0), Waited::default());
        for object in state.objects.iter_mut().filter(|object| object.role.is_local()) {
            object.shadow.clear();
        }
    }

    /// The group has ended; its local memory is still there.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.settle();
        state.blame(|_| true);
    }

    /// Work-items of the group that ran have come to a barrier, and others have not.
    pub(crate) fn parted(&self) {
        let mut state = self.state();
        let most = state.waited.iter().map(|waited| waited.all).max().unwrap_or(0);
        let waits = |waited: &Waited| waited.all == most && most > 0;
        let Some((item, first)) = state.waited.iter().enumerate().find(|(_, waited)| waits(waited)) else {
            return;
        };
        let differs = |waited: &Waited| waited.all != most || waited.last != first.last;
        let Some(other) = state.waited.iter().position(differs) else { return };
        let group = state.group;
        let number = |item: usize| u32::try_from(item).unwrap_or(u32::MAX);
        let place = site::place(std::ptr::with_exposed_provenance(first.last));
        let what = What::Parted { other: Who { group, item: number(other) } };
        let who = Who { group, item: number(item) };
        state.findings.add(Finding { what, place, kind: Kind::Wait, who, count: 1 });
    }

    /// An access; where it is to go instead, if it is wrong.
    pub(super) fn access(&self, bytes: Bytes, by: By) -> Option<*mut c_void> {
        let mut state = self.state();
        state.settle();
        let now = state.now(self.item(by.item), by.site);
        let number = match state.objects.meant(&bytes) {
            Meant::Inside(number) => number,
            Meant::Outside(number) => {
                let what = state.outside(number, &bytes);
                return state.wrong(what, &now, bytes.size);
            }
            Meant::Other if bytes.first < PAGE => {
                return state.wrong(What::Null { size: bytes.size }, &now, bytes.size);
            }
            Meant::Other => return None,
        };
        if state.objects.get(number).is_some_and(|object| object.role == Role::Freed) {
            let what = state.outside(number, &bytes);
            return state.wrong(what, &now, bytes.size);
        }
        let align = usize::try_from(now.told.detail).unwrap_or(1).max(1);
        if !bytes.first.is_multiple_of(align) {
            let what = What::Misaligned { align, at: state.at(number, &bytes) };
            return state.wrong(what, &now, bytes.size);
        }
        state.note(number, &bytes, &now);
        None
    }

    /// An access outside of a variable, or of a row (without a name) of what `base` points into.
    pub(super) fn outside(&self, bytes: Bytes, whole: Whole, by: By) -> Option<*mut c_void> {
        let mut state = self.state();
        let now = state.now(self.item(by.item), by.site);
        let part = match (whole.name, state.objects.meant(&Bytes { first: bytes.base, size: 1, ..bytes })) {
            (Some(name), _) => Part::Variable(name),
            (None, Meant::Inside(number)) => {
                Part::Row(state.objects.get(number).map(|object| object.role.clone()))
            }
            (None, _) => Part::Row(None),
        };
        let what = What::Outside { part, start: bytes.base, whole: whole.size, bytes };
        state.wrong(what, &now, bytes.size)
    }

    pub(super) fn array(&self, start: usize, whole: Whole) {
        let role = Role::LocalArray(whole.name.unwrap_or_default());
        self.state().objects.add(Object::new(start, whole.size, role));
    }

    pub(super) fn wait(&self, flags: u32, by: By) {
        let mut state = self.state();
        state.settle();
        let item = self.item(by.item);
        state.blame(|who| who.item == item);
        let number = usize::try_from(item).unwrap_or(0);
        if let Some(waited) = state.waited.get_mut(number) {
            waited.local = waited.local.saturating_add(u32::from(flags & LOCAL != 0));
            waited.global = waited.global.saturating_add(u32::from(flags & GLOBAL != 0));
            waited.all = waited.all.saturating_add(1);
            waited.last = by.site.expose_provenance();
        }
    }

    pub(super) fn overflow(&self, operands: [i64; 2], by: By) {
        let mut state = self.state();
        let now = state.now(self.item(by.item), by.site);
        state.tell(What::Overflow { operands, is_long: now.told.detail == 64 }, &now);
    }

    /// # Errors
    /// The kernel did what it must not; each place of the source is told once.
    pub(crate) fn conclude(self) -> Result<(), Problem> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.findings.conclude(&self.names)
    }

    /// The number of a work-item in its group.
    fn item(&self, [x, y, z]: [u64; 3]) -> u32 {
        let [width, height, _] = self.local;
        let number = z.saturating_mul(height).saturating_add(y).saturating_mul(width).saturating_add(x);
        u32::try_from(number).unwrap_or(u32::MAX - 1)
    }
}

/// By whom and where something is done.
#[derive(Clone, Copy, Debug)]
struct Happening {
    who: Who,
    site: *const Site,
    told: Told,
}

impl State {
    fn now(&self, item: u32, site: *const Site) -> Happening {
        Happening { who: Who { group: self.group, item }, site, told: site::told(site) }
    }

    /// Tells what is wrong; returns memory for a wrong access of so many bytes.
    fn wrong(&mut self, what: What, now: &Happening, size: usize) -> Option<*mut c_void> {
        self.tell(what, now);
        self.aside(size)
    }

    /// Zeroed memory of so many bytes that nobody else uses at the same time.
    fn aside(&mut self, size: usize) -> Option<*mut c_void> {
        /// What would be no access of a sound kernel's either.
        const MOST: usize = 1 << 30;
        let lines = Some(size).filter(|size| *size < MOST)?.div_ceil(LINE).max(1);
        match self.aside.last_mut().filter(|last| last.len() >= lines) {
            Some(last) => last.fill(Line([0; LINE])),
            None => self.aside.push(vec![Line([0; LINE]); lines].into()),
        }
        self.aside.last_mut().map(|last| last.as_mut_ptr().cast())
    }

    /// Notes who has touched the bytes.
    fn note(&mut self, number: usize, bytes: &Bytes, happening: &Happening) {
        let Happening { who, site, told } = *happening;
        let site_number = self.number(site);
        let waited = usize::try_from(who.item).ok().and_then(|item| self.waited.get(item)).copied();
        let waited = waited.unwrap_or_default();
        let Some(object) = self.objects.get_mut(number) else { return };
        let is_local = object.role.is_local();
        let barriers = if is_local { waited.local } else { waited.global };
        let access =
            Access { kind: told.kind, item: who.item, group: who.group, barriers, site: site_number };
        let first = bytes.first.saturating_sub(object.start);
        let Verdict { conflict, is_unwritten } = object.shadow.note(first, bytes.size, &access);
        if is_unwritten && is_local {
            self.tell(What::Unwritten { at: self.at(number, bytes) }, happening);
        }
        if told.kind.is_atomic() {
            self.suspects.retain(|suspect| suspect.finding.who != who || suspect.address != bytes.first);
        }
        let Some(conflict) = conflict else { return };
        let other_place = site::place(self.site(conflict.site));
        let what = What::Race { conflict, other_place, at: self.at(number, bytes) };
        let finding = Finding { what, place: site::place(site), kind: told.kind, who, count: 1 };
        match (told.kind, conflict.other_writes) {
            (Kind::Read, _) if conflict.other_is_atomic => {
                self.suspects.push(Suspect { address: bytes.first, finding });
                if self.suspects.len() > SUSPECTS {
                    self.blame(|_| true);
                }
            }
            (Kind::Write, true) => self.wait_for_write(bytes, finding),
            _ => self.findings.add(finding),
        }
    }

    /// Tells of suspects that no atomic operation has followed.
    fn blame(&mut self, is_meant: impl Fn(&Who) -> bool) {
        let (meant, others) = std::mem::take(&mut self.suspects)
            .into_iter()
            .partition(|suspect| is_meant(&suspect.finding.who));
        let meant: Vec<Suspect> = meant;
        self.suspects = others;
        meant.into_iter().for_each(|suspect| self.findings.add(suspect.finding));
    }

    /// A write of what another work-item writes counts if it changes something.
    fn wait_for_write(&mut self, bytes: &Bytes, finding: Finding) {
        // SAFETY: the bytes lie in a buffer or in local memory of this thread's group, and no other thread runs groups.
        let before = unsafe {
            let start: *const u8 = std::ptr::with_exposed_provenance(bytes.first);
            std::slice::from_raw_parts(start, bytes.size).to_vec()
        };
        self.pending = Some(Pending { address: bytes.first, before, finding });
    }

    fn tell(&mut self, what: What, Happening { who, site, told }: &Happening) {
        let place = site::place(*site);
        self.findings.add(Finding { what, place, kind: told.kind, who: *who, count: 1 });
    }

    /// Tells of the last write of what another work-item writes, if it has changed that.
    fn settle(&mut self) {
        let Some(Pending { address, before, finding }) = self.pending.take() else { return };
        // SAFETY: as in `note`; local memory stays until the group has ended.
        let now = unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), before.len())
        };
        if now != before {
            self.findings.add(finding);
        }
    }

    fn outside(&self, number: usize, bytes: &Bytes) -> What {
        match self.objects.get(number) {
            Some(object) => What::Outside {
                part: Part::Memory(object.role.clone()),
                start: object.start,
                whole: object.size,
                bytes: *bytes,
            },
            None => What::Null { size: bytes.size },
        }
    }

    /// Which bytes of what.
    fn at(&self, number: usize, bytes: &Bytes) -> At {
        let object = self.objects.get(number);
        At {
            role: object.map_or(Role::Buffer(None), |object| object.role.clone()),
            byte: bytes.first.saturating_sub(object.map_or(0, |object| object.start)),
            size: bytes.size,
        }
    }

    fn number(&mut self, site: *const Site) -> u32 {
        let first = *self.first_site.get_or_insert(site.expose_provenance());
        let number = site.expose_provenance().wrapping_sub(first).wrapping_add(MIDDLE);
        u32::try_from(number).unwrap_or(0)
    }

    fn site(&self, number: u32) -> *const Site {
        let Some(first) = self.first_site else { return std::ptr::null() };
        let number = usize::try_from(number).unwrap_or(MIDDLE);
        std::ptr::with_exposed_provenance(first.wrapping_add(number).wrapping_sub(MIDDLE))
    }
}
