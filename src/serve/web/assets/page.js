// Keyboard, messages about failed requests, and times in the zone of the reader.
"use strict";
(() => {
  const rows = () => Array.from(document.querySelectorAll("tr[data-href]"));
  const help = () => document.getElementById("help");
  let selected = -1;
  let selectedPath;
  let prefix = "";

  function select(index) {
    const all = rows();
    if (all.length === 0) return;
    selected = Math.max(0, Math.min(index, all.length - 1));
    all.forEach((row, number) => row.classList.toggle("selected", number === selected));
    selectedPath = all[selected].dataset.href;
    all[selected].scrollIntoView({ block: "nearest" });
  }

  function go(key) {
    const link = document.querySelector(`nav a[data-key="${key}"]`);
    if (link) window.location = link.href;
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLElement && target.matches("input, select, textarea")) {
      // A search field would lose its text.
      if (event.key === "Escape") { event.preventDefault(); target.blur(); }
      return;
    }
    if (prefix === "g") {
      prefix = "";
      go(event.key);
      return;
    }
    switch (event.key) {
      case "g": prefix = "g"; break;
      case "j": select(selected + 1); break;
      case "k": select(selected - 1); break;
      case "Enter": {
        const row = rows()[selected];
        if (row && target === document.body) window.location = row.dataset.href;
        break;
      }
      case "/": {
        const filter = document.querySelector("[data-filter]");
        if (filter) { event.preventDefault(); filter.focus(); }
        break;
      }
      case "?": if (help()) help().showModal(); break;
      default: {
        const action = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
        if (action) action.click();
      }
    }
  });

  function message(text, isError) {
    const box = document.getElementById("message");
    if (!box) return;
    box.textContent = text;
    box.classList.toggle("error", isError);
    box.hidden = false;
  }

  document.addEventListener("htmx:responseError", (event) => {
    const request = event.detail.xhr;
    message(request.responseText || `the server answered with status ${request.status}`, true);
  });
  document.addEventListener("htmx:sendError", () => message("cannot connect to the server", true));

  function localize(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const date = new Date(time.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      time.dataset.local = "";
      time.title = time.textContent.trim();
      time.textContent = date.toLocaleString(undefined, {
        year: "numeric", month: "2-digit", day: "2-digit",
        hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
      });
    }
  }
  document.addEventListener("DOMContentLoaded", () => localize(document));
  document.addEventListener("htmx:afterSwap", (event) => {
    // The row that was selected stays selected.
    const all = rows();
    selected = selectedPath === undefined ? -1 : all.findIndex((row) => row.dataset.href === selectedPath);
    if (selected >= 0) select(selected);
    localize(event.target instanceof Element ? event.target : document);
  });
})();
