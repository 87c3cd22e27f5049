/* The frame around every page: who works, whether it is live, where one can go. */

import { lazy, type ReactNode, Suspense, useEffect, useRef, useSyncExternalStore } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { ByPasskey } from "./access/ByPasskey";
import { hasEnded, isSignedIn, onSignIn, signOut } from "./api/ask";
import { isLive, lastHeard, onLive } from "./api/news";
import { client, onRead, readAgain, readAt, useRead } from "./api/reading";
import type { StatusAnswer } from "./api/types";
import { KEYS, listenForKeys } from "./keys";
import { useChoice } from "./look";
import { Today } from "./pages/Today";
import { Accounts } from "./parts/Accounts";
import { OrNotShown } from "./parts/NotShown";
import { Said, say, Waiting } from "./parts/parts";
import { Plain } from "./parts/Plain";
import { useWho } from "./parts/who";
import { clock } from "./words/figures";
import { t, tOr, type Word } from "./words/words";
import { hearNoMore } from "./worker";

const Plan = lazy(() => import("./pages/Plan"));
const Board = lazy(() => import("./pages/Board"));
const Review = lazy(() => import("./pages/Review"));
const Task = lazy(() => import("./pages/Task"));
const Money = lazy(() => import("./pages/Money"));
const Vision = lazy(() => import("./pages/Vision"));
const Roadmap = lazy(() => import("./pages/Roadmap"));
const Team = lazy(() => import("./pages/Team"));
const Settings = lazy(() => import("./pages/Settings"));

const PLACES: readonly [string, Word][] = [
  ["/", "page.today"],
  ["/board", "page.board"],
  ["/vision", "page.vision"],
  ["/roadmap", "page.roadmap"],
  ["/money", "page.money"],
  ["/team", "page.team"],
  ["/settings", "page.settings"],
];

export function App({ refused }: { refused: string }): ReactNode {
  const language = useChoice("language");
  const signedIn = useSyncExternalStore(onSignIn, isSignedIn);
  useEffect(() => {
    if (!signedIn) client.clear();
  }, [signedIn]);
  if (!signedIn) return <SignIn why={refused || t(hasEnded() ? "sign.in.again" : "sign.in.how")} />;
  return <Frame key={language} />;
}

function SignIn({ why }: { why: string }): ReactNode {
  return (
    <main id="main">
      <h1>{t("sign.in")}</h1>
      <p>{why}</p>
      <pre>sisimpur board --link</pre>
      <ByPasskey />
      <Accounts />
    </main>
  );
}

function Frame(): ReactNode {
  const main = useRef<HTMLElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const [place] = useLocation();
  const before = useRef(place);
  useEffect(() => listenForKeys(() => help.current?.showModal()), []);
  useEffect(() => {
    if (before.current === place) return;
    before.current = place;
    say("");
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  return (
    <>
      <a className="skip" href="#main">
        {t("skip")}
      </a>
      <Header place={place} />
      <main id="main" tabIndex={-1} ref={main}>
        <Said />
        <OrNotShown key={place}>
          <Suspense fallback={<Waiting />}>
            <Switch>
              <Route path="/" component={Today} />
              <Route path="/plan" component={Plan} />
              <Route path="/board" component={Board} />
              <Route path="/review/:id">{({ id }) => <Review key={id} id={id} />}</Route>
              <Route path="/task/:id">{({ id }) => <Task key={id} id={id} />}</Route>
              <Route path="/vision" component={Vision} />
              <Route path="/roadmap" component={Roadmap} />
              <Route path="/money" component={Money} />
              <Route path="/team" component={Team} />
              <Route path="/settings" component={Settings} />
              <Route>
                <p>{t("no.page")}</p>
              </Route>
            </Switch>
          </Suspense>
        </OrNotShown>
      </main>
      <Footer />
      <dialog ref={help} aria-label={t("keys")}>
        <h2>{t("keys")}</h2>
        <dl className="keys">
          {KEYS.map((one) => (
            <div key={one}>
              <dt>
                <kbd>{one}</kbd>
              </dt>
              <dd>{t(`key.${one}`)}</dd>
            </div>
          ))}
        </dl>
        <button type="button" onClick={() => help.current?.close()}>
          {t("close")}
        </button>
      </dialog>
    </>
  );
}

function Header({ place }: { place: string }): ReactNode {
  const { data } = useRead<StatusAnswer>("status");
  const status = data?.value;
  const waits = status ? status.answers.length + status.asked.length + (status.more.answers ?? 0) : 0;
  useEffect(() => {
    document.title = waits ? `(${waits}) sisimpur` : "sisimpur";
  }, [waits]);
  return (
    <header>
      <p id="who" role="status">
        {status ? <Plain text={`${status.target} · ${atWork(status)}`} /> : "…"}
      </p>
      <Line />
      <nav aria-label={t("pages")}>
        {PLACES.map(([to, word]) => (
          <Link key={to} href={to} aria-current={isAt(place, to) ? "page" : undefined}>
            {t(word)}
            {to === "/" && waits ? <span className="count"> ({waits})</span> : null}
          </Link>
        ))}
      </nav>
    </header>
  );
}

const isAt = (place: string, to: string): boolean => place === to || (to === "/board" && /^\/(task|review)\//.test(place));

function atWork({ daemon, pid }: StatusAnswer): string {
  if (daemon.state === "running") return t("at.work.next", { next: daemon.next });
  return pid ? t("at.work.pid", { pid }) : t("not.at.work");
}

/** Says that what is shown may be old. Quiet as long as the board is heard. */
function Line(): ReactNode {
  const live = useSyncExternalStore(onLive, isLive);
  return (
    <p id="line" role="status" className="tag bad" hidden={live !== false}>
      {live === false ? t("not.live", { time: clock(lastHeard()) }) : ""}
    </p>
  );
}

const leave = (): Promise<void> =>
  hearNoMore()
    .catch(() => undefined)
    .then(signOut)
    .catch(() => say(t("sign.out.not"), true));

function Footer(): ReactNode {
  const at = useSyncExternalStore(onRead, readAt);
  const { role, owns, name, by } = useWho();
  return (
    <footer>
      <button type="button" onClick={() => void readAgain()}>
        {t("look.again")}
      </button>
      <span>{t("as.of", { time: clock(at) })}</span>
      {name && <Plain text={t("sign.in.as", { name, by: tOr("by", by) })} />}
      {!owns && <span>{tOr("role", role)}</span>}
      <button type="button" onClick={() => void leave()}>
        {t("sign.out")}
      </button>
    </footer>
  );
}
