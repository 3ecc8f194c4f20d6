//! Types made at run time in the buffers of the `mpi` crate.

use dtype_mpi::{Error, Layout, ReceiveBuffer, SendBuffer};
use dtype_runtime::{Basic, Order, Type};
use mpi::topology::{Process, SimpleCommunicator};
use mpi::traits::*;

use crate::packed::ring;

fn f64s() -> Type {
    Type::basic(Basic::F64)
}

/// A matrix in blocks of rows, transposed by one all-to-all: columns are sent, and come as rows.
pub(crate) fn transpose(world: &SimpleCommunicator) {
    let (rank, ranks) =
        (usize::try_from(world.rank()).unwrap(), usize::try_from(world.size()).unwrap());
    let (rows, n) = (3, 3 * ranks);
    let value = |row: usize, column: usize| (row * n + column) as f64;
    let own: Vec<f64> = (0..rows * n).map(|i| value(rank * rows + i / n, i % n)).collect();
    // One column of the own rows; the next one begins a number later.
    let column = Type::vector(rows as u64, 1, n as i64, &f64s()).unwrap();
    let columns = Layout::new(&Type::resized(&column, 0, 8).unwrap()).unwrap();
    // A rank sends `rows` pieces of rows; the next rank's pieces begin after the first piece of this one.
    let block = Type::vector(rows as u64, rows as u64, n as i64, &f64s()).unwrap();
    let blocks = Layout::new(&Type::resized(&block, 0, 8 * rows as i64).unwrap()).unwrap();
    let mut transposed = vec![f64::NAN; rows * n];
    {
        let out = SendBuffer::of_layout(&columns, &own, 0, n).unwrap();
        let mut into = ReceiveBuffer::of_layout(&blocks, &mut transposed, 0, ranks).unwrap();
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
        let out = SendBuffer::of_layout(&from, &sent, 0, 1).unwrap();
        mpi::request::scope(|scope| {
            let request = Process::immediate_send(next, scope, &out);
            let mut into = ReceiveBuffer::of_layout(&to, grid, 0, 1).unwrap();
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
    SendBuffer::of_layout(&column, &matrix, 24, 1).unwrap();
    out_of_bounds(SendBuffer::of_layout(&column, &matrix, 25, 1).unwrap_err());
    out_of_bounds(SendBuffer::of_layout(&column, &matrix[..8], 0, 1).unwrap_err());
    out_of_bounds(SendBuffer::of_layout(&column, &matrix, 0, 2).unwrap_err());
    out_of_bounds(ReceiveBuffer::of_layout(&column, &mut matrix, usize::MAX, 1).unwrap_err());
    SendBuffer::of_layout(&column, &matrix, usize::MAX, 0).unwrap();
    // Data that name a number twice can be sent, but not received.
    let twice = Layout::new(&Type::vector(3, 1, 0, &f64s()).unwrap()).unwrap();
    SendBuffer::of_layout(&twice, &matrix, 8, 1).unwrap();
    let error = ReceiveBuffer::of_layout(&twice, &mut matrix, 8, 1).unwrap_err();
    assert!(matches!(error, Error::Type(dtype_runtime::Error::Overlap { .. })), "{error}");
    // More than a 32-bit count can hold.
    let nothing = vec![(); 1 << 31];
    let expected = Error::Count { call: "the mpi crate", count: 1 << 31, limit: (1 << 31) - 1 };
    assert_eq!(SendBuffer::of(&nothing).unwrap_err(), expected);
    // With another displacement than 0 first.
    let backwards = Layout::new(&Type::vector(4, 1, -1, &f64s()).unwrap()).unwrap();
    let (next, before) = ring(world);
    let numbers = [1.0, 2.0, 3.0, 4.0];
    let out = SendBuffer::of_layout(&backwards, &numbers, 24, 1).unwrap();
    mpi::request::scope(|scope| {
        let request = next.immediate_send(scope, &out);
        assert_eq!(before.receive_vec::<f64>().0, [4.0, 3.0, 2.0, 1.0]);
        request.wait();
    });
}
