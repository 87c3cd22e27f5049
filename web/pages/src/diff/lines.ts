/* Lines of a change under the hand: a press on a number (on a phone anywhere), or arrows and Enter. */

import type { KeyboardEvent, MouseEvent } from "react";

const GUTTER = 4.1; // rem: where the numbers stand
const NUMBERED = '.line[data-number]:not([data-number=""])';

/** Whether it was meant for the line: a mouse may also mark words, a finger hits no small number. */
export function isGutter(event: MouseEvent, line: HTMLElement): boolean {
  if (event.detail === 0 || matchMedia("(pointer: coarse)").matches) return true; // by key, or by hand
  return event.clientX - line.getBoundingClientRect().left < GUTTER * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export function pressedIn(event: KeyboardEvent<HTMLElement>): void {
  const here = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || !here.matches(".rows, .line")) return;
  if (event.key === "Enter" && here.matches(".line")) here.click();
  else if (!go(event.key, here, event.currentTarget)) return;
  event.preventDefault();
}

function go(key: string, here: HTMLElement, rows: HTMLElement): boolean {
  const isLine = here.matches(".line");
  if (key === "ArrowLeft" || key === "ArrowRight") return isLine && stand(key === "ArrowLeft" ? here.previousElementSibling : here.nextElementSibling);
  if (key !== "ArrowDown" && key !== "ArrowUp") return false;
  if (!isLine) return stand(rows.querySelector(`.pair > ${NUMBERED}:last-child, .section > ${NUMBERED}`));
  const isOld = here.matches(".pair > :first-child");
  const all = Array.from(rows.querySelectorAll(NUMBERED)).filter((one) => !one.matches(isOld ? ".pair > :last-child" : ".pair > :first-child"));
  return stand(all[all.indexOf(here) + (key === "ArrowDown" ? 1 : -1)]);
}

/** Go to this line, if it is one. */
export function stand(one: Element | null | undefined): boolean {
  if (!(one instanceof HTMLElement) || !one.matches(NUMBERED)) return false;
  one.tabIndex = -1;
  one.focus();
  return true;
}

/** What the key for a comment presses: the line where one stands, else it goes to the first one. */
export function pressLine(): boolean {
  const here = document.activeElement;
  if (here instanceof HTMLElement && here.matches(".line")) {
    here.click();
    return true;
  }
  return stand(document.querySelector(`main .rows[tabindex] ${NUMBERED}`));
}
