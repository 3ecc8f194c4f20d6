//! Puts into registered memory, each with a message that says that it is there, over packing by hand, a put of the bytes, the
//! same message, and unpacking by hand from where the bytes are.

use std::slice;

use anyhow::{Result, ensure};
use dtype_benches::{Hole, Nested, Shape, Tail};
use dtype_runtime::{Datatype, bytes_of};
use dtype_ucx::{Elements, MemoryKey, Registered, RemoteMemory, Single, Strided};

use super::{Face, Row, Side, TAG};

const KEY: u64 = 2;

pub(super) fn rows(side: &Side) -> Result<()> {
    for count in [16, 1000, 20_000] {
        records::<Tail>(side, count)?;
        records::<Hole>(side, count)?;
        records::<Nested>(side, count)?;
        side.section(&format!("puts of structs × {count}"));
    }
    for edge in [64, 512, 2048] {
        let all = [1, edge + 2, edge + 2];
        let name = |what: &str| format!("put of a {what} of {edge}×{edge} f64");
        face(side, &name("row"), Face::new(all, [1, 1, edge], [0, 1, 1], [0, edge + 1, 1])?)?;
        face(side, &name("column"), Face::new(all, [1, edge, 1], [0, 1, 1], [0, 1, edge + 1])?)?;
    }
    for [x, y, z] in [[34, 18, 18], [130, 66, 66]] {
        let (all, from) = ([z, y, x], [1; 3]);
        let name = |face: &str| format!("put of NAS_MG {face} {x}×{y}×{z} f64");
        face(side, &name("x"), Face::new(all, [z - 2, y - 2, 1], from, [1, 1, x - 1])?)?;
        face(side, &name("y"), Face::new(all, [z - 2, 1, x - 2], from, [1, y - 1, 1])?)?;
    }
    side.section("puts of faces");
    Ok(())
}

/// Memory here, and the same of the other process.
fn both<'a, T: Datatype>(
    side: &'a Side,
    items: &[T],
) -> Result<(Registered<T>, RemoteMemory<'a, T, Single>)> {
    let memory = side.context.register(items)?;
    let mine = memory.key()?.to_bytes();
    let mut theirs = Vec::new();
    side.worker.scope(|scope| {
        scope.send(&side.peer, KEY, &mine)?;
        theirs = side.worker.recv(KEY)?.0;
        Ok(())
    })?;
    // SAFETY: the bytes are those of the other process's key, and its memory stays.
    let theirs = unsafe { MemoryKey::from_bytes(&theirs)? };
    let remote = side.peer.remote_memory(&theirs)?;
    Ok((memory, remote))
}

/// What was put here, after a message has said so.
fn arrived<T: Datatype>(memory: &Registered<T>) -> &[T] {
    const { assert!(!T::TYPE_MAP.is_restricted(), "any bytes are values") }
    // SAFETY: the records are initialised, and any bytes are values, as just checked. The other process puts again only
    // after a message from here, which is sent when the slice is not used any more.
    unsafe { slice::from_raw_parts(memory.as_ptr(), memory.len()) }
}

/// Everything is there: the other process may use it.
fn tell(side: &Side) -> Result<()> {
    side.peer.flush()?;
    Ok(side.peer.send(TAG, &[(); 0])?)
}

fn wait(side: &Side) -> Result<()> {
    side.worker.recv_into(TAG, &mut [(); 0])?;
    Ok(())
}

fn records<T: Shape>(side: &Side, count: usize) -> Result<()> {
    let source: Vec<T> = (0..count).map(T::sample).collect();
    let packed = dtype_runtime::pack(&source);
    let (memory, remote) = both(side, &vec![T::default(); count])?;
    let (bytes, remote_bytes) = both(side, &packed)?;
    let name = format!("put of {{{}}} × {count}", T::NAME);
    let arrived = vec![T::default(); count];
    side.measure(&name, Records { source, arrived, packed, memory, remote, bytes, remote_bytes })
}

/// An array of structs.
struct Records<'a, T> {
    source: Vec<T>,
    arrived: Vec<T>,
    packed: Vec<u8>,
    memory: Registered<T>,
    remote: RemoteMemory<'a, T, Single>,
    bytes: Registered<u8>,
    remote_bytes: RemoteMemory<'a, u8, Single>,
}

impl<T: Shape> Row for Records<'_, T> {
    fn send(&mut self, side: &Side) -> Result<()> {
        self.remote.put(0, &self.source)?;
        tell(side)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        wait(side)
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        T::pack_by_hand(&self.source, &mut self.packed);
        self.remote_bytes.put(0, &self.packed)?;
        tell(side)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        wait(side)?;
        T::unpack_by_hand(arrived(&self.bytes), &mut self.arrived);
        Ok(())
    }

    /// The data are either in the memory or unpacked.
    fn check(&mut self) -> Result<()> {
        let cleared = vec![T::default(); self.source.len()];
        let put = self.memory.read(0..self.memory.len())?;
        let expected = [&self.source, &cleared];
        ensure!(
            expected.contains(&&put) && expected.contains(&&self.arrived),
            "other records came"
        );
        ensure!(put != self.arrived, "no records came");
        self.memory.write(0, &cleared)?;
        self.arrived = cleared;
        Ok(())
    }

    fn size(&self) -> usize {
        self.packed.len()
    }
}

fn face(side: &Side, name: &str, face: Face) -> Result<()> {
    let (memory, remote) = both(side, &face.arrived)?;
    let (packed, remote_packed) = both(side, &face.packed)?;
    let part = remote.strided(&face.received, 0, 1)?;
    side.measure(name, Put { face, memory, part, packed, remote_packed })
}

/// A part of a grid.
struct Put<'a> {
    face: Face,
    memory: Registered<f64>,
    part: Strided<'a, f64, Single>,
    packed: Registered<f64>,
    remote_packed: RemoteMemory<'a, f64, Single>,
}

impl Row for Put<'_> {
    fn send(&mut self, side: &Side) -> Result<()> {
        self.part.put(Elements::new(&self.face.sent, bytes_of(&self.face.source), 1)?)?;
        tell(side)
    }

    fn receive(&mut self, side: &Side) -> Result<()> {
        wait(side)
    }

    fn send_by_hand(&mut self, side: &Side) -> Result<()> {
        self.face.pack();
        self.remote_packed.put(0, &self.face.packed)?;
        tell(side)
    }

    fn receive_by_hand(&mut self, side: &Side) -> Result<()> {
        wait(side)?;
        self.face.unpack_from(arrived(&self.packed));
        Ok(())
    }

    /// The cells are either in the memory or unpacked.
    fn check(&mut self) -> Result<()> {
        let cleared = vec![0.0; self.face.arrived.len()];
        let put = self.memory.read(0..self.memory.len())?;
        let expected = [&self.face.expected, &cleared];
        let known = expected.contains(&&put) && expected.contains(&&self.face.arrived);
        ensure!(known && put != self.face.arrived, "other cells came");
        self.memory.write(0, &cleared)?;
        self.face.arrived = cleared;
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(&self.face.packed[..])
    }
}
