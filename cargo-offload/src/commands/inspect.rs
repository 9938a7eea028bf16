//! `inspect`: the images of a file, from the file alone.

use offload_format::pack::{ArgInfo, Image, KernelInfo, Pack};
use serde::Serialize;

use crate::carrier::Carrier;
use crate::cli;
use crate::error::{Error, Result};
use crate::exit::ExitStatus;
use crate::output::{Output, Table};

#[derive(Debug, Serialize)]
struct ImageMessage {
    reason: &'static str,
    package: String,
    version: String,
    module: String,
    variant: String,
    target: String,
    image_kind: String,
    offload_kind: String,
    codec: String,
    filter: String,
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
    local_memory: Option<u64>,
    private_memory: Option<u64>,
    spilled: Option<u64>,
    has_barrier: bool,
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
    let carrier = Carrier::open(&args.path)?;
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

fn table(messages: &[ImageMessage]) -> Table {
    let mut table = Table::new(&[
        "package", "module", "variant", "target", "kind", "codec", "stored", "raw", "ratio", "kernels",
        "hash",
    ]);
    for message in messages {
        let ratio = message.stored_size.saturating_mul(100).checked_div(message.raw_size).unwrap_or(100);
        table.row(vec![
            message.package.clone(),
            message.module.clone(),
            if message.variant.is_empty() { "-".to_string() } else { message.variant.clone() },
            message.target.clone(),
            message.image_kind.clone(),
            message.codec.clone(),
            message.stored_size.to_string(),
            message.raw_size.to_string(),
            format!("{ratio}%"),
            message.kernels.len().to_string(),
            message.hash.chars().take(16).collect(),
        ]);
    }
    table
}

fn image_message(pack: &Pack<'_>, image: &Image<'_>) -> Result<ImageMessage> {
    let kernels = pack.kernels(image).map(|kernel| kernel.map(kernel_message).map_err(broken));
    Ok(ImageMessage {
        reason: "image",
        package: pack.meta("package").unwrap_or_default().to_string(),
        version: pack.meta("version").unwrap_or_default().to_string(),
        module: image.module.to_string(),
        variant: image.variant.to_string(),
        target: image.target_text.to_string(),
        image_kind: image.image_kind.to_string(),
        offload_kind: image.offload_kind.to_string(),
        codec: image.codec.to_string(),
        filter: image.filter.to_string(),
        stored_size: image.stored_size,
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
        local_memory: kernel.local_memory,
        private_memory: kernel.private_memory,
        spilled: kernel.spilled,
        has_barrier: kernel.has_barrier,
        args: kernel.args.into_iter().map(arg).collect(),
    }
}

fn broken(error: offload_format::Error) -> Error {
    Error::check(error.to_string())
}
