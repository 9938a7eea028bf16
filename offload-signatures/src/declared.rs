//! A parser of kernel declarations that needs no compiler, for builds that run none.
//!
//! Known are macros without parameters and typedefs. A kernel whose declaration a macro with parameters makes is not
//! found; nothing is preprocessed, so that of two definitions under `#if` the first counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use offload_format::pack::{ArgInfo, ArgKind, KernelInfo};

use crate::tokens::{Reader, Token};
use crate::types::{self, Words};
use crate::{Dialect, Sources};

/// A kernel in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    /// In the words of [`types::name`]; of a template itself `None`.
    pub(crate) template: Template,
    pub(crate) args: Vec<ArgInfo>,
    /// The file, by its number.
    pub(crate) file: usize,
    pub(crate) line: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    /// No template.
    None,
    /// What instances are made of.
    Definition,
    /// One with these arguments.
    Instance(Vec<String>),
}

/// What the sources of a module declare.
#[derive(Debug, Default)]
pub struct Declared {
    pub(crate) declarations: Vec<Declaration>,
    /// Relative to the root, in the order in which they were read.
    pub files: Vec<PathBuf>,
}

/// The kernels of `sources`, as far as their declarations tell.
pub fn kernels(declared: &Declared) -> Vec<KernelInfo> {
    let mut seen = BTreeSet::new();
    let declarations = declared.declarations.iter().cloned();
    let kernels = declarations.filter_map(|declaration| {
        let name = match &declaration.template {
            Template::None => declaration.name,
            Template::Definition => return None,
            Template::Instance(args) => format!("{}<{}>", declaration.name, args.join(", ")),
        };
        let mut info = KernelInfo::new(name);
        info.args = Some(declaration.args);
        Some(info)
    });
    kernels.filter(|kernel| seen.insert(kernel.name.clone())).collect()
}

/// The declarations in `sources`, and in what they include with quotes. Files that cannot be read are passed over.
pub fn read(sources: &Sources<'_>) -> Declared {
    let mut reader = Reader::new(sources.root, sources.flags.iter().map(String::as_str));
    for file in &sources.files {
        reader.read(file);
    }
    let tokens = &reader.tokens;
    let parser = Parser { tokens, dialect: sources.dialect, typedefs: typedefs(tokens) };
    Declared { declarations: parser.declarations(), files: reader.files }
}

/// `typedef unsigned int u32;` and `using u32 = unsigned int;`, with what they stand for.
fn typedefs(tokens: &[Token]) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        // A table of numbers is one statement of many tokens.
        if !matches!(first.text.as_str(), "typedef" | "using") {
            continue;
        }
        let end = after.iter().position(|token| token.text == ";").unwrap_or(after.len());
        let words: Vec<&str> = after.iter().take(end).map(|token| token.text.as_str()).collect();
        let (name, type_words) = match (first.text.as_str(), words.as_slice()) {
            ("typedef", [type_words @ .., name]) => (*name, type_words),
            ("using", [name, "=", type_words @ ..]) => (*name, type_words),
            _ => continue,
        };
        // Structures stay what they are.
        if !type_words.iter().any(|word| ["{", "}", "(", ")", "[", "]"].contains(word)) && name != "]" {
            found.insert(name.to_string(), type_words.iter().map(|word| word.to_string()).collect());
        }
    }
    found
}

struct Parser<'a> {
    tokens: &'a [Token],
    dialect: Dialect,
    typedefs: BTreeMap<String, Vec<String>>,
}

impl Parser<'_> {
    fn declarations(&self) -> Vec<Declaration> {
        let marks = self.tokens.iter().enumerate().filter(|(_, token)| self.marks_kernel(&token.text));
        marks.filter_map(|(at, _)| self.declaration(at)).collect()
    }

    fn marks_kernel(&self, word: &str) -> bool {
        match self.dialect {
            Dialect::OpenCl => matches!(word, "kernel" | "__kernel"),
            Dialect::C => word == "__gpu_kernel",
            Dialect::Cuda => word == "__global__",
        }
    }

    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map(|token| token.text.as_str()).unwrap_or_default()
    }

    /// The kernel whose mark is token number `mark`.
    fn declaration(&self, mark: usize) -> Option<Declaration> {
        let void = self.after_attributes(mark.checked_add(1)?);
        if self.text(void) != "void" {
            return None;
        }
        let at = self.after_attributes(void.checked_add(1)?);
        let name = self.tokens.get(at)?;
        let mut open = at.checked_add(1)?;
        let mut template_args = Vec::new();
        if self.text(open) == "<" {
            let close = self.closing(open)?;
            template_args = self.list(open, close).iter().map(|words| self.type_name(words)).collect();
            open = close.checked_add(1)?;
        }
        if self.text(open) != "(" {
            return None;
        }
        let close = self.closing(open)?;
        let end = self.after_attributes(close.checked_add(1)?);
        let template = match (self.template_before(mark), self.text(end)) {
            (Some("<"), "{") => Template::Definition,
            (Some(_), ";") => Template::Instance(template_args),
            (None, "{") => Template::None,
            // Declared here and defined elsewhere.
            _ => return None,
        };
        let args = self.list(open, close);
        let args =
            args.iter().filter(|words| **words != ["void"]).map(|words| self.argument(words)).collect();
        Some(Declaration { name: name.text.clone(), template, args, file: name.file, line: name.line })
    }

    /// What follows the word `template` of the declaration that token number `mark` is in.
    fn template_before(&self, mark: usize) -> Option<&str> {
        let before = self.tokens.get(..mark).unwrap_or_default();
        let start = before.iter().rposition(|token| matches!(token.text.as_str(), ";" | "{" | "}"));
        let start = start.map_or(0, |at| at.saturating_add(1));
        let at = before.iter().skip(start).position(|token| token.text == "template")?;
        Some(self.text(start.saturating_add(at).saturating_add(1)))
    }

    /// Where attributes and words that say nothing of the type end, from `at` on.
    fn after_attributes(&self, mut at: usize) -> usize {
        loop {
            let word = self.text(at);
            let with_list =
                word.starts_with("__attribute") || word.starts_with("__launch_bounds") || word == "[";
            let open = if word == "[" { at } else { at.saturating_add(1) };
            let next = match word {
                "static" | "inline" | "extern" | "__forceinline__" | "__noinline__" => {
                    Some(at.saturating_add(1))
                }
                _ if with_list => self.closing(open).map(|close| close.saturating_add(1)),
                _ => None,
            };
            match next {
                Some(next) => at = next,
                None => return at,
            }
        }
    }

    /// The bracket that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.text.as_str() {
                "(" | "[" | "<" => depth = depth.checked_add(1)?,
                ")" | "]" | ">" => depth = depth.checked_sub(1)?,
                ";" | "{" => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(index);
            }
        }
        None
    }

    /// What stands between two brackets, cut at its commas.
    fn list(&self, open: usize, close: usize) -> Vec<Vec<&str>> {
        let mut depth = 0usize;
        let mut parts = vec![Vec::new()];
        for token in self.tokens.iter().take(close).skip(open.saturating_add(1)) {
            match token.text.as_str() {
                "(" | "[" | "<" => depth = depth.saturating_add(1),
                ")" | "]" | ">" => depth = depth.saturating_sub(1),
                "," if depth == 0 => {
                    parts.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = parts.last_mut() {
                last.push(token.text.as_str());
            }
        }
        parts.into_iter().filter(|part| !part.is_empty()).collect()
    }

    /// A template's argument: a type in OpenCL C's words, or a number.
    fn type_name(&self, words: &[&str]) -> String {
        types::name(&self.resolved(words), self.dialect)
    }

    fn argument(&self, words: &[&str]) -> ArgInfo {
        let resolved = self.resolved(words);
        let Words { type_words, name, stars, is_const, space } = Words::parse(&resolved);
        let base = types::name(&type_words, self.dialect);
        let kind = match (stars, base.as_str()) {
            (0, "sampler_t") => ArgKind::Sampler,
            (0, image) if image.starts_with("image") && image.ends_with("_t") => ArgKind::Image,
            (0, _) => ArgKind::Value,
            _ => space.unwrap_or(ArgKind::Global),
        };
        let more = "*".repeat(stars.saturating_sub(1));
        let written = format!("{base}{}", "*".repeat(stars));
        let arg = ArgInfo::new(kind).named(name, written).with_base_type(format!("{base}{more}"));
        let is_constant = match kind {
            ArgKind::Constant => true,
            // `read_only` is the default.
            ArgKind::Image => !resolved.iter().any(|word| types::is_written_image(word)),
            _ => is_const && stars > 0,
        };
        if is_constant { arg.constant() } else { arg }
    }

    /// `words` with what typedefs stand for.
    fn resolved(&self, words: &[&str]) -> Vec<String> {
        /// Typedefs of typedefs.
        const DEEPEST: usize = 8;
        let mut words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        for _ in 0..DEEPEST {
            let last = words.len().saturating_sub(1);
            let previous = last.checked_sub(1).and_then(|at| words.get(at));
            // The last word is the argument's name, unless only qualifiers precede it.
            let has_name = previous.is_some_and(|word| !types::is_qualifier(word));
            let typedef = words.iter().enumerate().find_map(|(at, word)| {
                let replacement = self.typedefs.get(word).filter(|_| !has_name || at != last)?;
                Some((at, replacement.clone()))
            });
            let Some((at, replacement)) = typedef else { break };
            words.splice(at..=at, replacement);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Name and arguments of each kernel, as `axpy<float>(value float a, global const float x)`.
    fn kernels_of(name: &str, text: &str) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(name), text).unwrap();
        let dialect = if name.ends_with(".cu") { Dialect::Cuda } else { Dialect::OpenCl };
        let files = vec![PathBuf::from(name)];
        let sources = Sources { root: directory.path(), dialect, files, flags: vec!["-DT=half".into()] };
        kernels(&read(&sources))
            .into_iter()
            .map(|info| {
                let args: Vec<String> = info
                    .args
                    .iter()
                    .flatten()
                    .map(|arg| {
                        let constant = if arg.is_const { " const" } else { "" };
                        format!("{}{constant} {} {}", arg.kind, arg.base_type, arg.name)
                    })
                    .collect();
                format!("{}({})", info.name, args.join(", "))
            })
            .collect()
    }

    #[test]
    fn opencl_c_is_understood() {
        let text = "
            typedef unsigned int u32; typedef u32 index;
            #define KERNEL __kernel
            /* kernel void none(int x) {} */
            static void helper(int kernel) { }
            KERNEL __attribute__((reqd_work_group_size(64, 1, 1))) void
            a(__global const T *restrict x, local float4 *t, index n, constant struct s *c) { }
            kernel void b(read_only image2d_t i, sampler_t s, global float x[], void);
            kernel void b(read_only image2d_t i, __write_only image3d_t w, sampler_t s, global float x[]) { if (1) {} }
            void __attribute__((noinline)) c(void) {} kernel void d(void) __attribute__((x)) {}
        ";
        let expected = [
            "a(global const half x, local float4 t, value uint n, constant const s c)",
            "b(image const image2d_t i, image image3d_t w, sampler sampler_t s, global float x)",
            "d()",
        ];
        assert_eq!(kernels_of("k.cl", text), expected);
    }

    #[test]
    fn templates_are_known_by_their_instances() {
        let text = "
            using real = double;
            template <typename T, int N> __global__ void axpy(T a, const T* __restrict__ x, T* y) {}
            template __global__ void axpy<float, 4>(float, const float*, float*);
            template __global__ void axpy<real, 2>(real a, const real* x, real* y);
            extern \"C\" __global__ void __launch_bounds__(256) scale(float* x, size_t n, float3 v) { kernel<<<1, 2>>>(); }
        ";
        let expected = [
            "axpy<float, 4>(value float , global const float , global float )",
            "axpy<double, 2>(value double a, global const double x, global double y)",
            "scale(global float x, value ulong n, value struct float3 v)",
        ];
        assert_eq!(kernels_of("k.cu", text), expected);
    }

    #[test]
    fn any_text_is_read_to_its_end() {
        let text =
            "kernel void a(global float *x, ( [ < kernel void kernel __kernel template < kernel void f<(";
        for end in 0..text.len() {
            let _ = kernels_of("k.cl", &text[..end]);
        }
        let _: BTreeMap<String, Vec<String>> = typedefs(&[]);
    }
}
