//! Types of the standard library with fields, as datatypes.

use std::cmp::Reverse;
use std::fmt::Debug;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::{Range, RangeFrom, RangeTo, RangeToInclusive};
use std::time::Duration;

use dtype_runtime::{Datatype, FixedDuration, pack, unpack, unpack_into};

/// Checks that the value packs to the bytes of `parts`, and that these unpack to the value.
fn is_packed_as<T, P>(value: T, parts: P)
where
    T: Datatype + Debug + PartialEq,
    P: Datatype,
{
    let bytes = pack(&[value]);
    assert_eq!(bytes, pack(&[parts]));
    assert_eq!(T::TYPE_MAP.signature_hash(), P::TYPE_MAP.signature_hash());
    let again = unpack::<T>(&bytes).unwrap();
    assert_eq!(pack(&again), bytes);
    assert_eq!(again.len(), 1);
}

#[test]
fn ranges_are_their_ends() {
    is_packed_as(Range { start: 1_u16, end: 0x0203 }, [1_u16, 0x0203]);
    is_packed_as(RangeFrom { start: 1.5_f64 }, 1.5_f64);
    is_packed_as(RangeTo { end: (1_u8, 2_u32) }, (1_u8, 2_u32));
    is_packed_as(RangeToInclusive { end: -7_i64 }, -7_i64);
}

#[test]
fn reverse_is_its_value() {
    is_packed_as(Reverse((true, 7_u32)), (true, 7_u32));
    assert!(unpack::<Reverse<bool>>(&[2]).is_err());
}

#[test]
fn addresses_are_their_octets() {
    is_packed_as(Ipv4Addr::new(192, 0, 2, 255), [192_u8, 0, 2, 255]);
    let address: Ipv6Addr = "2001:db8:1:2:3:4:5:ff".parse().unwrap();
    is_packed_as(address, address.octets());
    assert_eq!(unpack::<Ipv4Addr>(&[127, 0, 0, 1]).unwrap(), [Ipv4Addr::LOCALHOST]);
}

#[test]
fn durations_are_seconds_and_nanoseconds() {
    for duration in [
        Duration::ZERO,
        Duration::MAX,
        Duration::new(0x0102_0304_0506_0708, 999_999_999),
        Duration::from_nanos(1),
    ] {
        let fixed = FixedDuration::from(duration);
        assert_eq!((fixed.get(), Duration::from(fixed)), (duration, duration));
        assert_eq!(format!("{fixed:?}"), format!("{duration:?}"));
        is_packed_as(fixed, (duration.as_secs(), duration.subsec_nanos()));
    }
    assert!(FixedDuration::new(Duration::new(1, 2)) < FixedDuration::new(Duration::new(2, 1)));
    for nanos in [1_000_000_000, u32::MAX] {
        let mut kept = [FixedDuration::new(Duration::from_secs(9))];
        let error = unpack_into(&pack(&[(7_u64, nanos)]), &mut kept).unwrap_err();
        let text =
            format!("record 0, field nanos: {nanos:#x} is not a valid nanosecond of a second");
        assert_eq!(error.to_string(), text);
        assert_eq!(kept[0].get(), Duration::from_secs(9));
    }
}

type Sixteen = (u8, u64, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, bool);

#[test]
fn tuples_have_up_to_sixteen_elements() {
    let tuple = (1_u8, 2_u16, 3_u8, 4_u32, 5_u8, 6_u16, 7_u8, 8_u64, 9_u8, 10_u8, 11_u8, 12_u8);
    assert_eq!(pack(&[tuple]).len(), 8 + 4 + 4 + 8);
    let sixteen: Sixteen = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, true);
    let bytes = pack(&[sixteen]);
    assert_eq!(bytes[0], 1);
    assert_eq!(bytes[1..9], 2_u64.to_ne_bytes());
    assert_eq!(bytes[9..], [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1]);
    let again = unpack::<Sixteen>(&bytes).unwrap();
    assert_eq!((again[0].1, again[0].14, again[0].15), (2, 15, true));
}

#[cfg(feature = "std")]
#[test]
fn times_and_socket_addresses() {
    use dtype_runtime::time::{Milliseconds, Nanoseconds, Seconds};
    use dtype_runtime::{Error, FixedSocketAddr, TimeSpan, Timestamp};
    use std::net::SocketAddr;
    use std::time::{Duration, SystemTime};

    let epoch = SystemTime::UNIX_EPOCH;
    for (time, seconds, millis) in [
        (epoch, 0, 0),
        (epoch + Duration::from_millis(1_999), 1, 1_999),
        // The count is rounded down before 1970, too.
        (epoch - Duration::from_millis(1), -1, -1),
        (epoch - Duration::from_secs(2), -2, -2_000),
        (epoch - Duration::from_micros(2_000_001), -3, -2_001),
    ] {
        assert_eq!(Timestamp::<Seconds>::try_from(time).unwrap().count(), seconds);
        let exact = Timestamp::<Milliseconds>::try_from(time).unwrap();
        assert_eq!(exact.count(), millis);
        let back = SystemTime::try_from(exact).unwrap();
        assert_eq!(Timestamp::<Milliseconds>::try_from(back).unwrap(), exact);
    }
    let far = epoch + Duration::from_secs(1 << 40);
    let error = Timestamp::<Nanoseconds>::try_from(far).unwrap_err();
    assert_eq!(error, Error::TimeRange { unit: "ns" });
    assert!(TimeSpan::<Seconds>::try_from(Duration::MAX).is_err());
    assert!(Duration::try_from(TimeSpan::<Seconds>::new(-1)).is_err());
    let longest = TimeSpan::<Nanoseconds>::new(i64::MAX);
    assert_eq!(TimeSpan::try_from(Duration::try_from(longest).unwrap()), Ok(longest));

    for text in ["127.0.0.1:80", "[fe80::1%7]:65535", "[::]:0"] {
        let address: SocketAddr = text.parse().unwrap();
        let fixed = FixedSocketAddr::from(address);
        assert_eq!(fixed.to_string(), text);
        let mut bytes = dtype_runtime::pack(&[fixed]);
        assert_eq!(bytes.len(), 1 + 16 + 2 + 4 + 4);
        assert_eq!(
            SocketAddr::from(dtype_runtime::unpack::<FixedSocketAddr>(&bytes).unwrap()[0]),
            address
        );
        bytes[0] = 5;
        let error = dtype_runtime::unpack::<FixedSocketAddr>(&bytes).unwrap_err().to_string();
        assert_eq!(error, "record 0, field version: 0x5 is not a valid version of IP");
    }
}
