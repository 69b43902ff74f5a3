// Everything that the page holds, drawn

document.querySelectorAll("figure[data-chart]").forEach((figure) => {
  const spec = data.charts[figure.dataset.chart];
  new kinds[spec.kind](figure, spec);
});
document.querySelectorAll("table.sortable").forEach(sortable);
document.documentElement.dataset.ready = "yes";
