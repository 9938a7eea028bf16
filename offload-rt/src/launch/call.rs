//! Host functions: calls of the program in the order of a stream.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::stream::Stream;
use crate::backend::{RepeatedFunction, WorkBefore};
use crate::error::Error;

impl Stream {
    /// Queues a call of `function`: after the work that the stream has, and before the work that it is given later.
    ///
    /// A thread of the driver calls it, one for all streams perhaps, and the stream stands still meanwhile: leave long work
    /// to another thread. It must not use a device, nor drop buffers, streams or kernels, which drivers refuse there, and must
    /// not wait for work of any stream. On the host CPU it is called before this returns.
    ///
    /// If the work before it failed, it is dropped without being called, where the driver tells. If it panics, whatever
    /// waits for the stream next has an error with the message.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// let stream = offload_rt::Device::host().stream()?;
    /// let x = stream.zeroed::<f32>(1 << 20)?;
    /// let (sender, receiver) = mpsc::channel();
    /// stream.call(move || drop(sender.send("the zeros are written")))?;
    /// assert_eq!(receiver.recv(), Ok("the zeros are written"));
    /// # drop(x);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses; or the stream is of a capture: a graph is launched more than once, and takes
    /// [`Stream::call_each_time`].
    pub fn call(&self, function: impl FnOnce() + Send + 'static) -> Result<(), Error> {
        let panics = self.queued().panics().clone();
        let called = move |before: WorkBefore| {
            // What it owns may panic too when it is dropped.
            let ended = catch_unwind(AssertUnwindSafe(move || match before {
                WorkBefore::Done => function(),
                WorkBefore::Failed => drop(function),
            }));
            if let Err(payload) = ended {
                panics.add(message(&*payload));
            }
        };
        self.done(self.backend().call(Box::new(called)))
    }

    /// Queues a call of `function` as [`Stream::call`] does; in a capture, each launch of the graph calls it at that place
    /// of its work.
    ///
    /// The graph keeps the function. A panic is the error of whatever waits next for a stream in which the graph was
    /// launched.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let stream = offload_rt::Device::host().stream()?;
    /// let tokens = Arc::new(AtomicU32::new(0));
    /// let counted = tokens.clone();
    /// let graph = stream.capture(|stream| {
    ///     stream.call_each_time(move || drop(counted.fetch_add(1, Ordering::Relaxed)))
    /// })?;
    /// graph.launch(&stream)?;
    /// graph.launch(&stream)?;
    /// stream.synchronize()?;
    /// assert_eq!(tokens.load(Ordering::Relaxed), 2);
    /// # Ok::<(), offload_rt::Error>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses.
    pub fn call_each_time(&self, function: impl Fn() + Send + Sync + 'static) -> Result<(), Error> {
        let panics = match self.recording() {
            Some(recording) => recording.panics().clone(),
            None => self.queued().panics().clone(),
        };
        let called = move |before: WorkBefore| {
            if before == WorkBefore::Done
                && let Err(payload) = catch_unwind(AssertUnwindSafe(&function))
            {
                panics.add(message(&*payload));
            }
        };
        self.done(self.backend().call_again(&Arc::new(RepeatedFunction::new(called))))
    }
}

/// The message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "it has no message".to_string())
}

#[cfg(test)]
#[cfg(all(feature = "host", any(unix, windows)))]
mod tests {
    use std::panic::panic_any;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::device::Device;

    #[test]
    fn a_panic_is_the_error_of_the_next_wait() {
        let stream = Device::host().stream().unwrap();
        let kept = Arc::new(());
        let own = kept.clone();
        stream.call(move || assert_eq!(Arc::strong_count(&own), 7, "seven")).unwrap();
        assert_eq!(Arc::strong_count(&kept), 1);
        stream.call(|| panic_any(5u8)).unwrap();
        let error = stream.synchronize().unwrap_err().to_string();
        assert!(error.contains("panicked") && error.contains("seven"), "{error}");
        stream.synchronize().unwrap();
        stream.call(|| panic_any(5u8)).unwrap();
        let event = stream.record().unwrap();
        assert!(event.wait().unwrap_err().to_string().contains("no message"));
        stream.call(|| {}).unwrap();
        event.wait().unwrap();
    }

    #[test]
    fn a_capture_refuses_what_may_be_called_once() {
        let stream = Device::host().stream().unwrap();
        let error = stream.capture(|stream| stream.call(|| {})).unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.contains("graph.launch")), "{error}");
    }

    #[test]
    fn a_panic_in_a_graph_is_the_error_of_the_stream_of_the_launch() {
        let stream = Device::host().stream().unwrap();
        let calls = Arc::new(AtomicU32::new(0));
        let counted = calls.clone();
        let graph = stream.capture(|stream| {
            stream
                .fork()?
                .call_each_time(move || assert_ne!(counted.fetch_add(1, Ordering::Relaxed), 1, "second"))
        });
        let graph = graph.unwrap();
        assert_eq!((graph.len(), graph.launches().len()), (1, 0));
        graph.launch(&stream).unwrap();
        stream.synchronize().unwrap();
        graph.launch(&stream).unwrap();
        graph.launch(&stream).unwrap();
        drop(graph);
        let error = stream.synchronize().unwrap_err().to_string();
        assert!(error.contains("panicked") && error.contains("second"), "{error}");
        stream.synchronize().unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        assert_eq!(Arc::strong_count(&calls), 1);
    }
}
