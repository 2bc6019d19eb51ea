//! Runs the program in a directory of its own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

pub const TAPEWISE: &str = env!("CARGO_BIN_EXE_tapewise");

/// Eight clips on a cartridge of one partition.
pub const CLIPS: &str = include_str!("snapshots/input/clips.csv");

/// What most orders of [`CLIPS`] begin with.
pub const ORDER: &str = "order --profile lto8 --block-size 524288";

/// A directory in which the program runs.
pub struct Desk {
    directory: TempDir,
}

/// What a run left behind.
pub struct Ran {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ran {
    fn new(output: Output, what: &str) -> Ran {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        let code = code.unwrap_or_else(|| panic!("{what}: {}\n{err}", output.status));
        for word in ["panicked", "RUST_BACKTRACE", "overflow"] {
            assert!(!err.contains(word), "{what}: {err}");
        }
        let out = output.stdout;
        Ran { code, out, err }
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text on standard output")
    }

    pub fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).expect("JSON on standard output")
    }
}

impl Desk {
    pub fn new() -> Desk {
        let directory = tempfile::tempdir().expect("a directory");
        Desk { directory }
    }

    /// With [`CLIPS`] as `clips.csv`.
    pub fn with_clips() -> Desk {
        let desk = Desk::new();
        desk.put("clips.csv", CLIPS);
        desk
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), content).expect("a file written");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file of text")
    }

    /// Names in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("a directory");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("a name in UTF-8")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(TAPEWISE);
        command.args(args).current_dir(self.path());
        command.env_remove("RUST_BACKTRACE");
        // Nobody's own defaults.
        command.env("TAPEWISE_CONFIG", "");
        // Every column of every table.
        command.env("COLUMNS", "300");
        command.env_remove("TAPEWISE_PROFILE");
        command.env_remove("TAPEWISE_ARCHIVE");
        command
    }

    /// Runs the program; arguments have blanks between them.
    pub fn run(&self, args: &str) -> Ran {
        self.run_with("", args)
    }

    /// The same with bytes on standard input.
    pub fn run_with(&self, input: impl AsRef<[u8]>, args: &str) -> Ran {
        let args: Vec<&str> = args.split_whitespace().collect();
        self.run_args(input.as_ref(), &args)
    }

    /// The same with arguments that may hold blanks.
    pub fn run_args(&self, input: &[u8], args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        // A program that gives up early closes the pipe: no error of the test.
        let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("the program ends");
        feed.join().expect("the input is fed");
        Ran::new(output, &args.join(" "))
    }

    /// Starts the program and kills it after so long, unless it has ended before; what it had said, and whether
    /// it had ended.
    pub fn killed_after(&self, time: std::time::Duration, args: &str) -> (String, bool) {
        let args: Vec<&str> = args.split_whitespace().collect();
        let mut command = self.command(&args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        std::thread::sleep(time);
        let has_ended = child.try_wait().expect("a process").is_some();
        child.kill().expect("killed");
        let output = child.wait_with_output().expect("the program ends");
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            has_ended,
        )
    }

    /// Starts the program, which runs until the test ends it; what it prints comes through a pipe.
    pub fn start(&self, args: &str, variables: &[(&str, &str)]) -> std::process::Child {
        let args: Vec<&str> = args.split_whitespace().collect();
        let mut command = self.command(&args);
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        command.spawn().expect("the program starts")
    }

    /// Runs a line of shell with the program as `$TAPEWISE`.
    pub fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.path());
        command.env("TAPEWISE", TAPEWISE).stdin(Stdio::null());
        command.env("COLUMNS", "300");
        command.env("TAPEWISE_CONFIG", "");
        command.env_remove("RUST_BACKTRACE");
        Ran::new(command.output().expect("a shell"), line)
    }

    /// Runs what has to succeed.
    pub fn done(&self, args: &str) -> Ran {
        self.done_with("", args)
    }

    /// The same with bytes on standard input.
    pub fn done_with(&self, input: impl AsRef<[u8]>, args: &str) -> Ran {
        let ran = self.run_with(input, args);
        assert_eq!(ran.code, 0, "{args}: {}", ran.err);
        ran
    }

    /// Runs what has to be refused as bad input: words on standard error, nothing else anywhere.
    pub fn refused(&self, args: &str, words: &[&str]) -> Ran {
        self.refused_with("", args, words)
    }

    /// The same with bytes on standard input.
    pub fn refused_with(&self, input: impl AsRef<[u8]>, args: &str, words: &[&str]) -> Ran {
        let before = self.names();
        let ran = self.run_with(input, args);
        assert_eq!(ran.code, 2, "{args}: {}", ran.err);
        assert_eq!(ran.text(), "", "{args}");
        for word in words {
            assert!(
                ran.err.contains(word),
                "{args}: {word:?} not in\n{}",
                ran.err
            );
        }
        assert_eq!(self.names(), before, "{args}: files were left behind");
        ran
    }

    /// The plan of an order.
    pub fn plan(&self, args: &str) -> serde_json::Value {
        self.done(&format!("{args} --json --quiet")).json()
    }
}

/// A file of the repository, as a path for a command line.
pub fn fixture(name: &str) -> String {
    tapewise_house::fixture(name)
        .into_os_string()
        .into_string()
        .expect("a path in UTF-8")
}

/// The steps of a plan that do something.
pub fn steps<'a>(plan: &'a serde_json::Value, action: &str) -> Vec<&'a serde_json::Value> {
    let steps = plan["steps"].as_array().expect("steps");
    steps
        .iter()
        .filter(|step| step["action"] == action)
        .collect()
}

/// A desk on which the demo ran, and what it said. It runs once for all tests that look at it.
pub fn demo() -> (&'static Desk, &'static str) {
    static DEMO: OnceLock<(Desk, String)> = OnceLock::new();
    let (desk, said) = DEMO.get_or_init(|| {
        let desk = Desk::new();
        let said = desk.done("demo").text().to_owned();
        (desk, said)
    });
    (desk, said)
}
