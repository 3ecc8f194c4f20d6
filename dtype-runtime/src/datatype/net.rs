//! The IP addresses of the standard library.
//!
//! `IpAddr` and the socket addresses are not datatypes: they are enums with data, or have a layout that the standard library
//! does not define. Use [`FixedSocketAddr`](crate::FixedSocketAddr) instead of a socket address.

use core::net::{Ipv4Addr, Ipv6Addr};

use super::Datatype;
use super::proof::begins_with;
use crate::typemap::TypeMap;

// SAFETY: the assertion shows that an address has four bytes, and that they are its octets. There are 2³²
// addresses, one for each array of octets, and four bytes have 2³² patterns: each is an address.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Ipv4Addr {
    /// The octets in network order: `[u8; 4]`.
    const TYPE_MAP: &'static TypeMap = {
        let octets = [1_u8, 2, 3, 4];
        let address = Self::new(1, 2, 3, 4);
        // SAFETY: this is the initialiser of a constant, evaluated at compile time.
        let same = unsafe { begins_with::<Self, [u8; 4]>(address, octets) };
        assert!(same && size_of::<Self>() == 4, "in this std, Ipv4Addr is not its octets");
        <[u8; 4]>::TYPE_MAP
    };
}

// SAFETY: the assertion shows that an address has 16 bytes, and that they are its octets. There are 2¹²⁸
// addresses, one for each array of octets, and 16 bytes have 2¹²⁸ patterns: each is an address.
#[diagnostic::do_not_recommend]
unsafe impl Datatype for Ipv6Addr {
    /// The octets in network order: `[u8; 16]`.
    const TYPE_MAP: &'static TypeMap = {
        let octets = [1_u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        let address = Self::from_bits(u128::from_be_bytes(octets));
        // SAFETY: this is the initialiser of a constant, evaluated at compile time.
        let same = unsafe { begins_with::<Self, [u8; 16]>(address, octets) };
        assert!(same && size_of::<Self>() == 16, "in this std, Ipv6Addr is not its octets");
        <[u8; 16]>::TYPE_MAP
    };
}
