//! Logs from NVIDIA's documentation.

use super::*;

fn shown(text: &str) -> Vec<String> {
    read(text)
        .reports
        .iter()
        .map(|report| {
            let line = report.line.as_ref().map(|line| format!("{line}: ")).unwrap_or_default();
            format!("{} {line}{}", report.kernel, report.text)
        })
        .collect()
}

/// As NVIDIA's manual shows it, of release 2026.4.
#[test]
fn accesses_outside_name_the_buffer() {
    let text = "========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at unaligned_kernel()+0x100 in memcheck_demo.cu:34
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7cc43aa00001 is misaligned
=========     and is inside the nearest allocation at 0x7cc43aa00000 of size 4 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: run_unaligned() [0xacd4] in memcheck_demo
=========
========= Invalid __global__ write of size 4 bytes
=========     at out_of_bounds_function()+0xb0 in memcheck_demo.cu:39
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x87654320 is out of bounds
=========     and is 137,179,965,340,896 bytes before the nearest allocation at 0x7cc43a800000 of size 1,024 bytes
=========         Device Frame: out_of_bounds_kernel()+0x30 in memcheck_demo.cu:44
=========
========= Invalid __global__ read of size 4 bytes
=========     at saxpy+0xb0 in ./kernels/a.cl:7
=========     by thread (15,0,0) in block (3,1,0)
=========     Address 0x7f0000000100 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f0000000000 of size 256 bytes
=========
========= ERROR SUMMARY: 3 errors
";
    assert_eq!(
        shown(text),
        [
            "unaligned_kernel memcheck_demo.cu:34: thread 0 of block 0 writes 4 bytes at an address that is no multiple \
             of the type's alignment",
            "out_of_bounds_kernel memcheck_demo.cu:39: thread 0 of block 0 writes 4 bytes that begin 137179965340896 \
             before the start of a buffer of 1024 bytes",
            "saxpy kernels/a.cl:7: thread 15 of block (3, 1) reads 4 bytes that end 4 behind the end of a buffer of \
             256 bytes",
        ]
    );
    assert!(read(text).is_whole);
}

/// Of a run on an H100.
#[test]
fn shared_memory_has_no_buffers() {
    let text = "========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 4 bytes
=========     at halo+0x1d0 in kernels/local_memory.cl:11
=========     by thread (15,0,0) in block (2,0,0)
=========     Access to 0x440 is out of bounds
========= 
========= ERROR SUMMARY: 1 error
";
    let expected = "halo kernels/local_memory.cl:11: thread 15 of block 2 writes 4 bytes of shared memory: the address is out of bounds";
    assert_eq!(shown(text), [expected]);
}

/// As NVIDIA's manual shows it; without lines where the image has none.
#[test]
fn shared_memory_races_barriers_and_unwritten_memory() {
    let text = "========= Invalid __shared__ write of size 4 bytes
=========     at k()+0x170
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x1000 is out of bounds
=========
========= Error: Potential WAW hazard detected at __shared__ 0x8c in block (2,0,0) :
=========     Write Thread (0,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Write Thread (1,0,0) at WAW()+0x2f0 in raceWAW.cu:20
=========     Current Value : 1, Incoming Value : 2
=========
========= Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x8c in block (0,0,0) :
=========     Write Thread (35,0,0) at sumKernel(int *, int *)+0x90 in warp_error.cu:44
=========     Read Thread (32,0,0) at sumKernel(int *, int *)+0x120 in warp_error.cu:56
=========     Current Value : 35
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *)+0x70 in memset_error.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
 ========= Barrier error detected. Divergent thread(s) in block.
 =========     at [clone myKernel(int *, int *)] outlineSync()+0x11f0 in test.cu:42
 =========     by thread (32,0,0) in block (0,0,0)
 =========         Device Frame: myKernel(int *, int *)+0xe40 in test.cu:60
 =========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
";
    assert_eq!(
        shown(text),
        [
            "k thread 0 of block 0 writes 4 bytes of shared memory: the address is out of bounds",
            "WAW raceWAW.cu:20: thread 1 of block 2 writes byte 140 of shared memory, which thread 0 writes \
             (raceWAW.cu:20): no barrier separates them",
            "sumKernel warp_error.cu:56: thread 32 of block 0 reads byte 140 of shared memory, which thread \
             35 writes (warp_error.cu:44): no barrier separates them",
            "vectorAdd memset_error.cu:41: thread 31 of block 1 reads 4 bytes of uninitialized global memory",
            "myKernel test.cu:42: thread 32 of block 0 waits at a barrier that others do not come to: divergent \
             thread(s) in block",
        ]
    );
    assert!(read(text).is_whole);
}

#[test]
fn what_is_no_mistake_of_a_kernel_is_no_report() {
    let text = "========= COMPUTE-SANITIZER
========= Internal Sanitizer Error: The Sanitizer encountered an error while launching k and didn't track the launch.
=========
========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to \"invalid argument\" on CUDA API call to cuMemAlloc.
=========
========= Error: process didn't terminate successfully
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
";
    let log = read(text);
    assert!(log.reports.is_empty() && log.is_whole);
    assert!(log.trouble.unwrap().starts_with("Internal Sanitizer Error: "));
    // As release 2026.4 has written it on a machine without a driver, where it ends with 0.
    let unstarted = "========= COMPUTE-SANITIZER
========= Error: process didn't terminate successfully
=========     The application may have hit an error when dereferencing Unified Memory from the host.
========= Target application terminated before first instrumented API call
";
    assert_eq!(read(unstarted).trouble.unwrap(), "Error: process didn't terminate successfully");
    assert!(!read("").is_whole && !read("========= COMPUTE-SANITIZER\n").is_whole);
}
