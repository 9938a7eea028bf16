//! Tests of the protocol: round trips, and rejection of malformed messages.

use super::*;

fn program() -> Program {
    Program {
        path: "/usr/bin/clang-22".into(),
        library_directories: vec!["/usr/lib".into()],
        opened: vec!["libigc.so".into()],
        others: Vec::new(),
    }
}

fn action() -> Action {
    Action {
        arguments: ["/usr/bin/clang-22", "-c", "", "ä b"].map(String::from).into(),
        variables: vec![Variable { name: "LC_ALL".into(), value: "C".into() }],
        directory: "package".into(),
        inputs: vec![
            Input { path: "package/a.ll".into(), source: Source::Bytes(vec![0, 1, 255]) },
            Input { path: "files/0.bc".into(), source: Source::File("/usr/lib/x.bc".into()) },
        ],
        outputs: vec!["out".into(), "out.bin".into()],
        programs: vec![program(), program()],
        seconds: 3600,
    }
}

fn requests() -> Vec<Request> {
    let key = Hash128([7; 16]);
    vec![
        Request::Get { key },
        Request::Put { key, stored: vec![1, 2, 3] },
        Request::Execute(action()),
        Request::Execute(Action { programs: Vec::new(), inputs: Vec::new(), ..action() }),
        Request::Identify(program()),
        Request::Flush { seconds: 10 },
        Request::Alive,
    ]
}

fn replies() -> Vec<Reply> {
    let executed = Executed {
        exit_code: -1,
        stdout: b"out".to_vec(),
        stderr: vec![0xff],
        outputs: vec![OutputFile { path: "out".into(), content: vec![9; 300] }],
        origin: Origin::Cache,
    };
    let room = Room { commands: 700, was_full: true };
    vec![
        Reply::Found(vec![4; 70]),
        Reply::Missing { room: Room { was_full: false, ..room } },
        Reply::Accepted,
        Reply::Executed { executed, room },
        Reply::Identified(vec![FileIdentity { path: "/usr/bin/x".into(), sha256: [3; 32] }]),
        Reply::Declined { reason: "the server is gone".into() },
    ]
}

#[test]
fn what_is_written_is_read() {
    for request in requests() {
        assert_eq!(Request::from_bytes(&request.to_bytes()), Ok(request));
    }
    for reply in replies() {
        assert_eq!(Reply::from_bytes(&reply.to_bytes()), Ok(reply));
    }
}

#[test]
fn messages_that_are_cut_or_too_long_are_refused() {
    for message in requests().iter().map(Request::to_bytes) {
        assert!((0..message.len()).all(|end| Request::from_bytes(&message[..end]).is_err()));
        assert!(Request::from_bytes(&[&message[..], &[0]].concat()).is_err());
    }
    for message in replies().iter().map(Reply::to_bytes) {
        assert!((0..message.len()).all(|end| Reply::from_bytes(&message[..end]).is_err()));
        assert!(Reply::from_bytes(&[&message[..], &[0]].concat()).is_err());
    }
}

#[test]
fn a_list_that_claims_too_much_is_refused_at_once() {
    // Arguments of an action: their number is the first field.
    let bytes = [&[2][..], &u64::MAX.to_le_bytes()].concat();
    assert!(Request::from_bytes(&bytes).is_err());
}

#[test]
fn every_flipped_bit_of_a_stored_result_is_detected() {
    let key = Hash128::digest(b"key");
    let stored = Stored { milliseconds: 5, diagnostics: "warning: x".into(), content: vec![1, 2, 3] };
    let bytes = stored.to_bytes(key);
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(Stored::from_bytes(&changed, key).is_err(), "{bit}");
    }
}
