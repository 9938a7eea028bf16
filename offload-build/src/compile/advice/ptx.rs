//! Inline PTX in CUDA C++ for other targets than NVIDIA's: clang refuses some of it by its constraints, and the assembler
//! the rest without a place in the source.

use crate::cache::Blob;
use crate::compile::session::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::ir::{AsmCall, asm_calls};
use crate::module::{Language, SourceFile};

const HINT: &str = "PTX is the assembly of NVIDIA's GPUs: guard it with `#ifdef __NVPTX__` and write C++ for other targets, or set `cuda-arch` of the module to a value of `__CUDA_ARCH__` without it; or `only = [\"nvptx\", \"cubin\"]` leaves other targets out";

/// `error` of a front end for AMD or the CPU, with what helps if it is of inline assembly.
pub(crate) fn explained(error: Error) -> Error {
    let is_asm = error.message().lines().any(is_constraint);
    if error.kind() == ErrorKind::Tool && error.hint().is_none() && is_asm {
        return error.with_hint(HINT);
    }
    error
}

/// Whether clang says that no register of the target is one of PTX.
fn is_constraint(line: &str) -> bool {
    let (_, error) = line.split_once("error: ").unwrap_or_default();
    error.starts_with("invalid ") && error.ends_with(" in asm") && error.contains("put constraint '")
}

/// Refuses PTX that clang took in `ir`, what it made of `file`.
pub(crate) fn refuse(session: &Session<'_>, file: &SourceFile, ir: &Blob) -> Result<()> {
    if file.language != Language::Cuda {
        return Ok(());
    }
    let text = ir.read_text()?;
    let Some(AsmCall { template, place }) = asm_calls(&text).into_iter().find(|call| is_ptx(&call.template))
    else {
        return Ok(());
    };
    let place = match place {
        Some((path, line)) => format!("{path}:{line}"),
        None => file.path.display().to_string(),
    };
    let module = &session.sources.module;
    let error =
        format!("{place}: inline PTX in `{module}`, which is for NVIDIA alone: `{}`", template.trim());
    Err(Error::new(error).with_hint(HINT))
}

/// Whether a text for an assembler is PTX: its instructions have types behind dots, where AMD's have underscores.
fn is_ptx(template: &str) -> bool {
    template.split([';', '\n', '{']).any(|statement| {
        let words = statement.split_whitespace().find(|word| !word.starts_with('@'));
        let opcode = words.unwrap_or_default();
        let starts = opcode.starts_with(|c: char| c.is_ascii_lowercase());
        starts && opcode.contains('.') && !opcode.contains('_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_is_told_from_the_assembly_of_amd() {
        assert!(is_ptx("cvt.rn.f16.f32 $0, $1;") && is_ptx("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, $1, 0;\n}"));
        assert!(is_ptx("@p bra.uni done;"));
        assert!(!is_ptx("s_nop 0") && !is_ptx("v_add_f32 $0, $1, $2") && !is_ptx("") && !is_ptx(".long 0"));
    }

    /// As clang 22 says it.
    #[test]
    fn constraints_of_ptx_are_explained() {
        let printed =
            "a.cu:3:9: error: invalid input constraint 'l' in asm\n    3 |   asm(\"\" :: \"l\"(p));";
        let error = explained(Error::new(printed).with_kind(ErrorKind::Tool));
        assert_eq!(error.hint(), Some(HINT));
        let other = explained(Error::new("a.cu:3:9: error: no").with_kind(ErrorKind::Tool));
        assert_eq!(other.hint(), None);
    }
}
