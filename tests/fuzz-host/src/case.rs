//! A generated kernel with one launch, as the harness sees it.

use serde::{Deserialize, Serialize};

/// A kernel and the launch that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The kernel's name, unique in its batch.
    pub kernel: String,
    /// The kernel, with its helper functions and structures; their names are unique in the batch, too.
    pub source: String,
    /// What `source` is written in.
    pub language: Language,
    /// Initial contents of the buffers. All of them are compared after the launch.
    pub buffers: Vec<Vec<u32>>,
    /// In the order of the kernel's parameters.
    pub args: Vec<CaseArg>,
    /// The launch.
    pub range: Range,
    /// Whether work-items print lines `ITEM: TEXT`, which are compared by item, in the order of each item.
    pub prints: bool,
}

/// A language of kernel sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Language {
    /// OpenCL C 3.0.
    OpenClC,
    /// C++ with `<gpuintrin.h>`.
    Cpp,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseArg {
    /// `global uint *`: the buffer with this index. Two arguments may name one buffer.
    Buffer(usize),
    /// `local uint *` of so many elements.
    Local(usize),
    /// A value, as its bytes in words: `uint`, `ulong`, `uint4` or a structure of `uint`s.
    Value(Vec<u32>),
}

/// An index space. Every size is a multiple of its local size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// One to three.
    pub dimensions: usize,
    /// The first global id.
    pub offset: [u64; 3],
    /// Work-items in all.
    pub global: [u64; 3],
    /// Work-items of a group.
    pub local: [u64; 3],
}
