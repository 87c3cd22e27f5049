/* Moments and amounts, as people read them. Amounts, ids and commits stay in Latin figures. */

import { language } from "../look";
import { t } from "./words";

const zone = (): string => (language() === "bn" ? "bn-BD" : "en-GB");

/** `$1.23`; with two more decimals where they count. What nobody knows is a word, never 0. */
export function dollars(text: string | null | undefined): string {
  if (text === null || text === undefined) return t("unknown");
  return `$${text.slice(0, -5).replace(/(\.\d\d)00$/, "$1")}`;
}

/** Nano-dollars, to add and compare. */
export const nano = (text: string): number => Math.round(Number(text) * 1e9);

/** The time of day; with its date unless that is today's. */
export function moment(iso: string): string {
  const at = new Date(iso);
  if (!iso || Number.isNaN(at.getTime())) return iso;
  const isToday = at.toDateString() === new Date().toDateString();
  const date = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return new Intl.DateTimeFormat(zone(), { ...date, hour: "2-digit", minute: "2-digit" }).format(at);
}

/** A day, which has no time zone. */
export function day(iso: string, weekday = false): string {
  const options = { day: "numeric", month: "short", timeZone: "UTC", ...(weekday ? { weekday: "short" as const } : {}) } as const;
  return /^\d{4}-\d\d-\d\d/.test(iso) ? new Intl.DateTimeFormat(zone(), options).format(new Date(`${iso.slice(0, 10)}T00:00Z`)) : iso;
}

export const clock = (ms: number): string =>
  new Intl.DateTimeFormat(zone(), { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(ms);

/** How long it takes already: `3 min`, `2 h`. */
export function lasting(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  const format = (value: number, unit: string) => new Intl.NumberFormat(zone(), { style: "unit", unit, unitDisplay: "short" }).format(value);
  return minutes < 120 ? format(minutes, "minute") : minutes < 48 * 60 ? format(Math.round(minutes / 60), "hour") : format(Math.round(minutes / 1440), "day");
}

/** How long ago: `3 min`. */
export const age = (iso: string): string => (iso ? lasting((Date.now() - new Date(iso).getTime()) / 1000) : "");

export const share = (part: number): string => new Intl.NumberFormat(zone(), { style: "percent" }).format(part);
export const count = (value: number): string => new Intl.NumberFormat(zone()).format(value);
