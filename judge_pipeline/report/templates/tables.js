"use strict";
// Sorts the page's tables by a click or a key on a heading, saves them as CSV, and copies text: all without a network.
(() => {
  const tables = JSON.parse(document.getElementById("table-data").textContent);
  const ORDER = ["ascending", "descending", "none"];
  const WORDS = { ascending: "sorted, lowest first", descending: "sorted, highest first", none: "in the order of the report" };
  const status = document.createElement("p");
  status.setAttribute("role", "status");
  status.className = "unseen";
  document.body.append(status);

  // Numbers before texts; what has no value stands last in either direction.
  function compare(a, b, sign) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return sign * (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
  }

  function sortable(block, data) {
    const body = block.querySelector("tbody");
    const rows = [...body.rows];
    let shown = rows.map((_, i) => i);
    const headings = [...block.querySelectorAll("thead th")];
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = ORDER[(ORDER.indexOf(heading.getAttribute("aria-sort")) + 1) % ORDER.length];
        for (const other of headings) other.setAttribute("aria-sort", "none");
        heading.setAttribute("aria-sort", next);
        shown = rows.map((_, i) => i);
        if (next !== "none") {
          const sign = next === "ascending" ? 1 : -1;
          shown.sort((a, b) => compare(data.keys[a][column], data.keys[b][column], sign) || a - b);
        }
        body.append(...shown.map((i) => rows[i]));
        status.textContent = `${button.textContent.trim()}: ${WORDS[next]}`;
      });
    });
    return () => shown;
  }

  function quoted(text) {
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // A byte order mark leads, so that spreadsheets read the text as UTF-8.
  function save(file, lines) {
    const text = "\ufeff" + lines.map((cells) => cells.map(quoted).join(",")).join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function tool(label, action) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tool";
    button.textContent = label;
    button.addEventListener("click", action);
    return button;
  }

  for (const block of document.querySelectorAll("[data-table]")) {
    const data = tables[block.dataset.table];
    if (!data) continue;
    const order = sortable(block, data);
    const bar = document.createElement("p");
    bar.className = "tools";
    const caption = block.querySelector("caption").textContent.trim();
    const button = tool("Save as CSV", () => save(data.file, [data.rows[0], ...order().map((i) => data.rows[i + 1])]));
    button.setAttribute("aria-label", `Save as CSV: ${caption}`);
    bar.append(button);
    block.querySelector(".scroll").after(bar);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false; // no permission: the text is selected instead, for the reader's own keys
    }
  }

  for (const block of document.querySelectorAll("[data-copy]")) {
    const source = block.querySelector("[data-text]");
    const button = tool("Copy", async () => {
      const done = await copy(source.textContent.trim());
      if (!done) getSelection().selectAllChildren(source);
      status.textContent = done ? "Copied." : "Selected: press Ctrl+C to copy.";
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 4000);
    });
    block.append(button);
  }
  // What is folded up is printed, too, and folded up again afterwards.
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.folded:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
  document.documentElement.dataset.tables = "yes";
})();
