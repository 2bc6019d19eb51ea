//! JSON whose objects have each key once: of two, a reader keeps one, and whoever sent both never hears of it.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// A value with no key twice, however deep.
#[derive(Debug)]
pub(crate) struct Once(pub Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Once, D::Error> {
        input.deserialize_any(Reader).map(Once)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Once(value)) = input.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = input.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(Error::custom(format_args!("the key `{key}` comes twice")));
            }
            let Once(value) = input.next_value()?;
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_comes_twice_is_refused_and_all_else_is_read_as_ever() {
        let text =
            r#"{"a": [1, -2, 2.5, 1e300, "x", null, true, {"b": {}}], "b": 18446744073709551615}"#;
        let Once(value) = serde_json::from_str(text).expect("JSON");
        assert_eq!(value, serde_json::from_str::<Value>(text).expect("JSON"));
        for twice in [r#"{"a": 1, "a": 1}"#, r#"{"b": [{"a": 1, "\u0061": 2}]}"#] {
            let error = serde_json::from_str::<Once>(twice).expect_err(twice);
            assert!(error.to_string().contains("`a` comes twice"), "{error}");
        }
        assert!(serde_json::from_str::<Once>(&"[".repeat(1000)).is_err());
    }
}
