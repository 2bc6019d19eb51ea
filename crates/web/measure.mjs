// How long the module takes with large indexes, and how much memory: `node measure.mjs MODULE`.
//
// The indexes are made up piece by piece while they are read, so that nothing of them lies on a disk or in memory.

import { readFileSync } from "node:fs";

const BLOCK = 524_288;
const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?><ltfsindex version="2.4.0"><creator>made up</creator>' +
  "<volumeuuid>00000000-0000-4000-8000-000000000001</volumeuuid><generationnumber>1</generationnumber>" +
  "<directory><name>LARGE</name><contents>";
const TAIL = "</contents></directory></ltfsindex>";

const nameOf = (number) =>
  `A${String(100 + Math.floor(number / 40))}_C${String(number % 40).padStart(3, "0")}_${number}.mov`;

/** A file of an index as LTFS writes it, dates and all: about 700 bytes. */
function entry(number) {
  const length = 10_000_000 + ((number * 7919) % 2_000_000);
  const date = "2026-01-01T00:00:00.000000000Z";
  const times = ["creationtime", "changetime", "modifytime", "accesstime", "backuptime"].map(
    (name) => `<${name}>${date}</${name}>`,
  );
  return (
    `<file><name>${nameOf(number)}</name><length>${length}</length><readonly>false</readonly>${times.join("")}` +
    `<fileuid>${number + 2}</fileuid><extentinfo><extent><fileoffset>0</fileoffset><partition>b</partition>` +
    `<startblock>${5 + number * Math.ceil(length / BLOCK)}</startblock><byteoffset>0</byteoffset>` +
    `<bytecount>${length}</bytecount></extent></extentinfo></file>\n`
  );
}

/** An index of this many files, read from the beginning on. */
function* pieces(files) {
  yield HEAD;
  for (let number = 0; number < files; number += 100) {
    yield Array.from({ length: Math.min(100, files - number) }, (_, more) => entry(number + more)).join("");
  }
  yield TAIL;
}

class Made {
  constructor(make) {
    this.make = make;
    this.size = 0;
  }

  read(offset, target) {
    if (offset === 0) [this.rest, this.kept, this.size] = [this.make(), Buffer.alloc(0), 0];
    if (offset !== this.size) throw new Error(`read at ${offset} after ${this.size}`);
    while (this.kept.length < target.length) {
      const { value, done } = this.rest.next();
      if (done) break;
      this.kept = Buffer.concat([this.kept, Buffer.from(value)]);
    }
    const length = Math.min(target.length, this.kept.length);
    this.kept.copy(target, 0, 0, length);
    this.kept = this.kept.subarray(length);
    this.size += length;
    return length;
  }
}

async function measure(files) {
  const module = readFileSync(process.argv[2]);
  const names = Array.from({ length: 200 }, (_, number) => nameOf((number * 104_729) % files));
  const given = [new Made(() => pieces(files)), new Made(() => [`${[...new Set(names)].join("\n")}\n`].values())];
  const read_file = (file, offset, pointer, length) =>
    given[file].read(offset, new Uint8Array(engine.memory.buffer, pointer >>> 0, length));
  const engine = (await WebAssembly.instantiate(module, { page: { read_file } })).instance.exports;
  const ask = (question) => {
    const text = new TextEncoder().encode(JSON.stringify(question));
    const pointer = engine.take(text.length) >>> 0;
    new Uint8Array(engine.memory.buffer, pointer, text.length).set(text);
    const packed = BigInt.asUintN(64, engine.answer(pointer, text.length));
    const [at, length] = [Number(packed >> 32n), Number(packed & 0xffffffffn)];
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length)));
    engine.give_back(at, length);
    if (answer.is === "error") throw new Error(answer.error);
    return answer;
  };
  const begun = process.cpuUsage();
  const seconds = () => (process.cpuUsage(begun).user / 1e6).toFixed(1);
  const memory = () => `${Math.round(engine.memory.buffer.byteLength / 1e6)} MB`;
  ask({ ask: "read", file: 0, name: "large.xml" });
  const [read, used] = [seconds(), memory()];
  ask({ ask: "read", file: 1, name: "names.txt" });
  ask({ ask: "place", drive: "lto9", block_bytes: null, ignore_missing: false });
  const placed = seconds();
  for (const order of ["fifo", "sort"]) ask({ ask: "order", tape: 0, order, seed: 1 });
  const first = seconds();
  for (const order of ["cta", "best"]) ask({ ask: "order", tape: 0, order, seed: 1 });
  console.log(
    `${files} files, index of ${(given[0].size / 1e6).toFixed(1)} MB: ` +
      `read after ${read} s (${used}), names found after ${placed} s, first rows ${first} s, ours ${seconds()} s of the processor; ${memory()} in all`,
  );
}

for (const files of [3_001, 200_000, 860_000]) await measure(files);
