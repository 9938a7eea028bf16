//! Kernel tests: `cargo test` runs each on every device of this machine, `cargo offload test` shows which is right where.

use offload_rt::NdRange;
use offload_rt::test::{Ulps, devices_agree, expect_close, for_each_device};

use crate::demo;

/// Not a multiple of the group, so that the last one has work-items without an element.
const N: u32 = 1000;
const GROUP: usize = 256;

fn input() -> Vec<f32> {
    (0..N).map(|i| i as f32 / 7.0).collect()
}

#[test]
fn saxpy_is_right() {
    let expected: Vec<f32> = input().iter().map(|x| 2.5 * x + 1.0).collect();
    for_each_device(|device| {
        let demo = demo::load(device)?;
        let stream = device.stream()?;
        let x = stream.upload(&input())?;
        let mut y = stream.upload(&vec![1.0f32; N as usize])?;
        // SAFETY: the kernel compares with `N`, and both buffers have as many elements.
        unsafe { demo.saxpy(&stream, NdRange::linear_at_least(N as usize, GROUP), 2.5, &x, &mut y, N)? };
        // A device may round once, where others round the product and the sum.
        Ok(expect_close(&stream.download(&y)?, &expected, Ulps(1))?)
    });
}

#[test]
fn sums_are_the_same_everywhere() {
    devices_agree(Ulps(16), |device| {
        let demo = demo::load(device)?;
        let stream = device.stream()?;
        let groups = (N as usize).div_ceil(GROUP);
        let x = stream.upload(&input())?;
        let mut sums = stream.zeroed::<f32>(groups)?;
        // SAFETY: the kernel compares with `N`, and writes one sum for each group.
        unsafe { demo.reduce(&stream, NdRange::linear_at_least(N as usize, GROUP), &x, &mut sums, N)? };
        Ok(stream.download(&sums)?)
    });
}
