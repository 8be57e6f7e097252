// Draw the charts of a page in the colours of its theme, and again when the theme changes.
(() => {
  const charts = [...document.querySelectorAll(".vega-chart")].map((element) => ({
    element,
    spec: JSON.parse(element.querySelector("script").textContent),
    target: document.createElement("div"),
  }));

  async function draw() {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const { element, spec, target } of charts) {
      await vegaEmbed(target, { ...spec, background: dark ? "#14181e" : "#ffffff" }, {
        actions: false,
        renderer: "svg",
        theme: dark ? "dark" : undefined,
      });
      element.replaceChildren(target);
    }
  }

  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  draw();
})();
