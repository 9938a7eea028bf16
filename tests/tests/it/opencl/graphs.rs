//! Graphs on OpenCL devices, and what the book says of each back end.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use offload_rt::{
    ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind, Image2d, KernelArg, Stream, StreamPriority,
    dlpack,
};

use super::*;
use crate::support;

#[test]
fn a_graph_launches_kernels_with_their_local_memory_and_new_arguments() {
    let _alone = alone();
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let program = device.open(&image).unwrap();
        let [saxpy, reverse] = ["saxpy", "reverse"].map(|name| program.kernel(name).unwrap());
        let stream = device.stream().unwrap();
        let mut y = stream.zeroed::<f32>(256).unwrap();
        let x = stream.upload(&(0..256).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let captured = stream.capture(|stream| {
            stream.fill(&mut y, 1.0)?;
            let a = 2.0f32;
            let args = [KernelArg::value(&a), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: the buffers have an element for each work-item.
            unsafe { saxpy.launch(stream, NdRange::linear_at_least(256, 64), &args)? };
            let args = [KernelArg::buffer_mut(&mut y), KernelArg::local::<i32>(64)];
            // SAFETY: as above, and each group has local memory for its work-items.
            unsafe { reverse.launch(stream, NdRange::linear_at_least(256, 64), &args) }
        });
        let mut graph = captured.unwrap();
        assert_eq!(graph.launches().collect::<Vec<_>>(), ["saxpy", "reverse"]);
        for a in [2.0f32, 5.0] {
            let args = [KernelArg::value(&a), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
            // SAFETY: as above.
            unsafe { graph.update(0, &args) }.unwrap();
            graph.launch(&stream).unwrap();
            let found = stream.download(&y).unwrap();
            assert!(
                found.iter().enumerate().all(|(i, y)| *y == 1.0 + a * (i / 64 * 64 + 63 - i % 64) as f32)
            );
        }
        stream.synchronize_timeout(Duration::from_secs(60)).unwrap();
    }
}

/// Kernels and the program use one memory in turns, and a graph keeps it from the program.
#[test]
fn managed_memory_is_that_of_kernels_and_the_program() {
    let _alone = alone();
    let mut tested = 0;
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let mut y = match device.managed::<f32>(256) {
            Ok(managed) => managed,
            Err(error) => {
                assert!(error.to_string().contains("no managed memory"), "{error}");
                continue;
            }
        };
        tested += 1;
        let saxpy = device.open(&image).unwrap().kernel("saxpy").unwrap();
        let [stream, beside] = [device.stream().unwrap(), device.stream().unwrap()];
        let x = stream.upload(&[1.0f32; 256]).unwrap();
        stream.synchronize().unwrap();
        let a = 2.0f32;
        for round in 1..=4u8 {
            stream.prefetch(&y).unwrap();
            for stream in [&stream, &beside] {
                let args = [KernelArg::value(&a), KernelArg::buffer(&x), KernelArg::buffer_mut(&mut y)];
                // SAFETY: the buffers have an element for each work-item.
                unsafe { saxpy.launch(stream, NdRange::linear_at_least(256, 64), &args) }.unwrap();
                beside.wait_for(&stream.record().unwrap()).unwrap();
            }
            beside.prefetch_to_program(&y).unwrap();
            let last = y.access(|y| {
                y[0] += 100.0;
                [y[0], y[255]]
            });
            let expected = [104.0 * f32::from(round), 4.0 * f32::from(round)];
            assert_eq!(last.unwrap(), expected, "{device}");
        }
        let graph = stream.capture(|stream| stream.fill(&mut y, 3.0)).unwrap();
        assert!(y.access(|_| ()).unwrap_err().to_string().contains("a graph"));
        graph.launch(&stream).unwrap();
        drop(graph);
        assert_eq!(y.access(|y| y.to_vec()).unwrap(), [3.0; 256], "{device}");
        assert_eq!(stream.download(&y).unwrap(), [3.0; 256], "{device}");
    }
    assert!(tested > 0, "no OpenCL device has shared virtual memory");
}

/// Rows of the table in `docs/streams.md` that a program can ask a device about.
struct Table(Vec<Vec<String>>);

impl Table {
    fn read() -> Table {
        let page = fs::read_to_string(support::root().join("docs/streams.md")).unwrap();
        let (_, table) = page.split_once("## Who does what").unwrap();
        let mut rows = Vec::new();
        for line in table.lines().filter(|line| line.starts_with("| ")) {
            rows.push(line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect());
        }
        Table(rows)
    }

    /// Whether the back end in this column has `what`.
    fn has(&self, what: &str, column: usize) -> bool {
        self.cell(what, column) != "no"
    }

    fn cell(&self, what: &str, column: usize) -> &str {
        let row = self.0.iter().find(|row| row[0] == what).unwrap_or_else(|| panic!("no row {what}"));
        &row[column]
    }
}

/// Compares what the table tells of external memory and semaphores with what the device says of a file that is neither.
fn check_external(table: &Table, column: usize, device: &Device) {
    let file = || OwnedFd::from(fs::File::open(support::root().join("Cargo.toml")).unwrap());
    let memory = ExternalMemory::new(ExternalMemoryKind::OpaqueFd, file(), 16);
    // SAFETY: no driver takes the file.
    let (imported, semaphore) = unsafe {
        let semaphore = device.import_semaphore(ExternalSemaphoreKind::TimelineFd, file());
        (device.import_buffer::<u8>(memory, 16), semaphore)
    };
    let exported = device.stream().unwrap().zeroed::<u32>(4).unwrap().export_dma_buf();
    for (what, refused) in [
        ("buffers of external memory (Vulkan, dma-buf)", imported.map(drop).unwrap_err()),
        ("external semaphores", semaphore.map(drop).unwrap_err()),
        ("buffers as dma-bufs", exported.map(drop).unwrap_err()),
    ] {
        match table.cell(what, column) {
            "no" => assert!(refused.hint().is_some(), "{device}: {refused}"),
            // A driver that has them refuses the file.
            cell => assert!(cell.ends_with("if the driver has them"), "{device}: {what}: {cell}"),
        }
    }
}

fn has_graphs(stream: &Stream) -> bool {
    let mut x = stream.zeroed::<u32>(4).unwrap();
    let graph = stream.capture(|stream| stream.fill(&mut x, 7)).unwrap();
    graph.launch(stream).is_ok() && stream.download(&x).unwrap() == [7; 4]
}

#[test]
fn the_book_tells_what_each_back_end_has() {
    let _alone = alone();
    let table = Table::read();
    let mut devices = vec![(1, Device::host())];
    for (device, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        devices.push((2, device));
    }
    assert!(devices.len() > 1, "no OpenCL device takes OpenCL C");
    for (device, image) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        let reverse = device.open(&image).unwrap().kernel("reverse").unwrap();
        let stream = device.stream().unwrap();
        let mut x = stream.zeroed::<i32>(64).unwrap();
        let range = NdRange::linear_at_least(64, 64);
        for (what, range) in [
            ("cooperative launches", range.cooperative()),
            ("clusters of work-groups, dependent launches", range.with_cluster([1])),
        ] {
            let args = [KernelArg::buffer_mut(&mut x), KernelArg::local::<i32>(64)];
            // SAFETY: there is an element for each work-item.
            let launched = unsafe { reverse.launch(&stream, range, &args) };
            assert_eq!(table.has(what, 2), launched.is_ok(), "{device}");
        }
    }
    let others = devices.clone();
    for (column, device) in devices {
        for (_, other) in others
            .iter()
            .filter(|(of, other)| *of == column && (column == 1 || other.to_string() != device.to_string()))
        {
            let Ok(managed) = device.managed::<f32>(8) else { continue };
            let used = other.stream().unwrap().prefetch(&managed);
            let row = "managed memory used by other devices of the driver";
            assert_eq!(table.has(row, column), used.is_ok(), "{device}, {other}: {used:?}");
        }
        let stream = device.stream().unwrap();
        assert_eq!(table.has("graphs", column), has_graphs(&stream), "{device}");
        let has_priorities = device.stream_with_priority(StreamPriority::High).is_ok();
        match table.cell("priorities of streams", column) {
            "if the driver has them" => {}
            cell => assert_eq!(cell != "no", has_priorities, "{device}"),
        }
        let called = stream.call(|| {});
        assert_eq!(table.has("host functions in a stream", column), called.is_ok(), "{device}: {called:?}");
        let captured = stream.capture(|stream| stream.call_each_time(|| {}));
        let launched = captured.and_then(|graph| graph.launch(&stream));
        assert_eq!(
            table.has("host functions in a graph", column),
            launched.is_ok(),
            "{device}: {launched:?}"
        );
        let pool = device.graph_pool();
        let shared = stream.capture_with_pool(&pool, |stream| stream.zeroed::<u32>(4).map(drop));
        let launched = shared.and_then(|graph| graph.launch(&stream));
        assert_eq!(table.has("memory that graphs share", column), launched.is_ok(), "{device}: {launched:?}");
        match (table.cell("managed memory", column), device.managed::<f32>(8)) {
            ("if the device has shared virtual memory", _) => {}
            (cell, managed) => assert_eq!(cell != "no", managed.is_ok(), "{device}: {managed:?}"),
        }
        let takes_advice = device.properties().unwrap().takes_memory_advice;
        assert_eq!(table.has("advice on managed memory", column), takes_advice == Some(true), "{device}");
        let exportable = device.exportable_buffer::<u32>(4);
        assert_eq!(table.has("memory of other processes", column), exportable.is_ok(), "{device}");
        check_external(&table, column, &device);
        let tensor = dlpack::export(&device, stream.upload(&[1.0f32; 4]).unwrap(), &[2, 2]);
        assert_eq!(table.has("tensors of other libraries (DLPack)", column), tensor.is_ok(), "{device}");
        if let Ok(tensor) = tensor {
            // SAFETY: the tensor is whole, and taken once.
            assert!(unsafe { dlpack::import::<f32>(&device, tensor) }.is_ok());
        }
        let completion = stream.completion();
        assert_eq!(table.has("futures for the end of work", column), completion.is_ok(), "{device}");
        assert_eq!(table.has("memory pools", column), device.memory_pool().is_ok(), "{device}");
        let other = Device::host().stream().unwrap();
        let waited = other.wait_for(&stream.record().unwrap());
        assert_eq!(table.has("waits for events of other devices", column), waited.is_ok(), "{device}");
        let limited = stream.synchronize_timeout(Duration::from_secs(60));
        assert_eq!(table.has("waits with a limit", column), limited.is_ok(), "{device}");
        assert_eq!(table.has("images", column), Image2d::formats(&device).is_ok(), "{device}");
        assert_eq!(table.has("properties, launch sizes", column), device.properties().is_ok(), "{device}");
    }
}
