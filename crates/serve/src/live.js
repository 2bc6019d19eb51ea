// Shows the page anew when something has changed, and every ten seconds: ages and expected times go on by themselves.
// Without scripts the page loads itself as often.
"use strict";
const focusable = (main) => [...main.querySelectorAll("a, button, [tabindex]")];
const since = document.createElement("p");
since.className = "bad";
since.setAttribute("role", "alert");
document.querySelector("header").append(since);
let last = new Date(), asks = false;
const show = async () => {
  if (asks || document.hidden) return;
  asks = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(60000) });
    if (answer.redirected) return location.reload();
    const text = await answer.text();
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("header + main");
    // A proxy whose service is away has pages of its own.
    if (!fresh) throw answer;
    replace(document.querySelector("main"), fresh);
    last = new Date();
    since.textContent = "";
  } catch {
    since.textContent = `The service does not answer. This page is from ${last.toLocaleTimeString()}, and tries again.`;
  } finally {
    asks = false;
  }
};
const replace = (main, fresh) => {
  if (fresh.innerHTML === main.innerHTML) return;
  // Whoever is at the keyboard stays where they are, and so does what was scrolled.
  const at = focusable(main).indexOf(document.activeElement);
  const scrolled = [...main.querySelectorAll(".wide")].map((wide) => wide.scrollLeft);
  main.replaceWith(fresh);
  focusable(fresh)[at]?.focus({ preventScroll: true });
  fresh.querySelectorAll(".wide").forEach((wide, index) => { wide.scrollLeft = scrolled[index] ?? 0; });
};
// A browser gives up a stream that a proxy or a refusal has ended.
let events;
const listen = () => {
  if (events && events.readyState !== EventSource.CLOSED) return;
  events = new EventSource("api/v1/events");
  events.addEventListener("status", show);
  events.addEventListener("error", show);
};
listen();
setInterval(() => { listen(); show(); }, 10000);
document.addEventListener("visibilitychange", show);
