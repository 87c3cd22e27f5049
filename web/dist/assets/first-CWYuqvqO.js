"use strict";
/* Before all else: the owner's choice of colours and language, from this page's own storage; and what each page shows
   first is asked for while the rest of the script is still on its way (src/api/ask.ts takes it up). */
{
  const kept = (name) => localStorage.getItem(`sisimpur.${name}`);
  if (kept("theme")) document.documentElement.dataset.theme = kept("theme");
  document.documentElement.lang = kept("language") || "en";
  const key = kept("key");
  if (key && !location.hash.startsWith("#code=")) {
    const headers = key === "cookie" ? {} : { Authorization: `Bearer ${key}` };
    window.asked = new Map(["status", "session"].map((name) => [name, fetch(`/api/v1/${name}`, { headers, cache: "no-store", redirect: "error" })]));
    for (const answer of window.asked.values()) answer.catch(() => undefined); // who takes it up tells of it
  }
}
