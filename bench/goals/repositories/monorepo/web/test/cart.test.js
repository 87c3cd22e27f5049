import assert from "node:assert/strict";
import test from "node:test";
import { Cart } from "../src/cart.js";

function storage() {
  const kept = {};
  return { getItem: (key) => kept[key] ?? null, setItem: (key, value) => { kept[key] = value; } };
}

test("pieces are counted", () => {
  const cart = new Cart(storage());
  cart.add(1);
  cart.add(1, 2);
  assert.equal(cart.pieces(), 3);
});

test("a cart is kept", () => {
  const place = storage();
  const cart = new Cart(place);
  cart.add(5);
  cart.save();
  assert.equal(new Cart(place).pieces(), 1);
});
