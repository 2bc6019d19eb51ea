// The engine from the page's side: questions as promises, over a worker that can be ended and started again.

/** Where the module and the worker's script come from; the page in one file brings both along. */
const parts = globalThis.tapewiseParts ?? {
  module: () => fetch("tapewise.wasm").then((response) => response.arrayBuffer()),
  worker: () => new Worker("worker.js"),
};

/** Compiled once, for every engine of the page. */
let compiled;

export class Engine {
  #worker;
  #started;
  #waiting = new Map();
  #next = 0;
  /** Hears how far a file is read: {file, offset}. */
  onProgress = () => {};

  /** Starts a worker with nothing read. Whatever was asked before gets no answer. */
  start() {
    this.stop();
    this.#started = this.#start();
    return this.#started;
  }

  /** Ends the worker in the middle of whatever it does: what was asked is rejected with `Stopped`. */
  stop() {
    this.#worker?.terminate();
    this.#started = undefined;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Stopped());
  }

  async #start() {
    compiled ??= parts.module().then((bytes) => WebAssembly.compile(bytes));
    const module = await compiled;
    const worker = parts.worker();
    this.#worker = worker;
    await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message || "the worker could not start"));
      worker.onmessage = ({ data }) => (data.ready ? resolve() : this.#take(data));
      worker.postMessage({ module });
    });
  }

  #take({ id, answer, progress }) {
    if (progress) return this.onProgress(progress);
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer.is === "error") reject(Object.assign(new Error(answer.error), { fatal: answer.fatal }));
    else resolve(answer);
  }

  /** Lets the module read these files, which it knows by their numbers from 0. */
  give(files) {
    this.#worker.postMessage({ files });
  }

  /** Asks a question, see `ask.rs`; rejects with what went wrong, in words. Starts the worker if need be. */
  async ask(question) {
    await (this.#started ?? this.start());
    const id = this.#next++;
    this.#worker.postMessage({ id, question });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

/** The reader ended the search. */
export class Stopped extends Error {
  constructor() {
    super("stopped");
  }
}
