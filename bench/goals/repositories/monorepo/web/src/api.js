const BASE = "/api";

export async function get(path) {
  const answer = await fetch(BASE + path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

export async function products() {
  return (await get("/products")).products;
}

export async function sellers() {
  return (await get("/sellers")).sellers;
}
