//! Lists the pieces of memory of layouts with Yaksa, the datatype engine in MPICH, for `dtype-versus`, whose requests it
//! reads from standard input.
//!
//! `dtype_benches::peer` has the requests and the answers. `dtype-versus` builds and starts this program.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "calls Yaksa's functions")]
mod yaksa;

use std::hint::black_box;
use std::io::{self, BufReader};

use anyhow::{Context, Result, bail, ensure};
use dtype_benches::peer::{Reply, Request, WINDOW, Work, receive, send};
use dtype_benches::turns::time_warm;
use dtype_runtime::Type;
use yaksa::{Handle, Piece};

fn main() -> Result<()> {
    yaksa::start()?;
    let mut layout = None;
    let (mut requests, mut replies) = (BufReader::new(io::stdin()), io::stdout());
    while let Some(request) = receive(&mut requests)? {
        let reply = answer(&mut layout, request)
            .unwrap_or_else(|error| Reply::Failed(format!("{error:#}")));
        send(&mut replies, &reply)?;
    }
    Ok(())
}

fn answer(layout: &mut Option<Layout>, request: Request) -> Result<Reply> {
    Ok(match request {
        Request::Name => Reply::Name("Yaksa of MPICH's static library".into()),
        Request::Pieces { ty, count } => {
            let layout = layout.insert(Layout::new(&Type::unmarshal(&ty)?, count)?);
            Reply::Pieces(layout.pieces())
        }
        Request::Time { work, repetitions } => {
            let layout = layout.as_mut().context("no layout was prepared")?;
            let window = match work {
                Work::List => layout.pieces.len(),
                Work::ListInWindows => WINDOW,
                other => bail!("Yaksa has no call for {other:?}"),
            };
            let time = time_warm(repetitions, || layout.list(window));
            Reply::Time(u64::try_from(time.as_nanos())?)
        }
        other => bail!("Yaksa has no call for {other:?}"),
    })
}

/// Instances of a datatype, and their pieces.
struct Layout {
    handle: Handle,
    count: usize,
    pieces: Vec<Piece>,
}

impl Layout {
    fn new(ty: &Type, count: usize) -> Result<Self> {
        let handle = Handle::of(ty)?;
        let pieces = vec![Piece::default(); handle.number_of_pieces(count)?];
        let mut layout = Self { handle, count, pieces };
        let found = layout.handle.pieces(count, 0, &mut layout.pieces);
        let promised = layout.pieces.len();
        ensure!(found == promised, "{found} pieces, but yaksa_iov_len says {promised}");
        Ok(layout)
    }

    /// Displacements and lengths.
    fn pieces(&self) -> Vec<(u64, u64)> {
        self.pieces.iter().map(Piece::place).collect()
    }

    /// Lists all pieces, at most `window` of them in a call.
    fn list(&mut self, window: usize) {
        let Self { handle, count, pieces } = self;
        let mut from = 0;
        for window in black_box(pieces).chunks_mut(window.max(1)) {
            from += handle.pieces(*count, from, black_box(window));
        }
        black_box(from);
    }
}
