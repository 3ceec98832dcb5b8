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
      case "x": {
        const box = rows()[selected] && rows()[selected].querySelector("input[type=checkbox]");
        if (box) box.click();
        break;
      }
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
    box.scrollIntoView({ block: "nearest" });
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
      const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };
      const day = { year: "numeric", month: "2-digit", day: "2-digit" };
      // The time of today is enough.
      const isToday = date.toDateString() === new Date().toDateString();
      time.textContent = isToday ? date.toLocaleTimeString(undefined, clock) : date.toLocaleString(undefined, { ...day, ...clock });
    }
    const axis = {
      day: { hour: "2-digit", minute: "2-digit", hour12: false },
      week: { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false },
      month: { day: "2-digit", month: "short" },
    };
    for (const label of root.querySelectorAll("text[data-time]")) {
      label.textContent = new Date(label.dataset.time).toLocaleString(undefined, axis[label.dataset.range]);
    }
  }

  // Selected devices: their number, and all rows of the page.
  function countSelected() {
    const boxes = Array.from(document.querySelectorAll("#selection td.check input"));
    const count = boxes.filter((box) => box.checked).length;
    const all = document.querySelector("input[name=all]");
    for (const text of document.querySelectorAll("[data-count]")) {
      text.textContent = all && all.checked ? "all that match" : `${count} selected`;
    }
    for (const button of document.querySelectorAll("button[data-selected]")) {
      button.disabled = !(all && all.checked) && count < Number(button.dataset.selected);
    }
    const head = document.querySelector("#selection th.check input");
    if (head) {
      head.checked = count > 0 && count === boxes.length;
      head.indeterminate = count > 0 && count < boxes.length;
    }
  }
  document.addEventListener("change", (event) => {
    if (!event.target.form || event.target.form.id !== "selection") return;
    if (event.target.matches("th.check input")) {
      for (const box of document.querySelectorAll("#selection td.check input")) box.checked = event.target.checked;
    }
    countSelected();
  });
  document.addEventListener("DOMContentLoaded", () => { localize(document); countSelected(); });
  // Devices stay selected when their rows are replaced, such as by a late answer.
  let checked = new Set();
  document.addEventListener("htmx:beforeSwap", () => {
    const boxes = document.querySelectorAll("#selection td.check input:checked");
    checked = new Set(Array.from(boxes, (box) => box.value));
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const box of document.querySelectorAll("#selection td.check input")) {
      if (checked.has(box.value)) box.checked = true;
    }
    // The row that was selected stays selected.
    const all = rows();
    selected = selectedPath === undefined ? -1 : all.findIndex((row) => row.dataset.href === selectedPath);
    if (selected >= 0) select(selected);
    // The swapped element replaces the target, so the document is searched.
    localize(document);
    countSelected();
  });
})();
