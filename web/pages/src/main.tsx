/* The board's page. It shows what /api/v1 answers, as text and never as markup, and presses the owner's buttons. */

import "./style.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { Problem, signIn } from "./api/ask";
import { isLive } from "./api/news";
import { begin, client } from "./api/reading";
import { App } from "./app";
import { apply } from "./look";
import { hearWorker, isInstalled } from "./worker";
import { cameBack } from "./parts/Accounts";
import { reloadOnce } from "./parts/NotShown";

const root = createRoot(document.getElementById("root") as HTMLElement);

/** Sign in by the link that the terminal printed, or as who comes back from elsewhere. What was wrong with it, if anything. */
async function signedInByLink(): Promise<string> {
  const said = new URLSearchParams(location.hash.slice(1));
  const code = said.get("code");
  if (!code && !said.has("sign-in")) return "";
  history.replaceState(null, "", location.pathname);
  if (!code) return cameBack(said.get("sign-in") ?? "");
  try {
    await signIn(code);
    return "";
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

// After an update an open page asks for files that are gone. Without the board a reload would only lose the page.
addEventListener("vite:preloadError", () => void (isLive() && reloadOnce()));

function show(refused: string): void {
  root.render(
    <QueryClientProvider client={client}>
      <App key={refused} refused={refused} />
    </QueryClientProvider>,
  );
}

addEventListener("hashchange", () => location.hash.startsWith("#code=") && void signedInByLink().then(show));
await apply().catch(() => undefined); // without the words of a language there are those of the other
begin();
hearWorker();
show(await signedInByLink());
if (isInstalled()) await import("./phone").then(({ register }) => register()).catch(() => undefined); // without it there is no shell offline
