//! Tests of cooperative launches that every GPU passes.

use offload_rt::{Buffer, Error, Kernel, KernelArg, NdRange, Stream};

/// Work-items of a work-group.
const GROUP: usize = 64;

/// Memory for the kernel `meet`, which does not end unless all work-groups run at the same time.
pub struct Meeting {
    values: Buffer<u32>,
    counter: Buffer<u32>,
    out: Buffer<u32>,
}

impl Meeting {
    pub fn new(stream: &Stream, groups: usize) -> Meeting {
        let [values, out] = [groups, groups].map(|len| stream.zeroed(len).unwrap());
        Meeting { values, counter: stream.zeroed(1).unwrap(), out }
    }

    /// Launches the kernel, from a counter of 0.
    pub fn launch(&mut self, stream: &Stream, meet: &Kernel) -> Result<(), Error> {
        stream.fill(&mut self.counter, 0)?;
        let groups = self.values.len();
        let args = [
            KernelArg::buffer_mut(&mut self.values),
            KernelArg::buffer_mut(&mut self.counter),
            KernelArg::buffer_mut(&mut self.out),
        ];
        // SAFETY: there is a value for each work-group.
        unsafe { meet.launch(stream, NdRange::linear_at_least(groups * GROUP, GROUP).cooperative(), &args) }
    }

    pub fn check(&self, stream: &Stream) {
        let groups = self.values.len() as u32;
        let expected: Vec<u32> = (0..groups).map(|group| (group + 1) % groups + 1).collect();
        assert_eq!(stream.download(&self.out).unwrap(), expected);
    }
}

pub fn all_groups_of_a_cooperative_launch_meet(stream: &Stream, meet: &Kernel) {
    let most = match meet.max_cooperative_groups(NdRange::linear_at_least(GROUP, GROUP)) {
        Ok(most) => most,
        // Older runtimes of HIP.
        Err(error) => return assert!(error.to_string().contains("lacks the function"), "{error}"),
    };
    assert!(most > 1);
    for groups in [1, 7, most] {
        let mut meeting = Meeting::new(stream, groups);
        meeting.launch(stream, meet).unwrap();
        meeting.check(stream);
    }
    let error = Meeting::new(stream, most + 1).launch(stream, meet).unwrap_err();
    let text = format!("{} work-groups is more than the {most} that", most + 1);
    assert!(error.to_string().contains(&text) && error.hint().is_some(), "{error}");
    // The stream goes on.
    let mut meeting = Meeting::new(stream, 2);
    meeting.launch(stream, meet).unwrap();
    meeting.check(stream);
}
