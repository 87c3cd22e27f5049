export class Cart {
  constructor(storage) {
    this.storage = storage;
    this.items = JSON.parse(storage?.getItem("cart") ?? "{}");
  }

  add(id, count = 1) {
    this.items[id] = (this.items[id] ?? 0) + count;
    console.log("add", id, count);
  }

  remove(id) {
    delete this.items[id];
    console.log(this.save());
  }

  pieces() {
    return Object.values(this.items).reduce((sum, count) => sum + count, 0);
  }

  // keeps the cart over a reload; gives back what it wrote
  save() {
    const text = JSON.stringify(this.items);
    this.storage?.setItem("cart", text);
    return text;
  }
}
