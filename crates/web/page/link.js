// A small scenario in a link: behind the #, which no browser ever sends.

/** Longer links are cut by mail programs and chats. */
const LONGEST = 8000;

const through = async (bytes, stream) =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());

/** A value as text that may stand in a fragment; null if it is too long for a link. */
export async function packed(value) {
  const text = new TextEncoder().encode(JSON.stringify(value));
  const bytes = await through(text, new CompressionStream("deflate-raw"));
  const code = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  return code.length > LONGEST ? null : code;
}

/** The value again. Throws if the text was not made by `packed`. */
export async function unpacked(code) {
  if (code.length > LONGEST) throw new Error("the link is too long");
  const bytes = Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
}
