/* What the first page knows of the worker: whether it wants one, and where a tap on a notification leads. */

import { navigate } from "wouter/use-browser-location";

/** Whether the page is an app of its own on this phone. */
export const isInstalled = (): boolean => matchMedia("(display-mode: standalone)").matches && "serviceWorker" in navigator;

/** This browser is notified no more, whichever session asked for it: one that was idle over night is not the one that signs out. */
export async function hearNoMore(): Promise<void> {
  const worker = await navigator.serviceWorker?.getRegistration();
  await (await worker?.pushManager?.getSubscription())?.unsubscribe();
}

export function hearWorker(): void {
  navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<{ open?: unknown } | null>) => {
    const path = data?.open;
    if (typeof path === "string" && /^\/(review\/[a-z0-9._-]+)?$/.test(path)) navigate(path);
  });
}
