/* What stands in the place of a page that did not load, or broke. The frame around it stays. */

import { Component, type ReactNode, useEffect, useSyncExternalStore } from "react";
import { isLive, onLive } from "../api/news";
import { t } from "../words/words";
import { Plain } from "./Plain";

const RELOADED = "sisimpur.reloaded";

export class OrNotShown extends Component<{ children: ReactNode }, { why: string }> {
  override state = { why: "" };
  static getDerivedStateFromError = (error: unknown): { why: string } => ({ why: String(error) || "?" });
  override render = (): ReactNode => (this.state.why ? <NotShown why={this.state.why} /> : this.props.children);
}

/** Without the board no reload helps: it waits for it. */
function NotShown({ why }: { why: string }): ReactNode {
  const live = useSyncExternalStore(onLive, isLive);
  useEffect(() => {
    if (live) reloadOnce();
  }, [live]);
  return (
    <div className="notice bad" role="alert">
      <Plain text={live ? t("page.broken", { why }) : t("page.waits")} />
      {live && (
        <button type="button" onClick={() => location.reload()}>
          {t("page.reload")}
        </button>
      )}
    </div>
  );
}

/** Once in a minute: what is broken for good is not loaded without end. */
export function reloadOnce(): void {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < 60_000) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
}
