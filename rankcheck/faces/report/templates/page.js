"use strict";
// Filters and sorts the list of claims, opens what a link leads to, and opens all for a printer;
// without it the page shows everything in one order.
(() => {
  const form = document.getElementById("filter"), heads = document.getElementById("heads");
  const rows = [...document.querySelectorAll("#claims .entry")];
  const groups = [...document.querySelectorAll("details.document")].map((group) => [group, group.open]);
  const plain = (text) => text.normalize("NFKD").replace(/\s+/g, " ").toLowerCase();
  const cells = (row) => (row.querySelector("summary") || row).children;
  const text = (row) => [...cells(row)].map((cell) => cell.textContent).join(" ");
  const texts = new Map(rows.map((row) => [row, plain(`${row.dataset.id} ${row.dataset.document} ${text(row)}`)]));
  const field = (name) => document.getElementById("f-" + name);
  const chosen = ["document", "kind", "verdict"];

  function filter() {
    const wanted = plain(field("text").value).split(" ").filter(Boolean);
    const any = wanted.length || chosen.some((name) => field(name).value);
    let count = 0;
    for (const row of rows) {
      row.hidden = !(chosen.every((name) => !field(name).value || row.dataset[name] === field(name).value)
        && wanted.every((word) => texts.get(row).includes(word)));
      count += !row.hidden;
    }
    for (const [group, open] of groups) {
      group.hidden = !group.querySelector(".entry:not([hidden])");
      group.open = any ? true : open;
    }
    document.getElementById("none").hidden = count > 0;
    field("count").textContent = count === rows.length ? `${count} claims` : `${count} of ${rows.length} claims`;
  }

  // Sorts the claims of each document.
  function sort(button, column) {
    const descending = button.dataset.order === "ascending";
    for (const other of heads.children) { delete other.dataset.order; other.removeAttribute("aria-pressed"); }
    button.dataset.order = descending ? "descending" : "ascending";
    button.setAttribute("aria-pressed", "true");
    const key = (row) => {
      const cell = cells(row)[column], value = cell.dataset.value;
      return value === undefined ? plain(cell.textContent) : value === "" ? -Infinity : Number(value);
    };
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1));
    for (const [, row] of keyed) row.parentElement.append(row);
    for (const [group] of groups) group.open = true;
  }

  // What a link leads to is opened, and shown if the filter hides it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.hidden) { form.reset(); filter(); }
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView();
  }

  [...heads.children].forEach((button, column) => button.addEventListener("click", () => sort(button, column)));
  for (const link of document.querySelectorAll("[data-set-verdict]"))
    link.addEventListener("click", () => { form.reset(); field("verdict").value = link.dataset.setVerdict; filter(); });
  for (const link of document.querySelectorAll('a[href^="#"]'))
    link.addEventListener("click", () => { if (link.getAttribute("href") === location.hash) reveal(); });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = heads.hidden = false;
  addEventListener("hashchange", reveal);
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
  filter();
  reveal();
})();
