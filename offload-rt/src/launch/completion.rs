//! Futures for the end of work, which a host function of the driver wakes.

use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::event::Event;
use super::stream::Stream;
use crate::error::Error;

/// The end of work in a stream as a [`Future`], made by [`Stream::completion`] and [`Event::completion`].
///
/// The work goes on whether it is polled or not, and also if it is dropped. No thread waits or polls: a thread of the
/// driver wakes the task, as by [`Stream::call`]. So the executor must not run tasks within [`Waker::wake`].
#[must_use = "nothing waits for the work before it is polled"]
pub struct Completion {
    event: Event,
    state: Arc<Mutex<State>>,
    /// The stream that waits for the event, if that takes one of its own.
    _beside: Option<Stream>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unpolled,
    Polled(Waker),
    Done,
}

impl Stream {
    /// A future for the end of the work that the stream has.
    ///
    /// It depends on no executor: this one parks its thread until the driver wakes it.
    ///
    /// ```
    /// use std::future::Future;
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::task::{Context, Poll, Wake};
    /// use std::thread::{self, Thread};
    ///
    /// struct Unpark(Thread);
    ///
    /// impl Wake for Unpark {
    ///     fn wake(self: Arc<Self>) {
    ///         self.0.unpark();
    ///     }
    /// }
    ///
    /// fn block_on<T>(future: impl Future<Output = T>) -> T {
    ///     let waker = Arc::new(Unpark(thread::current())).into();
    ///     let mut future = pin!(future);
    ///     loop {
    ///         match future.as_mut().poll(&mut Context::from_waker(&waker)) {
    ///             Poll::Ready(value) => return value,
    ///             Poll::Pending => thread::park(),
    ///         }
    ///     }
    /// }
    ///
    /// let device = offload_rt::Device::host();
    /// let values = block_on(async {
    ///     let stream = device.stream()?;
    ///     let x = stream.upload(&[1.0f32; 256])?;
    ///     let copied = stream.read_async(&x, device.pinned::<f32>(256)?)?;
    ///     stream.completion()?.await?;
    ///     // The copy is done, so that this does not wait.
    ///     copied.wait()
    /// })?;
    /// assert_eq!(*values, [1.0; 256]);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Stream::call`]. The future's own are those of [`Event::wait`]: a failure of the work before it.
    pub fn completion(&self) -> Result<Completion, Error> {
        let event = self.record()?;
        let state = Arc::new(Mutex::new(State::Unpolled));
        let finished = state.clone();
        self.done(self.backend().call(Box::new(move |_| finish(&finished))))?;
        Ok(Completion { event, state, _beside: None })
    }
}

impl Event {
    /// A future for the end of the work before it. That takes a stream of its own, so that it does not come after what its
    /// stream is given later; [`Stream::completion`] takes none. Dropping the future before its end waits on AMD GPUs, whose
    /// runtime loses the work of a stream that goes.
    ///
    /// # Errors
    /// As [`Stream::completion`] and [`Device::stream`](crate::Device::stream).
    pub fn completion(&self) -> Result<Completion, Error> {
        let beside = self.device.stream()?;
        beside.wait_for(self)?;
        let Completion { event, state, .. } = beside.completion()?;
        // Errors name the kernels before this event.
        let event = Event { queued: self.queued.clone(), ..event };
        Ok(Completion { event, state, _beside: Some(beside) })
    }
}

/// The driver's call; the work may have failed, which the event tells.
fn finish(state: &Mutex<State>) {
    let before = mem::replace(&mut *state.lock().unwrap_or_else(PoisonError::into_inner), State::Done);
    // Without the lock: the task may be polled at once.
    if let State::Polled(waker) = before {
        // A driver cannot unwind through its own code.
        let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
    }
}

impl Future for Completion {
    type Output = Result<(), Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::Done => {}
            State::Polled(waker) => {
                waker.clone_from(context.waker());
                return Poll::Pending;
            }
            State::Unpolled => {
                *state = State::Polled(context.waker().clone());
                return Poll::Pending;
            }
        }
        drop(state);
        // The event is done, so that this does not wait.
        Poll::Ready(self.event.wait())
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completion").field("event", &self.event).field("state", &self.state).finish()
    }
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use std::panic;
    use std::pin::pin;
    use std::task::{Wake, Waker};

    use super::*;
    use crate::device::Device;

    #[test]
    fn work_that_is_done_is_ready_at_once_with_its_failure() {
        let stream = Device::host().stream().unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let event = stream.record().unwrap();
        for completion in [stream.completion().unwrap(), event.completion().unwrap()] {
            assert!(matches!(pin!(completion).poll(&mut context), Poll::Ready(Ok(()))));
        }
        stream.call(|| panic::panic_any("failed")).unwrap();
        let completion = stream.completion().unwrap();
        let Poll::Ready(Err(error)) = pin!(completion).poll(&mut context) else { panic!("it is ready") };
        assert!(error.to_string().contains("failed"), "{error}");
        let captured = stream.capture(|stream| stream.completion().map(drop));
        assert!(captured.unwrap_err().to_string().contains("graph"));
    }

    #[test]
    fn it_goes_to_any_thread() {
        fn is_for_executors<T: Send + Sync + Unpin + 'static>() {}
        is_for_executors::<Completion>();
    }

    #[derive(Default)]
    struct Counter(Mutex<u32>);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
            panic::panic_any("a waker of the test");
        }
    }

    #[test]
    fn the_last_waker_is_woken_once_and_may_panic() {
        let stream = Device::host().stream().unwrap();
        let mut completion = pin!(stream.completion().unwrap());
        *completion.state.lock().unwrap() = State::Unpolled;
        let [first, last] = [Arc::new(Counter::default()), Arc::new(Counter::default())];
        for counter in [&first, &last] {
            let waker = counter.clone().into();
            assert!(completion.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let state = completion.state.clone();
        finish(&state);
        assert_eq!((*first.0.lock().unwrap(), *last.0.lock().unwrap()), (0, 1));
        assert!(completion.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}
