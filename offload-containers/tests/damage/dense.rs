//! Files of a few megabytes full of the smallest records: what is made of a record must stay in proportion to it.

use crate::allocations;
use crate::decode;

/// Large enough that the constant part of the allowance says nothing.
const SIZE: usize = 4 << 20;

/// Accepted or refused, `decode` takes at most 1 MiB and eight times the size of the file.
fn bounded(name: &str, file: &[u8], decode: fn(&[u8]) -> Option<u64>) {
    let (made, memory) = allocations::peak(|| decode(file));
    let limit = (1 << 20) + 8 * file.len() as u64 + made.unwrap_or(0);
    println!("dense {name}: {} bytes, {memory} of memory, {made:?}", file.len());
    assert!(memory <= limit, "{name}: {memory} bytes of memory for {}", file.len());
}

fn repeated(head: &[u8], record: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    let mut file = head.to_vec();
    for number in 0.. {
        if file.len() >= SIZE {
            break;
        }
        file.extend(record(number));
    }
    file
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn bundles_of_nothing() {
    let mut file = repeated(b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0", |_| vec![0; 24]);
    let count = (file.len() as u64 - 32) / 24;
    file[24..32].copy_from_slice(&count.to_le_bytes());
    bounded("bundle", &file, decode::bundles);
    // A bundle for every 32 bytes.
    let file = repeated(b"", |_| b"__CLANG_OFFLOAD_BUNDLE__\0\0\0\0\0\0\0\0".to_vec());
    bounded("bundles", &file, decode::bundles);
    let file = repeated(b"", |_| {
        b"# __CLANG_OFFLOAD_BUNDLE____START__ a-b\n# __CLANG_OFFLOAD_BUNDLE____END__ a-b\n".to_vec()
    });
    bounded("bundle of text", &file, decode::bundle_text);
}

#[test]
fn fatbins_of_nothing() {
    let entry = words(&[0x0101_0002, 64, 0, 0, 0, 0, 0x0001_0008, 80, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut file = repeated(b"\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0", |_| entry.clone());
    let size = file.len() as u64 - 16;
    file[8..16].copy_from_slice(&size.to_le_bytes());
    bounded("fatbin", &file, decode::fatbins);
    let file = repeated(b"", |_| b"\x50\xed\x55\xba\x01\0\x10\0\0\0\0\0\0\0\0\0".to_vec());
    bounded("fatbins", &file, decode::fatbins);
}

#[test]
fn archives_of_nothing() {
    let member = b"64.12.60.7/     0           0     0     644     0         `\n";
    let file = repeated(b"!<arch>\n", |_| member.to_vec());
    bounded("archive of ocloc", &file, decode::ocloc_archive);
    bounded("archive", &file, decode::carrier);
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn offload_binary_head(version: u32) -> Vec<u8> {
    [&b"\x10\xff\x10\xad"[..], &version.to_le_bytes()].concat()
}

#[test]
fn offload_binaries_of_nothing() {
    // Version 1: a binary for every 72 bytes. Version 2: an entry for every 40.
    let one = [offload_binary_head(1), numbers(&[72, 32, 40, 0, 32, 0, 32, 0])].concat();
    bounded("OffloadBinary 1", &repeated(b"", |_| one.clone()), decode::offload_binary);
    let mut file =
        repeated(&[offload_binary_head(2), numbers(&[0, 32, 0])].concat(), |_| numbers(&[0, 32, 0, 32, 0]));
    let size = file.len() as u64;
    let count = (file.len() as u64 - 32) / 40;
    file[8..16].copy_from_slice(&size.to_le_bytes());
    file[24..32].copy_from_slice(&count.to_le_bytes());
    bounded("OffloadBinary 2", &file, decode::offload_binary);
    bounded("SYCLBIN draft", &file, decode::syclbin);
}

#[test]
fn syclbins_of_nothing() {
    for table in 0..3 {
        let mut file = repeated(&[words(&[0x5359_4249, 1]), vec![0; 48]].concat(), |_| vec![0; 32]);
        let count = (file.len() as u32 - 56) / 32;
        file[8 + 4 * table..12 + 4 * table].copy_from_slice(&count.to_le_bytes());
        bounded("SYCLBIN", &file, decode::syclbin);
    }
    let sets = repeated(b"", |_| b"[]\n".to_vec());
    bounded("property sets", &sets, decode::property_sets);
    let properties = repeated(b"[a]\n", |_| b"k=1|1\n".to_vec());
    bounded("properties", &properties, decode::property_sets);
    let empty = repeated(b"[a]\n", |_| b"k=2|gAAAAAAAAAA\n".to_vec());
    bounded("byte properties", &empty, decode::property_sets);
}

/// What the heads of a map and of a list begin with in MessagePack.
const MAP: u8 = 0xdf;
const LIST: u8 = 0xdd;

/// Of a map or a list with `count` entries.
fn head(marker: u8, count: usize) -> Vec<u8> {
    [&[marker][..], &(count as u32).to_be_bytes()].concat()
}

#[test]
fn kpacks_of_nothing() {
    let programs = SIZE / 2;
    let scheme = b"\x82\xb2compression_scheme\xa4none\xa3toc";
    let entries = [head(MAP, programs), b"\xa0\x80".repeat(programs)].concat();
    let file = [&b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0"[..], scheme, &entries].concat();
    bounded("kpack's programs", &file, decode::kpack);
    let entry = b"\xa0\x83\xa4type\xa0\xa7ordinal\x00\xadoriginal_size\x00";
    let count = SIZE / entry.len();
    let entries = [b"\x81\xa0", &head(MAP, count)[..], &entry.repeat(count)].concat();
    let blobs = b"\x83\xb2compression_scheme\xa4none\xa5blobs\x91\x82\xa6offset\x00\xa4size\x00\xa3toc";
    let file = [&b"KPAK\x01\0\0\0\x10\0\0\0\0\0\0\0"[..], blobs, &entries].concat();
    bounded("kpack's entries", &file, decode::kpack);
    assert!(decode::kpack(&file).is_some(), "what was measured was read");
    let reference = b"\x82\xabkernel_name\xa1k\xb2kpack_search_paths\xdd\x7f\xff\xff\xff";
    bounded("kpack reference", &repeated(reference, |_| b"\xa0".to_vec()), decode::kpack_reference);
}

/// A module whose instructions are all the same.
fn module(instruction: impl Fn(usize) -> Vec<u32>) -> Vec<u8> {
    let head = words(&[0x0723_0203, 0x0001_0000, 0, 0xffff_ffff, 0, 3 << 16 | 14, 2, 2]);
    let mut file = repeated(&head, |number| words(&instruction(number)));
    file.extend(words(&[5 << 16 | 54, 1, 7, 0, 2, 1 << 16 | 56]));
    file
}

#[test]
fn spirv_of_nothing() {
    let name = u32::from_le_bytes(*b"abc\0");
    bounded("entry points", &module(|_| vec![4 << 16 | 15, 6, 7, name]), decode::spirv);
    bounded("entry points with a variable", &module(|_| vec![5 << 16 | 15, 6, 7, 0, 1]), decode::spirv);
    bounded(
        "entry points of other functions",
        &module(|at| vec![4 << 16 | 15, 5, at as u32, 0]),
        decode::spirv,
    );
    bounded("exports", &module(|_| vec![5 << 16 | 71, 1, 41, name, 0]), decode::spirv);
    bounded("imports", &module(|_| vec![5 << 16 | 71, 1, 41, 0, 1]), decode::spirv);
    bounded("capabilities", &module(|_| vec![2 << 16 | 17, 1]), decode::spirv);
    bounded("modes", &module(|at| vec![6 << 16 | 16, at as u32, 17, 1, 1, 1]), decode::spirv);
    bounded("calls", &module(|at| vec![4 << 16 | 57, 1, 1, at as u32]), decode::spirv);
}

/// A code object whose description says the same again and again.
fn described(description: &[u8]) -> Vec<u8> {
    let mut file = include_bytes!("../../../tests/data/device-gfx1100.co").to_vec();
    let at = file.len().next_multiple_of(4);
    file.resize(at, 0);
    let size = (description.len() as u32).to_le_bytes();
    file.extend([&[7, 0, 0, 0][..], &size, &[32, 0, 0, 0], b"AMDGPU\0\0", description].concat());
    let offset = at as u64;
    let size = (file.len() - at) as u64;
    let segments = u64::from_le_bytes(file[32..40].try_into().unwrap()) as usize;
    for segment in 0..usize::from(file[56]) {
        let header = segments + segment * 56;
        if file[header] == 4 {
            file[header + 8..header + 16].copy_from_slice(&offset.to_le_bytes());
            file[header + 32..header + 40].copy_from_slice(&size.to_le_bytes());
        }
    }
    file
}

#[test]
fn code_objects_of_nothing() {
    let kernel = b"\x82\xa5.name\xa0\xa7.symbol\xa0";
    let count = SIZE / kernel.len();
    let kernels = [b"\x81\xaeamdhsa.kernels", &head(LIST, count)[..], &kernel.repeat(count)].concat();
    bounded("kernels of a code object", &described(&kernels), decode::code_object);
    // Lists instead of maps: the smallest form that a reader by order would take.
    let count = SIZE / 17;
    let kernels = [
        b"\x81\xaeamdhsa.kernels",
        &head(LIST, count)[..],
        &b"\x9f\xa0\xa0\xc0\xc0\xc0\xc0\xc0\xc0\xc0\xc0\xc0\xc0\xc0\x90\x90".repeat(count),
    ];
    bounded("kernels without names of fields", &described(&kernels.concat()), decode::code_object);
    let args = [
        b"\x81\xaeamdhsa.kernels\x91\x83\xa5.name\xa0\xa7.symbol\xa0\xa5.args",
        &head(LIST, SIZE)[..],
        &b"\x80".repeat(SIZE),
    ];
    bounded("arguments of a code object", &described(&args.concat()), decode::code_object);
    let claim = b"\x81\xaeamdhsa.kernels\xdd\x7f\xff\xff\xff\x83\xa5.name\xa0\xa7.symbol\xa0\xa5.args\xdd\x7f\xff\xff\xff\x80";
    bounded("numbers that are claimed", &described(claim), decode::code_object);
}

#[test]
fn texts_of_nothing() {
    let head = b".version 7.0\n.target sm_70\n.address_size 64\n";
    bounded("PTX entries", &repeated(head, |at| format!(".entry k{at}(){{}}").into_bytes()), decode::ptx);
    bounded("PTX externs", &repeated(head, |at| format!(".extern .func f{at};").into_bytes()), decode::ptx);
    bounded("PTX words", &repeated(head, |_| b"a ".to_vec()), decode::ptx);
}
