//! Images and samplers of the OpenCL devices of this machine. `host` is compared with them in `images`.

use offload_rt::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FilterMode, Image1dBuffer, Image2d, Image2dArray,
    Image3d, ImageFormat, KernelArg, Sampler, Stream,
};

use super::*;

const KERNELS: &str = "
kernel void shifted(read_only image2d_t from, sampler_t sampler, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(to, at, read_imageui(from, sampler, at + (int2)(1, 0)));
}
kernel void total(read_only image1d_buffer_t from, int count, global int *to) {
    for (int i = 0; i < count; i++) to[0] += read_imagei(from, i).x;
}
";

const BYTES: ImageFormat = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnsignedInt8);

/// The devices with images, each with the kernels.
fn ready() -> Vec<(Device, Program)> {
    let image = |name: &str| ArgInfo::new(ArgKind::Image).named("i", name).with_base_type(name);
    let mut shifted = KernelInfo::new("shifted");
    shifted.args = Some(vec![image("image2d_t"), ArgInfo::new(ArgKind::Sampler), image("image2d_t")]);
    let mut total = KernelInfo::new("total");
    let count = ArgInfo::new(ArgKind::Value).with_size(4);
    total.args = Some(vec![image("image1d_buffer_t"), count, ArgInfo::new(ArgKind::Global)]);
    let frame = codec::encode(KERNELS.as_bytes(), Codec::Zstd, 3).unwrap();
    let mut builder = PackBuilder::new("test", "1.0.0");
    let image = NewImage { kernels: vec![shifted, total], ..NewImage::new("k", "opencl-c".parse().unwrap()) };
    builder.image(image, frame.info()).unwrap();
    let registry = Registry::from_pack(builder.finish().unwrap().with_frames([&frame]).unwrap());
    let mut ready = Vec::new();
    for (device, image) in for_each_device(&registry) {
        if Image2d::formats(&device).is_ok() {
            let program = device.open(&image).unwrap();
            ready.push((device, program));
        }
    }
    assert!(!ready.is_empty(), "no OpenCL device has images");
    ready
}

/// Elements that tell where they are.
fn elements([width, height]: [usize; 2]) -> Vec<[u8; 4]> {
    let mut all = Vec::new();
    for y in 0..height {
        all.extend((0..width).map(|x| [x as u8, y as u8, 7, 255]));
    }
    all
}

fn launch(program: &Program, stream: &Stream, from: &Image2d, sampler: &Sampler, to: &mut Image2d) {
    let args = [KernelArg::image(from), KernelArg::sampler(sampler), KernelArg::image_mut(to)];
    // SAFETY: both images have an element for each work-item.
    unsafe { program.kernel("shifted").unwrap().launch(stream, NdRange::new([8, 4], [4, 2]), &args) }
        .unwrap();
}

fn sampler(device: &Device, addressing: AddressingMode) -> Sampler {
    Sampler::new(device, addressing, FilterMode::Nearest, Coordinates::Elements).unwrap()
}

#[test]
fn kernels_read_with_a_sampler_and_write() {
    let _alone = alone();
    for (device, program) in ready() {
        let stream = device.stream().unwrap();
        let mut from = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        let mut to = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        stream.write_image(&mut from, &elements([8, 4])).unwrap();
        for (addressing, last) in
            [(AddressingMode::Clamp, [0; 4]), (AddressingMode::ClampToEdge, [7, 2, 7, 255])]
        {
            launch(&program, &stream, &from, &sampler(&device, addressing), &mut to);
            let found: Vec<[u8; 4]> = stream.download_image(&to).unwrap();
            assert_eq!(found[16..24][..7], elements([8, 4])[17..24], "{device}");
            assert_eq!(found[23], last, "{device} {addressing:?}");
        }
    }
}

#[test]
fn regions_are_written_read_copied_and_filled() {
    let _alone = alone();
    for (device, _) in ready() {
        let stream = device.stream().unwrap();
        let mut image = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        stream.fill_image(&mut image, [1u32, 2, 3, 300]).unwrap();
        stream.write_image(image.slice_mut([2, 1], [2, 2]).unwrap(), &elements([2, 2])).unwrap();
        let found: Vec<[u8; 4]> = stream.download_image(image.slice([1, 1], [3, 2]).unwrap()).unwrap();
        let filled = [1, 2, 3, 255];
        assert_eq!(
            found,
            [filled, [0, 0, 7, 255], [1, 0, 7, 255], filled, [0, 1, 7, 255], [1, 1, 7, 255]],
            "{device}"
        );
        // A layer of an array, and slices.
        let mut layers = Image2dArray::new(&device, BYTES, [3, 2, 4]).unwrap();
        stream.fill_image(&mut layers, [0u32; 4]).unwrap();
        let source = image.slice([1, 1], [3, 2]).unwrap();
        stream.copy_image(source, layers.slice_mut([0, 0, 2], [3, 2, 1]).unwrap()).unwrap();
        let all: Vec<[u8; 4]> = stream.download_image(&layers).unwrap();
        assert_eq!((&all[..12], &all[12..18], &all[18..]), (&[[0; 4]; 12][..], &found[..], &[[0; 4]; 6][..]));
        let mut solid = Image3d::new(&device, BYTES, [2, 3, 4]).unwrap();
        stream.write_image(&mut solid, &(0..96).collect::<Vec<u8>>()).unwrap();
        let part: Vec<[u8; 4]> = stream.download_image(solid.slice([1, 1, 1], [1, 2, 2]).unwrap()).unwrap();
        let start = |n: u8| [n, n + 1, n + 2, n + 3];
        assert_eq!(part, [start(36), start(44), start(60), start(68)], "{device}");
        // To a buffer, and back from another part of it.
        let mut values = stream.zeroed::<[u8; 4]>(6).unwrap();
        let whole = values.slice_mut(2..).unwrap();
        stream.copy_from_image(solid.slice([1, 1, 1], [1, 2, 2]).unwrap(), whole).unwrap();
        let downloaded = stream.download(&values).unwrap();
        assert_eq!(downloaded, [[[0; 4]; 2].to_vec(), part].concat(), "{device}");
        let back = solid.slice_mut([0, 0, 3], [2, 1, 1]).unwrap();
        stream.copy_to_image(values.slice(4..).unwrap(), back).unwrap();
        let copied: Vec<[u8; 4]> = stream.download_image(solid.slice([0, 0, 3], [2, 1, 1]).unwrap()).unwrap();
        assert_eq!(copied, [start(60), start(68)], "{device}");
        // Beside the program.
        let mut pinned = device.pinned::<[u8; 4]>(24).unwrap();
        pinned.fill([5; 4]);
        let pinned = stream.write_image_async(&mut solid, pinned).unwrap().wait().unwrap();
        stream.fill_image(solid.slice_mut([0, 0, 0], [1, 1, 1]).unwrap(), [6u32; 4]).unwrap();
        let pinned = stream.read_image_async(&solid, pinned).unwrap().wait().unwrap();
        assert_eq!((pinned[0], &pinned[1..]), ([6; 4], &[[5; 4]; 23][..]), "{device}");
    }
}

#[test]
fn a_buffer_may_be_read_as_an_image() {
    let _alone = alone();
    for (device, program) in ready() {
        let stream = device.stream().unwrap();
        let format = ImageFormat::new(ChannelOrder::R, ChannelType::SignedInt16);
        let buffer = stream.upload(&[1i16, -2, 30, 400]).unwrap();
        let image = Image1dBuffer::from_buffer(&device, format, buffer).unwrap();
        let mut total = stream.zeroed::<i32>(1).unwrap();
        let args = [KernelArg::image(&image), KernelArg::value(&4i32), KernelArg::buffer_mut(&mut total)];
        let kernel = program.kernel("total").unwrap();
        // SAFETY: there is one work-item.
        unsafe { kernel.launch(&stream, NdRange::linear_at_least(1, 1), &args) }.unwrap();
        assert_eq!(stream.download(&total).unwrap(), [429], "{device}");
        let mut own = Image1dBuffer::new(&device, format, [3]).unwrap();
        stream.write_image(&mut own, &[5i16, 6, 7]).unwrap();
        assert_eq!(stream.download_image::<i16>(&own).unwrap(), [5, 6, 7], "{device}");
        // A buffer of another device.
        let buffer = Device::host().stream().unwrap().upload(&[1i16]).unwrap();
        let error = Image1dBuffer::from_buffer(&device, format, buffer).unwrap_err().to_string();
        assert!(error.contains("another device"), "{error}");
    }
}

#[test]
fn a_graph_keeps_its_images() {
    let _alone = alone();
    for (device, program) in ready() {
        let stream = device.stream().unwrap();
        let mut to = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        let other = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        let captured = stream.capture(|stream| {
            let mut from = Image2d::new(&device, BYTES, [8, 4])?;
            stream.fill_image(&mut from, [9u32; 4])?;
            stream.write_image(from.slice_mut([1, 0], [7, 1])?, &elements([7, 1]))?;
            let sampler = sampler(&device, AddressingMode::Clamp);
            launch(&program, stream, &from, &sampler, &mut to);
            stream.copy_image(from.slice([0, 3], [8, 1])?, to.slice_mut([0, 3], [8, 1])?)?;
            let refused = stream.download_image::<u8>(&to).unwrap_err().to_string();
            assert!(refused.contains("reading an image waits"), "{refused}");
            let pinned = device.pinned::<u8>(128)?;
            assert!(stream.read_image_async(&to, pinned).is_err());
            Ok(())
        });
        let mut graph = captured.unwrap();
        graph.launch(&stream).unwrap();
        let found: Vec<[u8; 4]> = stream.download_image(&to).unwrap();
        assert_eq!((&found[..7], found[7]), (&elements([7, 1])[..], [0; 4]), "{device}");
        assert_eq!((&found[8..15], found[15], found[31]), (&[[9; 4]; 7][..], [0; 4], [9; 4]), "{device}");
        // Another image in its place.
        stream.write_image(&mut to, &elements([8, 4])).unwrap();
        let edge = sampler(&device, AddressingMode::ClampToEdge);
        let mut last = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        let args = [KernelArg::image(&to), KernelArg::sampler(&edge), KernelArg::image_mut(&mut last)];
        // SAFETY: as for the first launch.
        unsafe { graph.update(0, &args) }.unwrap();
        graph.launch(&stream).unwrap();
        let found: Vec<[u8; 4]> = stream.download_image(&last).unwrap();
        assert_eq!((found[0], found[7]), ([1, 0, 7, 255], [7, 0, 7, 255]), "{device}");
        // SAFETY: the launch is refused.
        let error = unsafe { graph.update(0, &[KernelArg::image(&other)]) }.unwrap_err().to_string();
        assert!(error.contains("takes 3 arguments, 1 are given"), "{error}");
    }
}

#[test]
fn what_a_device_or_a_kernel_lacks_is_named() {
    let _alone = alone();
    for (device, program) in ready() {
        let stream = device.stream().unwrap();
        let unknown = ImageFormat::new(ChannelOrder::Rgb, ChannelType::Float);
        let error = Image2d::new(&device, unknown, [8, 4]).unwrap_err();
        let hint = error.hint().unwrap_or_default().to_string();
        assert!(error.to_string().contains("`image2d_t` of RGB FLOAT"), "{error}");
        assert!(hint.contains("RGBA UNORM_INT8"), "{hint}");
        let error = Image2d::new(&device, BYTES, [1 << 40, 1]).unwrap_err().to_string();
        assert!(error.contains("largest has ["), "{error}");
        assert!(Image2d::new(&device, BYTES, [0, 4]).is_err());

        let solid = Image3d::new(&device, BYTES, [2, 2, 2]).unwrap();
        let mut to = Image2d::new(&device, BYTES, [8, 4]).unwrap();
        let edge = sampler(&device, AddressingMode::ClampToEdge);
        let kernel = program.kernel("shifted").unwrap();
        let args = [KernelArg::image(&solid), KernelArg::sampler(&edge), KernelArg::image_mut(&mut to)];
        // SAFETY: the launch is refused.
        let error = unsafe { kernel.launch(&stream, NdRange::new([8, 4], [4, 2]), &args) }.unwrap_err();
        let error = error.to_string();
        assert!(error.contains("argument 0 (`image2d_t i`) is an `image2d_t`, an `image3d_t`"), "{error}");
        let of_host = Image2d::new(&Device::host(), BYTES, [8, 4]).unwrap();
        let args = [KernelArg::image(&of_host), KernelArg::sampler(&edge), KernelArg::image_mut(&mut to)];
        // SAFETY: as above.
        let error = unsafe { kernel.launch(&stream, NdRange::new([8, 4], [4, 2]), &args) }.unwrap_err();
        assert!(error.to_string().contains("argument 0 is an image of another device"), "{error}");
        let error = stream.download_image::<u8>(&of_host).unwrap_err().to_string();
        assert!(error.contains("cannot use an image of another device"), "{error}");
        let error = stream.fill_image(&mut to, [0.5f32; 4]).unwrap_err().to_string();
        assert!(error.contains("RGBA UNSIGNED_INT8") && error.contains("hint: use [u32; 4]"), "{error}");
        let error = stream.write_image(&mut to, &[0u8; 3]).unwrap_err().to_string();
        assert!(error.contains("128 bytes of an image are copied to or from 3"), "{error}");
        assert!(to.slice([8, 0], [1, 1]).is_err());
    }
}
