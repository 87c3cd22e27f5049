"use strict";
/* The board's worker: it is there once somebody wants to be notified, or has installed the page.

   It keeps the shell (index.html and the files that it names) and never an answer of the API. The network is asked first,
   so no old shell is shown while the board answers; without it the page stands there and says that it is not live. */

const SHELL = "sisimpur-shell";
const ASSET = /^\/assets\/[\w.-]+$/;
const TASK = /^[a-z0-9][a-z0-9._-]{0,79}$/;

addEventListener("install", (event) => event.waitUntil(fetch("/", { cache: "no-store" }).then(keep).then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin || pathname.startsWith("/api/")) return;
  if (request.mode === "navigate") event.respondWith(shown(event));
  else if (ASSET.test(pathname)) event.respondWith(asset(request));
});

async function shown(event) {
  let answer;
  try {
    answer = await fetch(event.request);
    if (answer.ok) event.waitUntil(keep(answer.clone()));
    if (answer.status < 500) return answer; // else a proxy says that the board is not there
  } catch {
    // nobody answers
  }
  return (await caches.match("/", { cacheName: SHELL })) ?? answer ?? Response.error();
}

/** Keep the shell with all that it names, and let go of what another one named. */
async function keep(answer) {
  if (!answer.ok || answer.redirected || !(answer.headers.get("content-type") ?? "").startsWith("text/html")) return;
  const cache = await caches.open(SHELL);
  const text = await answer.clone().text();
  if ((await (await cache.match("/"))?.text()) === text) return;
  const named = [...text.matchAll(/(?:src|href)="(\/assets\/[\w.-]+)"/g)].map((found) => found[1]);
  await cache.addAll(named);
  await cache.put("/", answer);
  const old = (await cache.keys()).map((one) => new URL(one.url).pathname).filter((path) => path !== "/" && !named.includes(path));
  await Promise.all(old.map((path) => cache.delete(path)));
}

/** A file has a digest in its name: what was kept is right. */
async function asset(request) {
  const cache = await caches.open(SHELL);
  const kept = await cache.match(request, { ignoreVary: true });
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

// --- what waits for you ----------------------------------------------------------------------------------------

addEventListener("push", (event) => event.waitUntil(tell(event.data)));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** What comes again under its tag takes the place of what is there. */
function tell(data) {
  let said = {};
  try {
    said = data?.json() ?? {};
  } catch {
    // it came from nobody who knows us; a browser wants something shown
  }
  const text = (value) => (typeof value === "string" ? value.slice(0, 200) : "");
  const options = { body: text(said.body), tag: text(said.tag), lang: text(said.lang), icon: "/icon-192.png", data: text(said.task) };
  return registration.showNotification(text(said.title) || "sisimpur", options);
}

/** Open the review; nothing is decided from here. */
async function open(task) {
  const path = TASK.test(task) ? `/review/${task}` : "/";
  const pages = await clients.matchAll({ type: "window" });
  const page = pages.find((one) => one.focused) ?? pages[0];
  if (!page) return clients.openWindow(path);
  page.postMessage({ open: path });
  return page.focus().catch(() => undefined); // it was not pressed by hand
}
