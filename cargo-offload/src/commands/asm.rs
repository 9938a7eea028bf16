//! `asm`: disassembly of a kernel by the tools of its vendor.

use std::path::Path;

use offload_format::Target;
use serde::Serialize;

use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::{Error, Result};
use crate::print::output::Output;
use crate::print::table::Table;
use crate::print::text::escaped;
use crate::read::disassemble::{self, Request};
use crate::read::input::Input;
use crate::read::missing;
use crate::read::records::{self, ImageRecord, Kernels, Selection};

#[derive(Debug, Serialize)]
struct AsmMessage<'a> {
    reason: &'static str,
    module: String,
    target: &'a str,
    kernel: Option<&'a str>,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct KernelMessage<'a> {
    reason: &'static str,
    kernel: &'a str,
    module: String,
    target: &'a str,
}

pub(super) fn run(output: &Output, args: &cli::Asm) -> Result<ExitStatus> {
    let (given, kernel) = words(args);
    let path = artifact::path(output, given, &args.cargo)?;
    let input = Input::open(&path, output.limits())?;
    let contents = input.contents()?;
    let images = Selection::parse(&args.select)?.select(&contents, Kernels::Read)?;
    let mut shown = select_images(&images, kernel)?;
    if shown.is_empty() {
        list(output, &images)?;
    }
    shown.sort_by_key(|image| rank(image));
    let left_out = if args.select.target.is_empty() { without_cpu(&mut shown) } else { 0 };
    let mut problems = Vec::new();
    for image in &shown {
        let shown = records::each_decoded(&contents, &[image.origin], &mut |_, bytes| {
            show(output, ShownImage { image, kernel }, &bytes?)
        });
        problems.extend(shown.err());
    }
    if left_out > 0 {
        output.remark("\n// CPU code is omitted; use --for host to show it")?;
    }
    missing::print(output, &contents)?;
    // What could be shown was shown; of one image there is nothing else to tell.
    match problems.as_slice() {
        [] => Ok(contents.status()),
        [only] if shown.len() == 1 => Err(only.clone()),
        several => {
            several.iter().try_for_each(|error| missing::unreadable(output, &error.to_string()))?;
            Ok(ExitStatus::CheckFailed)
        }
    }
}

/// The file and the kernel. A word alone is the kernel's if it can be a name and there is no such file.
fn words(args: &cli::Asm) -> (Option<&Path>, Option<&str>) {
    let only = args.path.as_deref().filter(|path| args.kernel.is_none() && !path.exists());
    match only
        .and_then(Path::to_str)
        .filter(|word| word.chars().all(|c| c.is_alphanumeric() || "_$".contains(c)))
    {
        Some(kernel) => (None, Some(kernel)),
        None => (args.path.as_deref(), args.kernel.as_deref()),
    }
}

/// The images that are shown: those with the kernel, or the only one there is; none if nothing was chosen.
fn select_images<'a>(images: &'a [ImageRecord], kernel: Option<&str>) -> Result<Vec<&'a ImageRecord>> {
    let Some(kernel) = kernel else {
        return Ok(if images.len() == 1 { images.iter().collect() } else { Vec::new() });
    };
    // An image whose kernels are not known may have it.
    let mut matches = Vec::new();
    for image in images {
        if image.kernels.as_ref().is_none_or(|all| all.iter().any(|it| it.name == kernel)) {
            matches.push(image);
        }
    }
    if matches.is_empty() {
        let mut names: Vec<&str> = images
            .iter()
            .flat_map(|image| image.kernels.iter().flatten())
            .map(|kernel| kernel.name.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(SHOWN);
        let error = Error::usage(format!("no image has a kernel `{}`", escaped(kernel)));
        return Err(error.hint(format!("available kernels: {}", escaped(&names.join(", ")))));
    }
    Ok(matches)
}

/// Sort key of images: native GPU code first, then code that a driver compiles, and CPU code last.
fn rank(image: &ImageRecord) -> u8 {
    match image.target.parse() {
        Ok(Target::Intel(_) | Target::Cubin(_) | Target::Amdgcn(_)) => 0,
        Ok(Target::Nvptx(_)) => 1,
        Ok(Target::Spirv64(_)) => 2,
        Ok(Target::Host(_)) => 4,
        _ => 3,
    }
}

/// Takes out images for the CPU where there are others; how many. A kernel of ten lines is hundreds of lines there.
fn without_cpu(images: &mut Vec<&ImageRecord>) -> usize {
    let all = images.len();
    if !images.iter().all(|image| is_for_cpu(image)) {
        images.retain(|image| !is_for_cpu(image));
    }
    all.saturating_sub(images.len())
}

fn is_for_cpu(image: &ImageRecord) -> bool {
    matches!(image.target.parse(), Ok(Target::Host(_)))
}

/// Maximum number of kernels that an error lists.
const SHOWN: usize = 12;

/// An image, and the kernel of it that is shown; all without one.
#[derive(Clone, Copy)]
struct ShownImage<'a> {
    image: &'a ImageRecord,
    kernel: Option<&'a str>,
}

fn list(output: &Output, images: &[ImageRecord]) -> Result<()> {
    let mut table = Table::new(&["kernel", "module", "target"]);
    let mut messages = Vec::new();
    for image in images {
        for kernel in image.kernels.iter().flatten() {
            table.row(vec![kernel.name.clone(), image.module_name(), image.target.clone()]);
            let module = image.module_name();
            let target = image.target.as_str();
            messages.push(KernelMessage { reason: "kernel", kernel: &kernel.name, module, target });
        }
    }
    output.table(&messages, &table)
}

fn show(output: &Output, shown: ShownImage<'_>, bytes: &[u8]) -> Result<()> {
    let ShownImage { image, kernel } = shown;
    let target = image.target.parse();
    let intel = match &target {
        Ok(Target::Intel(arch)) => Some(arch.name()),
        _ => None,
    };
    let request = Request { image: bytes, kernel, intel_device: intel };
    let text = disassemble::text(request, Path::new(".")).map_err(|error| {
        error.context(&format!(
            "target `{}` of module `{}`",
            escaped(&image.target),
            escaped(&image.module_name())
        ))
    })?;
    let module = image.module_name();
    let target = image.target.as_str();
    output.remark(&escaped(&format!("// {module} {target}")))?;
    let message = AsmMessage { reason: "asm", module, target, kernel, text: &text };
    output.message(&message, expand_tabs(&text).trim_end())
}

/// Columns are eight characters wide where these tools count with tabs.
fn expand_tabs(text: &str) -> String {
    text.lines()
        .map(|line| {
            let mut parts = line.split('\t');
            let mut out = parts.next().unwrap_or_default().to_string();
            for part in parts {
                let width = out.chars().count();
                let column = (width / TAB).saturating_add(1).saturating_mul(TAB);
                out.extend(std::iter::repeat_n(' ', column.saturating_sub(width)));
                out.push_str(part);
            }
            out
        })
        .collect::<Vec<_>>()
        .join("\n")
}

const TAB: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_become_columns() {
        assert_eq!(expand_tabs("a\tb\n\tc\t\td\nplain"), "a       b\n        c               d\nplain");
    }
}
