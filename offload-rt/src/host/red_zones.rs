//! Accesses outside of buffers: with `OFFLOAD_SANITIZE` set, each buffer lies between two red zones, and kernels that were
//! built to tell of their accesses are watched for those that touch one.
//!
//! An access further away than a red zone is not found, nor one that lies in another buffer. The red zones are memory of
//! the buffer's own, so that what is written there harms nobody.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use libloading::os::unix::Library;
use offload_format::pack::KernelInfo;
use offload_format::variable;

use crate::driver::{KernelArg, KernelArgKind};
use crate::error::Problem;
use crate::range::NdRange;
use crate::text::escape;

/// Bytes before and behind a buffer; a multiple of its alignment.
pub(super) const RED_ZONE: usize = 64 * 1024;
/// A launch tells so many places of the source.
const TOLD: usize = 10;

/// Whether the environment asks for it.
pub(super) fn are_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| {
        std::env::var_os(variable::SANITIZE).is_some_and(|value| !value.is_empty() && value != "0")
    })
}

/// The buffers between red zones, by their addresses, with their sizes: all of this process, since kernels use pointers.
static BUFFERS: RwLock<BTreeMap<usize, usize>> = RwLock::new(BTreeMap::new());

/// A buffer that lies between red zones, for as long as this is there.
#[derive(Debug)]
pub(super) struct Registered(usize);

impl Registered {
    pub(super) fn new(start: usize, size: usize) -> Registered {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).insert(start, size);
        Registered(start)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        BUFFERS.write().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// The buffer whose red zone bytes from `first` to before `end` touch, with its size.
fn touched(first: usize, end: usize) -> Option<(usize, usize)> {
    let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
    // Two red zones lie between two buffers, so that no other one comes into question.
    let (start, size) = buffers.range(..end.saturating_add(RED_ZONE)).next_back()?;
    let behind = start.saturating_add(*size);
    let is_inside = first >= *start && end <= behind;
    (!is_inside && first < behind.saturating_add(RED_ZONE)).then_some((*start, *size))
}

/// What a kernel says of an access.
type Check = unsafe extern "C" fn(*const c_void, u64, *const c_void, *const [u64; 3]);

/// Has the image in `library` tell of its accesses, if it can, and if somebody wants to know.
pub(super) fn watch(library: &Library) {
    if !are_wanted() {
        return;
    }
    // SAFETY: the symbol is a variable of this type in every image that has it, and no kernel of the image runs yet.
    unsafe {
        if let Ok(variable) = library.get::<*mut Option<Check>>("__offload_check") {
            **variable = Some(told);
        }
    }
}

/// A place of the source, as `__offload_site_*` has it; the name of the file follows as a C string.
#[repr(C)]
struct Site {
    line: u32,
    is_write: u32,
}

/// Called before each access of a watched kernel.
unsafe extern "C" fn told(address: *const c_void, size: u64, site: *const c_void, item: *const [u64; 3]) {
    let first = address.addr();
    let end = first.saturating_add(usize::try_from(size).unwrap_or(usize::MAX));
    // SAFETY: it is set while the launch's groups run in this thread, and the launch is there for as long.
    let Some(watch) = (unsafe { CURRENT.get().as_ref() }) else { return };
    // Most accesses are right ones of arguments, for which no lock is needed.
    if size == 0 || watch.buffers.iter().any(|buffer| first >= buffer.start && end <= buffer.end) {
        return;
    }
    if let Some((start, whole)) = touched(first, end) {
        // SAFETY: the site is a constant of the image, and it passes the work-item's number.
        let found = unsafe { Found::new(site.cast(), Bytes { start, whole, first, end }, item.read()) };
        watch.add(found);
    }
}

thread_local! {
    static CURRENT: Cell<*const Watch> = const { Cell::new(std::ptr::null()) };
}

/// What is known of a launch while it is watched.
#[derive(Debug)]
pub(super) struct Watch {
    buffers: Vec<Buffer>,
    names: Vec<String>,
    local: [u64; 3],
    offset: [u64; 3],
    dimensions: usize,
    found: Mutex<BTreeMap<(String, u32, u32), Found>>,
}

/// The whole buffer of an argument.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    start: usize,
    end: usize,
    /// The argument's.
    number: usize,
}

/// While this is there, accesses of the thread are the launch's.
pub(super) struct InThread;

impl Drop for InThread {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
    }
}

/// Bytes that were accessed, and the buffer that they are near.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    start: usize,
    whole: usize,
    first: usize,
    end: usize,
}

/// The first access outside of a buffer at a place of the source.
#[derive(Clone, Debug)]
struct Found {
    file: String,
    line: u32,
    is_write: u32,
    bytes: Bytes,
    item: [u64; 3],
    count: u64,
}

impl Found {
    /// # Safety
    /// `site` is a constant of an image.
    unsafe fn new(site: *const Site, bytes: Bytes, item: [u64; 3]) -> Found {
        // SAFETY: the caller's; the constant is packed, and the name follows it with its end.
        let (Site { line, is_write }, file) = unsafe {
            let name = site.cast::<u8>().wrapping_add(size_of::<Site>());
            (site.read_unaligned(), CStr::from_ptr(name.cast::<c_char>()))
        };
        Found { file: escape(&file.to_string_lossy()), line, is_write, bytes, item, count: 1 }
    }
}

impl Watch {
    pub(super) fn new(info: &KernelInfo, args: &[KernelArg<'_>], range: &NdRange) -> Watch {
        let buffers = BUFFERS.read().unwrap_or_else(PoisonError::into_inner);
        let buffer = |(number, arg): (usize, &KernelArg<'_>)| match arg.0 {
            KernelArgKind::Memory(range) => {
                let start = range.memory.in_program()?.addr();
                let end = start.saturating_add(buffers.get(&start).copied()?);
                Some(Buffer { start, end, number })
            }
            _ => None,
        };
        Watch {
            buffers: args.iter().enumerate().filter_map(buffer).collect(),
            names: info.args.iter().flatten().map(|arg| arg.name.clone()).collect(),
            local: range.local(),
            offset: range.offset(),
            dimensions: usize::try_from(range.dimensions()).unwrap_or(3),
            found: Mutex::default(),
        }
    }

    /// Accesses of this thread are those of the launch until the result is dropped.
    pub(super) fn in_this_thread(&self) -> InThread {
        CURRENT.set(self);
        InThread
    }

    fn add(&self, found: Found) {
        let key = (found.file.clone(), found.line, found.is_write);
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(key).and_modify(|known| known.and(&found)).or_insert(found);
    }

    /// # Errors
    /// An access was outside of a buffer; each place of the source is told once.
    pub(super) fn conclude(self) -> Result<(), Problem> {
        let found = std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner));
        if found.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = found.values().take(TOLD).map(|found| self.line(found)).collect();
        let more = found.len().saturating_sub(TOLD);
        let more = if more > 0 { format!("\nand {more} other places") } else { String::new() };
        Err(format!("{}{more}", lines.join("\n")).into())
    }

    /// `work-item 64 of group 1 reads 4 bytes ...`
    fn line(&self, found: &Found) -> String {
        let Found { file, line, is_write, bytes, item, count } = found;
        let groups = [0, 1, 2].map(|at: usize| {
            let get = |values: &[u64; 3]| values.get(at).copied().unwrap_or_default();
            get(item).saturating_sub(get(&self.offset)).checked_div(get(&self.local)).unwrap_or(0)
        });
        let does = if *is_write == 0 { "reads" } else { "writes" };
        let times = if *count > 1 { format!("; {count} accesses there are outside") } else { String::new() };
        format!(
            "{file}:{line}: work-item {} of group {} {does} {} of {}{times}",
            self.position(item),
            self.position(&groups),
            bytes,
            self.buffer(bytes)
        )
    }

    fn buffer(&self, bytes: &Bytes) -> String {
        let number =
            self.buffers.iter().find(|buffer| buffer.start == bytes.start).map(|buffer| buffer.number);
        let name = number.and_then(|number| self.names.get(number)).filter(|name| !name.is_empty());
        let whole = bytes.whole;
        match (number, name) {
            (Some(number), Some(name)) => {
                format!("argument {number}, `{}`, which has {whole} bytes", escape(name))
            }
            (Some(number), None) => format!("argument {number}, which has {whole} bytes"),
            (None, _) => format!("a buffer of {whole} bytes, which is no argument"),
        }
    }

    fn position(&self, at: &[u64; 3]) -> String {
        let numbers: Vec<String> = at.iter().take(self.dimensions).map(u64::to_string).collect();
        match numbers.as_slice() {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        }
    }
}

impl Found {
    /// Another access at the same place: that of the first work-item is told, whatever the order of threads.
    fn and(&mut self, other: &Found) {
        self.count = self.count.saturating_add(1);
        let order = |found: &Found| (found.item[2], found.item[1], found.item[0]);
        if order(other) < order(self) {
            (self.item, self.bytes) = (other.item, other.bytes);
        }
    }
}

impl fmt::Display for Bytes {
    /// `4 bytes, 0 behind the end`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.end.saturating_sub(self.first);
        let behind = self.start.saturating_add(self.whole);
        match self.first < self.start {
            true => write!(
                f,
                "{size} bytes that begin {} before the start",
                self.start.saturating_sub(self.first)
            ),
            false => write!(f, "{size} bytes that end {} behind the end", self.end.saturating_sub(behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::HostMemory;

    #[test]
    fn red_zones_are_touched_by_the_byte() {
        let memory = HostMemory::between_red_zones(10).unwrap();
        let start = memory.address().addr();
        let buffer = Some((start, 10));
        assert_eq!(start % 128, 0);
        for (first, size, expected) in [
            (start, 10, None),
            (start + 9, 1, None),
            (start + 10, 1, buffer),
            (start + 9, 2, buffer),
            (start - 1, 1, buffer),
            (start - 1, 20, buffer),
            (start + 10 + RED_ZONE - 1, 1, buffer),
        ] {
            assert_eq!(touched(first, first + size), expected, "{} {size}", first.wrapping_sub(start));
        }
        let stack = 0u32;
        assert_eq!(touched((&raw const stack).addr(), (&raw const stack).addr() + 4), None);
        drop(memory);
        assert_eq!(touched(start + 10, start + 11), None);
    }

    #[test]
    fn an_access_between_two_buffers_is_the_nearer_one_s() {
        let (low, high) = (0x1000_0000_0000usize, 0x1000_0000_0000 + 3 * RED_ZONE);
        let _both = [Registered::new(low, 64), Registered::new(high, 64)];
        assert_eq!(touched(low + 64, low + 68), Some((low, 64)));
        assert_eq!(touched(high - 4, high), Some((high, 64)));
        assert_eq!(touched(low, low + 64), None);
        assert_eq!(touched(high + 60, high + 64), None);
    }

    #[test]
    fn a_launch_tells_each_place_once() {
        let info = KernelInfo::new("k");
        let watch = Watch::new(&info, &[], &NdRange::new(&[8, 8], &[4, 4]).unwrap());
        let found = |item| Found {
            file: "k.cl".into(),
            line: 3,
            is_write: 1,
            bytes: Bytes { start: 1000, whole: 16, first: 1016, end: 1020 },
            item,
            count: 1,
        };
        for item in [[7, 5, 0], [5, 5, 0], [6, 6, 0]] {
            watch.add(found(item));
        }
        assert_eq!(
            watch.conclude().unwrap_err().text,
            "k.cl:3: work-item (5, 5) of group (1, 1) writes 4 bytes that end 4 behind the end of a buffer of 16 bytes, which is no argument; 3 accesses there are outside"
        );
    }
}
