// A made-up LTO-8 tape of camera clips, and a list of 200 of them: the same each time.

/** The index and the list, as files. */
export function example() {
  let state = 20260101;
  const random = (below) => {
    // The minimal standard generator: this is an example, not a study.
    state = (state * 48271) % 2147483647;
    return state % below;
  };
  const block = 524288;
  let next = 5;
  const clips = [];
  for (let number = 1; number <= 2400; number += 1) {
    const length = 500_000_000 + random(8_500_000) * 1000;
    const blocks = Math.ceil(length / block);
    clips.push({
      name: `A${String(100 + Math.floor(number / 40))}_C${String(number % 40).padStart(3, "0")}.mov`,
      length,
      start: next,
    });
    next += blocks;
  }
  const files = clips.map(
    ({ name, length, start }, number) =>
      `<file><name>${name}</name><length>${length}</length><fileuid>${number + 2}</fileuid>` +
      `<extentinfo><extent><fileoffset>0</fileoffset><partition>b</partition><startblock>${start}</startblock>` +
      `<byteoffset>0</byteoffset><bytecount>${length}</bytecount></extent></extentinfo></file>`,
  );
  const index =
    `<?xml version="1.0" encoding="UTF-8"?><ltfsindex version="2.4.0"><creator>made up</creator>` +
    `<volumeuuid>00000000-0000-4000-8000-000000000001</volumeuuid><generationnumber>1</generationnumber>` +
    `<directory><name>SHOW_A</name><contents>${files.join("")}</contents></directory></ltfsindex>`;
  const wanted = new Set();
  while (wanted.size < 200) wanted.add(clips[random(clips.length)].name);
  return [new File([index], "SHOW_A.xml"), new File([[...wanted].join("\n") + "\n"], "clips.txt")];
}
