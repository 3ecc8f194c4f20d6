//! Messages between a program in Rust and one in C. The service `service.c` reads and writes the same frames with the header
//! that the command has made of the Rust declarations.
//!
//! ```console
//! $ cc -std=c11 -o service examples/peer-in-c/service.c
//! $ ./service
//! 41235
//! $ cargo run --example peer-in-c -- 127.0.0.1:41235
//! ```

mod protocol;

use std::net::TcpStream;

use anyhow::Context;
use dtype_message::{Framing, Limits};

use protocol::{Mean, Message, Reading, Scale};

fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).context("expected the address of the service")?;
    let mut peer = TcpStream::connect(address)?;
    let limits = Limits::new().with_max_records(1000);

    let reading = |station, temperature, scale| Reading { station, temperature, scale };
    let readings = vec![
        reading(7, 20.0, Scale::Celsius),
        reading(3, 212.0, Scale::Fahrenheit),
        reading(7, 23.0, Scale::Celsius),
    ];
    // The service takes both kinds of frames.
    for framing in [Framing::new(), Framing::compact()] {
        for message in [Message::Readings(readings.clone()), Message::Refused("why?".into())] {
            dtype_message::send(&mut peer, &message, framing)?;
            let reply = dtype_message::receive(&mut peer, &limits)?;
            match reply.context("the service has left")? {
                Message::Means(means) => {
                    for Mean { station, readings, temperature } in means {
                        println!("station {station}: {temperature:.1} °C, {readings} readings");
                    }
                }
                Message::Refused(why) => println!("refused: {why}"),
                Message::Readings(_) => println!("readings"),
            }
        }
    }
    Ok(())
}
