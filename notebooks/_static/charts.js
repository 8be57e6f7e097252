// Draw the charts of a page in the colours of its theme and as wide as it has room, and again when either changes.
(() => {
  const charts = [...document.querySelectorAll(".vega-chart")].map((element) => ({
    element,
    spec: JSON.parse(element.querySelector("script").textContent),
    target: document.createElement("div"),
  }));

  // A line of a title has some pixels a letter; marks are never narrower than this.
  const LETTER = 7, NARROWEST = 120;

  /** A text as lines that fit; several as those of all. */
  function lines(text, room) {
    const most = Math.floor(room / LETTER), found = [];
    for (const part of [text].flat()) {
      found.push("");
      for (const word of String(part).split(" ")) {
        const line = found.at(-1);
        if (line && line.length + word.length >= most) found.push(word);
        else found[found.length - 1] = line ? `${line} ${word}` : word;
      }
    }
    return found;
  }

  /** A chart with its panels below each other, its titles broken, and its legends below. */
  function stacked(spec, room) {
    const { title, concat } = spec, narrow = { ...spec };
    if (title?.text) {
      const subtitle = title.subtitle ? { subtitle: lines(title.subtitle, room) } : {};
      narrow.title = { ...title, text: lines(title.text, room), ...subtitle, limit: 0 };
    }
    if (concat) Object.assign(narrow, { columns: 1, concat: concat.map((panel) => stacked(panel, room)) });
    narrow.config = { ...spec.config, legend: { ...spec.config?.legend, orient: "bottom", columns: 2 } };
    return narrow;
  }

  /** A chart whose panels are narrower by some pixels. */
  function narrowed(spec, by) {
    const narrow = { ...spec };
    if (typeof spec.width === "number") narrow.width = Math.max(NARROWEST, spec.width - by);
    if (spec.concat) narrow.concat = spec.concat.map((panel) => narrowed(panel, by));
    return narrow;
  }

  async function drawn(target, spec, dark) {
    const { view } = await vegaEmbed(target, { ...spec, background: dark ? "#14181e" : "#ffffff" }, {
      actions: false,
      renderer: "svg",
      theme: dark ? "dark" : undefined,
    });
    await view.runAsync();
    return Number(target.querySelector("svg").getAttribute("width"));
  }

  const room = new Map();

  async function draw() {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const { element, spec, target } of charts) {
      const width = element.clientWidth;
      room.set(element, width);
      let shown = spec, taken = await drawn(target, shown, dark);
      if (width && taken > width) taken = await drawn(target, (shown = stacked(spec, width)), dark);
      if (width && taken > width) await drawn(target, narrowed(shown, taken - width), dark);
      element.replaceChildren(target);
    }
  }

  new MutationObserver(draw).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  addEventListener("resize", () => { if (charts.some(({ element }) => element.clientWidth !== room.get(element))) draw(); });
  draw();
})();
