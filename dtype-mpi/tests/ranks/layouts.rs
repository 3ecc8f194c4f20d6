//! Types made at run time in the buffers of the `mpi` crate.

use dtype_mpi::traits::*;
use dtype_mpi::{Error, Layout, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Basic, Order, Type};
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::*;

use crate::packed::ring;
use crate::shapes::noise;

fn f64s() -> Type {
    Type::basic(Basic::F64)
}

/// Transposes a matrix in blocks of rows by one all-to-all: each rank sends columns and receives rows.
pub(crate) fn transpose(world: &SimpleCommunicator) {
    let (rank, ranks) =
        (usize::try_from(world.rank()).unwrap(), usize::try_from(world.size()).unwrap());
    let (rows, n) = (3, 3 * ranks);
    let value = |row: usize, column: usize| (row * n + column) as f64;
    let own: Vec<f64> = (0..rows * n).map(|i| value(rank * rows + i / n, i % n)).collect();
    // One column of this rank's rows. The next column begins one number later.
    let column = Type::vector(rows as u64, 1, n as i64, &f64s()).unwrap();
    let columns = Layout::new(&Type::resized(&column, 0, 8).unwrap()).unwrap();
    // A rank sends `rows` pieces of rows. The pieces of the next rank begin after the first piece of this rank.
    let block = Type::vector(rows as u64, rows as u64, n as i64, &f64s()).unwrap();
    let blocks = Layout::new(&Type::resized(&block, 0, 8 * rows as i64).unwrap()).unwrap();
    let mut transposed = vec![f64::NAN; rows * n];
    {
        let out = SendBuffer::from_layout(&columns, &own, 0, n).unwrap();
        let mut into = ReceiveBuffer::from_layout(&blocks, &mut transposed, 0, ranks).unwrap();
        world.all_to_all_into(&out, &mut into);
    }
    for (i, &number) in transposed.iter().enumerate() {
        assert_eq!(number, value(i % n, rank * rows + i / n));
    }
}

/// Sends the right face of a grid with a ghost layer to the next rank, and the left one to the previous rank.
pub(crate) fn halo(world: &SimpleCommunicator) {
    const SIDE: usize = 6;
    let (next, before) = ring(world);
    let face = |column| {
        let sizes = [SIDE as u64; 2];
        let ty = Type::subarray(&sizes, &[SIDE as u64 - 2, 1], &[1, column], Order::C, &f64s());
        Layout::new(&ty.unwrap()).unwrap()
    };
    let own = |rank: i32, i: usize| f64::from(rank) * 100.0 + i as f64;
    let mut grid: Vec<f64> = (0..SIDE * SIDE).map(|i| own(world.rank(), i)).collect();
    let exchange = |grid: &mut Vec<f64>, from: u64, to: u64, next, before| {
        let (from, to) = (face(from), face(to));
        let sent = grid.clone();
        let out = SendBuffer::from_layout(&from, &sent, 0, 1).unwrap();
        mpi::request::scope(|scope| {
            let request = Process::immediate_send(next, scope, &out);
            let mut into = ReceiveBuffer::from_layout(&to, grid, 0, 1).unwrap();
            Process::receive_into(before, &mut into);
            request.wait();
        });
    };
    exchange(&mut grid, SIDE as u64 - 2, 0, &next, &before);
    exchange(&mut grid, 1, SIDE as u64 - 1, &before, &next);
    for (i, &value) in grid.iter().enumerate() {
        let (row, column) = (i / SIDE, i % SIDE);
        let expected = match column {
            0 if (1..SIDE - 1).contains(&row) => own(before.rank(), i + SIDE - 2),
            column if column == SIDE - 1 && (1..SIDE - 1).contains(&row) => {
                own(next.rank(), i + 2 - SIDE)
            }
            _ => own(world.rank(), i),
        };
        assert_eq!(value, expected, "row {row}, column {column}");
    }
}

pub(crate) fn outside(world: &SimpleCommunicator) {
    let column = Layout::new(&Type::vector(3, 1, 4, &f64s()).unwrap()).unwrap();
    let mut matrix = vec![0.0_f64; 12];
    let out_of_bounds = |error: Error| {
        assert!(matches!(error, Error::Type(dtype_runtime::Error::OutOfBounds { .. })), "{error}");
    };
    SendBuffer::from_layout(&column, &matrix, 24, 1).unwrap();
    out_of_bounds(SendBuffer::from_layout(&column, &matrix, 25, 1).unwrap_err());
    out_of_bounds(SendBuffer::from_layout(&column, &matrix[..8], 0, 1).unwrap_err());
    out_of_bounds(SendBuffer::from_layout(&column, &matrix, 0, 2).unwrap_err());
    out_of_bounds(ReceiveBuffer::from_layout(&column, &mut matrix, usize::MAX, 1).unwrap_err());
    SendBuffer::from_layout(&column, &matrix, usize::MAX, 0).unwrap();
    let later = Type::hindexed(&[1], &[8], &f64s()).unwrap();
    let later = Layout::new(&later).unwrap();
    for before in [1, 8] {
        let origin = usize::MAX - before + 1;
        out_of_bounds(SendBuffer::from_layout(&later, &matrix, origin, 1).unwrap_err());
        out_of_bounds(ReceiveBuffer::from_layout(&later, &mut matrix, origin, 1).unwrap_err());
    }
    // Types that libraries copy wrongly although the bounds are right (`oracle/classes.rs`), and types with hidden bounds.
    let bytes = Type::basic(Basic::U8);
    let back = Type::resized(&Type::contiguous(2, &bytes).unwrap(), 0, -8).unwrap();
    let nothing = Type::contiguous(0, &bytes).unwrap();
    let hollow = Type::structure(&[1, 1], &[0, 4], &[bytes.clone(), nothing.clone()]).unwrap();
    let one_back = Type::vector(4, 1, -1, &bytes).unwrap();
    let mut memory = [0_u8; 64];
    for ty in [Ok(back.clone()), Type::contiguous(3, &back), Type::resized(&hollow, 0, 8)] {
        let layout = match Layout::new(&ty.unwrap()) {
            Ok(layout) => layout,
            Err(error) => {
                assert!(matches!(error, Error::Bounds { .. }), "{error}");
                continue;
            }
        };
        for error in [
            SendBuffer::from_layout(&layout, &memory, 32, 1).unwrap_err(),
            ReceiveBuffer::from_layout(&layout, &mut memory, 32, 1).unwrap_err(),
        ] {
            assert!(matches!(error, Error::LibraryDefect { .. } | Error::Bounds { .. }), "{error}");
        }
    }
    let hidden = Layout::new(&Type::structure(&[1, 1], &[0, 8], &[one_back, bytes]).unwrap());
    match hidden.map(|hidden| SendBuffer::from_layout(&hidden, &memory, 32, 1).map(drop)) {
        // MPICH knows this stride.
        Ok(Ok(())) => {
            assert!(!mpi::environment::library_version().unwrap().starts_with("Open MPI"));
        }
        Ok(Err(error)) | Err(error) => assert!(matches!(error, Error::Bounds { .. }), "{error}"),
    }
    let nothing = Layout::new(&nothing).unwrap();
    // An empty message is not refused, and its address has no other meaning to the library.
    let no_bytes: [u8; 0] = [];
    let one = Layout::new(&back).unwrap();
    for buffer in [
        SendBuffer::from_layout(&nothing, &no_bytes, 0, 5).unwrap(),
        SendBuffer::from_layout(&one, &no_bytes, 0, 0).unwrap(),
        SendBuffer::new(&[(); 3]).unwrap(),
        SendBuffer::new(&no_bytes).unwrap(),
    ] {
        assert!(buffer.pointer().addr() > 4096, "{buffer:?}");
    }
    let (next, before) = ring(world);
    let out = SendBuffer::from_layout(&nothing, &memory, 64, 5).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &out);
        let mut into = [0_u8; 4];
        let mut into = ReceiveBuffer::from_layout(&nothing, &mut into, 0, 5).unwrap();
        before.receive_into(&mut into);
        request.wait();
    });
    // Data that name a number twice can be sent but not received.
    let twice = Layout::new(&Type::vector(3, 1, 0, &f64s()).unwrap()).unwrap();
    SendBuffer::from_layout(&twice, &matrix, 8, 1).unwrap();
    let error = ReceiveBuffer::from_layout(&twice, &mut matrix, 8, 1).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::Overlap { .. })), "{error}");
    // More than a 32-bit count can hold.
    let nothing = vec![(); 1 << 31];
    let expected = Error::Count { call: "the mpi crate", count: 1 << 31, limit: (1 << 31) - 1 };
    assert_eq!(SendBuffer::new(&nothing).unwrap_err(), expected);
    // The first displacement is not 0.
    let backwards = Layout::new(&Type::vector(4, 1, -1, &f64s()).unwrap()).unwrap();
    let (next, before) = ring(world);
    let numbers = [1.0, 2.0, 3.0, 4.0];
    let out = SendBuffer::from_layout(&backwards, &numbers, 24, 1).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &out);
        assert_eq!(before.receive_vec::<f64>().0, [4.0, 3.0, 2.0, 1.0]);
        request.wait();
    });
}

/// Sends every layout at rank 0 to every layout of the same size at rank 1. The crate chooses how to send each.
pub(crate) fn messages(world: &SimpleCommunicator) {
    const LENGTH: usize = 160_000;
    /// Some data lie before the origin.
    const ORIGIN: usize = 20_000;
    let bytes = || Type::basic(Basic::U8);
    let vector = |count, block, stride| Type::vector(count, block, stride, &bytes()).unwrap();
    let matrix = noise(14, LENGTH);
    // For these layouts, libraries copy the wrong bytes although the bounds are right (`oracle/classes.rs`).
    let backwards = {
        let row = Type::resized(&Type::contiguous(800, &bytes()).unwrap(), 0, -1600).unwrap();
        Type::contiguous(6, &row).unwrap()
    };
    let one_back = {
        let long = Type::contiguous(3000, &bytes()).unwrap();
        let parts = [long.clone(), vector(4, 1, -1), long];
        Type::structure(&[1, 1, 1], &[0, 3010, 7000], &parts).unwrap()
    };
    // MPICH leaves out the padding of each number.
    let longs = Type::vector(40, 8, 16, &Type::basic(Basic::LongDouble)).unwrap();
    for (size, layouts) in [
        // One piece, long pieces, short pieces, no piece, and a list that runs backwards.
        (9600, vec![vector(1, 9600, 0), vector(40, 240, 500), vector(1200, 8, 50)]),
        (480, vec![vector(1, 480, 0), vector(2, 240, 500), vector(60, 8, 50)]),
        (4, vec![vector(1, 4, 0), vector(4, 1, 9)]),
        (0, vec![Type::contiguous(0, &bytes()).unwrap()]),
        (300, vec![Type::hindexed(&[100, 200], &[1000, 0], &bytes()).unwrap()]),
        (4800, vec![vector(6, 800, 900), backwards]),
        (6004, vec![one_back, vector(19, 316, 400)]),
        (longs.size(), vec![longs]),
    ] {
        let layouts: Vec<Layout> = layouts.iter().map(|ty| Layout::new(ty).unwrap()).collect();
        for (out, into) in
            layouts.iter().flat_map(|out| layouts.iter().map(move |into| (out, into)))
        {
            let mut came = vec![0xee; LENGTH];
            // Two overlapping instances can be sent but not received.
            if world.size() == 1 || into.unpacker(&mut came, ORIGIN, 2).is_err() {
                continue;
            }
            if world.rank() == 0 {
                let peer = world.process_at_rank(1);
                peer.send_layout(out, &matrix, ORIGIN + 7, 1, 3).unwrap();
                // One instance too many for the receiver, and one instance where two are expected.
                peer.send_layout(out, &matrix, ORIGIN, 2, 3).unwrap();
                peer.send_layout(out, &matrix, ORIGIN, 1, 3).unwrap();
                continue;
            }
            if world.rank() != 1 {
                continue;
            }
            let peer = world.process_at_rank(0);
            let packed = |at: usize, count| {
                let origin = (ORIGIN + at) as i64;
                let memory = dtype_runtime::Buffer::new(&matrix).origin(origin);
                out.committed().pack_to_vec(memory, count).unwrap()
            };
            let received = peer.recv_layout(into, &mut came, ORIGIN + 11, 1, 3).unwrap();
            assert_eq!((received.source, received.tag, received.bytes), (0, 3, size));
            assert_eq!(received.count as u64, size);
            let mut expected = vec![0xee; LENGTH];
            let memory = dtype_runtime::BufferMut::new(&mut expected).origin(ORIGIN as i64 + 11);
            into.committed().unpack(&packed(7, 1), memory, 1).unwrap();
            assert!(came == expected, "{size} bytes");
            if size > 0 {
                let error = peer.recv_layout(into, &mut came, ORIGIN + 11, 1, 3).unwrap_err();
                let Error::Truncated { source_rank: 0, tag: 3, bytes, capacity } = error else {
                    panic!("{error}");
                };
                assert_eq!((bytes, capacity), (2 * size, size));
                assert!(came == expected, "nothing is written");
            }
            // The message is still there.
            let (whole, _) = peer.recv_packed::<u8>(3).unwrap();
            assert!(whole == packed(0, 2));
            // A message shorter than the receiver's room.
            let received = peer.recv_layout(into, &mut came, ORIGIN, 2, 3).unwrap();
            assert_eq!(received.bytes, size);
            let mut unpacker = into.unpacker(&mut expected, ORIGIN, 2).unwrap();
            unpacker.unpack(&packed(0, 1)).unwrap();
            drop(unpacker);
            assert!(came == expected, "{size} bytes of {}", 2 * size);
        }
    }
}

/// Short pieces in thousands of pages. Rank 0 sends them to the same layout and to another one at rank 1.
pub(crate) fn scattered(world: &SimpleCommunicator) {
    const ROWS: usize = 4200;
    const ROW: usize = 520;
    let column = Layout::new(&Type::vector(ROWS as u64, 1, ROW as i64, &f64s()).unwrap()).unwrap();
    // Two instances, one in each half of the rows.
    let half = Type::vector(ROWS as u64 / 2, 1, ROW as i64, &f64s()).unwrap();
    let halves = Type::resized(&half, 0, (ROWS / 2 * ROW * 8) as i64).unwrap();
    let halves = Layout::new(&halves).unwrap();
    if world.size() == 1 || world.rank() > 1 {
        return;
    }
    let peer = world.process_at_rank(1 - world.rank());
    for ((out, outs), (into, intos)) in
        [((&column, 1), (&column, 1)), ((&column, 1), (&halves, 2)), ((&halves, 2), (&column, 1))]
    {
        let mut matrix = vec![-1.0; ROWS * ROW];
        if world.rank() == 0 {
            let numbers: Vec<f64> = (0..matrix.len()).map(|i| i as f64).collect();
            peer.send_layout(out, &numbers, 8, outs, 5).unwrap();
            continue;
        }
        let received = peer.recv_layout(into, &mut matrix, 16, intos, 5).unwrap();
        assert_eq!(received.count, ROWS * 8);
        for (i, &number) in matrix.iter().enumerate() {
            let expected = if i % ROW == 2 { (i - 1) as f64 } else { -1.0 };
            assert_eq!(number, expected, "number {i}");
        }
    }
}

/// A refused message is not left pending.
pub(crate) fn refused_messages(world: &SimpleCommunicator) {
    let me = world.process_at_rank(world.rank());
    let out_of_bounds = |error: Error| {
        assert!(matches!(error, Error::Type(dtype_runtime::Error::OutOfBounds { .. })), "{error}");
    };
    let column = Layout::new(&Type::vector(3, 1, 4, &f64s()).unwrap()).unwrap();
    let row = Layout::new(&Type::contiguous(4, &f64s()).unwrap()).unwrap();
    let mut matrix = vec![0.0_f64; 12];
    out_of_bounds(me.send_layout(&column, &matrix, 25, 1, 0).unwrap_err());
    out_of_bounds(me.send_layout(&row, &matrix, 8, 3, 0).unwrap_err());
    out_of_bounds(me.recv_layout(&column, &mut matrix, 0, 2, 0).unwrap_err());
    out_of_bounds(me.recv_layout(&row, &mut matrix, usize::MAX, 1, 0).unwrap_err());
    let twice = Layout::new(&Type::vector(3, 1, 0, &f64s()).unwrap()).unwrap();
    let error = me.recv_layout(&twice, &mut matrix, 8, 1, 0).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::Overlap { .. })), "{error}");
    let twice = Layout::new(&Type::resized(&Type::contiguous(4, &f64s()).unwrap(), 0, 8).unwrap());
    let error = me.recv_layout(&twice.unwrap(), &mut matrix, 0, 2, 0).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::Overlap { .. })), "{error}");
    assert!(world.any_process().immediate_probe().is_none());
}
