//! Images, textures and surfaces.

use offload_rt::{Image2d, KernelArg, Surface, Texture};

use super::graphs::ready;
use super::*;
use crate::common::images::{self, FLOATS, nearest};

const TEXTURES: &str = include_str!("../../cuda/textures.ptx");

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn images_are_copied_and_filled() {
    images::images_are_copied_and_filled(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn graphs_copy_images() {
    images::graphs_copy_images(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn what_gpus_lack_of_images_is_refused() {
    images::what_gpus_lack_of_images_is_refused(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn graphs_fill_images() {
    images::graphs_fill_images(&ready());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_dropped_image_is_released_after_its_work() {
    images::a_dropped_image_is_released_after_its_work(&ready());
}

/// Of what an image and its objects are dropped before the graph is launched, it keeps what it needs.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn kernels_take_textures_and_surfaces() {
    let device = gpu();
    let stream = device.stream().unwrap();
    let texels = open(&device, TEXTURES, Vec::new()).unwrap().kernel("texels").unwrap();
    let mut from = Image2d::new(&device, FLOATS, [6, 1]).unwrap();
    let mut to = Image2d::new(&device, FLOATS, [5, 1]).unwrap();
    let mut out = stream.zeroed::<f32>(8).unwrap();
    stream.write_image(&mut from, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let texture = Texture::new(&from, nearest()).unwrap();
    let mut surface = Surface::new(&mut to).unwrap();
    let expected = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 6.0, 6.0];
    let graph = {
        let args =
            [KernelArg::texture(&texture), KernelArg::surface(&mut surface), KernelArg::buffer_mut(&mut out)];
        // SAFETY: there is a result for each thread.
        unsafe { texels.launch(&stream, NdRange::new([8], [8]), &args) }.unwrap();
        // SAFETY: as above.
        stream.capture(|stream| unsafe { texels.launch(stream, NdRange::new([8], [8]), &args) }).unwrap()
    };
    assert_eq!(stream.download(&out).unwrap(), expected);
    assert_eq!(stream.download_image::<f32>(&to).unwrap(), expected[..5]);
    drop(texture);
    drop(surface);
    drop(from);
    stream.fill(&mut out, 0.0).unwrap();
    stream.fill_image(&mut to, [0.0f32; 4]).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected);
    assert_eq!(stream.download_image::<f32>(&to).unwrap(), expected[..5]);
}
