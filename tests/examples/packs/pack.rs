//! Packing a folder as a build does: images and frames stay in files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use offload_format::codec::{Codec, FrameInfo};
use offload_format::pack::{NewBlock, NewImage, PackBuilder, Placement};
use offload_format::{Error, Hash128};
use offload_packer::{ImageSource as _, MAX_WHOLE, Mode, PIECE, Plan, Pool, RawImage, Settings, Step};

use crate::folder::{self, Files};
use crate::threads::Threads;

pub fn run(folder: &Path, file: &Path, mode: Mode) {
    let settings = Settings { mode, level: mode.default_level() };
    let images = folder::list(folder);
    let (files, candidates) = Files::read(&images, settings.level);
    let plan = offload_packer::plan(&candidates, &files, settings, &Threads).unwrap();
    let mut spool = Spool::new(file);
    let mut builder = PackBuilder::new("bench", "0.0.0");
    let mut infos = spool.images(&plan, (&files, &candidates));
    let sizes: BTreeMap<Hash128, u64> = candidates.iter().map(|image| (image.hash, image.size)).collect();
    for (number, block) in spool.blocks(&plan, (&files, &sizes)).into_iter().enumerate() {
        builder.block(block);
        let members = offload_packer::in_block(&plan, number, block.hash, |hash| sizes[&hash]);
        infos.extend(members.into_iter().map(|info| (info.hash, info)));
    }
    for (image, candidate) in images.iter().zip(&candidates) {
        builder.image(described(image), infos[&candidate.hash]).unwrap();
    }
    let layout = builder.finish().unwrap();
    let mut out = File::create(file).unwrap();
    out.write_all(&layout.index).unwrap();
    let copied = Pool::new(&Threads).map(
        &layout.frames,
        |_| PIECE as u64,
        |frame: &Placement| {
            spool.copy(frame.hash, &files, (&out, layout.index.len() as u64 + frame.offset));
            Ok::<_, Error>(())
        },
    );
    copied.unwrap();
    out.set_len(layout.size).unwrap();
    println!("index {}", layout.index.len());
}

/// An image with the records that a build makes of it.
fn described(image: &folder::Image) -> NewImage {
    let mut new = NewImage::new(&image.module, image.target.clone());
    // Images of generated sets are of no format.
    if image.size > MAX_WHOLE {
        return new;
    }
    let bytes = std::fs::read(&image.path).unwrap();
    if let Ok(Some(described)) = offload_images::describe::any(&bytes) {
        new.format_version = described.format_version;
        new.aspects = described.aspects;
        new.kernels = described.kernels;
    }
    new
}

/// Frames in a file, one after another as they are made, and large ones in files of their own.
struct Spool {
    dir: PathBuf,
    file: Mutex<(File, u64)>,
    /// Files with offset and size.
    places: Mutex<BTreeMap<Hash128, (File, u64, u64)>>,
}

impl Spool {
    fn new(beside: &Path) -> Spool {
        let dir = beside.parent().unwrap().to_path_buf();
        let file = tempfile::tempfile_in(&dir).unwrap();
        Spool { dir, file: Mutex::new((file, 0)), places: Mutex::new(BTreeMap::new()) }
    }

    /// The frames of images that have one of their own.
    fn images(
        &mut self,
        plan: &Plan,
        (files, images): (&Files, &[RawImage]),
    ) -> BTreeMap<Hash128, FrameInfo> {
        let distinct: BTreeMap<Hash128, &RawImage> = images.iter().map(|image| (image.hash, image)).collect();
        let own: Vec<&RawImage> = distinct
            .values()
            .copied()
            .filter(|image| matches!(plan.step(image.hash), Some(Step::Frame { .. })))
            .collect();
        let infos = Pool::new(&Threads).map_with_need(
            &own,
            |image: &&RawImage| offload_packer::image_need(plan, image.hash, |hash| distinct[&hash].size),
            |image: &&RawImage| self.image(plan, (files, image)).map(|info| (image.hash, info)),
        );
        infos.unwrap().into_iter().collect()
    }

    fn image(&self, plan: &Plan, (files, image): (&Files, &RawImage)) -> Result<FrameInfo, Error> {
        if matches!(plan.step(image.hash), Some(Step::Frame { codec: Codec::Raw, .. })) {
            return Ok(FrameInfo::new(Codec::Raw, image.size, image.size, image.hash));
        }
        let alone = matches!(plan.step(image.hash), Some(Step::Frame { parent: None, .. }));
        if image.size > MAX_WHOLE && alone {
            return Ok(FrameInfo::new(
                Codec::Zstd,
                self.stream(plan, (files, image)),
                image.size,
                image.hash,
            ));
        }
        let frame = offload_packer::encode_image(plan, files, image.hash)?;
        self.add(image.hash, frame.bytes());
        Ok(frame.info())
    }

    /// Compresses a file that is not held in memory, into a file of its own.
    fn stream(&self, plan: &Plan, (files, image): (&Files, &RawImage)) -> u64 {
        let mut stream = offload_packer::stream(plan, image.size).unwrap();
        let mut frame = tempfile::tempfile_in(&self.dir).unwrap();
        let mut size = 0;
        let mut sink = |bytes: &[u8]| {
            frame.write_all(bytes).unwrap();
            size += bytes.len() as u64;
            Ok::<(), Error>(())
        };
        let mut pieces = files.open(image.hash).unwrap();
        loop {
            match pieces.next().unwrap() {
                [] => break,
                piece => stream.feed(piece, &mut sink).unwrap(),
            }
        }
        stream.finish(&mut sink).unwrap();
        self.places.lock().unwrap().insert(image.hash, (frame, 0, size));
        size
    }

    fn blocks(&mut self, plan: &Plan, (files, sizes): (&Files, &BTreeMap<Hash128, u64>)) -> Vec<NewBlock> {
        let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
        let blocks = Pool::new(&Threads).map_with_need(
            &numbers,
            |number: &usize| offload_packer::block_need(plan, *number, |hash| sizes[&hash]),
            |number: &usize| {
                let frame = offload_packer::encode_block(plan, files, *number)?;
                let info = frame.info();
                self.add(info.hash, frame.bytes());
                Ok::<_, Error>(NewBlock::from(info))
            },
        );
        blocks.unwrap()
    }

    fn add(&self, content: Hash128, frame: &[u8]) {
        let mut spool = self.file.lock().unwrap();
        spool.0.write_all(frame).unwrap();
        let file = spool.0.try_clone().unwrap();
        self.places.lock().unwrap().insert(content, (file, spool.1, frame.len() as u64));
        spool.1 += frame.len() as u64;
    }

    /// Copies a frame to a place in `out`; one that is not in the spool is its image.
    fn copy(&self, content: Hash128, files: &Files, (out, mut to): (&File, u64)) {
        let image;
        let places = self.places.lock().unwrap();
        let (from, mut at, mut left) = match places.get(&content) {
            Some((file, start, size)) => (&file.try_clone().unwrap(), *start, *size),
            None => {
                image = File::open(&files.paths[&content]).unwrap();
                (&image, 0, image.metadata().unwrap().len())
            }
        };
        drop(places);
        let mut piece = vec![0; PIECE];
        while left > 0 {
            let read = from.read_at(&mut piece[..PIECE.min(left as usize)], at).unwrap();
            assert!(read > 0, "a frame was cut");
            out.write_all_at(&piece[..read], to).unwrap();
            (at, to, left) = (at + read as u64, to + read as u64, left - read as u64);
        }
    }
}
