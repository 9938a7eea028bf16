//! Unread files: a gate lists them, and fails unless they are allowed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::archive::{Member, Method, cpio, rpm, tar, zip};
use crate::support::{self, all_output, data, dir_with, objects, stdout};
use serde_json::Value;

/// What goes through `program ARGS`, as people compress archives.
fn filtered(program: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{program}");
    output.stdout
}

/// A static archive.
fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        archive.extend(
            format!(
                "{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
                format!("{name}/"),
                0,
                0,
                0,
                100_644,
                content.len()
            )
            .into_bytes(),
        );
        archive.extend(*content);
        archive.resize(archive.len().next_multiple_of(2), b'\n');
    }
    archive
}

fn cubin() -> Vec<u8> {
    data("device-12.9-sm_80.cubin")
}

fn gate(dir: &Path, args: &[&str]) -> (i32, String) {
    let output = support::offload(dir, &[&["verify", "--json", ".", "--require", "sm_80"], args].concat());
    assert!(output.stderr.is_empty(), "{}", all_output(&output));
    (output.status.code().unwrap(), stdout(&output))
}

fn files(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| object["file"].as_str().unwrap()).collect()
}

#[test]
fn archives_of_every_form_are_looked_into() {
    let inner = tar(&[("lib/k.cubin", &cubin()), ("README", b"text")]);
    let members = [Member { name: "k.cubin", content: &cubin(), method: Method::Deflated }];
    let cpio_archive = cpio(&[("./usr/lib/k.cubin", &cubin()), ("./README", b"text")]);
    let zipapp = [&b"#!/usr/bin/env python3\n"[..], &zip(&members)].concat();
    let package = zip(&[
        Member { name: "metadata.json", content: b"{}", method: Method::Stored },
        Member {
            name: "pkg-x.tar.zst",
            content: &zstd::encode_all(&inner[..], 3).unwrap(),
            method: Method::Stored,
        },
    ]);
    let xz = filtered("xz", &["-c"], &inner);
    let deb = ar(&[("debian-binary", b"2.0\n"), ("control.tar.xz", &xz[..0]), ("data.tar.xz", &xz)]);
    for (name, content) in [
        ("x.tar.bz2", filtered("bzip2", &["-c"], &inner)),
        (
            "two.tar.bz2",
            [filtered("bzip2", &["-c"], &inner[..5000]), filtered("bzip2", &["-c"], &inner[5000..])].concat(),
        ),
        ("x.tar.lz4", filtered("lz4", &["-c"], &inner)),
        (
            "two.tar.lz4",
            [filtered("lz4", &["-c"], &inner[..5000]), filtered("lz4", &["-c"], &inner[5000..])].concat(),
        ),
        ("old.tar.lz4", filtered("lz4", &["-l", "-c"], &inner)),
        ("x.tar.lzma", filtered("xz", &["--format=lzma", "-c"], &inner)),
        ("x.cpio", cpio_archive.clone()),
        ("x.rpm", rpm(&zstd::encode_all(&cpio_archive[..], 3).unwrap())),
        ("x.deb", deb),
        ("x.conda", package),
        ("x.pyz", zipapp.clone()),
        ("x.tar", tar(&[("bin/x", &zipapp)])),
        ("libx.a", ar(&[("x.tar", &inner)])),
        ("k.cubin.bz2", filtered("bzip2", &["-c"], &cubin())),
    ] {
        let dir = dir_with(name, &content);
        let (code, printed) = gate(dir.path(), &[]);
        let met = objects(&printed, "met");
        assert_eq!((code, met.len()), (0, 1), "{name}: {printed}");
        assert!(files(&met)[0].starts_with(&format!("./{name}")), "{printed}");
        // The same with an image that does not do.
        let output = support::offload(dir.path(), &["verify", ".", "--require", "sm_90"]);
        assert_eq!(output.status.code(), Some(1), "{name}: {}", all_output(&output));
        // A part of it is damaged.
        if !["x.pyz", "x.tar", "libx.a", "x.cpio"].contains(&name) {
            fs::write(dir.path().join(name), &content[..content.len() * 2 / 3]).unwrap();
            let (code, printed) = gate(dir.path(), &[]);
            assert_eq!((code, objects(&printed, "unreadable").len()), (1, 1), "{name}: {printed}");
        }
    }
}

#[test]
fn what_is_not_read_is_named_and_fails() {
    let squashfs = [&b"hsqs"[..], &[1; 200]].concat();
    let program = fs::read("/bin/true").unwrap();
    let mut app_image = program.clone();
    app_image[8..11].copy_from_slice(b"AI\x02");
    let encrypted = {
        let mut archive = zip(&[Member { name: "k.cubin", content: &cubin(), method: Method::Stored }]);
        let list = archive.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        archive[list + 8] |= 1;
        archive
    };
    let unknown = zip(&[Member { name: "k.cubin", content: &cubin(), method: Method::Unknown }]);
    for (name, content) in [
        ("x.squashfs", squashfs.clone()),
        ("x.AppImage", app_image),
        ("x.run", [&program[..], &squashfs].concat()),
        ("x.sh", [&b"#!/bin/sh\nexit 0\n"[..], &[0x1f, 0x8b, 8, 0, 0]].concat()),
        ("x.7z", b"7z\xbc\xaf\x27\x1c\0\x04".to_vec()),
        ("x.rar", b"Rar!\x1a\x07\x01\0".to_vec()),
        ("x.iso", [&vec![0; 32_769], &b"CD001\x01"[..], &vec![0; 4096]].concat()),
        ("thin.a", b"!<thin>\n".to_vec()),
        ("encrypted.zip", encrypted),
        ("unknown.zip", unknown),
        ("in.tar", tar(&[("x.squashfs", &squashfs)])),
        ("in.zip", zip(&[Member { name: "x.squashfs", content: &squashfs, method: Method::Deflated }])),
    ] {
        let dir = dir_with(name, &content);
        fs::write(dir.path().join("k.cubin"), cubin()).unwrap();
        let (code, printed) = gate(dir.path(), &[]);
        let unread = objects(&printed, "unread");
        assert_eq!((code, unread.len()), (1, 1), "{name}: {printed}");
        assert!(files(&unread)[0].starts_with(&format!("./{name}")), "{printed}");
        assert_eq!(unread[0]["allowed"], false);
        let pattern = format!("*.txt,./{name}*");
        for args in [&["--allow-unread-of", &pattern][..], &["--allow-unread"], &["--allow-unread-of", "*"]] {
            let (code, printed) = gate(dir.path(), args);
            assert_eq!(code, 0, "{name} {args:?}: {printed}");
            assert_eq!(objects(&printed, "unread")[0]["allowed"], true);
        }
        let (code, _) = gate(dir.path(), &["--allow-unread-of", "other.*"]);
        assert_eq!(code, 1, "{name}");
        let human = support::offload(dir.path(), &["verify", ".", "--require", "sm_80"]);
        assert!(all_output(&human).contains("cannot be searched: "), "{}", all_output(&human));
    }
}

#[test]
fn ordinary_files_raise_no_alarm() {
    let dir = dir_with("k.cubin", &cubin());
    for (name, content) in [
        ("README.md", &b"# text\nPK\x05\x06 is no archive\n"[..]),
        ("empty", b""),
        ("nulls", &[0; 70_000]),
        ("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        ("x.pdf", b"%PDF-1.7\n\xe2\xe3"),
        ("x.py", b"#!/usr/bin/env python3\nprint('\xc3\xa4')\n"),
        ("x.bin", &[0xaa; 5000]),
        ("x.npy", b"\x93NUMPY\x01\0"),
        ("x.gz", &support::archive::gzip(b"text")),
        ("x.class", b"\xca\xfe\xba\xbe\0\0\0\x3d"),
    ] {
        fs::write(dir.path().join(name), content).unwrap();
    }
    fs::copy("/bin/true", dir.path().join("true")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_cargo-offload"), dir.path().join("program")).unwrap();
    let (code, printed) = gate(dir.path(), &[]);
    assert!(objects(&printed, "unread").is_empty(), "{printed}");
    assert_eq!(code, 0, "{printed}");
}

#[cfg(unix)]
#[test]
fn links_that_lead_elsewhere_are_named() {
    use std::os::unix::fs::symlink;

    let outside = dir_with("old.cubin", &cubin());
    let dir = dir_with("k.cubin", &cubin());
    fs::create_dir(dir.path().join("sub")).unwrap();
    for (target, link) in [("k.cubin", "inside"), ("../k.cubin", "sub/up"), ("sub", "folder"), (".", "loop")]
    {
        symlink(target, dir.path().join(link)).unwrap();
    }
    assert_eq!(gate(dir.path(), &[]).0, 0);
    symlink(outside.path().join("old.cubin"), dir.path().join("file")).unwrap();
    symlink(outside.path(), dir.path().join("elsewhere")).unwrap();
    symlink("gone", dir.path().join("dangling")).unwrap();
    let (code, printed) = gate(dir.path(), &[]);
    let unread = objects(&printed, "unread");
    assert_eq!((code, files(&unread)), (1, vec!["./dangling", "./elsewhere", "./file"]), "{printed}");
    assert_eq!(gate(dir.path(), &["--allow-unread-of", "dangling,elsewhere,file"]).0, 0);
}

fn library(content: &[u8]) -> Member<'_> {
    Member { name: "lib/k.so", content, method: Method::Deflated }
}

fn record(content: &[u8]) -> Member<'_> {
    Member { name: "RECORD", content, method: Method::Stored }
}

/// An object that differs from one with another number.
fn object(number: u8) -> Vec<u8> {
    let mut object = cubin();
    object.push(number);
    object
}

#[test]
fn members_with_the_same_name_are_an_error() {
    let new = cubin();
    let old = data("device-gfx1100.co");
    for (name, content) in [
        ("x.whl", zip(&[library(&new), library(&old)])),
        ("text.whl", zip(&[library(&new), library(b"text")])),
        ("x.tar", tar(&[("lib/k.so", &new), ("./lib/k.so", &old)])),
        ("libx.a", ar(&[("k.o", &object(1)), ("k.o", &object(2))])),
        ("x.cpio", cpio(&[("lib/k.so", &new), ("lib/k.so", &old)])),
    ] {
        let dir = dir_with(name, &content);
        let output = support::offload(dir.path(), &["verify", "--json", name, "--require", "sm_80,all-amd"]);
        let problems = objects(&stdout(&output), "unreadable");
        assert!(
            problems.iter().any(|it| it["problem"].as_str().unwrap().contains("`lib/k.so`")
                || it["problem"].as_str().unwrap().contains("`k.o`")),
            "{name}: {}",
            all_output(&output)
        );
        assert_eq!(output.status.code(), Some(1));
    }
    // Neither of texts, nor of the same bytes.
    for (name, content) in [
        ("x.whl", zip(&[library(&new), library(&new), record(b"one"), record(b"two")])),
        ("libx.a", ar(&[("k.o", &object(1)), ("k.o", &object(1)), ("x.txt", b"1"), ("x.txt", b"2")])),
    ] {
        let dir = dir_with(name, &content);
        assert_eq!(gate(dir.path(), &[]).0, 0, "{name}: {}", gate(dir.path(), &[]).1);
    }
}

fn judge(dir: &Path, args: &[&str]) -> (i32, String) {
    let output = support::offload(dir, &[&["verify", "--json", "."], args].concat());
    (output.status.code().unwrap(), stdout(&output))
}

#[test]
fn modules_may_lack_what_is_excepted() {
    let dir = dir_with("libnccl.so.2", &cubin());
    fs::write(dir.path().join("k.cubin"), cubin()).unwrap();
    let (code, printed) = judge(dir.path(), &["--require", "sm_80,sm_90", "--except", "nccl*=sm_90"]);
    assert_eq!((code, files(&objects(&printed, "unmet"))), (1, vec!["./k.cubin"]), "{printed}");
    let excepted = objects(&printed, "excepted");
    assert_eq!((files(&excepted), &excepted[0]["demand"]), (vec!["./libnccl.so.2"], &"sm_90".into()));
    assert_eq!(judge(dir.path(), &["--require", "sm_80,sm_90", "--except", "nccl*=sm_90,k=sm_90"]).0, 0);
    assert_eq!(judge(dir.path(), &["--require", "sm_80,sm_90", "--except", "*=sm_100"]).0, 1);

    fs::write(dir.path().join("x.7z"), b"7z\xbc\xaf\x27\x1c\0\x04").unwrap();
    let lists = "require = [\"sm_80\", \"sm_90\"]\nexcept = { \"nccl*\" = \"sm_90\", k = [\"sm_90\"] }\n";
    fs::write(dir.path().join("gate.toml"), lists).unwrap();
    assert_eq!(judge(dir.path(), &["--settings", "gate.toml"]).0, 1);
    fs::write(dir.path().join("gate.toml"), format!("{lists}allow-unread = [\"*.7z\"]\n")).unwrap();
    assert_eq!(judge(dir.path(), &["--settings", "gate.toml"]).0, 0);
    // Those of the project count for what is required by hand.
    fs::rename(dir.path().join("gate.toml"), dir.path().join("offload.toml")).unwrap();
    assert_eq!(judge(dir.path(), &["--require", "sm_80,sm_90"]).0, 0);

    for (args, part) in [
        (&["--require", "sm_80", "--except", "nccl"][..], "is not an exception"),
        (&["--settings", "empty.toml"], "has no requirements"),
        (&["--settings", "wrong.toml"], "is not a list of strings"),
        (&["--settings", "exceptions.toml"], "is not a table of exceptions"),
    ] {
        fs::write(dir.path().join("empty.toml"), "").unwrap();
        fs::write(dir.path().join("wrong.toml"), "allow-unread = 1\n").unwrap();
        fs::write(dir.path().join("exceptions.toml"), "except = [\"nccl\"]\n").unwrap();
        let output = support::offload(dir.path(), &[&["verify", "."], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", all_output(&output));
        assert!(
            all_output(&output).contains(part) && all_output(&output).contains("hint: "),
            "{}",
            all_output(&output)
        );
    }
}
