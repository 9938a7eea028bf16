//! The method of conjugate gradients: vectors and scalars on the device, and the steps that are put into a stream.

use offload_rt::{Buffer, Error, NdRange, Stream};

use crate::solve::Kernels;

/// As in `kernels/solve.cl`.
const GROUP: u64 = 256;
const PRODUCT: u32 = 2;
/// So many steps are put into the stream before the program looks at the residual.
const STEPS: usize = 32;
/// The residual that is small enough, as a part of that at the start.
const TOLERANCE: f32 = 1e-6;

/// What came out.
pub struct Solution {
    pub x: Vec<f32>,
    pub steps: usize,
}

/// The state of a solution.
///
/// Every buffer has `side * side` values but `sums`, which has one for each work-group, and `scalars`. The kernels compare
/// their numbers with the length, and each work-item writes values of its own.
pub struct Solver<'k> {
    kernels: &'k Kernels,
    stream: Stream,
    side: u32,
    len: u32,
    x: Buffer<f32>,
    residual: Buffer<f32>,
    direction: Buffer<f32>,
    image: Buffer<f32>,
    sums: Buffer<f32>,
    scalars: Buffer<f32>,
}

impl<'k> Solver<'k> {
    /// Starts at zero, where the residual and the first direction are the right side.
    pub fn new(kernels: &'k Kernels, side: usize, right_side: &[f32]) -> Result<Solver<'k>, Error> {
        let (stream, len) = (kernels.device().stream()?, right_side.len());
        let groups = len.div_ceil(GROUP as usize);
        Ok(Solver {
            x: stream.zeroed(len)?,
            residual: stream.upload(right_side)?,
            direction: stream.upload(right_side)?,
            image: stream.zeroed(len)?,
            sums: stream.zeroed(groups)?,
            scalars: stream.zeroed(3)?,
            kernels,
            stream,
            side: side as u32,
            len: len as u32,
        })
    }

    /// Makes steps until the residual is small, but at most `most`.
    pub fn run(mut self, most: usize) -> Result<Solution, Error> {
        self.square_of_residual(0)?;
        let at_start = self.stream.download(self.scalars.slice(..1)?)?.into_iter().sum::<f32>();
        let mut steps = 0;
        while steps < most {
            for step in steps..steps + STEPS {
                self.step(step as u32)?;
            }
            steps += STEPS;
            let square = self.stream.download(self.scalars.slice(..1)?)?.into_iter().sum::<f32>();
            if square <= TOLERANCE * TOLERANCE * at_start {
                break;
            }
        }
        Ok(Solution { x: self.stream.download(&self.x)?, steps })
    }

    /// Puts one step into the stream. The squares of even and odd steps take turns.
    fn step(&mut self, step: u32) -> Result<(), Error> {
        let (old, new) = (step % 2, (step + 1) % 2);
        let side = u64::from(self.side).next_multiple_of(16);
        // SAFETY: see `Solver`.
        unsafe {
            let range = NdRange::new(&[side, side], &[16, 16]);
            self.kernels.apply(&self.stream, range, &self.direction, &mut self.image, self.side)?;
        }
        self.product(PRODUCT)?;
        let (stream, range) = (&self.stream, NdRange::linear(self.len.into(), GROUP)?);
        let (scalars, direction, image) = (&self.scalars, &self.direction, &self.image);
        let (x, residual) = (&mut self.x, &mut self.residual);
        // SAFETY: as above.
        unsafe {
            self.kernels.step_along(stream, range, scalars, old, direction, image, x, residual, self.len)?;
        }
        self.square_of_residual(new)?;
        let (scalars, residual, direction) = (&self.scalars, &self.residual, &mut self.direction);
        // SAFETY: as above.
        unsafe { self.kernels.turn(&self.stream, range, scalars, new, old, residual, direction, self.len) }
    }

    /// `direction . image`
    fn product(&mut self, place: u32) -> Result<(), Error> {
        let range = NdRange::linear(self.len.into(), GROUP);
        // SAFETY: see `Solver`; there is a sum for each work-group.
        unsafe {
            self.kernels.dot_groups(
                &self.stream,
                range,
                &self.direction,
                &self.image,
                &mut self.sums,
                self.len,
            )?;
        }
        self.sum(place)
    }

    /// `residual . residual`
    fn square_of_residual(&mut self, place: u32) -> Result<(), Error> {
        let range = NdRange::linear(self.len.into(), GROUP);
        // SAFETY: as above.
        unsafe {
            self.kernels.dot_groups(
                &self.stream,
                range,
                &self.residual,
                &self.residual,
                &mut self.sums,
                self.len,
            )?;
        }
        self.sum(place)
    }

    fn sum(&mut self, place: u32) -> Result<(), Error> {
        let (count, range) = (self.sums.len() as u32, NdRange::linear(GROUP, GROUP));
        // SAFETY: one work-group writes one of the three scalars.
        unsafe { self.kernels.add_groups(&self.stream, range, &self.sums, &mut self.scalars, count, place) }
    }
}
