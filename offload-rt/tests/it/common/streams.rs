//! Tests of streams that every GPU passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use offload_rt::{Stream, StreamPriority};

use super::graphs::Ready;

pub fn streams_of_all_priorities_do_their_work(ready: &Ready) {
    let x = ready.stream.upload(&[1.0f32; 1000]).unwrap();
    let device = ready.stream.device();
    for priority in [StreamPriority::Low, StreamPriority::Normal, StreamPriority::High] {
        let stream = match device.stream_with_priority(priority) {
            Ok(stream) => stream,
            // Runtimes of HIP have switched priorities off, and older ones lack the functions.
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("no priorities") || error.contains("lacks the function"), "{error}");
                continue;
            }
        };
        let mut y = stream.zeroed::<f32>(1000).unwrap();
        for _ in 0..5 {
            ready.add(&stream, 2.0, &x, &mut y).unwrap();
        }
        assert_eq!(stream.download(&y).unwrap(), [10.0; 1000], "{priority:?}");
    }
}

/// Older runtimes of HIP lack the function.
fn has_host_functions(ready: &Ready) -> bool {
    match ready.stream.call(|| {}) {
        Ok(()) => true,
        Err(error) => {
            assert!(error.to_string().contains("lacks the function"), "{error}");
            false
        }
    }
}

/// After a kernel that crashes: whether a host function behind it was called, how many have what it owns, and what a future
/// of the stream becomes, as lines.
pub fn print_what_comes_after_a_crash(stream: &Stream) {
    let called = Arc::new(AtomicU32::new(0));
    let own = called.clone();
    let queued = stream.call(move || {
        own.fetch_add(1, Ordering::SeqCst);
    });
    #[cfg(feature = "futures")]
    match stream.completion() {
        Ok(completion) => println!("awaited: {}", futures::block_on(completion).0.unwrap_err()),
        Err(error) => println!("awaited: {error}"),
    }
    println!("first: {}", stream.synchronize().unwrap_err());
    let queued = if queued.is_ok() { "queued" } else { "refused" };
    println!("{queued}: {} {}", called.load(Ordering::SeqCst), Arc::strong_count(&called));
}

/// Counts from 0 to 2, once the work before it is done.
pub fn a_host_function_is_between_the_work_before_and_after_it(ready: &Ready) {
    if !has_host_functions(ready) {
        return;
    }
    let stream = &ready.stream;
    let len = 1 << 20;
    let ones = stream.upload(&vec![1.0f32; len]).unwrap();
    let mut sum = stream.zeroed::<f32>(len).unwrap();
    stream.synchronize().unwrap();
    let step = Arc::new(AtomicU32::new(0));
    for _ in 0..50 {
        ready.add(stream, 1.0, &ones, &mut sum).unwrap();
    }
    let before = stream.record().unwrap();
    for _ in 0..2 {
        let step = step.clone();
        let next = move || {
            let reached = step.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            step.store(reached + 1, Ordering::SeqCst);
        };
        stream.call(next).unwrap();
    }
    ready.add(stream, 1.0, &ones, &mut sum).unwrap();
    let after = stream.record().unwrap();
    let reached = step.load(Ordering::SeqCst);
    assert!(reached == 0 || before.is_done().unwrap(), "{reached}");
    after.wait().unwrap();
    // What it owned is dropped by then.
    assert_eq!((step.load(Ordering::SeqCst), Arc::strong_count(&step)), (2, 1));
    assert!(stream.download(&sum).unwrap().iter().all(|value| *value == 51.0));
}

pub fn a_host_function_that_panics_is_an_error_once(ready: &Ready) {
    if !has_host_functions(ready) {
        return;
    }
    let stream = &ready.stream;
    stream.call(|| panic!("as the test asks")).unwrap();
    let error = stream.synchronize().unwrap_err().to_string();
    assert!(error.contains("panicked: as the test asks"), "{error}");
    let mut x = stream.zeroed::<u32>(4).unwrap();
    stream.fill(&mut x, 7).unwrap();
    assert_eq!(stream.download(&x).unwrap(), [7; 4]);
    // Also by a stream that is gone.
    let beside = stream.device().stream().unwrap();
    beside.call(|| panic!("unheard")).unwrap();
    let event = beside.record().unwrap();
    drop(beside);
    assert!(event.wait().unwrap_err().to_string().contains("unheard"));
}

#[cfg(feature = "futures")]
pub mod futures {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Wake};
    use std::thread::Thread;

    use super::*;

    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    /// The value, and how often the future was polled.
    pub fn block_on<T>(future: impl Future<Output = T>) -> (T, u32) {
        let waker = Arc::new(Unpark(thread::current())).into();
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        let mut polls = 1;
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(value) => return (value, polls),
                Poll::Pending => thread::park(),
            }
            polls += 1;
        }
    }

    pub fn a_future_is_woken_when_the_work_is_done(ready: &Ready) {
        if !has_host_functions(ready) {
            return;
        }
        let stream = &ready.stream;
        let len = 1 << 20;
        let ones = stream.upload(&vec![1.0f32; len]).unwrap();
        let mut sum = stream.zeroed::<f32>(len).unwrap();
        for _ in 0..50 {
            ready.add(stream, 1.0, &ones, &mut sum).unwrap();
        }
        let middle = stream.record().unwrap();
        for _ in 0..50 {
            ready.add(stream, 1.0, &ones, &mut sum).unwrap();
        }
        let end = stream.completion().unwrap();
        // One that is dropped unpolled.
        drop(stream.completion().unwrap());
        let early = middle.completion().unwrap();
        let (waited, polls) = block_on(async {
            early.await?;
            assert!(middle.is_done()?);
            end.await
        });
        waited.unwrap();
        // A poll at the start, and at most one for each wake; a thread may unpark once without one.
        assert!(polls <= 5, "{polls}");
        assert!(stream.record().unwrap().wait_timeout(Duration::from_secs(60)).unwrap());
        assert!(stream.download(&sum).unwrap().iter().all(|value| *value == 100.0));
    }

    pub fn a_future_tells_the_failure_before_it(ready: &Ready) {
        if !has_host_functions(ready) {
            return;
        }
        ready.stream.call(|| panic!("as the test asks")).unwrap();
        let completion = ready.stream.completion().unwrap();
        let error = block_on(completion).0.unwrap_err().to_string();
        assert!(error.contains("as the test asks"), "{error}");
    }
}
