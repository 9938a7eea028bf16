//! `opencl-c`: one source that includes nothing, for drivers that take neither native code nor SPIR-V.

use std::collections::BTreeMap;
use std::ffi::OsString;

use offload_format::{SpecUse, Target};
use offload_signatures::plain_name;

use crate::cache::{Blob, KeyBuilder};
use crate::compile::Session;
use crate::compile::front_end;
use crate::compile::front_end::opencl_features;
use crate::compile::front_end::own_headers;
use crate::compile::front_end::reading::FrontEnd;
use crate::compile::session::{Scan, Unit};
use crate::compile::steps::action::{Arg, texts};
use crate::error::{Error, Result};
use crate::library;
use crate::module::{DeviceImage, Library, Sources};
use crate::options::spec;

pub(crate) fn compile(session: &Session<'_>, unit: &Unit<'_>) -> Result<DeviceImage> {
    let bytes = merged(session, unit.scan)?;
    check(session, unit, &bytes).map_err(|error| {
        error
            .below("the files of the module do not compile as one source")
            .with_hint("names must be distinct across the files of a module; or compile them as two modules")
    })?;
    let mut record = unit.image_record(session, Target::OpenClC);
    record.aspects = unit.scan.aspects()?.into_values().collect();
    for (constant, id) in record.spec.iter_mut().zip(0u32..) {
        constant.usage = SpecUse::Id(id);
    }
    Ok(DeviceImage { record, bytes })
}

fn merged(session: &Session<'_>, scan: &Scan) -> Result<Blob> {
    let action = FrontEnd {
        name: "merge includes",
        tool: &session.tools().llvm()?.clang,
        args: merge_args(session)?,
        input: Some(format!("{}{}", including_libraries(session, scan)?, including(session.sources)?)),
    };
    let merged = with_own_headers(session, session.front_end(&action)?)?;
    let merged = with_definitions(session, scan, merged)?;
    let libraries = session.sources.libraries();
    if libraries.is_empty() {
        return Ok(merged);
    }
    let roots = libraries.iter().map(|library| library.root().as_os_str().as_encoded_bytes());
    let key = roots.fold(KeyBuilder::new("merged").part(&merged.hash.0), KeyBuilder::part);
    session.cache().get_or::<Error>(key.finish(), || {
        Ok(without_directories(&merged.read_text()?, &libraries).into_bytes())
    })
}

/// `merged` without the place of headers of ours.
fn with_own_headers(session: &Session<'_>, merged: Blob) -> Result<Blob> {
    let text = merged.read_text()?;
    let directory = format!("{}/", own_headers::directory(session).display());
    if !text.contains(&directory) {
        return Ok(merged);
    }
    let key = KeyBuilder::new("own headers").part(&merged.hash.0).part(directory.as_bytes());
    session.cache().get_or::<Error>(key.finish(), || Ok(text.replace(&directory, "").into_bytes()))
}

/// `merged` with nothing `noinline` if that loses definitions: drivers built on clang emit no function that is `inline` and
/// `noinline` without `static`. The attribute is a hint, and means nothing to the result.
fn with_definitions(session: &Session<'_>, scan: &Scan, merged: Blob) -> Result<Blob> {
    let key = KeyBuilder::new("without noinline").part(&merged.hash.0);
    let key = scan.files.iter().fold(key, |key, file| key.part(&file.ir.hash.0)).finish();
    let changed = session.cache().get_or::<Error>(key, || {
        for file in &scan.files {
            if offload_ir::has_inline_that_is_not_inlined(&file.ir.read_text()?) {
                return Ok(without_noinline(&merged.read_text()?).into_bytes());
            }
        }
        Ok(Vec::new())
    })?;
    Ok(if changed.size == 0 { merged } else { changed })
}

/// Replaces the attribute by one without an effect on functions that are called, also where macros have its name. String
/// literals stay.
fn without_noinline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c| is_of_word(c) || c == '"') {
        let (before, from) = rest.split_at(start);
        let length = if from.starts_with('"') { literal_length(from) } else { word_length(from) };
        let (token, after) = from.split_at(length);
        out.push_str(before);
        out.push_str(if matches!(token, "noinline" | "__noinline__") { "__unused__" } else { token });
        rest = after;
    }
    out + rest
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of the word that `text` starts with.
fn word_length(text: &str) -> usize {
    text.find(|c| !is_of_word(c)).unwrap_or(text.len())
}

/// The length of the string literal that `text` starts with: to its quote, or to the end of the line.
fn literal_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return index,
            '"' if !is_escaped => return index.saturating_add(1),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

/// `text` with names of packages in place of the directories of `libraries`.
fn without_directories(text: &str, libraries: &[&Library]) -> String {
    libraries.iter().fold(text.to_string(), |text, library| {
        text.replace(&format!("{}/", library.root().display()), &format!("{}/", library.package))
    })
}

/// The libraries as one text, each after all that it imports, with macros and names of its own.
fn including_libraries(session: &Session<'_>, scan: &Scan) -> Result<String> {
    let mut text = String::new();
    let libraries: Vec<&Library> = session.sources.libraries();
    for (library, ir) in libraries.iter().zip(&scan.libraries).rev() {
        let mut defined = own_names(library, &ir.read_text()?)?;
        defined.extend(macros(&library.sources));
        defined.iter().for_each(|(name, value)| text.push_str(&format!("#define {name} {value}\n")));
        for file in &library.sources.files {
            text.push_str(&front_end::include_line(&library.root().join(&file.path))?);
        }
        defined.keys().for_each(|name| text.push_str(&format!("#undef {name}\n")));
    }
    Ok(text)
}

/// New names for what a library defines and no header of its names: in one source, the module may have the same.
fn own_names(library: &Library, ir: &str) -> Result<BTreeMap<String, String>> {
    let words = library::words(library)?;
    let prefix = format!("{}_{}", library.package, library.name()).replace('-', "_");
    let mut names = BTreeMap::new();
    for symbol in offload_ir::symbols(ir) {
        let name = plain_name(symbol);
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // What begins with two underscores is the compiler's.
        if is_word && !name.starts_with("__") && !words.contains(&name) {
            names.insert(name.clone(), format!("{prefix}_{name}"));
        }
    }
    Ok(names)
}

/// The macros among the flags.
fn macros(sources: &Sources) -> Vec<(String, String)> {
    let defined = sources.flags.iter().filter_map(|flag| flag.to_str()?.strip_prefix("-D"));
    let split = defined.map(|definition| definition.split_once('=').unwrap_or((definition, "1")));
    split.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// Where the libraries of `sources` find what they include.
fn library_includes(sources: &Sources) -> Vec<OsString> {
    let mut flags = sources.import_flags();
    for library in sources.libraries() {
        let dirs = library.sources.flags.iter().filter_map(|flag| flag.to_str()?.strip_prefix("-I"));
        flags.extend(dirs.map(|dir| format!("-I{}", library.root().join(dir).display()).into()));
    }
    flags
}

/// The device's compiler knows nothing of the definitions given in build.rs: they become part of the source.
fn including(sources: &Sources) -> Result<String> {
    let defines = macros(sources).into_iter().map(|(name, value)| format!("#define {name} {value}\n"));
    let includes = sources.files.iter().map(|file| front_end::include_line(&file.path));
    let includes = includes.collect::<Result<Vec<_>>>()?;
    Ok(defines.chain([spec::opencl_c(&sources.spec)]).chain(includes).collect())
}

/// `-frewrite-includes` and not `-E`, which would also expand the macros of this machine's clang: whether the device
/// has fp64 or images is for its own compiler to say. `-cl-no-stdinc` keeps clang's own header out.
fn merge_args(session: &Session<'_>) -> Result<Vec<Arg>> {
    let sources = session.sources;
    let fixed = [
        "--target=spirv64-unknown-unknown",
        "-E",
        "-frewrite-includes",
        "-cl-no-stdinc",
        // Conditions see what the language defines, as `FLT_MAX`; the text has nothing of the header.
        "-imacros",
        "opencl-c-base.h",
        "-D__OFFLOAD_OPENCL_C__",
        "-MD",
        "-MT",
        "out",
        "-MF",
    ];
    let flags = sources.flags.iter().filter(|flag| !flag.as_encoded_bytes().starts_with(b"-D")).cloned();
    Ok(texts(fixed)
        .chain([Arg::Depfile, Arg::Text("-o".into()), Arg::Output])
        .chain(own_headers::flags(session)?)
        .chain(language(sources))
        .chain(texts(flags))
        .chain(texts(library_includes(sources)))
        .chain(texts(["-"]))
        .collect())
}

/// The flags of the language.
fn language(sources: &Sources) -> impl Iterator<Item = Arg> {
    let std = front_end::cl_std(sources);
    let version = opencl_features::version(sources, &std);
    texts(["-x".to_string(), "cl".into(), std]).chain(texts(version))
}

/// Compiles the merged source as a device would and looks for every kernel.
fn check(session: &Session<'_>, unit: &Unit<'_>, raw: &Blob) -> Result<()> {
    let args = texts(["--target=spirv64-unknown-unknown"]).chain(language(session.sources));
    let action = FrontEnd {
        name: "check merged source",
        tool: &session.tools().llvm()?.clang,
        args: args.chain(texts(["-w"])).chain(front_end::front_end_output()).chain(texts(["-"])).collect(),
        input: Some(raw.read_text()?),
    };
    let found = offload_ir::kernels(&session.front_end(&action)?.read_text()?);
    match unit.kernels.iter().find(|kernel| !found.iter().any(|other| other.name == kernel.name)) {
        None => Ok(()),
        Some(kernel) => Err(Error::new(format!("kernel `{}` is missing", kernel.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noinline_becomes_another_attribute() {
        let text = "#define noinline __attribute__((noinline))\n__attribute__((__noinline__, pure)) int not_noinline;";
        let expected = "#define __unused__ __attribute__((__unused__))\n__attribute__((__unused__, pure)) int not_noinline;";
        assert_eq!(without_noinline(text), expected);
        let literal = r#"printf("a \"noinline\" function"); noinline"#;
        assert_eq!(without_noinline(literal), r#"printf("a \"noinline\" function"); __unused__"#);
        assert_eq!(without_noinline("#error it's \" open\nnoinline"), "#error it's \" open\n__unused__");
    }
}
