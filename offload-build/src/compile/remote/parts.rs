//! Front ends in builds with other machines: what costs goes there, and the preprocessor stays, which alone tells what is
//! read.

mod clang;
mod nvcc;
mod whole;

use self::clang::Split;
use crate::compile::Session;
use crate::compile::front_end::reading::{FrontEnd, MadeFrontEnd, NVCC};

impl Session<'_> {
    /// What a front end makes, of which another machine may do the most; `None` where all of it is done here, also to tell
    /// what is wrong.
    pub(crate) fn in_parts(&self, action: &FrontEnd<'_>) -> Option<MadeFrontEnd> {
        if !self.remote()?.settings.execute {
            return None;
        }
        match action.name {
            NVCC => self.nvcc_in_parts(action),
            _ => match Split::new(action) {
                Some(split) => self.clang_in_parts(action, split),
                None => self.clang_elsewhere(action),
            },
        }
    }
}
