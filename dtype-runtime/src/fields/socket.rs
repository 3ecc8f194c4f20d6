//! Socket addresses as a datatype.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::mem::offset_of;
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::basic::{Basic, Discriminants, Validity};
use crate::datatype::Datatype;
use crate::typemap::{Field, Markers, TypeMap};

/// An IP address and a port as a datatype: the version of IP, the address in network order, the port, and the flow
/// information and the scope of IPv6.
///
/// std does not define the layout of [`SocketAddr`], which is an enum with data. Unpacking checks that the version is 4 or 6.
///
/// ```
/// use dtype_runtime::{Datatype, FixedSocketAddr, pack, unpack};
/// use std::net::SocketAddr;
///
/// #[derive(Datatype)]
/// struct Peer {
///     id: u32,
///     address: FixedSocketAddr,
/// }
///
/// let address: SocketAddr = "[::1]:8080".parse()?;
/// let bytes = pack(&[Peer { id: 7, address: address.into() }]);
/// assert_eq!(unpack::<Peer>(&bytes)?[0].address.get(), address);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FixedSocketAddr {
    flowinfo: u32,
    scope_id: u32,
    port: u16,
    /// 4 or 6.
    version: u8,
    /// The octets; those of IPv4 are the first four, and the others have no meaning.
    address: [u8; 16],
}

// SAFETY: the offsets come from the compiler, and the five fields are all that there is: integers, of which any bits are values,
// so the bytes that the restriction accepts are, too.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for FixedSocketAddr {
    const TYPE_MAP: &'static TypeMap = {
        const VERSION: &TypeMap = &TypeMap::restricted(
            Basic::U8,
            Validity::Enum(Discriminants::new(&[4, 6]).named(&["V4", "V6"])),
            "version of IP",
        );
        &TypeMap::structure::<Self>(
            "FixedSocketAddr",
            const {
                &[
                    Field::new("version", offset_of!(Self, version), VERSION),
                    Field::new("address", offset_of!(Self, address), <[u8; 16]>::TYPE_MAP),
                    Field::new("port", offset_of!(Self, port), <u16 as Datatype>::TYPE_MAP),
                    Field::new("flowinfo", offset_of!(Self, flowinfo), <u32 as Datatype>::TYPE_MAP),
                    Field::new("scope_id", offset_of!(Self, scope_id), <u32 as Datatype>::TYPE_MAP),
                ]
            },
            Markers::NONE,
        )
    };
}

impl FixedSocketAddr {
    /// The same address.
    pub const fn new(address: SocketAddr) -> Self {
        match address {
            SocketAddr::V4(v4) => {
                let [a, b, c, d] = v4.ip().octets();
                let address = [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                Self { flowinfo: 0, scope_id: 0, port: v4.port(), version: 4, address }
            }
            SocketAddr::V6(v6) => Self {
                flowinfo: v6.flowinfo(),
                scope_id: v6.scope_id(),
                port: v6.port(),
                version: 6,
                address: v6.ip().octets(),
            },
        }
    }

    /// The same address.
    pub const fn get(self) -> SocketAddr {
        if self.version == 4 {
            let [a, b, c, d, ..] = self.address;
            SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), self.port))
        } else {
            let ip = Ipv6Addr::from_bits(u128::from_be_bytes(self.address));
            SocketAddr::V6(SocketAddrV6::new(ip, self.port, self.flowinfo, self.scope_id))
        }
    }
}

impl From<SocketAddr> for FixedSocketAddr {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}

impl From<FixedSocketAddr> for SocketAddr {
    fn from(address: FixedSocketAddr) -> Self {
        address.get()
    }
}

impl PartialEq for FixedSocketAddr {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for FixedSocketAddr {}

impl Hash for FixedSocketAddr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl fmt::Debug for FixedSocketAddr {
    /// As [`SocketAddr`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Display for FixedSocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
