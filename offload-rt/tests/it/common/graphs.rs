//! Tests of graphs that every GPU passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use offload_rt::{Buffer, Error, Graph, Kernel, KernelArg, NdRange, Stream};

/// A stream, and a kernel that adds `a` times `x` to `y`, of which it takes `n` values.
pub struct Ready {
    pub stream: Stream,
    pub saxpy: Kernel,
}

impl Ready {
    /// Adds `a` times `x` to `y`.
    pub fn add(&self, stream: &Stream, a: f32, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<(), Error> {
        let n = x.len() as u32;
        let args =
            [KernelArg::value(&a), KernelArg::buffer(x), KernelArg::buffer_mut(y), KernelArg::value(&n)];
        // SAFETY: the kernel compares its number with `n`; the tests order their streams.
        unsafe { self.saxpy.launch(stream, NdRange::linear_at_least(n as usize, 256), &args) }
    }

    /// Three launches with a fill and a write before them; `x` is dropped after the capture.
    fn graph(&self, y: &mut Buffer<f32>) -> Graph {
        let x = self.stream.upload(&vec![1.0f32; y.len()]).unwrap();
        let captured = self.stream.capture(|stream| {
            stream.fill(&mut *y, 10.0)?;
            stream.write(y.slice_mut(..2)?, &[20.0, 30.0])?;
            for a in [1.0, 2.0, 4.0] {
                self.add(stream, a, &x, y)?;
            }
            Ok(())
        });
        captured.unwrap()
    }
}

pub fn a_graph_does_its_work_at_each_launch_and_keeps_what_it_uses(ready: &Ready) {
    let mut y = ready.stream.zeroed::<f32>(1000).unwrap();
    let graph = ready.graph(&mut y);
    assert_eq!((graph.len(), graph.launches().collect::<Vec<_>>()), (5, vec!["saxpy"; 3]));
    assert_eq!(ready.stream.download(&y).unwrap(), [0.0; 1000]);
    for _ in 0..3 {
        graph.launch(&ready.stream).unwrap();
        let found = ready.stream.download(&y).unwrap();
        assert_eq!(found[..3], [27.0, 37.0, 17.0]);
        assert!(found[2..].iter().all(|value| *value == 17.0));
    }
    drop(graph);
    assert_eq!(ready.stream.download(&y).unwrap()[999], 17.0);
}

pub fn arguments_of_a_launch_are_replaced(ready: &Ready) {
    let stream = &ready.stream;
    let mut y = stream.zeroed::<f32>(1000).unwrap();
    let mut graph = ready.graph(&mut y);
    let other = stream.upload(&[100.0f32; 1000]).unwrap();
    let n = 1000u32;
    for a in [1.0f32, 3.0] {
        let args = [
            KernelArg::value(&a),
            KernelArg::buffer(&other),
            KernelArg::buffer_mut(&mut y),
            KernelArg::value(&n),
        ];
        // SAFETY: as before.
        unsafe { graph.update(1, &args) }.unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(stream.download(&y).unwrap()[999], 10.0 + 1.0 + 100.0 * a + 4.0);
    }
    let few = [KernelArg::value(&n)];
    // SAFETY: nothing runs.
    let errors = unsafe { [graph.update(1, &few), graph.update(3, &[])] };
    assert!(errors[0].as_ref().unwrap_err().to_string().contains("kernel `saxpy`"), "{errors:?}");
    assert!(errors[1].as_ref().unwrap_err().to_string().contains("no launch 3"), "{errors:?}");
}

pub fn forked_streams_come_back(ready: &Ready) {
    let stream = &ready.stream;
    let ones = stream.upload(&[1.0f32; 500]).unwrap();
    let mut x = stream.zeroed::<f32>(500).unwrap();
    let mut y = stream.zeroed::<f32>(500).unwrap();
    let mut z = stream.zeroed::<f32>(500).unwrap();
    let graph = stream.capture(|stream| {
        stream.fill(&mut x, 1.0)?;
        let beside = stream.fork()?;
        beside.fill(&mut y, 2.0)?;
        ready.add(&beside, 3.0, &ones, &mut y)?;
        ready.add(stream, 5.0, &ones, &mut x)?;
        stream.wait_for(&beside.record()?)?;
        ready.add(stream, 10.0, &x, &mut y)?;
        // What is not waited for is done all the same.
        beside.fill(&mut z, 9.0)
    });
    let graph = graph.unwrap();
    graph.launch(stream).unwrap();
    graph.launch(stream).unwrap();
    assert_eq!(graph.len(), 6);
    assert_eq!(stream.download(&y).unwrap(), [2.0 + 3.0 + 60.0; 500]);
    assert_eq!(stream.download(&z).unwrap(), [9.0; 500]);
}

pub fn a_capture_that_fails_leaves_the_stream_as_it_was(ready: &Ready) {
    let stream = &ready.stream;
    let mut y = stream.zeroed::<f32>(16).unwrap();
    let captured = stream.capture(|stream| {
        stream.fill(&mut y, 1.0)?;
        stream.synchronize()
    });
    let error = captured.unwrap_err().to_string();
    assert!(error.contains("waits") && error.contains("hint: "), "{error}");
    assert_eq!(stream.download(&y).unwrap(), [0.0; 16]);
    // A kernel that refuses its work-group is found when the driver makes the graph, or before.
    let n = 4096u32;
    let mut large = stream.zeroed::<f32>(4096).unwrap();
    let captured = stream.capture(|stream| {
        let x = stream.zeroed::<f32>(4096)?;
        let a = 1.0f32;
        let args = [
            KernelArg::value(&a),
            KernelArg::buffer(&x),
            KernelArg::buffer_mut(&mut large),
            KernelArg::value(&n),
        ];
        // SAFETY: nothing runs.
        unsafe { ready.saxpy.launch(stream, NdRange::new([4096], [4096]), &args) }
    });
    assert!(captured.unwrap_err().to_string().contains("4096"));
    ready.add(stream, 1.0, &stream.upload(&[2.0; 4096]).unwrap(), &mut large).unwrap();
    assert_eq!(stream.download(&large).unwrap(), [2.0; 4096]);
}

pub fn threads_launch_one_graph(ready: &Ready) {
    let stream = &ready.stream;
    let ones = stream.upload(&[1.0f32; 256]).unwrap();
    let mut sum = stream.zeroed::<f32>(256).unwrap();
    let graph = stream.capture(|stream| ready.add(stream, 1.0, &ones, &mut sum)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    graph.launch(stream).unwrap();
                }
            });
        }
    });
    assert_eq!(stream.download(&sum).unwrap(), [100.0; 256]);
}

/// Host functions are called at their place of each launch, and a panic is the error of the stream of the launch.
pub fn host_functions_are_called_at_each_launch(ready: &Ready) {
    let stream = &ready.stream;
    let ones = stream.upload(&[1.0f32; 64]).unwrap();
    let mut sum = stream.zeroed::<f32>(64).unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let graph = stream.capture(|stream| {
        ready.add(stream, 1.0, &ones, &mut sum)?;
        stream.call_each_time(move || assert_ne!(counted.fetch_add(1, Ordering::SeqCst), 2, "third"))?;
        ready.add(stream, 1.0, &ones, &mut sum)
    });
    let graph = graph.unwrap();
    graph.launch(stream).unwrap();
    graph.launch(stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    graph.launch(stream).unwrap();
    let error = stream.synchronize().unwrap_err().to_string();
    assert!(error.contains("third"), "{error}");
    assert_eq!(stream.download(&sum).unwrap(), [6.0; 64]);
    drop(graph);
    assert_eq!(Arc::strong_count(&calls), 1);
}

/// Two graphs with one memory for their temporaries, launched in turn in two streams that nothing else orders.
pub fn graphs_of_a_pool_run_one_after_the_other(ready: &Ready) {
    const LEN: usize = 4096;
    let first = &ready.stream;
    let second = &first.device().stream().unwrap();
    let ones = first.upload(&[1.0f32; LEN]).unwrap();
    let mut sums = [first.zeroed::<f32>(LEN).unwrap(), first.zeroed::<f32>(LEN).unwrap()];
    first.synchronize().unwrap();
    let pool = first.device().graph_pool();
    let mut graphs = Vec::new();
    for (sum, factor) in sums.iter_mut().zip([2.0, 3.0]) {
        let graph = first.capture_with_pool(&pool, |stream| {
            let mut temporary = stream.zeroed::<f32>(LEN)?;
            ready.add(stream, factor, &ones, &mut temporary)?;
            ready.add(stream, 1.0, &temporary, sum)?;
            drop(temporary);
            let mut other = stream.allocate::<f32>(LEN)?;
            stream.fill(&mut other, -1000.0)
        });
        graphs.push(graph.unwrap());
        assert_eq!(pool.unused(), 4 * LEN as u64);
    }
    for _ in 0..10 {
        graphs[0].launch(first).unwrap();
        graphs[1].launch(second).unwrap();
    }
    assert_eq!(first.download(&sums[0]).unwrap(), [20.0; LEN]);
    assert_eq!(second.download(&sums[1]).unwrap(), [30.0; LEN]);
}

pub fn a_pool_of_another_device_is_refused(ready: &Ready) {
    let pool = ready.stream.device().graph_pool();
    ready.stream.capture_with_pool(&pool, |_| Ok(())).unwrap();
    let host = offload_rt::Device::host().stream().unwrap();
    let error = host.capture_with_pool(&pool, |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("another device") && error.contains("hint: "), "{error}");
}
