//! Every image that is packed is for its target, as far as the image itself tells: an entry of the cache that names the
//! right key may hold another's bytes all the same.

use offload_format::packer::MAX_WHOLE;
use offload_images::machine;

use crate::cache::{Key, KeyBuilder};
use crate::error::{Error, Result};
use crate::module::DeviceImage;
use crate::tool::Context;

/// Compares `images` with their targets, those above [`MAX_WHOLE`] excepted: no build holds one of them as a whole.
///
/// That these images are for these targets is kept in the cache, so that an unchanged build reads none.
///
/// # Errors
/// If one is for another machine. The first time that is an entry of the cache that is made anew.
pub(super) fn check(context: &Context, images: &[DeviceImage]) -> Result<()> {
    let key = key(images);
    if context.cache.get(key).is_some() {
        return Ok(());
    }
    let (mut rest, mut checked) = (images, Vec::new());
    while let Some((batch, others)) = rest.split_at_checked(batch(rest)).filter(|_| !rest.is_empty()) {
        checked.extend(context.jobs.map(batch, |image| check_one(context, image)));
        rest = others;
    }
    // All were looked at: of entries that were exchanged, both are made anew.
    checked.into_iter().collect::<Result<()>>()?;
    context.cache.put(key, b"").map(drop)
}

/// What is read at a time, in bytes.
const AT_A_TIME: u64 = 2 * MAX_WHOLE;

/// How many of `images` are read at a time.
fn batch(images: &[DeviceImage]) -> usize {
    let mut sum = 0u64;
    let within = images.iter().take_while(|image| {
        sum = sum.saturating_add(image.bytes.size.min(MAX_WHOLE));
        sum <= AT_A_TIME
    });
    within.count()
}

fn key(images: &[DeviceImage]) -> Key {
    let key = KeyBuilder::new("images for their targets 1");
    let parts = |key: KeyBuilder, image: &DeviceImage| {
        key.part(&image.bytes.hash.0).part(image.record.target.to_string().as_bytes())
    };
    images.iter().fold(key, parts).finish()
}

fn check_one(context: &Context, image: &DeviceImage) -> Result<()> {
    let DeviceImage { record, bytes } = image;
    if bytes.size > MAX_WHOLE {
        return Ok(());
    }
    machine::check(&record.target, &bytes.read()?).map_err(|mismatch| {
        let text = format!("kernel module `{}`, target `{}`: {mismatch}", record.module, record.target);
        context.cache.refused(bytes, Error::new(text))
    })
}
