// Shows the page anew when something has changed. Without scripts the page loads itself every ten seconds.
"use strict";
const events = new EventSource("/api/v1/events");
const focusable = (main) => [...main.querySelectorAll("a, button, [tabindex]")];
events.addEventListener("status", async () => {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  const main = document.querySelector("main");
  if (fresh.innerHTML === main.innerHTML) return;
  // Whoever is at the keyboard stays where they are, and so does what was scrolled.
  const at = focusable(main).indexOf(document.activeElement);
  const scrolled = [...main.querySelectorAll(".wide")].map((wide) => wide.scrollLeft);
  main.replaceWith(fresh);
  focusable(fresh)[at]?.focus({ preventScroll: true });
  fresh.querySelectorAll(".wide").forEach((wide, index) => { wide.scrollLeft = scrolled[index] ?? 0; });
});
