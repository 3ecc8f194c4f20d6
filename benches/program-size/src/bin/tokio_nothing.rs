//! A program that uses tokio and not dtype: `tokio` is compared with it.

use dtype_program_size::{bytes, output, samples};
use tokio::io::{AsyncReadExt, AsyncWriteExt, stdin, stdout};
use tokio::runtime::Builder;

fn main() -> std::io::Result<()> {
    Builder::new_current_thread().build()?.block_on(async {
        let mut all = Vec::new();
        stdin().read_to_end(&mut all).await?;
        stdout().write_all(&all).await?;
        output(&bytes(&samples(&all)))
    })
}
