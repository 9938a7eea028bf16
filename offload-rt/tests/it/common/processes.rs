//! Tests of memory that two processes share, which every GPU passes.

use std::process::Command;

use offload_rt::{Device, ExportedBuffer};

use super::graphs::Ready;

/// The exported buffer, in hexadecimal digits, in the process that opens it.
const CHILD: &str = "OFFLOAD_TEST_EXPORTED";
const LEN: usize = 3000;

/// `test` is the name of the test, which runs again in a second process.
pub fn a_buffer_is_opened_by_another_process(ready: &Ready, test: &str) {
    if let Some(exported) = std::env::var_os(CHILD) {
        return add_in_child(ready, &exported.into_string().unwrap());
    }
    let stream = &ready.stream;
    let device: &Device = stream.device();
    let mut buffer = device.exportable_buffer::<f32>(LEN).unwrap();
    let exported = match buffer.export() {
        Ok(exported) => exported,
        // Older runtimes of HIP.
        Err(error) => return assert!(error.to_string().contains("lacks the function"), "{error}"),
    };
    let values: Vec<f32> = (0..LEN).map(|index| index as f32).collect();
    stream.write(&mut buffer, &values).unwrap();
    stream.synchronize().unwrap();
    let digits: String = exported.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--include-ignored", "--nocapture"]).env(CHILD, digits);
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("opened: 3000"), "{text}");
    let expected: Vec<f32> = values.iter().map(|value| value + 2.0).collect();
    assert!(stream.download(&buffer).unwrap() == expected);
    let error = stream.upload(&[1.0f32; 4]).unwrap().export().unwrap_err();
    // A driver without pools has memory of its own everywhere.
    assert!(device.memory_pool().is_err() || error.hint().unwrap().contains("exportable_buffer"), "{error}");
}

fn add_in_child(ready: &Ready, digits: &str) {
    let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(digit).collect();
    let exported = ExportedBuffer::from_bytes(&bytes).unwrap();
    let stream = &ready.stream;
    // SAFETY: the other process waits for this one.
    unsafe {
        let mut opened = stream.device().open_exported::<f32>(&exported).unwrap();
        println!("opened: {}", opened.len());
        let ones = stream.upload(&[1.0f32; LEN]).unwrap();
        ready.add(stream, 2.0, &ones, &mut opened).unwrap();
        // It is closed when that has run.
        drop(opened);
        let error = stream.device().open_exported::<[f32; 7]>(&exported).unwrap_err().to_string();
        assert!(error.contains("whole number of values"), "{error}");
        let error = Device::host().open_exported::<f32>(&exported).unwrap_err().to_string();
        assert!(error.contains("host CPU"), "{error}");
    }
}
