"use strict";
// Shows only the rows of the list that hold every word of the search field.
(() => {
  const field = document.getElementById("filter");
  const rows = [...document.querySelectorAll("#trajectories tbody tr")];
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
})();
