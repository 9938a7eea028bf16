//! Streams, buffers, events and kernels of a HIP device.

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
        add(&self.saxpy, stream, x, y);
    }
}

fn add(saxpy: &Kernel, stream: &Stream, x: &Buffer<f32>, y: &mut Buffer<f32>) {
    let n = x.len() as u32;
    let args =
        [KernelArg::value(&1.0f32), KernelArg::buffer(x), KernelArg::buffer_mut(y), KernelArg::value(&n)];
    // SAFETY: the kernel compares its number with `n`; the tests order their streams.
    unsafe { saxpy.launch(stream, NdRange::linear_at_least(n as usize, 256), &args) }.unwrap();
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn data_stays_on_the_device_between_kernels() {
    let ready = ready();
    let stream = &ready.stream;
    for n in [0, 1, 1000, 1 << 16] {
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
#[ignore = "needs the stand-in of HIP's runtime"]
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
#[ignore = "needs the stand-in of HIP's runtime"]
fn buffers_are_copied_filled_and_cut() {
    let Ready { stream, saxpy, .. } = ready();
    let mut bytes = stream.allocate::<u8>(100).unwrap();
    stream.fill(&mut bytes, 7).unwrap();
    stream.write(bytes.slice_mut(10..13).unwrap(), &[1, 2, 3]).unwrap();
    assert_eq!(stream.download(bytes.slice(9..14).unwrap()).unwrap(), [7, 1, 2, 3, 7]);
    let mut halves = stream.zeroed::<u16>(9).unwrap();
    stream.fill(halves.slice_mut(1..).unwrap(), 0x0102).unwrap();
    assert_eq!(stream.download(&halves).unwrap()[..3], [0, 0x0102, 0x0102]);
    let mut words = stream.zeroed::<u32>(9).unwrap();
    stream.fill(words.slice_mut(1..).unwrap(), 0xfedc_ba98).unwrap();
    assert_eq!(stream.download(&words).unwrap()[..2], [0, 0xfedc_ba98]);
    let mut doubles = stream.zeroed::<f64>(100).unwrap();
    stream.fill(doubles.slice_mut(1..).unwrap(), 0.1).unwrap();
    let back = stream.download(&doubles).unwrap();
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

/// What the kernel finds, of whose local arguments the pack tells this size.
fn local_offsets(size: Option<u32>) -> Result<Vec<u32>, Error> {
    let device = gpu();
    let stream = device.stream().unwrap();
    let local = (ArgKind::Local, "uint*", size);
    let out = (ArgKind::Global, "uint*", None);
    let records = vec![kernel("offsets", &[local, out, local])];
    let program = open(&device, "amdgcn:gfx1100", &code_object(3, GFX1100), records).unwrap();
    let mut out = stream.zeroed::<u32>(3).unwrap();
    let args = [KernelArg::local::<u32>(33), KernelArg::buffer_mut(&mut out), KernelArg::local::<u8>(5)];
    // SAFETY: the kernel writes three values.
    unsafe { program.kernel("offsets").unwrap().launch(&stream, one_group(1), &args) }?;
    stream.download(&out)
}

/// Where the pack says that the kernel takes offsets, each of its local arguments has its own part of the memory.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn local_arguments_share_the_dynamic_memory() {
    assert_eq!(local_offsets(Some(8)).unwrap(), [0, 144, 160]);
    let error = local_offsets(None).unwrap_err().to_string();
    assert!(error.contains("2 arguments in local memory") && error.contains("hint:"), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn events_order_streams_and_tell_times() {
    let ready = ready();
    let first = &ready.stream;
    let second = &ready.device.stream().unwrap();
    let x = first.upload(&vec![1.0f32; 1 << 12]).unwrap();
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
    // The stand-in starts work at a query, and each query lets some time pass.
    let mut asked = 0;
    while !end.is_done().unwrap() {
        asked += 1;
    }
    assert!(asked > 0 && end.since(&start).unwrap() > Duration::ZERO);
    assert!(first.download(&y).unwrap().iter().all(|y| *y == 20.0));
}

/// Without an event between them the second stream's kernel does not see what the first one's wrote: were it otherwise, the
/// test above could not fail.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn the_stand_in_has_no_order_between_streams() {
    let ready = ready();
    let first = &ready.stream;
    let second = &ready.device.stream().unwrap();
    let x = first.upload(&[1.0f32; 16]).unwrap();
    let mut y = first.zeroed::<f32>(16).unwrap();
    // The first use in another stream is ordered.
    assert_eq!(second.download(&y).unwrap(), [0.0; 16]);
    ready.add(first, &x, &mut y);
    assert_eq!(second.download(&y).unwrap(), [0.0; 16]);
    assert_eq!(first.download(&y).unwrap(), [1.0; 16]);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn buffers_kernels_and_streams_may_go_while_they_are_in_use() {
    let Ready { device, stream, saxpy } = ready();
    let mut kept = stream.zeroed::<f32>(16).unwrap();
    for _ in 0..20 {
        let x = stream.upload(&vec![1.0f32; 1 << 12]).unwrap();
        let mut y = stream.zeroed::<f32>(x.len()).unwrap();
        add(&saxpy, &stream, &x, &mut y);
        stream.copy(y.slice(..16).unwrap(), &mut kept).unwrap();
    }
    let other = device.stream().unwrap();
    let x = other.upload(&[1.0f32; 16]).unwrap();
    other.wait_for(&stream.record().unwrap()).unwrap();
    add(&saxpy, &other, &x, &mut kept);
    drop((saxpy, device, x));
    let event = other.record().unwrap();
    // Queued work runs, also without a wait.
    drop((other, stream));
    event.wait().unwrap();
    let stream = gpu().stream().unwrap();
    assert_eq!(stream.download(&kept).unwrap(), [2.0; 16]);
}

/// HIP's runtime may lose what a stream has not done when it is destroyed, and the stand-in does.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_stream_may_go_before_its_work_is_done() {
    let Ready { device, stream, saxpy } = ready();
    let x = stream.upload(&[1.0f32; 16]).unwrap();
    let mut y = stream.zeroed::<f32>(16).unwrap();
    add(&saxpy, &stream, &x, &mut y);
    // Nothing else goes, which would wait too.
    drop(stream);
    assert_eq!(device.stream().unwrap().download(&y).unwrap(), [1.0; 16]);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn threads_have_streams_of_their_own() {
    let ready = ready();
    let ready = &ready;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let stream = ready.device.stream().unwrap();
                let x = stream.upload(&vec![thread as f32; 1000]).unwrap();
                let mut y = stream.zeroed::<f32>(x.len()).unwrap();
                (0..100).for_each(|_| ready.add(&stream, &x, &mut y));
                assert!(stream.download(&y).unwrap().iter().all(|y| *y == 100.0 * thread as f32));
            });
        }
    });
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn what_does_not_belong_together_is_refused() {
    let Ready { stream, saxpy, .. } = ready();
    let other = found().unwrap()[1].stream().unwrap();
    for foreign in [Device::host().stream().unwrap(), other] {
        let of_other = foreign.zeroed::<f32>(64).unwrap();
        let mut y = stream.zeroed::<f32>(64).unwrap();
        assert!(stream.download(&of_other).is_err());
        let x = KernelArg::buffer(&of_other);
        let n = KernelArg::value(&64u32);
        let args = [KernelArg::value(&1.0f32), x, KernelArg::buffer_mut(&mut y), n];
        // SAFETY: the launch is refused.
        let error = unsafe { saxpy.launch(&stream, one_group(64), &args) }.unwrap_err().to_string();
        assert!(error.contains("kernel `saxpy`: argument 1 is a buffer of another device"), "{error}");
    }
    assert!(stream.allocate::<u8>(1 << 60).is_err() && stream.allocate::<u64>(usize::MAX).is_err());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn two_devices_are_used_in_turns_from_one_thread() {
    let devices = found().unwrap();
    let images = [("amdgcn:gfx1100", GFX1100), ("amdgcn:gfx90a:sramecc+", GFX90A)];
    let programs: Vec<Program> = devices
        .iter()
        .zip(images)
        .map(|(device, (target, flags))| open(device, target, &code_object(4, flags), Vec::new()).unwrap())
        .collect();
    for round in 0..4 {
        programs.iter().for_each(|program| saxpy(program, round, 100));
    }
    let streams: Vec<Stream> = devices.iter().map(|device| device.stream().unwrap()).collect();
    let buffers: Vec<Buffer<u32>> = streams.iter().map(|stream| stream.upload(&[7; 8]).unwrap()).collect();
    for (stream, buffer) in streams.iter().zip(&buffers).rev() {
        assert_eq!(stream.download(buffer).unwrap(), [7; 8]);
    }
}

/// Copies from locked memory are waited for: the memory may change when they return.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
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

/// What the first stream did before is copied, and what it does later is not.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn copies_between_devices_are_in_the_order_of_both_streams() {
    let Ready { device: _device, stream: source, saxpy } = ready();
    let target = found().unwrap()[1].stream().unwrap();
    for wait_for_source in [false, true] {
        let x = source.upload(&[1.0f32; 64]).unwrap();
        let mut sums = source.zeroed::<f32>(64).unwrap();
        let mut copied = target.zeroed::<f32>(64).unwrap();
        add(&saxpy, &source, &x, &mut sums);
        target.copy_from(&source, sums.slice(..32).unwrap(), copied.slice_mut(32..).unwrap()).unwrap();
        source.fill(&mut sums, 9.0).unwrap();
        if wait_for_source {
            source.synchronize().unwrap();
        }
        let values = target.download(&copied).unwrap();
        assert_eq!((&values[..32], &values[32..]), (&[0.0; 32][..], &[1.0; 32][..]));
        assert_eq!(source.download(&sums).unwrap(), [9.0; 64]);
    }
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn buffers_go_between_the_host_and_the_device() {
    let Ready { stream, saxpy, .. } = ready();
    let host = Device::host().stream().unwrap();
    let x = host.upload(&[3.0f32; 64]).unwrap();
    let mut y = stream.zeroed::<f32>(64).unwrap();
    stream.copy_from(&host, &x, &mut y).unwrap();
    drop(x);
    let ones = stream.upload(&[1.0f32; 64]).unwrap();
    add(&saxpy, &stream, &ones, &mut y);
    let mut back = host.zeroed::<f32>(66).unwrap();
    host.copy_from(&stream, &y, back.slice_mut(1..65).unwrap()).unwrap();
    let values = host.download(&back).unwrap();
    assert!(values[0] == 0.0 && values[1..65] == [4.0; 64] && values[65] == 0.0, "{values:?}");
    let error = stream.copy_from(&host, &y, &mut back).unwrap_err().to_string();
    assert!(error.contains("host CPU") && error.contains("cannot use a buffer of another device"), "{error}");
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn copies_of_pinned_memory_run_beside_the_program() {
    let Ready { device, stream, saxpy } = ready();
    let mut values = device.pinned::<f32>(1 << 16).unwrap();
    values.fill(3.0);
    let mut x = stream.allocate::<f32>(values.len()).unwrap();
    let mut y = stream.zeroed::<f32>(values.len()).unwrap();
    // Nothing waits for the work, unless a test in another thread has the device do all that it has.
    let mut attempts = 0;
    let begun = loop {
        let begun = stream.write_async(&mut x, values).unwrap();
        if !begun.is_done().unwrap() {
            break begun;
        }
        values = begun.wait().unwrap();
        attempts += 1;
        assert!(attempts < 100, "the program waits for each copy");
    };
    add(&saxpy, &stream, &x, &mut y);
    let values = begun.wait().unwrap();
    let begun = stream.read_async(&y, values).unwrap();
    // Another stream waits for it.
    let other = device.stream().unwrap();
    other.wait_for(begun.event()).unwrap();
    other.synchronize().unwrap();
    assert!(begun.is_done().unwrap() && begun.wait().unwrap().iter().all(|value| *value == 3.0));
}

/// What is dropped waits, so that the device copies from memory that is there; the stand-in tells if it is not.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn copies_that_were_begun_may_be_dropped() {
    let Ready { device, stream, .. } = ready();
    let mut values = device.pinned::<u32>(1000).unwrap();
    values.fill(7);
    let mut x = stream.zeroed::<u32>(1000).unwrap();
    drop(stream.write_async(&mut x, values).unwrap());
    drop(stream.read_async(&x, device.pinned::<u32>(1000).unwrap()).unwrap());
    assert_eq!(stream.download(&x).unwrap(), [7; 1000]);
    let error = stream.write_async(&mut x, device.pinned::<u32>(10).unwrap()).unwrap_err().to_string();
    assert!(error.contains("4000 bytes of a buffer are copied to or from 40"), "{error}");
    let empty = device.pinned::<u32>(0).unwrap();
    assert!(stream.read_async(x.slice(..0).unwrap(), empty).unwrap().wait().unwrap().is_empty());
}

/// Each look at an event lets some of the stand-in's time pass.
#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_wait_that_takes_too_long_is_an_error_with_the_kernel() {
    let ready = ready();
    let stream = &ready.stream;
    let x = stream.upload(&[1.0f32; 64]).unwrap();
    let mut y = stream.zeroed::<f32>(64).unwrap();
    for _ in 0..50 {
        ready.add(stream, &x, &mut y);
    }
    assert!(!stream.record().unwrap().wait_timeout(Duration::ZERO).unwrap());
    let error = stream.synchronize_timeout(Duration::ZERO).unwrap_err().to_string();
    assert!(error.contains("`saxpy`") && error.contains("0ns"), "{error}");
    stream.synchronize_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [50.0; 64]);
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn streams_of_all_priorities_do_their_work() {
    streams::streams_of_all_priorities_do_their_work(&graphs::ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_host_function_is_between_the_work_before_and_after_it() {
    streams::a_host_function_is_between_the_work_before_and_after_it(&graphs::ready());
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_host_function_that_panics_is_an_error_once() {
    streams::a_host_function_that_panics_is_an_error_once(&graphs::ready());
}

#[test]
#[cfg(feature = "futures")]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_future_is_woken_when_the_work_is_done() {
    streams::futures::a_future_is_woken_when_the_work_is_done(&graphs::ready());
}

#[test]
#[cfg(feature = "futures")]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_future_tells_the_failure_before_it() {
    streams::futures::a_future_tells_the_failure_before_it(&graphs::ready());
}
