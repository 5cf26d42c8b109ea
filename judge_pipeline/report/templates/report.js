"use strict";
// Draws the page's figures to the width at hand, and again when the width changes or the page is printed.
(() => {
  const PRINT_WIDTH = 680; // what fits between the margins of an A4 page
  const PRINT_HEIGHT = 420; // a taller figure is printed in parts: no page break cuts a panel, and pages fill up
  const figures = JSON.parse(document.getElementById("figure-data").textContent);
  const chosen = {};
  const config = {
    displaylogo: false,
    responsive: false,
    typesetMath: false,
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
  };

  // The same geometry as Facets in figures/style.py: panels side by side as far as their least width allows.
  function panelSize(facets, inner) {
    const fitting = Math.floor((inner + facets.gap_x) / (facets.min_width + facets.gap_x));
    const columns = Math.max(1, Math.min(facets.count, fitting));
    const width = (inner - (columns - 1) * facets.gap_x) / columns;
    if (!facets.square) return { columns, width, height: facets.height };
    return { columns, width: Math.min(width, 1.3 * facets.height), height: Math.min(facets.height, 1.1 * width) };
  }

  const suffix = (panel) => (panel === 0 ? "" : String(panel + 1));
  const panelOf = (reference) => Number((reference || "x").split(" ")[0].slice(1) || 1) - 1;

  // The part of a figure that holds the panels first..last-1, placed for layout.width.
  function placePanels(spec, first, last) {
    const { layout } = spec;
    const { facets } = layout.meta;
    const inner = layout.width - layout.margin.l - layout.margin.r;
    const { columns, width, height } = panelSize(facets, inner);
    const rows = Math.ceil((last - first) / columns);
    const innerHeight = rows * height + (rows - 1) * facets.gap_y;
    const inside = (reference) => panelOf(reference) >= first && panelOf(reference) < last;
    spec.data = spec.data.filter((trace) => inside(trace.xaxis));
    layout.annotations = layout.annotations.filter((annotation) => inside(annotation.xref));
    for (let panel = 0; panel < facets.count; panel += 1) {
      const x = "xaxis" + suffix(panel);
      const y = "yaxis" + suffix(panel);
      if (panel < first || panel >= last) {
        delete layout[x];
        delete layout[y];
        continue;
      }
      const left = (((panel - first) % columns) * (width + facets.gap_x)) / inner;
      const top = 1 - (Math.floor((panel - first) / columns) * (height + facets.gap_y)) / innerHeight;
      layout[x].domain = [left, Math.min(1, left + width / inner)];
      layout[y].domain = [Math.max(0, top - height / innerHeight), top];
    }
    layout.height = innerHeight + layout.margin.t + layout.margin.b;
  }

  // What is drawn of a figure that offers a choice (figures/struggle_groups.py).
  function showChoice(spec, choice) {
    spec.data = spec.data.filter((trace) => String(trace.meta.choice) === choice);
    spec.data.forEach((trace) => { trace.visible = true; });
    spec.layout.annotations = spec.layout.annotations.filter((annotation) => annotation.name === choice);
    spec.layout.annotations.forEach((annotation) => { annotation.visible = true; });
  }

  function offerChoices(place) {
    const name = place.dataset.figure;
    const { choices } = figures[name].layout.meta;
    if (!choices) return;
    const label = document.createElement("label");
    const select = document.createElement("select");
    label.className = "choice";
    choices.forEach((choice, i) => select.add(new Option(choice, String(i))));
    select.addEventListener("change", () => {
      chosen[name] = Number(select.value);
      drawOne(place);
    });
    label.append("Judge: ", select);
    place.closest(".scroll").before(label);
  }

  // A figure for a width: one part, or several of whole rows of panels where a height is not to be exceeded.
  function partsFor(name, available, maxHeight) {
    const spec = structuredClone(figures[name]);
    const { layout } = spec;
    const { meta } = layout;
    if (meta.choices) showChoice(spec, String(chosen[name] || 0));
    layout.width = Math.max(Math.min(available, meta.max_width || Infinity), meta.min_width || 0);
    layout.margin.t -= meta.title_space;
    layout.height -= meta.title_space;
    if (!meta.facets) return [spec];
    const { columns, height } = panelSize(meta.facets, layout.width - layout.margin.l - layout.margin.r);
    const room = maxHeight - layout.margin.t - layout.margin.b + meta.facets.gap_y;
    const step = columns * Math.max(1, Math.floor(Math.min(room / (height + meta.facets.gap_y), meta.facets.count)));
    const parts = [];
    for (let first = 0; first < meta.facets.count; first += step) {
      const part = structuredClone(spec);
      placePanels(part, first, Math.min(first + step, meta.facets.count));
      parts.push(part);
    }
    return parts;
  }

  function drawOne(place, width, maxHeight = Infinity) {
    const name = place.dataset.figure;
    try {
      const parts = partsFor(name, width || place.parentElement.clientWidth, maxHeight);
      for (const old of place.children) Plotly.purge(old);
      place.replaceChildren(...parts.map(() => document.createElement("div")));
      parts.forEach((part, i) => Plotly.newPlot(place.children[i], part.data, part.layout, config));
    } catch (error) {
      // One figure that cannot be drawn must not take the others with it; its text alternative stands below.
      place.textContent = "This figure could not be drawn here; it is described in words below.";
      console.error(name, error);
    }
  }

  function draw(width, maxHeight) {
    for (const place of document.querySelectorAll("[data-figure]")) drawOne(place, width, maxHeight);
  }

  let drawnWidth = 0;
  function drawIfWidthChanged() {
    if (document.documentElement.clientWidth !== drawnWidth) {
      drawnWidth = document.documentElement.clientWidth;
      draw();
    }
  }

  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(drawIfWidthChanged, 150);
  });
  window.addEventListener("beforeprint", () => draw(PRINT_WIDTH, PRINT_HEIGHT));
  window.addEventListener("afterprint", () => draw());
  document.querySelectorAll("[data-figure]").forEach(offerChoices);
  drawIfWidthChanged();
  document.documentElement.dataset.drawn = "yes";
})();
