//! Tests of managed memory that every GPU passes.

use offload_rt::Managed;

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
