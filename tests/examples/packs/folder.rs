//! A folder of images: `FOLDER/MODULE/TARGET`, or `FOLDER/MODULE/NAME` for SPIR-V.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offload_format::{Error, Hash128, Target};
use offload_packer::{ImageSource, PIECE, Pieces, Pool, RawImage, image_buffer, read_piece};

use crate::threads::Threads;

pub struct Image {
    pub path: PathBuf,
    pub module: String,
    pub target: Target,
    pub size: u64,
}

/// The images in the order of a pack.
pub fn list(folder: &Path) -> Vec<Image> {
    let mut images: Vec<Image> = entries(folder)
        .into_iter()
        .flat_map(|module| entries(&module))
        .map(|path| {
            let module = file_name(path.parent().unwrap());
            let name = file_name(&path);
            let size = fs::metadata(&path).unwrap().len();
            match name.parse::<Target>() {
                Ok(target) => Image { path, module, target, size },
                Err(_) => Image {
                    path,
                    module: format!("{module}/{name}"),
                    target: "spirv64".parse().unwrap(),
                    size,
                },
            }
        })
        .collect();
    images.sort_by(|one, other| (&one.module, &one.target).cmp(&(&other.module, &other.target)));
    images
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_string()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Where the bytes of images are, by their hash.
pub struct Files {
    pub paths: BTreeMap<Hash128, PathBuf>,
    /// What the images are compressed at.
    level: i32,
}

impl Files {
    /// Hashes all images.
    pub fn read(images: &[Image], level: i32) -> (Files, Vec<RawImage>) {
        let found = Mutex::new(BTreeMap::new());
        let candidates = Pool::new(&Threads).map(
            images,
            |_| 0,
            |image: &Image| {
                let hash = hash(&image.path);
                found.lock().unwrap().entry(hash).or_insert_with(|| image.path.clone());
                let kind = image.target.image_kind();
                Ok::<_, Error>(RawImage { hash, size: image.size, kind })
            },
        );
        (Files { paths: found.into_inner().unwrap(), level }, candidates.unwrap())
    }
}

fn hash(path: &Path) -> Hash128 {
    let mut hasher = blake3::Hasher::new();
    let mut pieces = FilePieces::open(path);
    loop {
        match pieces.next().unwrap() {
            [] => break,
            piece => hasher.update(piece),
        };
    }
    let mut hash = Hash128([0; 16]);
    hasher.finalize_xof().fill(&mut hash.0);
    hash
}

struct FilePieces {
    file: File,
    piece: Vec<u8>,
}

impl FilePieces {
    fn open(path: &Path) -> FilePieces {
        FilePieces { file: File::open(path).unwrap(), piece: Vec::new() }
    }
}

impl Pieces<Error> for FilePieces {
    fn next(&mut self) -> Result<&[u8], Error> {
        read_piece(&mut self.file, &mut self.piece).unwrap();
        Ok(&self.piece)
    }

    fn skip(&mut self) -> Result<(), Error> {
        self.file.seek_relative(PIECE as i64).unwrap();
        Ok(())
    }
}

impl ImageSource for Files {
    type Error = Error;

    fn read(&self, hash: Hash128) -> Result<Vec<u8>, Error> {
        let mut file = File::open(&self.paths[&hash]).unwrap();
        let mut image = image_buffer(self.level, usize::try_from(file.metadata().unwrap().len()).unwrap());
        file.read_to_end(&mut image).unwrap();
        Ok(image)
    }

    fn open(&self, hash: Hash128) -> Result<Box<dyn Pieces<Error> + '_>, Error> {
        Ok(Box::new(FilePieces::open(&self.paths[&hash])))
    }

    fn held(&self, size: u64) -> u64 {
        size.min(PIECE as u64)
    }
}
