export function taka(amount) {
  return "৳" + amount.toLocaleString("en-IN", { minimumFractionDigits: 2 });
}

export function escape(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}
