// The engine from the page's side: questions as promises, over a worker that can be ended and started again.

/** Where the module and the worker's script come from; the page in one file brings both along. */
const parts = globalThis.tapewiseParts ?? {
  module: () => fetch("tapewise.wasm").then((response) => response.arrayBuffer()),
  worker: () => new Worker("worker.js"),
};

export class Engine {
  #compiled;
  #worker;
  #waiting = new Map();
  #next = 0;

  /** Starts a worker with nothing read. Whatever was asked before gets no answer. */
  async start() {
    this.#worker?.terminate();
    for (const { reject } of this.#waiting.values()) reject(new Stopped());
    this.#waiting.clear();
    this.#compiled ??= WebAssembly.compile(await parts.module());
    const module = await this.#compiled;
    const worker = parts.worker();
    this.#worker = worker;
    await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message || "the worker could not start"));
      worker.onmessage = ({ data }) => (data.ready ? resolve() : this.#take(data));
      worker.postMessage({ module });
    });
  }

  #take({ id, answer }) {
    const { resolve, reject } = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (answer.is === "error") reject(Object.assign(new Error(answer.error), { fatal: answer.fatal }));
    else resolve(answer);
  }

  /** Lets the module read these files, which it knows by their numbers from 0. */
  give(files) {
    this.#worker.postMessage({ files });
  }

  /** Asks a question, see `ask.rs`; rejects with what went wrong, in words. */
  ask(question) {
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
