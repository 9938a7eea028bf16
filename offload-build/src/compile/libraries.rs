//! Checks of a device library by itself, and the reasons why it lacks a function that an importer calls.

use offload_format::Target;
use offload_ir::Interface;
use offload_signatures::plain_name;

use crate::compile::linking::imports;
use crate::compile::session::Session;
use crate::compile::targets::host;
use crate::compile::targets::llvm;
use crate::error::{Error, Result};
use crate::library;
use crate::module::Library;

/// Compiles the library of this session for `target`, as if a module called all of its functions.
///
/// # Errors
/// If a source does not compile, or the headers name no function.
pub(super) fn check_alone(session: &Session<'_>, library: &Library, target: &Target) -> Result<()> {
    let ir = match target {
        Target::Host(level) => host::library(session, *level)?,
        _ => llvm::library(session, target)?,
    };
    let text = ir.read_text()?;
    if imports::exported(library, &Interface::parse(&text))?.is_empty() {
        let error =
            format!("no header in `{}` names a function of the device library", library.include.display());
        let vendor = library.sources.files.iter().any(|file| !file.language.is_portable());
        let hint = if vendor {
            "declare in a header what importers may call, with `__device__`, there and where it is defined; `static` functions and kernels are not exported"
        } else {
            "declare in a header what importers may call; `static` functions and kernels are not exported"
        };
        return Err(Error::new(error).with_hint(hint));
    }
    Ok(())
}

/// Whether a symbol is one of C++, with the types of arguments in it.
fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z")
}

/// Text and hint for a function that no imported library defines.
pub(super) struct Lacking {
    pub(super) text: String,
    pub(super) hint: String,
}

/// Why the imports of a module do not define `name`; nothing where it imports none.
pub(super) fn lacking(session: &Session<'_>, name: &str, target: &Target) -> Result<Option<Lacking>> {
    let libraries = session.sources.libraries();
    let Some(first) = libraries.first() else { return Ok(None) };
    let name = plain_name(name.split(' ').next().unwrap_or(name));
    let own = llvm::library(session, target)?.read_text()?;
    let symbol = Interface::parse(&own).declared.into_keys().find(|symbol| plain_name(symbol) == name);
    let symbol = symbol.unwrap_or(&name);
    for library in &libraries {
        let text = llvm::library(&session.for_library(library), target)?.read_text()?;
        let interface = Interface::parse(&text);
        let other = interface.defined.iter().find(|(symbol, _)| plain_name(symbol) == name);
        if let Some((found, signature)) = other {
            if !library::words(library)?.contains(&name) {
                return Ok(Some(own_function(library)));
            }
            if is_mangled(found) == is_mangled(symbol) {
                return Ok(Some(other_types(library, signature)));
            }
            return Ok(Some(other_name(library, found, symbol)));
        }
    }
    let named =
        libraries.iter().find(|library| library::words(library).is_ok_and(|words| words.contains(&name)));
    let (text, library) = match named {
        Some(library) => (
            format!("; a header of {} names it, and no source of it defines it", library.provider()),
            library,
        ),
        None => {
            let all: Vec<String> =
                libraries.iter().map(|it| format!("`{}` of {}", it.name(), it.provider())).collect();
            (
                format!("; {} imports {}, without such a function", imports::who(session), all.join(" and ")),
                first,
            )
        }
    };
    let hint = format!(
        "see with `cargo tree -i {0}` which version of crate `{0}` this is, and depend on one that has the function",
        library.package
    );
    Ok(Some(Lacking { text, hint }))
}

fn own_function(library: &Library) -> Lacking {
    Lacking {
        text: format!("; {} has it for itself: no header of its names it", library.provider()),
        hint: format!("call what the headers of crate `{}` declare", library.package),
    }
}

fn other_types(library: &Library, signature: &str) -> Lacking {
    let provider = library.provider();
    Lacking {
        text: format!("; {provider} has it with other types, `{signature}` in LLVM's words"),
        hint: format!("include the header of crate `{}` in place of a declaration", library.package),
    }
}

/// `found` is the symbol that the library has, `called` the one that its importer calls.
fn other_name(library: &Library, found: &str, called: &str) -> Lacking {
    let provider = library.provider();
    Lacking {
        text: format!(
            "; {provider} has it as `{found}`, and the call is of `{called}`: one is a name of C++, the other of C"
        ),
        hint: format!(
            "declare it between `extern \"C\" {{` and `}}` where `__cplusplus` is defined, in the header of crate `{}`, and include that header also where it is defined",
            library.package
        ),
    }
}
