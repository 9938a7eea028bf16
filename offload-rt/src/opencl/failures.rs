//! Failed assertions of a program of an OpenCL driver, as `offload_failures.h` of offload-build writes them.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offload_format::section::READS_FAILURES_PREFIX;

use super::api::{ClError, Kernel, Program};
use super::context::ClContext;
use super::module::enqueue;
use super::records::{Record, WORDS};
use super::stream::ClStream;
use crate::backend::{
    AssertionFailure, BackendMemory, BackendOutput, BackendStream, KernelArg, KernelArgKind, MemoryRange,
    MemoryRef, OutputMark,
};
use crate::error::Problem;
use crate::failures::{Assertion, Failures};
use crate::range::NdRange;
use crate::text::escape_lines;

/// The macro for the address of a failure record in OpenCL C with assertions.
pub(super) const ADDRESS: &str = "__OFFLOAD_FAILURES";

// Words of a record.
const FAILED: usize = 0;
const SLOT: usize = 1;
const LINE: usize = 3;
const WORK_ITEM: usize = 4;
const TEXT: usize = 8;
// What `SLOT` says.
const FREE: u32 = 0;
const WHOLE: u32 = 2;

/// The failures of a program.
#[derive(Debug)]
pub(super) struct ClFailures {
    /// Those of the image.
    kernels: Vec<String>,
    state: Mutex<FailureState>,
}

#[derive(Debug)]
struct FailureState {
    source: FailureSource,
    failures: Failures,
}

/// Where kernels write them.
#[derive(Debug)]
enum FailureSource {
    /// A variable of the program.
    Program(Reader),
    Process(Record),
}

/// Reads the variable of a program.
#[derive(Debug)]
struct Reader {
    // Released in this order.
    kernel: Kernel,
    memory: Arc<dyn BackendMemory>,
    stream: ClStream,
}

impl ClFailures {
    /// Those of `kernels` from OpenCL C, which were built to write to `record`.
    pub(super) fn for_process(record: Record, kernels: Vec<String>) -> ClFailures {
        ClFailures::new(FailureSource::Process(record), kernels)
    }

    /// Those of `program`, if it has a kernel that reads them.
    pub(super) fn for_program(
        context: &Arc<ClContext>,
        program: &Program,
        kernels: Vec<String>,
    ) -> Result<Option<ClFailures>, Problem> {
        let names = program.kernel_names().map_err(watch_error)?;
        let Some(name) = names.split([';', '\0']).find(|name| name.starts_with(READS_FAILURES_PREFIX)) else {
            return Ok(None);
        };
        let kernel = program.kernel(name).map_err(watch_error)?;
        let stream = ClStream::new(context.clone())?;
        let memory = stream.allocate(WORDS * 4)?;
        let mut source = FailureSource::Program(Reader { kernel, memory, stream });
        // From now on kernels write, and the driver does not print.
        source.take()?;
        Ok(Some(ClFailures::new(source, kernels)))
    }

    fn new(source: FailureSource, kernels: Vec<String>) -> ClFailures {
        ClFailures { kernels, state: Mutex::new(FailureState { source, failures: Failures::default() }) }
    }

    fn take(&self) -> Result<MutexGuard<'_, FailureState>, Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let words = state.source.take()?;
        if words.get(SLOT) == Some(&WHOLE) {
            self.failure(&words).into_iter().for_each(|failure| state.failures.add(failure));
        }
        state.failures.count(words.get(FAILED).copied().unwrap_or_default());
        Ok(state)
    }

    fn failure(&self, words: &[u32]) -> Option<AssertionFailure> {
        let bytes: Vec<u8> = words.get(TEXT..)?.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut texts =
            bytes.split(|byte| *byte == 0).map(|text| escape_lines(&String::from_utf8_lossy(text)));
        let (kernel, function, file, condition) =
            (texts.next()?, texts.next()?, texts.next()?, texts.next()?);
        let work_item = words.get(WORK_ITEM..)?.first_chunk().copied()?;
        let kernel = self.kernel_of(kernel, &function);
        let assertion = Assertion { condition, work_item, file, line: *words.get(LINE)?, function };
        Some(AssertionFailure { kernel, text: assertion.text() })
    }

    /// OpenCL C has no way to tell which kernel runs: it is known if the assertion is in a kernel, or if there is one.
    fn kernel_of(&self, recorded: String, function: &str) -> String {
        match self.kernels.as_slice() {
            _ if !recorded.is_empty() => recorded,
            [only] => only.clone(),
            several => several.iter().find(|name| *name == function).cloned().unwrap_or_default(),
        }
    }
}

fn watch_error(error: ClError) -> Problem {
    Problem::from(format!("cannot watch its assertions: {error}"))
}

impl FailureSource {
    /// The words of the record; its message is whole or is not there.
    fn take(&mut self) -> Result<Vec<u32>, Problem> {
        match self {
            FailureSource::Program(reader) => reader.read(),
            FailureSource::Process(record) => {
                let failed = record.word(FAILED);
                if record.word(SLOT) != WHOLE {
                    return Ok(vec![failed, FREE]);
                }
                let words = (0..WORDS).map(|index| record.word(index)).collect();
                record.set(SLOT, FREE);
                Ok(words)
            }
        }
    }
}

impl Reader {
    fn read(&self) -> Result<Vec<u32>, Problem> {
        let range = NdRange::new([1], [1]);
        let all = MemoryRange::new(MemoryRef::Borrowed(&*self.memory), 0, WORDS * 4, 4);
        // SAFETY: the kernel takes a buffer of this size, and is this thread's.
        unsafe { enqueue(&self.kernel, &self.stream, &range, &[KernelArg(KernelArgKind::Memory(all))])? };
        let mut bytes = vec![0; WORDS * 4];
        self.stream.read(all, &mut bytes)?;
        Ok(bytes.chunks_exact(4).filter_map(|word| Some(u32::from_ne_bytes(word.try_into().ok()?))).collect())
    }
}

impl BackendOutput for ClFailures {
    fn mark(&self) -> OutputMark {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failures.mark()
    }

    fn print(
        &self,
        before: OutputMark,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Result<Option<AssertionFailure>, Problem> {
        Ok(self.take()?.failures.first(before, is_selected))
    }
}

impl Drop for ClFailures {
    fn drop(&mut self) {
        let Ok(state) = self.take() else { return };
        for line in state.failures.unreported() {
            // A closed standard output is no reason to fail.
            let _ = std::io::stdout().lock().write_all(line.as_bytes());
        }
    }
}
