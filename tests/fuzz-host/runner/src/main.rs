//! Launches the kernels of a batch: `offload-fuzz-runner PACK TARGET CASES RESULTS FIRST`.
//!
//! PACK is a pack, TARGET that of the image which runs, CASES a file of cases, of which the first FIRST are skipped.
//! Each line of RESULTS is an [`Event`], flushed at once, so that the parent process can attribute a crash to a case. Output
//! of kernels goes to the standard output, after a line that names the case.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::process::ExitCode;

use offload_fuzz_host::case::{Case, CaseArg};
use offload_fuzz_host::launch::{CASE_LINE, Event};
use offload_rt::{Buffer, Device, KernelArg, NdRange, Program, Registry};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Sources are for the first OpenCL device, everything else is for the CPU.
const OPENCL_TARGET: &str = "opencl-c";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [pack, target, cases, results, first] = args.as_slice() else {
        return Err("usage: offload-fuzz-runner PACK TARGET CASES RESULTS FIRST".into());
    };
    let cases: Vec<Case> = serde_json::from_slice(&fs::read(cases)?)?;
    let mut results = File::options().append(true).open(results)?;
    let program = open(fs::read(pack)?, target).map_err(|error| error.to_string());
    for (number, case) in cases.iter().enumerate().skip(first.parse()?) {
        tell(&mut results, &Event::Begun(number))?;
        println!("\n{CASE_LINE}{number}");
        io::stdout().flush()?;
        let launched = match &program {
            Ok(program) => launch(program, case).map_err(|error| error.to_string()),
            Err(text) => Err(text.clone()),
        };
        println!();
        io::stdout().flush()?;
        let event = match launched {
            Ok(buffers) => Event::Done(buffers),
            Err(text) => Event::Refused(text),
        };
        tell(&mut results, &event)?;
    }
    Ok(())
}

/// Opens the image for `target`.
fn open(pack: Vec<u8>, target: &str) -> Result<Program> {
    let registry = Registry::from_pack(pack);
    let entry = registry.entries().iter().find(|entry| entry.target_text() == target);
    let entry = entry.ok_or_else(|| format!("the pack has no image for `{target}`"))?;
    let device = match target {
        OPENCL_TARGET => {
            offload_rt::opencl::devices()?.into_iter().next().ok_or("there is no OpenCL device")?
        }
        _ => Device::host(),
    };
    Ok(device.open(&entry.load()?)?)
}

/// The words of all buffers after the launch.
fn launch(program: &Program, case: &Case) -> Result<Vec<Vec<u32>>> {
    let stream = program.device().stream()?;
    let kernel = program.kernel(&case.kernel)?;
    let mut buffers = Vec::new();
    for words in &case.buffers {
        buffers.push(stream.upload(words)?);
    }
    let mut args = Vec::new();
    for arg in &case.args {
        args.push(kernel_arg(arg, &buffers)?);
    }
    // SAFETY: the executor has run the kernel on buffers of these sizes, between pages without access, and in three orders.
    // The parent process recovers if a kernel crashes this one.
    unsafe { kernel.launch(&stream, range(case)?, &args)? };
    stream.synchronize()?;
    let mut words = Vec::new();
    for buffer in &buffers {
        words.push(stream.download(buffer)?);
    }
    Ok(words)
}

fn range(case: &Case) -> Result<NdRange> {
    let [gx, gy, gz] = case.range.global.map(|size| size as usize);
    let [lx, ly, lz] = case.range.local.map(|size| size as usize);
    let [ox, oy, oz] = case.range.offset.map(|offset| offset as usize);
    match case.range.dimensions {
        1 => Ok(NdRange::new([gx], [lx]).with_offset([ox])),
        2 => Ok(NdRange::new([gx, gy], [lx, ly]).with_offset([ox, oy])),
        3 => Ok(NdRange::new([gx, gy, gz], [lx, ly, lz]).with_offset([ox, oy, oz])),
        _ => Err("not one to three dimensions".into()),
    }
}

/// Two arguments may be one buffer: a `KernelArg` that borrows it to be read says nothing of what the kernel does.
fn kernel_arg<'a>(arg: &'a CaseArg, buffers: &'a [Buffer<u32>]) -> Result<KernelArg<'a>> {
    match arg {
        CaseArg::Buffer(index) => Ok(KernelArg::buffer(buffers.get(*index).ok_or("no such buffer")?)),
        CaseArg::Local(count) => Ok(KernelArg::local::<u32>(*count)),
        CaseArg::Value(words) => value(words),
    }
}

/// A value of as many words. The launch layer takes values by their types.
fn value(words: &[u32]) -> Result<KernelArg<'_>> {
    macro_rules! of_size {
        ($($count:literal)+) => {
            match words.len() {
                $($count => Ok(KernelArg::value(<&[u32; $count]>::try_from(words)?)),)+
                count => Err(format!("values of {count} words are not known").into()),
            }
        };
    }
    of_size!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
}

fn tell(results: &mut File, event: &Event) -> Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    Ok(results.write_all(&line)?)
}
