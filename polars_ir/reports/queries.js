// The queries: a table to search, filter and sort, and one of them opened, with rankings side by side.

const PAGE = 50;

/** The characters of a text that are shown before a click. */
const BEGINNING = 180;

/** What a query can be looked for by; `is` asks a row. */
const FILTERS = {
  all: { label: () => "all queries", is: () => true },
  won: { label: () => `better: ${labels[state.a]}`, is: (row) => row.gain > 0 },
  lost: { label: () => `worse: ${labels[state.a]}`, is: (row) => row.gain < 0 },
  tied: { label: () => "equal", is: (row) => row.gain === 0 },
  unanswered: { label: () => "without an answer", is: (row) => row.remarks.some((remark) => remark.kind === "unanswered") },
  unjudged: { label: () => "unjudged in the top 10", is: (row) => row.remarks.some((remark) => remark.kind === "unjudged") },
  kept: { label: () => "with rankings", is: (row) => kept.has(row.query) },
};

/** The systems of the pair, one where there is no other. */
const pairOf = () => (systems.length > 1 ? [state.a, state.b] : [state.a]);

/** The difference of two values by which `compare` counts: rounding alone makes none. */
function differenceOf(a, b) {
  let largest = 0;
  for (const system of [a, b]) figuresOfAll(state.measure, system).forEach((each) => { largest = Math.max(largest, Math.abs(each) || 0); });
  const unit = 10 ** (Math.ceil(Math.log10(largest || 1)) - 13);
  return (query) => {
    const difference = value(state.measure, a, query) - value(state.measure, b, query);
    return Math.abs(difference) <= unit / 2 ? 0 : difference;
  };
}

/** A row per query: the values of the pair, and what there is to say; made once for what is chosen. */
function queryRows() {
  const chosen = [state.measure, ...pairOf()].join();
  if (made.chosen !== chosen) made = { chosen, rows: rowsOfPair() };
  return made.rows;
}

let made = {};

function rowsOfPair() {
  const [a, b] = pairOf();
  const difference = b == null ? () => null : differenceOf(a, b);
  const sign = content.measures[state.measure].cost ? -1 : 1, pair = pairOf();
  return content.queries.ids.map((id, query) => {
    const remarks = pair.flatMap((system) => {
      const found = [];
      if (count("NumRet", system, query) === 0) found.push({ kind: "unanswered", text: "no answer", system });
      // Of a list of relevant documents all others are unjudged, which the doubts tell once.
      if (content.doubts.only_relevant) return found;
      const unjudged = count("unj@10", system, query);
      if (unjudged > 0) found.push({ kind: "unjudged", text: `${Math.round(unjudged * 10)} unjudged`, system });
      return found;
    });
    const apart = difference(query);
    return { query, id, text: content.queries.texts?.[query], difference: apart, gain: b == null ? null : sign * apart, remarks };
  });
}

/** The most queries among the largest drops, and the most documents named for each. */
const DROPS = 5, EVIDENCE = 3;

/** The largest drops of the pair that the report is about, by its first measure. */
function largestDrops() {
  const [a, b] = content.pair, sign = content.measures[0].cost ? -1 : 1;
  const rows = content.queries.ids.map((id, query) => ({ id, query, ours: value(0, a, query), theirs: value(0, b, query) }));
  for (const row of rows) row.difference = row.ours - row.theirs;
  // As in `hardest`: what only rounding makes of equal values is no drop.
  const drop = (row) => Math.round(1e9 * sign * row.difference);
  return sortedBy(rows.filter((row) => drop(row) < 0), drop, false).slice(0, DROPS);
}

/** The largest drops with the evidence that they lost, and where it went. */
function showDrops() {
  const rows = content.missing ? largestDrops() : [];
  document.getElementById("drops").hidden = !rows.length;
  if (!rows.length) return;
  const { k, rel, rows: missing } = content.missing, [a, b] = content.pair, name = content.measures[0].name;
  const lacking = rowsOf(missing), grade = rel === 1 ? "" : `, rel ${rel}`;
  const places = decimals(rows.flatMap((row) => [row.ours, row.theirs]), leastOf(0));
  const lostBy = (row) => {
    const all = lacking.filter((each) => each.query_id === row.id), lost = all.filter((each) => !each.in_neither);
    const said = lost.slice(0, EVIDENCE).map(({ doc_id: id, rank }) => h("div", {}, isolated(id), rank == null ? ": not retrieved" : `: rank ${whole(rank)}`));
    const rest = [[lost.length - EVIDENCE, "more"], [all.length - lost.length, "in neither"]].filter(([n]) => n > 0);
    return h("td", { class: "lost" }, said, rest.length ? h("div", { class: "range" }, rest.map(([n, what]) => `${whole(n)} ${what}`).join(", ")) : null);
  };
  const columns = [
    { label: "Query", cell: (row) => h("th", { scope: "row", class: "name" }, h("button", { class: "pick", type: "button", onclick: () => openQuery(row.query) }, isolated(row.id))) },
    { label: `Lost from the first ${whole(k)}${grade}`, vital: true, cell: lostBy },
    { label: named(a), figure: true, cell: (row) => figure(row.ours, number(row.ours, places)) },
    { label: named(b), figure: true, cell: (row) => figure(row.theirs, number(row.theirs, places)) },
    { label: "Difference", figure: true, vital: true, cell: (row) => figure(row.difference, number(row.difference, places, true), { class: "figure worse" }) },
  ];
  if (content.queries.texts) columns.push({ label: "Text", cell: (row) => h("td", { class: "text", dir: "auto" }, h("div", {}, content.queries.texts[row.query] ?? "")) });
  const said = ` against ${shown(systems[b])} by ${shown(name)}. Lost evidence is among the first ${whole(k)}${grade} of ${shown(systems[b])} alone; its rank is that in ${shown(systems[a])}.`;
  fill("drops-table", h("p", { class: "note" }, isolated(systems[a]), said), wide("What the largest drops lost", table(columns, rows, {})));
}

/** The rows that are looked for, in their order. */
function foundRows() {
  const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const [attribute, wanted] = state.slice;
  const rows = queryRows().filter((row) => {
    if (!FILTERS[state.filter].is(row)) return false;
    if (attribute && content.queries.attributes[attribute][row.query] !== wanted) return false;
    const text = `${row.id} ${row.text ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return inOrder(rows, queryColumns([]), state.sort.queries);
}

function queryColumns(shown) {
  const [a, b] = pairOf();
  const columns = [{ key: "id", label: "Query", value: (row) => row.id, cell: (row) => h("th", { scope: "row", class: "name" }, isolated(row.id)) }];
  if (content.queries.texts) columns.push({ key: "text", label: "Text", value: (row) => row.text, cell: (row) => h("td", { class: "text", dir: "auto" }, h("div", {}, row.text ?? "")) });
  for (const [name, values] of Object.entries(content.queries.attributes)) {
    columns.push({ key: `by ${name}`, label: isolated(name), value: (row) => values[row.query], cell: (row) => h("td", {}, isolated(values[row.query] ?? "\u2013")) });
  }
  const order = systems.length > MOST_COLUMNS ? pairOf() : [...pairOf(), ...systems.keys()].filter((s, i, all) => all.indexOf(s) === i);
  const places = decimals(shown.flatMap((row) => order.map((system) => value(state.measure, system, row.query))), leastOf(state.measure));
  for (const system of order) {
    columns.push({
      key: `system ${system}`, label: named(system), figure: true, falls: true, value: (row) => value(state.measure, system, row.query),
      cell: (row) => figure(value(state.measure, system, row.query), number(value(state.measure, system, row.query), places)),
    });
    if (system === b) columns.push({
      key: "difference", vital: true, label: "Difference", figure: true, falls: true, value: (row) => row.difference,
      cell: (row) => figure(row.difference, number(row.difference, places, true), { class: `figure ${row.gain > 0 ? "better" : row.gain < 0 ? "worse" : ""}` }),
    });
  }
  const remark = ({ text, system }) => h("div", {}, text, b == null ? null : [" of ", named(system)]);
  const remarks = (row) => h("td", { class: "range remark" }, row.remarks.map(remark));
  if (queryRows().some((row) => row.remarks.length)) columns.push({ key: "remarks", label: "Remarks", cell: remarks });
  return columns;
}

/** The table, and what was found. */
function showQueries({ focus = false } = {}) {
  const found = foundRows();
  const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  state.page = Math.min(state.page, last);
  const rows = found.slice(state.page * PAGE, (state.page + 1) * PAGE);
  state.row = Math.min(state.row, Math.max(0, rows.length - 1));
  const onsort = (sort) => { state.sort.queries = sort; state.page = state.row = 0; showQueries(); focusHeading("queries-table", sort.key); };
  const grid = table(queryColumns(rows), rows, {
    role: "grid", "aria-labelledby": "queries-heading", "aria-rowcount": found.length + 1, onkeydown: moveRow, onsort,
    sort: state.sort.queries,
    row: (row, i) => ({
      tabindex: i === state.row ? 0 : -1, "aria-rowindex": state.page * PAGE + i + 2, "data-query": row.query,
      "aria-selected": String(row.query === state.query), onclick: () => { state.row = i; openQuery(row.query); },
    }),
  });
  fill("queries-table", rows.length ? grid : h("p", { class: "note" }, "No query is so."));
  const from = state.page * PAGE;
  const shown = found.length > PAGE ? `, ${(from + 1).toLocaleString("en")} to ${(from + rows.length).toLocaleString("en")} shown` : "";
  fill("found", `${found.length.toLocaleString("en")} of ${counted(content.queries.ids.length, "query", "queries")}${shown}.`);
  const turn = (to) => () => { state.page = to; state.row = 0; showQueries(); };
  fill("pages", found.length > PAGE ? [
    h("button", { type: "button", disabled: state.page === 0, onclick: turn(state.page - 1) }, "Previous"),
    h("span", { class: "note" }, `page ${state.page + 1} of ${last + 1}`),
    h("button", { type: "button", disabled: state.page === last, onclick: turn(state.page + 1) }, "Next"),
  ] : []);
  remember();
  if (focus) document.querySelector("#queries-table tr[tabindex='0']")?.focus();
}

function focusHeading(id, key) {
  const columns = id === "queries-table" ? queryColumns([]) : systemColumns();
  document.querySelectorAll(`#${id} thead th`)[arranged(columns).findIndex((column) => column.key === key)]?.querySelector("button")?.focus();
}

/** The keys of a grid: rows up and down, pages, both ends; Enter opens. */
function moveRow(event) {
  const row = event.target.closest("tr[tabindex]");
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...row.parentElement.children];
  const moves = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  if (event.key === "Enter" || event.key === " ") {
    openQuery(Number(row.dataset.query));
  } else if (event.key in moves) {
    const to = Math.min(rows.length - 1, Math.max(0, state.row + moves[event.key]));
    rows[state.row].tabIndex = -1;
    rows[to].tabIndex = 0;
    rows[to].focus();
    state.row = to;
  } else if (event.key === "PageDown" || event.key === "PageUp") {
    const pages = Math.ceil(foundRows().length / PAGE);
    const to = state.page + (event.key === "PageDown" ? 1 : -1);
    if (to >= 0 && to < pages) { state.page = to; state.row = 0; showQueries({ focus: true }); }
  } else {
    return;
  }
  event.preventDefault();
}

/** A query with its figures and, where they are kept, its rankings. */
function openQuery(query) {
  state.query = query;
  remember();
  if (systems.length > 1 && content.queries.ids.length > 1) showDifferences();
  const dialog = document.getElementById("query");
  const found = foundRows().map((row) => row.query);
  const place = found.indexOf(query);
  const step = (by, label, key) => h("button", { type: "button", "aria-keyshortcuts": key, disabled: place < 0 || !(place + by in found), onclick: () => openQuery(found[place + by]) }, label);
  const head = h("div", { class: "head" },
    h("h2", { id: "query-heading", tabindex: -1 }, isolated(content.queries.ids[query])),
    step(-1, "Previous", "ArrowLeft"), step(1, "Next", "ArrowRight"),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  const text = content.queries.texts?.[query];
  const slices = Object.entries(content.queries.attributes).map(([name, values]) => [h("dt", {}, isolated(name)), h("dd", {}, isolated(values[query] ?? "\u2013"))]);
  dialog.replaceChildren(head, h("div", { class: "body", tabindex: 0, role: "region", "aria-label": "The query" },
    text ? h("p", { dir: "auto" }, text) : null, slices.length ? h("dl", {}, slices) : null, figuresOf(query), rankingsOf(query)));
  dialog.onkeydown = (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && place >= 0 && place + by in found) openQuery(found[place + by]);
  };
  if (!dialog.open) dialog.showModal();
  dialog.querySelector("h2").focus();
}

/** The values of a query, a row per system. */
function figuresOf(query) {
  const of = content.measures.map((measure, m) => {
    const places = decimals(systems.map((_, system) => value(m, system, query)), leastOf(m));
    return { label: measure.name, figure: true, cell: ({ system }) => figure(value(m, system, query), number(value(m, system, query), places)) };
  });
  const columns = [{ label: "System", cell: ({ system }) => h("th", { scope: "row", class: "name" }, isolated(systems[system])) }, ...of];
  if (content.counts.length) columns.push({ label: "Documents", figure: true, cell: ({ system }) => h("td", { class: "figure" }, number(count("NumRet", system, query), 0)) });
  const rows = systems.map((_, system) => ({ system }));
  const chosen = new Set(pairOf());
  return wide("The values of the query", table(columns, rows, { row: ({ system }) => ({ class: chosen.has(system) ? "chosen" : null }) }));
}

/** The rankings of the pair, side by side. */
function rankingsOf(query) {
  const documents = kept.get(query);
  if (!documents) {
    const why = content.rankings
      ? `Rankings are kept for ${counted(content.rankings.queries.length, "query", "queries")}, and not for this one: \u201cwith rankings\u201d shows them, n_queries sets their number.`
      : "This report has figures, and no rankings.";
    return h("p", { class: "note" }, why);
  }
  const { measure, depth } = content.rankings;
  const note = `The first ${depth} documents; contributions are to ${measure}. A bar at the left is solid for a relevant document, double for one judged not relevant, dotted for ${content.doubts.only_relevant ? "one that is not listed" : "an unjudged one"}.`;
  const sides = pairOf().map((system, i, pair) => {
    const other = pair[1 - i];
    const ranked = documents.filter((each) => each.places.has(system));
    const top = ranked.filter((each) => each.places.get(system).rank <= depth).sort((x, y) => x.places.get(system).rank - y.places.get(system).rank);
    const missed = documents.filter((each) => each.gain > 0 && !(each.places.get(system)?.rank <= depth));
    missed.sort((x, y) => y.gain - x.gain || (x.places.get(system)?.rank ?? Infinity) - (y.places.get(system)?.rank ?? Infinity));
    const more = (content.rankings.missed[content.queries.ids[query]] ?? 0) - documents.filter((each) => each.missed).length;
    return h("div", {}, h("h3", {}, isolated(systems[system])),
      top.length ? h("ol", { class: "ranking" }, top.map((each) => documentOf(each, system, other, query))) : h("p", { class: "note" }, "No document was retrieved."),
      missed.length ? [h("h3", {}, `Relevant, and not among the first ${depth}`), h("ul", { class: "ranking" }, missed.map((each) => documentOf(each, system, other, query)))] : null,
      more > 0 ? h("p", { class: "note" }, `And ${counted(more, "relevant document")} that no system has among its first ${depth}.`) : null);
  });
  return [h("p", { class: "note" }, note), h("div", { class: "sides" }, sides)];
}

/** A document in the ranking of a system: its grade, its contribution, its place in the other ranking. */
function documentOf(each, system, other, query) {
  const { depth, looked_up: lookedUp } = content.rankings;
  const here = each.places.get(system), there = each.places.get(other);
  const kind = each.relevance == null ? "unjudged" : each.gain > 0 ? "relevant" : "judged";
  const remarks = [each.relevance == null ? (content.doubts.only_relevant ? "not listed" : "not judged") : `grade ${each.relevance}${kind === "relevant" ? ", relevant" : ", not relevant"}`];
  if (here?.contribution) remarks.push(`contributes ${number(here.contribution)}`);
  if (!here) remarks.push("not retrieved");
  const gap = here && there ? there.rank - here.rank : 0;
  const move = gap ? `, ${gap > 0 ? "\u2191" : "\u2193"}\u2009${Math.abs(gap)} here` : "";
  // Further down the places of relevant documents alone are known.
  const isAbsent = each.gain > 0 || count("NumRet", other, query) <= lookedUp;
  const elsewhere = other == null ? null : [", ", there ? [`at ${there.rank} in `, isolated(systems[other]), move] : [isAbsent ? "not in " : `not among the first ${lookedUp} of `, isolated(systems[other])]];
  const swap = other != null && each.gain > 0 ? outcomeOf(here?.rank <= depth, there?.rank <= depth) : null;
  return h("li", { class: kind },
    h("span", { class: "rank" }, here ? String(here.rank) : "\u2013"),
    h("div", { class: "document" }, h("span", { class: "strong" }, isolated(each.doc_id)),
      h("div", { class: "remarks" }, remarks.join(", "), elsewhere, swap),
      each.text ? textOf(each) : null));
}

/** The beginning of a text, and the rest of what is kept of it. */
function textOf({ text, length }) {
  const cut = length ? h("span", { class: "range" }, ` \u2026 (${length.toLocaleString("en")} characters, of which ${content.rankings.longest_text} are kept)`) : null;
  if (text.length <= BEGINNING) return h("div", { dir: "auto" }, text, cut);
  return h("details", {}, h("summary", { dir: "auto" }, `${text.slice(0, BEGINNING)}\u2026`), h("div", { dir: "auto" }, text.slice(BEGINNING), cut));
}

const outcomeOf = (isHere, isThere) => (isHere && !isThere ? h("b", {}, ", gained") : !isHere && isThere ? h("b", {}, ", lost") : null);
