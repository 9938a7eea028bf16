//! A server of the Remote Execution API on a port of its own, until its standard input ends.
//!
//! `standin-remote [--listen ADDRESS] [--instance NAME] [--slots NUMBER] [--sleep MILLISECONDS] [FAULT...]` prints where it listens. Then
//! each line of its input gets a line in answer: `faults FAULT...` sets what it does wrong, `counts` asks what it was
//! asked, `forget` forgets that.

use std::error::Error;
use std::time::Duration;

use offload_remote_tests::standin::{Fault, Options, Standin, Work};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;

/// The default: more than any client uses.
const SLOTS: usize = 1 << 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = parse(std::env::args().skip(1))?;
    let server = Standin::new(arguments.options);
    server.set_faults(arguments.faults);
    let listener = TcpListener::bind((arguments.address.as_str(), 0)).await?;
    println!("{}", listener.local_addr()?);
    tokio::select! {
        ended = server.serve(listener) => Ok(ended?),
        () = run_commands(&server) => Ok(()),
    }
}

struct Arguments {
    options: Options,
    faults: Vec<Fault>,
    address: String,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, Box<dyn Error>> {
    let mut options = Options { instance: String::new(), slots: SLOTS, work: Work::Run };
    let mut faults = Vec::new();
    let mut address = "127.0.0.1".to_string();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--listen" => address = value(&mut words, &word)?,
            "--instance" => options.instance = value(&mut words, &word)?,
            "--slots" => options.slots = value(&mut words, &word)?.parse()?,
            "--sleep" => {
                options.work = Work::Sleep(Duration::from_millis(value(&mut words, &word)?.parse()?))
            }
            _ => faults.push(word.parse()?),
        }
    }
    Ok(Arguments { options, faults, address })
}

fn value(words: &mut impl Iterator<Item = String>, word: &str) -> Result<String, String> {
    words.next().ok_or_else(|| format!("`{word}` needs a value"))
}

/// Executes commands from standard input until it ends, with the parent process.
async fn run_commands(server: &Standin) {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        println!("{}", execute_command(server, &line));
    }
}

fn execute_command(server: &Standin, line: &str) -> String {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        "counts" => return server.counts().to_string(),
        "forget" => server.forget_counts(),
        "faults" => match rest.split_whitespace().map(str::parse).collect() {
            Ok(faults) => server.set_faults(faults),
            Err(error) => return error,
        },
        _ => return format!("there is no command `{word}`"),
    }
    "ok".to_string()
}
