//! Cooperative launches, clusters, and large arguments of CUDA kernels.

use bytemuck::{Pod, Zeroable};
use offload_rt::{Kernel, KernelArg, Stream};

use super::*;
use crate::common::launches::{self, Meeting};

const LAUNCHES: &str = include_str!("../../cuda/launches.ptx");
const CLUSTERS: &str = include_str!("../../cuda/clusters.ptx");

fn launches(name: &str) -> (Stream, Kernel) {
    let device = gpu();
    let kernel = open(&device, LAUNCHES, vec![KernelInfo::new(name)]).unwrap().kernel(name).unwrap();
    (device.stream().unwrap(), kernel)
}

/// `None` on devices and drivers without clusters.
fn clusters(name: &str) -> Option<(Stream, Kernel)> {
    let device = gpu();
    let shown = device.to_string();
    let (_, capability) = shown.split_once("(sm_").unwrap();
    let capability: String = capability.chars().take_while(char::is_ascii_digit).collect();
    let has_function = !format!("{device:?}").contains("\"cuLaunchKernelEx\"");
    if capability.parse::<u32>().unwrap() < 90 || !has_function {
        return None;
    }
    let kernel = open(&device, CLUSTERS, vec![KernelInfo::new(name)]).unwrap().kernel(name).unwrap();
    Some((device.stream().unwrap(), kernel))
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_groups_of_a_cooperative_launch_meet() {
    let (stream, meet) = launches("meet");
    launches::all_groups_of_a_cooperative_launch_meet(&stream, &meet);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_keeps_cooperative_launches() {
    let (stream, meet) = launches("meet");
    let mut meeting = Meeting::new(&stream, 20);
    let graph = stream.capture(|stream| meeting.launch(stream, &meet)).unwrap();
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
        meeting.check(&stream);
    }
    let most = meet.max_cooperative_groups(NdRange::linear_at_least(64, 64)).unwrap();
    let mut meeting = Meeting::new(&stream, most + 1);
    // The driver refuses it at the capture or at the launch.
    let captured = stream.capture(|stream| meeting.launch(stream, &meet));
    assert!(captured.and_then(|graph| graph.launch(&stream)).is_err());
}

fn ranks(stream: &Stream, kernel: &Kernel, groups: usize, cluster: u32) -> Result<Vec<[u32; 2]>, Error> {
    let mut out = stream.zeroed::<[u32; 2]>(groups)?;
    let range = NdRange::linear_at_least(groups, 1).with_cluster([cluster]);
    // SAFETY: there is a value for each work-group.
    unsafe { kernel.launch(stream, range, &[KernelArg::buffer_mut(&mut out)])? };
    stream.download(&out)
}

fn expected_ranks(groups: u32, cluster: u32) -> Vec<[u32; 2]> {
    (0..groups).map(|group| [group % cluster, cluster]).collect()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn groups_are_in_clusters() {
    let Some((stream, kernel)) = clusters("ranks") else { return };
    for cluster in [1, 2, 8] {
        assert_eq!(ranks(&stream, &kernel, 48, cluster).unwrap(), expected_ranks(48, cluster));
    }
    // More than every GPU has: a device that has not either says so.
    match ranks(&stream, &kernel, 48, 16) {
        Ok(found) => assert_eq!(found, expected_ranks(48, 16)),
        Err(error) => assert!(error.to_string().contains("CUDA_ERROR_"), "{error}"),
    }
    let error = ranks(&stream, &kernel, 48, 48).unwrap_err().to_string();
    assert!(error.starts_with("kernel `ranks`: the launch failed: CUDA"), "{error}");
    let error = ranks(&stream, &kernel, 48, 5).unwrap_err().to_string();
    assert!(error.contains("clusters of [5] work-groups do not divide [48]"), "{error}");
    assert_eq!(ranks(&stream, &kernel, 48, 4).unwrap(), expected_ranks(48, 4));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_graph_keeps_clusters() {
    let Some((stream, kernel)) = clusters("ranks") else { return };
    let mut out = stream.zeroed::<[u32; 2]>(8).unwrap();
    let captured = stream.capture(|stream| {
        let range = NdRange::linear_at_least(8, 1).with_cluster([4]);
        // SAFETY: there is a value for each work-group.
        unsafe { kernel.launch(stream, range, &[KernelArg::buffer_mut(&mut out)]) }
    });
    let mut graph = captured.unwrap();
    // SAFETY: as above.
    unsafe { graph.update(0, &[KernelArg::buffer_mut(&mut out)]) }.unwrap();
    graph.launch(&stream).unwrap();
    let found = stream.download(&out).unwrap();
    // The stand-in's graphs do not keep them.
    let cluster = if stream.device().name() == "stand-in" { 1 } else { 4 };
    assert_eq!(found, expected_ranks(8, cluster));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_dependent_launch_waits_for_the_kernel_before_it() {
    let Some((stream, follow)) = clusters("follow") else { return };
    let mut value = stream.upload(&[40u32]).unwrap();
    let range = NdRange::linear_at_least(1, 1).programmatic_dependent();
    for _ in 0..1000 {
        // SAFETY: there is one value; the kernel waits for the one before it.
        unsafe { follow.launch(&stream, range, &[KernelArg::buffer_mut(&mut value)]) }.unwrap();
    }
    assert_eq!(stream.download(&value).unwrap(), [1040]);
    // SAFETY: nothing runs.
    let captured = stream
        .capture(|stream| unsafe { follow.launch(stream, range, &[KernelArg::buffer_mut(&mut value)]) });
    let error = captured.unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("programmatic_dependent")), "{error}");
}

/// A structure by value, as large as every driver takes it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Large([[u32; 4]; 255]);

// SAFETY: it is an array of numbers, whose size is a multiple of its alignment.
unsafe impl Zeroable for Large {}
// SAFETY: as above.
unsafe impl Pod for Large {}

/// As CUDA's tensor maps are: opaque, and aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct TensorMap([u64; 16]);

// SAFETY: as above.
unsafe impl Zeroable for TensorMap {}
// SAFETY: as above.
unsafe impl Pod for TensorMap {}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn arguments_of_four_kilobytes_are_passed_by_value() {
    let (stream, large) = launches("large");
    let mut value = Large([[0; 4]; 255]);
    for (index, word) in value.0.iter_mut().flatten().enumerate() {
        *word = 7 * index as u32;
    }
    let mut out = stream.zeroed::<u32>(1020).unwrap();
    let range = one_group(1024);
    // SAFETY: the kernel writes 1020 words.
    unsafe { large.launch(&stream, range, &[KernelArg::value(&value), KernelArg::buffer_mut(&mut out)]) }
        .unwrap();
    let expected: Vec<u32> = (0..1020).map(|index| 7 * index).collect();
    assert_eq!(stream.download(&out).unwrap(), expected);
    let captured = stream.capture(|stream| {
        let args = [KernelArg::value(&value), KernelArg::buffer_mut(&mut out)];
        // SAFETY: as above.
        unsafe { large.launch(stream, range, &args) }
    });
    let graph = captured.unwrap();
    stream.fill(&mut out, 0).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_tensor_map_is_an_argument_by_value() {
    let Some((stream, kernel)) = clusters("tensor_map") else { return };
    let map = TensorMap(std::array::from_fn(|index| 0x0101_0101_0101_0101 * index as u64));
    let mut out = stream.zeroed::<u32>(33).unwrap();
    let args = [KernelArg::value(&1u32), KernelArg::value(&map), KernelArg::buffer_mut(&mut out)];
    // SAFETY: each work-item writes a word behind the first.
    unsafe { kernel.launch(&stream, one_group(32), &args) }.unwrap();
    let found = stream.download(&out).unwrap();
    assert_eq!((found[0], &found[1..]), (0, bytemuck::cast_slice::<u64, u32>(&map.0)));
}
