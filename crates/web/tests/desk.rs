//! The page's questions, without a browser.

use serde_json::{Value, json};
use std::io::Cursor;
use tapewise_web::desk::{Desk, Reader};

/// A volume with files of 100 blocks, each `gap` blocks after the last.
fn index(volume: &str, names: &[&str], gap: u64) -> String {
    let file = |(number, name): (u64, &&str)| {
        let bytes = 100 * 524_288;
        let start = 10 + number * gap;
        format!(
            "<file><name>{name}</name><length>{bytes}</length><extentinfo><extent><fileoffset>0</fileoffset>\
             <partition>b</partition><startblock>{start}</startblock><byteoffset>0</byteoffset>\
             <bytecount>{bytes}</bytecount></extent></extentinfo></file>"
        )
    };
    let files: String = (0..).zip(names).map(file).collect();
    format!(
        "<ltfsindex version=\"2.4.0\"><volumeuuid>{volume}-uuid</volumeuuid>\
         <directory><name>{volume}</name><contents>{files}</contents></directory></ltfsindex>"
    )
}

/// A page with files, and what it says to questions.
struct Page {
    desk: Desk,
    files: Vec<String>,
}

impl Page {
    fn ask(&mut self, question: &Value) -> Value {
        let files = self.files.clone();
        let open = move |file: u32| Box::new(Cursor::new(files[file as usize].clone())) as Reader;
        let answer = self.desk.answer(question.to_string().as_bytes(), &open);
        serde_json::from_slice(&answer).expect("JSON")
    }

    fn with(files: &[(&str, String)]) -> (Page, Vec<Value>) {
        let mut page = Page {
            desk: Desk::default(),
            files: files.iter().map(|(_, text)| text.clone()).collect(),
        };
        let read = files.iter().enumerate();
        let read: Vec<Value> = read
            .map(|(file, (name, _))| page.ask(&json!({"ask": "read", "file": file, "name": name})))
            .collect();
        (page, read)
    }

    fn place(&mut self) -> Value {
        self.ask(&json!({
            "ask": "place", "drive": "lto8", "block_bytes": 524_288, "ignore_missing": false, "unload": false
        }))
    }
}

#[test]
fn names_are_found_on_two_tapes_and_each_gets_its_order_and_its_turn() {
    let (mut page, read) = Page::with(&[
        ("A.xml", index("A", &["a1", "a2", "a3"], 4_000_000)),
        ("B.xml", index("B", &["b1", "b2", "b3"], 50)),
        ("list.txt", "a3\n/Volumes/B/b2\na1\nb1\nb3\n".to_owned()),
    ]);
    let kinds: Vec<&str> = read
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["index", "index", "names"]);
    let placed = page.place();
    assert_eq!(placed["is"], "placed", "{placed}");
    let tapes: Vec<(&str, u64)> = placed["tapes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tape| {
            (
                tape["title"].as_str().unwrap(),
                tape["files"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(tapes, [("A", 2), ("B", 3)]);
    for tape in 0..2 {
        for order in ["fifo", "sort", "cta", "best"] {
            let found = page.ask(&json!({"ask": "order", "tape": tape, "order": order, "seed": 1}));
            assert_eq!(found["is"], "order", "{found}");
            assert!(found["worst_us"].as_i64() >= found["total_us"].as_i64());
        }
        let path = page.ask(&json!({"ask": "path", "tape": tape, "order": "best"}));
        let steps = path["kinds"].as_str().unwrap().len();
        assert_eq!(path["begin_us"].as_array().unwrap().len(), steps + 1);
        assert_eq!(path["lpos"].as_array().unwrap().len(), 2 * steps);
        // What shares blocks is read at once, and each file counts.
        let read = path["read"].as_array().unwrap().last().cloned();
        assert_eq!(read, Some(placed["tapes"][tape]["files"].clone()), "{path}");
    }
    let rota = page.ask(&json!({"ask": "rota", "drives": 2}));
    assert_eq!(rota["turns"].as_array().unwrap().len(), 2);
    let script = page.ask(&json!({
        "ask": "write", "tape": 0, "order": "best", "format": "script", "from": "/mnt", "into": "out"
    }));
    assert!(script["text"].as_str().unwrap().contains("a3"), "{script}");
}

#[test]
fn the_plan_is_what_the_facade_gives() {
    let csv =
        "id,start_block,block_count\na,9000000,2000\nb,40000,2000\nc,700000,2000\nd,12000000,100\n";
    let (mut page, _) = Page::with(&[("list.csv", csv.to_owned())]);
    page.place();
    page.ask(&json!({"ask": "order", "tape": 0, "order": "best", "seed": 7}));
    let text = page.ask(&json!({
        "ask": "write", "tape": 0, "order": "best", "format": "json", "from": "", "into": ""
    }));

    let source = tapewise::batch::Source::recognise("list.csv", csv.as_bytes(), None).unwrap();
    let batch = source.requests(Some(524_288)).unwrap();
    let drive = tapewise::model::profile::find("lto8").unwrap();
    let cartridge = tapewise::Cartridge::new(drive).unwrap();
    let placed = cartridge
        .place(batch, &tapewise::Placement::default())
        .unwrap();
    let effort = tapewise::Effort {
        seed: 7,
        ..tapewise::Effort::usual()
    };
    let found = placed.search(&tapewise::Goal::default(), &effort).unwrap();
    let mut plan = Vec::new();
    placed
        .document(&found, &effort)
        .to_writer(&mut plan)
        .unwrap();
    assert_eq!(text["text"].as_str().unwrap().as_bytes(), plan);
}

#[test]
fn what_is_wrong_comes_back_in_words() {
    let bomb =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ltfsindex>&b;</ltfsindex>";
    for (name, text, words) in [
        (
            "cut.xml",
            "<?xml version=\"1.0\"?><ltfsindex version=\"2.4.0\"><directory>",
            "cut.xml",
        ),
        ("bomb.xml", bomb, "bomb.xml"),
        ("empty.csv", "", ""),
    ] {
        let (mut page, read) = Page::with(&[(name, text.to_owned())]);
        let is_refused = read[0]["is"] == "error" || page.place()["is"] == "error";
        assert!(is_refused, "{name}: {read:?}");
        assert!(
            read[0]["error"]
                .as_str()
                .unwrap_or_default()
                .contains(words),
            "{name}: {read:?}"
        );
    }
    let (mut page, _) = Page::with(&[
        ("A.xml", index("A", &["clip_one.mov"], 10)),
        ("list.txt", "clip_0ne.mov\n".to_owned()),
    ]);
    let refused = page.place();
    assert!(
        refused["error"].as_str().unwrap().contains("clip_one.mov"),
        "{refused}"
    );
    assert_eq!(
        page.ask(&json!({"ask": "order", "tape": 5, "order": "best", "seed": 1}))["is"],
        "error"
    );
    assert_eq!(page.ask(&json!({"ask": "nothing"}))["is"], "error");
}
