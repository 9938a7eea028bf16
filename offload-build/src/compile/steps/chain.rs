//! Chains of two steps whose intermediate result is not wanted: a worker runs both in one action, and the intermediate
//! result does not travel. A local run caches both, so that a change of the second does not repeat the first.

use offload_jobs::Token;
use offload_protocol::remote;

use crate::cache::{Blob, Key, KeyBuilder};
use crate::compile::Session;
use crate::compile::steps::action::{Arg, Made, Step, Work, args_key};
use crate::error::Result;
use crate::tool::Tool;

/// A step, and the one that takes its output.
#[derive(Debug)]
pub(crate) struct Chain<'a> {
    pub(crate) first: Step<'a>,
    /// Accepts the output of `first`.
    pub(crate) check: fn(&[u8]) -> Result<()>,
    pub(crate) then: Then<'a>,
}

/// A step whose only input is the output of the one before.
#[derive(Debug)]
pub(crate) struct Then<'a> {
    pub(crate) name: &'static str,
    pub(crate) tool: &'a Tool,
    /// With the output of the step before as the first input.
    pub(crate) args: Vec<Arg>,
    /// Of the input's file name.
    pub(crate) ending: &'static str,
}

impl Session<'_> {
    /// The output of the second step, which `check` has accepted.
    pub(crate) fn chain(&self, chain: &Chain<'_>, check: impl Fn(&[u8]) -> Result<()>) -> Result<Blob> {
        if self.sends_tools() {
            let between = self.step(&chain.first, chain.check)?;
            return self.step(&chain.then.step(&between), check);
        }
        self.step(chain, check)
    }
}

impl Then<'_> {
    fn step<'s>(&'s self, input: &'s Blob) -> Step<'s> {
        let inputs = vec![(input, self.ending)];
        Step { name: self.name, tool: self.tool, args: self.args.clone(), inputs, files: Vec::new() }
    }
}

impl Work for Chain<'_> {
    fn tool(&self) -> &Tool {
        self.then.tool
    }

    fn key(&self, session: &Session<'_>) -> Result<Key> {
        let key = KeyBuilder::new(self.then.name).part(b"after").part(&self.first.key(session)?.bytes());
        let key = key.part(self.then.tool.identity()?.as_bytes());
        Ok(args_key(key, &self.then.args).finish())
    }

    fn shared_key(&self, session: &Session<'_>) -> Option<Key> {
        session.shared_chain_key(self)
    }

    fn is_worth_sending(&self, session: &Session<'_>) -> bool {
        // An earlier build may have done most of it.
        let is_begun = self.first.key(session).is_ok_and(|key| session.cache().get(key).is_some());
        !is_begun && self.first.is_worth_sending(session)
    }

    fn remote_action(&self, session: &Session<'_>) -> Option<remote::Action> {
        session.chain_action(self)
    }

    fn run(&self, session: &Session<'_>, token: Token<'_>) -> Result<Made> {
        let (between, printed) = session.step_here(&self.first, token, &self.check)?;
        let last = self.then.step(&between).run(session, session.context().jobs.token())?;
        Ok(Made { content: last.content, printed: [printed, last.printed].join("\n") })
    }
}
