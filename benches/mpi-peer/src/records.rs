//! Records by the `mpi` crate's interface: a derive that makes the datatype, and vectors.

use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use dtype_benches::Shape;
use dtype_benches::turns::time_warm;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Equivalence};

dtype_benches::shapes! {
    #[derive(Equivalence)]
}

/// Records of one shape.
pub(crate) trait Series {
    /// Packs the records to a new vector.
    fn encode(&mut self) -> Vec<u8>;

    /// Unpacks the records to a new vector, and returns the values of their fields.
    fn decode(&mut self) -> Vec<u8>;

    fn time_encoding(&mut self, repetitions: u64) -> Duration;

    fn time_decoding(&mut self, repetitions: u64) -> Duration;
}

/// Records, and their packed bytes.
pub(crate) struct Records<S> {
    items: Vec<S>,
    encoded: Vec<u8>,
    world: SimpleCommunicator,
}

impl<S: Shape + Equivalence> Records<S> {
    pub(crate) fn new(packed: &[u8], world: &SimpleCommunicator) -> Result<Self> {
        let items = dtype_runtime::unpack(packed)?;
        let world = world.duplicate();
        let encoded = world.pack(&items[..]);
        Ok(Self { items, encoded, world })
    }

    fn unpack(&self) -> Vec<S> {
        let mut items = vec![S::default(); self.items.len()];
        // SAFETY: the bytes were packed from the same number of records of the same type.
        unsafe { self.world.unpack_into(black_box(&self.encoded), &mut items[..], 0) };
        items
    }
}

impl<S: Shape + Equivalence> Series for Records<S> {
    fn encode(&mut self) -> Vec<u8> {
        self.world.pack(&self.items[..])
    }

    fn decode(&mut self) -> Vec<u8> {
        dtype_runtime::pack(&self.unpack())
    }

    fn time_encoding(&mut self, repetitions: u64) -> Duration {
        time_warm(repetitions, || {
            drop(black_box(self.world.pack(black_box(&self.items[..]))));
        })
    }

    fn time_decoding(&mut self, repetitions: u64) -> Duration {
        time_warm(repetitions, || drop(black_box(self.unpack())))
    }
}
