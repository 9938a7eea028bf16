//! `inspect`: the images of a file, from the file alone.

mod syclbin;

use offload_format::pack::{ArgInfo, Image, KernelInfo, Pack};
use serde::Serialize;

use crate::carrier::Carrier;
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::{Output, Table};
use crate::syclbins;

#[derive(Debug, Serialize)]
struct ImageMessage {
    reason: &'static str,
    package: String,
    version: String,
    module: String,
    variant: String,
    part: String,
    target: String,
    aspects: Vec<String>,
    image_kind: String,
    offload_kind: String,
    codec: String,
    filter: String,
    /// The block that the image lies in with others; `stored_size` is its share then.
    block: Option<u32>,
    /// What the image is stored relative to, by hash.
    parent: Option<String>,
    stored_size: u64,
    raw_size: u64,
    hash: String,
    kernels: Vec<KernelMessage>,
}

#[derive(Debug, Serialize)]
struct KernelMessage {
    name: String,
    required_work_group: [u32; 3],
    sub_group_size: Option<u32>,
    registers: Option<u32>,
    scalar_registers: Option<u32>,
    accumulator_registers: Option<u32>,
    max_work_group: Option<u32>,
    local_memory: Option<u64>,
    private_memory: Option<u64>,
    spilled: Option<u64>,
    has_barrier: bool,
    remark: String,
    args: Vec<ArgMessage>,
}

#[derive(Debug, Serialize)]
struct ArgMessage {
    name: String,
    r#type: String,
    kind: String,
    size: Option<u32>,
}

#[derive(Debug, Serialize)]
struct NoticeMessage<'a> {
    reason: &'static str,
    kind: String,
    module: &'a str,
    target: &'a str,
    cause: &'a str,
}

#[derive(Debug, Serialize)]
struct SkippedMessage<'a> {
    reason: &'static str,
    cause: &'a str,
}

pub(super) fn run(output: &Output, args: &cli::Inspect) -> Result<ExitStatus> {
    let syclbins = syclbins::find(&args.path)?;
    syclbins.iter().try_for_each(|file| syclbin::inspect(output, file))?;
    let carrier = match Carrier::open(&args.path) {
        Ok(carrier) => carrier,
        // A file with the one needs nothing of the other.
        Err(_) if !syclbins.is_empty() => return Ok(ExitStatus::Success),
        Err(error) => return Err(error),
    };
    let mut messages = Vec::new();
    for (_, pack) in carrier.packs() {
        for image in pack.images() {
            messages.push(image_message(&pack, &image.map_err(broken)?)?);
        }
    }
    messages.sort_by(|a, b| (&a.package, &a.module).cmp(&(&b.package, &b.module)));
    if !messages.is_empty() {
        output.table(&messages, &table(&messages))?;
    }
    print_notices(output, &carrier)?;
    Ok(if carrier.skipped.is_empty() { ExitStatus::Success } else { ExitStatus::CheckFailed })
}

fn print_notices(output: &Output, carrier: &Carrier) -> Result<()> {
    for (_, pack) in carrier.packs() {
        for notice in pack.notices() {
            let notice = notice.map_err(broken)?;
            let message = NoticeMessage {
                reason: "notice",
                kind: notice.kind.to_string(),
                module: notice.module,
                target: notice.target,
                cause: notice.reason,
            };
            let text =
                format!("{}: module {} {}: {}", notice.kind, notice.module, notice.target, notice.reason);
            output.message(&message, &text)?;
        }
    }
    for cause in &carrier.skipped {
        output.message(&SkippedMessage { reason: "skipped", cause }, &format!("skipped {cause}"))?;
    }
    Ok(())
}

/// Parts and aspects have a column only where an image has some: most have none.
fn table(messages: &[ImageMessage]) -> Table {
    let parts = messages.iter().any(|message| !message.part.is_empty());
    let aspects = messages.iter().any(|message| !message.aspects.is_empty());
    let rows = messages.iter().map(|message| {
        let cells = cells(message).into_iter();
        let shown = |heading: &str| (parts || heading != PART) && (aspects || heading != NEEDS);
        cells.filter(|(heading, _)| shown(heading)).unzip()
    });
    let (headings, rows): (Vec<Vec<&'static str>>, Vec<Vec<String>>) = rows.unzip();
    let mut table = Table::new(headings.first().map_or(&[], Vec::as_slice));
    rows.into_iter().for_each(|row| table.row(row));
    table
}

const PART: &str = "part";
const NEEDS: &str = "needs";

/// What the table shows of an image, each with its heading.
fn cells(message: &ImageMessage) -> [(&'static str, String); 13] {
    let or_dash = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
    let ratio = message.stored_size.saturating_mul(100).checked_div(message.raw_size).unwrap_or(100);
    [
        ("package", message.package.clone()),
        ("module", message.module.clone()),
        ("variant", or_dash(&message.variant)),
        ("target", message.target.clone()),
        (PART, or_dash(&message.part)),
        (NEEDS, or_dash(&message.aspects.join(","))),
        ("kind", message.image_kind.clone()),
        ("codec", message.codec.clone()),
        ("stored", message.stored_size.to_string()),
        ("raw", message.raw_size.to_string()),
        ("ratio", format!("{ratio}%")),
        ("kernels", message.kernels.len().to_string()),
        ("hash", message.hash.chars().take(16).collect()),
    ]
}

fn image_message(pack: &Pack<'_>, image: &Image<'_>) -> Result<ImageMessage> {
    let kernels = pack.kernels(image).map(|kernel| kernel.map(kernel_message).map_err(broken));
    let (codec, stored_size) = pack.stored(image).map_err(broken)?;
    let parent = image.parent.map(|parent| pack.image(parent)).transpose().map_err(broken)?;
    Ok(ImageMessage {
        reason: "image",
        package: pack.meta("package").unwrap_or_default().to_string(),
        version: pack.meta("version").unwrap_or_default().to_string(),
        module: image.module.to_string(),
        variant: image.variant.to_string(),
        part: image.part.to_string(),
        aspects: image.aspects.names(),
        target: image.target_text.to_string(),
        image_kind: image.image_kind.to_string(),
        offload_kind: image.offload_kind.to_string(),
        codec: codec.to_string(),
        filter: image.filter.to_string(),
        block: image.block,
        parent: parent.map(|parent| parent.hash.to_string()),
        stored_size,
        raw_size: image.raw_size,
        hash: image.hash.to_string(),
        kernels: kernels.collect::<Result<_>>()?,
    })
}

fn kernel_message(kernel: KernelInfo) -> KernelMessage {
    let arg = |arg: ArgInfo| ArgMessage {
        name: arg.name,
        r#type: arg.type_name,
        kind: arg.kind.to_string(),
        size: arg.size,
    };
    KernelMessage {
        name: kernel.name,
        required_work_group: kernel.required_work_group,
        sub_group_size: kernel.sub_group_size,
        registers: kernel.registers,
        scalar_registers: kernel.scalar_registers,
        accumulator_registers: kernel.accumulator_registers,
        max_work_group: kernel.max_work_group,
        local_memory: kernel.local_memory,
        private_memory: kernel.private_memory,
        spilled: kernel.spilled,
        has_barrier: kernel.has_barrier,
        remark: kernel.remark,
        args: kernel.args.into_iter().map(arg).collect(),
    }
}

fn broken(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}
