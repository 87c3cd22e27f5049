"use strict";
/* The board's page. It shows what /api/v1 answers, as text and never as markup, and presses the owner's buttons.
   The key lies in this page's own storage, which no other port can read; there is no cookie. */

const KEY = "sisimpur.key", API = "/api/v1/", ROWS = 50;
const main = document.getElementById("main");
const known = new Map(); // address -> {tag, value}: what was answered, and its ETag
let turn = 0; // of pages: an answer that comes after another page was opened is not shown
let answers = 0; // that were not known before

// --- asking ---------------------------------------------------------------------------------------------------

class Problem extends Error {
  constructor(status, value) {
    super(value.title || "no answer");
    this.status = status;
    this.value = value;
  }
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  const key = localStorage.getItem(KEY);
  if (key) headers.Authorization = "Bearer " + key;
  if (options.body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, { ...options, headers, cache: "no-store", redirect: "error" });
  if (answer.status === 401 && options.method !== "POST") localStorage.removeItem(KEY);
  return answer;
}

async function read(name) {
  const path = API + name, before = known.get(path);
  const answer = await ask(path, { headers: before ? { "If-None-Match": before.tag } : {} });
  if (answer.status === 304) return before;
  const value = await answer.json();
  if (!answer.ok) throw new Problem(answer.status, value);
  answers += 1;
  const found = { tag: answer.headers.get("ETag"), value };
  known.set(path, found);
  return found;
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (one) => one.toString(16).padStart(2, "0")).join("");
}

async function order(name, body, headers) {
  const answer = await ask(API + name, { method: "POST", body: JSON.stringify(body), headers });
  const value = await answer.json();
  if (!answer.ok) throw new Problem(answer.status, value);
  return value;
}

// --- making elements -------------------------------------------------------------------------------------------

function make(kind, more = {}, ...inside) {
  const made = document.createElement(kind);
  for (const [name, value] of Object.entries(more)) {
    if (name === "class") made.className = value;
    else if (name === "press") made.addEventListener("click", value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...inside.filter((one) => one !== null && one !== "" && one !== undefined));
  return made;
}

const list = (lines) => (lines.length ? make("ul", {}, ...lines.map((one) => make("li", {}, one))) : null);
const soft = (text) => (text ? make("p", { class: "soft" }, text) : null);
const dollars = (text) => (text === null || text === undefined ? "unknown" : "$" + text.slice(0, -5));
const moment = (iso) => (iso ? iso.slice(0, 16).replace("T", " ") : "");
const toTask = (id) => "#task/" + encodeURIComponent(id);

function part(title, ...inside) {
  const found = inside.filter(Boolean);
  return found.length ? make("section", {}, make("h2", {}, title), ...found) : null;
}

function table(heads, rows) {
  const line = (kind, cells) => make("tr", {}, ...cells.map((one) => make(kind, {}, String(one))));
  return make("table", {}, make("thead", {}, line("th", heads)), make("tbody", {}, ...rows.map((one) => line("td", one))));
}

function notice(text, kind = "") {
  const made = make("div", { class: "said notice " + kind, role: kind ? "alert" : "status" }, text);
  main.prepend(made);
  made.scrollIntoView({ block: "nearest" });
}

// --- pages -----------------------------------------------------------------------------------------------------

async function today() {
  const [{ value: facts }, { value: goals }] = await Promise.all([read("status"), read("goals")]);
  const titles = new Map(goals.map((one) => [one.id, one.title]));
  const waits = facts.answers.map(waitingItem), asked = byGoal(facts.asked).map((one) => questionItem(one, titles));
  const cut = facts.runs.map((one) => `${one.agent} ${one.task} ${one.title} (${Math.round(one.seconds / 60)} min)`);
  return [
    make("h1", {}, waits.length + asked.length ? "What waits for you" : "Nothing waits for you"),
    ...waits, ...asked,
    part("Problems of today", list(facts.problems)),
    part("Runs now", list(cut)),
    part("Money of today", make("p", {}, moneyLine(facts.today)), soft("this month: " + moneyLine(facts.month))),
    part("Live", list(facts.deploys)),
    part("At the gates", list(facts.at_the_gates)),
    part("Approved, merged next", list(facts.approved)),
    part("Set aside", list(facts.set_aside)),
    part("Unreadable", list(facts.unreadable)),
  ];
}

const moneyLine = (one) => `${dollars(one.spent)} spent, ${dollars(one.reserved)} reserved, ${dollars(one.lost)} lost; cap ${dollars(one.cap)}`;

function waitingItem(one) {
  const inside = one.task ? make("a", { href: toTask(one.task) }, one.title || one.task) : one.text;
  const kind = { change: "a change to approve", failed: "it failed", stuck: "it is stuck" }[one.kind] || "";
  const bad = one.kind === "failed" ? " failed" : " waits";
  return make("article", { class: "item" + bad }, make("p", { class: "tag wait" }, kind), make("p", { dir: "auto" }, inside),
    list(one.reasons), one.task && !one.reasons.length ? soft(one.text) : null, one.task ? null : make("pre", {}, one.command));
}

function byGoal(asked) { // one answer is to all that is asked about a goal
  const found = new Map();
  for (const one of asked) found.set(one.goal, [...(found.get(one.goal) || []), one.text]);
  return [...found].map(([goal, texts]) => ({ goal, texts }));
}

function questionItem(one, titles) {
  const words = make("textarea", { name: "answer " + one.goal, "aria-label": "Your answer", dir: "auto", maxlength: "1000" });
  const send = make("button", { type: "button", class: "main" }, "Answer");
  const key = newKey(); // of this form: pressed twice it is done once
  send.addEventListener("click", () => act([send], () => order("answers", { id: one.goal, text: words.value, asked: one.texts }, { "Idempotency-Key": key })));
  return make("article", { class: "item waits" }, make("p", { class: "tag wait" }, "a question"),
    soft(titles.get(one.goal) || one.goal), ...one.texts.map((text) => make("p", { dir: "auto" }, text)), words, make("div", { class: "actions" }, send));
}

async function tasks(state = "", cursor = "") {
  const { value } = await read(`tasks?limit=${ROWS}&state=${encodeURIComponent(state)}&cursor=${encodeURIComponent(cursor)}`);
  const states = ["", "backlog", "in_progress", "in_review", "completed", "failed"];
  const tabs = states.map((one) => make("a", { href: "#tasks/" + one, "aria-current": one === state ? "page" : null }, one.replace("_", " ") || "all"));
  const rows = value.tasks.map((one) => make("article", { class: "item" + (one.state === "failed" ? " failed" : "") },
    make("p", { dir: "auto" }, make("a", { href: toTask(one.id) }, one.title || one.id)),
    soft(`${one.id} · ${one.state.replace("_", " ")} · ${one.priority}`), one.note ? make("p", { dir: "auto", class: "soft" }, one.note) : null));
  const more = value.next ? make("p", {}, make("a", { href: `#tasks/${state}/${value.next}` }, "older ones")) : null;
  return [make("h1", {}, "Tasks"), make("div", { class: "actions", role: "navigation", "aria-label": "States" }, ...tabs), ...rows, rows.length ? null : "none", more];
}

async function task(id) {
  const path = `tasks/${encodeURIComponent(id)}`;
  const [{ value: facts }, review] = await Promise.all([read(path), read(path + "/review")]);
  const seen = review.value, evidence = seen.evidence, verdict = seen.verdict;
  const change = make("div", {}); // its difference comes by itself, beside the rest
  if (seen.commit) difference(id, 0, change);
  return [
    make("h1", { dir: "auto" }, facts.title || id),
    soft(`${id} · ${facts.state.replace("_", " ")}${seen.commit ? " · commit " + seen.commit.slice(0, 8) : ""}`),
    seen.waits ? make("div", { class: "notice" }, make("p", { class: "tag wait" }, "waits for you" + (seen.since ? " since " + moment(seen.since) : "")), list(seen.reasons)) : null,
    buttons(id, review),
    part("Evidence", standing(evidence.standing), evidence.summary ? make("p", {}, evidence.summary) : null, list(evidence.shown_by || []),
      list((evidence.problems || []).map((one) => one.text)), list((evidence.not_seen || []).map((one) => "not seen: " + one))),
    part("Verdict", standing(verdict.standing), verdict.word ? make("p", { dir: "auto" }, verdict.word) : null,
      list(verdict.findings.map((one) => `${one.path}:${one.line} ${one.text}`))),
    seen.commit ? part("Change", change) : null,
    part("Text", make("pre", { dir: "auto" }, facts.text.trim())),
    part("Cost", facts.cost.spent ? make("p", {}, `${dollars(facts.cost.spent)} spent, ${dollars(facts.cost.lost)} lost`) : null),
    part("Pull request", list(facts.pulls.map((one) => `#${one.number} ${one.state} ${one.url}`))),
    part("Attempts", list(facts.attempts.map((one) => `${one.number || "-"}: ${one.outcome} ${one.note}`))),
    part("History", list(facts.history.map((one) => `${moment(one.at)} ${one.event}: ${one.state} ${one.note}`))),
  ];
}

function standing(word) {
  const good = word === "passed" || word === "approved", bad = word === "failed" || word === "changes requested";
  return make("p", { class: "tag " + (good ? "good" : bad ? "bad" : "wait") }, word);
}

function buttons(id, review) {
  const state = review.value.state, why = make("textarea", { id: "why", name: "why", dir: "auto", maxlength: "1000" });
  const label = make("label", { for: "why" }, "Why, or what to do differently");
  const found = [];
  const add = (ruling, text, kind = "", needsWords = false) => {
    const key = newKey(); // of this button: pressed twice it is done once
    const one = make("button", { type: "button", class: kind }, text);
    one.addEventListener("click", () => {
      if (needsWords && !why.value.trim()) return void (why.focus(), notice("Say why first.", "bad"));
      if (ruling === "approve" && !confirmed(one, review.value.commit)) return;
      act(found, () => order(`tasks/${encodeURIComponent(id)}/rulings`, { ruling, commit: review.value.commit, why: why.value },
        { "If-Match": review.tag, "Idempotency-Key": key }));
    });
    found.push(one);
  };
  if (review.value.waits) add("approve", "Approve", "main");
  if (state === "in_review") { add("retry", "Send back", "", true); add("reject", "Reject", "", true); }
  if (state === "failed") add("retry", "Try again");
  if (state === "backlog" || state === "in_progress") add("cancel", "Cancel");
  return found.length ? make("section", { "aria-label": "Your word" }, label, why, make("div", { class: "actions" }, ...found)) : null;
}

function confirmed(button, commit) {
  if (button.dataset.asked) return true;
  button.dataset.asked = "yes";
  button.textContent = "Approve " + commit.slice(0, 8) + "? Press again";
  return false;
}

async function act(pressed, send) {
  pressed.forEach((one) => (one.disabled = true));
  try {
    const done = await send();
    await show();
    notice(`${done.told}; ${done.next}`);
  } catch (problem) {
    if (problem.status === 409 || problem.status === 412) await show();
    notice(problem.message, "bad");
    pressed.forEach((one) => (one.disabled = false));
  }
}

async function difference(id, begin, place) {
  try {
    const { value } = await read(`tasks/${encodeURIComponent(id)}/diff?begin=${begin}`);
    const box = make("div", { class: "diff" });
    for (let at = 0; at < value.lines.length; at += ROWS) {
      box.append(make("section", {}, ...value.lines.slice(at, at + ROWS).map((line) => make("div", { class: kindOf(line) }, line))));
    }
    place.append(box);
    if (value.next !== null) {
      const more = make("button", { type: "button" }, "Show more lines");
      more.addEventListener("click", () => { more.remove(); difference(id, value.next, place); });
      place.append(more);
    }
  } catch (problem) {
    place.append(make("p", { class: "tag bad" }, "The change cannot be shown: " + problem.message));
  }
}

function kindOf(line) {
  if (line.startsWith("diff --git")) return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+++") || line.startsWith("---")) return "hunk";
  return line.startsWith("+") ? "plus" : line.startsWith("-") ? "minus" : "";
}

async function goals() {
  const { value } = await read("goals");
  const rows = value.map((one) => make("article", { class: "item" }, make("p", { dir: "auto" }, one.title),
    soft(`${one.id} · ${one.priority} · ${one.done ? "done " + one.done : one.week ? "week of " + one.week : "later"} · ${one.merged} merged, ${one.open} open, ${one.to_come === null ? "unknown" : one.to_come} to come`),
    one.note ? soft(one.note) : null));
  return [make("h1", {}, "Goals"), ...rows, rows.length ? null : "no goal yet"];
}

async function money() {
  const { value } = await read("money");
  const rows = value.slice(-31).reverse();
  const days = rows.map((one) => [one.day, dollars(one.spent), dollars(one.lost), dollars(one.cap)]);
  const last = rows[0] || {};
  const groups = ["by_agent", "by_model", "by_task"].map((name) => part(name.replace("by_", "Today by "),
    Object.keys(last[name] || {}).length ? table(["", "calls", "spent", "lost"],
      Object.entries(last[name]).map(([key, one]) => [key || "no single task", one.calls, dollars(one.spent), dollars(one.lost)])) : null));
  return [make("h1", {}, "Money"), table(["day", "spent", "lost", "cap"], days), ...groups];
}

function signIn(text) {
  return [make("h1", {}, "Sign in"), make("p", {}, text), make("pre", {}, "sisimpur board --link")];
}

// --- showing ---------------------------------------------------------------------------------------------------

const PAGES = { today, tasks, task, goals, money };

function opened() {
  const [name, ...words] = location.hash.slice(1).split("/").map(decodeURIComponent);
  return Object.hasOwn(PAGES, name) ? [name, ...words] : ["today"];
}

async function show(quietly = false) { // quietly: because of news; what nobody changed stays as it stands there
  const mine = ++turn, [page, ...words] = opened(), before = answers;
  if (!localStorage.getItem(KEY)) return void main.replaceChildren(...signIn("Open the link that this prints, on this machine:"));
  try {
    const found = await PAGES[page](...words);
    if (mine !== turn) return;
    if (!quietly || answers !== before) replace(found.filter(Boolean), quietly);
    document.getElementById("asof").textContent = "as of " + new Date().toLocaleTimeString();
    mark(page);
    await heading();
  } catch (problem) {
    if (mine !== turn) return;
    if (problem.status === 401) main.replaceChildren(...signIn("You are not signed in any more. Open the link that this prints:"));
    else if (quietly && !problem.status) line(false);
    else notice(problem.status ? problem.message : "The board does not answer; what is shown is old. Start it: sisimpur board", "bad");
  }
}

function replace(found, quietly) {
  const words = new Map(Array.from(main.querySelectorAll("textarea"), (one) => [one.name, one.value]));
  const said = quietly ? main.querySelectorAll(".said") : []; // what the board answered stays
  main.replaceChildren(...said, ...found);
  if (quietly) for (const one of main.querySelectorAll("textarea")) one.value = words.get(one.name) || "";
}

function mark(page) {
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.hash === "#" + (page === "task" ? "tasks" : page)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function heading() {
  const { value } = await read("status");
  const state = value.daemon.state === "running" ? "at work: " + value.daemon.next
    : value.pid ? "at work (pid " + value.pid + ")" : "The daemon is not running: nothing goes on before you type start";
  document.getElementById("who").textContent = `${value.target} · ${state}`;
  const count = value.answers.length + value.asked.length;
  document.getElementById("count").textContent = count ? `(${count})` : "";
}

async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code) {
    history.replaceState(null, "", "/#today");
    try {
      localStorage.setItem(KEY, (await order("session", { code }, {})).token);
      wake();
    } catch (problem) {
      main.replaceChildren(...signIn(problem.message));
      return;
    }
  }
  await show();
}

// --- news ------------------------------------------------------------------------------------------------------

const DEAD = 25_000, SOONEST = 1_000; // ms: without a beat; between two readings because of news
const others = new BroadcastChannel("sisimpur.news"); // one page of this browser listens for all of them
let heardAt = Date.now(), lastId = "", shownAt = 0, planned = 0, missed = false, cut = null, wake = () => {};

async function listen() {
  for (let wait = 500; ; wait = Math.min(2 * wait, 30_000)) {
    if (localStorage.getItem(KEY)) {
      await hear(() => (wait = 500)).catch(() => null);
      if (localStorage.getItem(KEY)) tell({ kind: "lost" });
      else await show();
    }
    await new Promise((done) => { wake = done; setTimeout(done, wait * (0.5 + Math.random())); });
  }
}

async function hear(alive) {
  cut = new AbortController();
  let at = Date.now(), text = "";
  const watch = setInterval(() => Date.now() - at > DEAD && cut.abort(), 5_000);
  try {
    const answer = await ask(API + "news", { headers: lastId ? { "Last-Event-ID": lastId } : {}, signal: cut.signal });
    if (!answer.ok) throw new Problem(answer.status, {});
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    alive();
    tell({ kind: "resync" }); // what moved while nobody listened has no number
    for (let one = await reader.read(); !one.done; one = await reader.read()) {
      at = Date.now();
      const parts = (text + one.value).split("\n\n");
      text = parts.pop();
      parts.map(parsed).filter(Boolean).forEach(tell);
    }
  } finally {
    clearInterval(watch);
    cut.abort();
  }
}

function parsed(part) {
  const fields = new Map(part.split("\n").map((row) => [row.slice(0, row.indexOf(":")), row.slice(row.indexOf(":") + 2)]));
  if (fields.has("id")) lastId = fields.get("id");
  return fields.has("data") ? { kind: fields.get("event") || "news", ...JSON.parse(fields.get("data")) } : null;
}

function tell(news) {
  others.postMessage(news);
  heard(news);
}

function heard(news) {
  line(news.kind !== "lost");
  if (news.kind === "resync" || (news.kind === "news" && concerns(news))) soon();
}

function concerns(news) {
  const [page, id] = opened();
  if (page === "task") return news.topic === "files" || news.ids.includes(id);
  return !["sign-in", "notice"].includes(news.topic);
}

function soon() {
  if (!planned) planned = setTimeout(again, Math.max(100, shownAt + SOONEST - Date.now()));
}

async function again() { // who writes is not disturbed
  planned = 0;
  missed = document.hidden || document.activeElement.matches("textarea");
  if (missed) return;
  shownAt = Date.now();
  await show(true);
}

function line(isLive) {
  const told = document.getElementById("line");
  if (isLive) heardAt = Date.now();
  document.body.dataset.live = isLive ? "live" : "stale";
  told.hidden = isLive;
  if (!isLive) told.textContent = "Not live since " + new Date(heardAt).toLocaleTimeString() + ": what is shown may be old. If this stays, type: sisimpur board";
}

others.addEventListener("message", (event) => heard(event.data));
navigator.locks.request("sisimpur.news", listen);
setInterval(() => localStorage.getItem(KEY) && Date.now() - heardAt > DEAD && line(false), 5_000);
main.addEventListener("focusout", () => missed && setTimeout(soon, SOONEST)); // a press on a button comes first
for (const name of ["online", "storage", "pageshow"]) addEventListener(name, () => wake());

addEventListener("hashchange", () => (location.hash.startsWith("#code=") ? begin() : show().then(() => main.focus({ preventScroll: true }))));
addEventListener("visibilitychange", () => document.hidden || (wake(), again()));
document.getElementById("again").addEventListener("click", () => show());
document.getElementById("out").addEventListener("click", async () => {
  await ask(API + "session", { method: "DELETE" }).catch(() => null);
  localStorage.removeItem(KEY);
  known.clear();
  if (cut) cut.abort();
  show();
});
begin();
