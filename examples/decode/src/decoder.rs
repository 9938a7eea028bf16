//! The model on a device, with a graph of the launches for one token.

use offload_rt::{Buffer, Device, Error, Graph, NdRange, Stream};

use crate::kernels;
use crate::model::{CONTEXT, HEAD, HEADS, HIDDEN, LAYERS, Matrix, Model, VOCABULARY, WIDTH};

/// Work-items of a group, as in the kernels.
const GROUP: usize = 64;

pub struct Decoder {
    stream: Stream,
    kernels: kernels::Kernels,
    weights: Weights,
    state: State,
}

struct Weights {
    table: DeviceMatrix,
    layers: Vec<DeviceLayer>,
    gains: Buffer<f32>,
    head: DeviceMatrix,
}

struct DeviceLayer {
    attention_gains: Buffer<f32>,
    queries: DeviceMatrix,
    keys: DeviceMatrix,
    values: DeviceMatrix,
    output: DeviceMatrix,
    hidden_gains: Buffer<f32>,
    gates: DeviceMatrix,
    up: DeviceMatrix,
    down: DeviceMatrix,
}

struct DeviceMatrix {
    rows: usize,
    weights: Buffer<i8>,
    scales: Buffer<f32>,
}

/// What changes from token to token.
struct State {
    position: Buffer<u32>,
    token: Buffer<u32>,
    tokens: Buffer<u32>,
    x: Buffer<f32>,
    normal: Buffer<f32>,
    queries: Buffer<f32>,
    keys: Buffer<f32>,
    values: Buffer<f32>,
    seen: Buffer<f32>,
    gates: Buffer<f32>,
    hidden: Buffer<f32>,
    logits: Buffer<f32>,
    /// Keys and values of all tokens, for each layer.
    caches: Vec<[Buffer<f32>; 2]>,
}

impl Decoder {
    /// # Errors
    /// The device has no image, or no memory for the model.
    pub fn new(device: &Device, model: &Model) -> Result<Decoder, Error> {
        let stream = device.stream()?;
        let kernels = kernels::load(device)?;
        let weights = Weights::new(&stream, model)?;
        let state = State::new(&stream)?;
        Ok(Decoder { stream, kernels, weights, state })
    }

    /// A graph of all launches for a token.
    ///
    /// # Errors
    /// The driver refuses.
    pub fn graph(&mut self) -> Result<Graph, Error> {
        let Decoder { stream, kernels, weights, state } = self;
        stream.capture(|stream| step(stream, kernels, weights, state))
    }

    /// The tokens after `first`, and the logits of the last one. Each token is a launch of `graph`, or without one, of
    /// each kernel.
    ///
    /// # Errors
    /// A kernel failed.
    pub fn decode(&mut self, first: u32, graph: Option<&Graph>) -> Result<(Vec<u32>, Vec<f32>), Error> {
        let Decoder { stream, kernels, weights, state } = self;
        stream.fill(&mut state.position, 0)?;
        stream.fill(&mut state.token, first)?;
        for _ in 0..CONTEXT {
            match graph {
                Some(graph) => graph.launch(stream)?,
                None => step(stream, kernels, weights, state)?,
            }
        }
        Ok((stream.download(&state.tokens)?, stream.download(&state.logits)?))
    }
}

/// Puts the launches for one token into `stream`.
fn step(
    stream: &Stream,
    kernels: &kernels::Kernels,
    weights: &Weights,
    state: &mut State,
) -> Result<(), Error> {
    let width = WIDTH as u32;
    let times = |matrix: &DeviceMatrix, from: &Buffer<f32>, to: &mut Buffer<f32>, kept: f32| {
        let range = NdRange::new([matrix.rows * GROUP], [GROUP]);
        let columns = from.len() as u32;
        // SAFETY: the matrix has a column for each value of `from`, and a row for each of `to`.
        unsafe { kernels.multiply(stream, range, &matrix.weights, &matrix.scales, from, to, columns, kept) }
    };
    let normalize = |x: &Buffer<f32>, gains: &Buffer<f32>, to: &mut Buffer<f32>| {
        // SAFETY: all have `WIDTH` values.
        unsafe { kernels.rms_norm(stream, NdRange::new([GROUP], [GROUP]), x, gains, to, width) }
    };
    let each = NdRange::linear_at_least(WIDTH, GROUP);
    let heads = NdRange::new([HEADS * GROUP], [GROUP]);
    let table = &weights.table;
    // SAFETY: the token is one of the table, and its row is as long as `x`.
    unsafe {
        kernels.embed(stream, each, &state.token, &table.weights, &table.scales, &mut state.x, width)?;
    }
    for (layer, [keys, values]) in weights.layers.iter().zip(&mut state.caches) {
        normalize(&state.x, &layer.attention_gains, &mut state.normal)?;
        times(&layer.queries, &state.normal, &mut state.queries, 0.0)?;
        times(&layer.keys, &state.normal, &mut state.keys, 0.0)?;
        times(&layer.values, &state.normal, &mut state.values, 0.0)?;
        let position = &state.position;
        let queries = &state.queries;
        let head = HEAD as u32;
        // SAFETY: the caches have room for `CONTEXT` tokens, and the position is below.
        unsafe {
            kernels.remember(
                stream,
                each,
                position,
                &state.keys,
                &state.values,
                &mut *keys,
                &mut *values,
                width,
            )?;
            kernels.attend(
                stream,
                heads,
                position,
                queries,
                &*keys,
                &*values,
                &mut state.seen,
                width,
                head,
            )?;
        }
        times(&layer.output, &state.seen, &mut state.x, 1.0)?;
        normalize(&state.x, &layer.hidden_gains, &mut state.normal)?;
        times(&layer.gates, &state.normal, &mut state.gates, 0.0)?;
        times(&layer.up, &state.normal, &mut state.hidden, 0.0)?;
        let hidden = NdRange::linear_at_least(HIDDEN, GROUP);
        // SAFETY: both have `HIDDEN` values.
        unsafe { kernels.gate(stream, hidden, &state.gates, &mut state.hidden, HIDDEN as u32)? };
        times(&layer.down, &state.hidden, &mut state.x, 1.0)?;
    }
    normalize(&state.x, &weights.gains, &mut state.normal)?;
    times(&weights.head, &state.normal, &mut state.logits, 0.0)?;
    let State { position, token, tokens, logits, .. } = state;
    // SAFETY: there is a logit for each token, and room for `CONTEXT` tokens.
    unsafe {
        let one_group = NdRange::new([GROUP], [GROUP]);
        kernels.sample(stream, one_group, &*logits, position, token, tokens, VOCABULARY as u32)
    }
}

impl Weights {
    fn new(stream: &Stream, model: &Model) -> Result<Weights, Error> {
        let mut layers = Vec::new();
        for layer in &model.layers {
            layers.push(DeviceLayer {
                attention_gains: stream.upload(&layer.attention_gains)?,
                queries: DeviceMatrix::new(stream, &layer.queries)?,
                keys: DeviceMatrix::new(stream, &layer.keys)?,
                values: DeviceMatrix::new(stream, &layer.values)?,
                output: DeviceMatrix::new(stream, &layer.output)?,
                hidden_gains: stream.upload(&layer.hidden_gains)?,
                gates: DeviceMatrix::new(stream, &layer.gates)?,
                up: DeviceMatrix::new(stream, &layer.up)?,
                down: DeviceMatrix::new(stream, &layer.down)?,
            });
        }
        Ok(Weights {
            table: DeviceMatrix::new(stream, &model.table)?,
            layers,
            gains: stream.upload(&model.gains)?,
            head: DeviceMatrix::new(stream, &model.head)?,
        })
    }
}

impl DeviceMatrix {
    fn new(stream: &Stream, matrix: &Matrix) -> Result<DeviceMatrix, Error> {
        Ok(DeviceMatrix {
            rows: matrix.rows,
            weights: stream.upload(&matrix.weights)?,
            scales: stream.upload(&matrix.scales)?,
        })
    }
}

impl State {
    fn new(stream: &Stream) -> Result<State, Error> {
        let mut caches = Vec::new();
        for _ in 0..LAYERS {
            caches.push([stream.zeroed(CONTEXT * WIDTH)?, stream.zeroed(CONTEXT * WIDTH)?]);
        }
        Ok(State {
            position: stream.zeroed(1)?,
            token: stream.zeroed(1)?,
            tokens: stream.zeroed(CONTEXT)?,
            x: stream.zeroed(WIDTH)?,
            normal: stream.zeroed(WIDTH)?,
            queries: stream.zeroed(WIDTH)?,
            keys: stream.zeroed(WIDTH)?,
            values: stream.zeroed(WIDTH)?,
            seen: stream.zeroed(WIDTH)?,
            gates: stream.zeroed(HIDDEN)?,
            hidden: stream.zeroed(HIDDEN)?,
            logits: stream.zeroed(VOCABULARY)?,
            caches,
        })
    }
}
