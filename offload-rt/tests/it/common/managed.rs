//! Tests of managed memory that every GPU passes.

use offload_rt::{Advice, Device, Managed, MemoryLocation};

use super::graphs::Ready;

/// `None` of a driver without managed memory, which says so.
fn managed(ready: &Ready, len: usize) -> Option<Managed<f32>> {
    match ready.stream.device().managed::<f32>(len) {
        Ok(managed) => Some(managed),
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("no managed memory") && error.contains("hint: "), "{error}");
            None
        }
    }
}

pub fn the_program_sees_what_kernels_wrote(ready: &Ready) {
    let stream = &ready.stream;
    let beside = &stream.device().stream().unwrap();
    let Some(mut values) = managed(ready, 1000) else { return };
    assert!(values.access(|values| values.iter().all(|value| *value == 0.0)).unwrap());
    let ones = stream.upload(&[1.0f32; 1000]).unwrap();
    stream.synchronize().unwrap();
    for round in 1..=3 {
        values.access(|values| values[0] += 100.0).unwrap();
        stream.prefetch(&values).unwrap();
        ready.add(stream, 2.0, &ones, &mut values).unwrap();
        beside.wait_for(&stream.record().unwrap()).unwrap();
        ready.add(beside, 3.0, &ones, &mut values).unwrap();
        beside.prefetch_to_program(&values).unwrap();
        // Nothing else waits for the kernels.
        let [first, last] = values.access(|values| [values[0], values[999]]).unwrap();
        assert_eq!([first, last], [105.0 * round as f32, 5.0 * round as f32]);
    }
    stream.fill(values.slice_mut(..2).unwrap(), 7.0).unwrap();
    assert_eq!(stream.download(values.slice(..3).unwrap()).unwrap(), [7.0, 7.0, 15.0]);
    assert!(stream.capture(|stream| stream.prefetch(&values)).is_err());
}

pub fn a_graph_keeps_managed_memory_from_the_program(ready: &Ready) {
    let stream = &ready.stream;
    let Some(mut values) = managed(ready, 500) else { return };
    let ones = stream.upload(&[1.0f32; 500]).unwrap();
    let graph = stream.capture(|stream| ready.add(stream, 2.0, &ones, &mut values)).unwrap();
    let error = values.access(|_| ()).unwrap_err().to_string();
    assert!(error.contains("a graph") && error.contains("hint: "), "{error}");
    graph.launch(stream).unwrap();
    graph.launch(stream).unwrap();
    assert_eq!(stream.download(&values).unwrap(), [4.0; 500]);
    graph.launch(stream).unwrap();
    drop(graph);
    assert_eq!(values.access(|values| values[499]).unwrap(), 6.0);
    ready.add(stream, 1.0, &ones, &mut values).unwrap();
    drop(values);
    stream.synchronize().unwrap();
}

/// A launch, a copy and a graph of the second device use memory of the first one.
pub fn other_devices_use_it(devices: &[Ready]) {
    let [first, second] = [&devices[0], &devices[1]];
    let Some(mut values) = managed(first, 1000) else { return };
    let [of_first, of_second] = [first, second].map(|ready| ready.stream.upload(&[1.0f32; 1000]).unwrap());
    for round in 1..=3u8 {
        values.access(|values| values[0] += 100.0).unwrap();
        first.add(&first.stream, 2.0, &of_first, &mut values).unwrap();
        second.stream.wait_for(&first.stream.record().unwrap()).unwrap();
        second.stream.prefetch(&values).unwrap();
        second.add(&second.stream, 3.0, &of_second, &mut values).unwrap();
        // Nothing else waits for the kernel of the second device.
        let ends = values.access(|values| [values[0], values[999]]).unwrap();
        assert_eq!(ends, [105.0 * f32::from(round), 5.0 * f32::from(round)]);
    }
    let graph = second.stream.capture(|stream| {
        stream.fill(&mut *values, 1.0)?;
        second.add(stream, 4.0, &of_second, &mut values)
    });
    let graph = graph.unwrap();
    assert!(graph.launch(&first.stream).unwrap_err().to_string().contains("the graph is of"));
    graph.launch(&second.stream).unwrap();
    drop(graph);
    assert_eq!(values.access(|values| values[999]).unwrap(), 5.0);
    assert_eq!(second.stream.download(&values).unwrap(), [5.0; 1000]);
    second.add(&second.stream, 1.0, &of_second, &mut values).unwrap();
    // It is released after the work of both devices.
    drop(values);
    second.stream.synchronize().unwrap();
    // Of another driver.
    let host = Device::host().stream().unwrap();
    let values = managed(first, 4).unwrap();
    assert!(host.download(&values).unwrap_err().to_string().contains("another device"));
}

pub fn advice_reaches_the_driver(devices: &[Ready]) {
    let [own, other] = [&devices[0], &devices[1]].map(|ready| ready.stream.device());
    let Some(mut values) = managed(&devices[0], 1000) else {
        assert_ne!(own.properties().unwrap().takes_memory_advice, Some(true));
        return;
    };
    assert_eq!(own.properties().unwrap().takes_memory_advice, Some(true));
    values.access(|values| values.fill(3.0)).unwrap();
    let program = MemoryLocation::Program;
    for advice in [
        Advice::ReadMostly,
        Advice::PreferredLocation(MemoryLocation::Device(own)),
        Advice::PreferredLocation(program),
        Advice::AccessedBy(MemoryLocation::Device(other)),
        Advice::AccessedBy(program),
    ] {
        values.advise(advice).unwrap();
        values.withdraw_advice(advice).unwrap();
    }
    let host = Device::host();
    let error = values.advise(Advice::AccessedBy(MemoryLocation::Device(&host))).unwrap_err().to_string();
    assert!(error.contains("another back end"), "{error}");
    let ordinary = host.managed::<f32>(4).unwrap();
    let error = ordinary.advise(Advice::AccessedBy(MemoryLocation::Device(own))).unwrap_err().to_string();
    assert!(error.contains("another back end"), "{error}");
    assert_eq!(values.access(|values| values[999]).unwrap(), 3.0);
}

pub fn advice_changes_no_value(ready: &Ready) {
    let device = ready.stream.device();
    let Some(mut values) = managed(ready, 1000) else { return };
    values.access(|values| values.fill(3.0)).unwrap();
    values.advise(Advice::PreferredLocation(MemoryLocation::Device(device))).unwrap();
    values.advise(Advice::AccessedBy(MemoryLocation::Program)).unwrap();
    values.advise(Advice::ReadMostly).unwrap();
    let ones = ready.stream.upload(&[1.0f32; 1000]).unwrap();
    ready.add(&ready.stream, 2.0, &ones, &mut values).unwrap();
    assert!(values.access(|values| values.iter().all(|value| *value == 5.0)).unwrap());
    values.withdraw_advice(Advice::ReadMostly).unwrap();
}
