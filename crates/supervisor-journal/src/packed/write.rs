//! Values into bytes, with serde.

use std::fmt;
use std::hash::Hasher as _;

use rustc_hash::FxHasher;
use serde::ser::{self, Error as _, Serialize, Serializer};

use super::token::{
    BELOW_ZERO, DOUBLE, END, FALSE, KNOWN_TEXT, LIST, LONG_TEXT, MAP, NEAR, NULL, SHORT, SHORT_TEXT, TRUE,
    WHOLE,
};

/// Texts whose places are remembered at a time: names of fields and kinds, and the ids that are spoken of at the moment. Two
/// of the same remainder are written out in turn.
const SEEN: usize = 256;

/// Values one after the other.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    /// By its hash, the place of a text; 0 where there is none.
    seen: Box<[u16; SEEN]>,
}

impl Writer {
    /// Values after these bytes, of which there is at least one.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, seen: Box::new([0; SEEN]) }
    }

    /// The value as a whole, or nothing of it.
    pub(super) fn push(&mut self, value: &impl Serialize) -> bool {
        let before = self.bytes.len();
        let is_written = value.serialize(&mut *self).is_ok();
        if !is_written {
            self.bytes.truncate(before);
        }
        is_written
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        let Some(length) = Some(text.len()).filter(|length| *length < SHORT) else {
            self.bytes.push(LONG_TEXT);
            self.number(text.len() as u64);
            return self.bytes.extend_from_slice(text.as_bytes());
        };
        let slot = &mut self.seen[hash(text) % SEEN];
        let place = usize::from(*slot);
        let first = SHORT_TEXT | length as u8;
        let is_there = |there: &[u8]| there[0] == first && there[1..].starts_with(text.as_bytes());
        if place != 0 && self.bytes.get(place..).is_some_and(|there| !there.is_empty() && is_there(there)) {
            return self.bytes.extend_from_slice(&[KNOWN_TEXT | (place >> 8) as u8, place as u8]);
        }
        if self.bytes.len() < NEAR {
            *slot = self.bytes.len() as u16;
        }
        self.bytes.push(first);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

fn hash(text: &str) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish() as usize
}

type Done = Result<(), fmt::Error>;

macro_rules! whole {
    ($($name:ident($type:ty)),+) => {
        $(fn $name(self, value: $type) -> Done {
            self.bytes.push(WHOLE);
            self.number(value.into());
            Ok(())
        })+
    };
}

macro_rules! signed {
    ($($name:ident($type:ty)),+) => {
        $(fn $name(self, value: $type) -> Done {
            self.serialize_i64(value.into())
        })+
    };
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    whole!(serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64));
    signed!(serialize_i8(i8), serialize_i16(i16), serialize_i32(i32));

    fn serialize_i64(self, value: i64) -> Done {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => {
                self.bytes.push(BELOW_ZERO);
                self.number(!value as u64);
                Ok(())
            }
        }
    }

    fn serialize_bool(self, value: bool) -> Done {
        self.bytes.push(if value { TRUE } else { FALSE });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.bytes.push(DOUBLE);
        self.bytes.extend_from_slice(&value.to_be_bytes());
        Ok(())
    }

    fn serialize_char(self, value: char) -> Done {
        self.text(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Done {
        self.text(value);
        Ok(())
    }

    /// No event holds any.
    fn serialize_bytes(self, _: &[u8]) -> Done {
        Err(fmt::Error::custom("bytes"))
    }

    fn serialize_none(self) -> Done {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.bytes.push(NULL);
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        self.bytes.push(MAP);
        self.text(variant);
        value.serialize(&mut *self)?;
        self.bytes.push(END);
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin(self, LIST))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin(self, LIST))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin(self, LIST))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin_variant(self, variant, LIST))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin(self, MAP))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin(self, MAP))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Parts<'a>, fmt::Error> {
        Ok(Parts::begin_variant(self, variant, MAP))
    }
}

/// A list or a map that is being written.
pub(super) struct Parts<'a> {
    writer: &'a mut Writer,
    /// A variant's are in a map of their own.
    ends: &'static [u8],
}

impl<'a> Parts<'a> {
    fn begin(writer: &'a mut Writer, token: u8) -> Self {
        writer.bytes.push(token);
        Self { writer, ends: &[END] }
    }

    fn begin_variant(writer: &'a mut Writer, variant: &str, token: u8) -> Self {
        writer.bytes.push(MAP);
        writer.text(variant);
        writer.bytes.push(token);
        Self { writer, ends: &[END, END] }
    }

    fn part<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut *self.writer)
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Done {
        self.writer.text(key);
        self.part(value)
    }

    fn close(self) -> Done {
        self.writer.bytes.extend_from_slice(self.ends);
        Ok(())
    }
}

macro_rules! parts {
    ($($trait:ident::$part:ident),+) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $part<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.part(value)
            }

            fn end(self) -> Done {
                self.close()
            }
        })+
    };
}

macro_rules! fields {
    ($($trait:ident),+) => {
        $(impl ser::$trait for Parts<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
                self.field(key, value)
            }

            fn end(self) -> Done {
                self.close()
            }
        })+
    };
}

parts! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.part(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.part(value)
    }

    fn end(self) -> Done {
        self.close()
    }
}
