//! Tests of external memory and semaphores. Those that need a programming interface beside the driver run on stand-ins,
//! for which files are memory and semaphores.

use std::fs::File;
use std::os::unix::fs::FileExt;

use offload_rt::{ExternalMemory, ExternalMemoryKind, ExternalSemaphoreKind};

use super::graphs::Ready;

const LEN: usize = 3000;
/// Of the buffer in the memory, in bytes.
const OFFSET: u64 = 4160;

/// Whether the driver is a stand-in, and one with these functions.
fn takes_files(ready: &Ready) -> bool {
    let device = ready.stream.device();
    if device.name() != "stand-in" {
        return false;
    }
    // SAFETY: an empty file is refused.
    let error = unsafe {
        let memory =
            ExternalMemory::new(ExternalMemoryKind::OpaqueFd, tempfile::tempfile().unwrap().into(), 1);
        device.import_buffer::<u8>(memory, 1).unwrap_err().to_string()
    };
    assert!(error.contains("cannot import the memory: "), "{error}");
    !error.contains("lacks the function")
}

fn values(file: &File) -> Vec<f32> {
    let mut bytes = vec![0u8; 4 * LEN];
    file.read_exact_at(&mut bytes, OFFSET).unwrap();
    bytes.chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

pub fn a_buffer_is_over_memory_of_another_interface(ready: &Ready) {
    if !takes_files(ready) {
        return;
    }
    let stream = &ready.stream;
    let file = tempfile::tempfile().unwrap();
    let size = OFFSET + 4 * LEN as u64;
    file.set_len(size).unwrap();
    for (index, kind) in [ExternalMemoryKind::OpaqueFd, ExternalMemoryKind::DmaBuf].into_iter().enumerate() {
        let memory = || {
            let memory = ExternalMemory::new(kind, file.try_clone().unwrap().into(), size);
            memory.with_offset(OFFSET)
        };
        // SAFETY: the file has this size, and is read when the work is done.
        let mut imported = unsafe { stream.device().import_buffer::<f32>(memory(), LEN) }.unwrap();
        assert_eq!(imported.len(), LEN);
        let ones = stream.upload(&[1.0f32; LEN]).unwrap();
        ready.add(stream, 2.0, &ones, &mut imported).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(values(&file), [2.0 + 3.0 * index as f32; LEN]);
        ready.add(stream, 1.0, &ones, &mut imported).unwrap();
        // It is released when that has run, which nothing waits for.
        drop(imported);
        stream.synchronize().unwrap();
        assert_eq!(values(&file), [3.0 * (index + 1) as f32; LEN]);
        // SAFETY: these are refused.
        let errors = unsafe {
            [
                stream.device().import_buffer::<f32>(memory(), LEN + 1),
                stream.device().import_buffer::<f32>(memory().with_offset(2), LEN),
            ]
        };
        for (error, text) in errors.into_iter().zip(["do not fit into memory", "are not aligned"]) {
            let error = error.unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }
    let dedicated = ExternalMemory::new(ExternalMemoryKind::OpaqueFd, file.try_clone().unwrap().into(), size);
    // SAFETY: as above.
    let dedicated = unsafe { stream.device().import_buffer::<u8>(dedicated.dedicated(), 16) }.unwrap();
    assert_eq!(stream.download(&dedicated).unwrap(), [0; 16]);
    let larger =
        ExternalMemory::new(ExternalMemoryKind::OpaqueFd, file.try_clone().unwrap().into(), size + 1);
    // SAFETY: the driver refuses it.
    let error = unsafe { stream.device().import_buffer::<u8>(larger, 16) }.unwrap_err().to_string();
    assert!(error.contains("cannot import the memory: "), "{error}");
}

/// Drivers import dma-bufs on some platforms alone: what they refuse is an error with their code.
pub fn a_buffer_is_exported_as_a_dma_buf(ready: &Ready) {
    let stream = &ready.stream;
    let device = stream.device();
    let error = stream.upload(&[1.0f32; 4]).unwrap().export_dma_buf().unwrap_err();
    assert!(error.hint().unwrap().contains("exportable_buffer"), "{error}");
    let mut buffer = device.exportable_buffer::<f32>(LEN).unwrap();
    let dma_buf = match buffer.export_dma_buf() {
        Ok(dma_buf) => dma_buf,
        Err(error) => {
            let error = error.to_string();
            println!("not exported: {error}");
            let is_refused = error.contains("NOT_SUPPORTED") || error.contains("lacks the function");
            return assert!(is_refused, "{error}");
        }
    };
    println!("exported");
    let numbers: Vec<f32> = (0..LEN).map(|index| index as f32).collect();
    stream.write(&mut buffer, &numbers).unwrap();
    stream.synchronize().unwrap();
    let memory = ExternalMemory::new(ExternalMemoryKind::DmaBuf, dma_buf, 2 << 20);
    // SAFETY: the dma-buf has whole blocks, and its memory is used in one stream.
    let mut imported = match unsafe { device.import_buffer::<f32>(memory, LEN) } {
        Ok(imported) => imported,
        Err(error) => {
            let error = error.to_string();
            println!("not imported: {error}");
            return assert!(error.contains("cannot import the memory: CUDA_ERROR_"), "{error}");
        }
    };
    println!("imported");
    let ones = stream.upload(&[1.0f32; LEN]).unwrap();
    ready.add(stream, 2.0, &ones, &mut imported).unwrap();
    let expected: Vec<f32> = numbers.iter().map(|value| value + 2.0).collect();
    assert!(stream.download(&buffer).unwrap() == expected);
    drop(buffer);
    assert!(stream.download(&imported).unwrap() == expected);
}

fn semaphore(value: u64) -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&value.to_ne_bytes(), 0).unwrap();
    file
}

fn value_of(file: &File) -> u64 {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, 0).unwrap();
    u64::from_ne_bytes(bytes)
}

pub fn semaphores_order_streams_with_another_interface(devices: &[Ready]) {
    let [ready, other] = [&devices[0], &devices[1]];
    if !takes_files(ready) {
        return;
    }
    let stream = &ready.stream;
    let device = stream.device();
    let [timeline, binary] = [semaphore(7), semaphore(1)];
    // SAFETY: the files are semaphores of the stand-in, and each wait and signal is right.
    let [of_timeline, of_binary] = unsafe {
        let file = timeline.try_clone().unwrap().into();
        let of_timeline = device.import_semaphore(ExternalSemaphoreKind::TimelineFd, file).unwrap();
        let file = binary.try_clone().unwrap().into();
        [of_timeline, device.import_semaphore(ExternalSemaphoreKind::OpaqueFd, file).unwrap()]
    };
    assert_eq!(of_timeline.kind(), ExternalSemaphoreKind::TimelineFd);
    let ones = stream.upload(&[1.0f32; LEN]).unwrap();
    let mut sum = stream.zeroed::<f32>(LEN).unwrap();
    stream.wait_external(&of_timeline, 7).unwrap();
    stream.wait_external(&of_binary, 0).unwrap();
    ready.add(stream, 2.0, &ones, &mut sum).unwrap();
    stream.signal_external(&of_timeline, 9).unwrap();
    stream.signal_external(&of_binary, 0).unwrap();
    for (result, text) in [
        (stream.wait_external(&of_binary, 1), "has no value"),
        (other.stream.signal_external(&of_timeline, 10), "semaphore of another device"),
        (stream.capture(|stream| stream.wait_external(&of_timeline, 9)).map(drop), "a graph cannot use"),
        (stream.capture(|stream| stream.signal_external(&of_timeline, 10)).map(drop), "a graph cannot use"),
    ] {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(text) && error.contains("hint: "), "{error}");
    }
    // They are released after that work.
    drop((of_timeline, of_binary));
    assert_eq!(stream.download(&sum).unwrap(), [2.0; LEN]);
    assert_eq!((value_of(&timeline), value_of(&binary)), (9, 1));
    stream.synchronize().unwrap();
    // SAFETY: an empty file is refused.
    let error = unsafe {
        let empty = tempfile::tempfile().unwrap().into();
        device.import_semaphore(ExternalSemaphoreKind::TimelineFd, empty).unwrap_err().to_string()
    };
    assert!(error.contains("cannot import the semaphore: "), "{error}");
}
