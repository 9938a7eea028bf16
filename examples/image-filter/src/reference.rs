//! Reference implementation of the filters in plain Rust.

/// Brightness of each pixel from 0 to 1, row by row.
#[derive(Clone)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<f32>,
}

const WEIGHTS: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

impl Image {
    /// Bright and dark rings.
    pub fn rings(width: usize, height: usize) -> Image {
        let mut pixels = Vec::with_capacity(width * height);
        for i in 0..width * height {
            let x = (i % width) as f32 - width as f32 / 2.0;
            let y = (i / width) as f32 - height as f32 / 2.0;
            let is_bright = ((x.hypot(y) / 40.0) as u32).is_multiple_of(2);
            pixels.push(if is_bright { 1.0 } else { 0.0 });
        }
        Image { width, height, pixels }
    }

    pub fn blurred(&self) -> Image {
        let rows = self.map(|x, y| (0..5).map(|i| WEIGHTS[i as usize] * self.at(x + i - 2, y)).sum());
        rows.map(|x, y| (0..5).map(|i| WEIGHTS[i as usize] * rows.at(x, y + i - 2)).sum())
    }

    pub fn edges(&self) -> Image {
        self.map(|x, y| {
            let mut across = 0.0;
            let mut down = 0.0;
            for (i, weight) in [(-1, 1.0), (0, 2.0), (1, 1.0)] {
                across += weight * (self.at(x + 1, y + i) - self.at(x - 1, y + i));
                down += weight * (self.at(x + i, y + 1) - self.at(x + i, y - 1));
            }
            f32::hypot(across, down)
        })
    }

    pub fn is_close_to(&self, other: &Image) -> bool {
        self.pixels.len() == other.pixels.len()
            && self.pixels.iter().zip(&other.pixels).all(|(a, b)| (a - b).abs() < 1e-4)
    }

    /// A file in the format PGM (<https://netpbm.sourceforge.net/doc/pgm.html>).
    pub fn to_pgm(&self) -> Vec<u8> {
        let mut file = format!("P5\n{} {}\n255\n", self.width, self.height).into_bytes();
        file.extend(self.pixels.iter().map(|pixel| (pixel.clamp(0.0, 1.0) * 255.0) as u8));
        file
    }

    fn map(&self, pixel: impl Fn(i64, i64) -> f32) -> Image {
        let pixels = (0..self.height as i64).flat_map(|y| (0..self.width as i64).map(move |x| (x, y)));
        Image { width: self.width, height: self.height, pixels: pixels.map(|(x, y)| pixel(x, y)).collect() }
    }

    /// The pixel at a position, clamped to the edge.
    fn at(&self, x: i64, y: i64) -> f32 {
        let x = x.clamp(0, self.width as i64 - 1) as usize;
        let y = y.clamp(0, self.height as i64 - 1) as usize;
        self.pixels[y * self.width + x]
    }
}
