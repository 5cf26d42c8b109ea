// Loads the drawing library that lies beside the page, and then runs what draws.
function withLibrary(address, draw) {
  const library = document.createElement("script");
  library.src = address;
  library.addEventListener("load", draw);
  library.addEventListener("error", () => {
    for (const place of document.querySelectorAll("[data-figure]")) {
      place.textContent = `The file ${address} is not beside this page, so the figure is described in words below only.`;
    }
  });
  document.head.append(library);
}
