//! A worker that completes its peers' puts and gets of many small blocks.

use dtype_runtime::Datatype;

use crate::error::Error;
use crate::mode::ThreadMode;
use crate::remote::key::MemoryKey;
use crate::remote::registered::Registered;
use crate::worker::Worker;

impl<M: ThreadMode> Worker<M> {
    /// Lets this worker unpack and pack for its peers: a put, or a get, of a layout with many small blocks is then one message
    /// instead of one operation for each block. Returns the key for the peers that are connected to this worker.
    ///
    /// Nothing else changes for peers: [`Strided::put`](crate::Strided::put) and [`Strided::get`](crate::Strided::get) choose
    /// the faster way, and a [flush](crate::Endpoint::flush) returns when the bytes are in the memory. With the same key, an
    /// endpoint that leads to another worker of this context puts block by block. Memory that the peer has mapped is accessed
    /// through the mapping, as always.
    ///
    /// The worker must make [progress](Self::progress): until then, flushes and gets of the peers do not return. It serves the
    /// memory until the value is dropped or [unregistered](Registered::unregister); after that, requests are refused
    /// ([`Error::Refused`]). Requests are checked: nothing outside the memory is read or written, whatever a peer sends. The
    /// worker and the memory may be in different threads; only one of them copies at a time.
    ///
    /// # Errors
    ///
    /// [`Error::OtherContext`] if the memory is registered with another context than the worker's; [`Error::Call`].
    ///
    /// ```
    /// use dtype_runtime::{Basic, Type};
    /// # use dtype_ucx::{Context, Error, MemoryKey, Single};
    /// # let context = Context::with_settings([("TLS", "self")])?;
    /// # let worker = context.worker::<Single>()?;
    /// # let peer = worker.connect(&worker.address()?)?;
    /// // The owner of a matrix of 100 × 50.
    /// let matrix = context.register(&vec![0_u16; 100 * 50])?;
    /// let key: Vec<u8> = worker.serve(&matrix)?.to_bytes();
    ///
    /// // The peer puts a column: 100 blocks of 2 bytes.
    /// // SAFETY: the owner has made the key, and its memory stays.
    /// let remote = peer.remote_memory::<u16>(&unsafe { MemoryKey::from_bytes(&key)? })?;
    /// let column = Type::vector(100, 1, 50, &Type::basic(Basic::U16))?.commit();
    /// remote.strided(&column, 6, 1)?.put(&[7_u16; 100])?;
    /// peer.flush()?;
    /// # assert_eq!(matrix.read(0..5)?, [0, 0, 0, 7, 0]);
    ///
    /// // There is no memory any more.
    /// drop(matrix);
    /// remote.strided(&column, 6, 1)?.put(&[8_u16; 100])?;
    /// assert!(matches!(peer.flush(), Err(Error::Refused { .. })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn serve<T: Datatype>(&self, memory: &Registered<T>) -> Result<MemoryKey, Error> {
        let (registered, own) = (memory.context().number(), self.context().number());
        if registered != own {
            return Err(Error::OtherContext { memory: registered, worker: own });
        }
        let key = memory.key()?;
        let served = memory.served();
        self.service().serve(served);
        Ok(key.served_by(self.number(), served.number()))
    }
}
