//! Reads a file to the end as programs do: whatever is accepted is decoded and looked at. The fuzz targets take these
//! functions as well.
//!
//! The result is how many bytes were made beyond what was inflated; `None` if the file was refused.

use std::hint::black_box;

use offload_containers::ccob::Container;
use offload_containers::offload_binary::Binary;
use offload_containers::syclbin::{Payload, PropertySets, hazards};
use offload_containers::{bundle, carrier, ccob, contents, fatbin, kpack, ocloc, syclbin};
use offload_format::pack::{ArgInfo, KernelInfo, Pack, Pages};
use offload_format::section::{Descriptor, parse_note};
use offload_format::{Limits, codec};
use offload_images::ptx::Ptx;
use offload_images::spirv::{Module, with_added_entry_points, with_prefixed_kernels};
use offload_images::{code_object, cubin, describe, zebin};

/// What one file may inflate.
pub const RAW_BYTES: u64 = 1 << 20;

fn limits() -> Limits {
    Limits::default().with_raw_bytes(RAW_BYTES)
}

/// Every byte is read: one that lies outside of the file would be found.
fn touch(bytes: &[u8]) {
    black_box(bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>());
}

pub fn offload_binary(file: &[u8]) -> Option<u64> {
    let binaries = offload_containers::offload_binary::parse(file, &limits()).ok()?;
    for entry in binaries.iter().flat_map(Binary::entries) {
        for (key, value) in entry.strings() {
            touch(key);
            touch(value);
        }
        touch(entry.image);
        black_box((entry.text("triple"), entry.offload_kind.since_llvm_21()));
    }
    Some(0)
}

/// Bundles in binary form, compressed or not, one after another.
pub fn bundles(file: &[u8]) -> Option<u64> {
    let limits = limits();
    black_box(ccob::size(file).ok());
    for container in ccob::containers(file, &limits) {
        let inflated;
        let bundle = match container.ok()?.1 {
            Container::Bundle(bundle) => bundle,
            Container::Compressed(ccob) => {
                inflated = ccob.inflate(&limits).ok()?;
                bundle::parse(&inflated, &limits).ok()?
            }
            _ => return None,
        };
        for entry in &bundle.entries {
            black_box(entry.target());
            touch(entry.image);
        }
    }
    Some(0)
}

pub fn bundle_text(file: &[u8]) -> Option<u64> {
    let bundle = bundle::parse_text(file, &limits()).ok()?;
    bundle.entries.iter().for_each(|entry| touch(entry.image));
    Some(0)
}

pub fn fatbins(file: &[u8]) -> Option<u64> {
    let limits = limits();
    black_box(fatbin::wrapper(file).ok());
    for container in fatbin::fatbins(file, &limits) {
        for entry in &container.ok()?.1.entries {
            black_box((entry.record.arch(), entry.record.target()));
            entry.images(&limits).ok()?.iter().for_each(|image| touch(&image.bytes));
        }
    }
    Some(0)
}

pub fn ocloc_archive(file: &[u8]) -> Option<u64> {
    let archive = ocloc::parse(file, &limits()).ok()?;
    archive.members.iter().for_each(|member| touch(member.data));
    archive.spirv().ok()?.into_iter().for_each(touch);
    archive.members.iter().try_for_each(|member| ocloc_elf(member.data).map(drop))?;
    Some(0)
}

pub fn ocloc_elf(file: &[u8]) -> Option<u64> {
    let elf = ocloc::parse_elf(file).ok()?;
    elf.sections.iter().for_each(|section| touch(section.data));
    Some(0)
}

pub fn zebin(file: &[u8]) -> Option<u64> {
    black_box(zebin::compatibility(file).ok());
    black_box(zebin::info(file).ok()?);
    Some(0)
}

pub fn cubin(file: &[u8]) -> Option<u64> {
    let cubin = cubin::info(file).ok()?;
    black_box((cubin.arch(), cubin.unresolved().count()));
    Some(0)
}

pub fn code_object(file: &[u8]) -> Option<u64> {
    black_box(code_object::info(file).ok()?);
    Some(0)
}

pub fn ptx(file: &[u8]) -> Option<u64> {
    let ptx = Ptx::parse(file).ok()?;
    black_box((ptx.version(), ptx.kernels().len(), ptx.unresolved().count()));
    Some(0)
}

pub fn kpack(file: &[u8]) -> Option<u64> {
    let limits = limits();
    for entry in kpack::parse(file, &limits).ok()?.code_objects {
        touch(&entry.image(&limits).ok()?);
    }
    Some(0)
}

pub fn kpack_reference(file: &[u8]) -> Option<u64> {
    black_box(kpack::reference(file, &limits()).ok()?);
    Some(0)
}

/// Damage to the index is let through, as a hostile writer would have given it the right hash.
pub fn pack(file: &[u8]) -> Option<u64> {
    let pages = Pages::default();
    let pack = Pack::parse(file, &pages).ok()?;
    black_box((pack.verify_index().is_ok(), pack.meta("package"), pack.missing().count()));
    for image in pack.images() {
        let image = image.ok()?;
        pack.kernels(&image).take(1000).for_each(|kernel| drop(black_box(kernel)));
        let block = image.block.map_or(0, |block| pack.block(block).map_or(u64::MAX, |block| block.raw_size));
        if image.raw_size.max(block) <= RAW_BYTES / 4 {
            black_box(codec::decode(&pack, &image).ok());
        }
    }
    Some(0)
}

pub fn descriptors(mut table: &[u8]) -> Option<u64> {
    black_box(parse_note(table));
    let mut last = None;
    while !table.is_empty() {
        let parsed = Descriptor::parse(table).ok()?;
        last = parsed.descriptor;
        table = table.get(usize::try_from(parsed.size).ok()?..)?;
    }
    black_box(last);
    Some(0)
}

pub fn spirv(file: &[u8]) -> Option<u64> {
    {
        let module = Module::parse(file, &limits()).ok()?;
        black_box((module.execution_modes().count(), module.generator(), module.aspects()));
    }
    let largest = [with_prefixed_kernels, with_added_entry_points].map(|rewrite| {
        let rewritten = rewrite(file, "__sycl_kernel_").ok()?;
        // What was rewritten can be read: once more that in proportion to its size.
        assert!(Module::parse(&rewritten, &limits()).is_ok());
        Some(rewritten.len() as u64)
    });
    Some(12 * largest.into_iter().flatten().max()?)
}

pub fn syclbin(file: &[u8]) -> Option<u64> {
    let file = syclbin::parse(file, &limits()).ok()?;
    sets(&file.metadata);
    for module in &file.modules {
        sets(&module.metadata);
        module.ir.iter().chain(&module.native).for_each(payload);
        black_box((module.kernels().count(), module.compile_target()));
    }
    let messages: usize = hazards(&file).iter().map(|hazard| hazard.to_string().len()).sum();
    black_box((file.state().is_ok(), messages));
    Some(0)
}

fn payload(payload: &Payload<'_>) {
    sets(&payload.metadata);
    black_box((payload.target(), payload.arch()));
    touch(payload.bytes);
}

fn sets(sets: &PropertySets<'_>) {
    black_box((sets.properties().count(), sets.sets().count()));
}

pub fn property_sets(file: &[u8]) -> Option<u64> {
    let read = PropertySets::parse(std::str::from_utf8(file).ok()?).ok()?;
    sets(&read);
    // What was read can be written and says the same.
    let mut again = PropertySets::default();
    for property in read.properties() {
        again = again.set(property.set).property(property.name, property.value).ok()?;
    }
    black_box(again == read);
    Some(0)
}

/// Programs, libraries, objects and archives.
pub fn carrier(file: &[u8]) -> Option<u64> {
    let limits = limits();
    for found in carrier::find(file, &limits).ok()? {
        touch(found.bytes);
        black_box((found.kind, found.origin, found.member));
        if let carrier::RangeOrigin::KpackReference { .. } = found.origin {
            black_box(kpack::reference(found.bytes, &limits).ok());
        }
    }
    Some(0)
}

/// Containers in containers: the list, then each image.
pub fn contents(file: &[u8]) -> Option<u64> {
    let limits = limits();
    for image in contents::images(file, &limits).ok()? {
        black_box((image.target_text(), image.format, image.stored_size));
        if let Ok(bytes) = image.decode(&limits) {
            touch(&bytes);
        }
    }
    Some(0)
}

/// What an image of any format says of itself.
pub fn describe(file: &[u8]) -> Option<u64> {
    let described = describe::any(file).ok()??;
    // Each record of the format becomes one of this project.
    let mut size = 0;
    for kernel in &described.kernels {
        let arguments = kernel.args.as_ref().map_or(0, Vec::len);
        size += size_of::<KernelInfo>() + arguments * size_of::<ArgInfo>();
    }
    Some(12 * file.len() as u64 + 4 * size as u64)
}
