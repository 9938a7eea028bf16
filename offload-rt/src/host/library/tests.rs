//! Images of the C compiler that call each other's functions.

use std::sync::Barrier;

use offload_format::codec::{self, Codec};
use offload_format::pack::{NewImage, PackBuilder};
use offload_format::{Aspects, Import};

use super::super::tests::{compiled, kernel};
use crate::{Arg, ArgKind, Device, Error, ErrorKind, NdRange, Program, Registry};

const LIBRARY: &str = "
const uint32_t __offload_host_abi = 2;
int __offload_export_more(int x) { return x + FACTOR; }
";

/// Two kernels in images of their own would call it; this one is in both.
const IMPORTER: &str = "
const uint32_t __offload_host_abi = 2;
const char *const __offload_imports[] = { \"more\", 0 };
int (*__offload_import_more)(int);
KERNEL(k) {
  int *x = *(int **)args[0];
  EACH(0, i) { uint64_t id = g->group_id[0] * g->local_size[0] + i; x[id] = __offload_import_more(x[id]); }
  return 0;
}
";

/// A pack of `package` with `image`, which is made of `source`.
fn pack(package: &str, version: &str, image: NewImage, source: &str) -> Vec<u8> {
    let frame = codec::encode(&compiled(source), Codec::Zstd, 1).unwrap();
    let mut builder = PackBuilder::new(package, version);
    builder.image(NewImage { aspects: Aspects::LINKER, ..image }, frame.info()).unwrap();
    builder.finish().unwrap().with_frames([&frame]).unwrap()
}

fn library(version: &str, factor: u32) -> Vec<u8> {
    let image = NewImage { exports: vec!["more".into()], ..NewImage::new("num", "host".parse().unwrap()) };
    pack("num-device", version, image, &LIBRARY.replace("FACTOR", &factor.to_string()))
}

fn importer(module: &str) -> Vec<u8> {
    let image = NewImage {
        imports: Import::list("num=num-device@1.2.0"),
        kernels: vec![kernel("k", &[("int*", ArgKind::Global)])],
        ..NewImage::new(module, "host".parse().unwrap())
    };
    pack("app", "0.1.0", image, IMPORTER)
}

fn open(registry: &Registry, module: &str) -> Result<Program, Error> {
    let device = Device::host();
    device.open_selection(&registry.request(module).select(&device)?)
}

fn launch(program: &Program) -> i32 {
    let mut x = [1i32; 64];
    let range = NdRange::linear_at_least(64, 16);
    // SAFETY: there is a number for each work-item.
    unsafe { program.launch("k", range, &mut [Arg::in_out(&mut x)]) }.unwrap();
    x[63]
}

#[test]
fn sixteen_threads_decode_a_library_once_and_programs_keep_it() {
    let registry = Registry::from_packs([library("1.3.0", 5), importer("a"), importer("b")]);
    let entry = registry.entries().iter().find(|entry| entry.module() == "num").unwrap().clone();
    let start = Barrier::new(16);
    let programs: Vec<Program> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..16 {
            let registry = &registry;
            let start = &start;
            threads.push(scope.spawn(move || {
                start.wait();
                open(registry, ["a", "b"][number % 2]).unwrap()
            }));
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(entry.decodes(), 1);
    drop(registry);
    assert!(programs.iter().all(|program| launch(program) == 6));
    assert_eq!(entry.decodes(), 1);
    // No program is left: the library is unloaded.
    drop(programs);
    let registry = Registry::from_packs([library("1.3.0", 5), importer("a")]);
    assert_eq!(launch(&open(&registry, "a").unwrap()), 6);
}

#[test]
fn a_library_that_does_not_fit_is_an_error_that_names_both_crates() {
    fn error(packs: Vec<Vec<u8>>) -> Error {
        open(&Registry::from_packs(packs), "a").unwrap_err()
    }
    let missing = error(vec![importer("a")]);
    assert_eq!(missing.kind(), ErrorKind::Library);
    let text = missing.to_string();
    for part in [
        "crate `app` imports the device library `num` of crate `num-device` 1.2.0, which is nowhere in this process",
        "hint: mention the crate in the program, as with `use num_device as _;`",
    ] {
        assert!(text.contains(part), "{text}");
    }
    for version in ["1.1.9", "2.0.0"] {
        let text = error(vec![library(version, 1), importer("a")]).to_string();
        let refused = format!("host of crate `num-device` {version}: it is another version");
        assert!(text.contains(&refused) && text.contains("none in this process fits"), "{text}");
    }
    // Of two versions the one that fits.
    let registry = Registry::from_packs([library("2.0.0", 1), library("1.2.0", 2), importer("a")]);
    assert_eq!(launch(&open(&registry, "a").unwrap()), 3);
}

#[test]
fn a_library_without_the_function_is_an_error() {
    let other = NewImage { exports: vec!["less".into()], ..NewImage::new("num", "host".parse().unwrap()) };
    let other = pack("num-device", "1.2.0", other, &LIBRARY.replace("_more", "_less").replace("FACTOR", "1"));
    let text = open(&Registry::from_packs([other, importer("a")]), "a").unwrap_err().to_string();
    assert!(text.contains("it imports the function `more`, which num lacks"), "{text}");
}
