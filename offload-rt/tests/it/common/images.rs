//! Images on GPUs whose back end has none.

use offload_rt::{
    AddressingMode, ChannelOrder, ChannelType, Coordinates, FilterMode, Image2d, ImageFormat, KernelArg,
    NdRange, Sampler,
};

use super::graphs::Ready;

/// Whatever makes an image or a sampler is refused, and what another device has made.
pub fn images_are_refused(ready: &Ready) {
    let device = ready.stream.device();
    let format = ImageFormat::new(ChannelOrder::Rgba, ChannelType::UnormInt8);
    let sampler =
        |device| Sampler::new(device, AddressingMode::Clamp, FilterMode::Nearest, Coordinates::Elements);
    for error in [
        Image2d::new(device, format, [4, 4]).unwrap_err(),
        Image2d::formats(device).unwrap_err(),
        sampler(device).unwrap_err(),
    ] {
        let text = error.to_string();
        assert!(
            text.contains(&device.to_string()) && text.contains("not supported by this back end"),
            "{text}"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("buffer")), "{text}");
    }
    let host = offload_rt::Device::host();
    let Ok(mut image) = Image2d::new(&host, format, [4, 4]) else { return };
    assert!(ready.stream.fill_image(&mut image, [0.0f32; 4]).is_err());
    let sampler = sampler(&host).unwrap();
    let args = [KernelArg::sampler(&sampler), KernelArg::image(&image), KernelArg::image(&image)];
    // SAFETY: the launch is refused.
    let refused = unsafe { ready.saxpy.launch(&ready.stream, NdRange::linear_at_least(4, 4), &args) };
    assert!(refused.is_err());
}
