//! Images on GPUs: arrays that are copied and filled, and what GPUs refuse.

use offload_rt::images::{D1, D1Array, D1Buffer, D2, D2Array, D3, ImageDimension};
use offload_rt::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, Device, FilterMode, Image, Image1dArray, Image2d,
    ImageFormat, KernelArg, NdRange, Sampler, Stream, Surface, Texture, TextureSettings,
};

use super::graphs::Ready;

pub const FLOATS: ImageFormat = ImageFormat::new(ChannelOrder::R, ChannelType::Float);

pub fn nearest() -> TextureSettings {
    TextureSettings::new(AddressingMode::ClampToEdge, FilterMode::Nearest, Coordinates::Elements)
}

/// Regions of every type of image, in the order of the stream.
pub fn images_are_copied_and_filled(ready: &Ready) {
    let stream = &ready.stream;
    region::<D1>(stream, [7], [2], [3]);
    region::<D1Array>(stream, [7, 5], [2, 1], [3, 3]);
    region::<D1Buffer>(stream, [7], [2], [3]);
    region::<D2>(stream, [7, 5], [2, 1], [3, 3]);
    region::<D2Array>(stream, [7, 5, 4], [2, 1, 1], [3, 3, 2]);
    region::<D3>(stream, [7, 5, 4], [2, 1, 1], [3, 3, 2]);
    let device = stream.device();
    let mut volume = Image::<D3>::new(device, FLOATS, [4, 3, 2]).unwrap();
    let numbers = stream.upload(&(0..24).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let mut part = stream.zeroed::<f32>(10).unwrap();
    stream.copy_to_image(&numbers, &mut volume).unwrap();
    stream
        .copy_from_image(volume.slice([1, 1, 0], [2, 2, 2]).unwrap(), part.slice_mut(1..9).unwrap())
        .unwrap();
    let expected = [0.0, 5.0, 6.0, 9.0, 10.0, 17.0, 18.0, 21.0, 22.0, 0.0];
    assert_eq!(stream.download(&part).unwrap(), expected);
    // Layers of one are rows of the other.
    let mut rows = Image2d::new(device, FLOATS, [4, 3]).unwrap();
    let mut layers = Image1dArray::new(device, FLOATS, [5, 6]).unwrap();
    let values: Vec<f32> = (0..12).map(|i| i as f32).collect();
    stream.write_image(&mut rows, &values).unwrap();
    stream.fill_image(&mut layers, [-1.0f32; 4]).unwrap();
    stream
        .copy_image(rows.slice([1, 1], [3, 2]).unwrap(), layers.slice_mut([2, 4], [3, 2]).unwrap())
        .unwrap();
    let copied: Vec<f32> = stream.download_image(layers.slice([1, 3], [4, 3]).unwrap()).unwrap();
    assert_eq!(copied, [-1.0, -1.0, -1.0, -1.0, -1.0, 5.0, 6.0, 7.0, -1.0, 9.0, 10.0, 11.0]);
}

/// Writes the whole, a region of it and a fill within that, and reads each.
fn region<D: ImageDimension>(stream: &Stream, extent: D::Extent, origin: D::Extent, size: D::Extent) {
    let device = stream.device();
    let pairs = ImageFormat::new(ChannelOrder::Rg, ChannelType::SignedInt16);
    let mut image = Image::<D>::new(device, pairs, extent).unwrap();
    let count = |sizes: D::Extent| sizes.as_ref().iter().product::<usize>();
    let values: Vec<[i16; 2]> = (0..count(extent)).map(|i| [i as i16, -(i as i16)]).collect();
    stream.write_image(&mut image, &values).unwrap();
    assert_eq!(stream.download_image::<[i16; 2]>(&image).unwrap(), values, "{}", D::TYPE);
    let inner: Vec<[i16; 2]> = (0..count(size)).map(|i| [1000 + i as i16, 7]).collect();
    let mut pinned = device.pinned::<[i16; 2]>(count(size)).unwrap();
    pinned.copy_from_slice(&inner);
    let written = stream.write_image_async(image.slice_mut(origin, size).unwrap(), pinned).unwrap();
    let pinned = written.wait().unwrap();
    let read = stream.read_image_async(image.slice(origin, size).unwrap(), pinned).unwrap();
    assert_eq!(*read.wait().unwrap(), *inner, "{}", D::TYPE);
    let outside = stream.download_image::<[i16; 2]>(&image).unwrap();
    let changed = values.iter().zip(&outside).filter(|(before, after)| before != after).count();
    assert_eq!(changed, count(size), "{}", D::TYPE);
    stream.fill_image(image.slice_mut(origin, size).unwrap(), [5i32, 40_000, 0, 0]).unwrap();
    let filled: Vec<[i16; 2]> = stream.download_image(image.slice(origin, size).unwrap()).unwrap();
    assert_eq!(filled, vec![[5, 32_767]; count(size)], "{}", D::TYPE);
}

/// A graph keeps the elements that it writes, and the images.
pub fn graphs_copy_images(ready: &Ready) {
    let stream = &ready.stream;
    let device = stream.device();
    let mut first = Image2d::new(device, FLOATS, [2, 2]).unwrap();
    let mut second = Image2d::new(device, FLOATS, [2, 2]).unwrap();
    let numbers = stream.upload(&[7.0f32]).unwrap();
    let mut row = stream.zeroed::<f32>(2).unwrap();
    let graph = stream.capture(|stream| {
        stream.write_image(&mut first, &[1.0f32, 2.0, 3.0, 4.0])?;
        stream.copy_to_image(&numbers, first.slice_mut([1, 1], [1, 1])?)?;
        stream.copy_from_image(first.slice([0, 1], [2, 1])?, &mut row)?;
        stream.copy_image(first.slice([0, 1], [2, 1])?, second.slice_mut([0, 0], [2, 1])?)
    });
    drop(first);
    let graph = graph.unwrap();
    for _ in 0..2 {
        stream.fill_image(&mut second, [9.0f32; 4]).unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(stream.download_image::<f32>(&second).unwrap(), [3.0, 7.0, 9.0, 9.0]);
        assert_eq!(stream.download(&row).unwrap(), [3.0, 7.0]);
    }
}

/// A graph fills regions, of elements that no driver fills memory with.
pub fn graphs_fill_images(ready: &Ready) {
    let stream = &ready.stream;
    let device = stream.device();
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::SignedInt32);
    let mut volume = Image::<D3>::new(device, format, [4, 3, 2]).unwrap();
    stream.fill_image(&mut volume, [0i32; 4]).unwrap();
    let graph = stream.capture(|stream| {
        stream.fill_image(volume.slice_mut([1, 1, 0], [2, 2, 2])?, [1, -2, 3, -4])?;
        let beside = stream.fork()?;
        beside.fill_image(volume.slice_mut([0, 0, 1], [1, 1, 1])?, [5, 6, 7, 8])
    });
    let graph = graph.unwrap();
    for _ in 0..2 {
        let before = stream.download_image::<[i32; 4]>(&volume).unwrap();
        assert!(before.iter().all(|element| *element == [0; 4]));
        graph.launch(stream).unwrap();
        let found: Vec<[i32; 4]> = stream.download_image(&volume).unwrap();
        let count = |element| found.iter().filter(|found| **found == element).count();
        assert_eq!([count([1, -2, 3, -4]), count([5, 6, 7, 8]), count([0; 4])], [8, 1, 15]);
        stream.fill_image(&mut volume, [0i32; 4]).unwrap();
    }
}

/// The work that was queued has the image, its texture and its surface, which were dropped. Nothing waits in between.
pub fn a_dropped_image_is_released_after_its_work(ready: &Ready) {
    let stream = &ready.stream;
    let device = stream.device();
    let mut out = stream.zeroed::<f32>(4).unwrap();
    let kept = Image2d::new(device, FLOATS, [2, 2]).unwrap();
    for round in 0..8 {
        let mut image = Image2d::new(device, FLOATS, [2, 2]).unwrap();
        let numbers = stream.upload(&[round as f32; 4]).unwrap();
        stream.copy_to_image(&numbers, &mut image).unwrap();
        let texture = Texture::new(&image, nearest()).unwrap();
        let surface = Surface::new(&mut image).unwrap();
        stream.copy_from_image(&image, &mut out).unwrap();
        drop((image, texture, surface));
    }
    println!("dropped");
    assert_eq!(stream.download(&out).unwrap(), [7.0; 4]);
    stream.synchronize().unwrap();
    println!("waited");
    drop(kept);
}

/// Formats, samplers and images as arguments.
pub fn what_gpus_lack_of_images_is_refused(ready: &Ready) {
    let device = ready.stream.device();
    let bgra = ImageFormat::new(ChannelOrder::Bgra, ChannelType::UnormInt8);
    let formats = Image2d::formats(device).unwrap();
    assert!(formats.contains(&FLOATS) && !formats.contains(&bgra), "{formats:?}");
    let error = Image2d::new(device, bgra, [4, 4]).unwrap_err().to_string();
    assert!(error.contains("BGRA UNORM_INT8") && error.contains(&device.to_string()), "{error}");
    let sampler =
        |device| Sampler::new(device, AddressingMode::Clamp, FilterMode::Nearest, Coordinates::Elements);
    assert!(sampler(device).unwrap_err().to_string().contains("not supported by this back end"));
    let mut own = Image2d::new(device, FLOATS, [4, 4]).unwrap();
    let mut host = Image2d::new(&Device::host(), FLOATS, [4, 4]).unwrap();
    assert!(ready.stream.fill_image(&mut host, [0.0f32; 4]).is_err());
    assert!(ready.stream.copy_image(&host, &mut own).is_err());
    let of_host = Texture::new(&host, nearest()).unwrap();
    let a = KernelArg::value(&1.0f32);
    let n = KernelArg::value(&0u32);
    for argument in [KernelArg::image(&own), KernelArg::texture(&of_host)] {
        let args = [a, argument, argument, n];
        // SAFETY: the launch is refused.
        let refused = unsafe { ready.saxpy.launch(&ready.stream, NdRange::linear_at_least(4, 4), &args) };
        assert!(refused.is_err(), "{argument:?}");
    }
    let mut in_buffer = Image::<D1Buffer>::new(device, FLOATS, [4]).unwrap();
    let error = Surface::new(&mut in_buffer).unwrap_err().to_string();
    assert!(error.contains("hint: pass the buffer"), "{error}");
    Texture::new(&in_buffer, nearest()).unwrap();
    Surface::new(&mut own).unwrap();
}
