//! Values as both databases keep them, and ours made of them and back.

use crate::catalogue::{
    CacheKey, CatalogueError, Cause, CopyState, FileId, FileState, Outage, RequestId, RequestKind,
    RequestState, Resource, Result, VolumeId, WriteId,
};
use crate::record::{VolumeFormat, VolumeState};
use crate::sums::Kind;

/// A value of a column or a parameter. Truths are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A number.
    Integer(i64),
    /// Words.
    Text(&'a str),
    /// Bytes, as of a path.
    Bytes(&'a [u8]),
}

/// What can be a parameter.
pub trait ToValue {
    /// It as the databases keep it.
    fn to_value(&self) -> Result<Value<'_>>;
}

/// What a column can be read as.
pub trait FromValue<'a>: Sized {
    /// It from what the databases keep.
    fn from_value(value: Value<'a>) -> Result<Self>;
}

fn not_ours(value: Value<'_>) -> CatalogueError {
    CatalogueError::Damaged(format!("it holds a value that cannot be, {value:?}"))
}

impl<'a> FromValue<'a> for Value<'a> {
    fn from_value(value: Value<'a>) -> Result<Self> {
        Ok(value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Result<Value<'_>> {
        (**self).to_value()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Result<Value<'_>> {
        self.as_ref().map_or(Ok(Value::Null), ToValue::to_value)
    }
}

impl<'a, T: FromValue<'a>> FromValue<'a> for Option<T> {
    fn from_value(value: Value<'a>) -> Result<Self> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// Whole numbers of any width.
macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl ToValue for $integer {
            fn to_value(&self) -> Result<Value<'_>> {
                let number = i64::try_from(*self).map_err(|_| CatalogueError::NumberTooLarge)?;
                Ok(Value::Integer(number))
            }
        }
        impl FromValue<'_> for $integer {
            fn from_value(value: Value<'_>) -> Result<Self> {
                let Value::Integer(number) = value else { return Err(not_ours(value)) };
                <$integer>::try_from(number).map_err(|_| not_ours(value))
            }
        }
    )*};
}

integers!(i64, u64, u32, u16, u8);

impl ToValue for bool {
    fn to_value(&self) -> Result<Value<'_>> {
        Ok(Value::Integer(i64::from(*self)))
    }
}

impl FromValue<'_> for bool {
    fn from_value(value: Value<'_>) -> Result<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl ToValue for str {
    fn to_value(&self) -> Result<Value<'_>> {
        Ok(Value::Text(self))
    }
}

impl ToValue for String {
    fn to_value(&self) -> Result<Value<'_>> {
        Ok(Value::Text(self))
    }
}

impl<'a> FromValue<'a> for &'a str {
    fn from_value(value: Value<'a>) -> Result<Self> {
        match value {
            Value::Text(words) => Ok(words),
            value => Err(not_ours(value)),
        }
    }
}

impl FromValue<'_> for String {
    fn from_value(value: Value<'_>) -> Result<Self> {
        <&str>::from_value(value).map(str::to_owned)
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Result<Value<'_>> {
        Ok(Value::Bytes(self))
    }
}

impl ToValue for Vec<u8> {
    fn to_value(&self) -> Result<Value<'_>> {
        Ok(Value::Bytes(self))
    }
}

impl<'a> FromValue<'a> for &'a [u8] {
    fn from_value(value: Value<'a>) -> Result<Self> {
        match value {
            Value::Bytes(bytes) => Ok(bytes),
            value => Err(not_ours(value)),
        }
    }
}

impl FromValue<'_> for Vec<u8> {
    fn from_value(value: Value<'_>) -> Result<Self> {
        <&[u8]>::from_value(value).map(<[u8]>::to_vec)
    }
}

/// Numbers of ours are integers in the database.
macro_rules! numbers {
    ($($number:ident($inner:ty)),*) => {$(
        impl ToValue for $number {
            fn to_value(&self) -> Result<Value<'_>> {
                self.0.to_value()
            }
        }
        impl FromValue<'_> for $number {
            fn from_value(value: Value<'_>) -> Result<Self> {
                <$inner>::from_value(value).map($number)
            }
        }
    )*};
}

numbers!(
    FileId(i64),
    VolumeId(i64),
    WriteId(i64),
    RequestId(i64),
    CacheKey(u64)
);

/// States and kinds are their names in the database.
macro_rules! words {
    ($($word:ident),*) => {$(
        impl ToValue for $word {
            fn to_value(&self) -> Result<Value<'_>> {
                self.name().to_value()
            }
        }
        impl FromValue<'_> for $word {
            fn from_value(value: Value<'_>) -> Result<Self> {
                let name = <&str>::from_value(value)?;
                let found = $word::ALL.into_iter().find(|word| word.name() == name);
                found.ok_or_else(|| not_ours(value))
            }
        }
    )*};
}

words!(
    VolumeFormat,
    VolumeState,
    FileState,
    CopyState,
    RequestKind,
    RequestState,
    Cause,
    Kind,
    Outage,
    Resource
);
