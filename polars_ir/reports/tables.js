"use strict";
// Elements, numbers and tables. What is data enters as text, and never as markup or as an address.

const MINUS = "\u2212";

/** An element; `on...` are listeners, false and null attributes are left out, strings among the children are texts. */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

/** The most characters of a name or an id that are shown. */
const LONGEST = 2000;

/** Characters that end a line, hide others or turn their order round. */
const UNSEEN = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text in which such characters are seen, as in JSON. */
const seen = (text) => text.replace(UNSEEN, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST / 2)}\u2026${text.slice(-LONGEST / 2)}` : text);

/** A name or an id, of which an empty one is in quotes, and a longer one is shown by its ends. */
const shown = (text) => (text === "" ? '""' : seen(cut(text)));

/** Text of the data, whose direction does not reach beyond it. */
const isolated = (text, attributes = {}) => h("bdi", attributes, shown(String(text)));

/** The rows of columns. */
function rowsOf(columns) {
  if (!columns) return [];
  const names = Object.keys(columns);
  return names.length ? columns[names[0]].map((_, i) => Object.fromEntries(names.map((n) => [n, columns[n][i]]))) : [];
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);

/** As many decimals as tell different values apart, and at least so many; what floats alone tell apart is not different. */
function decimals(values, least = 4) {
  const different = [...new Set(values.filter(isNumber).map((value) => Number(value.toPrecision(13))))];
  let places = least;
  while (places < 13 && new Set(different.map((value) => value.toFixed(places))).size < different.length) places++;
  return places;
}

/** A figure with so many decimals; what is not 0 does not become it. */
function number(value, places = 4, signed = false) {
  if (!isNumber(value)) return "\u2013";
  let text = Math.abs(value).toFixed(places);
  if (value !== 0 && Number(text) === 0) text = Math.abs(value).toExponential(1).replace("-", MINUS);
  return (value < 0 ? MINUS : signed && value > 0 ? "+" : "") + text;
}

/** A count; none is a dash. */
const whole = (n) => (n == null ? "\u2013" : n.toLocaleString("en"));

const counted = (n, noun, several = noun + "s") => `${n.toLocaleString("en")} ${n === 1 ? noun : several}`;

/** A share in percent. */
const percent = (share) => (!isNumber(share) ? "\u2013" : share > 0 && share < 0.001 ? "<\u20090.1\u2009%" : `${(100 * share).toFixed(1)}\u2009%`);

/** The p below which no more is told, and the level of the tests, to which none is rounded. */
const SMALL_P = 0.0001, LEVEL = 0.05;

/** The decimals of p that stand together. */
const decimalsOfP = (rows) => decimals([...rows.map((row) => row?.p_corrected).filter((p) => p >= SMALL_P), LEVEL]);

/** A p as papers print it; the cell has it in full. */
const pText = (p, places) => (!isNumber(p) ? "\u2013" : p < SMALL_P ? "<\u2009.0001" : p.toFixed(places).replace(/^0/, ""));

/** The longest names that stand in charts and in headings. */
const NAME = 16;

/** A name without its middle, where it is long. */
function shortened(name) {
  const letters = [...name];
  return letters.length <= NAME ? name : `${letters.slice(0, 7).join("")}\u2026${letters.slice(-8).join("")}`;
}

/** Names, shortened; of those that begin and end alike, with what distinguishes them. */
function toldApart(names) {
  const short = names.map(shortened);
  return names.map((name, i) => {
    const alike = names.filter((_, j) => j !== i && short[j] === short[i]);
    const begins = Math.max(4, ...alike.map((other) => [...name].findIndex((_, n) => name[n] !== other[n])));
    return alike.length ? `\u2026${[...name].slice(begins - 4, begins + NAME - 5).join("")}` : short[i];
  });
}

/** A cell of a figure, which has it in full. */
function figure(value, text, attributes = {}) {
  const full = isNumber(value) && String(value) !== text ? String(value) : null;
  return h("td", { class: "figure", title: full, ...attributes }, text);
}

/** A cell of a corrected p, with a star where it is beyond chance, and the room of one elsewhere. */
const pCell = (row, places) => figure(row?.p_corrected, [pText(row?.p_corrected, places), h("span", { class: "star" }, row?.significant ? "*" : "")]);

/** Intervals of rows that stand together, as texts: with as many decimals as tell their ends and them apart. */
function ranges(rows, signed) {
  const text = (row, places) => `${number(row.low, places, signed)} to ${number(row.high, places, signed)}`;
  const found = rows.filter((row) => isNumber(row?.low));
  const different = (places) => new Set(found.map((row) => text(row, places))).size;
  let places = Math.max(4, ...found.map(({ low, high }) => decimals([low, high])));
  while (places < 13 && different(places) < different(13)) places++;
  return (row) => (isNumber(row?.low) ? text(row, places) : "\u2013");
}

/** A screen on which few columns have room. */
const narrow = matchMedia("(max-width: 40rem)");

/** The columns in their order: on a narrow screen those that are `vital` follow the first. */
function arranged(columns) {
  if (!narrow.matches) return columns;
  const [name, ...others] = columns;
  return [name, ...others.filter((column) => column.vital), ...others.filter((column) => !column.vital)];
}

/**
 * A table of rows in their order, which its headings change. A column has a `label`, a `cell` and, if rows can be sorted
 * by it, a `value`; it may have `falls`, true where the first click puts the largest first, and be `vital`.
 */
function table(all, rows, { caption, sort, onsort, row = () => ({}), ...attributes }) {
  const columns = arranged(all);
  const by = sort && columns.find((column) => column.key === sort.key);
  const heading = (column) => {
    const state = by === column ? (sort.falls ? "descending" : "ascending") : null;
    const turn = () => onsort({ key: column.key, falls: by === column ? !sort.falls : Boolean(column.falls) });
    const label = column.value && onsort ? h("button", { class: "sort", type: "button", onclick: turn }, column.label) : column.label;
    return h("th", { scope: "col", class: column.figure ? "figure" : null, "aria-sort": state }, label);
  };
  return h("table", attributes,
    caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, columns.map(heading))),
    h("tbody", {}, rows.map((each, i) => h("tr", row(each, i), columns.map((column) => column.cell(each))))));
}

/** Rows in the order of a value, those without one last. */
function sortedBy(rows, value, falls) {
  const collator = new Intl.Collator("en", { numeric: true });
  const keyed = rows.map((row) => [value(row), row]);
  const lacks = (key) => key == null || Number.isNaN(key);
  keyed.sort(([a], [b]) => {
    if (lacks(a) || lacks(b)) return lacks(a) - lacks(b);
    const order = typeof a === "number" ? a - b : collator.compare(a, b);
    return falls ? -order : order;
  });
  return keyed.map(([, row]) => row);
}

/** A table that is scrolled where it is wider than the page, also with the keyboard, and a line that says so. */
function wide(label, ...table) {
  const region = h("div", { class: "wide", role: "region", tabindex: 0, "aria-label": label }, ...table);
  return [region, cueOf(region)];
}

/** A line that tells how many columns of a table are beyond an end of what is seen of it; the end itself fades. */
function cueOf(region) {
  const cue = h("p", { class: "note cue", hidden: true });
  const look = () => {
    const { left, right } = region.getBoundingClientRect();
    const ends = [...region.querySelectorAll("thead th")].map((heading) => heading.getBoundingClientRect());
    const later = ends.filter((end) => end.right > right + 1).length, earlier = ends.filter((end) => end.left < left - 1).length;
    region.classList.toggle("continues", later > 0);
    cue.hidden = region.scrollWidth <= region.clientWidth + 1;
    cue.textContent = later ? `${counted(later, "column")} to the right \u2192` : earlier ? `\u2190 ${counted(earlier, "column")} to the left` : "";
  };
  region.addEventListener("scroll", look);
  new ResizeObserver(look).observe(region);
  new MutationObserver(look).observe(region, { childList: true });
  return cue;
}

/** Rows in the order that the headings of their table say. */
function inOrder(rows, columns, sort) {
  const by = sort && columns.find((column) => column.key === sort.key);
  return by?.value ? sortedBy(rows, by.value, sort.falls) : rows;
}

/** Put elements in the place of what is in another. */
function fill(id, ...children) {
  document.getElementById(id).replaceChildren(...children.flat(Infinity).filter((child) => child != null));
}
