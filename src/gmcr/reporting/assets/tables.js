// Tables

function sortable(table) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    if (heading.classList.contains("pictures")) return;
    const text = heading.textContent;
    heading.textContent = "";
    button(text, heading, () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = heading.classList.contains("n");
      const key = (row) => {
        const { dataset, textContent } = row.cells[column];
        return numeric ? (dataset.v === undefined ? -Infinity : Number(dataset.v)) : textContent;
      };
      const collate = new Intl.Collator("en", { numeric: true }).compare;
      const compare = numeric ? (a, b) => a - b || 0 : collate;
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
      body.append(...rows.map(([, row]) => row));
      live.textContent = `sorted by ${text}, ${down ? "largest" : "smallest"} first`;
    });
  });
}
