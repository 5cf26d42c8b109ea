"use strict";
// A link to a place that is folded away unfolds it.
(() => {
  function unfold() {
    const place = document.getElementById(location.hash.slice(1));
    if (!place) return;
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    place.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  unfold();
})();
