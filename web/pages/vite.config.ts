import { defineConfig } from "vite";

/* The built files are committed: equal sources give equal bytes. Nothing is inlined, since the board's CSP takes no data: addresses. */
export default defineConfig({
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ["chrome123", "firefox121", "safari17.5"],
    rolldownOptions: {
      // What every page needs is one file: a phone asks for few.
      output: { codeSplitting: { groups: [{ name: "shared", test: /node_modules|src\/(api|parts)\/|src\/look|words\/(words|figures|en)\./ }] } },
      onLog(level, log, tell) {
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") tell(level, log); // "use client" means nothing here
      },
    },
  },
});
