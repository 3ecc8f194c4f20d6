//! What ranks tell each other about their parts when an exchange is made.

use std::collections::BTreeMap;

use dtype_runtime::Type;
use mpi::traits::CommunicatorCollectives;
use mpi::{Rank, Tag};

use super::Part;
use crate::error::Error;
use crate::signature::{self, Text};

/// The greatest tag that every library accepts (MPI-4.1 section 3.2.3).
const MAX_TAG: Tag = 32767;

impl Part {
    /// The type signature of all instances: its hash, and its text for an error.
    fn signature(&self) -> Result<(u64, Text), Error> {
        let signature = Type::contiguous(self.count as u64, self.committed())?.signature();
        Ok((signature.hash(), signature::text(&signature)))
    }
}

/// A part as its sender describes it to the receiver.
#[derive(dtype_runtime::Datatype, Clone, Copy)]
pub(super) struct Announced {
    tag: Tag,
    signature: u64,
    text: Text,
}

/// What this rank tells the others: its parts in the order of the ranks, and the number of parts for each rank.
pub(super) fn announce<C: CommunicatorCollectives>(
    communicator: &C,
    sends: &[Part],
) -> Result<(Vec<Announced>, Vec<usize>), Error> {
    let last = communicator.size() - 1;
    let mut counts = vec![0; usize::try_from(communicator.size()).unwrap_or(0)];
    let mut sorted: Vec<&Part> = sends.iter().collect();
    sorted.sort_by_key(|part| part.rank);
    let mut announced = Vec::with_capacity(sends.len());
    for part in sorted {
        let index = usize::try_from(part.rank).ok();
        let count = index.and_then(|index| counts.get_mut(index));
        *count.ok_or(Error::Rank { rank: part.rank, last })? += 1;
        // It is enough to check the tags of sent parts, because each received part must match one.
        if !(0..=MAX_TAG).contains(&part.tag) {
            return Err(Error::Tag { rank: part.rank, tag: part.tag });
        }
        let (signature, text) = part.signature()?;
        announced.push(Announced { tag: part.tag, signature, text });
    }
    Ok((announced, counts))
}

/// Checks that this rank receives exactly the parts that other ranks send it, with the same type signatures.
pub(super) fn check_matched(arriving: &[&[Announced]], receives: &[Part]) -> Result<(), Error> {
    #[derive(Default)]
    struct Pair<'p> {
        sent: Vec<&'p Announced>,
        received: Vec<&'p Part>,
    }
    let mut pairs: BTreeMap<(Rank, Tag), Pair<'_>> = BTreeMap::new();
    for (rank, parts) in (0..).zip(arriving) {
        for part in *parts {
            pairs.entry((rank, part.tag)).or_default().sent.push(part);
        }
    }
    for part in receives {
        pairs.entry((part.rank, part.tag)).or_default().received.push(part);
    }
    for ((rank, tag), Pair { sent, received }) in pairs {
        if sent.len() != received.len() {
            let (sent, received) = (sent.len(), received.len());
            return Err(Error::Unmatched { rank, tag, sent, received });
        }
        for (sent, received) in sent.into_iter().zip(received) {
            let (signature, text) = received.signature()?;
            if sent.signature != signature {
                let (ours, theirs) = (signature::read(&text), signature::read(&sent.text));
                return Err(Error::Elements { rank, ours, theirs });
            }
        }
    }
    Ok(())
}
