// The page: its data, what is chosen in it, and its parts, top down.

/** The most systems whose values stand beside each other in the table of queries. */
const MOST_COLUMNS = 5;

const state = {
  measure: 0, a: 0, b: 1, filter: "all", search: "", slice: [], page: 0, row: 0, query: null,
  sort: { systems: null, queries: null },
};

let content, systems, labels, figures, kept;

/** The bytes of a script element: base64 of what was deflated. */
async function inflated(id) {
  const element = document.getElementById(id);
  const text = element.textContent;
  element.remove();
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const wholes = [];

/** The decimals that values of a measure have at least: none if it counts. */
function leastOf(measure) {
  const n = systems.length * content.queries.ids.length, isWhole = (each) => Number.isNaN(each) || Number.isInteger(each);
  return (wholes[measure] ??= figures.subarray(measure * n, (measure + 1) * n).every(isWhole)) ? 0 : 4;
}

/** The value of a measure, or of a count behind the measures; NaN where there is none. */
const value = (measure, system, query) => figures[(measure * systems.length + system) * content.queries.ids.length + query];

/** The figures of a system, a query after the other. */
function figuresOfAll(table, system) {
  const n = content.queries.ids.length, start = (table * systems.length + system) * n;
  return figures.subarray(start, start + n);
}

/** What was counted of a ranking; undefined where nothing was. */
function count(name, system, query) {
  const place = content.counts.indexOf(name);
  return place < 0 ? undefined : value(content.measures.length + place, system, query);
}

/** The documents of the queries whose rankings are kept, each with its places by system. */
function keptRankings() {
  if (!content.rankings) return new Map();
  const number = new Map(content.queries.ids.map((id, query) => [id, query]));
  const found = new Map(content.rankings.queries.map((id) => [number.get(id), []]));
  const documents = rowsOf(content.rankings.documents).map((row) => ({ ...row, places: new Map() }));
  for (const document of documents) found.get(number.get(document.query_id)).push(document);
  const { document, run, rank, contribution } = content.rankings.places;
  document.forEach((place, i) => documents[place].places.set(run[i], { rank: rank[i], contribution: contribution[i] }));
  for (const each of documents) each.missed = each.gain > 0 && ![...each.places.values()].some(({ rank }) => rank <= content.rankings.depth);
  return found;
}

/** A short name of a system, with the whole one where a pointer rests. */
const named = (system) => isolated(labels[system], { title: shown(systems[system]) });

const measureName = () => content.measures[state.measure].name;

/** The comparison of two systems, whichever of them the library took for the baseline. */
function comparison(a, b) {
  const { baseline, against, pairs } = content;
  const rows = (b === baseline && against ? against : pairs ?? []).filter((row) => row.measure === measureName());
  const found = rows.find((row) => row.run === a && row.baseline === b);
  if (found) return found;
  const turned = rows.find((row) => row.run === b && row.baseline === a);
  if (!turned) return null;
  const negative = (figure) => (figure == null ? null : -figure);
  return {
    ...turned, run: a, baseline: b, difference: negative(turned.difference), low: negative(turned.high),
    high: negative(turned.low), wins: turned.losses, losses: turned.wins,
  };
}

/** The system that others are shown as differences from: the baseline, or the first by the measure. */
function reference() {
  if (content.baseline != null) return content.baseline;
  const ranked = (content.ranks ?? []).filter((row) => row.measure === measureName());
  return ranked.length ? ranked[0].run : systems[0];
}

const lacking = [];

/** The number of queries that a system does not answer. */
function unansweredBy(system) {
  const retrieved = content.measures.length + content.counts.indexOf("NumRet");
  return (lacking[system] ??= figuresOfAll(retrieved, system).reduce((n, each) => n + !(each > 0), 0));
}

/** A row per system. */
function systemRows() {
  const of = (rows) => Object.fromEntries((rows ?? []).filter((row) => row.measure === measureName()).map((row) => [row.run, row]));
  const summary = of(content.summary), ranks = of(content.ranks), against = reference();
  return systems.map((run, system) => {
    const means = Object.fromEntries(content.summary.filter((row) => row.run === run).map((row) => [row.measure, row.mean]));
    const unanswered = content.counts.length ? unansweredBy(system) : null;
    return { run, system, means, unanswered, summary: summary[run] ?? {}, rank: ranks[run] ?? {}, compared: run === against ? {} : comparison(run, against) ?? {} };
  });
}

function systemColumns() {
  const rows = systemRows(), cost = content.measures[state.measure].cost;
  const ofP = decimalsOfP(rows.map((row) => row.compared));
  const interval = ranges(rows.map((row) => row.summary)), ofDifference = ranges(rows.map((row) => row.compared), true);
  const direction = (row) => ((row.compared.difference > 0) !== cost ? "better" : "worse");
  const tone = (row) => (row.compared.significant ? `figure strong ${direction(row)}` : "figure");
  const quiet = (text) => (row) => h("td", { class: "figure range" }, text(row));
  const ranksOf = ({ rank: { best_rank: best, worst_rank: worst } }) => (best == null ? "\u2013" : best === worst ? String(best) : `${best} to ${worst}`);
  const outcomes = ({ compared }) => (compared.wins == null ? "\u2013" : ["wins", "ties", "losses"].map((outcome) => whole(compared[outcome])).join(" / "));
  /** A column of figures with as many decimals as distinguish them. */
  const column = (key, label, value, { signed, falls = !cost, kind = () => "figure" } = {}) => {
    const places = decimals(rows.map(value));
    return { key, label, figure: true, falls, value, cell: (row) => figure(value(row), number(value(row), places, signed), { class: kind(row) }) };
  };
  const name = (row) => h("th", { scope: "row", class: "name" },
    h("button", { class: "pick", type: "button", "aria-pressed": String(row.system === state.a), onclick: () => choose("a", row.system) }, isolated(row.run)),
    row.run === content.baseline ? " (baseline)" : null);
  const columns = [{ key: "run", label: "System", value: (row) => row.run, cell: name }];
  if (content.ranks) columns.push(
    { key: "rank", label: "Rank", figure: true, value: (row) => row.rank.rank, cell: (row) => figure(row.rank.rank, whole(row.rank.rank)) },
    { key: "ranks", label: "Rank range", figure: true, value: (row) => row.rank.best_rank, cell: quiet(ranksOf) },
  );
  columns.push(
    column("mean", isolated(measureName()), (row) => row.summary.mean, { kind: () => "figure strong" }),
    { key: "interval", label: "95 % interval", figure: true, cell: quiet((row) => interval(row.summary)) },
  );
  if (content.pairs) columns.push(
    { ...column("difference", ["Difference from ", named(systems.indexOf(reference()))], (row) => row.compared.difference, { signed: true, kind: tone }), vital: true },
    { key: "low", label: "simultaneous 95 %", figure: true, cell: quiet((row) => ofDifference(row.compared)) },
    { key: "p", label: "p, corrected", figure: true, vital: true, value: (row) => row.compared.p_corrected, cell: (row) => pCell(row.compared, ofP) },
    { key: "wins", label: "Better / equal / worse", figure: true, falls: true, value: (row) => row.compared.wins, cell: (row) => h("td", { class: "figure" }, outcomes(row)) },
  );
  for (const { name, cost } of content.measures.filter((_, m) => m !== state.measure)) {
    columns.push(column(`mean of ${name}`, isolated(name), (row) => row.means[name], { falls: !cost }));
  }
  if (rows.some((row) => row.unanswered)) columns.push(
    { key: "unanswered", label: "Unanswered", figure: true, falls: true, value: (row) => row.unanswered, cell: (row) => figure(row.unanswered, whole(row.unanswered)) },
  );
  return columns;
}

function showSystems() {
  const onsort = (sort) => { state.sort.systems = sort; showSystems(); focusHeading("systems-table", sort.key); };
  const ranked = new Map((content.ranks ?? []).filter((row) => row.measure === measureName()).map((row, i) => [row.run, i]));
  const rows = sortedBy(systemRows(), (row) => ranked.get(row.run) ?? row.system, false);
  const columns = systemColumns();
  const row = ({ system }) => ({ class: systems.length > 1 && system === state.a ? "chosen" : null });
  fill("systems-table", wide("The table of systems", table(columns, inOrder(rows, columns, state.sort.systems), { sort: state.sort.systems, onsort, row })));
  const family = content.baseline == null ? "all pairs" : "the comparisons with the baseline";
  const note = `p is of the paired t-test, by Holm's correction for ${family}; * is a difference beyond chance at a level of .05. `
    + "The ranks a system may have hold for all systems together, with a confidence of 95 %. Better, equal and worse count queries.";
  fill("systems-note", content.pairs ? note : null);
  const names = content.left_out.map((name, i) => [i ? ", " : "", isolated(name)]);
  const leftOut = h("details", {}, h("summary", {}, `${counted(names.length, "system")} left out`), h("p", { class: "note" }, names));
  fill("systems-left-out", names.length ? leftOut : null);
}

/** Choose a system of the pair, which the other one then is not. */
function choose(which, system) {
  const other = which === "a" ? "b" : "a";
  if (state[other] === system) state[other] = state[which];
  state[which] = system;
  show();
}

function showAnswer() {
  const { verdict, verdicts, answers } = content;
  fill("sentences", verdict ? h("p", { class: "strong" }, verdict) : null, answers[state.measure].map((sentence) => h("p", {}, sentence)));
  if (!verdicts) return;
  const rows = rowsOf(verdicts), bounds = ranges(rows, true), places = decimals(rows.map((row) => row.difference));
  const ofP = decimals([...rows.map((row) => row.p).filter((p) => p >= SMALL_P), LEVEL]);
  const columns = [
    { label: "Measure", cell: (row) => h("th", { scope: "row", class: "name" }, isolated(row.measure)) },
    { label: "Verdict", vital: true, cell: (row) => h("td", { class: row.passed ? "strong" : "strong worse" }, row.verdict) },
    { label: "Difference", figure: true, vital: true, cell: (row) => figure(row.difference, number(row.difference, places, true)) },
    { label: "Bounds", figure: true, cell: (row) => h("td", { class: "figure range" }, bounds(row)) },
    { label: "May drop", figure: true, cell: (row) => figure(row.max_drop, number(row.max_drop)) },
    { label: "p of a drop", figure: true, vital: true, cell: (row) => figure(row.p, pText(row.p, ofP)) },
    { label: "Queries", figure: true, cell: (row) => figure(row.n_queries, whole(row.n_queries)) },
  ];
  const noted = rows.filter((row) => row.note);
  if (noted.length && !narrow.matches) columns.push({ label: "Note", cell: (row) => h("td", { class: "text" }, row.note ?? "") });
  // Beyond the end of a narrow screen notes would make rows high for nothing.
  const below = narrow.matches ? noted.map((row) => h("p", { class: "note" }, h("b", {}, isolated(row.measure)), `: ${row.note}.`)) : null;
  fill("verdicts", wide("The verdicts", table(columns, rows, {})), below);
}

function showDoubts() {
  const { findings, bounds, checked } = content.doubts;
  const items = findings.map(({ finding, severity, meaning, systems: found }) => {
    const many = found.length === systems.length && systems.length > 1 ? "all systems" : found.length > 3 ? counted(found.length, "system") : null;
    const names = many ?? found.map(({ run }, i) => [i ? ", " : "", isolated(run)]);
    // What ties move is a mean, and no share.
    const moved = /moved by/.test(finding), said = moved ? (share) => number(share) : percent;
    const columns = [
      { label: "System", cell: (row) => h("th", { scope: "row", class: "name" }, isolated(row.run)) },
      { label: "Count", figure: true, cell: (row) => figure(row.count, whole(row.count)) },
      { label: "Share", figure: true, cell: (row) => figure(row.share, said(row.share)) },
      { label: "For example", cell: (row) => h("td", { class: "text" }, row.examples.map((example, i) => [i ? ", " : "", isolated(example)])) },
    ];
    const most = Math.max(...found.map((row) => row.share ?? 0));
    const warning = severity === "warning" ? h("span", { class: "strong worse" }, "Warning: ") : null;
    const share = `, ${moved ? "by " : ""}${found.length > 1 ? "up to " : ""}${said(most)}`;
    return h("details", {}, h("summary", {}, warning, h("span", { class: "strong" }, finding), ": ", names, share),
      h("p", { class: "note" }, `${meaning[0].toUpperCase()}${meaning.slice(1)}.`), wide(`Systems: ${finding}`, table(columns, found, {})));
  });
  if (bounds?.run?.length) {
    const rows = rowsOf(bounds);
    const columns = [
      { label: "System", cell: (row) => h("th", { scope: "row", class: "name" }, isolated(row.run)) },
      ...["low", "mean", "high"].map((end) => ({ label: { low: "Lowest", mean: "As it is", high: "Highest" }[end], figure: true, cell: (row) => figure(row[end], number(row[end], decimals(rows.map((each) => each[end])))) })),
    ];
    items.push(h("details", {}, h("summary", {}, h("span", { class: "strong" }, `What unjudged documents could make of ${content.measures[0].name}`)), wide("Bounds of the means", table(columns, rows, {}))));
  }
  if (content.doubts.without_bounds) items.push(h("p", { class: "note" }, "What unjudged documents could make of the means was not computed for so many rows; evaluate with bounds tells."));
  if (content.doubts.only_relevant) items.push(h("p", { class: "note" }, "The judgments list relevant documents and no others (there is no grade of 0): any other document counts as not relevant, whether somebody looked at it or not."));
  const nothing = checked ? "Nothing odd was found." : "The runs and their judgments were not looked at: this report is of figures, or of runs that have grades themselves.";
  fill("findings", items.length ? items : h("p", {}, nothing));
}

/** The pair that slices show: the chosen one if it has the system with which slices are compared, else the first with it. */
function pairInSlices(reference) {
  const pair = pairOf().map((system) => systems[system]);
  return pair.length < 2 || pair.includes(reference) ? pair : [pair[0], reference];
}

function showSlices() {
  document.getElementById("slices").hidden = !content.slices.length;
  fill("slices-tables", content.slices.map(({ attribute, reference, means, compared, worst }, i) => {
    const of = (columns) => rowsOf(columns).filter((row) => row.measure === measureName());
    const [system, other] = pairInSlices(reference), sign = system === reference ? -1 : 1;
    // Of the reference against itself there are no slices: they are those of the other.
    const told = system === reference && content.baseline != null ? other : system;
    const bySlice = (rows) => new Map(rows.map((row) => [row.value, row]));
    const differences = bySlice(of(compared).filter((row) => row.run === (sign < 0 ? other : system)));
    const lost = bySlice(of(worst).filter((row) => row.run === told || row.run == null));
    const [ours, theirs] = [system, other].map((run) => bySlice(of(means).filter((row) => row.run === run)));
    const rows = [...(ours.size ? ours : bySlice(of(means))).keys()].map((slice) => ({ slice }));
    const column = (found, key) => [...found.values()].map((row) => row[key]);
    const places = decimals([...column(ours, "mean"), ...column(theirs, "mean")]);
    const cell = (found, key, text) => (row) => figure(found.get(row.slice)?.[key], text(found.get(row.slice)?.[key]));
    const p = (found) => { const ofP = decimalsOfP([...found.values()]); return (row) => pCell(found.get(row.slice), ofP); };
    const signed = (found, sign) => {
      const places = decimals(column(found, "difference"));
      return (row) => { const difference = sign * (found.get(row.slice)?.difference ?? NaN); return figure(difference, number(difference, places, true)); };
    };
    const columns = [
      { label: isolated(attribute), cell: (row) => h("th", { scope: "row", class: "name" }, h("button", { class: "pick", type: "button", onclick: () => chooseSlice(attribute, row.slice) }, isolated(row.slice ?? "\u2013"))) },
      { label: "Queries", figure: true, cell: cell(ours, "n_queries", whole) },
      { label: isolated(system), figure: true, cell: cell(ours, "mean", (mean) => number(mean, places)) },
    ];
    if (differences.size) columns.push(
      { label: isolated(other), figure: true, cell: cell(theirs, "mean", (mean) => number(mean, places)) },
      { label: "Difference", figure: true, vital: true, cell: signed(differences, sign) },
      { label: "p, corrected", figure: true, vital: true, cell: p(differences) });
    // What is not beyond chance would be read as a finding.
    const beyond = new Map([...lost].filter(([, row]) => row.significant));
    if (beyond.size) columns.push(
      { label: content.baseline == null ? [isolated(told), " against the other queries"] : "Difference against the other queries", figure: true, cell: signed(beyond, told === system ? 1 : -1) },
      { label: "p, corrected", figure: true, cell: p(beyond) });
    const row = ({ slice }) => ({ class: state.slice[0] === attribute && state.slice[1] === slice ? "chosen" : null });
    return [h("figure", { id: `slices-${i}` }), wide(`Slices by ${shown(attribute)}`, table(columns, rows, { row }))];
  }), h("p", { class: "note" }, "A click on a slice shows its queries. Against the other queries is what is found in a slice less what is found in all others, where that is beyond chance. p is corrected for all slices of a column, and for all systems."));
}

/** The slices, of which another is chosen. */
function showSlicesAgain() {
  showSlices();
  content.slices.forEach(showSlicesOf);
}

function chooseSlice(attribute, slice) {
  state.slice = [attribute, slice];
  state.page = state.row = 0;
  document.getElementById("slice").value = JSON.stringify(state.slice);
  showSlicesAgain();
  showQueries();
  document.getElementById("queries").scrollIntoView();
  document.getElementById("queries").focus({ preventScroll: true });
}

function showPair() {
  if (systems.length < 2) return fill("pair");
  const row = comparison(systems[state.a], systems[state.b]);
  const names = [isolated(systems[state.a]), " against ", isolated(systems[state.b]), ` by ${shown(measureName())}: `];
  if (!row) return fill("pair", names, "not compared.");
  const p = row.p_corrected == null ? row.note ?? "not tested" : `p ${pText(row.p_corrected, decimalsOfP([row])).replace(/^(?=\.)/, "= ")} corrected, ${row.significant ? "beyond chance" : "not beyond chance"}`;
  fill("pair", names, `${number(row.difference, 4, true)} (simultaneous 95 % interval ${ranges([row], true)(row)}; ${p}); better in ${whole(row.wins)}, equal in ${whole(row.ties)}, worse in ${whole(row.losses)} of ${counted(row.n_queries, "query", "queries")}.`);
}

function showMade() {
  const { versions, options, test, files, command, python } = content.made;
  const entry = (term, ...description) => [h("dt", {}, term), h("dd", {}, description)];
  const { depth, looked_up: lookedUp, longest_text: longest } = content.rankings ?? {};
  const rankings = `kept for ${kept.size} of ${counted(content.queries.ids.length, "query", "queries")}, down to rank ${depth}; places of documents that are `
    + `not relevant are looked up down to rank ${lookedUp}, and texts are cut at ${longest} characters`;
  const said = (option) => (option === null ? "none" : seen(Array.isArray(option) ? option.join(", ") : String(option)));
  const columns = [
    { label: "File", cell: (row) => h("th", { scope: "row", class: "name" }, isolated(row.name)) },
    { label: "Bytes", figure: true, cell: (row) => h("td", { class: "figure" }, row.size.toLocaleString("en")) },
    { label: "SHA-256", cell: (row) => h("td", {}, h("code", {}, row.sha256)) },
  ];
  fill("making", h("dl", {},
    entry("Versions", Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")),
    entry("Options", Object.entries(options).map(([name, option]) => `${name}: ${said(option)}`).join("; ")),
    entry("Test", test),
    kept.size ? entry("Rankings", rankings) : null),
  files.length ? wide("Files", table(columns, files, {})) : null,
  command ? [h("h3", {}, "The command"), h("pre", { tabindex: 0 }, h("code", {}, seen(command)))] : null,
  h("h3", {}, "In Python"), h("pre", { tabindex: 0 }, h("code", {}, python)));
}

/** Whatever depends on the choice of measure and systems, but for the charts. */
function showTables() {
  for (const [id, chosen] of [["measure", state.measure], ["system", state.a], ["other", state.b]]) document.getElementById(id).value = chosen;
  const filter = document.getElementById("filter");
  filter.replaceChildren(...Object.entries(FILTERS).filter(isUseful).map(([name, { label }]) => h("option", { value: name }, label())));
  filter.value = state.filter;
  for (const part of [showAnswer, showSystems, showDrops, showSlices, showPair, showQueries]) part();
}

function show() {
  showTables();
  showCharts();
}

/** Filters that can find something in this report. */
const isUseful = ([name]) => (systems.length > 1 || !["won", "lost", "tied"].includes(name)) && (content.counts.length || !["unanswered", "unjudged"].includes(name)) && !(content.doubts.only_relevant && name === "unjudged") && (kept.size || name !== "kept");

function prepareControls() {
  const options = (names) => names.map((name, i) => h("option", { value: i }, shown(name)));
  fill("measure", options(content.measures.map(({ name, cost }) => (cost ? `${name} (lower is better)` : name))));
  for (const id of ["system", "other"]) fill(id, options(systems));
  for (const id of ["system", "other"]) document.getElementById(id).parentElement.hidden = systems.length < 2;
  const slices = Object.entries(content.queries.attributes).flatMap(([name, values]) => [...new Set(values)].sort().map((value) => [name, value]));
  document.getElementById("slice-label").hidden = !slices.length;
  fill("slice", h("option", { value: "[]" }, "all"), slices.map((slice) => h("option", { value: JSON.stringify(slice) }, shown(slice.join(": ")))));
  const on = (id, event, change) => document.getElementById(id).addEventListener(event, ({ target }) => change(target.value));
  const found = (change) => (chosen) => { change(chosen); state.page = state.row = 0; showQueries(); };
  on("measure", "change", (chosen) => { state.measure = Number(chosen); show(); });
  on("system", "change", (chosen) => choose("a", Number(chosen)));
  on("other", "change", (chosen) => choose("b", Number(chosen)));
  on("filter", "change", found((chosen) => { state.filter = chosen; }));
  on("slice", "change", found((chosen) => { state.slice = JSON.parse(chosen); showSlicesAgain(); }));
  on("search", "input", found((text) => { state.search = text; }));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, select, dialog")) return;
    event.preventDefault();
    document.getElementById("search").focus();
  });
  const grid = document.getElementById("queries-table"), dialog = document.getElementById("query");
  grid.after(cueOf(grid));
  dialog.addEventListener("close", () => {
    // An address that was followed has opened another query by now.
    if (dialog.open) return;
    state.query = null;
    showQueries({ focus: true });
    if (systems.length > 1 && content.queries.ids.length > 1) showDifferences();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

/** The names of what an address says. */
const SAID = ["measure", "system", "with", "show", "slice", "search", "query"];

/** What is chosen, as the end of an address that opens the page so; what the page opens with by itself is left out. */
function address() {
  const [a, b = null] = content.pair, said = new URLSearchParams();
  const say = (name, is, chosen) => { if (is) said.set(name, chosen); };
  say("measure", state.measure !== 0, measureName());
  say("system", state.a !== a, systems[state.a]);
  say("with", state.b !== b, systems[state.b]);
  say("show", state.filter !== "all", state.filter);
  say("slice", state.slice.length, JSON.stringify(state.slice));
  say("search", state.search, state.search);
  say("query", state.query != null, content.queries.ids[state.query]);
  return said.size ? `#${said}` : "";
}

const isAddress = () => { const said = new URLSearchParams(location.hash.slice(1)); return !location.hash || SAID.some((name) => said.has(name)); };

let remembering;

/** Keep the address at what is chosen, once nothing has changed for a moment; a frame of a notebook has none. */
function remember() {
  if (location.protocol === "about:") return;
  clearTimeout(remembering);
  remembering = setTimeout(() => history.replaceState(null, "", address() || location.href.split("#")[0]), 200);
}

/** Choose what the address says, and return the query that it opens; what this report does not have is told. */
function recall() {
  const said = new URLSearchParams(location.hash.slice(1)), unknown = [];
  const place = (name, among, otherwise) => {
    if (!said.has(name)) return otherwise;
    const found = among.indexOf(said.get(name));
    if (found < 0) unknown.push(isolated(said.get(name)));
    return found < 0 ? otherwise : found;
  };
  const [a, b = null] = content.pair, filters = Object.entries(FILTERS).filter(isUseful).map(([name]) => name);
  const slices = [...document.querySelectorAll("#slice option")].map(({ value }) => value);
  const measure = place("measure", content.measures.map(({ name }) => name), 0), system = place("system", systems, a), other = place("with", systems, b);
  const otherThan = (taken) => [a, b].find((each) => each !== taken);
  Object.assign(state, {
    measure, a: system, b: b != null && other === system ? otherThan(system) : other, page: 0, row: 0, query: null,
    filter: filters[place("show", filters, 0)], slice: JSON.parse(slices[place("slice", slices, 0)]), search: said.get("search") ?? "",
  });
  document.getElementById("search").value = state.search;
  document.getElementById("slice").value = JSON.stringify(state.slice);
  const query = place("query", content.queries.ids, null);
  fill("unknown", unknown.length ? ["The address asks for what this report does not have: ", unknown.map((each, i) => [i ? ", " : "", each]), "."] : null);
  return query;
}

async function start() {
  content = JSON.parse(new TextDecoder().decode(await inflated("content")));
  figures = new Float64Array(await inflated("figures"));
  systems = content.systems;
  labels = toldApart(systems.map(shown));
  for (const part of ["summary", "ranks", "pairs", "against"]) content[part] &&= rowsOf(content[part]);
  kept = keptRankings();
  // What a change loses comes first.
  state.sort.queries = systems.length < 2 ? { key: "system 0", falls: false } : { key: "difference", falls: !content.verdicts };
  const title = shown(content.title), measures = content.measures.map(({ name }) => shown(name)).join(", ");
  fill("title", isolated(content.title));
  document.title = `${title}: ${labels.slice(0, MOST_COLUMNS).join(", ")}`;
  const dated = content.date == null ? null : [", ", h("time", { datetime: content.date }, content.date)];
  fill("subject", `${counted(systems.length + content.left_out.length, "system")}, ${counted(content.queries.ids.length, "query", "queries")}, ${measures}`, dated);
  prepareControls();
  const asked = recall();
  showDoubts();
  showMade();
  for (const element of [document.getElementById("controls"), document.querySelector("main")]) element.hidden = false;
  showTables();
  if (asked != null) openQuery(asked);
  else if (content.queries.ids.length === 1 && kept.size) openQuery(0);
  // What is read and used first answers while charts are drawn.
  await new Promise((resolve) => setTimeout(resolve));
  showCharts();
  narrow.addEventListener("change", show);
  addEventListener("hashchange", () => {
    if (location.hash === address() || !isAddress()) return;
    document.getElementById("query").close();
    const again = recall();
    show();
    if (again != null) openQuery(again);
  });
  const charts = document.getElementById("charts");
  let width = charts.clientWidth;
  new ResizeObserver(() => {
    if (charts.clientWidth !== width) showCharts();
    width = charts.clientWidth;
  }).observe(charts);
}

start();
