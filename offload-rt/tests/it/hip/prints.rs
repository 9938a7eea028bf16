//! `printf` and `assert` of kernels, with the stand-in: it prints with the code that is in images.

use offload_rt::{ArgInfo, ArgKind, Error, KernelArg, KernelInfo, NdRange, Program, Stream};

use super::{GFX1100, code_object, gpu, open};

fn launch(stream: &Stream, program: &Program, name: &str, items: usize, value: i32) -> Result<(), Error> {
    // SAFETY: the kernels use no memory.
    unsafe {
        program.kernel(name)?.launch(stream, NdRange::linear_at_least(items, 1), &[KernelArg::value(&value)])
    }
}

#[test]
#[ignore = "needs the stand-in of HIP's runtime"]
fn a_wait_prints_messages_and_assertions_fail_the_launch() {
    fn kernel(name: &str) -> KernelInfo {
        let mut info = KernelInfo::new(name);
        info.args = Some(vec![ArgInfo::new(ArgKind::Value).named("x", "int".to_string()).with_size(Some(4))]);
        info
    }
    let device = gpu();
    let mut image = code_object(3, GFX1100);
    image[9] = b'P';
    let program = open(&device, "amdgcn:gfx1100", &image, vec![kernel("say"), kernel("doubt")]).unwrap();
    let stream = device.stream().unwrap();
    launch(&stream, &program, "say", 2, 0).unwrap();
    launch(&stream, &program, "say", 1, 0).unwrap();
    println!("before");
    stream.synchronize().unwrap();
    println!("after");
    launch(&stream, &program, "doubt", 4, 3).unwrap();
    let failed = "kernel `doubt`: assertion `id < value` failed in work-item (3, 0, 0): kernels/prints.hip:7, in `checked`";
    assert_eq!(stream.synchronize().unwrap_err().to_string(), failed);
    launch(&stream, &program, "doubt", 4, 4).unwrap();
    stream.synchronize().unwrap();
}
