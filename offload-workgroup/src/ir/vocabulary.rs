//! The words of LLVM IR that passes know: what a later release adds is refused, and not taken for something harmless.
//!
//! Passes repeat, reorder and speculate instructions. Whether they may depends on the instruction, and on what its flags,
//! attributes and metadata promise; so each word of a work-item function has to be one whose promise holds for each work-item
//! alone, or that passes drop. The lists are those of LLVM 19 to 23 (<https://releases.llvm.org/22.1.0/docs/LangRef.html>)
//! without exceptions, which OpenCL C lacks, and without what no front end for kernels writes.

use crate::ir::global_symbol;

/// The newest release whose words are known.
const NEWEST_LLVM: u32 = 23;

/// Opcodes.
#[rustfmt::skip]
const INSTRUCTIONS: &[&str] = &[
    "add", "addrspacecast", "alloca", "and", "ashr", "atomicrmw", "bitcast", "br", "call", "cmpxchg",
    "extractelement", "extractvalue", "fadd", "fcmp", "fdiv", "fence", "fmul", "fneg", "fpext", "fptosi",
    "fptoui", "fptrunc", "freeze", "frem", "fsub", "getelementptr", "icmp", "insertelement", "insertvalue",
    "inttoptr", "load", "lshr", "mul", "or", "phi", "ptrtoaddr", "ptrtoint", "ret", "sdiv", "select", "sext",
    "shl", "shufflevector", "sitofp", "srem", "store", "sub", "switch", "trunc", "udiv", "uitofp",
    "unreachable", "urem", "va_arg", "xor", "zext",
];

/// Flags, predicates, orders, constants, types, and what the head of a function has.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "acq_rel", "acquire", "addrspace", "afn", "alignstack", "arcp", "asm", "atomic", "bfloat", "blockaddress",
    "c", "cc", "ccc", "coldcc", "comdat", "contract", "default", "define", "disjoint", "double", "dso_local",
    "dso_local_equivalent", "dso_preemptable", "eq", "exact", "external", "false", "fast", "fastcc", "float",
    "fmax", "fmaximum", "fmaximumnum", "fmin", "fminimum", "fminimumnum", "fp128", "gc", "half", "hidden",
    "inalloca", "inbounds", "inf", "inrange", "inteldialect", "internal", "label", "linkonce", "linkonce_odr",
    "local_unnamed_addr", "max", "metadata", "min", "monotonic", "musttail", "nan", "nand", "ne", "ninf",
    "nnan", "nneg", "no_cfi", "none", "notail", "nsw", "nsz", "null", "nusw", "nuw", "oeq", "oge", "ogt", "ole",
    "olt", "one", "ord", "partition", "personality", "poison", "ppc_fp128", "prefix", "preserve_allcc",
    "preserve_mostcc", "private", "prologue", "protected", "ptr", "qnan", "reassoc", "release", "samesign",
    "section", "seq_cst", "sge", "sgt", "sideeffect", "sle", "slt", "snan", "spir_func", "spir_kernel", "splat",
    "syncscope", "tail", "tailcc", "target", "to", "token", "true", "type", "udec_wrap", "ueq", "uge", "ugt",
    "uinc_wrap", "ule", "ult", "umax", "umin", "undef", "une", "unnamed_addr", "uno", "unordered", "unwind",
    "usub_cond", "usub_sat", "void", "volatile", "vscale", "weak", "weak_odr", "x", "x86_fp80", "xchg",
    "zeroinitializer",
];

/// Attributes of functions, calls, parameters and results, with the words of their values.
#[rustfmt::skip]
const ATTRIBUTES: &[&str] = &[
    "address", "address_is_null", "align", "alignstack", "all", "allocalign", "allockind", "allocptr",
    "allocsize", "alwaysinline", "argmem", "async", "builtin", "byref", "byval", "captures", "cold",
    "convergent", "coro_elide_safe", "coro_only_destroy_when_complete", "dead_on_return", "dead_on_unwind",
    "denormal_fpenv", "dereferenceable", "dereferenceable_or_null", "disable_sanitizer_instrumentation",
    "dynamic", "elementtype", "errnomem", "fn_ret_thunk_extern", "hot", "hybrid_patchable", "ieee", "immarg",
    "inaccessiblemem", "initializes", "inlinehint", "inreg", "jumptable", "memory", "minsize", "mustprogress",
    "naked", "nest", "ninf", "nnorm", "noalias", "nobuiltin", "nocallback", "nocapture", "nocf_check",
    "nocreateundeforpoison", "nodivergencesource", "noduplicate", "noext", "nofpclass", "nofree",
    "noimplicitfloat", "noinline", "nomerge", "nonlazybind", "nonnull", "noprofile", "norecurse", "noredzone",
    "noreturn", "norm", "nosanitize_bounds", "nosanitize_coverage", "nosync", "noundef", "nounwind", "nsub",
    "null_pointer_is_valid", "nzero", "optdebug", "optforfuzzing", "optnone", "optsize", "pinf", "pnorm",
    "positivezero", "preallocated", "preservesign", "provenance", "psub", "pzero", "range", "read",
    "read_provenance", "readnone", "readonly", "readwrite", "returned", "returns_twice", "safestack",
    "sanitize_address", "sanitize_alloc_token", "sanitize_hwaddress", "sanitize_memory", "sanitize_memtag",
    "sanitize_numerical_stability", "sanitize_realtime", "sanitize_realtime_blocking", "sanitize_thread",
    "sanitize_type", "shadowcallstack", "signext", "skipprofile", "speculatable", "speculative_load_hardening",
    "sret", "ssp", "sspreq", "sspstrong", "strictfp", "sub", "swiftasync", "swifterror", "swiftself", "sync",
    "target_mem", "target_mem0", "target_mem1", "uwtable", "vscale_range", "willreturn", "writable", "write", "writeonly",
    "zero", "zeroext",
];

/// Kinds of metadata: of a location, of types, and promises of a value or an address, which are those of one execution of
/// the instruction.
#[rustfmt::skip]
const METADATA: &[&str] = &[
    "DIAssignID", "absolute_symbol", "alias.scope", "align", "annotation", "callback", "callee_type", "callees",
    "callsite", "captures", "dbg", "dereferenceable", "dereferenceable_or_null", "fpmath", "heapallocsite",
    "invariant.group", "invariant.load", "llvm.access.group", "llvm.loop", "llvm.mem.parallel_loop_access",
    "make.implicit", "memprof", "mmra", "noalias", "noalias.addrspace", "nofpclass", "nofree", "nonnull",
    "nontemporal", "nosanitize", "noundef", "pcsections", "preserve.access.index", "prof", "range", "srcloc",
    "tbaa", "tbaa.struct", "type", "unpredictable",
];

/// Debug records (<https://llvm.org/docs/SourceLevelDebugging.html#debug-records>).
#[rustfmt::skip]
const DEBUG_RECORDS: &[&str] = &[
    "#dbg_assign", "#dbg_declare", "#dbg_declare_value", "#dbg_label", "#dbg_value",
];

/// Intrinsics of every processor, without types (<https://releases.llvm.org/22.1.0/docs/LangRef.html#intrinsic-functions>):
/// those whose effect is that of one execution by one work-item, wherever the loop over the work-items of a group stands.
///
/// Not among them are those of the stack pointer and of frames, which work-items share, of tokens, coroutines and
/// exceptions, which say something of the control flow around them, and of arguments in variable number.
#[rustfmt::skip]
const INTRINSICS: &[&str] = &[
    "abs", "acos", "allow.runtime.check", "allow.ubsan.check", "annotation", "arithmetic.fence", "asin", "assume",
    "atan", "atan2", "bitreverse", "bswap", "canonicalize", "ceil", "clmul", "convert.from.fp16", "convert.to.fp16",
    "copysign", "cos", "cosh", "ctlz", "ctpop", "cttz", "dbg.assign", "dbg.declare", "dbg.label", "dbg.value",
    "debugtrap", "donothing", "exp", "exp10", "exp2", "expect", "expect.with.probability",
    "experimental.memset.pattern", "experimental.noalias.scope.decl", "experimental.vector.compress",
    "experimental.vector.extract.last.active", "experimental.vector.histogram.add",
    "experimental.vector.match", "experimental.vector.partial.reduce.add", "fabs", "fake.use", "floor", "fma",
    "fmuladd", "fptosi.sat", "fptoui.sat", "fptrunc.round", "frexp", "fshl", "fshr", "get.active.lane.mask",
    "invariant.end", "invariant.start", "is.constant", "is.fpclass", "launder.invariant.group", "ldexp",
    "lifetime.end", "lifetime.start", "llrint", "llround", "load.relative", "log", "log10", "log2", "lrint",
    "lround", "masked.compressstore", "masked.expandload", "masked.gather", "masked.load", "masked.scatter",
    "masked.store", "matrix.column.major.load", "matrix.column.major.store", "matrix.multiply",
    "matrix.transpose", "maximum", "maximumnum", "maxnum", "memcpy", "memcpy.inline", "memmove", "memset",
    "memset.inline", "minimum", "minimumnum", "minnum", "modf", "nearbyint", "objectsize", "pow", "powi",
    "prefetch", "protected.field.ptr", "pseudoprobe", "ptr.annotation", "ptrmask", "readcyclecounter",
    "readsteadycounter", "rint", "round", "roundeven", "sadd.sat", "sadd.with.overflow", "scmp", "sdiv.fix",
    "sdiv.fix.sat", "sideeffect", "sin", "sincos", "sincospi", "sinh", "smax", "smin", "smul.fix",
    "smul.fix.sat", "smul.with.overflow", "sqrt", "sshl.sat", "ssub.sat", "ssub.with.overflow", "stepvector",
    "strip.invariant.group", "tan", "tanh", "trap", "trunc", "uadd.sat", "uadd.with.overflow", "ubsantrap",
    "ucmp", "udiv.fix", "udiv.fix.sat", "umax", "umin", "umul.fix", "umul.fix.sat", "umul.with.overflow",
    "ushl.sat", "usub.sat", "usub.with.overflow", "var.annotation", "vector.deinterleave2", "vector.extract",
    "vector.insert", "vector.interleave2", "vector.partial.reduce.add", "vector.partial.reduce.fadd",
    "vector.reduce.add", "vector.reduce.and", "vector.reduce.fadd", "vector.reduce.fmax",
    "vector.reduce.fmaximum", "vector.reduce.fmin", "vector.reduce.fminimum", "vector.reduce.fmul",
    "vector.reduce.mul", "vector.reduce.or", "vector.reduce.smax", "vector.reduce.smin", "vector.reduce.umax",
    "vector.reduce.umin", "vector.reduce.xor", "vector.reverse", "vector.splice", "vector.splice.left",
    "vector.splice.right", "vscale",
];

/// Intrinsics of processors, by what follows the processor's name: instructions on registers and memory, and no state of
/// the machine that one work-item would leave to the next.
#[rustfmt::skip]
const PROCESSOR_INTRINSICS: &[&str] = &[
    "aarch64.crc32b", "aarch64.crc32cb", "aarch64.crc32ch", "aarch64.crc32cw", "aarch64.crc32cx",
    "aarch64.crc32h", "aarch64.crc32w", "aarch64.crc32x", "aarch64.crypto", "aarch64.fjcvtzs", "aarch64.neon",
    "aarch64.sve", "x86.addcarry", "x86.aesni", "x86.avx", "x86.avx10", "x86.avx2", "x86.avx512",
    "x86.avx512bf16", "x86.avx512fp16", "x86.bmi", "x86.f16c", "x86.fma", "x86.pclmulqdq", "x86.rdtsc",
    "x86.sse", "x86.sse2", "x86.sse3", "x86.sse41", "x86.sse42", "x86.ssse3", "x86.subborrow",
    "x86.vcvtph2ps", "x86.vcvtps2ph",
];

/// What a line has that is in no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    Instruction(String),
    Intrinsic(String),
    /// A flag, an attribute, a type or a constant.
    Word(String),
    Metadata(String),
    DebugRecord(String),
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unknown::Instruction(word) => write!(f, "the instruction `{word}`")?,
            Unknown::Intrinsic(word) => {
                let why = "which is not known to concern one work-item alone";
                return write!(f, "the intrinsic `{word}`, {why}");
            }
            Unknown::Word(word) => write!(f, "the attribute or flag `{word}`")?,
            Unknown::Metadata(word) => write!(f, "the metadata `!{word}`")?,
            Unknown::DebugRecord(word) => write!(f, "the debug record `{word}`")?,
        }
        write!(f, ", which LLVM {NEWEST_LLVM} and earlier do not write")
    }
}

/// What an instruction or a debug record has that is not known. `text` begins behind the name of the result.
pub(crate) fn unknown_in_instruction(text: &str) -> Option<Unknown> {
    if text.starts_with('#') {
        let record = text.split('(').next().unwrap_or(text);
        let is_known = contains(DEBUG_RECORDS, record);
        // Its operands are metadata alone, of which no code is made.
        return (!is_known).then(|| Unknown::DebugRecord(record.to_string()));
    }
    let opcode = text.split(' ').find(|word| !matches!(*word, "tail" | "musttail" | "notail"));
    let opcode = opcode.unwrap_or_default().trim_end_matches(',');
    if !contains(INSTRUCTIONS, opcode) {
        return Some(Unknown::Instruction(opcode.to_string()));
    }
    unknown_intrinsic(text).or_else(|| unknown_word(text))
}

/// The first intrinsic of `text` that is not known.
fn unknown_intrinsic(text: &str) -> Option<Unknown> {
    let mut rest = text;
    while rest.contains("@llvm.") {
        let symbol = global_symbol(rest)?;
        if let Some(name) = symbol.name.strip_prefix("llvm.")
            && !is_known_intrinsic(name)
        {
            return Some(Unknown::Intrinsic(symbol.name.to_string()));
        }
        rest = symbol.rest;
    }
    None
}

/// Whether a name without `llvm.` is that of a list, with types behind it. Names of several words begin with others:
/// `smul.fix` and `smul.fix.sat`.
fn is_known_intrinsic(name: &str) -> bool {
    let mut end = name.len();
    loop {
        let (stem, types) = name.split_at_checked(end).unwrap_or_default();
        if contains(PROCESSOR_INTRINSICS, stem) {
            return true;
        }
        let mut types = types.split('.').skip(1);
        if contains(INTRINSICS, stem) && types.all(is_mangled_type) {
            return true;
        }
        match stem.rfind('.') {
            Some(point) => end = point,
            None => return false,
        }
    }
}

/// Whether a part of an intrinsic's name is a type (`getMangledTypeStr`), such as `v4f32`, `p0` and `i64`.
fn is_mangled_type(text: &str) -> bool {
    let element = text.strip_prefix("nx").unwrap_or(text);
    let element = match element.strip_prefix('v') {
        Some(lanes) => lanes.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => element,
    };
    // Structs and arrays of types: no other word has an underscore there.
    if element.starts_with("sl_") || element.starts_with("s_") {
        return true;
    }
    let digits = element.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let (letters, _) = element.split_at(element.len().saturating_sub(digits.len()));
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && matches!(letters, "i" | "f" | "bf" | "p" | "ppcf" | "a") || element == "isVoid"
}

/// What the head of a function, or an attribute group, has that is not known.
pub(crate) fn unknown_word(text: &str) -> Option<Unknown> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '"' => behind_string(rest),
            '%' | '@' | '$' => behind_name(rest.get(1..).unwrap_or_default()),
            ';' => return None,
            '!' => match metadata(rest.get(1..).unwrap_or_default()) {
                Ok(rest) => rest,
                Err(kind) => return Some(Unknown::Metadata(kind)),
            },
            // A number, and the letters of its notation.
            '0'..='9' | '#' => {
                rest.trim_start_matches(|c: char| c == '#' || c.is_ascii_alphanumeric() || c == '.')
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let (word, rest) = split_word(rest);
                if !is_known(word) {
                    return Some(Unknown::Word(word.to_string()));
                }
                rest
            }
            _ => rest.get(c.len_utf8()..).unwrap_or_default(),
        };
    }
    None
}

/// The text behind what follows a `!`, or the kind of metadata that is not known.
fn metadata(rest: &str) -> Result<&str, String> {
    let (kind, behind) = rest.split_at(rest.find(|c: char| !is_kind_character(c)).unwrap_or(rest.len()));
    match kind.chars().next() {
        // A node, a string or a tuple.
        None => Ok(behind),
        Some('0'..='9') => Ok(behind),
        // A node that stands where it is used, such as `!DIExpression(DW_OP_deref)`.
        Some('D') if behind.starts_with('(') => Ok(behind_parentheses(behind)),
        Some(_) if contains(METADATA, kind) => Ok(behind),
        Some(_) => Err(kind.to_string()),
    }
}

fn is_known(word: &str) -> bool {
    let bits = word.strip_prefix('i').unwrap_or_default();
    let is_integer = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    // The bits of a number, as LLVM 23 writes one that decimal digits do not tell exactly.
    let bits = word.strip_prefix("f0x").unwrap_or_default();
    let is_literal = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_integer || is_literal || [WORDS, INSTRUCTIONS, ATTRIBUTES].iter().any(|list| contains(list, word))
}

/// The lists are sorted: build scripts are not optimised, and ask for every word of every kernel.
fn contains(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

fn is_word_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

fn is_kind_character(c: char) -> bool {
    is_word_character(c) || c == '-'
}

fn split_word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !is_word_character(c)).unwrap_or(text.len()))
}

/// Quotes in strings are written as `\22`.
fn behind_string(text: &str) -> &str {
    text.get(1..).and_then(|text| text.split_once('"')).map_or("", |(_, rest)| rest)
}

fn behind_name(text: &str) -> &str {
    if text.starts_with('"') {
        return behind_string(text);
    }
    text.trim_start_matches(|c: char| is_word_character(c) || matches!(c, '-' | '$'))
}

fn behind_parentheses(text: &str) -> &str {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return text.get(at.saturating_add(1)..).unwrap_or_default();
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in
            [INSTRUCTIONS, WORDS, ATTRIBUTES, METADATA, DEBUG_RECORDS, INTRINSICS, PROCESSOR_INTRINSICS]
        {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn what_releases_write_is_known() {
        for text in [
            // 19
            "call void @llvm.lifetime.start.p0(i64 256, ptr nonnull %a), !dbg !7",
            "getelementptr inbounds i8, ptr %x, i64 -4",
            "call void @llvm.dbg.value(metadata i32 %n, metadata !12, metadata !DIExpression(DW_OP_plus, DW_OP_LLVM_arg, 0)), !dbg !9",
            // 20 and 21
            "icmp samesign ult i32 %a, -7",
            "call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %x)",
            "call void @f(ptr noundef nonnull captures(ret: address, provenance) initializes((0, 8)) %p) #12",
            "#dbg_declare(ptr %x, !13, !DIExpression(), !14)",
            // 22 and 23
            "call void @llvm.lifetime.end.p0(ptr nonnull %a)",
            "fmul reassoc nsz <8 x float> %v, splat (float 0xC0091EB860000000)",
            "select i1 %c, float +inf, float +qnan",
            "fmul contract float %67, f0x3DC8B439",
            "tail call i32 (ptr, ...) @__offload_printf(ptr noundef nonnull @.str, i32 noundef %5) #20, !dbg !984",
            "ptrtoaddr ptr %p to i64",
            "load i32, ptr %p, align 4, !tbaa !5, !invariant.load !{}, !noalias !8",
            "store i8 0, ptr \"%\", align 1",
            "br i1 %4, label %\"a b\", label %5, !llvm.loop !11",
            "phi half [ 0xH3C00, %entry ], [ %x, %\"frob nicate\" ] ; preds",
            "call i32 asm sideeffect \"frob $0, $1\", \"=r,r\"(i32 %x) #3, !srcloc !9",
            "call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 4, i1 false)",
            "call { float, i32 } @llvm.frexp.f32.i32(float %x)",
            "call i32 @llvm.smul.fix.sat.i32(i32 %a, i32 %b, i32 2)",
            "call i32 @llvm.vector.reduce.add.nxv4i32(<vscale x 4 x i32> %v)",
            "call void @llvm.assume(i1 true) [ \"align\"(ptr %p, i64 16) ]",
            "call <4 x i32> @llvm.x86.sse2.cvtps2dq(<4 x float> %v)",
            "call <4 x float> @llvm.aarch64.neon.fmax.v4f32(<4 x float> %a, <4 x float> %b)",
            "atomicrmw fadd ptr %p, float 1.000000e+00 syncscope(\"agent\") monotonic, align 4",
        ] {
            assert_eq!(unknown_in_instruction(text), None, "{text}");
        }
        let head = "define dso_local void @\"a frob\"(ptr noundef readonly captures(none) %0) local_unnamed_addr #0 !dbg !3 {";
        assert_eq!(unknown_word(head), None);
        let group = "nounwind memory(argmem: readwrite, target_mem: none) denormal_fpenv(float: preservesign) \"frob\"=\"x\"";
        assert_eq!(unknown_word(group), None);
    }

    #[test]
    fn what_no_release_writes_is_not() {
        for (text, unknown) in [
            ("frob i32 %a, %b", Unknown::Instruction("frob".into())),
            ("tail frob i32 %a", Unknown::Instruction("frob".into())),
            ("invoke void @f()", Unknown::Instruction("invoke".into())),
            ("add frob i32 %a, %b", Unknown::Word("frob".into())),
            ("call void @f(ptr frob(4) %p)", Unknown::Word("frob".into())),
            ("load b8, ptr %p", Unknown::Word("b8".into())),
            ("load i32, ptr %p, !frob.kind !{}", Unknown::Metadata("frob.kind".into())),
            ("call i32 @llvm.frob(i32 %x)", Unknown::Intrinsic("llvm.frob".into())),
            // A word that a later release adds behind one that is known.
            ("call i32 @llvm.fshl.frob.i32(i32 %x)", Unknown::Intrinsic("llvm.fshl.frob.i32".into())),
            ("call void @g(ptr @llvm.frob.p0)", Unknown::Intrinsic("llvm.frob.p0".into())),
            ("call ptr @llvm.stacksave.p0()", Unknown::Intrinsic("llvm.stacksave.p0".into())),
            ("call void @llvm.x86.tilezero(i8 1)", Unknown::Intrinsic("llvm.x86.tilezero".into())),
            ("#dbg_frob(ptr %x)", Unknown::DebugRecord("#dbg_frob".into())),
        ] {
            assert_eq!(unknown_in_instruction(text), Some(unknown), "{text}");
        }
    }
}
