import { products } from "./api.js";
import { Cart } from "./cart.js";
import { productList, cartBox } from "./views.js";

const cart = new Cart(globalThis.localStorage);

async function show() {
  const found = await products();
  console.log("products", found);
  document.querySelector("#list").innerHTML = productList(found);
  document.querySelector("#cart").innerHTML = cartBox(cart);
}

document.addEventListener("click", (event) => {
  const id = event.target.dataset.add;
  if (!id) return;
  cart.add(Number(id));
  console.log("saved", cart.save());
  show();
});

show();
