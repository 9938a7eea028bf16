//! Kernels and programs that launches have loaded, by context.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use super::current::Current;
use super::failure::{ASSERT, Failure, Outcome};
use super::graph::RelaxedCapture;
use super::platform::ContextHandle;
use super::registration::{self, Binary, Registered};
use crate::backend::{BackendOutput, OutputMark};
use crate::device::Device;
use crate::error::Error;
use crate::launch::{Kernel, Program};

/// What a context has.
#[derive(Debug)]
pub(super) struct LoadedContext {
    device: Device,
    /// By the address of the function on the host.
    kernels: RwLock<BTreeMap<usize, Arc<Kernel>>>,
    /// By package, version and module: a module has a host part for each file.
    programs: Mutex<LoadedPrograms>,
    /// The outputs of its kernels.
    outputs: Mutex<Vec<UsedOutput>>,
    /// An assertion that failed during the call of a launch, which CUDA reports at the next wait.
    failed: Mutex<Option<Failure>>,
}

/// A context of a back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ContextKey {
    /// The address of the back end.
    platform: usize,
    context: ContextHandle,
}

/// [`Binary::full_name`].
type ModuleName = String;

type LoadedPrograms = BTreeMap<ModuleName, Arc<OnceLock<Result<Arc<Program>, Error>>>>;

#[derive(Debug)]
struct UsedOutput {
    output: Arc<dyn BackendOutput>,
    before: OutputMark,
}

/// What was loaded stays, as CUDA's runtime has it. Host functions have nothing to keep it by: the table is the
/// process's own.
static CONTEXTS: RwLock<BTreeMap<ContextKey, Arc<LoadedContext>>> = RwLock::new(BTreeMap::new());

/// The kernel of the function at `stub` on the host, loaded in the current context if it is not yet.
pub(super) fn kernel(current: &Current, stub: *const c_void) -> Outcome<Arc<Kernel>> {
    let context = context(current)?;
    let known = context.kernels.read().unwrap_or_else(PoisonError::into_inner).get(&stub.addr()).cloned();
    match known {
        Some(kernel) => Ok(kernel),
        None => {
            let _relaxed = RelaxedCapture::new(current.platform);
            context.load_kernel(stub)
        }
    }
}

/// The program with the variable whose shadow on the host is at `shadow`, and the variable's name.
pub(super) fn variable(current: &Current, shadow: *const c_void) -> Outcome<LoadedVariable> {
    let Registered { binary, name } = registration::variable(shadow)?;
    let context = context(current)?;
    let _relaxed = RelaxedCapture::new(current.platform);
    let program = context.program(binary)?;
    Ok(LoadedVariable { program, name })
}

/// A variable of a loaded program.
#[derive(Debug)]
pub(super) struct LoadedVariable {
    pub(super) program: Arc<Program>,
    pub(super) name: &'static str,
}

/// What the current context has.
pub(super) fn context(current: &Current) -> Outcome<Arc<LoadedContext>> {
    let id = ContextKey { platform: ptr::from_ref(current.platform).addr(), context: current.context };
    if let Some(known) = CONTEXTS.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
        return Ok(known.clone());
    }
    let loaded = Arc::new(LoadedContext::new(current)?);
    let mut contexts = CONTEXTS.write().unwrap_or_else(PoisonError::into_inner);
    Ok(contexts.entry(id).or_insert(loaded).clone())
}

impl LoadedContext {
    fn new(current: &Current) -> Outcome<LoadedContext> {
        Ok(LoadedContext {
            device: current.platform.device(current.context)?,
            kernels: RwLock::default(),
            programs: Mutex::default(),
            outputs: Mutex::default(),
            failed: Mutex::default(),
        })
    }

    fn load_kernel(&self, stub: *const c_void) -> Outcome<Arc<Kernel>> {
        let Registered { binary, name } = registration::kernel(stub)?;
        let kernel = self.program(binary)?.kernel(name)?;
        if let Some(output) = kernel.backend().output() {
            self.remember_output(output);
        }
        let loaded = Arc::new(kernel);
        let mut kernels = self.kernels.write().unwrap_or_else(PoisonError::into_inner);
        Ok(kernels.entry(stub.addr()).or_insert(loaded).clone())
    }

    /// The module of `binary`, loaded once; so is the error if it cannot be.
    fn program(&self, binary: &Binary) -> Outcome<Arc<Program>> {
        let slot = self.programs().entry(binary.full_name()).or_default().clone();
        let loaded = slot.get_or_init(|| {
            let request = binary.registry().request(&binary.module);
            request.load(&self.device).map(Arc::new)
        });
        Ok(loaded.clone()?)
    }

    fn programs(&self) -> MutexGuard<'_, LoadedPrograms> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember_output(&self, output: Arc<dyn BackendOutput>) {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        if !outputs.iter().any(|used| Arc::ptr_eq(&used.output, &output)) {
            outputs.push(UsedOutput { before: output.mark(), output });
        }
    }

    /// Keeps the failed assertion of a launch for the next wait.
    pub(super) fn remember_failure(&self, failure: &Failure) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.get_or_insert_with(|| failure.clone());
    }

    /// Prints what kernels that were waited for have printed; fails for the first assertion that failed since the last
    /// call.
    pub(super) fn print(&self) -> Outcome {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut first = failed.map_or(Ok(()), Err);
        for UsedOutput { output, before } in outputs.iter_mut() {
            let printed = output.print(*before, &|_| true);
            *before = output.mark();
            let failed = match printed {
                Ok(None) => continue,
                Ok(Some(failure)) => Error::launch(&failure.kernel, failure.text),
                Err(problem) => {
                    Error::from_device(self.device.name(), problem.during("cannot read what kernels print"))
                }
            };
            first = first.and(Err(Failure::with_error(ASSERT, failed)));
        }
        first
    }
}
