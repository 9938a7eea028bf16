//! `printf` and `assert` of kernels. The kernels are those of the stand-in, which prints with the code that
//! is in images: `cargo xtask gpu` has such on a GPU.

use offload_rt::{ArgKind, Device, Error, KernelArg, KernelInfo, NdRange, Program, Stream};

use super::{KERNELS, gpu, kernel, open};

/// A program that prints, if this is the stand-in.
fn printing(device: &Device) -> Option<Program> {
    let value = [(ArgKind::Value, "int", Some(4))];
    let kernels = vec![kernel("say", &value), KernelInfo::new("shout"), kernel("doubt", &value)];
    let text = format!("{KERNELS}\n// __offload_output\n");
    (device.name() == "stand-in").then(|| open(device, &text, kernels).unwrap())
}

fn launch(
    stream: &Stream,
    program: &Program,
    name: &str,
    items: usize,
    value: Option<i32>,
) -> Result<(), Error> {
    let args: Vec<KernelArg<'_>> = value.iter().map(KernelArg::value).collect();
    // SAFETY: the kernels use no memory.
    unsafe { program.kernel(name)?.launch(stream, NdRange::linear_at_least(items, 1), &args) }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn messages_come_in_order_and_lost_ones_are_counted() {
    let device = gpu();
    let Some(program) = printing(&device) else { return };
    let stream = device.stream().unwrap();
    println!("before");
    launch(&stream, &program, "say", 3, Some(-7)).unwrap();
    launch(&stream, &program, "say", 1, Some(8)).unwrap();
    println!("between");
    stream.synchronize().unwrap();
    println!("after");
    // The ring is read several times round.
    for _ in 0..5 {
        launch(&stream, &program, "shout", 10_000, None).unwrap();
        stream.record().unwrap().wait().unwrap();
    }
    println!("overflow");
    launch(&stream, &program, "shout", 100_000, None).unwrap();
    stream.synchronize().unwrap();
    println!("end");
    // No wait follows this launch.
    launch(&stream, &program, "say", 1, Some(9)).unwrap();
    drop((stream, program));
    println!("dropped");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_failed_assertion_fails_the_launch_and_nothing_else() {
    let device = gpu();
    let Some(program) = printing(&device) else { return };
    let [stream, other] = [(); 2].map(|()| device.stream().unwrap());
    launch(&stream, &program, "doubt", 4, Some(4)).unwrap();
    stream.synchronize().unwrap();
    launch(&other, &program, "say", 1, Some(1)).unwrap();
    launch(&stream, &program, "doubt", 4, Some(2)).unwrap();
    let event = stream.record().unwrap();
    other.synchronize().unwrap();
    let failed = "kernel `doubt`: assertion `id < value` failed in work-item (2, 0, 0): kernels/prints.cu:7, in `checked` (and 1 more)";
    assert_eq!(event.wait().unwrap_err().to_string(), failed);
    assert_eq!(stream.synchronize().unwrap_err().to_string(), failed);
    stream.synchronize().unwrap();
    launch(&stream, &program, "doubt", 4, Some(4)).unwrap();
    stream.synchronize().unwrap();
    launch(&stream, &program, "doubt", 9, Some(8)).unwrap();
    let error = stream.download(&stream.zeroed::<u32>(1).unwrap()).unwrap_err().to_string();
    assert!(error.contains("work-item (8, 0, 0)") && !error.contains("more"), "{error}");
    // No wait reports this failure.
    launch(&stream, &program, "doubt", 1, Some(0)).unwrap();
}
