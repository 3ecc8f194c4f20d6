//! The layouts of `DDTBench`, which `dtype-versus` packs, too.

use anyhow::{Result, ensure};
use dtype_benches::ddtbench::{ByHand, FromZeros, IntoBytes, Pattern, Visitor, families};
use dtype_benches::noise::fill;
use dtype_benches::peer::DATA;
use dtype_runtime::{Buffer, BufferMut, Committed};
use dtype_ucx::{Elements, ElementsMut};

use super::{Row, Side, TAG};

/// Larger memories are left out: both processes have two of them.
const LARGEST: usize = 64 << 20;

pub(super) fn rows(side: &Side) -> Result<()> {
    for family in families()? {
        let patterns = if side.arguments.quick { 1 } else { family.len() };
        let mut measure = Measure { side, family: "" };
        for pattern in family.into_iter().take(patterns) {
            pattern.visit(&mut measure)?;
        }
        side.section(measure.family);
    }
    Ok(())
}

struct Measure<'a> {
    side: &'a Side,
    /// The last one's.
    family: &'static str,
}

impl Visitor for Measure<'_> {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        self.family = pattern.family;
        // The faces of NAS_MG are among the rows for grids.
        if pattern.family.starts_with("NAS_MG") {
            return Ok(());
        }
        if size_of::<H::Element>() * pattern.length > LARGEST {
            return Ok(());
        }
        let name = format!("{} {}", pattern.family, pattern.parameters);
        self.side.measure(&name, Instances::new(pattern)?)
    }
}

/// Instances in a memory.
struct Instances<H: ByHand> {
    committed: Committed,
    count: usize,
    /// Bytes from the start of the memory to the first instance.
    origin: i64,
    source: Vec<H::Element>,
    arrived: Vec<H::Element>,
    packed: Vec<H::Element>,
    expected: Vec<u8>,
    by_hand: H,
}

impl<H: ByHand> Instances<H> {
    fn new(pattern: Pattern<H>) -> Result<Self> {
        let Pattern { ty, count, base, length, by_hand, .. } = pattern;
        let (committed, each) = (ty.commit(), size_of::<H::Element>());
        let origin = i64::try_from(base * each)?;
        let mut source = vec![H::Element::new_zeroed(); length];
        let arrived = source.clone();
        fill(source.as_mut_bytes(), DATA);
        let expected =
            committed.pack_to_vec(Buffer::new(source.as_bytes()).origin(origin), count)?;
        let packed = vec![H::Element::new_zeroed(); expected.len() / each];
        Ok(Self { committed, count, origin, source, arrived, packed, expected, by_hand })
    }
}

impl<H: ByHand> Row for Instances<H> {
    fn send(&mut self, side: &Side) -> Result<()> {
        let from = Buffer::new(self.source.as_bytes()).origin(self.origin);
        Ok(side.peer.send(TAG, Elements::new(&self.committed, from, self.count)?)?)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        let to = BufferMut::new(self.arrived.as_mut_bytes()).origin(self.origin);
        side.worker.recv_into(TAG, ElementsMut::new(&self.committed, to, self.count)?)?;
        Ok(())
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        self.by_hand.pack(&self.source, &mut self.packed);
        Ok(side.peer.send(TAG, self.packed.as_bytes())?)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        side.worker.recv_into(TAG, self.packed.as_mut_bytes())?;
        self.by_hand.unpack(&self.packed, &mut self.arrived);
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        let from = Buffer::new(self.arrived.as_bytes()).origin(self.origin);
        let arrived = self.committed.pack_to_vec(from, self.count)?;
        ensure!(arrived == self.expected, "other elements came");
        self.arrived.as_mut_bytes().fill(0);
        Ok(())
    }

    fn size(&self) -> usize {
        self.expected.len()
    }
}
