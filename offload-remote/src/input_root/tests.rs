//! Input roots, compared with messages that are encoded by hand.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn action(directory: &str, inputs: Vec<Input>) -> Action {
    Action {
        arguments: vec!["/bin/true".into()],
        variables: Vec::new(),
        directory: directory.into(),
        inputs,
        outputs: Vec::new(),
        programs: Vec::new(),
        seconds: 0,
    }
}

fn bytes(path: &str, content: &[u8]) -> Input {
    Input { path: path.into(), source: Source::Bytes(content.to_vec()) }
}

fn input_root(directory: &str, inputs: Vec<Input>) -> Result<InputRoot, Fault> {
    InputRoot::build(&action(directory, inputs), &Files::default())
}

/// A field of bytes, as the encoding has it.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, content.len() as u8][..], content].concat()
}

fn node(name: &[u8], content: &[u8]) -> Vec<u8> {
    [field(1, name), field(2, &digest_message(content))].concat()
}

fn digest_message(content: &[u8]) -> Vec<u8> {
    let digest = Digest::from_bytes(content);
    let size = if content.is_empty() { vec![] } else { vec![2 << 3, digest.size as u8] };
    [field(1, digest.hex().as_bytes()), size].concat()
}

#[test]
fn nothing_has_the_digest_that_everybody_knows() {
    let tree = input_root("", Vec::new()).unwrap();
    assert_eq!(tree.root.hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_eq!(tree.blobs.len(), 1);
}

#[test]
fn a_tree_is_what_the_api_makes_of_it() {
    let tree =
        input_root("work", vec![bytes("b", b"two"), bytes("work/c", b""), bytes("a", b"one")]).unwrap();
    // By hand: field 1 files, 2 folders; of each 1 the name and 2 the digest.
    let work = field(1, &node(b"c", b""));
    let root =
        [field(1, &node(b"a", b"one")), field(1, &node(b"b", b"two")), field(2, &node(b"work", &work))]
            .concat();
    assert_eq!(tree.root, Digest::from_bytes(&root));
    assert_eq!(tree.blobs.len(), 5);
    assert!(tree.blobs.iter().any(|blob| blob.digest == Digest::from_bytes(&work)));
}

#[test]
fn a_file_keeps_who_may_run_it() {
    let dir = tempfile::tempdir().unwrap();
    let tool = dir.path().join("tool");
    std::fs::write(&tool, "x").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let source = Source::File(tool.to_str().unwrap().into());
    let tree = input_root("", vec![Input { path: "tools/tool".into(), source }]).unwrap();
    let executable = [field(1, b"tool"), field(2, &digest_message(b"x")), vec![4 << 3, 1]].concat();
    let tools = field(1, &executable);
    assert!(tree.blobs.iter().any(|blob| blob.digest == Digest::from_bytes(&tools)), "{tree:?}");
}

#[test]
fn inputs_without_a_place_of_their_own_are_refused() {
    for inputs in [
        vec![bytes("a", b"1"), bytes("a", b"2")],
        vec![bytes("a", b"1"), bytes("a/b", b"2")],
        vec![bytes("", b"1")],
        vec![bytes("../a", b"1")],
        vec![bytes("/a", b"1")],
        vec![bytes("a//b", b"1")],
        vec![Input { path: "a".into(), source: Source::File("/no such file".into()) }],
    ] {
        assert_eq!(input_root("", inputs).unwrap_err().kind, FaultKind::Local);
    }
}
