//! Tests of several devices that all GPUs of one kind pass.

use offload_rt::{Buffer, Device, KernelArg, NdRange};

use super::graphs::Ready;

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|index| (index % 1000) as f32).collect()
}

/// Data goes around all devices, and each adds to it.
pub fn data_goes_around_all_devices(devices: &[Ready]) {
    for len in [1, 1000, 1 << 20] {
        let ones = vec![1.0f32; len];
        let mut at: (usize, Buffer<f32>) = (0, devices[0].stream.upload(&numbers(len)).unwrap());
        let rounds = 3 * devices.len();
        for round in 1..=rounds {
            let next = round % devices.len();
            let ready = &devices[next];
            let mut moved = ready.stream.allocate::<f32>(len).unwrap();
            ready.stream.copy_from(&devices[at.0].stream, &at.1, &mut moved).unwrap();
            let ones = ready.stream.upload(&ones).unwrap();
            ready.add(&ready.stream, 1.0, &ones, &mut moved).unwrap();
            // What is dropped here is released after the copy from it.
            at = (next, moved);
        }
        let found = devices[at.0].stream.download(&at.1).unwrap();
        let expected: Vec<f32> = numbers(len).iter().map(|value| value + rounds as f32).collect();
        assert!(found == expected, "{len}");
    }
}

/// The second device's event is not done before the first one's, which much work is before.
pub fn events_order_work_of_two_devices(devices: &[Ready]) {
    let [first, second] = [&devices[0], &devices[1]];
    let len = 1 << 24;
    let ones = first.stream.upload(&vec![1.0f32; len]).unwrap();
    let mut sum = first.stream.zeroed::<f32>(len).unwrap();
    first.stream.synchronize().unwrap();
    for _ in 0..200 {
        first.add(&first.stream, 1.0, &ones, &mut sum).unwrap();
    }
    let early = first.stream.record().unwrap();
    second.stream.wait_for(&early).unwrap();
    let late = second.stream.record().unwrap();
    late.wait().unwrap();
    assert!(early.is_done().unwrap());
    assert!(first.stream.download(&sum).unwrap().iter().all(|value| *value == 200.0));
}

pub fn what_belongs_to_another_device_is_refused_with_both_names(devices: &[Ready]) {
    let [first, second] = [&devices[0], &devices[1]];
    let x = second.stream.upload(&[1.0f32; 4]).unwrap();
    let mut y = first.stream.zeroed::<f32>(4).unwrap();
    let error = first.add(&first.stream, 1.0, &x, &mut y).unwrap_err().to_string();
    assert!(
        error.contains("another device") && error.contains(&first.stream.device().to_string()),
        "{error}"
    );
    let error =
        first.add(&second.stream, 1.0, &y, &mut second.stream.zeroed(4).unwrap()).unwrap_err().to_string();
    assert!(error.contains(&second.stream.device().to_string()), "{error}");
    let graph = first.stream.capture(|stream| stream.fill(&mut y, 1.0)).unwrap();
    let error = graph.launch(&second.stream).unwrap_err().to_string();
    assert!(error.contains(&second.stream.device().to_string()), "{error}");
    assert!(first.stream.copy(&x, &mut y).is_err());
}

pub fn threads_use_all_devices_at_once(devices: &[Ready]) {
    std::thread::scope(|scope| {
        for thread in 0..8usize {
            let ready = &devices[thread % devices.len()];
            scope.spawn(move || {
                let stream = ready.stream.device().stream().unwrap();
                let ones = stream.upload(&[1.0f32; 5000]).unwrap();
                for _ in 0..20 {
                    let mut sum = stream.zeroed::<f32>(5000).unwrap();
                    for _ in 0..5 {
                        ready.add(&stream, 1.0, &ones, &mut sum).unwrap();
                    }
                    assert_eq!(stream.download(&sum).unwrap(), [5.0; 5000]);
                }
            });
        }
    });
}

/// A device of another kind is waited for by the program.
pub fn the_host_waits_for_events(devices: &[Ready]) {
    let ready = &devices[0];
    let host = Device::host().stream().unwrap();
    let ones = ready.stream.upload(&[1.0f32; 1000]).unwrap();
    let mut sum = ready.stream.zeroed::<f32>(1000).unwrap();
    ready.add(&ready.stream, 1.0, &ones, &mut sum).unwrap();
    let event = ready.stream.record().unwrap();
    host.wait_for(&event).unwrap();
    assert!(event.is_done().unwrap());
    ready.stream.wait_for(&host.record().unwrap()).unwrap();
    let n = 0u32;
    let args = [
        KernelArg::value(&1.0f32),
        KernelArg::buffer(&ones),
        KernelArg::buffer_mut(&mut sum),
        KernelArg::value(&n),
    ];
    // SAFETY: the kernel does nothing.
    unsafe { ready.saxpy.launch(&ready.stream, NdRange::linear_at_least(256, 256), &args) }.unwrap();
}
