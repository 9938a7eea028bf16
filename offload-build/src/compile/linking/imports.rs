//! Imports: IR of device libraries, linked into a module as far as the module calls it.

use std::collections::BTreeSet;

use offload_format::Import;
use offload_ir::Interface;
use offload_signatures::plain_name;

use crate::cache::{Blob, KeyBuilder, read_texts};
use crate::compile::session::Session;
use crate::compile::steps::action::{Arg, Step, texts, written};
use crate::compile::steps::check;
use crate::error::{Error, Result};
use crate::fs;
use crate::library;
use crate::module::Library;

/// A library as one module of IR, for the machine of who imports it.
#[derive(Debug)]
pub(crate) struct LibraryIr<'a> {
    pub(crate) library: &'a Library,
    pub(crate) ir: Blob,
}

/// `module` with all that it calls of `libraries`, each of which comes before what it imports.
///
/// # Errors
/// If a function is declared with other types than it is defined with, or is defined twice.
pub(crate) fn link(session: &Session<'_>, module: Blob, libraries: &[LibraryIr<'_>]) -> Result<Blob> {
    if libraries.is_empty() {
        return Ok(module);
    }
    compare(session, &module, libraries)?;
    let hidden = libraries.iter().map(|it| hidden(session, it)).collect::<Result<Vec<_>>>()?;
    let tool = session.tools().llvm_link()?;
    let step = Step {
        name: "link imports",
        tool: &tool,
        args: link_args(libraries.len()),
        inputs: std::iter::once(&module).chain(&hidden).map(|blob| (blob, ".ll")).collect(),
        files: vec![],
    };
    session.step(&step, check::ir_text)
}

/// A function that an image takes of a library when it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) name: String,
    pub(crate) library: Import,
}

/// What `module` calls of `libraries`, which are not linked with it here.
///
/// # Errors
/// As [`link`]; or if programs have no images of a library.
pub(crate) fn left(session: &Session<'_>, module: &Blob, libraries: &[LibraryIr<'_>]) -> Result<Vec<Left>> {
    compare(session, module, libraries)?;
    let own = module.read_text()?;
    let declared = Interface::parse(&own).declared;
    let mut found = Vec::new();
    for LibraryIr { library, ir } in libraries {
        let text = ir.read_text()?;
        let exported = exported(library, &Interface::parse(&text))?;
        for name in exported.into_iter().filter(|name| declared.contains_key(name)) {
            if !library.has_images {
                return Err(without_images(session, name, library));
            }
            found.push(Left { name: name.to_string(), library: library.import() });
        }
    }
    Ok(found)
}

/// The libraries of `functions`, each once.
pub(crate) fn providers(functions: &[Left]) -> Vec<Import> {
    let mut libraries: Vec<Import> = functions.iter().map(|function| function.library.clone()).collect();
    libraries.sort_unstable();
    libraries.dedup();
    libraries
}

fn without_images(session: &Session<'_>, name: &str, library: &Library) -> Error {
    let error = format!(
        "{} links `{}` of the device library `{}` at load, and {} exports it without images",
        who(session),
        written(name),
        library.name(),
        library.provider()
    );
    Error::new(error).with_hint(format!(
        "have crate `{}` export it with `.link(Link::Load)`, or leave `link` out in this crate",
        library.package
    ))
}

/// `--only-needed` holds for all files but the first: unused functions are not even copied.
fn link_args(libraries: usize) -> Vec<Arg> {
    let inputs = (0..=libraries).map(Arg::Input);
    texts(["-S", "--only-needed", "-o"]).chain([Arg::Output]).chain(inputs).collect()
}

/// The library in which others see nothing but what its headers name: their own functions may have the same names as
/// those that are left.
pub(crate) fn hidden(session: &Session<'_>, LibraryIr { library, ir }: &LibraryIr<'_>) -> Result<Blob> {
    let key = with_headers(KeyBuilder::new("hidden library").part(&ir.hash.0), library)?;
    session.cache().get_or(key.finish(), || {
        let text = ir.read_text()?;
        let interface = Interface::parse(&text);
        let mut seen = exported(library, &interface)?;
        let words = library::words(library)?;
        // Inline functions of public headers are those of the importer as well.
        seen.extend(interface.inline.iter().copied().filter(|name| words.contains(&plain_name(name))));
        Ok(offload_ir::hide(&text, &seen).into_bytes())
    })
}

/// The functions of a library that its headers name.
pub(crate) fn exported<'t>(library: &Library, interface: &Interface<'t>) -> Result<BTreeSet<&'t str>> {
    let words = library::words(library)?;
    let mut seen = BTreeSet::new();
    seen.extend(interface.defined.keys().copied().filter(|name| words.contains(&plain_name(name))));
    Ok(seen)
}

fn with_headers(mut key: KeyBuilder, library: &Library) -> Result<KeyBuilder> {
    for header in &library.headers {
        key = key.part(&fs::read(header)?);
    }
    Ok(key)
}

/// A module that takes part in a link.
struct Side<'t> {
    /// "crate `app` 0.1.0"
    who: String,
    package: &'t str,
    interface: Interface<'t>,
    /// Of a library; the module itself shows all that it defines.
    exported: Option<BTreeSet<&'t str>>,
}

impl Side<'_> {
    /// Whether it defines a function of this name for others.
    fn shows(&self, name: &str) -> bool {
        match &self.exported {
            Some(exported) => exported.contains(name),
            None => self.interface.defined.contains_key(name) || self.interface.inline.contains(name),
        }
    }

    /// LLVM's types of a function that it defines or declares.
    fn types(&self, name: &str) -> String {
        let functions = [&self.interface.defined, &self.interface.declared];
        functions.into_iter().find_map(|all| all.get(name)).cloned().unwrap_or_default()
    }
}

/// Whether what is declared is what is defined, once for each state of both.
fn compare(session: &Session<'_>, module: &Blob, libraries: &[LibraryIr<'_>]) -> Result<()> {
    let mut key = KeyBuilder::new("interfaces fit").part(&module.hash.0);
    for LibraryIr { library, ir } in libraries {
        key = with_headers(key.part(&ir.hash.0), library)?;
    }
    session.cache().get_or::<Error>(key.finish(), || {
        compare_texts(session, &module.read_text()?, libraries)?;
        Ok(b"fits".to_vec())
    })?;
    Ok(())
}

fn compare_texts(session: &Session<'_>, module: &str, libraries: &[LibraryIr<'_>]) -> Result<()> {
    let texts = read_texts(libraries.iter().map(|library| &library.ir))?;
    let mut sides = vec![Side {
        who: who(session),
        package: &session.env().package,
        interface: Interface::parse(module),
        exported: None,
    }];
    for (LibraryIr { library, .. }, text) in libraries.iter().zip(&texts) {
        let interface = Interface::parse(text);
        let exported = Some(exported(library, &interface)?);
        sides.push(Side { who: library.provider(), package: &library.package, interface, exported });
    }
    refuse_misfits(&sides)
}

/// The package that is built, as messages have it.
pub(crate) fn who(session: &Session<'_>) -> String {
    format!("crate `{}` {}", session.env().package, session.env().version)
}

fn refuse_misfits(sides: &[Side<'_>]) -> Result<()> {
    for (at, exporter) in sides.iter().enumerate() {
        for name in exporter.exported.iter().flatten() {
            let signature = exporter.interface.defined.get(name);
            for (_, other) in sides.iter().enumerate().filter(|(other, _)| *other != at) {
                let declared = other.interface.declared.get(name);
                if other.shows(name) {
                    return Err(defined_twice(name, exporter, other));
                }
                if declared.is_some() && declared != signature {
                    return Err(misfit(name, exporter, other));
                }
            }
        }
    }
    Ok(())
}

fn misfit(name: &str, exporter: &Side<'_>, importer: &Side<'_>) -> Error {
    let error = format!(
        "{} declares the function `{}` as `{}`, and {} defines it as `{}`, in LLVM's types",
        importer.who,
        written(name),
        importer.types(name),
        exporter.who,
        exporter.types(name),
    );
    Error::new(error).with_hint(format!(
        "include the header of crate `{}` in place of a declaration; both have to be compiled with the same version of OpenCL C",
        exporter.package
    ))
}

fn defined_twice(name: &str, exporter: &Side<'_>, other: &Side<'_>) -> Error {
    let error = format!("{} and {} both define the function `{}`", other.who, exporter.who, written(name));
    Error::new(error).with_hint(format!("rename that of crate `{}`, or make it `static`", other.package))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side<'t>(package: &'t str, text: &'t str) -> Side<'t> {
        let who = format!("crate `{package}` 1.0.0");
        Side { who, package, interface: Interface::parse(text), exported: None }
    }

    const LIBRARY: &str =
        "define dso_local spir_func float @scale(float %x) #0 {\ndefine spir_func void @own() {\n";

    fn refused(importer: &str) -> Option<String> {
        let library = Side { exported: Some(["scale"].into()), ..side("vec", LIBRARY) };
        let sides = [side("app", importer), library];
        refuse_misfits(&sides).err().map(|error| error.to_string())
    }

    #[test]
    fn a_declaration_has_to_be_that_of_the_definition() {
        assert_eq!(refused("declare spir_func float @scale(float noundef) #1\n"), None);
        let error = refused("declare spir_func i32 @scale(float noundef) #1\n").unwrap();
        assert!(
            error.contains(
                "crate `app` 1.0.0 declares the function `scale` as `i32 (float)`, and crate `vec` 1.0.0 defines it as `float (float)`"
            ),
            "{error}"
        );
        assert!(error.contains("hint: include the header of crate `vec`"), "{error}");
    }

    #[test]
    fn only_exported_functions_are_there_once() {
        assert_eq!(
            refused("define spir_func void @own() {\ndefine internal float @scale(float %y) {\n"),
            None
        );
        let error = refused("define spir_func i32 @scale(i32 %x) {\n").unwrap();
        assert!(
            error.contains("crate `app` 1.0.0 and crate `vec` 1.0.0 both define the function `scale`"),
            "{error}"
        );
        assert!(error.contains("hint: rename that of crate `app`"), "{error}");
        assert!(refused("define linkonce_odr float @scale(float %x) comdat {\n").is_some());
    }

    #[test]
    fn the_module_comes_first() {
        let args = link_args(2);
        let end = [Arg::Output, Arg::Input(0), Arg::Input(1), Arg::Input(2)];
        assert_eq!(args[args.len() - 4..], end);
        assert!(args.contains(&Arg::Text("--only-needed".into())));
    }
}
