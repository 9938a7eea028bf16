//! Programs as trees of statements.

use crate::case::{Case, CaseArg, Language, Range};

/// A program with its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What stands for `@` in the text, which is in every name that must be unique in a module.
    pub number: u64,
    /// The language of the text.
    pub language: Language,
    /// Structures and variables of the module.
    pub globals: Vec<Statement>,
    /// Helper functions, callees first.
    pub helpers: Vec<Statement>,
    /// The statements of the kernel.
    pub body: Vec<Statement>,
    /// Initial contents of the buffers.
    pub buffers: Vec<Vec<u32>>,
    /// The arguments.
    pub args: Vec<CaseArg>,
    /// The launch.
    pub range: Range,
}

/// A statement, or a construct with statements in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A statement without others in it, with its semicolon.
    Simple(String),
    /// `HEAD {`, the statements, and `TAIL`, which begins with the closing brace.
    Nested {
        /// `if (x)`, `do`, `for (...)`.
        head: String,
        /// The statements in the braces.
        body: Vec<Statement>,
        /// `}`, or `} while (x);`.
        tail: String,
    },
}

impl Statement {
    /// A statement of one line.
    pub fn simple(text: impl Into<String>) -> Statement {
        Statement::Simple(text.into())
    }

    /// `HEAD { BODY }`.
    pub fn nested(head: impl Into<String>, body: Vec<Statement>) -> Statement {
        Statement::Nested { head: head.into(), body, tail: "}".to_string() }
    }

    fn print(&self, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        match self {
            Statement::Simple(text) => out.push_str(&format!("{indent}{text}\n")),
            Statement::Nested { head, body, tail } => {
                out.push_str(&format!("{indent}{head} {{\n"));
                for statement in body {
                    statement.print(depth.saturating_add(1), out);
                }
                out.push_str(&format!("{indent}{tail}\n"));
            }
        }
    }

    /// Whether the text of the statement, or of one in it, contains `word`.
    pub fn contains(&self, word: &str) -> bool {
        match self {
            Statement::Simple(text) => text.contains(word),
            Statement::Nested { head, body, tail } => {
                head.contains(word) || tail.contains(word) || body.iter().any(|inner| inner.contains(word))
            }
        }
    }
}

/// What both languages call alike, for OpenCL C.
const OPENCL_PRELUDE: &str = "\
#ifndef FUZZ_PRELUDE
#define FUZZ_PRELUDE
#pragma OPENCL FP_CONTRACT OFF
#define KERNEL kernel
#define GLOBAL global
#define LOCAL local
#define LID(d) ((uint)get_local_id(d))
#define LSIZE(d) ((uint)get_local_size(d))
#define GROUP(d) ((uint)get_group_id(d))
#define GROUPS(d) ((uint)get_num_groups(d))
#define POSITION(d) ((uint)get_global_id(d))
#define WIDE_POSITION(d) ((ulong)get_global_id(d))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define MAKE4(a, b, c, d) ((uint4)(a, b, c, d))
#define ATOMIC_ADD(p, v) atomic_add(p, v)
#define ATOMIC_MAX(p, v) atomic_max(p, v)
#define ATOMIC_OR(p, v) atomic_or(p, v)
#define ATOMIC_XOR(p, v) atomic_xor(p, v)
#define MIN(a, b) min((uint)(a), (uint)(b))
#define MAX(a, b) max((uint)(a), (uint)(b))
#define SUB_SAT(a, b) sub_sat((uint)(a), (uint)(b))
#define NOINLINE __attribute__((noinline))
#endif
";

/// The same for C++.
const CPP_PRELUDE: &str = "\
#ifndef FUZZ_PRELUDE
#define FUZZ_PRELUDE
#pragma clang fp contract(off)
#include <gpuintrin.h>
extern \"C\" int printf(const char *, ...);
typedef unsigned int uint;
typedef unsigned long ulong;
typedef uint uint4 __attribute__((ext_vector_type(4)));
#define KERNEL extern \"C\" __gpu_kernel
#define GLOBAL __gpu_global
#define LOCAL __gpu_local
#define LID(d) __gpu_thread_id(d)
#define LSIZE(d) __gpu_num_threads(d)
#define GROUP(d) __gpu_block_id(d)
#define GROUPS(d) __gpu_num_blocks(d)
#define POSITION(d) (__gpu_block_id(d) * __gpu_num_threads(d) + __gpu_thread_id(d))
#define WIDE_POSITION(d) ((ulong)POSITION(d))
#define BARRIER() __gpu_sync_threads()
#define MAKE4(a, b, c, d) (uint4{(uint)(a), (uint)(b), (uint)(c), (uint)(d)})
#define ATOMIC_ADD(p, v) __atomic_fetch_add(p, (uint)(v), __ATOMIC_RELAXED)
#define ATOMIC_MAX(p, v) __atomic_fetch_max(p, (uint)(v), __ATOMIC_RELAXED)
#define ATOMIC_OR(p, v) __atomic_fetch_or(p, (uint)(v), __ATOMIC_RELAXED)
#define ATOMIC_XOR(p, v) __atomic_fetch_xor(p, (uint)(v), __ATOMIC_RELAXED)
#define MIN(a, b) ((uint)(a) < (uint)(b) ? (uint)(a) : (uint)(b))
#define MAX(a, b) ((uint)(a) > (uint)(b) ? (uint)(a) : (uint)(b))
#define SUB_SAT(a, b) ((uint)(a) > (uint)(b) ? (uint)(a) - (uint)(b) : 0u)
#define NOINLINE __attribute__((noinline))
#endif
";

/// The parameters of every kernel; OpenCL C has local memory besides.
const PARAMETERS: &str =
    "GLOBAL uint *out, GLOBAL uint *alias, GLOBAL const uint *in, GLOBAL uint *data, uint n, uint m, ulong w";

impl Program {
    /// The name of the kernel.
    pub fn kernel(&self) -> String {
        format!("k{}", self.number)
    }

    /// What the harness compiles and launches.
    pub fn to_case(&self) -> Case {
        let mut source = match self.language {
            Language::OpenClC => OPENCL_PRELUDE.to_string(),
            Language::Cpp => CPP_PRELUDE.to_string(),
        };
        for statement in self.globals.iter().chain(&self.helpers) {
            statement.print(0, &mut source);
        }
        let scratch = match self.language {
            Language::OpenClC => ", LOCAL uint *scratch",
            Language::Cpp => "",
        };
        source.push_str(&format!("KERNEL void {}({PARAMETERS}{scratch}) {{\n", self.kernel()));
        for statement in &self.body {
            statement.print(1, &mut source);
        }
        source.push_str("}\n");
        let source = source.replace('@', &self.number.to_string());
        Case {
            kernel: self.kernel(),
            source,
            language: self.language,
            buffers: self.buffers.clone(),
            args: self.args.clone(),
            range: self.range,
            prints: self.body.iter().chain(&self.helpers).any(|statement| statement.contains("printf(")),
        }
    }
}
