//! Every device image of the programs of an unpacked Python wheel.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use offload_containers::bundle::{self, BundleKind};
use offload_containers::carrier::{self, FileKind};
use offload_containers::ccob::{self, Container};
use offload_format::Limits;
use offload_images::{code_object, cubin};

use crate::sycl;
use crate::tools::{Images, ours, shape, theirs, unbundled};

/// How many there are in bitsandbytes 0.50.2.
const IMAGES: [(&str, usize); 3] = [("CUDA", 392), ("HIP", 218), ("SYCL", 14)];

pub fn check(folder: &Path, cuobjdump: &Path, bundler: &Path) {
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    for path in libraries(folder) {
        let file = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut cuda = Images::new();
        for found in carrier::find(&file, &Limits::default()).unwrap() {
            match found.kind {
                Some(FileKind::CompressedBundle | FileKind::ClangBundle) => {
                    *sums.entry("HIP").or_default() += hip(&name, found.bytes, bundler);
                }
                Some(FileKind::CudaFatbin) => {
                    for (image, count) in ours(found.bytes).unwrap() {
                        *cuda.entry(image).or_default() += count;
                    }
                }
                _ => {}
            }
        }
        if let Some(images) = sycl::library(&name, &file) {
            *sums.entry("SYCL").or_default() += images.len();
        }
        if !cuda.is_empty() {
            println!("{name}: {:?}", shape(&cuda));
            check_cuda(&cuda, theirs(cuobjdump, &path));
            *sums.entry("CUDA").or_default() += cuda.values().sum::<usize>();
        }
    }
    println!("images: {sums:?}");
    assert_eq!(sums, BTreeMap::from(IMAGES));
}

/// Every cubin is one for the architecture that its entry names, and all images are those that `cuobjdump` extracts.
fn check_cuda(ours: &Images, theirs: Option<Images>) {
    for (name, bytes) in ours.keys() {
        if let Some(arch) = name.strip_suffix(".cubin") {
            assert_eq!(cubin::info(bytes).unwrap().arch(), arch);
        } else {
            assert!(String::from_utf8_lossy(bytes).contains(".version"), "{name} is no PTX");
        }
    }
    // Of the 12.1 library it says "Invalid ELF" (13.5.37).
    if let Some(theirs) = theirs {
        assert_eq!(shape(ours), shape(&theirs));
        assert!(*ours == theirs, "other bytes than cuobjdump's");
    }
}

fn libraries(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut libraries: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "so")).collect();
    libraries.sort();
    libraries
}

/// Each bundle is followed by the next, every MD5 fits, every image is a code object of the architecture that its id
/// names, and clang's bundler extracts the same bytes.
fn hip(name: &str, section: &[u8], bundler: &Path) -> usize {
    let limits = Limits::default();
    let mut found = Vec::new();
    let mut bundles = 0;
    for container in ccob::containers(section, &limits) {
        let (offset, ccob) = match container.unwrap() {
            (offset, Container::Compressed(ccob)) => (offset as usize, ccob),
            other => panic!("{name}: {other:?}"),
        };
        let inflated = ccob.inflate(&limits).unwrap();
        bundles += 1;
        let entries = bundle::parse(&inflated, &limits).unwrap().entries;
        let ids: Vec<&str> = entries.iter().map(|entry| entry.id).collect();
        let theirs = unbundled(bundler, &section[offset..offset + ccob.size as usize], &ids);
        assert!(entries.iter().map(|entry| entry.image).eq(&theirs), "{name}: other bytes than clang's");
        for entry in entries {
            let target = entry.target().unwrap();
            if target.kind != BundleKind::Host {
                let target_id = target.target_id.unwrap();
                let object = code_object::info(entry.image).unwrap();
                assert_eq!(object.target_id, target_id, "{name}");
                found.push(format!("{target_id} {} bytes", entry.image.len()));
            }
        }
    }
    println!("{name}: {bundles} compressed bundles with {} code objects: {found:?}", found.len());
    found.len()
}
