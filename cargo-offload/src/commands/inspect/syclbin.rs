//! State of a SYCLBIN, and the forms of each of its modules.

use offload_containers::syclbin::{AbstractModule, File};
use serde::Serialize;

use crate::error::Result;
use crate::print::output::Output;
use crate::print::table::Table;
use crate::read::records::text_or_dash;
use crate::read::syclbin::Syclbin;

#[derive(Debug, Serialize)]
struct FileMessage<'a> {
    reason: &'static str,
    place: &'a str,
    /// None if the file names no state that exists.
    state: Option<String>,
    version: u32,
    envelope_version: Option<u32>,
    image_kind: Option<u16>,
    modules: usize,
}

#[derive(Debug, Serialize)]
struct FormMessage {
    reason: &'static str,
    module: usize,
    form: &'static str,
    target: String,
    arch: String,
    compile_target: String,
    size: u64,
    kernels: Vec<String>,
    imported: Vec<String>,
    exported: Vec<String>,
}

pub(super) fn inspect(output: &Output, found: &Syclbin<'_>) -> Result<()> {
    let file = found.parse()?;
    let message = file_message(&found.place, &file);
    let state = message.state.as_deref().unwrap_or("none");
    let kind = message.image_kind.map(|kind| format!(", image kind {kind}")).unwrap_or_default();
    let text = format!("{}: SYCLBIN version {}, state {state}{kind}", found.place, message.version);
    output.message(&message, &text)?;
    let forms: Vec<FormMessage> =
        file.modules.iter().enumerate().flat_map(|(index, module)| forms(index, module)).collect();
    if forms.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new(&["module", "form", "target", "arch", "for", "size", "kernels", "imports", "exports"]);
    forms.iter().for_each(|form| table.row(row(form)));
    output.table(&forms, &table)
}

fn file_message<'a>(place: &'a str, file: &File<'_>) -> FileMessage<'a> {
    FileMessage {
        reason: "syclbin",
        place,
        state: file.state().ok().map(|state| state.to_string()),
        version: file.version,
        envelope_version: file.envelope.map(|envelope| envelope.version),
        image_kind: file.envelope.map(|envelope| envelope.image_kind.0),
        modules: file.modules.len(),
    }
}

fn forms<'m>(index: usize, module: &'m AbstractModule<'_>) -> impl Iterator<Item = FormMessage> + use<'m> {
    let kernels = module.kernels().map(str::to_string).collect::<Vec<_>>();
    let imported = module.imported().map(str::to_string).collect::<Vec<_>>();
    let exported = module.exported().map(str::to_string).collect::<Vec<_>>();
    let all = module.ir.iter().map(|ir| ("ir", ir)).chain(module.native.iter().map(|it| ("native", it)));
    all.map(move |(form, payload)| FormMessage {
        reason: "syclbin-image",
        module: index,
        form,
        target: payload.target().unwrap_or_default(),
        arch: payload.arch().unwrap_or_default(),
        compile_target: module.compile_target().unwrap_or_default(),
        size: payload.bytes.len() as u64,
        kernels: kernels.clone(),
        imported: imported.clone(),
        exported: exported.clone(),
    })
}

fn row(form: &FormMessage) -> Vec<String> {
    vec![
        form.module.to_string(),
        form.form.to_string(),
        text_or_dash(&form.target),
        text_or_dash(&form.arch),
        text_or_dash(&form.compile_target),
        form.size.to_string(),
        text_or_dash(&form.kernels.join(" ")),
        text_or_dash(&form.imported.join(" ")),
        text_or_dash(&form.exported.join(" ")),
    ]
}
