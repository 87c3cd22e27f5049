/* This browser's notifications: whether they can be, and how they are switched on and off. Nothing is asked before it is pressed. */

import { ask, order, Problem } from "./api/ask";
import type { PushAnswer } from "./api/types";
import { language } from "./look";

const WORKER = "/sw.js";
const KEPT = "sisimpur.push"; // what the board calls this browser

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL: (url: string) => unknown };
}

let policy: ReturnType<Policies["createPolicy"]> | undefined;

/** A script's address as the CSP wants it: ours, and no other. */
function ours(): string {
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  policy ??= policies?.createPolicy("board", {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError("this is no script of ours");
      return url;
    },
  });
  return (policy?.createScriptURL(WORKER) ?? WORKER) as string;
}

export const register = (): Promise<ServiceWorkerRegistration> => navigator.serviceWorker.register(ours(), { updateViaCache: "none" });

/** Why this browser cannot be notified; empty: it can. */
export function whyNot(): "" | "open" | "iphone" | "browser" | "blocked" {
  if (!isSecureContext) return "open";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) return /iPhone|iPad/.test(navigator.userAgent) ? "iphone" : "browser";
  return Notification.permission === "denied" ? "blocked" : "";
}

/** Ask for the permission, and tell the board where this browser is reached. False: it was not given. */
export async function switchOn(key: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await register();
  const worker = await navigator.serviceWorker.ready;
  const old = await worker.pushManager.getSubscription();
  await old?.unsubscribe(); // perhaps with another home's key
  const made = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = made.toJSON();
  const { id } = await order<PushAnswer>("pushes", { endpoint, keys: { p256dh: keys?.p256dh, auth: keys?.auth }, language: language() });
  localStorage.setItem(KEPT, id);
  return true;
}

/** What the board calls this browser; empty: it has no subscription. */
export async function here(): Promise<string> {
  return (await subscribed()) ? (localStorage.getItem(KEPT) ?? "") : "";
}

async function subscribed(): Promise<PushSubscription | null | undefined> {
  if (whyNot()) return null;
  return (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription();
}

/** End it at the board, and here if it is this browser's. */
export async function switchOff(id: string): Promise<void> {
  const isHere = id === (await here());
  const answer = await ask(`pushes/${encodeURIComponent(id)}`, { method: "DELETE" });
  if (!answer.ok && answer.status !== 404) throw new Problem(answer.status, (await answer.json()) as { title?: string });
  if (!isHere) return;
  localStorage.removeItem(KEPT);
  await (await subscribed())?.unsubscribe();
}
