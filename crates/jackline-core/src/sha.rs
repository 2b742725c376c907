//! SHA-256 and its lowercase hexadecimal form.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

/// The first sixteen bytes of one: a key that an adversary cannot collide, at half the room.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 16]);

impl Digest {
    /// Thirty-two zero bytes: what the first record of a chain links to.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts, each preceded by its length so that no two lists collide.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The lowercase hexadecimal form.
    #[must_use]
    pub fn hex(&self) -> String {
        hex(&self.0)
    }

    /// Reads sixty-four hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        parse_hex(text).map(Self)
    }

    /// Its first half, where room counts.
    #[must_use]
    pub fn short(&self) -> Key {
        let mut short = [0; 16];
        short.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        Key(short)
    }
}

/// Reads exactly the lowercase hexadecimal digits of so many bytes.
pub(crate) fn parse_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

/// The lowercase hexadecimal digits of some bytes.
pub(crate) fn hex<const N: usize>(bytes: &[u8; N]) -> String {
    shown(&digits(bytes)).to_owned()
}

/// The same where no memory is to be asked for: an event has dozens of them.
fn digits<const N: usize>(bytes: &[u8; N]) -> [[u8; 2]; N] {
    let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
    bytes.map(|byte| [digit(byte >> 4), digit(byte & 0x0f)])
}

fn shown<const N: usize>(digits: &[[u8; 2]; N]) -> &str {
    str::from_utf8(digits.as_flattened()).unwrap_or_default()
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Both are hexadecimal where people read them, and bytes where they do not.
macro_rules! shown_as_hex {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(shown(&digits(&self.0)))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(shown(&digits(&self.0)))
                } else {
                    serializer.serialize_bytes(&self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if !deserializer.is_human_readable() {
                    let bytes = <&[u8]>::deserialize(deserializer)?;
                    return bytes.try_into().map(Self).map_err(|_| D::Error::custom("expected so many bytes"));
                }
                let text = String::deserialize(deserializer)?;
                parse_hex(&text).map(Self).ok_or_else(|| D::Error::custom("expected hexadecimal digits"))
            }
        }
    };
}

shown_as_hex!(Digest);
shown_as_hex!(Key);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_reads_back() {
        let digest = Digest::of(b"abc");
        assert_eq!(digest.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::parse(&digest.hex()), Some(digest));
        assert_eq!(Digest::parse("00"), None);
        assert_eq!(Digest::parse(&"G".repeat(64)), None);
    }

    #[test]
    fn people_read_digits_and_caches_read_bytes() {
        let (digest, key) = (Digest::of(b"abc"), Digest::of(b"abc").short());
        assert_eq!(serde_json::to_string(&key).unwrap(), "\"ba7816bf8f01cfea414140de5dae2223\"");
        assert_eq!(serde_json::from_str::<Key>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
        assert_eq!(serde_json::from_str::<Digest>(&serde_json::to_string(&digest).unwrap()).unwrap(), digest);
        assert!(serde_json::from_str::<Key>("\"ba\"").is_err());
        let bytes = postcard::to_stdvec(&(digest, key)).unwrap();
        assert_eq!(bytes.len(), 50);
        assert_eq!(postcard::from_bytes::<(Digest, Key)>(&bytes).unwrap(), (digest, key));
    }
}
