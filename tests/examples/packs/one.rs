//! Reaching one image in a new process: of a pack, or of a compressed bundle.

use std::borrow::Cow;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Instant;

use offload_containers::{bundle, ccob};
use offload_format::pack::{Pack, Pages};
use offload_format::{Error, Limits, codec};

/// A pack whose index, with its pages, is in memory; the rest stays in the file.
pub struct Reader {
    file: File,
    index: Vec<u8>,
    pages: Pages,
}

impl Reader {
    pub fn open(path: &Path) -> Reader {
        let mut file = File::open(path).unwrap();
        let mut index = vec![0; 64];
        file.read_exact(&mut index).unwrap();
        let size = Pack::sizes(&index).unwrap().index;
        index.resize(usize::try_from(size).unwrap(), 0);
        file.read_exact(&mut index[64..]).unwrap();
        let head =
            usize::try_from(Pack::parse_index(&index, &Pages::default()).unwrap().head_size()).unwrap();
        let read = index.len();
        index.resize(head.max(read), 0);
        file.read_exact(&mut index[read..]).unwrap();
        Reader { file, index, pages: Pages::default() }
    }

    pub fn pack(&self) -> Pack<'_> {
        let pack = Pack::parse_index(&self.index, &self.pages).unwrap();
        pack.verify_index().unwrap();
        pack
    }

    /// The image, and how many frames it took.
    pub fn image(&self, pack: &Pack<'_>, module: &str, target: &str) -> (Vec<u8>, usize) {
        let images = pack.module(module).unwrap().map(|number| pack.image(number).unwrap());
        let image = images.into_iter().find(|image| image.target_text == target).unwrap();
        let mut frames = 0;
        let mut file = &self.file;
        let bytes = codec::decode_with(pack, &image, |offset, size| {
            frames += 1;
            let mut frame = vec![0; usize::try_from(size).unwrap()];
            file.seek(SeekFrom::Start(pack.payload_offset() + offset)).unwrap();
            file.read_exact(&mut frame).unwrap();
            Ok::<_, Error>(Cow::Owned(frame))
        });
        (bytes.unwrap(), frames)
    }
}

/// Prints the microseconds from the first instruction here to the bytes of the image.
pub fn time_pack(file: &Path, module: &str, target: &str) {
    let start = Instant::now();
    let reader = Reader::open(file);
    let (image, _) = reader.image(&reader.pack(), module, target);
    print_time(start, &image);
}

/// Prints the nanoseconds of what `offload-rt` does with a pack for the first kernel of a module: the index is verified, and
/// the records of all images of the module are read.
pub fn time_selection(file: &Path, module: &str) {
    let bytes = fs::read(file).unwrap();
    let pages = Pages::default();
    let start = Instant::now();
    let pack = Pack::parse(&bytes, &pages).unwrap();
    black_box((pack.id().unwrap(), pack.image_count()));
    let ready = start.elapsed();
    pack.verify_index().unwrap();
    let mut kernels = 0;
    for number in pack.module(module).unwrap() {
        let image = pack.image(number).unwrap();
        kernels += black_box(pack.kernel_needs(&image)).count();
        black_box(image);
    }
    println!("ready_ns {}", ready.as_nanos());
    println!("nanoseconds {}", start.elapsed().as_nanos());
    println!("kernels {kernels}");
}

/// As HIP's runtime does it: clang's MD5 is not compared.
pub fn time_ccob(file: &Path, target: &str) {
    let start = Instant::now();
    let file = fs::read(file).unwrap();
    let limits = Limits::default();
    let ccob = ccob::parse(&file, &limits).unwrap();
    let inflated = zstd::bulk::decompress(ccob.payload, usize::try_from(ccob.raw_size).unwrap()).unwrap();
    let bundle = bundle::parse(&inflated, &limits).unwrap();
    let mut entries = bundle.entries.iter();
    let entry =
        entries.find(|entry| entry.target().and_then(|target| target.target_id) == Some(target)).unwrap();
    print_time(start, entry.image);
}

fn print_time(start: Instant, image: &[u8]) {
    black_box(image);
    println!("microseconds {}", start.elapsed().as_micros());
    println!("bytes {}", image.len());
}
