//! Verification that each packed image is for its target, as far as the image itself records that. A cache entry under
//! the right key may still hold the bytes of another.

use offload_images::machine;
use offload_packer::{MAX_LEVEL, MAX_WHOLE, Pool, image_buffer};

use crate::cache::{Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::module::DeviceImage;
use crate::tool::Context;

/// Compares `images` with their targets, those above [`MAX_WHOLE`] excepted: no build holds one of them as a whole.
///
/// That these images are for these targets is kept in the cache, so that an unchanged build reads none.
///
/// # Errors
/// If one is for another machine. At the first attempt that is a lost entry of the cache.
pub(super) fn check(context: &Context, images: &[DeviceImage]) -> Result<()> {
    let key = key(images);
    if context.cache.get(key).is_some() {
        return Ok(());
    }
    let small: Vec<&DeviceImage> = images.iter().filter(|image| image.bytes.size <= MAX_WHOLE).collect();
    // No early exit: of two exchanged entries both have to be removed.
    let checked = Pool::new(&context.jobs).map(
        &small,
        // Half of the packer's memory: more gains nothing, and a build script that packs nothing stays small.
        |image| image.bytes.size.saturating_mul(2),
        |image| Ok::<Result<()>, Error>(check_one(context, image)),
    )?;
    checked.into_iter().collect::<Result<()>>()?;
    context.cache.put(key, b"")?;
    Ok(())
}

fn key(images: &[DeviceImage]) -> Key {
    let mut key = KeyBuilder::new("images for their targets");
    for image in images {
        key = key.part(&image.bytes.hash.0).part(image.record.target.to_string().as_bytes());
    }
    key.finish()
}

fn check_one(context: &Context, image: &DeviceImage) -> Result<()> {
    let DeviceImage { record, bytes } = image;
    // Memory that goes back at once: threads would keep what they have freed.
    let buffer = image_buffer(MAX_LEVEL, usize::try_from(bytes.size).unwrap_or(0));
    machine::check(&record.target, &bytes.read_into(buffer)?).map_err(|mismatch| {
        let text = format!("kernel module `{}`, target `{}`: {mismatch}", record.module, record.target);
        context.cache.refused(bytes, Error::new(text))
    })
}
