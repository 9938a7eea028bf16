//! `extract`: images to files, decoded or as they are stored.

mod inflated;
mod job;
mod name;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::job::Job;
use self::name::Names;
use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::read::input::{Carried, Subject, broken};
use crate::read::pack_file::Source;
use crate::read::records::{self, ImageRecord, Kernels, Origin, Wanted};

pub(super) fn run(output: &Output, args: &cli::Extract) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let subject = Subject::open(&path)?;
    let carried = subject.carried()?;
    let images = Wanted::parse(&args.select)?.of(&carried, Kernels::Recorded)?;
    let files = if args.stored { stored_files(&carried, &images)? } else { decoded_files(&images) };
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&path));
    prepare(&directory, &files, args)?;
    let mut job = Job::new(output, &subject, directory);
    if args.stored {
        write_stored(&mut job, &carried, &files)
    } else {
        write_decoded(&mut job, &carried, &files)
    }?;
    job.finish(&carried)
}

/// A file to be written, and what it is of.
struct File<'a> {
    image: &'a ImageRecord,
    name: String,
}

fn decoded_files(images: &[ImageRecord]) -> Vec<File<'_>> {
    let mut names = Names::default();
    images.iter().map(|image| File { image, name: names.of_image(image) }).collect()
}

/// One file for each frame or container, however many images lie in it.
fn stored_files<'a>(carried: &Carried<'_>, images: &'a [ImageRecord]) -> Result<Vec<File<'a>>> {
    let mut names = Names::default();
    let mut files: BTreeMap<(bool, usize, u64), File<'a>> = BTreeMap::new();
    let packs = carried.packs.sources();
    for image in images {
        let key = match image.origin {
            Origin::Container(number, _) => (true, number, 0),
            Origin::Pack(number, index) => {
                let Some(Source { pack, .. }) = packs.get(number) else { continue };
                let record = pack.image(index).map_err(broken)?;
                (false, number, pack.place(&record).map_err(broken)?.offset)
            }
        };
        files.entry(key).or_insert_with(|| File { image, name: names.of_frame(image) });
    }
    Ok(files.into_values().collect())
}

fn default_directory(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".images");
    PathBuf::from(name)
}

/// Nothing is written if something is in the way.
fn prepare(directory: &Path, files: &[File<'_>], args: &cli::Extract) -> Result<()> {
    let mut paths = files.iter().map(|file| directory.join(&file.name));
    let there = paths.find(|path| path.symlink_metadata().is_ok());
    match there {
        Some(path) if !args.force => Err(Error::usage(format!("`{}` exists", path.display()))
            .hint("name another directory with --output, or replace files with --force")),
        _ => {
            let failed = |error| Error::io("make the directory", directory, &error);
            std::fs::create_dir_all(directory).map_err(failed)
        }
    }
}

fn write_decoded<'a>(job: &mut Job<'a>, carried: &Carried<'_>, files: &'a [File<'a>]) -> Result<()> {
    let by_origin: BTreeMap<Origin, &File<'_>> = files.iter().map(|file| (file.image.origin, file)).collect();
    let origins: Vec<Origin> = by_origin.keys().copied().collect();
    records::each_item(carried, &origins, &mut |origin, item| match by_origin.get(&origin) {
        Some(file) => job.decode(file, item),
        None => Ok(()),
    })
}

fn write_stored<'a>(job: &mut Job<'a>, carried: &Carried<'_>, files: &'a [File<'a>]) -> Result<()> {
    let packs = carried.packs.sources();
    for file in files {
        match file.image.origin {
            Origin::Pack(number, index) => {
                let Some(source) = packs.get(number) else { continue };
                let image = source.pack.image(index).map_err(broken)?;
                match source.stored(&image) {
                    Ok(bytes) => job.write(file, &bytes)?,
                    Err(error) => job.failed(error.to_string())?,
                }
            }
            Origin::Container(number, _) => {
                let Some(container) = carried.containers.get(number) else { continue };
                job.write(file, container.found.bytes)?;
            }
        }
    }
    Ok(())
}
