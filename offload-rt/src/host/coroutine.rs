//! Work-items that wait for each other: one coroutine each, resumed in turn.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// What a work-item needs on its stack beyond the kernel's own private memory.
const LEAST_STACK: usize = 256 << 10;
/// A kernel's recorded private memory is believed up to this size.
const LARGEST_STACK: u64 = 64 << 20;

/// The stacks of one thread, reused from group to group.
pub(super) struct Stacks {
    free: Vec<DefaultStack>,
    size: usize,
    /// The yielder of the coroutine that runs now; `barrier_data` points here.
    current: Box<Cell<*const Yielder<(), ()>>>,
}

/// Why a group did not run to its end as it should.
#[derive(Debug)]
pub(super) enum GroupError {
    /// Memory for the stacks is not to be had.
    Stack(std::io::Error),
    /// Some work-items ended while others waited.
    Divergent,
}

impl Stacks {
    pub(super) fn new(private_memory: Option<u64>) -> Stacks {
        let private = private_memory.unwrap_or(0).min(LARGEST_STACK) as usize;
        Stacks { free: Vec::new(), size: LEAST_STACK + private, current: Box::new(Cell::new(ptr::null())) }
    }

    /// What [`barrier`] has to be called with while [`Stacks::run_group`] runs.
    pub(super) fn barrier_data(&self) -> *mut c_void {
        (&raw const *self.current).cast_mut().cast()
    }

    /// Calls `item` for each of `ids`, each on a stack of its own; from a call of [`barrier`] inside one it goes on
    /// with the others.
    pub(super) fn run_group(
        &mut self,
        ids: impl Iterator<Item = [u64; 3]>,
        item: &dyn Fn([u64; 3]),
    ) -> Result<(), GroupError> {
        let current = &*self.current;
        let mut items = Vec::new();
        for id in ids {
            let stack = match self.free.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(self.size).map_err(GroupError::Stack)?,
            };
            // SAFETY: `current` and `item` outlive the coroutines, which do not leave this function.
            items.push(unsafe {
                Coroutine::with_stack_unchecked(stack, move |yielder: &Yielder<(), ()>, ()| {
                    current.set(yielder);
                    item(id);
                })
            });
        }
        let result = run_all(&mut items);
        self.free.extend(items.into_iter().map(Coroutine::into_stack));
        result
    }
}

fn run_all(items: &mut [Coroutine<(), (), (), DefaultStack>]) -> Result<(), GroupError> {
    let mut result = Ok(());
    loop {
        let (mut waiting, mut ended) = (false, false);
        for item in items.iter_mut().filter(|item| !item.done()) {
            match item.resume(()) {
                CoroutineResult::Yield(()) => waiting = true,
                CoroutineResult::Return(()) => ended = true,
            }
        }
        if !waiting {
            return result;
        }
        if ended {
            // Those that wait are resumed all the same: their stacks hold frames of foreign code, which can only be
            // left by returning.
            result = Err(GroupError::Divergent);
        }
    }
}

/// `barrier` of a group that runs in coroutines.
pub(super) unsafe extern "C" fn barrier(data: *mut c_void) {
    // SAFETY: `data` is the `barrier_data` of this thread's `Stacks`, which is running a group.
    let current = unsafe { &*data.cast::<Cell<*const Yielder<(), ()>>>() };
    let own = current.get();
    // SAFETY: the coroutine that runs now has stored its yielder, which lives on the coroutine's own stack.
    if let Some(yielder) = unsafe { own.as_ref() } {
        yielder.suspend(());
        current.set(own);
    }
}
