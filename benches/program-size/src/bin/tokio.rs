//! `send` and `Receiver` on tokio's streams.

use dtype_message::tokio::{Receiver, send};
use dtype_message::{Framing, Limits};
use dtype_program_size::{Sample, bytes, output};
use std::io::Error;
use tokio::io::{stdin, stdout};
use tokio::runtime::Builder;

fn main() -> std::io::Result<()> {
    Builder::new_current_thread().build()?.block_on(async {
        let mut receiver = Receiver::<_, Vec<Sample>>::new(stdin(), Limits::new());
        while let Some(samples) = receiver.next_message().await.map_err(Error::other)? {
            send(&mut stdout(), &samples, Framing::new()).await.map_err(Error::other)?;
            output(&bytes(&samples))?;
        }
        Ok(())
    })
}
