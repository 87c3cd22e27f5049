import { escape, taka } from "./format.js";

export function productList(products) {
  return products.map((each) => `<div class="product">${escape(each.name)} ${taka(each.taka)} <button data-add="${each.id}">+</button></div>`).join("\n");
}

export function cartBox(cart) {
  return `<p>${cart.pieces()} pieces</p>`;
}
