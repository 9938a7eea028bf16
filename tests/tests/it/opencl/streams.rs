//! Streams, buffers, events and kernels of the OpenCL devices of this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use offload_rt::{Kernel, KernelArg, Stream};

use super::*;

/// A device with a stream, and the kernels.
struct Ready {
    device: Device,
    stream: Stream,
    saxpy: Kernel,
    reverse: Kernel,
    add_all: Kernel,
}

/// Of every device that takes OpenCL C; at least one.
fn ready() -> Vec<Ready> {
    let devices = for_each_device(&registry("opencl-c", SOURCE.as_bytes()));
    assert!(!devices.is_empty(), "no OpenCL device takes OpenCL C");
    devices
        .into_iter()
        .map(|(device, image)| {
            let program = device.open(&image).unwrap();
            let [saxpy, reverse, add_all] =
                ["saxpy", "reverse", "add_all"].map(|name| program.kernel(name).unwrap());
            Ready { stream: device.stream().unwrap(), device, saxpy, reverse, add_all }
        })
        .collect()
}

fn range(items: usize) -> NdRange {
    NdRange::linear_at_least(items, 64)
}

#[test]
fn data_stays_on_the_device_between_kernels() {
    let _alone = alone();
    for Ready { stream, saxpy, reverse, .. } in ready() {
        let x = stream.upload(&(0..4096).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let mut y = stream.zeroed::<f32>(4096).unwrap();
        for a in [1.0f32, 2.0, 4.0] {
            let args = [KernelArg::value(&a), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(&stream, range(4096), &args) }.unwrap();
        }
        // A float's bits are in the same order as its value.
        let args = [KernelArg::buffer_mut(&mut y), KernelArg::local::<i32>(64)];
        // SAFETY: as above, and each group has local memory for its work-items.
        unsafe { reverse.launch(&stream, range(4096), &args) }.unwrap();
        let y = stream.download(&y).unwrap();
        assert!(y.iter().enumerate().all(|(i, y)| *y == 7.0 * (i / 64 * 64 + 63 - i % 64) as f32));
    }
}

#[test]
fn a_launch_of_nothing_is_in_order_with_others() {
    let _alone = alone();
    for Ready { stream, saxpy, .. } in ready() {
        let x = stream.upload(&[1.0f32; 64]).unwrap();
        let mut y = stream.zeroed::<f32>(64).unwrap();
        let before = stream.record().unwrap();
        for global in [[0, 8, 8], [8, 0, 8], [8, 8, 0]] {
            let args = [KernelArg::value(&1.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(&stream, range(64), &args) }.unwrap();
            let nothing = NdRange::new(global, [8, 1, 1]);
            let x = x.slice(64..).unwrap();
            let y = y.slice_mut(0..0).unwrap();
            let args = [KernelArg::value(&1.0f32), KernelArg::buffer(x), KernelArg::buffer_mut(y)];
            // SAFETY: nothing runs.
            unsafe { saxpy.launch(&stream, nothing, &args) }.unwrap();
            // What does not fit the kernel does not fit without work-items either.
            // SAFETY: as above.
            assert!(unsafe { saxpy.launch(&stream, nothing, &args[1..]) }.is_err());
        }
        let after = stream.record().unwrap();
        assert_eq!(stream.download(&y).unwrap(), [3.0; 64]);
        assert!(before.is_done().unwrap() && after.is_done().unwrap());
        after.since(&before).unwrap();
    }
}

#[test]
fn an_empty_part_of_a_buffer_is_an_argument() {
    let _alone = alone();
    for Ready { stream, add_all, .. } in ready() {
        let x = stream.upload(&[1.0f32; 4]).unwrap();
        let mut y = stream.upload(&[2.0f32; 64]).unwrap();
        for part in [0..0, 2..2, 4..4, 0..4] {
            let n = part.len() as u32;
            let x = x.slice(part).unwrap();
            let args = [KernelArg::buffer(x), KernelArg::value(&n), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the part has `n` values, and `y` has one for each work-item.
            unsafe { add_all.launch(&stream, range(64), &args) }.unwrap();
        }
        assert_eq!(stream.download(&y).unwrap(), [6.0; 64]);
    }
}

/// Devices that were asked for twice are the same, so that their modules share buffers.
#[test]
fn modules_of_one_device_share_buffers() {
    let _alone = alone();
    let first = ready();
    let second = ready();
    for (first, second) in first.into_iter().zip(second) {
        let mut y = first.stream.upload(&[1.0f32; 64]).unwrap();
        let x = second.stream.upload(&[3.0f32; 64]).unwrap();
        first.stream.synchronize().unwrap();
        let args = [KernelArg::value(&2.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
        // SAFETY: the buffers have an element for each work-item.
        unsafe { second.saxpy.launch(&second.stream, range(64), &args) }.unwrap();
        second.stream.synchronize().unwrap();
        assert_eq!(first.stream.download(&y).unwrap(), [7.0; 64]);
    }
}

#[test]
fn buffers_are_copied_filled_and_cut() {
    let _alone = alone();
    for Ready { stream, saxpy, .. } in ready() {
        let mut bytes = stream.allocate::<u8>(100).unwrap();
        stream.fill(&mut bytes, 7).unwrap();
        stream.write(bytes.slice_mut(10..13).unwrap(), &[1, 2, 3]).unwrap();
        let back = stream.download(bytes.slice(9..14).unwrap()).unwrap();
        assert_eq!(back, [7, 1, 2, 3, 7]);

        // Patterns of 4 and 12 bytes: the driver fills with the first, the second is copied.
        let mut words = stream.zeroed::<u32>(1000).unwrap();
        stream.fill(words.slice_mut(1..999).unwrap(), 0x0102_0304).unwrap();
        let back = stream.download(&words).unwrap();
        assert!((back[0], back[999]) == (0, 0) && back[1..999].iter().all(|word| *word == 0x0102_0304));
        let mut triples = stream.zeroed::<[u32; 3]>(101).unwrap();
        stream.fill(triples.slice_mut(1..).unwrap(), [1, 2, 3]).unwrap();
        let back = stream.download(&triples).unwrap();
        assert!(back[0] == [0; 3] && back[1..].iter().all(|triple| *triple == [1, 2, 3]));

        // A part as an argument: at a multiple of the device's alignment.
        let x = stream.upload(&[1.0f32; 64]).unwrap();
        let mut y = stream.zeroed::<f32>(4096).unwrap();
        let part = KernelArg::buffer_mut(y.slice_mut(1024..1088).unwrap());
        // SAFETY: the buffers have an element for each work-item.
        unsafe {
            saxpy.launch(&stream, range(64), &[KernelArg::value(&5.0f32), KernelArg::buffer(&x), part])
        }
        .unwrap();
        let mut copy = stream.zeroed::<f32>(3).unwrap();
        stream.copy(y.slice(1023..1026).unwrap(), &mut copy).unwrap();
        assert_eq!(stream.download(&copy).unwrap(), [0.0, 5.0, 5.0]);
        assert!(stream.copy(&y, &mut copy).is_err());
        let empty = stream.upload::<f32>(&[]).unwrap();
        assert!(stream.download(&empty).unwrap().is_empty());
    }
}

#[test]
fn events_order_streams_and_tell_times() {
    let _alone = alone();
    for Ready { device, stream, saxpy, .. } in ready() {
        let second = device.stream().unwrap();
        let n = 1 << 20;
        let x = stream.upload(&vec![1.0f32; n]).unwrap();
        let mut y = stream.zeroed::<f32>(n).unwrap();
        let start = stream.record().unwrap();
        let mut turn = [&stream, &second];
        for _ in 0..10 {
            let [now, next] = turn;
            let args = [KernelArg::value(&1.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item, and events order the streams.
            unsafe { saxpy.launch(now, range(n), &args) }.unwrap();
            next.wait_for(&now.record().unwrap()).unwrap();
            turn = [next, now];
        }
        stream.synchronize().unwrap();
        let end = second.record().unwrap();
        assert!(second.download(&y).unwrap().iter().all(|y| *y == 10.0));
        assert!(end.is_done().unwrap() && end.since(&start).unwrap().as_nanos() > 0);
    }
}

/// What is queued keeps what it needs.
#[test]
fn buffers_and_kernels_may_go_while_they_are_in_use() {
    let _alone = alone();
    for Ready { device, stream, saxpy, reverse, .. } in ready() {
        let mut kept = stream.zeroed::<f32>(64).unwrap();
        for _ in 0..50 {
            let x = stream.upload(&vec![1.0f32; 1 << 16]).unwrap();
            let mut y = stream.zeroed::<f32>(1 << 16).unwrap();
            let args = [KernelArg::value(&1.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(&stream, range(1 << 16), &args) }.unwrap();
            stream.copy(y.slice(..64).unwrap(), &mut kept).unwrap();
        }
        drop((saxpy, reverse, device));
        assert_eq!(stream.download(&kept).unwrap(), [1.0; 64]);
    }
}

#[test]
fn a_kernel_is_launched_from_many_threads() {
    let _alone = alone();
    for Ready { device, saxpy, .. } in ready() {
        let device = &device;
        let saxpy = &saxpy;
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    let stream = device.stream().unwrap();
                    let x = stream.upload(&[thread as f32; 256]).unwrap();
                    let mut y = stream.zeroed::<f32>(256).unwrap();
                    for _ in 0..100 {
                        let args =
                            [KernelArg::value(&1.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
                        // SAFETY: the buffers have an element for each work-item.
                        unsafe { saxpy.launch(&stream, range(256), &args) }.unwrap();
                    }
                    assert_eq!(stream.download(&y).unwrap(), [100.0 * thread as f32; 256]);
                });
            }
        });
    }
}

/// The error of a launch that does not fit.
fn refusal(kernel: &Kernel, stream: &Stream, args: &[KernelArg<'_>]) -> String {
    // SAFETY: the launch is refused.
    unsafe { kernel.launch(stream, range(64), args) }.unwrap_err().to_string()
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let _alone = alone();
    let host = Device::host().stream().unwrap();
    for Ready { stream, saxpy, .. } in ready() {
        let mut of_host = host.zeroed::<f32>(64).unwrap();
        let mut y = stream.zeroed::<f32>(64).unwrap();
        let error = stream.download(&of_host).unwrap_err().to_string();
        assert!(error.contains("cannot use a buffer of another device"), "{error}");
        assert!(error.contains("hint: Stream::copy_from copies from a buffer of another device"), "{error}");
        assert!(host.copy(&y, &mut of_host).is_err());
        stream.wait_for(&host.record().unwrap()).unwrap();
        let x = KernelArg::buffer(&of_host);
        let args = [KernelArg::value(&1.0f32), x, KernelArg::buffer_mut(&mut y)];
        let error = refusal(&saxpy, &stream, &args);
        assert!(error.contains("kernel `saxpy`: argument 1 is a buffer of another device"), "{error}");
        let error = refusal(&saxpy, &host, &args);
        assert!(error.contains("the stream is of host CPU"), "{error}");
        let error = refusal(&saxpy, &stream, &args[..2]);
        assert!(error.contains("takes 3 arguments, 2 are given"), "{error}");
        let error = refusal(&saxpy, &stream, &[args[0], KernelArg::local::<f32>(64), args[2]]);
        assert!(error.contains("is of kind"), "{error}");
        // No device's alignment is a single value.
        let own = stream.zeroed::<f32>(65).unwrap();
        let odd = KernelArg::buffer(own.slice(1..).unwrap());
        let error = refusal(&saxpy, &stream, &[args[0], odd, odd]);
        assert!(
            error.contains("starts at byte 4") && error.contains("hint: start parts at multiples"),
            "{error}"
        );
    }
}

/// Between the host and every device, and between each two devices.
#[test]
fn values_go_from_device_to_device() {
    let _alone = alone();
    let devices = ready();
    let host = Device::host().stream().unwrap();
    let streams: Vec<&Stream> = devices.iter().map(|ready| &ready.stream).chain([&host]).collect();
    for (number, source) in streams.iter().enumerate() {
        for target in &streams {
            println!("copied from {} to {}", source.device(), target.device());
            // More than what is copied at a time.
            let len = (20 << 20) / 4 + 1000;
            let mut x = source.zeroed::<u32>(len).unwrap();
            source.fill(x.slice_mut(1000..).unwrap(), 7 + number as u32).unwrap();
            let mut y = target.zeroed::<u32>(len).unwrap();
            target.copy_from(source, x.slice(900..).unwrap(), y.slice_mut(..len - 900).unwrap()).unwrap();
            // Both streams go on after the copy.
            source.fill(&mut x, 1).unwrap();
            target.fill(y.slice_mut(200..201).unwrap(), 2).unwrap();
            let y = target.download(&y).unwrap();
            for (at, value) in y.into_iter().enumerate() {
                let expected = match at {
                    200 => 2,
                    at if at < 100 || at >= len - 900 => 0,
                    _ => 7 + number as u32,
                };
                assert_eq!(value, expected, "{at}: {} to {}", source.device(), target.device());
            }
        }
    }
}

#[test]
fn copies_of_pinned_memory_run_beside_the_program() {
    let _alone = alone();
    for Ready { device, stream, saxpy, .. } in ready() {
        let n = 1 << 20;
        let mut values = device.pinned::<f32>(n).unwrap();
        assert!(values.is_locked() && values.iter().all(|value| *value == 0.0), "{device}");
        values.fill(3.0);
        let mut x = stream.allocate::<f32>(n).unwrap();
        let mut y = stream.zeroed::<f32>(n).unwrap();
        let begun = stream.write_async(&mut x, values).unwrap();
        for _ in 0..10 {
            let args = [KernelArg::value(&1.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(&stream, range(n), &args) }.unwrap();
        }
        let values = begun.wait().unwrap();
        let begun = stream.read_async(&y, values).unwrap();
        // The copy comes after the kernels.
        let other = device.stream().unwrap();
        other.wait_for(begun.event()).unwrap();
        other.synchronize().unwrap();
        assert!(begun.is_done().unwrap());
        let mut values = begun.wait().unwrap();
        assert!(values.iter().all(|value| *value == 30.0), "{device}");
        values.fill(5.0);
        drop(stream.write_async(&mut x, values).unwrap());
        assert!(stream.download(&x).unwrap().iter().all(|value| *value == 5.0), "{device}");
        drop(stream.read_async(&x, device.pinned(n).unwrap()).unwrap());
    }
}

#[test]
fn host_functions_are_between_the_work_before_and_after_them() {
    let _alone = alone();
    for Ready { device, stream, add_all, .. } in ready() {
        let x = stream.upload(&vec![1.0f32; 4096]).unwrap();
        let mut y = stream.zeroed::<f32>(4096).unwrap();
        let n = 4096u32;
        let step = Arc::new(AtomicU32::new(0));
        for round in 1..=20 {
            let args = [KernelArg::buffer(&x), KernelArg::value(&n), KernelArg::buffer_mut(&mut y)];
            // SAFETY: there is an element for each work-item and each step.
            unsafe { add_all.launch(&stream, NdRange::linear_at_least(4096, 64), &args) }.unwrap();
            let counted = step.clone();
            stream
                .call(move || {
                    let reached = counted.load(Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(2));
                    counted.store(reached + 1, Ordering::SeqCst);
                })
                .unwrap();
            // Half of the rounds go on with a queue that tells times.
            if round % 10 == 0 {
                stream.record().unwrap().wait().unwrap();
                assert_eq!(step.load(Ordering::SeqCst), round);
            }
        }
        assert_eq!(stream.download(&y).unwrap(), vec![20.0 * 4096.0; 4096]);
        assert_eq!(Arc::strong_count(&step), 1);
        stream.call(|| panic!("as the test asks")).unwrap();
        let error = stream.synchronize().unwrap_err().to_string();
        assert!(error.contains("as the test asks"), "{error}");
        // A stream that goes at once.
        let counted = step.clone();
        let beside = device.stream().unwrap();
        beside
            .call(move || {
                counted.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap();
        let event = beside.record().unwrap();
        drop(beside);
        event.wait().unwrap();
        assert_eq!(step.load(Ordering::SeqCst), 21);
    }
}

#[test]
fn a_part_of_a_device_may_be_dropped_while_it_works() {
    let _alone = alone();
    for Ready { device, .. } in ready() {
        for _ in 0..20 {
            let Ok(parts) = offload_rt::opencl::partition(&device, 1) else { break };
            let stream = parts[0].stream().unwrap();
            drop(parts);
            stream.zeroed::<u8>(8 << 20).unwrap();
        }
    }
}

#[test]
fn parts_of_a_device_are_devices() {
    let _alone = alone();
    let mut divided = 0;
    for Ready { device, .. } in ready() {
        let units = device.properties().unwrap().compute_units.unwrap();
        let Ok(parts) = offload_rt::opencl::partition(&device, 1) else { continue };
        divided += 1;
        assert_eq!(parts.len(), units as usize, "{device}");
        let mut copies = Vec::new();
        let registry = registry("opencl-c", SOURCE.as_bytes());
        for (number, part) in parts.iter().take(2).enumerate() {
            assert_eq!(part.properties().unwrap().compute_units, Some(1));
            let image = registry.request("k").select(part).unwrap().entry().load().unwrap();
            let program = part.open(&image).unwrap();
            let saxpy = program.kernel("saxpy").unwrap();
            let stream = part.stream().unwrap();
            let x = stream.upload(&[number as f32 + 1.0; 256]).unwrap();
            let mut y = stream.zeroed::<f32>(256).unwrap();
            let args = [KernelArg::value(&2.0f32), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(&stream, range(256), &args) }.unwrap();
            copies.push((stream, y));
        }
        drop(parts);
        if let [(first, from), (second, to)] = copies.as_mut_slice() {
            assert_eq!(second.download(&*to).unwrap(), [4.0; 256]);
            second.copy_from(first, &*from, &mut *to).unwrap();
            assert_eq!(second.download(&*to).unwrap(), [2.0; 256]);
        }
        let error = offload_rt::opencl::partition(&device, units + 1).unwrap_err();
        assert!(error.hint().is_some(), "{error}");
    }
    assert!(divided > 0, "no device is divided");
    assert!(offload_rt::opencl::partition(&Device::host(), 1).is_err());
}
