//! `size`: sizes of images, and the savings of deduplication.

mod alone;
mod group;

use std::path::Path;

use serde::Serialize;

pub(super) use self::group::shares;
use self::group::{Group, Groups};
use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::{counted, human_size};
use crate::read::input::Search;
use crate::read::inputs::{self, Opened, Source};
use crate::read::missing;
use crate::read::records::{ImageRecord, Kernels, Selection};

#[derive(Debug, Serialize)]
struct Summary {
    reason: &'static str,
    /// Bytes of the whole file.
    file_size: u64,
    /// Bytes of the other files in which its packs have images.
    sidecar_size: u64,
    images: u64,
    raw_size: u64,
    stored_size: u64,
    /// Images that are stored only once although they are there several times.
    equal_images: u64,
    /// Bytes of the images that are not stored because they are equal to others.
    equal_size: u64,
    /// Size of the images if each were compressed separately.
    alone_size: Option<u64>,
}

/// A group of images in two files.
#[derive(Debug, Serialize)]
struct Change {
    reason: &'static str,
    by: &'static str,
    name: String,
    stored_size: u64,
    stored_change: i128,
    raw_size: u64,
    raw_change: i128,
}

pub(super) fn run(output: &Output, args: &cli::Size) -> Result<ExitStatus> {
    let wanted = Selection::parse(&args.select)?;
    match &args.compare {
        Some(other) => {
            let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
            compare(output, &wanted, Comparison { paths: [&path, other], search: args.deep.search() })
        }
        None => show(output, &wanted, args),
    }
}

fn show(output: &Output, wanted: &Selection, args: &cli::Size) -> Result<ExitStatus> {
    let path = artifact::path(output, args.path.as_deref(), &args.cargo)?;
    let source = Source { path: &path, search: args.deep.search() };
    let mut measured = FileSizes::default();
    let status = inputs::each(output, source, &mut |opened| {
        measured.add(opened, wanted, args)?;
        if opened.member.is_none() {
            measured.print(output)?;
        }
        missing::print(output, opened.contents)?;
        Ok(opened.contents.status())
    })?;
    if measured.of == MeasuredFiles::Members {
        measured.print(output)?;
    }
    Ok(status)
}

/// Kind of input.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum MeasuredFiles {
    #[default]
    File,
    /// The files in an archive.
    Members,
}

/// The images of one file or several.
#[derive(Default)]
struct FileSizes {
    of: MeasuredFiles,
    images: Vec<ImageRecord>,
    file_size: u64,
    sidecar_size: u64,
    alone_size: Option<u64>,
}

impl FileSizes {
    fn add(&mut self, opened: &Opened<'_>, wanted: &Selection, args: &cli::Size) -> Result<()> {
        let images = opened.images(wanted, Kernels::Measured)?;
        if opened.member.is_some() {
            self.of = MeasuredFiles::Members;
        }
        self.file_size = self.file_size.saturating_add(opened.input.size());
        self.sidecar_size = self.sidecar_size.saturating_add(opened.contents.packs.sidecar_size()?);
        if args.alone {
            let alone = alone::size(opened.contents, &images)?;
            self.alone_size = Some(self.alone_size.unwrap_or(0).saturating_add(alone));
        }
        self.images.extend(images);
        Ok(())
    }

    fn print(&self, output: &Output) -> Result<()> {
        let groups = Groups::from_images(&self.images);
        for (by, groups) in groups.by() {
            output.table(groups, &table(by, groups))?;
            output.space()?;
        }
        let summary = self.summary();
        output.message(&summary, &sentence(&summary))
    }

    fn summary(&self) -> Summary {
        let images = &self.images;
        let shares = shares(images);
        let raw_size = images.iter().fold(0u64, |sum, image| sum.saturating_add(image.raw_size));
        let repeated =
            images.iter().zip(&shares).filter(|(_, share)| share.first == group::FirstOccurrence::No);
        let repeated: Vec<u64> = repeated.map(|(image, _)| image.raw_size).collect();
        Summary {
            reason: "summary",
            file_size: self.file_size,
            sidecar_size: self.sidecar_size,
            images: images.len() as u64,
            raw_size,
            stored_size: shares.iter().fold(0u64, |sum, share| sum.saturating_add(share.stored)),
            equal_images: repeated.len() as u64,
            equal_size: repeated.iter().fold(0u64, |sum, size| sum.saturating_add(*size)),
            alone_size: self.alone_size,
        }
    }
}

fn table(by: &'static str, groups: &[Group]) -> Table {
    let mut table = Table::new(&[by, "images", "stored", "raw", "of stored"]);
    let all = groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.stored_size));
    for group in groups {
        let share = group.stored_size.saturating_mul(100).checked_div(all).unwrap_or(0);
        table.row(vec![
            group.name.clone(),
            group.images.to_string(),
            human_size(group.stored_size),
            human_size(group.raw_size),
            format!("{share}%"),
        ]);
    }
    table
}

fn sentence(summary: &Summary) -> String {
    let Summary { file_size, sidecar_size, images, raw_size, stored_size, .. } = *summary;
    let all_size = file_size.saturating_add(sidecar_size);
    let share = stored_size.saturating_mul(100).checked_div(all_size).unwrap_or(0);
    let mut text = format!(
        "{} of {} {} {} of {} {} ({share}%)",
        counted(images, "image"),
        human_size(raw_size),
        if images == 1 { "takes" } else { "take" },
        human_size(stored_size),
        if sidecar_size > 0 { "the files'" } else { "the file's" },
        human_size(all_size)
    );
    if summary.equal_images > 0 {
        let size = human_size(summary.equal_size);
        text.push_str(&format!(
            "\n{} of them are duplicates, which take no space: {size}",
            summary.equal_images
        ));
    }
    if let Some(alone) = summary.alone_size {
        let saved = 100u64.saturating_sub(stored_size.saturating_mul(100).checked_div(alone).unwrap_or(100));
        text.push_str(&format!(
            "\ncompressed separately: {}; deduplication saves {saved}%",
            human_size(alone)
        ));
    }
    text
}

/// Two files, the new one first.
struct Comparison<'a> {
    paths: [&'a Path; 2],
    search: Search,
}

fn compare(output: &Output, wanted: &Selection, compared: Comparison<'_>) -> Result<ExitStatus> {
    let [new, old] = compared.paths.map(|path| -> Result<_> {
        let mut images = Vec::new();
        let status = inputs::each(output, Source { path, search: compared.search }, &mut |opened| {
            images.extend(opened.images(wanted, Kernels::Measured)?);
            Ok(opened.contents.status())
        })?;
        Ok((Groups::from_images(&images), status))
    });
    let ((new, new_status), (old, old_status)) = (new?, old?);
    for ((by, new), (_, old)) in new.by().into_iter().zip(old.by()) {
        let changes = changes(by, new, old);
        output.table(&changes, &change_table(by, &changes))?;
        output.space()?;
    }
    let new = total_size(&new);
    let old = total_size(&old);
    let text = format!("{} now, {} before: {}", human_size(new), human_size(old), signed(new, old));
    output.remark(&text)?;
    Ok(if new_status == ExitStatus::Success { old_status } else { new_status })
}

/// Every group of either file; those that grew most come first.
fn changes(by: &'static str, new: &[Group], old: &[Group]) -> Vec<Change> {
    let mut names: Vec<&str> = new.iter().chain(old).map(|group| group.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut changes = Vec::new();
    for name in names {
        let (stored_size, raw_size) = group_sizes(new, name);
        let (old_stored, old_raw) = group_sizes(old, name);
        changes.push(Change {
            reason: "size-change",
            by,
            name: name.to_string(),
            stored_size,
            stored_change: i128::from(stored_size) - i128::from(old_stored),
            raw_size,
            raw_change: i128::from(raw_size) - i128::from(old_raw),
        });
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.stored_change));
    changes
}

fn change_table(by: &'static str, changes: &[Change]) -> Table {
    let mut table = Table::new(&[by, "stored", "change", "raw", "raw change"]);
    for change in changes {
        table.row(vec![
            change.name.clone(),
            human_size(change.stored_size),
            signed(change.stored_size, size_before(change.stored_size, change.stored_change)),
            human_size(change.raw_size),
            signed(change.raw_size, size_before(change.raw_size, change.raw_change)),
        ]);
    }
    table
}

fn signed(new: u64, old: u64) -> String {
    match new.cmp(&old) {
        std::cmp::Ordering::Greater => format!("+{}", human_size(new.abs_diff(old))),
        std::cmp::Ordering::Less => format!("-{}", human_size(new.abs_diff(old))),
        std::cmp::Ordering::Equal => "0".to_string(),
    }
}

/// Stored bytes of all modules.
fn total_size(groups: &Groups) -> u64 {
    groups.modules.iter().fold(0u64, |sum, group| sum.saturating_add(group.stored_size))
}

/// Stored and raw bytes of the group `name`.
fn group_sizes(groups: &[Group], name: &str) -> (u64, u64) {
    let group = groups.iter().find(|group| group.name == name);
    group.map_or((0, 0), |group| (group.stored_size, group.raw_size))
}

fn size_before(now: u64, change: i128) -> u64 {
    u64::try_from(i128::from(now) - change).unwrap_or(0)
}
