//! One process puts to the memory of another one, and gets from it. Both compute the expected contents. In some rounds the
//! owner's worker serves the memory, so that one message carries many small blocks.

use std::time::Instant;

use dtype_runtime::types::Order;
use dtype_runtime::{Basic, Buffer, BufferMut, Committed, Type, bytes_of, bytes_of_mut};
use dtype_ucx::{
    Context, Elements, ElementsMut, Endpoint, Error, Refusal, Registered, Single, Worker,
};

use super::encoded::key_of;
use super::{LIMIT, Particle, READY, Side, particles};

const KEY: u64 = 3;
const CELLS: [usize; 3] = [6, 20, 50];
const CELL_COUNT: usize = CELLS[0] * CELLS[1] * CELLS[2];
const PARTICLES: usize = 2000;
/// Whether the owner has allocated the memory, so that no peer can map it, and whether its worker serves it.
const ROUNDS: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

/// Layouts in the grid, with their origins in bytes.
fn layouts() -> Vec<(Committed, i64)> {
    let [z, y, x] = CELLS.map(|edge| edge as u64);
    let cell = Type::basic(Basic::U64);
    let part = |size: [u64; 3], start: [u64; 3]| {
        Type::subarray(&[z, y, x], &size, &start, Order::C, &cell).unwrap().commit()
    };
    let row = x.cast_signed();
    let last = 8 * (CELL_COUNT as i64 - row);
    vec![
        (part([z, y, x], [0; 3]), 0),
        (part([z - 2, y - 2, x - 2], [1; 3]), 0),
        (part([z, y, 1], [0, 0, x - 1]), 0),
        (part([z, 1, x], [0, 3, 0]), 0),
        (Type::vector(z * y, 2, row, &cell).unwrap().commit(), 16),
        (Type::vector(z * y, 1, -row, &cell).unwrap().commit(), last),
        (Type::vector(0, 2, row, &cell).unwrap().commit(), 0),
    ]
}

fn cells() -> Vec<u64> {
    (0..CELL_COUNT as u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
}

/// The values that are put in a round, and the expected grid after it.
fn round(index: usize) -> (Vec<u64>, Vec<u64>) {
    let (layout, origin) = &layouts()[index];
    let values: Vec<u64> = (0..layout.size() / 8).map(|at| !at ^ (index as u64) << 40).collect();
    let mut after = cells();
    let to = BufferMut::new(bytes_of_mut(&mut after)).origin(*origin);
    layout.unpack(bytes_of(&values), to, 1).unwrap();
    (values, after)
}

/// Tells the other side that this side is ready, and returns when that side is ready, too.
fn meet(worker: &Worker<Single>, peer: &Endpoint<Single>) {
    let met = worker.scope(|scope| {
        scope.recv_into(READY, &mut [(); 0])?;
        scope.send(peer, READY, &[(); 0])?;
        Ok(())
    });
    met.unwrap();
}

/// The side that owns the memory.
pub(super) fn owner(context: &Context, side: &Side) {
    for (in_place, served) in ROUNDS {
        let (mut own_grid, mut own_structs) = (cells(), Vec::<Particle>::new());
        let (grid, structs);
        if in_place {
            own_structs.reserve_exact(PARTICLES);
            let [cells, records] = [own_grid.len(), PARTICLES - 1];
            // SAFETY: the vectors have room for the values, and are not used until both registrations are dropped, after the
            // other side's last put. All bytes are initialised.
            unsafe {
                own_structs.as_mut_ptr().write_bytes(0, PARTICLES);
                grid = context.register_in_place(own_grid.as_mut_ptr(), cells).unwrap();
                structs = context.register_in_place(own_structs.as_mut_ptr(), records).unwrap();
            }
        } else {
            grid = context.register(&cells()).unwrap();
            structs = context.register(&particles(PARTICLES - 1, 9)).unwrap();
        }
        let keys = if served {
            [side.worker.serve(&grid), side.worker.serve(&structs)]
        } else {
            [grid.key(), structs.key()]
        };
        for key in keys {
            side.peer.send(KEY, &key.unwrap().to_bytes()).unwrap();
        }
        verify(side, &grid, &structs);
        if in_place {
            drop((grid, structs));
            if served {
                // A put that comes too late is refused.
                meet(&side.worker, &side.peer);
                meet(&side.worker, &side.peer);
                assert!(own_grid == round(layouts().len() - 1).1);
            }
        } else {
            // The other side does not know this, and continues.
            drop(grid);
            meet(&side.worker, &side.peer);
            meet(&side.worker, &side.peer);
            // SAFETY: the other side has flushed its last put of records.
            unsafe { structs.unregister() };
        }
    }
}

fn verify(side: &Side, grid: &Registered<u64>, structs: &Registered<Particle>) {
    for index in 0..layouts().len() {
        for _ in 0..2 {
            grid.write(0, &cells()).unwrap();
            meet(&side.worker, &side.peer);
            meet(&side.worker, &side.peer);
            assert!(grid.read(0..CELL_COUNT).unwrap() == round(index).1, "round {index}");
        }
        // The other side gets the values that it has put.
        meet(&side.worker, &side.peer);
    }
    structs.write(0, &particles(PARTICLES - 1, 9)).unwrap();
    meet(&side.worker, &side.peer);
    meet(&side.worker, &side.peer);
    let mut expected = particles(PARTICLES - 1, 9);
    expected[100..1100].copy_from_slice(&particles(1000, 4));
    expected[0] = particles(1, 5)[0];
    assert!(structs.read(0..PARTICLES - 1).unwrap() == expected);
    meet(&side.worker, &side.peer);
}

/// The side that puts and gets.
pub(super) fn user(side: &Side, can_map: bool) {
    for (in_place, served) in ROUNDS {
        let [grid, structs] = [(); 2].map(|()| {
            let (bytes, _) = side.worker.recv::<u8>(KEY).unwrap();
            let mut bad = bytes.clone();
            bad[30] ^= 4;
            assert!(matches!(key_of(&bad), Err(Error::Key { .. })));
            key_of(&bytes).unwrap()
        });
        assert!(matches!(
            side.peer.remote_memory::<f64>(&grid).map(drop),
            Err(Error::RegisteredType { .. })
        ));
        let grid = side.peer.remote_memory::<u64>(&grid).unwrap();
        let structs = side.peer.remote_memory::<Particle>(&structs).unwrap();
        assert_eq!(
            (grid.is_mapped(), structs.is_mapped()),
            (can_map && !in_place, can_map && !in_place)
        );
        for (index, (layout, origin)) in layouts().iter().enumerate() {
            let (values, after) = round(index);
            let part = grid.strided(layout, *origin, 1).unwrap();
            let alike = Buffer::new(bytes_of(&after)).origin(*origin);
            for elements in [Elements::from(&values), Elements::new(layout, alike, 1).unwrap()] {
                meet(&side.worker, &side.peer);
                part.put(elements).unwrap();
                side.peer.flush().unwrap();
                meet(&side.worker, &side.peer);
            }
            let mut found = vec![0_u64; values.len()];
            part.get(&mut found).unwrap();
            assert!(found == values, "get in round {index}");
            let mut found = cells();
            let to = BufferMut::new(bytes_of_mut(&mut found)).origin(*origin);
            part.get(ElementsMut::new(layout, to, 1).unwrap()).unwrap();
            assert!(found == after, "get to the same layout in round {index}");
            meet(&side.worker, &side.peer);
        }
        meet(&side.worker, &side.peer);
        structs.put(100, &particles(1000, 4)).unwrap();
        structs.put(0, &particles(1, 5)).unwrap();
        assert!(structs.put(PARTICLES - 1, &particles(1, 6)).is_err());
        assert!(structs.strided(&Type::of::<Particle>().commit(), 0, PARTICLES).is_err());
        side.peer.flush().unwrap();
        meet(&side.worker, &side.peer);
        assert!(structs.get(100..1100).unwrap() == particles(1000, 4));
        let mut all = particles(PARTICLES - 1, 1);
        structs.get_into(0, &mut all).unwrap();
        assert!(all[0] == particles(1, 5)[0] && all[1..100] == particles(100, 9)[1..]);
        meet(&side.worker, &side.peer);
        if in_place && served {
            meet(&side.worker, &side.peer);
            let (layout, origin) = &layouts()[2];
            let late = grid.strided(layout, *origin, 1).unwrap();
            let values = vec![7_u64; usize::try_from(layout.size()).unwrap() / 8];
            late.put(&values).unwrap();
            let unregistered = |result| {
                matches!(result, Err(Error::Refused { reason: Refusal::Unregistered, .. }))
            };
            assert!(unregistered(side.peer.flush()));
            assert!(unregistered(late.get(&mut values.clone())));
            meet(&side.worker, &side.peer);
        }
        if !in_place {
            meet(&side.worker, &side.peer);
            // The owner has dropped the grid, but its memory still exists.
            grid.put(0, &cells()).unwrap();
            side.peer.flush().unwrap();
            assert!(grid.get(0..CELL_COUNT).unwrap() == cells());
            drop((grid, structs));
            meet(&side.worker, &side.peer);
        }
    }
}

/// The owner of served memory dies, which ends every operation that has not been answered.
pub(super) fn the_worker_dies(peer: &mut super::Peer, side: &Side) {
    let (key, _) = side.worker.recv::<u8>(KEY).unwrap();
    let key = key_of(&key).unwrap();
    let remote = side.peer.remote_memory::<u64>(&key).unwrap();
    let column = Type::vector(1000, 1, 6, &Type::basic(Basic::U64)).unwrap().commit();
    let column = remote.strided(&column, 0, 1).unwrap();
    let mut values = vec![1_u64; 1000];
    column.put(&values).unwrap();
    side.peer.flush().unwrap();
    column.get(&mut values).unwrap();
    assert!(values == [1; 1000]);
    // Only some of these puts are answered.
    for _ in 0..8 {
        column.put(&values).unwrap();
    }
    peer.child.kill().unwrap();
    peer.child.wait().unwrap();
    let start = Instant::now();
    let error = loop {
        let result = column.put(&values).and_then(|()| side.peer.flush());
        match result {
            Err(error) => break error,
            Ok(()) => assert!(start.elapsed() < LIMIT / 10, "puts to a dead peer are done"),
        }
    };
    is_noticed(side, start, &error);
    assert!(matches!(column.put(&values), Err(Error::ConnectionLost { .. })));
    assert!(matches!(column.get(&mut values), Err(Error::ConnectionLost { .. })));
    assert!(side.peer.flush().is_err());
    // No operation on this connection is pending any more.
    let _ = side.worker.flush();
    assert!(values == [1; 1000]);
}

/// The operation's error says that the peer is dead, and soon the endpoint says so, too.
fn is_noticed(side: &Side, start: Instant, error: &Error) {
    assert!(matches!(error, Error::ConnectionLost { .. }), "{error:?}");
    while side.peer.failure().is_none() {
        side.worker.progress();
        assert!(start.elapsed() < LIMIT / 10, "a dead peer is not noticed: {error}");
    }
}

/// The owner of memory dies. Puts are refused as soon as UCX notices the death, and nothing else happens.
pub(super) fn the_owner_dies(peer: &mut super::Peer, side: &Side) {
    let (key, _) = side.worker.recv::<u8>(KEY).unwrap();
    let key = key_of(&key).unwrap();
    let remote = side.peer.remote_memory::<u64>(&key).unwrap();
    remote.put(0, &[1; 100]).unwrap();
    side.peer.flush().unwrap();
    peer.child.kill().unwrap();
    peer.child.wait().unwrap();
    let start = Instant::now();
    let error = loop {
        let result = remote
            .put(0, &vec![2; CELL_COUNT])
            .and_then(|()| remote.get(0..100).map(drop))
            .and_then(|()| side.peer.flush());
        side.worker.progress();
        match result {
            Err(error) => break error,
            Ok(()) => assert!(start.elapsed() < LIMIT / 10, "puts to a dead peer are done"),
        }
    };
    is_noticed(side, start, &error);
    assert!(matches!(remote.put(0, &[3]), Err(Error::ConnectionLost { .. })));
    assert!(matches!(remote.get(0..1), Err(Error::ConnectionLost { .. })));
}

/// The owner of memory that no peer can map and that its worker serves, until it is killed.
pub(super) fn server(context: &Context, side: &Side) -> ! {
    let mut own = cells();
    // SAFETY: the vector is not used again.
    let memory = unsafe { context.register_in_place(own.as_mut_ptr(), own.len()).unwrap() };
    side.peer.send(KEY, &side.worker.serve(&memory).unwrap().to_bytes()).unwrap();
    loop {
        side.worker.progress();
    }
}

/// The owner of memory, until it is killed.
pub(super) fn victim(context: &Context, side: &Side) -> ! {
    let memory = context.register(&cells()).unwrap();
    side.peer.send(KEY, &memory.key().unwrap().to_bytes()).unwrap();
    loop {
        side.worker.progress();
    }
}
