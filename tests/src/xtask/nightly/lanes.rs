//! Two checks at a time: tests one after the other, and tasks beside them.
//!
//! Two runs of tests would wait for cargo's lock and exchange each other's programs. Tasks build in directories of their
//! own. Most checks leave one of two processors idle.

use std::io::{Read, Seek};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use crate::reliability::check::{Outcome, Ready, Shown};
use offload_tests::error::Result;

/// Checks that wait.
#[derive(Default)]
pub(super) struct Lanes {
    tests: Vec<Numbered>,
    tasks: Vec<Numbered>,
}

struct Numbered {
    number: usize,
    ready: Ready,
}

/// A check that has ended.
pub(super) struct Ended {
    pub(super) number: usize,
    pub(super) outcome: Outcome,
    /// All that it printed.
    pub(super) said: Vec<u8>,
}

impl Lanes {
    pub(super) fn add(&mut self, number: usize, ready: Ready) {
        let lane = match ready.check.shown {
            Shown::Tests { .. } => &mut self.tests,
            Shown::Task { .. } => &mut self.tasks,
        };
        lane.push(Numbered { number, ready });
    }

    /// Runs all of them; each comes when it has ended.
    pub(super) fn start(self) -> Receiver<Result<Ended>> {
        let (sender, receiver) = mpsc::channel();
        for lane in [self.tests, self.tasks] {
            let sender = sender.clone();
            // It ends with this program, or when nobody listens.
            thread::spawn(move || lane.into_iter().try_for_each(|one| sender.send(one.run())));
        }
        receiver
    }
}

impl Numbered {
    fn run(self) -> Result<Ended> {
        let Numbered { number, mut ready } = self;
        println!("begins: {} {}", ready.check.row, ready.check.group);
        let mut errors = tempfile::tempfile()?;
        ready.set_stderr(errors.try_clone()?);
        let mut said = Vec::new();
        let outcome = ready.run(&mut said)?;
        errors.rewind()?;
        errors.read_to_end(&mut said)?;
        Ok(Ended { number, outcome, said })
    }
}
