import { defineConfig, type Plugin } from "vite";

/* The built files are committed: equal sources give equal bytes. Nothing is inlined, since the board's CSP takes no data: addresses. */
const FIRST = "/src/first.js";

/** What runs before all else is no module, and still has a digest in its name: a browser keeps it for good. */
const first: Plugin = {
  name: "first",
  apply: "build",
  async buildStart() {
    this.emitFile({ type: "asset", name: "first.js", source: await this.fs.readFile(`.${FIRST}`) });
  },
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle = {} }) => html.replace(FIRST, `/${Object.keys(bundle).find((name) => name.includes("/first-"))}`),
  },
};

export default defineConfig({
  plugins: [first],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome123", "firefox121", "safari17.5"],
    rolldownOptions: {
      // What every page needs is one file: a phone asks for few.
      output: { codeSplitting: { groups: [{ name: "shared", test: /node_modules|rolldown|src\/(api|parts)\/|src\/look|diff\/lines|words\/(words|figures|en)\./ }] } },
      onLog(level, log, tell) {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") tell(level, log); // "use client" means nothing here
      },
    },
  },
});
