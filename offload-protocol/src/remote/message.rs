//! Encoding and decoding of requests and replies.

use super::fields::{Fields, Put, unknown_kind};
use super::{
    Action, Executed, FileIdentity, Input, Origin, OutputFile, Program, Reply, Request, Room, Source,
    Variable,
};
use offload_format::{Error, Hash128};

impl Request {
    /// The bytes of the message, without its length.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Request::Get { key } => {
                out.byte(0);
                out.extend_from_slice(&key.0);
            }
            Request::Put { key, stored } => {
                out.byte(1);
                out.extend_from_slice(&key.0);
                out.bytes(stored);
            }
            Request::Execute(action) => {
                out.byte(2);
                action.put(&mut out);
            }
            Request::Identify(program) => {
                out.byte(3);
                program.put(&mut out);
            }
            Request::Flush { seconds } => {
                out.byte(4);
                out.extend_from_slice(&seconds.to_le_bytes());
            }
            Request::Alive => out.byte(5),
        }
        out
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// The bytes are not a valid message.
    pub fn from_bytes(bytes: &[u8]) -> Result<Request, Error> {
        let mut fields = Fields::new(bytes);
        let request = match fields.byte()? {
            0 => Request::Get { key: Hash128(fields.array()?) },
            1 => Request::Put { key: Hash128(fields.array()?), stored: fields.bytes()? },
            2 => Request::Execute(Action::take(&mut fields)?),
            3 => Request::Identify(Program::take(&mut fields)?),
            4 => Request::Flush { seconds: fields.number()? },
            5 => Request::Alive,
            kind => return Err(unknown_kind(kind)),
        };
        fields.end()?;
        Ok(request)
    }
}

impl Reply {
    /// The bytes of the message, without its length.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Reply::Found(stored) => {
                out.byte(0);
                out.bytes(stored);
            }
            Reply::Missing { room } => {
                out.byte(1);
                room.put(&mut out);
            }
            Reply::Accepted => out.byte(2),
            Reply::Executed { executed, room } => {
                out.byte(3);
                executed.put(&mut out);
                room.put(&mut out);
            }
            Reply::Identified(files) => {
                out.byte(4);
                out.list(files, |out, file| {
                    out.text(&file.path);
                    out.extend_from_slice(&file.sha256);
                });
            }
            Reply::Declined { reason } => {
                out.byte(5);
                out.text(reason);
            }
        }
        out
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// The bytes are not a valid message.
    pub fn from_bytes(bytes: &[u8]) -> Result<Reply, Error> {
        let mut fields = Fields::new(bytes);
        let reply = match fields.byte()? {
            0 => Reply::Found(fields.bytes()?),
            1 => Reply::Missing { room: Room::take(&mut fields)? },
            2 => Reply::Accepted,
            3 => Reply::Executed { executed: Executed::take(&mut fields)?, room: Room::take(&mut fields)? },
            4 => Reply::Identified(
                fields.list(|it| Ok(FileIdentity { path: it.text()?, sha256: it.array()? }))?,
            ),
            5 => Reply::Declined { reason: fields.text()? },
            kind => return Err(unknown_kind(kind)),
        };
        fields.end()?;
        Ok(reply)
    }
}

impl Program {
    fn put(&self, out: &mut Vec<u8>) {
        out.text(&self.path);
        for texts in [&self.library_directories, &self.opened, &self.others] {
            out.texts(texts);
        }
    }

    fn take(fields: &mut Fields<'_>) -> Result<Program, Error> {
        Ok(Program {
            path: fields.text()?,
            library_directories: fields.texts()?,
            opened: fields.texts()?,
            others: fields.texts()?,
        })
    }
}

impl Action {
    fn put(&self, out: &mut Vec<u8>) {
        out.texts(&self.arguments);
        out.list(&self.variables, |out, variable| {
            out.text(&variable.name);
            out.text(&variable.value);
        });
        out.text(&self.directory);
        out.list(&self.inputs, |out, input| {
            out.text(&input.path);
            match &input.source {
                Source::Bytes(bytes) => {
                    out.byte(0);
                    out.bytes(bytes);
                }
                Source::File(path) => {
                    out.byte(1);
                    out.text(path);
                }
            }
        });
        out.texts(&self.outputs);
        out.list(&self.programs, |out, program| program.put(out));
        out.extend_from_slice(&self.seconds.to_le_bytes());
    }

    fn take(fields: &mut Fields<'_>) -> Result<Action, Error> {
        Ok(Action {
            arguments: fields.texts()?,
            variables: fields.list(|it| Ok(Variable { name: it.text()?, value: it.text()? }))?,
            directory: fields.text()?,
            inputs: fields.list(|it| Ok(Input { path: it.text()?, source: source(it)? }))?,
            outputs: fields.texts()?,
            programs: fields.list(Program::take)?,
            seconds: fields.number()?,
        })
    }
}

fn source(fields: &mut Fields<'_>) -> Result<Source, Error> {
    match fields.byte()? {
        0 => Ok(Source::Bytes(fields.bytes()?)),
        1 => Ok(Source::File(fields.text()?)),
        kind => Err(unknown_kind(kind)),
    }
}

impl Executed {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.exit_code.to_le_bytes());
        out.bytes(&self.stdout);
        out.bytes(&self.stderr);
        out.list(&self.outputs, |out, file| {
            out.text(&file.path);
            out.bytes(&file.content);
        });
        out.byte(match self.origin {
            Origin::Run => 0,
            Origin::Cache => 1,
        });
    }

    fn take(fields: &mut Fields<'_>) -> Result<Executed, Error> {
        Ok(Executed {
            exit_code: i32::from_le_bytes(fields.array()?),
            stdout: fields.bytes()?,
            stderr: fields.bytes()?,
            outputs: fields.list(|it| Ok(OutputFile { path: it.text()?, content: it.bytes()? }))?,
            origin: match fields.byte()? {
                0 => Origin::Run,
                1 => Origin::Cache,
                kind => return Err(unknown_kind(kind)),
            },
        })
    }
}

impl Room {
    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.commands.to_le_bytes());
        out.byte(self.was_full.into());
    }

    fn take(fields: &mut Fields<'_>) -> Result<Room, Error> {
        let commands = fields.number()?;
        let was_full = match fields.byte()? {
            0 => false,
            1 => true,
            kind => return Err(unknown_kind(kind)),
        };
        Ok(Room { commands, was_full })
    }
}
