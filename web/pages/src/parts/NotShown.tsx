/* What stands in the place of a page that did not load, or broke. The frame around it stays. */

import { Component, type ReactNode, useEffect, useSyncExternalStore } from "react";
import { isLive, onLive } from "../api/news";
import { t } from "../words/words";

const RELOADED = "sisimpur.reloaded";

export class OrNotShown extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError = (): { isBroken: boolean } => ({ isBroken: true });
  override render = (): ReactNode => (this.state.isBroken ? <NotShown /> : this.props.children);
}

/** Without the board no reload helps: it waits for it. */
function NotShown(): ReactNode {
  const live = useSyncExternalStore(onLive, isLive);
  useEffect(() => {
    if (live) reloadOnce();
  }, [live]);
  return (
    <div className="notice bad" role="alert">
      <p>{t(live ? "page.broken" : "page.waits")}</p>
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
