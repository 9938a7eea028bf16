//! Tests of memory pools that every GPU passes.

use offload_rt::Stream;

use super::graphs::Ready;

fn beside(ready: &Ready) -> Stream {
    ready.stream.device().stream().unwrap()
}

pub fn a_buffer_may_be_used_and_dropped_in_any_stream(ready: &Ready) {
    let first = &ready.stream;
    let second = &beside(ready);
    let mut sum = second.zeroed::<f32>(4096).unwrap();
    for round in 1..=20 {
        // The second stream reads what the first one writes, and the first goes on with the memory.
        let x = first.upload(&vec![round as f32; 4096]).unwrap();
        ready.add(second, 1.0, &x, &mut sum).unwrap();
        drop(x);
        let mut next = first.allocate::<f32>(4096).unwrap();
        first.fill(&mut next, -1000.0).unwrap();
    }
    assert_eq!(second.download(&sum).unwrap(), [210.0; 4096]);
}

pub fn a_graph_may_be_launched_and_dropped_in_any_stream(ready: &Ready) {
    let first = &ready.stream;
    let mut sum = first.zeroed::<f32>(4096).unwrap();
    let ones = first.upload(&[1.0f32; 4096]).unwrap();
    let graph = first.capture(|stream| ready.add(stream, 2.0, &ones, &mut sum)).unwrap();
    drop(ones);
    for _ in 0..5 {
        let stream = beside(ready);
        graph.launch(&stream).unwrap();
        first.wait_for(&stream.record().unwrap()).unwrap();
    }
    drop(graph);
    let mut next = first.allocate::<f32>(4096).unwrap();
    first.fill(&mut next, -1000.0).unwrap();
    assert_eq!(first.download(&sum).unwrap(), [10.0; 4096]);
}

/// A driver without pools has nothing to count.
pub fn a_pool_counts_buffers(ready: &Ready) {
    let Ok(pool) = ready.stream.device().memory_pool() else { return };
    let before = pool.statistics().unwrap();
    let buffer = ready.stream.zeroed::<u8>(64 << 20).unwrap();
    let during = pool.statistics().unwrap();
    assert!(during.used >= before.used + (64 << 20) && during.reserved >= during.used, "{during:?}");
    assert!(during.max_used >= during.used && during.max_reserved >= during.reserved);
    drop(buffer);
    ready.stream.synchronize().unwrap();
    pool.keep(0).unwrap();
    pool.trim(0).unwrap();
    let after = pool.statistics().unwrap();
    assert!(after.used < during.used && after.reserved < during.reserved, "{after:?}");
}
