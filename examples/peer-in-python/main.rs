//! A service in Rust for programs in Python: it receives arrays of readings, and sends each back in the order of time, without
//! the readings that are not valid. `client.py` is such a program.
//!
//! It listens on a free port of this machine, prints the port, and serves one connection.
//!
//! ```console
//! $ pip install ./dtype-python
//! $ cargo run --example peer-in-python
//! 41235
//! $ python examples/peer-in-python/client.py 41235
//! $ python examples/peer-in-python/client.py 41235 --other  # with another type: both sides say what differs
//! ```

use std::io::Write;
use std::net::TcpListener;

use dtype_message::{Framing, Limits, Receiver};
use dtype_runtime::time::Milliseconds;
use dtype_runtime::{Datatype, Timestamp};

/// A reading, as `client.py` has it.
#[derive(Datatype, Clone, Copy, Debug)]
struct Reading {
    station: u32,
    time: Timestamp<Milliseconds>,
    temperature: f32,
    valid: bool,
}

fn main() -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let (stream, _) = listener.accept()?;
    let limits = Limits::new().with_max_payload_bytes(64 << 20);

    // Both sides first say what their types are, so that an error can name the fields that differ.
    let theirs = dtype_message::exchange::<Vec<Reading>>(&mut &stream, &mut &stream, &limits)?;
    let mut receiver = Receiver::<_, Vec<Reading>>::new(&stream, limits).with_sender(theirs);
    loop {
        let mut readings = match receiver.next_message() {
            Ok(Some(readings)) => readings,
            Ok(None) => return Ok(()),
            Err(error) if receiver.is_lost() => return Err(error.into()),
            Err(error) => {
                println!("refused: {error}");
                Vec::new()
            }
        };
        let received = readings.len();
        readings.retain(|reading| reading.valid);
        readings.sort_by_key(|reading| reading.time);
        println!("{received} readings, {} of them valid", readings.len());
        dtype_message::send(&mut &stream, &readings, Framing::new())?;
    }
}
