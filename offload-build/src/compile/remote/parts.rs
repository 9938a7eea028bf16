//! Remote execution of clang's front end. The preprocessor runs locally, as its dependency file alone names the input root;
//! parsing, most of the time for C++, runs on a worker.

mod clang;
mod whole;

use self::clang::Split;
use crate::compile::Session;
use crate::compile::front_end::reading::{FrontEnd, MadeFrontEnd, NVCC};

impl Session<'_> {
    /// Runs a front end on a worker; `None` where it has to run locally, also to report its errors. nvcc always does.
    pub(crate) fn execute_front_end(&self, action: &FrontEnd<'_>) -> Option<MadeFrontEnd> {
        if action.name == NVCC || !self.remote()?.settings.execute {
            return None;
        }
        match Split::new(action) {
            Some(split) => self.clang_in_parts(action, split),
            None => self.clang_elsewhere(action),
        }
    }
}
