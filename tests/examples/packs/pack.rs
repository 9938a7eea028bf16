//! Packing a folder as a build does: images and frames stay in files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use offload_format::codec::{Codec, FrameInfo};
use offload_format::pack::{NewBlock, NewImage, PackBuilder};
use offload_format::packer::{self, Candidate, HUGE, Plan, Pool, Settings, Step};
use offload_format::{Error, Hash128};

use crate::folder::{self, Files};
use crate::threads::Threads;

pub fn settings(mode: &str, level: &str) -> Settings {
    Settings { effort: mode.parse().unwrap(), level: level.parse().unwrap() }
}

pub fn run(folder: &Path, file: &Path, settings: Settings) {
    let images = folder::list(folder);
    let (files, candidates) = Files::read(&images);
    let plan = packer::plan(&candidates, &files, settings, &Threads).unwrap();
    let mut spool = Spool::new(file);
    let mut builder = PackBuilder::new("bench", "0.0.0");
    let mut infos = spool.images(&plan, (&files, &candidates));
    let sizes: BTreeMap<Hash128, u64> = candidates.iter().map(|image| (image.hash, image.size)).collect();
    for (number, block) in spool.blocks(&plan, &files).into_iter().enumerate() {
        builder.block(block);
        let members = packer::in_block(&plan, (number, block.hash), |hash| sizes[&hash]);
        infos.extend(members.into_iter().map(|info| (info.hash, info)));
    }
    for (image, candidate) in images.iter().zip(&candidates) {
        builder.image(NewImage::new(&image.module, image.target.clone()), infos[&candidate.hash]).unwrap();
    }
    let layout = builder.finish().unwrap();
    let mut out = File::create(file).unwrap();
    out.write_all(&layout.index).unwrap();
    for frame in &layout.frames {
        out.seek(SeekFrom::Start(layout.index.len() as u64 + frame.offset)).unwrap();
        spool.copy(frame.hash, &files, &mut out);
    }
    out.set_len(layout.size).unwrap();
    println!("index {}", layout.index.len());
}

/// Frames in a file, one after another as they are made.
struct Spool {
    file: Mutex<(File, u64)>,
    places: Mutex<BTreeMap<Hash128, (u64, u64)>>,
}

impl Spool {
    fn new(beside: &Path) -> Spool {
        let file = tempfile::tempfile_in(beside.parent().unwrap()).unwrap();
        Spool { file: Mutex::new((file, 0)), places: Mutex::new(BTreeMap::new()) }
    }

    /// The frames of images that have one of their own.
    fn images(
        &mut self,
        plan: &Plan,
        (files, images): (&Files, &[Candidate]),
    ) -> BTreeMap<Hash128, FrameInfo> {
        let distinct: BTreeMap<Hash128, &Candidate> =
            images.iter().map(|image| (image.hash, image)).collect();
        let framed = |image: &&Candidate| matches!(plan.step(image.hash), Some(Step::Frame { .. }));
        let own: Vec<&Candidate> = distinct.values().copied().filter(framed).collect();
        // An image may be held with its parent; one that is streamed is not held.
        let memory = |image: &&Candidate| match plan.step(image.hash) {
            _ if image.size > HUGE => 0,
            Some(Step::Frame { parent: Some(parent), .. }) => image.size + distinct[parent].size,
            _ => image.size,
        };
        let frame = |image: &&Candidate| self.image(plan, (files, image)).map(|info| (image.hash, info));
        Pool::new(&Threads).map(&own, memory, frame).unwrap().into_iter().collect()
    }

    fn image(&self, plan: &Plan, (files, image): (&Files, &Candidate)) -> Result<FrameInfo, Error> {
        let raw = (image.size, image.hash);
        if matches!(plan.step(image.hash), Some(Step::Frame { codec: Codec::Raw, .. })) {
            return Ok(FrameInfo::new(Codec::Raw, image.size, raw));
        }
        if image.size > HUGE {
            return Ok(FrameInfo::new(Codec::Zstd, self.stream(plan, (files, image)), raw));
        }
        let frame = packer::encode_image(plan, files, image.hash)?;
        self.add(image.hash, frame.bytes());
        Ok(frame.info())
    }

    /// Compresses a file that is not held in memory; the others wait for the spool meanwhile.
    fn stream(&self, plan: &Plan, (files, image): (&Files, &Candidate)) -> u64 {
        let mut stream = packer::stream(plan, image.size).unwrap();
        let mut spool = self.file.lock().unwrap();
        let start = spool.1;
        let mut sink = |bytes: &[u8]| {
            spool.0.write_all(bytes).unwrap();
            spool.1 += bytes.len() as u64;
            Ok::<(), Error>(())
        };
        let (mut file, mut piece) = (File::open(&files.0[&image.hash]).unwrap(), vec![0; 256 << 10]);
        loop {
            let read = file.read(&mut piece).unwrap();
            if read == 0 {
                break;
            }
            stream.feed(&piece[..read], &mut sink).unwrap();
        }
        stream.finish(&mut sink).unwrap();
        let size = spool.1 - start;
        self.places.lock().unwrap().insert(image.hash, (start, size));
        size
    }

    fn blocks(&mut self, plan: &Plan, files: &Files) -> Vec<NewBlock> {
        let numbers: Vec<usize> = (0..plan.blocks().len()).collect();
        let block = |number: &usize| {
            let frame = packer::encode_block(plan, files, *number)?;
            let info = frame.info();
            self.add(info.hash, frame.bytes());
            Ok::<_, Error>(NewBlock::from(info))
        };
        Pool::new(&Threads).map(&numbers, |_| 0, block).unwrap()
    }

    fn add(&self, content: Hash128, frame: &[u8]) {
        let mut spool = self.file.lock().unwrap();
        spool.0.write_all(frame).unwrap();
        self.places.lock().unwrap().insert(content, (spool.1, frame.len() as u64));
        spool.1 += frame.len() as u64;
    }

    /// Appends a frame to `out`; one that is not in the spool is its image.
    fn copy(&mut self, content: Hash128, files: &Files, out: &mut File) {
        match self.places.get_mut().unwrap().get(&content) {
            Some((start, size)) => {
                let spool = &mut self.file.get_mut().unwrap().0;
                spool.seek(SeekFrom::Start(*start)).unwrap();
                io::copy(&mut spool.take(*size), out).unwrap();
            }
            None => {
                io::copy(&mut File::open(&files.0[&content]).unwrap(), out).unwrap();
            }
        }
    }
}
