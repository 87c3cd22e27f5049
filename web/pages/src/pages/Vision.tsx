/* The owner's file: read, changed, and what would be read of it. */

import type { ReactNode } from "react";
import { useRead } from "../api/reading";
import { Trouble, Waiting } from "../parts/parts";
import { t } from "../words/words";

interface Facts {
  text: string;
}

export default function Vision(): ReactNode {
  const { data, error } = useRead<Facts>("vision");
  if (!data) return error ? <Trouble problem={error} /> : <Waiting />;
  return (
    <>
      <h1>{t("page.vision")}</h1>
      <pre className="words">{data.value.text}</pre>
    </>
  );
}
