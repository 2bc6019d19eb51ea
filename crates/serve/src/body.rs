//! Bodies of calls: JSON, read strictly, with errors in words that name the place.
//!
//! A key that a call does not have is refused: if it were passed over, whoever has misspelt one would never hear of it.

use crate::once::Once;
use crate::problem::Problem;
use serde_json::error::Category;
use serde_json::{Map, Value};

/// What a call is sent.
pub(crate) trait Body: Sized {
    /// A body that is right, for whoever sent a wrong one.
    const EXAMPLE: &'static str;

    /// What an object says, or what is wrong with it.
    fn of(object: Object) -> Result<Self, String>;
}

/// Reads a body.
pub(crate) fn parse<T: Body>(body: &[u8]) -> Result<T, Problem> {
    let read = value(body).and_then(|value| T::of(Object::at("The body".to_owned(), value)?));
    read.map_err(|what| Problem::bad(format!("{what}. A right body: {}", T::EXAMPLE)))
}

fn value(body: &[u8]) -> Result<Value, String> {
    if body.trim_ascii().is_empty() {
        return Err("The body is empty".to_owned());
    }
    let read = serde_json::from_slice(body).map(|Once(value)| value);
    read.map_err(|error| match error.classify() {
        Category::Eof => "The body is no JSON: it ends too early".to_owned(),
        Category::Data => format!("In the body {error}"),
        _ => format!("The body is no JSON: {error}"),
    })
}

/// An object, and where in the body it stands.
pub(crate) struct Object {
    place: String,
    fields: Map<String, Value>,
}

impl Object {
    fn at(place: String, value: Value) -> Result<Object, String> {
        match value {
            Value::Object(fields) => Ok(Object { place, fields }),
            other => Err(wrong(&place, &other, "an object")),
        }
    }

    /// Where a key of it stands.
    fn place_of(&self, key: &str) -> String {
        match self.place.strip_suffix('`') {
            Some(outer) => format!("{outer}.{key}`"),
            None => format!("`{key}`"),
        }
    }

    /// The same, if it has no other keys than these.
    pub fn only(self, keys: &[&str]) -> Result<Object, String> {
        let mut unknown = self.fields.keys();
        match unknown.find(|key| !keys.contains(&key.as_str())) {
            None => Ok(self),
            Some(key) => {
                let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
                let (place, keys) = (&self.place, keys.join(", "));
                Err(format!("{place} has the key `{key}`; the keys are {keys}"))
            }
        }
    }

    /// What a key has; null is as good as nothing.
    pub fn any(&mut self, key: &str) -> Option<Value> {
        self.fields.remove(key).filter(|value| !value.is_null())
    }

    fn needed(&mut self, key: &str) -> Result<Value, String> {
        let found = self.fields.remove(key);
        found.ok_or_else(|| format!("{} lacks the key `{key}`", self.place))
    }

    pub fn text(&mut self, key: &str) -> Result<String, String> {
        let value = self.needed(key)?;
        text(&self.place_of(key), value)
    }

    pub fn text_or_nothing(&mut self, key: &str) -> Result<Option<String>, String> {
        let value = self.any(key);
        value
            .map(|value| text(&self.place_of(key), value))
            .transpose()
    }

    /// A whole number in a range.
    pub fn number(&mut self, key: &str, least: i64, most: i64) -> Result<i64, String> {
        let value = self.needed(key)?;
        number(&self.place_of(key), &value, least, most)
    }

    fn list(&mut self, key: &str) -> Result<Vec<(String, Value)>, String> {
        match self.needed(key)? {
            Value::Array(values) => {
                let places = (0..).map(|index| format!("`{key}[{index}]`"));
                Ok(places.zip(values).collect())
            }
            other => Err(wrong(&self.place_of(key), &other, "a list")),
        }
    }

    pub fn texts(&mut self, key: &str) -> Result<Vec<String>, String> {
        let list = self.list(key)?.into_iter();
        list.map(|(place, value)| text(&place, value)).collect()
    }

    pub fn numbers(&mut self, key: &str) -> Result<Vec<i64>, String> {
        let list = self.list(key)?.into_iter();
        list.map(|(place, value)| number(&place, &value, i64::MIN, i64::MAX))
            .collect()
    }

    pub fn objects(&mut self, key: &str) -> Result<Vec<Object>, String> {
        let list = self.list(key)?.into_iter();
        list.map(|(place, value)| Object::at(place, value))
            .collect()
    }
}

fn text(place: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => without_zero(place, &text).map(|()| text),
        other => Err(wrong(place, &other, "text")),
    }
}

/// No name holds a zero byte, and a database takes none.
pub(crate) fn without_zero(place: &str, text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err(format!("{place} holds a zero byte"));
    }
    Ok(())
}

fn number(place: &str, value: &Value, least: i64, most: i64) -> Result<i64, String> {
    let number = value
        .as_i64()
        .filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let must = match (least, most) {
            (i64::MIN, i64::MAX) => "a whole number".to_owned(),
            _ => format!("a whole number from {least} to {most}"),
        };
        wrong(place, value, &must)
    })
}

/// That something at a place is of another kind.
fn wrong(place: &str, value: &Value, must: &str) -> String {
    let is = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("{place} is {is}, and must be {must}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Order {
        _file: String,
    }

    impl Body for Order {
        const EXAMPLE: &'static str = r#"{"files": [{"path": "/d"}], "priority": 1}"#;

        fn of(object: Object) -> Result<Order, String> {
            let mut object = object.only(&["files", "priority", "more"])?;
            object.number("priority", -9, 9)?;
            object.text_or_nothing("more")?;
            let mut files = object.objects("files")?.into_iter();
            let mut first = files.next().ok_or("`files` is empty")?.only(&["path"])?;
            let _file = first.text("path")?;
            Ok(Order { _file })
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_in_words() {
        for (body, words) in [
            ("", "The body is empty"),
            ("{\"files\"", "it ends too early"),
            ("{,}", "no JSON: "),
            ("[]", "The body is a list, and must be an object"),
            ("{}", "lacks the key `priority`"),
            (
                r#"{"fils": []}"#,
                "`fils`; the keys are `files`, `priority`, `more`",
            ),
            (
                r#"{"files": [], "priority": 1, "files": []}"#,
                "In the body the key `files` comes twice at line 1",
            ),
            (
                r#"{"priority": "high"}"#,
                "`priority` is text, and must be a whole number from -9 to 9",
            ),
            (r#"{"priority": 1.5}"#, "`priority` is 1.5"),
            (r#"{"priority": 10}"#, "`priority` is 10"),
            (
                r#"{"priority": 1, "files": 3}"#,
                "`files` is 3, and must be a list",
            ),
            (
                r#"{"priority": 1, "files": ["/d"]}"#,
                "`files[0]` is text, and must be an object",
            ),
            (
                r#"{"priority": 1, "files": [{"Path": "/d"}]}"#,
                "`files[0]` has the key `Path`",
            ),
            (
                r#"{"priority": 1, "files": [{"path": null}]}"#,
                "`files[0].path` is null, and must be text",
            ),
        ] {
            let problem = parse::<Order>(body.as_bytes()).expect_err(body);
            let said = problem.detail();
            assert!(said.contains(words), "{words}: {said}");
            assert!(said.ends_with(Order::EXAMPLE), "{said}");
        }
        let right = r#"{"more": null, "files": [{"path": "/d"}, 3], "priority": 1}"#;
        let wrong = parse::<Order>(right.as_bytes()).expect_err("3 is no file");
        assert!(wrong.detail().contains("`files[1]` is 3"));
        parse::<Order>(Order::EXAMPLE.as_bytes()).expect("right");
    }
}
