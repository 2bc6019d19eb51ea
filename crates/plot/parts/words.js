// Numbers in words, as the command line says them.

/** `1h24`, `11m05`, `45 s`. */
export function duration(us) {
  const seconds = Math.round(us / 1e6);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const two = (number) => String(number).padStart(2, "0");
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}`;
  const rounded = Math.round(seconds / 60);
  return `${Math.floor(rounded / 60)}h${two(rounded % 60)}`;
}

/** `914 GB`: three digits that count. */
export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  while (count >= 999.5 && at + 1 < units.length) {
    count /= 1000;
    at += 1;
  }
  return `${at ? Number(count.toPrecision(3)) : count} ${units[at]}`;
}

/** `19 km`, `840 m`. */
export function metres(count) {
  return count >= 9950
    ? `${Math.round(count / 1000)} km`
    : count >= 1000
      ? `${(count / 1000).toFixed(1)} km`
      : `${Math.round(count)} m`;
}

/** `1 file`, `2 files`. */
export const counted = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

/** An element with attributes and children; text is never taken for markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Lets the reader save a text. */
export function download(name, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text])), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}
