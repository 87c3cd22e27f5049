"use strict";
/* Before the first paint: the owner's choice of colours and language, from this page's own storage. */
{
  const chosen = localStorage.getItem("sisimpur.theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  document.documentElement.lang = localStorage.getItem("sisimpur.language") || "en";
}
