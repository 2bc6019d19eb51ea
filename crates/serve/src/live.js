// Shows the page anew when something has changed. Without scripts the page loads itself every ten seconds.
"use strict";
const events = new EventSource("/api/v1/events");
events.addEventListener("status", async () => {
  const answer = await fetch("/");
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.querySelector("main").replaceWith(fresh.querySelector("main"));
});
