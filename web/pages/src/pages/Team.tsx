/* Who works, since when, on what machine; what is live. */

import type { ReactNode } from "react";
import { useRead } from "../api/reading";
import type { Status } from "../api/types";
import { Part, Trouble, Waiting } from "../parts/parts";
import { t } from "../words/words";

export default function Team(): ReactNode {
  const { data, error } = useRead<Status>("status");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  return (
    <>
      <h1>{t("page.team")}</h1>
      <Part title={t("daemon")}>
        <p>{data.value.daemon.next || data.value.daemon.state}</p>
      </Part>
    </>
  );
}
