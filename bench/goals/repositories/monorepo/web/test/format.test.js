import assert from "node:assert/strict";
import test from "node:test";
import { escape } from "../src/format.js";

test("markup is escaped", () => {
  assert.equal(escape('<a href="x">'), "&lt;a href=&quot;x&quot;>");
});
