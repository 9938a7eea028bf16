//! The device images of programs, by this project's own readers: `FOLDER/KIND/LIBRARY/CONTAINER/TARGET`.

use std::fs;
use std::path::{Path, PathBuf};

use offload_containers::bundle::{self, BundleKind};
use offload_containers::carrier::{self, FileKind, ImageRange, RangeOrigin};
use offload_containers::ccob::{self, Container};
use offload_containers::fatbin::{self, InflatedImage};
use offload_format::Limits;

pub fn run(files: &Path, folder: &Path) {
    let mut sorted = Vec::new();
    libraries(files, &mut sorted);
    sorted.sort();
    for path in sorted {
        let file = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut out =
            Library { folder: folder.to_path_buf(), name: name.split('.').next().unwrap().into(), count: 0 };
        for found in carrier::find(&file, &Limits::default()).unwrap() {
            out.add(&found);
        }
        if out.count > 0 {
            println!("{}: {} images", path.display(), out.count);
        }
    }
}

fn libraries(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            libraries(&path, found);
        } else if path.file_name().is_some_and(|name| name.to_string_lossy().contains(".so")) {
            found.push(path);
        }
    }
}

struct Library {
    folder: PathBuf,
    name: String,
    count: usize,
}

impl Library {
    fn add(&mut self, found: &ImageRange<'_>) {
        match found.kind {
            Some(FileKind::CompressedBundle | FileKind::ClangBundle) => self.hip(found.bytes),
            Some(FileKind::CudaFatbin) => self.cuda(found.bytes),
            _ if matches!(found.origin, RangeOrigin::Sycl(_)) => self.sycl(found.bytes),
            _ => {}
        }
    }

    fn hip(&mut self, section: &[u8]) {
        let limits = Limits::default();
        for container in ccob::containers(section, &limits) {
            let container = container.unwrap().1;
            let inflated;
            let bundle = match container {
                Container::Compressed(ccob) => {
                    inflated = ccob.inflate(&limits).unwrap();
                    bundle::parse(&inflated, &limits).unwrap()
                }
                Container::Bundle(bundle) => bundle,
                other => panic!("{other:?}"),
            };
            let number = self.containers("hip");
            for entry in bundle.entries {
                let id = entry.target().unwrap();
                if id.kind != BundleKind::Host && !entry.image.is_empty() {
                    let name = format!("amdgcn:{}", id.target_id.unwrap());
                    self.write("hip", (&number, &name), entry.image);
                }
            }
        }
    }

    fn cuda(&mut self, section: &[u8]) {
        let limits = Limits::default();
        for container in fatbin::fatbins(section, &limits) {
            let number = self.containers("cuda");
            for InflatedImage { record, bytes, .. } in
                container.unwrap().1.entries.iter().flat_map(|e| e.images(&limits).unwrap())
            {
                let name = record.target().unwrap().to_string();
                self.write("cuda", (&number, &name), &bytes);
            }
        }
    }

    /// A linker joined images that are zstd frames or plain.
    fn sycl(&mut self, stored: &[u8]) {
        let inflated = match carrier::FileKind::detect(stored) {
            Some(FileKind::Zstd) => {
                let size = zstd::zstd_safe::get_frame_content_size(stored).unwrap().unwrap();
                zstd::bulk::decompress(stored, usize::try_from(size).unwrap()).unwrap()
            }
            _ => stored.to_vec(),
        };
        if carrier::FileKind::detect(&inflated) == Some(FileKind::SpirV) {
            let name = format!("{:06}", self.count);
            self.write("spirv", ("all", &name), &inflated);
        }
    }

    /// The name of the next container of this library.
    fn containers(&self, kind: &str) -> String {
        let library = self.folder.join(kind).join(&self.name);
        format!("{:03}", fs::read_dir(library).map_or(0, Iterator::count))
    }

    fn write(&mut self, kind: &str, (container, name): (&str, &str), image: &[u8]) {
        let folder = self.folder.join(kind).join(&self.name);
        let mut path = folder.join(container).join(name);
        // One container may have several images for a target.
        for again in 1.. {
            if !path.exists() {
                break;
            }
            path = folder.join(format!("{container}-{again}")).join(name);
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, image).unwrap();
        self.count += 1;
    }
}
