//! `printf` and `assert` of kernels on CUDA and HIP devices, through a ring buffer.
//!
//! The functions that print are part of the image (`device_output.c` of offload-build). They write messages to a ring buffer
//! in the device's memory, which is allocated when the image is loaded, and whose address is in the image's variable
//! `__offload_output`. A wait for work that may have printed reads the ring.
//!
//! CUDA's own `vprintf` is not used: its buffer drops the oldest messages without a word, and its assertions make every
//! later call of the process fail. HIP's needs a thread of the runtime's and its device libraries.

mod format;
mod message;
mod values;

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::message::DeviceMessage;
use crate::backend::{
    AssertionFailure, BackendMemory, BackendOutput, BackendStream, FillPattern, MemoryRange, MemoryRef,
    OutputMark,
};
use crate::error::Problem;
use crate::failures::Failures;

/// The variable of images that print.
const VARIABLE: &str = "__offload_output";
/// Of the ring: a power of two.
const WORDS: u32 = 1 << 18;
/// Before the ring: words that were taken, words that were read (each of 64 bits), messages for which there was no room,
/// assertions that failed, words of the ring, and one that is not used.
const HEADER: usize = 32;
/// Where the host says how far it has read.
const READ: usize = 8;

/// The ring of a loaded image.
#[derive(Debug)]
pub(crate) struct Output {
    stream: Box<dyn BackendStream>,
    memory: Arc<dyn BackendMemory>,
    state: Mutex<RingState>,
}

#[derive(Debug, Default)]
struct RingState {
    read: u64,
    lost: u32,
    failures: Failures,
}

/// The device's words before the ring.
struct Header {
    taken: u64,
    lost: u32,
    failed: u32,
}

/// A loaded image, whose kernels print if it has [`VARIABLE`].
pub(crate) trait PrintingImage {
    fn has_variable(&self, name: &str) -> bool;
    /// A stream of the device on which it is loaded.
    fn new_stream(&self) -> Result<Box<dyn BackendStream>, Problem>;
    /// Writes `bytes` to the variable `name`.
    fn write_global(&self, name: &str, bytes: &[u8]) -> Result<(), String>;
}

impl Output {
    /// The ring of `image`, which knows it then; `None` if no kernel prints.
    pub(crate) fn for_image(image: &impl PrintingImage) -> Result<Option<Arc<Output>>, Problem> {
        if !image.has_variable(VARIABLE) {
            return Ok(None);
        }
        let output = Output::new(image.new_stream()?)?;
        image.write_global(VARIABLE, &output.address())?;
        Ok(Some(Arc::new(output)))
    }

    /// A ring in memory of the device of `stream`, which is its own.
    fn new(stream: Box<dyn BackendStream>) -> Result<Output, Problem> {
        let size = HEADER.saturating_add(WORDS as usize * 4);
        let memory = stream.allocate(size)?;
        stream.fill(MemoryRange::new(MemoryRef::Borrowed(&*memory), 0, size, 4), FillPattern::Bytes4(0))?;
        let words = MemoryRange::new(MemoryRef::Borrowed(&*memory), 24, 4, 4);
        stream.write(words, &WORDS.to_ne_bytes())?;
        stream.synchronize()?;
        Ok(Output { stream, memory, state: Mutex::default() })
    }

    /// The value of the image's variable.
    fn address(&self) -> [u8; 8] {
        self.memory.device_address().start.to_ne_bytes()
    }

    /// Prints what is there, in the order in which the device took room for it.
    fn take_all(&self) -> Result<MutexGuard<'_, RingState>, Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let header = self.header()?;
        let mut text = Vec::new();
        if header.taken != state.read {
            self.take(&mut state, header.taken, &mut text)?;
        }
        let lost = header.lost.wrapping_sub(state.lost);
        if lost > 0 {
            let line = format!(
                "[{lost} messages of kernels are lost: {} KiB hold those between two waits]\n",
                WORDS / 256
            );
            text.extend_from_slice(line.as_bytes());
        }
        state.lost = header.lost;
        state.failures.count(header.failed);
        // As for the host CPU: a closed standard output is no reason to fail a launch.
        let _ = std::io::stdout().lock().write_all(&text);
        Ok(state)
    }

    /// The messages up to `taken` that are whole; kernels of other streams may be writing those behind.
    fn take(&self, state: &mut RingState, taken: u64, text: &mut Vec<u8>) -> Result<(), Problem> {
        let whole = whole(&self.words(state.read, taken)?);
        let end = state.read.saturating_add(whole as u64);
        // Read again: now the device has written all words of what is whole.
        let words = self.words(state.read, end)?;
        let mut rest = words.as_slice();
        while let Some((message, after)) = message::split(rest) {
            match DeviceMessage::parse(message) {
                Some(DeviceMessage::Print(printed)) => text.extend_from_slice(&printed),
                Some(DeviceMessage::Failure(failure)) => state.failures.add(failure),
                None => text.extend_from_slice(b"[a message of a kernel cannot be read]\n"),
            }
            rest = after;
        }
        for part in parts(state.read, end) {
            self.stream.fill(self.range(part), FillPattern::Bytes4(0))?;
        }
        self.stream
            .write(MemoryRange::new(MemoryRef::Borrowed(&*self.memory), READ, 8, 8), &end.to_ne_bytes())?;
        self.stream.synchronize()?;
        state.read = end;
        Ok(())
    }

    fn header(&self) -> Result<Header, Problem> {
        let mut bytes = [0u8; HEADER];
        self.stream.read(MemoryRange::new(MemoryRef::Borrowed(&*self.memory), 0, HEADER, 8), &mut bytes)?;
        let [a, b, _, _, lost, failed, ..] = values::words(&bytes)[..] else {
            return Err(Problem::from("what kernels print cannot be read".to_string()));
        };
        Ok(Header { taken: u64::from(a) | u64::from(b) << 32, lost, failed })
    }

    /// The words from position `start` up to `end`.
    fn words(&self, start: u64, end: u64) -> Result<Vec<u32>, Problem> {
        let mut words = Vec::new();
        for part in parts(start, end) {
            let mut bytes = vec![0u8; part.words * 4];
            self.stream.read(self.range(part), &mut bytes)?;
            words.extend(values::words(&bytes));
        }
        Ok(words)
    }

    fn range(&self, part: RingSpan) -> MemoryRange<'_> {
        let offset = HEADER.saturating_add(part.first.saturating_mul(4));
        MemoryRange::new(MemoryRef::Borrowed(&*self.memory), offset, part.words.saturating_mul(4), 4)
    }
}

impl Drop for Output {
    /// The image is unloaded, and all its work is done.
    fn drop(&mut self) {
        let Ok(state) = self.take_all() else { return };
        for line in state.failures.unreported() {
            let _ = std::io::stdout().lock().write_all(line.as_bytes());
        }
    }
}

impl BackendOutput for Output {
    fn mark(&self) -> OutputMark {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures.mark()
    }

    fn print(
        &self,
        before: OutputMark,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Result<Option<AssertionFailure>, Problem> {
        Ok(self.take_all()?.failures.first(before, is_selected))
    }
}

/// A part of the ring without the step from its end to its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RingSpan {
    first: usize,
    words: usize,
}

/// Where the words from position `start` up to `end` are.
fn parts(start: u64, end: u64) -> impl Iterator<Item = RingSpan> {
    let size = u64::from(WORDS);
    let count = end.saturating_sub(start).min(u64::from(WORDS));
    let first = start % size;
    let before_end = count.min(size - first);
    let front = RingSpan { first: first as usize, words: before_end as usize };
    let back = RingSpan { first: 0, words: (count - before_end) as usize };
    [front, back].into_iter().filter(|span| span.words > 0)
}

/// The number of `words` in complete messages.
fn whole(words: &[u32]) -> usize {
    let mut rest = words;
    while let Some((_, after)) = message::split(rest) {
        rest = after;
    }
    words.len().saturating_sub(rest.len())
}

#[cfg(test)]
mod tests {
    use super::message::COMMITTED;
    use super::*;

    #[test]
    fn the_ring_goes_on_at_its_start() {
        let size = u64::from(WORDS);
        fn spans(start: u64, end: u64) -> Vec<(usize, usize)> {
            parts(start, end).map(|span| (span.first, span.words)).collect()
        }
        assert_eq!(spans(3, 3), []);
        assert_eq!(spans(3, 10), [(3, 7)]);
        assert_eq!(spans(5 * size - 2, 5 * size + 1), [(WORDS as usize - 2, 2), (0, 1)]);
    }

    #[test]
    fn what_is_not_written_yet_waits() {
        let words = [COMMITTED | 2, 1, COMMITTED | 3, 1, 0, 0, 1, COMMITTED | 1];
        assert_eq!(whole(&words), 5);
        assert_eq!(whole(&words[..4]), 2);
    }
}
