//! A stand-in for clang, llvm-link, ocloc and spirv-val that records every call.
//!
//! It is linked under the tool's name into a directory of its own, where it appends one line a call to `calls.log`.
//! A file `NAME.fault` there makes the tool NAME misbehave: `empty`, `truncated`, `missing`, `fail`, `hang`, or `old` for a
//! clang that says it is LLVM 15, `llvm-19` for one of LLVM 19. A file `NAME.out` is what the tool NAME writes; otherwise what it writes has the shape that offload-build reads back: IR that names the
//! kernels of the source, SPIR-V with their entry points, an Intel image with their sections.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test stops at the first surprise"
)]

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let exe = PathBuf::from(env::args_os().next().unwrap());
    let dir = exe.parent().unwrap();
    let name = exe.file_name().unwrap().to_str().unwrap().to_string();
    let args: Vec<String> = env::args().skip(1).collect();
    record(dir, &name, &args);
    let fault = fs::read_to_string(dir.join(format!("{name}.fault"))).unwrap_or_default();
    if args.iter().any(|arg| arg == "--version") {
        let version = match fault.trim() {
            "old" => "15.0.6",
            "llvm-19" => "19.1.7",
            _ => "22.1.8",
        };
        println!("Fake clang version {version}");
        return ExitCode::SUCCESS;
    }
    if args.iter().any(|arg| arg == "-print-resource-dir") {
        println!("{}", dir.join("resource").display());
        return ExitCode::SUCCESS;
    }
    if fault.trim() == "fail" {
        eprintln!("kernels/a.cl:3:5: error: made to fail");
        return ExitCode::FAILURE;
    }
    if fault.trim() == "hang" {
        eprintln!("made to hang");
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    let prepared = fs::read(dir.join(format!("{name}.out"))).ok();
    if prepared.is_some() {
        let depfile = after(&args, "-MF")
            .or_else(|| args.get(args.iter().position(|arg| arg == "-dependency-file")? + 2));
        fs::write(depfile.unwrap(), "out: kernels/k.h\n").unwrap();
    }
    let Some(mut output) = prepared.or_else(|| output(&name, &args)) else { return ExitCode::SUCCESS };
    match fault.trim() {
        "empty" => output.clear(),
        "truncated" => output.truncate(output.len() / 2),
        "missing" => return ExitCode::SUCCESS,
        _ => {}
    }
    let path = after(&args, "-o").or(after(&args, "-output")).unwrap();
    match fs::write(path, output) {
        Ok(()) => ExitCode::SUCCESS,
        // As compilers do on a full disk.
        Err(error) => {
            eprintln!("cannot write {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn record(dir: &Path, name: &str, args: &[String]) {
    let mut log = OpenOptions::new().create(true).append(true).open(dir.join("calls.log")).unwrap();
    // One write a line, so that parallel calls do not mix.
    log.write_all(format!("{name} {}\n", args.join(" ")).as_bytes()).unwrap();
}

fn after<'a>(args: &'a [String], option: &str) -> Option<&'a String> {
    args.iter().position(|arg| arg == option).and_then(|at| args.get(at + 1))
}

fn output(name: &str, args: &[String]) -> Option<Vec<u8>> {
    let last = args.last().unwrap();
    match name {
        "clang" if args.iter().any(|arg| arg == "ir") => Some(spirv(&kernels(&read(last)))),
        "clang" => Some(front_end(args)),
        "llvm-link" => {
            let inputs = args.iter().filter(|arg| arg.starts_with("in"));
            let text = inputs.map(|input| read(input)).collect::<String>();
            Some(format!("; ModuleID = 'linked'\n{text}").into_bytes())
        }
        "ocloc" => {
            let module = fs::read(after(args, "-file").unwrap()).unwrap();
            let names = String::from_utf8_lossy(&module).into_owned();
            Some(zebin(&kernels(&names.replace('\0', "\n"))))
        }
        _ => None,
    }
}

fn read(path: &str) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// The front end: expands includes, writes the dependency file, and IR or, with `-E`, the text itself.
fn front_end(args: &[String]) -> Vec<u8> {
    let source = args.last().unwrap();
    let mut read = ReadFiles::default();
    read.includes.extend(args.iter().filter_map(|arg| arg.strip_prefix("-I")).map(PathBuf::from));
    let text = if source == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).unwrap();
        expand(&text, Path::new("."), &mut read)
    } else {
        include(Path::new(source), &mut read)
    };
    let dependencies: Vec<String> = read.files.iter().map(|path| path.display().to_string()).collect();
    fs::write(after(args, "-MF").unwrap(), format!("out: {}\n", dependencies.join(" \\\n  "))).unwrap();
    if args.iter().any(|arg| arg == "-E") {
        return text.into_bytes();
    }
    let mut ir = format!("; ModuleID = '{source}'\n; {}\n", args.join(" "));
    for name in source_kernels(&text) {
        ir.push_str(&format!("define spir_kernel void @{name}() {{\n}}\n"));
    }
    for name in source_functions(&text) {
        ir.push_str(&format!("define spir_func i32 @{name}() {{\n}}\n"));
    }
    ir.into_bytes()
}

/// What a front end has read, and where it looks.
#[derive(Default)]
struct ReadFiles {
    files: BTreeSet<PathBuf>,
    includes: Vec<PathBuf>,
}

fn include(path: &Path, read: &mut ReadFiles) -> String {
    read.files.insert(path.to_path_buf());
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    expand(&text, path.parent().unwrap(), read)
}

fn expand(text: &str, dir: &Path, read: &mut ReadFiles) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.strip_prefix("#include \"").and_then(|rest| rest.split('"').next()) {
            Some(name) => {
                let path = if dir == Path::new(".") { name.into() } else { dir.join(name) };
                let path = if path.exists() {
                    path
                } else {
                    let mut elsewhere = read.includes.iter().map(|dir| dir.join(name));
                    elsewhere.find(|path| path.exists()).unwrap_or(path)
                };
                out.push_str(&include(&path, read));
            }
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

fn source_kernels(text: &str) -> Vec<String> {
    let names = text.split("__kernel void ").skip(1);
    names.map(|rest| rest.split('(').next().unwrap().trim().to_string()).collect()
}

/// The functions in lines as `int name(int x) { return x; }`.
fn source_functions(text: &str) -> Vec<String> {
    let defined = text.lines().filter(|line| line.contains(") {"));
    let names = defined.filter_map(|line| line.strip_prefix("int ")?.split('(').next());
    names.map(str::to_string).collect()
}

/// The names in `@name(` of the fake IR, or on the lines `kernel:name` of the fake SPIR-V.
fn kernels(text: &str) -> Vec<String> {
    let defined = text.lines().filter_map(|line| line.strip_prefix("define spir_kernel void @"));
    let names = defined.map(|rest| rest.split('(').next().unwrap().to_string());
    let marked =
        text.lines().filter_map(|line| line.split("kernel:").nth(1)).map(|name| name.trim().to_string());
    names.chain(marked).collect()
}

/// A module of capabilities, memory model and entry points; an OpString `kernel:NAME` each is there for the fake ocloc.
fn spirv(kernels: &[String]) -> Vec<u8> {
    let mut words: Vec<u32> = vec![0x0723_0203, 0x0001_0200, 0, 100, 0, 2 << 16 | 17, 6, 3 << 16 | 14, 2, 2];
    for (index, name) in kernels.iter().enumerate() {
        let id = index as u32 + 1;
        let entry = text_words(name);
        words.extend([(3 + entry.len() as u32) << 16 | 15, 6, id]);
        words.extend(entry);
    }
    for (index, name) in kernels.iter().enumerate() {
        let mark = text_words(&format!("\nkernel:{name}\n"));
        words.extend([(2 + mark.len() as u32) << 16 | 7, index as u32 + 50]);
        words.extend(mark);
    }
    for index in 0..kernels.len() as u32 {
        words.extend([5 << 16 | 54, 90, index + 1, 0, 91, 1 << 16 | 56]);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn text_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(text.len() / 4 * 4 + 4, 0);
    bytes.chunks(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

/// A relocatable ELF of machine 205 with a section `.text.NAME` for each kernel and `.ze_info`.
fn zebin(kernels: &[String]) -> Vec<u8> {
    let sections: Vec<String> = kernels
        .iter()
        .map(|name| format!(".text.{name}"))
        .chain([".ze_info".into(), ".shstrtab".into()])
        .collect();
    let mut names = vec![0u8];
    let mut headers = vec![0u8; 64];
    let names_size = 1 + sections.iter().map(|name| name.len() + 1).sum::<usize>();
    let info: String = kernels
        .iter()
        .map(|name| format!("  - name: {name}\n    execution_env:\n      grf_count: 128\n"))
        .collect();
    let info = format!("version: '1.0'\nkernels:\n{info}");
    for name in &sections {
        let kind: u32 = match name.as_str() {
            ".shstrtab" => 3,
            ".ze_info" => 0xff00_0011,
            _ => 1,
        };
        let (offset, size) = match kind {
            3 => (64, names_size),
            0xff00_0011 => (64 + names_size, info.len()),
            _ => (64, 1),
        };
        headers.extend((names.len() as u32).to_le_bytes());
        headers.extend(kind.to_le_bytes());
        for value in [0u64, 0, offset as u64, size as u64, 0, 1, 0] {
            headers.extend(value.to_le_bytes());
        }
        names.extend(name.bytes().chain([0]));
    }
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0\xcd\0\x01\0\0\0".to_vec();
    elf.extend(0u64.to_le_bytes());
    elf.extend(0u64.to_le_bytes());
    elf.extend((64 + names.len() as u64 + info.len() as u64).to_le_bytes());
    elf.extend(0u32.to_le_bytes());
    let count = sections.len() as u16 + 1;
    for value in [64u16, 0, 0, 64, count, count - 1] {
        elf.extend(value.to_le_bytes());
    }
    elf.extend(names);
    elf.extend(info.bytes());
    elf.extend(headers);
    elf
}
