//! Conjugate gradient solver with all vectors and scalars on the device; its steps are enqueued in one stream.

use offload_rt::{Buffer, Error, NdRange, Stream};

use crate::solve::Kernels;

/// As in `kernels/solve.cl`.
const GROUP: usize = 256;
const PRODUCT: u32 = 2;
/// Steps enqueued between two downloads of the residual.
const STEPS: usize = 32;
/// Convergence threshold, relative to the initial residual.
const TOLERANCE: f32 = 1e-6;

/// The solution with the number of steps.
pub struct Solution {
    pub x: Vec<f32>,
    pub steps: usize,
}

/// Device state of one solve.
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
        let stream = kernels.program().device().stream()?;
        let len = right_side.len();
        let groups = len.div_ceil(GROUP);
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

    /// Iterates until convergence, at most about `most` steps.
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

    /// Enqueues one step. The squared residuals of even and odd steps alternate between two scalars.
    fn step(&mut self, step: u32) -> Result<(), Error> {
        let old = step % 2;
        let new = (step + 1) % 2;
        let side = (self.side as usize).next_multiple_of(16);
        // SAFETY: see `Solver`.
        unsafe {
            let range = NdRange::new([side, side], [16, 16]);
            self.kernels.apply(&self.stream, range, &self.direction, &mut self.image, self.side)?;
        }
        self.product(PRODUCT)?;
        let stream = &self.stream;
        let range = NdRange::linear_at_least(self.len as usize, GROUP);
        let scalars = &self.scalars;
        let direction = &self.direction;
        let image = &self.image;
        let x = &mut self.x;
        let residual = &mut self.residual;
        // SAFETY: as above.
        unsafe {
            self.kernels.step_along(stream, range, scalars, old, direction, image, x, residual, self.len)?;
        }
        self.square_of_residual(new)?;
        let scalars = &self.scalars;
        let residual = &self.residual;
        let direction = &mut self.direction;
        // SAFETY: as above.
        unsafe { self.kernels.turn(&self.stream, range, scalars, new, old, residual, direction, self.len) }
    }

    /// `direction . image`
    fn product(&mut self, place: u32) -> Result<(), Error> {
        let range = NdRange::linear_at_least(self.len as usize, GROUP);
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
        let range = NdRange::linear_at_least(self.len as usize, GROUP);
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
        let count = self.sums.len() as u32;
        let range = NdRange::linear_at_least(GROUP, GROUP);
        // SAFETY: one work-group writes one of the three scalars.
        unsafe { self.kernels.add_groups(&self.stream, range, &self.sums, &mut self.scalars, count, place) }
    }
}
