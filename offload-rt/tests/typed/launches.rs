//! Every kind of argument reaches its kernel.

include!("kernels.inc");

use offload_rt::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, Device, Error, FilterMode, Image2d, Image2dArray,
    ImageFormat, Local, NdRange, Sampler, Stream,
};

#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq)]
struct Particle {
    place: [f32; 4],
    cell: u32,
    pad: [u32; 3],
}

// SAFETY: it has no padding, and any bytes are one.
unsafe impl bytemuck::Zeroable for Particle {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Particle {}

#[test]
fn every_kind_of_argument_reaches_its_kernel() -> Result<(), Error> {
    let device = Device::host();
    let stream = device.stream()?;
    let kernels = typed::load(&device)?;
    let x = stream.upload(&[1.0f32; 100])?;
    let mut y = stream.upload(&[3.0f32; 100])?;
    // SAFETY: the kernel compares with the number of elements.
    unsafe { kernels.saxpy(&stream, NdRange::linear_at_least(100, 64), 2.0, &x, &mut y, 100)? };
    assert_eq!(stream.download(&y)?, [5.0; 100]);
    let range = NdRange::linear_at_least(64, 64);
    // SAFETY: the slices have 64 elements.
    unsafe { kernels.saxpy(&stream, range, 1.0, x.slice(32..96)?, y.slice_mut(..64)?, 64)? };
    assert_eq!(stream.download(&y)?[63..65], [6.0, 5.0]);

    let mut sums = stream.zeroed::<f32>(1)?;
    // SAFETY: there is one group of 64.
    unsafe { kernels.sums(&stream, range, &x, &x, &mut sums, Local::new(64))? };
    assert_eq!(stream.download(&sums)?, [64.0]);

    let mut vectors = stream.zeroed::<[f32; 4]>(8)?;
    // SAFETY: there are 8 work-items.
    unsafe {
        kernels.vectors(
            &stream,
            NdRange::linear_at_least(8, 8),
            [1.0, 2.0, 3.0, 4.0],
            [0; 4],
            1,
            &mut vectors,
        )?
    };
    assert_eq!(stream.download(&vectors)?, [[1.0, 2.0, 3.0, 4.0]; 8]);

    let bits = stream.upload(&[7u16, 9])?;
    let mut floats = stream.zeroed::<f32>(2)?;
    // SAFETY: there are two work-items.
    unsafe { kernels.halves(&stream, NdRange::linear_at_least(2, 2), &bits, &mut floats)? };
    assert_eq!(stream.download(&floats)?, [7.0, 9.0]);

    let particle = Particle { place: [1.0; 4], cell: 0, pad: [0; 3] };
    let mut particles = stream.upload(&[particle; 2])?;
    // SAFETY: there is one work-item, which changes the second particle.
    unsafe { kernels.r#move(&stream, NdRange::linear_at_least(1, 1), particle, &mut particles, 1)? };
    assert_eq!(stream.download(&particles)?[1].place, [2.0; 4]);

    images_reach_theirs(&kernels, &stream)?;

    // What the image lacks fails when it is asked for, and the untyped form is there.
    assert!(kernels.depths().unwrap_err().to_string().contains("`depths`"));
    assert_eq!(kernels.program().kernel("saxpy")?.info().name, "saxpy");
    assert_eq!(kernels.program().device().to_string(), device.to_string());
    // SAFETY: nothing runs.
    let refused = unsafe { kernels.saxpy(&stream, NdRange::linear_at_least(0, 0), 2.0, &x, &mut y, 100) };
    assert!(refused.unwrap_err().to_string().contains("0 work-items"));
    Ok(())
}

fn images_reach_theirs(kernels: &typed::Kernels, stream: &Stream) -> Result<(), Error> {
    let device = stream.device();
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt8);
    let mut from = Image2d::new(device, format, [3, 2])?;
    let mut to = Image2dArray::new(device, format, [2, 3, 4])?;
    stream.fill_image(&mut to, [9u32; 4])?;
    stream.fill_image(&mut from, [5u32; 4])?;
    stream.write_image(from.slice_mut([2, 1], [1, 1])?, &[1u8, 2, 3, 4])?;
    let sampler = Sampler::new(device, AddressingMode::Clamp, FilterMode::Linear, Coordinates::Normalized)?;
    // SAFETY: there is one work-item.
    unsafe { kernels.blur(stream, NdRange::linear_at_least(1, 1), &from, &sampler, &mut to)? };
    let all: Vec<[u8; 4]> = stream.download_image(&to)?;
    // `CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR`.
    assert_eq!((all[..23].concat(), all[23]), (vec![9; 92], [0x25, 2, 3, 4]));
    Ok(())
}

#[test]
fn kernels_with_declared_bounds_are_safe_and_compare_them() -> Result<(), Error> {
    let device = Device::host();
    let stream = device.stream()?;
    let kernels = typed::load(&device)?;
    let mut x = stream.upload(&[1.0f32; 100])?;
    let range = NdRange::linear_at_least(100, 64);
    kernels.scale(&stream, range, 2.0, &mut x, 100, Local::new(64))?;
    kernels.scale(&stream, range, 2.0, x.slice_mut(32..)?, 68, Local::new(65))?;
    assert_eq!(stream.download(&x)?[30..34], [2.0, 2.0, 4.0, 4.0]);

    let message = |refused: Result<(), Error>| refused.unwrap_err().to_string();
    let small = message(kernels.scale(&stream, range, 2.0, &mut x, 101, Local::new(64)));
    assert!(small.contains("has 100 elements") && small.contains("101"), "{small}");
    let part = message(kernels.scale(&stream, range, 2.0, x.slice_mut(32..)?, 69, Local::new(64)));
    assert!(part.contains("has 68 elements"), "{part}");
    let local = message(kernels.scale(&stream, range, 2.0, &mut x, 100, Local::new(63)));
    assert!(local.contains("has 63 elements") && local.contains("local_size(0)"), "{local}");
    assert_eq!(stream.download(&x)?[0], 2.0, "a refused launch runs nothing");

    // A graph has the launch too.
    let graph = stream.capture(|stream| kernels.scale(stream, range, 3.0, &mut x, 100, Local::new(64)))?;
    graph.launch(&stream)?;
    assert_eq!(stream.download(&x)?[0], 6.0);
    Ok(())
}

#[test]
fn constants_have_their_defaults_and_images_without_them_are_refused() {
    let spec = typed::Spec::default();
    assert_eq!(spec, typed::Spec { FAR: -5, TILE: 16, scale: 1e-7, r#type: false });
    let chosen = offload_rt::Specialization::from(&typed::Spec { TILE: 32, ..spec });
    assert_eq!((chosen.get("TILE"), chosen.get("type")), (Some(32.into()), Some(false.into())));
    let error = typed::request().spec(spec).load(&Device::host()).unwrap_err().to_string();
    assert!(error.contains("it has no specialisation constant `FAR`"), "{error}");
}
