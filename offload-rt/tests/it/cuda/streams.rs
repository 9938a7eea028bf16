//! Streams, buffers, events and kernels of a CUDA device.

use offload_rt::{Buffer, Kernel, KernelArg, Stream};

use super::*;
use crate::common::streams;

/// A stream and a kernel.
struct Ready {
    device: Device,
    stream: Stream,
    saxpy: Kernel,
}

fn ready() -> Ready {
    let device = gpu();
    let saxpy = opened(&device).kernel("saxpy").unwrap();
    Ready { stream: device.stream().unwrap(), device, saxpy }
}

impl Ready {
    fn add(&self, stream: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>) {
        let n = x.len() as u32;
        let args =
            [KernelArg::value(&1.0f32), KernelArg::buffer(x), KernelArg::buffer_mut(y), KernelArg::value(&n)];
        // SAFETY: the kernel compares its number with `n`; the tests order their streams.
        unsafe { self.saxpy.launch(stream, NdRange::linear_at_least(n as usize, 256), &args) }.unwrap();
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn data_stays_on_the_device_between_kernels() {
    let ready = ready();
    let stream = &ready.stream;
    for n in [0, 1, 1000, 1 << 20] {
        let x = stream.upload(&(0..n).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let mut y = stream.zeroed::<f32>(n).unwrap();
        for _ in 0..10 {
            ready.add(stream, &x, &mut y);
        }
        let y = stream.download(&y).unwrap();
        assert!(y.iter().enumerate().all(|(i, y)| *y == 10.0 * i as f32), "{n}");
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_launch_of_nothing_is_in_order_with_others() {
    let ready = ready();
    let stream = &ready.stream;
    let x = stream.upload(&[1.0f32; 256]).unwrap();
    let mut y = stream.zeroed::<f32>(256).unwrap();
    let before = stream.record().unwrap();
    for global in [[0, 8, 8], [8, 0, 8], [8, 8, 0]] {
        let range = NdRange::new(global, [8, 1, 1]);
        ready.add(stream, &x, &mut y);
        let a = 1.0f32;
        let n = 0u32;
        let args = [
            KernelArg::value(&a),
            KernelArg::buffer(x.slice(256..).unwrap()),
            KernelArg::buffer_mut(y.slice_mut(0..0).unwrap()),
            KernelArg::value(&n),
        ];
        // SAFETY: nothing runs.
        unsafe { ready.saxpy.launch(stream, range, &args) }.unwrap();
    }
    let after = stream.record().unwrap();
    assert_eq!(stream.download(&y).unwrap(), [3.0; 256]);
    assert!(before.is_done().unwrap() && after.is_done().unwrap());
    after.since(&before).unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn buffers_are_copied_filled_and_cut() {
    let Ready { stream, saxpy, .. } = ready();
    let mut bytes = stream.allocate::<u8>(100).unwrap();
    stream.fill(&mut bytes, 7).unwrap();
    stream.write(bytes.slice_mut(10..13).unwrap(), &[1, 2, 3]).unwrap();
    assert_eq!(stream.download(bytes.slice(9..14).unwrap()).unwrap(), [7, 1, 2, 3, 7]);
    let mut halves = stream.zeroed::<u16>(9).unwrap();
    stream.fill(halves.slice_mut(1..).unwrap(), 0x0102).unwrap();
    assert_eq!(stream.download(&halves).unwrap()[..3], [0, 0x0102, 0x0102]);
    let mut words = stream.zeroed::<f64>(100).unwrap();
    stream.fill(words.slice_mut(1..).unwrap(), 0.1).unwrap();
    let back = stream.download(&words).unwrap();
    assert!(back[0] == 0.0 && back[1..].iter().all(|word| *word == 0.1));

    // A part may start at any value.
    let mut y = stream.zeroed::<f32>(10).unwrap();
    let x = stream.upload(&[1.0f32; 4]).unwrap();
    let part = KernelArg::buffer_mut(y.slice_mut(3..7).unwrap());
    let args = [KernelArg::value(&2.0f32), KernelArg::buffer(&x), part, KernelArg::value(&4u32)];
    // SAFETY: four values are read and written.
    unsafe { saxpy.launch(&stream, NdRange::linear_at_least(4, 4), &args) }.unwrap();
    assert_eq!(stream.download(&y).unwrap(), [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0]);
    let empty = stream.upload::<f32>(&[]).unwrap();
    assert!(stream.download(&empty).unwrap().is_empty());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn events_order_streams_and_tell_times() {
    let ready = ready();
    let first = &ready.stream;
    let second = &ready.device.stream().unwrap();
    let x = first.upload(&vec![1.0f32; 1 << 22]).unwrap();
    let mut y = first.zeroed::<f32>(x.len()).unwrap();
    let start = first.record().unwrap();
    let mut turn = [first, second];
    for _ in 0..20 {
        let [now, next] = turn;
        ready.add(now, &x, &mut y);
        next.wait_for(&now.record().unwrap()).unwrap();
        turn = [next, now];
    }
    let end = first.record().unwrap();
    assert!(end.since(&start).unwrap() > Duration::ZERO && end.is_done().unwrap());
    assert!(first.download(&y).unwrap().iter().all(|y| *y == 20.0));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn buffers_and_kernels_may_go_while_they_are_in_use() {
    let ready = ready();
    let mut kept = ready.stream.zeroed::<f32>(16).unwrap();
    for _ in 0..20 {
        let x = ready.stream.upload(&vec![1.0f32; 1 << 22]).unwrap();
        let mut y = ready.stream.zeroed::<f32>(x.len()).unwrap();
        ready.add(&ready.stream, &x, &mut y);
        ready.stream.copy(y.slice(..16).unwrap(), &mut kept).unwrap();
    }
    let Ready { device, stream, saxpy } = ready;
    drop((saxpy, device));
    let event = stream.record().unwrap();
    assert_eq!(stream.download(&kept).unwrap(), [1.0; 16]);
    drop(stream);
    event.wait().unwrap();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn threads_have_streams_of_their_own() {
    let ready = ready();
    let ready = &ready;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let stream = ready.device.stream().unwrap();
                let x = stream.upload(&vec![thread as f32; 10_000]).unwrap();
                let mut y = stream.zeroed::<f32>(x.len()).unwrap();
                (0..100).for_each(|_| ready.add(&stream, &x, &mut y));
                assert!(stream.download(&y).unwrap().iter().all(|y| *y == 100.0 * thread as f32));
            });
        }
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn what_does_not_belong_together_is_refused() {
    let Ready { stream, saxpy, .. } = ready();
    let host = Device::host().stream().unwrap();
    let of_host = host.zeroed::<f32>(64).unwrap();
    let mut y = stream.zeroed::<f32>(64).unwrap();
    assert!(stream.download(&of_host).is_err());
    let x = KernelArg::buffer(&of_host);
    let n = KernelArg::value(&64u32);
    let args = [KernelArg::value(&1.0f32), x, KernelArg::buffer_mut(&mut y), n];
    // SAFETY: the launch is refused.
    let error = unsafe { saxpy.launch(&stream, one_group(64), &args) }.unwrap_err().to_string();
    assert!(error.contains("kernel `saxpy`: argument 1 is a buffer of another device"), "{error}");
    assert!(stream.allocate::<u8>(1 << 60).is_err() && stream.allocate::<u64>(usize::MAX).is_err());
}

/// Copies from locked memory are waited for: the memory may change when they return.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn locked_memory_is_copied_before_it_changes() {
    let Ready { device, stream, .. } = ready();
    let mut values = device.pinned::<u32>(1 << 20).unwrap();
    assert!(values.is_locked() && values.iter().all(|value| *value == 0));
    values.fill(7);
    let mut buffer = stream.upload(&values).unwrap();
    values.fill(8);
    assert_eq!(stream.download(buffer.slice(1 << 19..).unwrap()).unwrap(), vec![7; 1 << 19]);
    stream.write(&mut buffer, &values).unwrap();
    values.fill(9);
    stream.read(&buffer, &mut values).unwrap();
    assert!(values.iter().all(|value| *value == 8));
}

/// On a machine with one GPU this looks at the host's part alone; the stand-in has two.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn copies_between_devices_are_in_the_order_of_both_streams() {
    let ready = ready();
    let source = &ready.stream;
    let mut others: Vec<Stream> = vec![Device::host().stream().unwrap()];
    let devices = offload_rt::cuda::devices().unwrap();
    others.extend(devices.iter().skip(1).map(|device| device.stream().unwrap()));
    for other in others {
        let x = other.upload(&[2.0f32; 64]).unwrap();
        let mut y = source.zeroed::<f32>(64).unwrap();
        source.copy_from(&other, &x, &mut y).unwrap();
        drop(x);
        let ones = source.upload(&[1.0f32; 64]).unwrap();
        ready.add(source, &ones, &mut y);
        let mut back = other.zeroed::<f32>(65).unwrap();
        other.copy_from(source, &y, back.slice_mut(1..).unwrap()).unwrap();
        source.fill(&mut y, 9.0).unwrap();
        let values = other.download(&back).unwrap();
        assert!(values[0] == 0.0 && values[1..] == [3.0; 64], "{}: {values:?}", other.device());
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn copies_of_pinned_memory_run_beside_the_program() {
    let ready = ready();
    let device = &ready.device;
    let stream = &ready.stream;
    let mut values = device.pinned::<f32>(1 << 22).unwrap();
    values.fill(3.0);
    let mut x = stream.allocate::<f32>(values.len()).unwrap();
    let mut y = stream.zeroed::<f32>(values.len()).unwrap();
    let begun = stream.write_async(&mut x, values).unwrap();
    ready.add(stream, &x, &mut y);
    let values = begun.wait().unwrap();
    let begun = stream.read_async(&y, values).unwrap();
    let other = device.stream().unwrap();
    other.wait_for(begun.event()).unwrap();
    other.synchronize().unwrap();
    assert!(begun.is_done().unwrap());
    let mut values = begun.wait().unwrap();
    assert!(values.iter().all(|value| *value == 3.0));
    values.fill(5.0);
    drop(stream.write_async(&mut x, values).unwrap());
    assert!(stream.download(&x).unwrap().iter().all(|value| *value == 5.0));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn streams_of_all_priorities_do_their_work() {
    streams::streams_of_all_priorities_do_their_work(&graphs::ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_host_function_is_between_the_work_before_and_after_it() {
    streams::a_host_function_is_between_the_work_before_and_after_it(&graphs::ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_host_function_that_panics_is_an_error_once() {
    streams::a_host_function_that_panics_is_an_error_once(&graphs::ready());
}

/// The stand-in refuses what a host function must not do; NVIDIA's driver is not asked.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_host_function_may_not_use_a_device() {
    let Ready { device, stream, .. } = ready();
    if device.name() != "stand-in" {
        return;
    }
    stream
        .call(move || match device.stream() {
            Ok(_) => println!("the driver lets it"),
            Err(error) => println!("refused: {error}"),
        })
        .unwrap();
    stream.synchronize().unwrap();
}

#[test]
#[cfg(feature = "futures")]
#[ignore = "needs an NVIDIA GPU"]
fn a_future_is_woken_when_the_work_is_done() {
    streams::futures::a_future_is_woken_when_the_work_is_done(&graphs::ready());
}

#[test]
#[cfg(feature = "futures")]
#[ignore = "needs an NVIDIA GPU"]
fn a_future_tells_the_failure_before_it() {
    streams::futures::a_future_tells_the_failure_before_it(&graphs::ready());
}
