//! Symbol resolution at the level of LLVM IR: imports from device libraries, and inline functions of C.

pub(super) mod distinct_names;
pub(super) mod foreign_code;
pub(super) mod imports;
pub(super) mod inline_functions;
