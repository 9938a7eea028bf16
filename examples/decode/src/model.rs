//! A small transformer with generated weights, and its decode step in plain Rust.

/// Values of a token.
pub const WIDTH: usize = 128;
/// Heads of attention, and values of each.
pub const HEADS: usize = 4;
pub const HEAD: usize = WIDTH / HEADS;
/// Values between the two matrices of a layer's second half.
pub const HIDDEN: usize = 256;
pub const LAYERS: usize = 3;
/// Tokens that there are.
pub const VOCABULARY: usize = 512;
/// Tokens of a text.
pub const CONTEXT: usize = 64;

/// A matrix of bytes, row by row, with a scale for each row.
pub struct Matrix {
    pub rows: usize,
    pub weights: Vec<i8>,
    pub scales: Vec<f32>,
}

pub struct Layer {
    pub attention_gains: Vec<f32>,
    pub queries: Matrix,
    pub keys: Matrix,
    pub values: Matrix,
    pub output: Matrix,
    pub hidden_gains: Vec<f32>,
    pub gates: Matrix,
    pub up: Matrix,
    pub down: Matrix,
}

pub struct Model {
    /// A row for each token.
    pub table: Matrix,
    pub layers: Vec<Layer>,
    pub gains: Vec<f32>,
    /// Logits of the tokens.
    pub head: Matrix,
}

/// Pseudo-random numbers (PCG, <https://www.pcg-random.org>).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = ((self.0 >> 18) ^ self.0) >> 27;
        (mixed as u32).rotate_right((self.0 >> 59) as u32)
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Matrix {
        let weights = (0..rows * columns).map(|_| (self.next() >> 24) as u8 as i8).collect();
        // A product of values around one has values around one too.
        let scale = 1.0 / (73.0 * (columns as f32).sqrt());
        let scales = (0..rows).map(|_| scale * (0.75 + (self.next() >> 8) as f32 / 33_554_432.0)).collect();
        Matrix { rows, weights, scales }
    }

    fn gains(&mut self) -> Vec<f32> {
        (0..WIDTH).map(|_| 0.5 + (self.next() >> 8) as f32 / 16_777_216.0).collect()
    }
}

impl Model {
    /// The same for the same seed.
    pub fn generate(seed: u64) -> Model {
        let mut random = Random(seed);
        let table = random.matrix(VOCABULARY, WIDTH);
        let mut layers = Vec::new();
        for _ in 0..LAYERS {
            layers.push(Layer {
                attention_gains: random.gains(),
                queries: random.matrix(WIDTH, WIDTH),
                keys: random.matrix(WIDTH, WIDTH),
                values: random.matrix(WIDTH, WIDTH),
                output: random.matrix(WIDTH, WIDTH),
                hidden_gains: random.gains(),
                gates: random.matrix(HIDDEN, WIDTH),
                up: random.matrix(HIDDEN, WIDTH),
                down: random.matrix(WIDTH, HIDDEN),
            });
        }
        Model { table, layers, gains: random.gains(), head: random.matrix(VOCABULARY, WIDTH) }
    }

    /// The tokens after `first`, and the logits of the last one.
    pub fn decode(&self, first: u32) -> (Vec<u32>, Vec<f32>) {
        let mut caches = vec![(Vec::new(), Vec::new()); LAYERS];
        let mut tokens = Vec::new();
        let mut token = first;
        let mut logits = Vec::new();
        for position in 0..CONTEXT {
            let row = token as usize * WIDTH..(token as usize + 1) * WIDTH;
            let scale = self.table.scales[token as usize];
            let mut x: Vec<f32> =
                self.table.weights[row].iter().map(|weight| f32::from(*weight) * scale).collect();
            for (layer, (keys, values)) in self.layers.iter().zip(&mut caches) {
                let normal = normalize(&x, &layer.attention_gains);
                keys.extend(layer.keys.times(&normal));
                values.extend(layer.values.times(&normal));
                let seen = attend(&layer.queries.times(&normal), keys, values);
                add(&mut x, &layer.output.times(&seen));
                let normal = normalize(&x, &layer.hidden_gains);
                let mut hidden = layer.up.times(&normal);
                for (value, gate) in hidden.iter_mut().zip(layer.gates.times(&normal)) {
                    *value *= gate / (1.0 + (-gate).exp());
                }
                add(&mut x, &layer.down.times(&hidden));
            }
            logits = self.head.times(&normalize(&x, &self.gains));
            token = sample(&logits, position as u32);
            tokens.push(token);
        }
        (tokens, logits)
    }
}

impl Matrix {
    fn times(&self, x: &[f32]) -> Vec<f32> {
        let rows = self.weights.chunks(x.len()).zip(&self.scales);
        rows.map(|(row, scale)| {
            scale * row.iter().zip(x).map(|(weight, x)| f32::from(*weight) * x).sum::<f32>()
        })
        .collect()
    }
}

fn add(x: &mut [f32], more: &[f32]) {
    for (x, more) in x.iter_mut().zip(more) {
        *x += more;
    }
}

fn normalize(x: &[f32], gains: &[f32]) -> Vec<f32> {
    let squares: f32 = x.iter().map(|x| x * x).sum();
    let factor = 1.0 / (squares / WIDTH as f32 + 1e-5).sqrt();
    x.iter().zip(gains).map(|(x, gain)| x * factor * gain).collect()
}

fn attend(queries: &[f32], keys: &[f32], values: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; WIDTH];
    for first in (0..WIDTH).step_by(HEAD) {
        let head = first..first + HEAD;
        let mut weights = Vec::new();
        for key in keys.chunks(WIDTH) {
            let score: f32 =
                queries[head.clone()].iter().zip(&key[head.clone()]).map(|(query, key)| query * key).sum();
            weights.push((score / (HEAD as f32).sqrt()).exp());
        }
        let sum: f32 = weights.iter().sum();
        for (weight, value) in weights.iter().zip(values.chunks(WIDTH)) {
            for (out, value) in out[head.clone()].iter_mut().zip(&value[head.clone()]) {
                *out += weight / sum * value;
            }
        }
    }
    out
}

fn sample(logits: &[f32], position: u32) -> u32 {
    let mut best = (f32::NEG_INFINITY, 0);
    for (token, logit) in logits.iter().enumerate() {
        let score = logit + noise(position, token as u32);
        if score > best.0 {
            best = (score, token as u32);
        }
    }
    best.1
}

/// As in the kernel.
fn noise(position: u32, token: u32) -> f32 {
    let hash = position.wrapping_mul(0x9e37_79b9) ^ token.wrapping_mul(0x85eb_ca6b);
    let hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
    ((hash ^ (hash >> 13)) >> 8) as f32 / 16_777_216.0
}
