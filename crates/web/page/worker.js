// The engine on a thread of its own. A long search is stopped by ending the thread: nothing here waits for messages.
// Messages in: {module} once, {files} once for each choice of files, then {id, question}; out: {id, answer}, and
// {progress} while a large file is read.

const files = [];

/** Bytes after which the page hears how far a file is read. */
const STEP = 16e6;
/** A module that stops when it has more memory than this did not get what it asked for: it can have 4 GB at most. */
const FULL = 1.5e9;
let engine;

/** What the module may ask of the page: to read from a file that was chosen. */
const page = {
  read_file(file, offset, pointer, length) {
    try {
      const piece = files[file].slice(offset, offset + length);
      const bytes = new Uint8Array(new FileReaderSync().readAsArrayBuffer(piece));
      new Uint8Array(engine.memory.buffer, pointer >>> 0, bytes.length).set(bytes);
      const after = offset + bytes.length;
      if (Math.floor(after / STEP) > Math.floor(offset / STEP)) self.postMessage({ progress: { file, offset: after } });
      return bytes.length;
    } catch {
      return -1;
    }
  },
};

function ask(question) {
  const text = new TextEncoder().encode(JSON.stringify(question));
  const pointer = engine.take(text.length) >>> 0;
  new Uint8Array(engine.memory.buffer, pointer, text.length).set(text);
  const packed = BigInt.asUintN(64, engine.answer(pointer, text.length));
  const at = Number(packed >> 32n);
  const length = Number(packed & 0xffffffffn);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length)));
  engine.give_back(at, length);
  return answer;
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    engine = (await WebAssembly.instantiate(data.module, { page })).exports;
    self.postMessage({ ready: true });
  } else if (data.files) {
    files.push(...data.files);
  } else {
    let answer;
    try {
      answer = ask(data.question);
    } catch (error) {
      // A module that came to a stop cannot go on; the page starts another one.
      const why =
        engine.memory.buffer.byteLength > FULL
          ? "these files need more memory than a browser gives to a page. The command line has no such limit"
          : `the engine stopped (${error.message}). Please report what you did`;
      answer = { is: "error", error: why, fatal: true };
    }
    self.postMessage({ id: data.id, answer });
  }
};
