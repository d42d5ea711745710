"use strict";
// Filters and sorts the table of claims; without it the page shows everything in one order.
(() => {
  const form = document.getElementById("filter"), table = document.getElementById("table");
  const rows = [...table.tBodies[0].rows], articles = new Map();
  for (const article of document.querySelectorAll("article.claim")) articles.set(article.id, article);
  const plain = (text) => text.normalize("NFKD").replace(/\s+/g, " ").toLowerCase();
  const texts = new Map(rows.map((row) => [row, plain(row.textContent)]));
  const field = (name) => document.getElementById("f-" + name);
  const chosen = ["document", "kind", "verdict"];

  function filter() {
    const wanted = plain(field("text").value).split(" ").filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const fits = chosen.every((name) => !field(name).value || row.dataset[name] === field(name).value)
        && wanted.every((word) => texts.get(row).includes(word));
      row.hidden = !fits;
      const article = articles.get("claim-" + row.dataset.id);
      if (article) article.hidden = !fits;
      count += fits;
    }
    for (const section of document.querySelectorAll("section.document"))
      section.hidden = !section.querySelector("article:not([hidden])");
    document.getElementById("none").hidden = count > 0;
    field("count").textContent = count === rows.length ? `${count} claims` : `${count} of ${rows.length} claims`;
  }

  function sort(header, column) {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const number = header.dataset.sort === "number";
    const key = (row) => {
      const cell = row.cells[column];
      return number ? (cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value)) : plain(cell.textContent);
    };
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (descending ? -1 : 1));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  }

  // A claim that the filter hides is shown when a link leads to it.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.hidden) { form.reset(); filter(); target.scrollIntoView(); }
  }

  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    button.addEventListener("click", () => sort(header, column));
    header.replaceChildren(button);
  });
  for (const link of document.querySelectorAll("[data-set-verdict]"))
    link.addEventListener("click", () => { form.reset(); field("verdict").value = link.dataset.setVerdict; filter(); });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
