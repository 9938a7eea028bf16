//! A plate in strips, one for each device, with a copy of the neighbours' rows above and below each.

use offload_rt::{Buffer, Device, Error, Event, NdRange, Stream};

use crate::heat;

/// Work-items of a group; the width of a plate is a multiple.
pub const GROUP: usize = 256;

/// A plate whose strips are on several devices.
pub struct Plate {
    width: usize,
    strips: Vec<Strip>,
}

/// The rows of one device, between a row above and a row below that are its neighbours' or the plate's border.
struct Strip {
    rows: usize,
    kernels: heat::Kernels,
    /// Computes the first and the last row, and exchanges them.
    edges: Stream,
    /// Computes the other rows meanwhile.
    inner: Stream,
    before: Buffer<f32>,
    after: Buffer<f32>,
    edges_done: Event,
    inner_done: Event,
}

impl Plate {
    /// A plate with these temperatures, row by row, of which the first and the last row are the border.
    ///
    /// # Errors
    /// A device has no image, or no memory for its strip.
    pub fn new(devices: &[Device], width: usize, temperatures: &[f32]) -> Result<Plate, Error> {
        let rows = (temperatures.len() / width).saturating_sub(2);
        let mut strips = Vec::new();
        for (index, device) in devices.iter().enumerate() {
            let first = rows * index / devices.len();
            let end = rows * (index + 1) / devices.len();
            let own = temperatures.get(first * width..(end + 2) * width).unwrap_or_default();
            strips.push(Strip::new(device, end - first, own)?);
        }
        Ok(Plate { width, strips })
    }

    /// Goes on by so many steps, and returns before they are done.
    ///
    /// # Errors
    /// A driver refuses.
    pub fn spread(&mut self, steps: usize) -> Result<(), Error> {
        for _ in 0..steps {
            for strip in &mut self.strips {
                strip.spread(self.width)?;
            }
            self.exchange()?;
            for strip in &mut self.strips {
                std::mem::swap(&mut strip.before, &mut strip.after);
            }
        }
        Ok(())
    }

    /// Copies the rows at the borders of strips to their neighbours.
    fn exchange(&mut self) -> Result<(), Error> {
        let width = self.width;
        let mut rest = self.strips.as_mut_slice();
        while let [above, below, ..] = rest {
            let last = above.rows;
            let from = above.after.slice(last * width..(last + 1) * width)?;
            below.edges.copy_from(&above.edges, from, below.after.slice_mut(..width)?)?;
            let from = below.after.slice(width..2 * width)?;
            let to = above.after.slice_mut((last + 1) * width..)?;
            above.edges.copy_from(&below.edges, from, to)?;
            rest = &mut rest[1..];
        }
        Ok(())
    }

    /// Waits, and returns the temperatures of all rows but the border's.
    ///
    /// # Errors
    /// A kernel failed.
    pub fn temperatures(&self) -> Result<Vec<f32>, Error> {
        let mut all = Vec::new();
        for strip in &self.strips {
            strip.edges.wait_for(&strip.inner.record()?)?;
            let rows = strip.before.slice(self.width..(strip.rows + 1) * self.width)?;
            all.extend(strip.edges.download(rows)?);
        }
        Ok(all)
    }

    /// Waits for all steps.
    ///
    /// # Errors
    /// A kernel failed.
    pub fn wait(&self) -> Result<(), Error> {
        for strip in &self.strips {
            strip.edges.synchronize()?;
            strip.inner.synchronize()?;
        }
        Ok(())
    }
}

impl Strip {
    fn new(device: &Device, rows: usize, temperatures: &[f32]) -> Result<Strip, Error> {
        let edges = device.stream()?;
        let before = edges.upload(temperatures)?;
        let after = edges.upload(temperatures)?;
        let inner = edges.fork()?;
        Ok(Strip {
            rows,
            kernels: heat::load(device)?,
            edges_done: edges.record()?,
            inner_done: inner.record()?,
            edges,
            inner,
            before,
            after,
        })
    }

    /// One step. The inner rows do not wait for the rows of the neighbours, nor the rows at the edges for the inner rows of
    /// the same step.
    fn spread(&mut self, width: usize) -> Result<(), Error> {
        self.edges.wait_for(&self.inner_done)?;
        self.inner.wait_for(&self.edges_done)?;
        let Strip { rows, kernels, edges, inner, before, after, .. } = self;
        for row in [1, *rows] {
            // SAFETY: each work-item writes a point of its own, of a row between others; events order the streams.
            unsafe {
                kernels.spread(edges, rows_of(width, 1), &*before, &mut *after, width as u32, row as u32)?
            };
        }
        // SAFETY: as above.
        unsafe {
            kernels.spread(inner, rows_of(width, rows.saturating_sub(2)), &*before, after, width as u32, 2)?
        };
        self.edges_done = self.edges.record()?;
        self.inner_done = self.inner.record()?;
        Ok(())
    }
}

fn rows_of(width: usize, rows: usize) -> NdRange {
    NdRange::new([width, rows], [GROUP, 1])
}
