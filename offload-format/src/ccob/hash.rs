//! The MD5 that compressed bundles record, computed beside the decompression, which takes half as long.

use std::sync::mpsc::{self, SyncSender};
use std::thread;

use md5::{Digest, Md5};

use crate::Error;

/// From so many bytes on a thread of its own pays.
const WORTHWHILE: u64 = 1 << 20;
/// What the other thread gets at once: a copy, because the rest of the bundle is still being written.
const PIECE: usize = 64 << 10;
/// How many of them wait for it.
const WAITING: usize = 4;

/// The first 8 bytes of the MD5, little-endian.
pub(super) fn hash(bundle: &[u8]) -> u64 {
    first_bytes(Md5::new_with_prefix(bundle))
}

/// A bundle of `size` bytes and its hash. `inflate` gets a function to call with all of the bundle that there is so far.
pub(super) fn hashed(
    size: u64,
    inflate: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<Vec<u8>, Error>,
) -> Result<(Vec<u8>, u64), Error> {
    if size < WORTHWHILE {
        let bundle = inflate(&mut |_| ())?;
        let hash = hash(&bundle);
        return Ok((bundle, hash));
    }
    thread::scope(|scope| {
        let (sender, pieces) = mpsc::sync_channel::<Vec<u8>>(WAITING);
        let other = move || pieces.iter().fold(Md5::new(), |md5, piece| md5.chain_update(piece));
        // Where there can be no thread, nobody takes pieces, and all is left for the end.
        let other = thread::Builder::new().spawn_scoped(scope, other).ok();
        let mut sent = 0;
        let bundle = inflate(&mut |so_far| sent = send(&sender, so_far, sent))?;
        drop(sender);
        let begun = other.and_then(|other| other.join().ok());
        let (md5, from) = begun.map_or_else(|| (Md5::new(), 0), |md5| (md5, sent));
        let hash = first_bytes(md5.chain_update(bundle.get(from..).unwrap_or_default()));
        Ok((bundle, hash))
    })
}

/// Sends what has not been sent, as far as there is room: the decoder does not wait. Returns how much has been sent.
fn send(to: &SyncSender<Vec<u8>>, so_far: &[u8], sent: usize) -> usize {
    let pieces = so_far.get(sent..).unwrap_or_default().chunks_exact(PIECE);
    pieces
        .take_while(|piece| to.try_send(piece.to_vec()).is_ok())
        .count()
        .saturating_mul(PIECE)
        .saturating_add(sent)
}

fn first_bytes(md5: Md5) -> u64 {
    let digest: [u8; 16] = md5.finalize().into();
    u128::from_le_bytes(digest) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several pieces and a rest, seen in steps of another size, which the other thread gets as far as it keeps up.
    #[test]
    fn every_byte_is_hashed_once_and_in_order() {
        let bundle: Vec<u8> = (0..PIECE * 9 + 17).map(|at| ((at / 3) ^ (at >> 11)) as u8).collect();
        for step in [1000, PIECE - 1, PIECE * 2, bundle.len()] {
            let inflate = |watch: &mut dyn FnMut(&[u8])| {
                (0..=bundle.len()).step_by(step).for_each(|end| watch(&bundle[..end]));
                Ok(bundle.clone())
            };
            let (inflated, hash) = hashed(bundle.len() as u64, inflate).unwrap();
            assert!(inflated == bundle && hash == super::hash(&bundle), "steps of {step} bytes");
        }
    }

    #[test]
    fn the_thread_ends_with_what_fails() {
        let failed = hashed(WORTHWHILE, |watch| {
            watch(&vec![1; 3 * PIECE]);
            Err(Error::invalid("the bundle", 7))
        });
        assert!(failed.is_err());
    }
}
