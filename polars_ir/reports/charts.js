// The charts: differences query by query, the measure at several cutoffs, how its values are spread, and slices. They are
// drawn from the figures of the page, in its own colours. The pair that is chosen is told apart by dashes and names, too.

const HEIGHT = 260, MARGIN = { top: 26, right: 12, bottom: 40, left: 52 };

/** The room that names have at the ends of lines, and what each takes of the height. */
const NAMES = 120, NAME_HEIGHT = 15;

/** An element of SVG. */
function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

/** The ticks of an axis of queries. */
const ticksOfQueries = (n) => [...new Set([1, ...ticks(1, n).filter((tick) => tick > 0 && Number.isInteger(tick))])].map((tick) => [tick, tick.toLocaleString("en")]);

/** Round numbers from one to another, some five of them. */
function ticks(low, high, n = 5) {
  const rough = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((each) => each * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The ends of values, of which 0 is one or between; apart even where all are the same. */
function ends(values) {
  const found = values.filter(isNumber);
  const low = found.reduce((least, each) => Math.min(least, each), 0), high = found.reduce((most, each) => Math.max(most, each), 0);
  return low === high ? [low, low + 1] : [low, high];
}

/** A place for charts: as wide as its figure, with the scales of both axes. */
function plane(figure, { x, y, margin = MARGIN, height = HEIGHT }) {
  const width = Math.max(260, figure.clientWidth || 600), [left, right, top, bottom] = [margin.left, width - margin.right, margin.top, height - margin.bottom];
  const scale = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);
  return { width, height, left, right, top, bottom, x: scale(x, left, right), y: scale(y, bottom, top) };
}

/** The decimals of ticks. */
const placesOf = (values) => Math.max(...values.map((tick) => (String(tick).split(".")[1] ?? "").length));

/** The axes: lines across at the ticks of y, ticks of x below, and what each is. */
function axes({ left, right, bottom, top, x, y }, { xTicks, yTicks, xTitle, yTitle, signed }) {
  const places = placesOf(yTicks);
  return [
    yTicks.map((tick) => [
      svg("line", { class: tick === 0 ? "zero" : "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick", x: left - 8, y: y(tick), dy: ".32em", "text-anchor": "end" }, number(tick, places, signed)),
    ]),
    xTicks.map(([tick, label]) => svg("text", { class: "tick", x: x(tick), y: bottom + 18, "text-anchor": "middle" }, label)),
    svg("text", { class: "tick", x: (left + right) / 2, y: bottom + 35, "text-anchor": "middle" }, xTitle),
    svg("text", { class: "tick", x: left, y: top - 12 }, yTitle),
  ];
}

/** The pair, by its colours and dashes. */
const legend = (pair) => h("p", { class: "legend" }, pair.map((system, n) => h("span", { class: n ? "compared" : "chosen" }, named(system))));

/** A figure: what it shows, a word on it, a legend, and the chart. */
function chart(id, title, note, draw, ...below) {
  const place = document.getElementById(id);
  const drawn = () => {
    const { width, height = HEIGHT, marks } = draw(place);
    return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": [title, note].flat().map((part) => part.textContent ?? part).join(". ") }, marks);
  };
  place.replaceChildren(h("figcaption", {}, h("h3", {}, title), h("p", { class: "note" }, note), ...below), drawn());
}

/** How a system is drawn: the chosen one, the one it is compared with, or one of the others. */
const kindOf = (system) => (system === state.a ? "line chosen" : system === state.b ? "line compared" : "line");

/** Lines, those of the pair last, above the others. A click chooses a system. */
function lines(drawn) {
  const above = [...drawn].sort((one, other) => kindOf(one.system).length - kindOf(other.system).length);
  return above.map(({ system, path }) => svg("g", { class: "system", onclick: () => choose("a", system) }, svg("title", {}, shown(systems[system])), svg("path", { class: "touch", d: path }), svg("path", { class: kindOf(system), d: path })));
}

/** The names of lines at their ends: those of the pair, and of all where there is room. */
function namesOf({ right, top, bottom }, drawn) {
  const named = drawn.filter(({ system }) => kindOf(system) !== "line" || drawn.length * NAME_HEIGHT <= bottom - top).sort((one, other) => one.end - other.end);
  const places = named.map(({ end }) => end);
  // One name below the other, and all of them beside the chart.
  for (let i = 1; i < places.length; i++) places[i] = Math.max(places[i], places[i - 1] + NAME_HEIGHT);
  for (let i = places.length - 1; i >= 0; i--) places[i] = Math.min(places[i], i === places.length - 1 ? bottom : places[i + 1] - NAME_HEIGHT);
  return named.map(({ system }, i) => svg("text", { class: `${kindOf(system)} name`, x: right + 8, y: Math.max(top, places[i]), dy: ".32em", onclick: () => choose("a", system) }, labels[system]));
}

/** The differences of the pair, the largest first: a bar per query, which opens it. */
function showDifferences() {
  const [a, b] = pairOf();
  const rows = sortedBy(queryRows().filter((row) => isNumber(row.difference)), (row) => row.difference, true);
  const title = ["Differences by ", shown(measureName()), ", ", isolated(systems[a]), " less ", isolated(systems[b])];
  const compared = comparison(systems[a], systems[b]), isBanded = isNumber(compared?.low);
  const onBand = isBanded ? " The line across is the mean difference, in its simultaneous 95 % interval." : "";
  const note = `A bar per query, the largest difference first.${onBand} ${rows.filter((row) => row.difference === 0).length} of ${counted(rows.length, "query", "queries")} do not differ. A click opens a query.`;
  chart("differences", title, note, (place) => {
    // With 0 in the middle, gains and losses are seen against each other.
    const high = Math.max(...ends(rows.map((row) => row.difference)).map(Math.abs)), low = -high;
    const made = plane(place, { x: [0, Math.max(rows.length, 1)], y: [low, high] }), zero = made.y(0).toFixed(1);
    // Bars of less than half a dot merge: only some are drawn, each as wide as those between.
    const step = Math.max(1, Math.floor(rows.length / (2 * (made.right - made.left)))), wide = step > 1 ? step : 0.9;
    const bar = (row, i) => `M${made.x(i).toFixed(2)},${zero}V${made.y(row.difference).toFixed(1)}H${made.x(i + wide).toFixed(2)}V${zero}Z`;
    const of = (kind, is) => svg("path", { class: kind, d: rows.map((row, i) => (i % step === 0 && is(row) ? bar(row, i) : "")).join("") });
    const at = rows.findIndex((row) => row.query === state.query);
    const label = svg("text", { class: "tick", x: made.right, y: made.top + 8, "text-anchor": "end" });
    const rowAt = (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      return rows[Math.min(rows.length - 1, Math.floor(((event.clientX - box.left) / box.width) * rows.length))];
    };
    const told = (event) => { const row = rowAt(event); label.textContent = row ? `${shortened(shown(row.id))}  ${number(row.difference, 4, true)}` : ""; };
    const touched = svg("rect", { class: "touched", x: made.left, y: made.top, width: made.right - made.left, height: made.bottom - made.top, onpointermove: told, onclick: (event) => { const row = rowAt(event); if (row) openQuery(row.query); } });
    const band = isBanded ? [
      svg("rect", { class: "band", x: made.left, y: made.y(compared.high), width: made.right - made.left, height: Math.max(1, made.y(compared.low) - made.y(compared.high)) }),
      svg("line", { class: "mean", x1: made.left, x2: made.right, y1: made.y(compared.difference), y2: made.y(compared.difference) }),
    ] : null;
    const across = axes(made, { xTicks: ticksOfQueries(rows.length), yTicks: ticks(low, high), xTitle: "queries", yTitle: shown(measureName()), signed: true });
    return { width: made.width, marks: [across, of("gain", (row) => row.gain > 0), of("loss", (row) => row.gain < 0), band, at < 0 ? null : svg("line", { class: "here", x1: made.x(at + 0.45), x2: made.x(at + 0.45), y1: made.top, y2: made.bottom }), label, touched] };
  });
}

/** The first measure at several cutoffs. */
function showCutoffs() {
  const { cutoffs } = content;
  const rows = rowsOf(cutoffs.rows), ks = [...new Set(rows.map((row) => row.k))];
  chart("cutoffs", `${shown(cutoffs.measure)} by its cutoff k`, "Means over the queries. A click on a line chooses its system.", (place) => {
    const [low, high] = ends(rows.map((row) => row.mean));
    const made = plane(place, { x: [Math.log(ks[0]), Math.log(ks.at(-1))], y: [low, high], margin: { ...MARGIN, right: NAMES } });
    const drawn = systems.map((name, system) => {
      const points = rows.filter((row) => row.run === name && isNumber(row.mean)).map((row) => [made.x(Math.log(row.k)), made.y(row.mean)]);
      return { system, end: points.at(-1)?.[1] ?? made.bottom, path: pathOf(points) };
    });
    return { width: made.width, marks: [axes(made, { xTicks: ticksOfCutoffs(ks, made), yTicks: ticks(low, high), xTitle: "k", yTitle: cutoffs.measure }), lines(drawn), namesOf(made, drawn)] };
  });
}

/** The cutoffs that have room for their numbers: both ends, and those between that meet no other. */
function ticksOfCutoffs(ks, { x }) {
  const at = (k) => x(Math.log(k)), last = ks.at(-1), found = [];
  for (const k of ks) if (k === last || (found.every((other) => at(k) - at(other) > 26) && (k === ks[0] || at(last) - at(k) > 26))) found.push(k);
  return found.map((k) => [Math.log(k), String(k)]);
}

const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

/** The most points of a line, of more queries some are left out. */
const POINTS = 400;

/** The values of each system, the largest first. */
function showSpread() {
  const values = systems.map((_, system) => figuresOfAll(state.measure, system).filter(isNumber).sort().reverse());
  const n = Math.max(...values.map((of) => of.length), 2);
  const left = n > POINTS ? ` Of ${n.toLocaleString("en")} queries some ${POINTS} are drawn.` : "";
  chart("spread", `${shown(measureName())} over the queries`, `The values of each system, its largest first. A click on a line chooses its system.${left}`, (place) => {
    const [low, high] = ends(values.flatMap((of) => [of[0], of.at(-1)]));
    const made = plane(place, { x: [1, n], y: [low, high] });
    const drawn = values.map((of, system) => {
      const step = Math.max(1, (of.length - 1) / POINTS);
      const points = Array.from({ length: Math.min(of.length, POINTS + 1) }, (_, i) => Math.min(of.length - 1, Math.round(i * step)));
      return { system, path: pathOf(points.map((i) => [made.x(i + 1), made.y(of[i])])) };
    });
    return { width: made.width, marks: [axes(made, { xTicks: ticksOfQueries(n), yTicks: ticks(low, high), xTitle: "queries", yTitle: shown(measureName()) }), lines(drawn)] };
  }, legend(pairOf()));
}

/** The most slices that are drawn, and the height of one. */
const SLICES = 30, SLICE = 28;

/** The means in the slices of a column with their intervals, those of two systems beside each other; others are points. */
function showSlicesOf({ attribute, reference, means }, i) {
  const rows = rowsOf(means).filter((row) => row.measure === measureName()), pair = pairInSlices(reference);
  const of = new Map(systems.map((run) => [run, new Map(rows.filter((row) => row.run === run).map((row) => [row.value, row]))]));
  const found = of.get(pair[0]), all = [...found.keys()];
  const largest = new Set([...all].sort((one, other) => found.get(other).n_queries - found.get(one).n_queries).slice(0, SLICES));
  const slices = all.filter((slice) => largest.has(slice));
  const left = all.length > slices.length ? ` Of ${all.length.toLocaleString("en")} slices the ${slices.length} largest are drawn.` : "";
  const note = `Means of ${shown(measureName())} with their 95 % intervals${systems.length > pair.length ? "; a grey point is another system, and a click on it chooses it" : ""}. A click on a slice shows its queries.${left}`;
  chart(`slices-${i}`, ["By ", isolated(attribute)], note, (place) => {
    const drawn = rows.filter((row) => largest.has(row.value));
    const [low, high] = ends(drawn.flatMap((row) => (pair.includes(row.run) ? [row.mean, row.low, row.high] : row.mean)));
    const margin = { ...MARGIN, top: 8, left: Math.min(150, Math.max(112, place.clientWidth / 4)) };
    const made = plane(place, { x: [low, high], y: [slices.length, 0], margin, height: margin.top + slices.length * SLICE + margin.bottom });
    const xTicks = ticks(low, high), places = placesOf(xTicks);
    const interval = (run, slice, y, kind) => {
      const row = of.get(run).get(slice);
      if (!isNumber(row?.mean)) return null;
      const title = svg("title", {}, `${shown(run)}: ${number(row.mean)} (${ranges([row])(row)})`);
      const across = isNumber(row.low) ? svg("path", { class: `line ${kind}`, d: `M${made.x(row.low).toFixed(1)},${y}H${made.x(row.high).toFixed(1)}` }) : null;
      return svg("g", {}, title, across, kind === "chosen" ? svg("circle", { class: "point chosen", cx: made.x(row.mean), cy: y, r: 4.5 }) : svg("rect", { class: "point compared", x: made.x(row.mean) - 4, y: y - 4, width: 8, height: 8 }));
    };
    const point = (run, slice, y) => {
      const row = of.get(run).get(slice);
      const onclick = (event) => { event.stopPropagation(); choose("a", systems.indexOf(run)); };
      return isNumber(row?.mean) ? svg("circle", { class: "point other", cx: made.x(row.mean), cy: y, r: 3, onclick }, svg("title", {}, `${shown(run)}: ${number(row.mean)}`)) : null;
    };
    const others = systems.filter((run) => !pair.includes(run)), [chosenBy, chosen] = state.slice;
    const slicesDrawn = slices.map((slice, place) => {
      const y = made.y(place + 0.5), is = chosenBy === attribute && chosen === slice;
      return svg("g", { class: "slice", onclick: () => chooseSlice(attribute, slice) },
        svg("rect", { class: is ? "touched marked" : "touched", x: 0, y: y - SLICE / 2, width: made.width, height: SLICE }),
        svg("text", { class: "tick", x: made.left - 10, y, dy: ".32em", "text-anchor": "end" }, shortened(shown(slice ?? "\u2013"))),
        others.map((run) => point(run, slice, y)),
        pair.map((run, n) => interval(run, slice, y + (pair.length > 1 ? 6 * (2 * n - 1) : 0), n ? "compared" : "chosen")));
    });
    return { ...made, marks: [
      xTicks.map((tick) => [svg("line", { class: tick === 0 ? "zero" : "grid", x1: made.x(tick), x2: made.x(tick), y1: made.top, y2: made.bottom }), svg("text", { class: "tick", x: made.x(tick), y: made.bottom + 18, "text-anchor": "middle" }, number(tick, places))]),
      svg("text", { class: "tick", x: (made.left + made.right) / 2, y: made.bottom + 35, "text-anchor": "middle" }, shown(measureName())),
      slicesDrawn,
    ] };
  }, legend(pair.map((run) => systems.indexOf(run))));
}

function showCharts() {
  const several = content.queries.ids.length > 1;
  const charts = { differences: several && systems.length > 1 && showDifferences, cutoffs: content.cutoffs && showCutoffs, spread: several && showSpread };
  document.getElementById("charts").hidden = !Object.values(charts).some(Boolean);
  // Each is as wide as the others leave it.
  for (const [id, draw] of Object.entries(charts)) document.getElementById(id).hidden = !draw;
  for (const draw of Object.values(charts)) if (draw) draw();
  content.slices.forEach(showSlicesOf);
}
