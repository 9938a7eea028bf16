//! Memory pools of devices whose drivers have none: OpenCL's, and the host CPU.

use offload_rt::opencl;

use super::*;

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::host()];
    for (device, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        devices.push(device);
    }
    assert!(devices.len() > 1, "no OpenCL device takes OpenCL C");
    devices
}

#[test]
fn a_pool_counts_keeps_and_trims_buffers() {
    let _alone = alone();
    for (whole, _) in for_each_device(&registry("opencl-c", SOURCE.as_bytes())) {
        // A part has a context, and so a pool, that no other test uses.
        let device = opencl::partition(&whole, 1).unwrap().remove(0);
        let stream = device.stream().unwrap();
        let pool = device.memory_pool().unwrap();
        pool.keep(64 << 20).unwrap();
        let before = pool.statistics().unwrap();
        let buffer = stream.zeroed::<u8>(8 << 20).unwrap();
        let during = pool.statistics().unwrap();
        assert!(
            during.used >= before.used + (8 << 20) && during.reserved >= during.used,
            "{device}: {during:?}"
        );
        drop(buffer);
        let unused = pool.statistics().unwrap();
        assert_eq!(unused.reserved, during.reserved, "{device}");
        assert!(unused.used + (8 << 20) <= during.used, "{device}: {unused:?}");
        // A buffer of nearly this size takes the block.
        let again = stream.allocate::<u8>((8 << 20) - 1000).unwrap();
        assert_eq!(pool.statistics().unwrap().reserved, during.reserved, "{device}");
        drop(again);
        pool.trim(0).unwrap();
        assert!(pool.statistics().unwrap().reserved + (8 << 20) <= during.reserved, "{device}");
        pool.keep(0).unwrap();
        drop(stream.allocate::<u8>(8 << 20).unwrap());
        assert!(pool.statistics().unwrap().reserved + (8 << 20) <= during.reserved, "{device}");
        pool.keep(256 << 20).unwrap();
    }
}

#[test]
fn memory_that_another_stream_still_reads_is_not_taken() {
    let _alone = alone();
    for device in devices() {
        let first = device.stream().unwrap();
        let second = device.stream().unwrap();
        let mut copy = second.zeroed::<u32>(4096).unwrap();
        let ones = first.upload(&[1u32; 4096]).unwrap();
        let mut large = second.allocate::<u8>(64 << 20).unwrap();
        for value in 0..8 {
            second.fill(&mut large, value).unwrap();
        }
        second.copy(&ones, &mut copy).unwrap();
        drop(ones);
        let mut next = first.allocate::<u32>(4096).unwrap();
        first.fill(&mut next, 2).unwrap();
        first.synchronize().unwrap();
        assert!(second.download(&copy).unwrap() == [1; 4096], "{device}");
    }
}

#[test]
fn a_buffer_outlives_its_stream() {
    let _alone = alone();
    for device in devices() {
        let stream = device.stream().unwrap();
        let buffer = stream.upload(&[7u32; 4096]).unwrap();
        drop(stream);
        let other = device.stream().unwrap();
        assert!(other.download(&buffer).unwrap() == [7; 4096], "{device}");
        drop(buffer);
        assert!(device.memory_pool().unwrap().statistics().is_ok());
    }
}
