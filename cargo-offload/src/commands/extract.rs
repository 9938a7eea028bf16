//! `extract`: images as files, decoded or as stored.

mod inflated;
mod job;
mod name;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::job::{ExtractedFile, Job};
use self::name::{Folders, HostEnding, Names};
use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, IoContext, Result};
use crate::print::output::Output;
use crate::read::input::Contents;
use crate::read::inputs::{self, Opened, Source};
use crate::read::pack_file::LocatedPack;
use crate::read::records::{self, ImageRecord, Kernels, Origin, Selection};

pub(super) fn run(output: &Output, args: &cli::Extract) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let selection = Selection::parse(&args.select)?;
    let directory = args.output.clone().unwrap_or_else(|| default_directory(&path));
    let source = Source { path: &path, search: args.deep.search() };
    let mut folders = Folders::default();
    let mut written = 0;
    let status = inputs::each(output, source, &mut |opened| {
        let images = opened.images(&selection, Kernels::Recorded)?;
        if images.is_empty() && opened.member.is_some() {
            return Ok(opened.contents.status());
        }
        written += images.len();
        let directory = match opened.member {
            None => directory.clone(),
            Some(member) => directory.join(folders.name_member(member)),
        };
        opened.print_name(output)?;
        extract(output, args, &Extraction { opened, images: &images, directory })
    })?;
    match status {
        ExitStatus::Success if written == 0 && !selection.is_everything() => {
            Err(inputs::none_selected(&path))
        }
        status => Ok(status),
    }
}

/// Images of a file, and where they are written.
struct Extraction<'e> {
    opened: &'e Opened<'e>,
    images: &'e [ImageRecord],
    directory: PathBuf,
}

fn extract(output: &Output, args: &cli::Extract, extraction: &Extraction<'_>) -> Result<ExitStatus> {
    let Extraction { opened, images, directory } = extraction;
    let contents = opened.contents;
    let files = if args.stored { stored_files(contents, images)? } else { decoded_files(contents, images)? };
    prepare(directory, &files, args)?;
    let mut job = Job::new(output, opened.input, directory.clone());
    if args.stored {
        write_stored(&mut job, contents, &files)
    } else {
        write_decoded(&mut job, contents, &files)
    }?;
    job.finish(contents)
}

fn decoded_files<'a>(contents: &Contents<'_>, images: &'a [ImageRecord]) -> Result<Vec<ExtractedFile<'a>>> {
    let endings = host_endings(contents, images)?;
    let mut names = Names::default();
    let mut files = Vec::new();
    for image in images {
        let ending = match image.origin {
            Origin::Pack(number, _) => endings.get(&number).copied(),
            Origin::Container(..) => None,
        };
        files.push(ExtractedFile { image, name: names.name_image(image, ending.unwrap_or_default()) });
    }
    Ok(files)
}

/// By the number of a pack. A build makes a pack for one system: the first image that can be decoded stands for all.
fn host_endings(contents: &Contents<'_>, images: &[ImageRecord]) -> Result<BTreeMap<usize, HostEnding>> {
    let mut endings = BTreeMap::new();
    for image in images.iter().filter(|image| image.image_kind == "host") {
        let Origin::Pack(number, _) = image.origin else { continue };
        if endings.contains_key(&number) {
            continue;
        }
        records::each_decoded(contents, &[image.origin], &mut |_, bytes| {
            // Damage is an error when the image is written.
            if let Ok(bytes) = bytes {
                endings.insert(number, HostEnding::for_library(&bytes));
            }
            Ok(())
        })?;
    }
    Ok(endings)
}

/// One file for each frame or container, however many images lie in it.
fn stored_files<'a>(contents: &Contents<'_>, images: &'a [ImageRecord]) -> Result<Vec<ExtractedFile<'a>>> {
    let mut names = Names::default();
    let mut files: BTreeMap<(bool, usize, u64), ExtractedFile<'a>> = BTreeMap::new();
    let packs = contents.packs.sources();
    for image in images {
        let key = match image.origin {
            Origin::Container(number, _) => (true, number, 0),
            Origin::Pack(number, index) => {
                let Some(LocatedPack { pack, .. }) = packs.get(number) else { continue };
                let record = pack.image(index)?;
                (false, number, pack.frame_range(&record)?.offset)
            }
        };
        files.entry(key).or_insert_with(|| ExtractedFile { image, name: names.name_frame(image) });
    }
    Ok(files.into_values().collect())
}

fn default_directory(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".images");
    PathBuf::from(name)
}

/// Nothing is written if something is in the way.
fn prepare(directory: &Path, files: &[ExtractedFile<'_>], args: &cli::Extract) -> Result<()> {
    let mut paths = files.iter().map(|file| directory.join(&file.name));
    let there = paths.find(|path| path.symlink_metadata().is_ok());
    match there {
        Some(path) if !args.force => Err(Error::usage(format!("`{}` exists", path.display()))
            .hint("choose another directory with --output, or overwrite files with --force")),
        _ => std::fs::create_dir_all(directory).io_context("create the directory", directory),
    }
}

fn write_decoded<'a>(
    job: &mut Job<'a>,
    contents: &Contents<'_>,
    files: &'a [ExtractedFile<'a>],
) -> Result<()> {
    let by_origin: BTreeMap<Origin, &ExtractedFile<'_>> =
        files.iter().map(|file| (file.image.origin, file)).collect();
    let origins: Vec<Origin> = by_origin.keys().copied().collect();
    records::each_image(contents, &origins, &mut |origin, image| match by_origin.get(&origin) {
        Some(file) => job.decode(file, image),
        None => Ok(()),
    })
}

fn write_stored<'a>(
    job: &mut Job<'a>,
    contents: &Contents<'_>,
    files: &'a [ExtractedFile<'a>],
) -> Result<()> {
    let packs = contents.packs.sources();
    for file in files {
        match file.image.origin {
            Origin::Pack(number, index) => {
                let Some(source) = packs.get(number) else { continue };
                let image = source.pack.image(index)?;
                match source.stored(&image) {
                    Ok(bytes) => job.write(file, &bytes, None)?,
                    Err(error) => job.failed(error.to_string())?,
                }
            }
            Origin::Container(number, _) => {
                let Some(container) = contents.containers.get(number) else { continue };
                job.write(file, container.found.bytes, None)?;
            }
        }
    }
    Ok(())
}
