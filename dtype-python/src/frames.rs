//! The frames of `dtype-message`, made from arrays and read from bytes. The package's Python moves the bytes.

use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dtype_message::{
    Decoder, Encoder, Error, Framing, Header, Limits, PackedMessage, Protocol, Schema,
};
use dtype_npy::{Dtype, Kind};
use dtype_runtime::Basic;
use dtype_runtime::representation::ByteOrder;
use numpy::PyArray1;
use pyo3::exceptions::{PyEOFError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::arrays::{Lent, array};
use crate::error::of_engine;
use crate::layout::Layout;
use crate::types::joined;

/// Bytes of a frame that are packed and sent at a time.
const PIECE: usize = 1 << 20;

/// The frames of one connection. The layout has this machine's byte order.
#[pyclass(frozen)]
pub(crate) struct Frames {
    layout: Py<Layout>,
    /// The lines of the layout's schema after the first, which is the name: a layout has none.
    fields: String,
    framing: Framing,
    incoming: Mutex<Incoming>,
}

struct Incoming {
    decoder: Decoder<PackedMessage>,
    /// Whether the next message may be the sender's protocol.
    is_first: bool,
    sender: Option<Protocol>,
}

/// The frame of an array, which is sent: an iterator over its pieces.
#[pyclass(frozen)]
pub(crate) struct Outgoing {
    /// Also the number of bytes that it has left.
    unsent: Mutex<(Encoder<'static>, u64)>,
    _array: Py<PyAny>,
}

#[pymethods]
impl Outgoing {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u8>>> {
        let unsent = self.unsent.lock_py_attached(py);
        let (encoder, left) = &mut *unsent.unwrap_or_else(PoisonError::into_inner);
        let mut piece = vec![0; PIECE.min(usize::try_from(*left).unwrap_or(PIECE))];
        // An encoder never fails, and has `left` more bytes.
        py.detach(|| encoder.read_exact(&mut piece)).ok()?;
        *left -= piece.len() as u64;
        (!piece.is_empty()).then(|| PyArray1::from_vec(py, piece))
    }
}

/// A message: the number of records, whether they are in the other byte order, and their packed bytes.
type Message<'py> = (u64, bool, Bound<'py, PyArray1<u8>>);

#[pymethods]
impl Frames {
    #[new]
    fn new(layout: Py<Layout>, tag: u32, exchange: bool, max_bytes: u64) -> Self {
        let mut fields = String::new();
        lines(&layout.get().item, "", &mut fields);
        let limits = Limits::new().with_max_payload_bytes(max_bytes).with_max_records(u64::MAX);
        let decoder = Decoder::new(limits.allow_missing_checksum());
        Self {
            layout,
            fields,
            framing: Framing::new().with_tag(tag),
            incoming: Mutex::new(Incoming { decoder, is_first: exchange, sender: None }),
        }
    }

    /// Whether the sender's first message has come: its protocol, or an array if it sends none.
    #[getter]
    fn has_begun(&self, py: Python<'_>) -> bool {
        !self.incoming(py).is_first
    }

    /// The frame of this side's protocol.
    fn protocol(&self) -> PyResult<Vec<u8>> {
        let (tag, fields) = (self.framing.tag(), &self.fields);
        let mut frame = Vec::new();
        let text = format!("\t{tag} list ndarray\nndarray\n{fields}");
        dtype_message::encode(&mut frame, &text, Framing::new()).map_err(refused)?;
        Ok(frame)
    }

    /// The frame of an array, in pieces.
    fn frame(&self, a: &Bound<'_, PyAny>) -> PyResult<Outgoing> {
        let (layout, array) = (self.layout.get(), array(a)?);
        let from = layout.memory(&array)?;
        let header = Header::of_type(layout.records.ty(), from.count, self.framing);
        let header = header.map_err(refused)?;
        let side = layout.records.side(&from).map_err(of_engine)?;
        // SAFETY: the array is kept with the encoder, and longer.
        let packer = unsafe { side.packer() }.map_err(of_engine)?;
        let encoder = Encoder::with_packer(header, packer).map_err(refused)?;
        let unsent = Mutex::new((encoder, header.frame_len()));
        Ok(Outgoing { unsent, _array: array.into_any().unbind() })
    }

    /// How many bytes are certainly part of the frame that is arriving.
    fn needs(&self, py: Python<'_>) -> usize {
        self.incoming(py).decoder.needs()
    }

    /// Takes bytes from the front of a buffer: their number, the message if it is complete, and the error if it is refused.
    fn feed<'py>(
        &self,
        bytes: &Bound<'py, PyAny>,
    ) -> PyResult<(usize, Option<Message<'py>>, Option<PyErr>)> {
        let py = bytes.py();
        let lent = Lent::new(bytes, "bytes")?;
        // SAFETY: `lent` holds the bytes, which only the connection's own Python writes, between two calls.
        let all = unsafe { std::slice::from_raw_parts(lent.memory.origin, lent.memory.count) };
        let (mut incoming, mut rest) = (self.incoming(py), all);
        let decoder = &mut incoming.decoder;
        let message = py.detach(|| decoder.feed(&mut rest)).map_err(refused);
        let checked = message.and_then(|message| {
            message.map_or(Ok(None), |message| self.checked(&mut incoming, message))
        });
        let (message, error) = match checked {
            Ok(message) => (message, None),
            Err(error) => (None, Some(error)),
        };
        let message = message.map(|PackedMessage { header, packed }| {
            (
                header.count(),
                header.byte_order() != ByteOrder::NATIVE,
                PyArray1::from_vec(py, packed),
            )
        });
        Ok((all.len() - rest.len(), message, error))
    }

    /// Checks that the stream may end here.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.incoming(py).decoder.finish().map_err(refused)
    }
}

impl Frames {
    /// The message if it is an array of the layout; `None` for the sender's protocol.
    fn checked(
        &self,
        incoming: &mut Incoming,
        message: PackedMessage,
    ) -> PyResult<Option<PackedMessage>> {
        let header = &message.header;
        let is_text = header.check::<u8>().is_ok() && message.packed.starts_with(b"\t");
        if std::mem::take(&mut incoming.is_first) && is_text {
            incoming.sender =
                std::str::from_utf8(&message.packed).ok().and_then(|text| text.parse().ok());
            if incoming.sender.is_some() {
                return Ok(None);
            }
        }
        let Err(error) = header.check_type(self.layout.get().records.ty()) else {
            return Ok(Some(message));
        };
        let theirs = |sender: &Protocol| sender.schema(header.tag()).or_else(|| sender.schema(0));
        Err(refused(match (error, incoming.sender.as_ref().and_then(theirs)) {
            (Error::Mismatch(mismatch), Some(theirs)) => {
                // A layout has no name, so the name is not a difference.
                let ours = format!("{}\n{}", theirs.type_name(), self.fields).parse();
                ours.map_or_else(Error::from, |ours| mismatch.with_sender(&ours, &theirs).into())
            }
            (error, _) => error,
        }))
    }

    fn incoming(&self, py: Python<'_>) -> MutexGuard<'_, Incoming> {
        self.incoming.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lines of a schema for the fields of a dtype, as `dtype-message` writes them for a struct.
fn lines(dtype: &Dtype, path: &str, all: &mut String) {
    let (lengths, element) = dtype.axes();
    if let Kind::Structure { fields } = element.kind() {
        let path =
            lengths.iter().fold(path.to_owned(), |path, length| format!("{path}[0..{length}]"));
        for field in fields {
            lines(&field.dtype, &joined(&path, &Schema::escaped(&field.name)), all);
        }
        return;
    }
    let basic = element.basic().unwrap_or(Basic::Byte);
    let scalar = match element.kind() {
        Kind::Scalar { letter, unit: Some(unit), .. } => {
            format!("{}<{unit}>", if *letter == 'M' { "Timestamp" } else { "TimeSpan" })
        }
        _ => basic.canonical().name().to_owned(),
    };
    let each = element.itemsize() / basic.size() as u64;
    let each = (each != 1).then_some(&each);
    let ty = each.into_iter().chain(lengths.iter().rev());
    let ty = ty.fold(scalar, |element, length| format!("[{element}; {length}]"));
    all.extend([path, ": ", &ty, "\n"]);
}

/// An error of a frame.
fn refused(error: Error) -> PyErr {
    match error {
        Error::Truncated { .. } => PyEOFError::new_err(error.to_string()),
        Error::Mismatch(_) => PyTypeError::new_err(error.to_string()),
        Error::Records(error) => of_engine(*error),
        _ => PyValueError::new_err(error.to_string()),
    }
}
