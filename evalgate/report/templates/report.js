"use strict";
// Draws a run from the JSON blocks of its page. Every text goes into text nodes and attributes,
// never into markup; a trial's block is read when the trial is opened.
(() => {
  const block = (id) => JSON.parse(document.getElementById(id).textContent);
  const data = block("report");
  const trials = data.trials;
  const main = document.getElementById("main");
  const MARK = { passed: "\u2713", failed: "\u2715", errored: "!", incomparable: "\u25c7" };
  const TABS = ["steps", "compare", "diff", "checks", "log", "wire"];
  const TITLES = { steps: "Steps", compare: "Side by side", diff: "Diff", checks: "Checks", log: "Log", wire: "Wire" };
  const NAME = 160; // a longer name of a task is cut, and whole in its tooltip
  const NS = "http://www.w3.org/2000/svg";

  // ---- text -----------------------------------------------------------------------------------

  const COLOUR = /\x1b\[[0-9;:]*m/g;
  const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
  const written = (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0");
  const HALF = /[\ud800-\udfff]/gu;
  const plain = (text) => String(text).replace(/\r\n/g, "\n").replace(COLOUR, "").replace(CONTROL, written).replace(HALF, "\ufffd");
  const count = (n, word, many) => `${n} ${n === 1 ? word : many || word + "s"}`;
  const usd = (n) => n === null ? "unknown" : "$" + (n >= 1 || !n ? n.toFixed(2) : n.toFixed(Math.min(8, 1 - Math.floor(Math.log10(n)))));
  const whole = (n) => n === null ? "unknown" : Math.round(n).toLocaleString("en");
  const seconds = (n) => n === null ? "unknown" : n >= 100 ? Math.round(n) + " s" : n.toFixed(1) + " s";
  const day = (date) => date.slice(0, 10);
  const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;
  const json = (value) => typeof value === "string" ? value : JSON.stringify(value, null, 2);

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? "" : plain(value));
    }
    for (const child of children.flat(3)) {
      if (child === null || child === undefined || child === false || child === "") continue;
      node.append(child instanceof Node ? child : document.createTextNode(plain(child)));
    }
    return node;
  }
  const make = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const draw = (name, attributes, ...children) => fill(document.createElementNS(NS, name), attributes, children);

  const chip = (word, text) => make("span", { class: "chip " + word.replace(/[^a-z]/g, "-") },
    MARK[word] ? make("span", { class: "mark", "aria-hidden": "true" }, MARK[word]) : null, text || word);

  // A long text shows how it begins; the rest is asked for.
  function long(text, lines = 16, kind = "") {
    const all = plain(text).split("\n");
    const pre = make("pre", { class: kind });
    if (all.length <= lines + 4) return fill(pre, {}, [text]);
    const more = make("button", { type: "button", class: "more", click: () => { pre.textContent = all.join("\n"); more.remove(); } },
      `Show all ${whole(all.length)} lines`);
    pre.textContent = all.slice(0, lines).join("\n");
    return make("div", {}, pre, more);
  }
  const folded = (title, body, open) => make("details", { open: open || false }, make("summary", {}, title), body);

  // ---- places ---------------------------------------------------------------------------------

  const address = (text) => encodeURIComponent(text.replace(HALF, "\ufffd"));
  const place = (index, tab) => "#" + address(trials[index].task) + ":" + trials[index].n + (tab ? "/" + tab : "");
  const byPlace = new Map(trials.map((trial, index) => [place(index), index]));
  const ofTask = new Map(data.tasks.map((task) => [task.task, []]));
  trials.forEach((trial, index) => ofTask.get(trial.task).push(index));

  // ---- charts ---------------------------------------------------------------------------------

  function frame(width, height, label, left, bottom) {
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" });
    const y = (share) => 14 + (1 - share) * (height - 14 - bottom);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg.append(draw("line", { x1: left, x2: width - 12, y1: y(share), y2: y(share), class: share ? "grid" : "axis" }));
      if (share * 2 % 1 === 0) svg.append(draw("text", { x: left - 8, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`));
    }
    return { svg, y };
  }

  // Round steps of an axis: 1, 2, 2.5 or 5 times a power of ten.
  function scale(most, parts) {
    const rough = most / parts, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
    const ticks = [];
    for (let k = 0; k * step <= most; k += 1) ticks.push(k * step);
    return { most, ticks };
  }

  const SHAPES = {
    all: (x, y) => draw("circle", { cx: x, cy: y, r: 5.5 }),
    some: (x, y) => draw("path", { d: `M${x} ${y - 7}l7 7l-7 7l-7 -7z` }),
    none: (x, y) => draw("path", { d: `M${x - 5} ${y - 5}h10v10h-10z` }),
  };

  // Words beside points: to the right, else to the left, else none; no two lie on one another.
  function labels(svg, points, width, left, floor) {
    const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
    const free = (box) => box[0] > left && box[3] < floor && box[2] < width && !taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1]);
    for (const { x, y, text } of points) {
      const name = short(plain(text), 22), size = name.length * 6.6;
      const tries = [[x + 10, y + 4, "start", 0], [x - 10, y + 4, "end", -size], [x, y - 11, "middle", -size / 2], [x, y + 19, "middle", -size / 2]];
      for (const [tx, ty, anchor, from] of tries) {
        const box = [tx + from, ty - 11, tx + from + size, ty + 3];
        if (!free(box)) continue;
        taken.push(box);
        svg.append(draw("text", { x: tx, y: ty, "text-anchor": anchor, class: "name" }, name));
        break;
      }
    }
  }

  function costChart(width) {
    const kinds = [["usd", "cost a trial", usd], ["tokens", "tokens a trial", whole], ["seconds", "seconds a trial", seconds]];
    const known = (key) => data.tasks.some((task) => task[key]);
    const [key, words, form] = kinds.find(([name]) => known(name)) || kinds[2];
    const shown = data.tasks.filter((task) => task[key] !== null && task.passed + task.failed);
    const left = 52, bottom = 52, height = 300;
    const { most, ticks } = scale(Math.max(...shown.map((task) => task[key]), 1e-9) * 1.04, width < 420 ? 2 : 4);
    const { svg, y } = frame(width, height, `Pass rate of each task against its ${words}; the table of tasks holds the same numbers`, left, bottom);
    const x = (value) => left + 8 + value / most * (width - left - 26);
    for (const tick of ticks) svg.append(draw("text", { x: x(tick), y: height - 24, "text-anchor": "middle" }, tick ? form(tick) : "0"));
    svg.append(draw("text", { x: (left + width) / 2, y: height - 2, "text-anchor": "middle", class: "title" }, `mean ${words}`));
    const points = shown.map((task) => {
      const rate = task.passed / (task.passed + task.failed);
      const kind = rate === 1 ? "all" : rate ? "some" : "none";
      const px = x(task[key]), py = y(rate);
      const point = draw("g", { class: "point " + kind, click: () => { location.hash = place(ofTask.get(task.task)[0]); } }, SHAPES[kind](px, py),
        draw("title", {}, `${task.task}: ${task.passed}/${task.passed + task.failed} passed, ${form(task[key])}`));
      svg.append(point);
      return { x: px, y: py, text: task.task, rate };
    });
    labels(svg, points.sort((a, b) => a.rate - b.rate || a.x - b.x), width, left, height - bottom + 10);
    const left_out = data.tasks.length - shown.length;
    return make("figure", {}, make("figcaption", {}, make("h2", {}, `Pass rate against ${key === "usd" ? "cost" : words}`),
      make("p", { class: "legend" }, make("span", { class: "key all" }, "\u25cf"), " every trial passed ", make("span", { class: "key some" }, "\u25c6"), " some did ",
        make("span", { class: "key none" }, "\u25a0"), " none did", left_out ? `; not drawn: ${count(left_out, "task")} of unknown ${words}` : "")), svg);
  }

  function timeline(width) {
    const points = data.timeline;
    const left = 52, bottom = 52, height = 300;
    const { svg, y } = frame(width, height, "Pass rates over time; the list below holds the same numbers", left, bottom);
    const x = (i) => points.length === 1 ? (left + width) / 2 : left + 18 + i / (points.length - 1) * (width - left - 48);
    const rate = (one) => one.passed + one.failed ? one.passed / (one.passed + one.failed) : null;
    const drawn = points.map((one, i) => ({ one, i, share: rate(one) })).filter((p) => p.share !== null);
    svg.append(draw("path", { class: "line", d: drawn.map((p, k) => `${k ? "L" : "M"}${x(p.i)} ${y(p.share)}`).join("") }));
    points.forEach((one, i) => {
      const other = i && points[i - 1].fingerprint !== one.fingerprint;
      if (other) svg.append(draw("line", { class: "cut", x1: (x(i - 1) + x(i)) / 2, x2: (x(i - 1) + x(i)) / 2, y1: 14, y2: height - bottom }));
    });
    for (const { one, i, share } of drawn) {
      const px = x(i), py = y(share);
      const shape = one.kind === "baseline" ? draw("path", { d: `M${px - 5} ${py - 5}h10v10h-10z` }) : draw("circle", { cx: px, cy: py, r: 5 });
      svg.append(draw("g", { class: "dot" + (one.fingerprint === data.fingerprint ? "" : " other") },
        one.current ? draw("circle", { cx: px, cy: py, r: 10, class: "ring" }) : null, shape,
        draw("title", {}, `${one.kind} ${one.name}: ${one.passed}/${one.passed + one.failed} passed`)));
    }
    const every = Math.max(1, Math.ceil(points.length / Math.max(1, Math.floor((width - left) / 90))));
    let last = "";
    points.forEach((one, i) => {
      if (i % every || day(one.date) === last) return;
      last = day(one.date);
      svg.append(draw("text", { x: x(i), y: height - 24, "text-anchor": "middle" }, last));
    });
    const rows = points.slice().reverse().map((one) => make("tr", {}, make("td", {}, day(one.date)), make("td", {}, one.kind + (one.current ? " (this one)" : "")),
      make("td", {}, make("code", {}, one.fingerprint.slice(0, 12))), make("td", { class: "number" }, `${one.passed}/${one.passed + one.failed}`), make("td", { class: "number" }, one.rate),
      make("td", { class: "number" }, usd(one.usd))));
    return make("figure", {}, make("figcaption", {}, make("h2", {}, "Over time"),
      make("p", { class: "legend" }, make("span", { class: "key base" }, "\u25a0"), " baseline ", make("span", { class: "key here" }, "\u25cf"), " run; filled: this harness; ringed: this run; dashed line: it changed")), svg,
      folded("The numbers", make("table", {}, make("thead", {}, make("tr", {}, ["date", "kind", "harness", "passed", "rate", "cost a trial"].map((t) => make("th", { scope: "col" }, t)))), make("tbody", {}, rows))));
  }

  // ---- overview -------------------------------------------------------------------------------

  const state = { words: "", outcomes: new Set(["passed", "failed", "errored"]), tag: "", deep: false };

  function banner() {
    const verdict = data.verdict;
    if (!verdict) return make("section", { class: "banner quiet", "aria-label": "Decision" }, make("p", {}, make("strong", {}, "Not judged here. "), "This is what was measured; evalgate gate decides."));
    const kind = { regression: "bad", void: "bad", improved: "good", pass: "good", waived: "good" }[verdict.decision] || "open";
    const advice = verdict.advice && verdict.advice.word ? `Advice: ${verdict.advice.word}: ${verdict.advice.why || ""}` : "";
    return make("section", { class: "banner " + kind, "aria-label": "Decision" },
      make("p", {}, make("strong", {}, `${verdict.decision[0].toUpperCase()}${verdict.decision.slice(1)}. `), verdict.sentence),
      advice ? make("p", { class: "advice" }, advice) : null,
      verdict.read ? make("p", { class: "advice" }, `Trajectories: ${verdict.read.read} of ${Math.max(verdict.read.of, verdict.read.read)} read.`) : null,
      (verdict.reasons || []).length ? make("ul", {}, verdict.reasons.map((reason) => make("li", {}, reason))) : null);
  }

  function tiles() {
    const totals = data.totals, measured = totals.passed + totals.failed;
    const correct = totals.usd_per_correct;
    const tile = (name, value, note) => make("div", { class: "tile" }, make("dt", {}, name), make("dd", {}, make("b", {}, value), note ? make("span", {}, note) : null));
    return make("dl", { class: "tiles" },
      tile("pass rate", totals.mean_rate, `${totals.passed} of ${measured} trials`),
      tile("errored", whole(totals.errored), "not measured"),
      tile("cost a trial", usd(totals.usd)),
      tile("per correct outcome", correct ? correct.point === null ? "none passed" : usd(correct.point) : totals.usd === 0 ? (totals.passed ? usd(0) : "none passed") : "unknown", correct && correct.low !== null ? `${usd(correct.low)} to ${correct.high === null ? "no end" : usd(correct.high)}` : ""),
      tile("tokens a trial", whole(totals.tokens)),
      tile("seconds a trial", totals.seconds === null ? "unknown" : totals.seconds.toFixed(1)));
  }

  function cell(index) {
    const trial = trials[index];
    return make("a", { class: "cell " + trial.outcome, href: place(index), "data-index": index, tabindex: "-1", "aria-label": `${trial.task} ${trial.n}: ${trial.outcome}`, title: short(`#${trial.n} ${trial.outcome}${trial.reason ? ": " + trial.reason : ""}`, 300) }, MARK[trial.outcome]);
  }

  function taskRow(task) {
    const cells = ofTask.get(task.task).map(cell);
    cells[0].tabIndex = 0;
    const strip = make("div", { class: "strip", role: "group", "aria-label": `Trials of ${task.task}`, keydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const shown = cells.filter((one) => !one.hidden);
      const next = step && shown[shown.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      event.stopPropagation();
      cells.forEach((one) => { one.tabIndex = -1; });
      next.tabIndex = 0;
      next.focus();
    } }, cells);
    const change = task.change && task.change !== "same" ? chip(task.change, task.change === "fell" ? "fell, may be chance" : task.change) : null;
    return make("tr", { "data-task": task.task }, make("th", { scope: "row" }, make("span", { class: "task", title: task.task.length > NAME ? task.task : null }, short(task.task, NAME)), change, task.tags.map((tag) => make("span", { class: "tag" }, tag)),
      task.first_failure ? make("span", { class: "why" }, short(task.first_failure, 140)) : null),
      make("td", { class: "strips" }, strip), make("td", { class: "number", "data-name": "passed" }, `${task.passed}/${task.passed + task.failed}`),
      make("td", { class: "number", "data-name": "cost" }, usd(task.usd)), make("td", { class: "number", "data-name": "seconds" }, task.seconds === null ? "unknown" : task.seconds.toFixed(1)));
  }

  const shallow = trials.map((trial) => plain([trial.task, trial.reason, trial.answer, ...trial.checks, ...trial.tripwires].join("\n")).toLowerCase());
  const tagsOf = new Map(data.tasks.map((task) => [task.task, task.tags]));

  function matches(index, words, inside) {
    const trial = trials[index];
    if (!state.outcomes.has(trial.outcome)) return false;
    if (state.tag && !tagsOf.get(trial.task).includes(state.tag)) return false;
    if (!words) return true;
    if (shallow[index].includes(words)) return true;
    return state.deep && document.getElementById("trial-" + index).textContent.toLowerCase().includes(inside);
  }

  function filters(rows, said) {
    const sort = make("label", {}, "order ", make("select", { change: (event) => {
      const body = rows.values().next().value.parentNode;
      body.append(...ordered(event.target.value).map((task) => rows.get(task.task)));
    } }, [["look", "what needs a look"], ["cost", "cost"], ["name", "name"]].map(([value, text]) => make("option", { value }, text))));
    const apply = () => {
      const words = state.words.trim().toLowerCase();
      const inside = JSON.stringify(words).slice(1, -1).replace(/</g, "\\u003c").replace(/[\u007f-\uffff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
      let found = 0, tasks = 0;
      for (const [task, row] of rows) {
        let shown = 0;
        for (const one of row.querySelectorAll(".cell")) {
          one.hidden = !matches(Number(one.dataset.index), words, inside);
          one.tabIndex = !one.hidden && !shown ? 0 : -1;
          if (!one.hidden) shown += 1;
        }
        row.hidden = !shown;
        found += shown;
        tasks += shown ? 1 : 0;
      }
      said.textContent = `${count(found, "trial")} of ${count(tasks, "task")}`;
    };
    const search = make("input", { type: "search", id: "search", placeholder: "Task, reason, check \u2026", autocomplete: "off", spellcheck: "false", input: (event) => { state.words = event.target.value; apply(); } });
    const outcome = (name) => make("label", { class: "toggle " + name }, make("input", { type: "checkbox", checked: true, change: (event) => { event.target.checked ? state.outcomes.add(name) : state.outcomes.delete(name); apply(); } }), make("span", { class: "mark", "aria-hidden": "true" }, MARK[name]), name);
    const tags = data.tags.length ? make("label", {}, "tag ", make("select", { change: (event) => { state.tag = event.target.value; apply(); } }, make("option", { value: "" }, "all"), data.tags.map((one) => make("option", { value: one.tag }, one.tag)))) : null;
    apply();
    return make("form", { class: "filters", role: "search", submit: (event) => event.preventDefault() },
      make("label", { class: "search" }, make("span", {}, "Search"), search),
      make("label", { class: "toggle" }, make("input", { type: "checkbox", change: (event) => { state.deep = event.target.checked; apply(); } }), "also in steps, diffs, logs"),
      make("div", { class: "outcomes", role: "group", "aria-label": "Outcomes" }, ["passed", "failed", "errored"].map(outcome)), tags, sort, said);
  }

  function tagTable() {
    if (!data.tags.length) return null;
    return make("section", {}, make("h2", {}, "By tag"), make("table", { class: "tags" },
      make("thead", {}, make("tr", {}, ["tag", "passed", "rate", ""].map((text, i) => i < 3 ? make("th", { scope: "col", class: i ? "number" : "" }, text) : make("td", {})))),
      make("tbody", {}, data.tags.map((one) => {
        const measured = one.passed + one.failed, share = measured ? one.passed / measured : 0;
        return make("tr", {}, make("th", { scope: "row" }, one.tag), make("td", { class: "number" }, `${one.passed}/${measured}`), make("td", { class: "number" }, one.rate),
          make("td", { class: "bar" }, draw("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true", class: "bar" }, draw("rect", { class: "rest", width: 100, height: 10 }), draw("rect", { class: "share", width: 100 * share, height: 10 }))));
      }))));
  }

  // What needs a look first: what the verdict names, then what passes least.
  const MOVED = ["regressed", "fell", "passes for the first time", "rose"];
  function ordered(by) {
    const moved = (task) => (MOVED.indexOf(task.change) + MOVED.length + 1) % (MOVED.length + 1);
    const share = (task) => task.passed / Math.max(1, task.passed + task.failed);
    const value = { look: (a, b) => moved(a) - moved(b) || share(a) - share(b), cost: (a, b) => (b.usd ?? -1) - (a.usd ?? -1), name: () => 0 }[by];
    return data.tasks.slice().sort((a, b) => value(a, b) || a.task.localeCompare(b.task));
  }

  function overview() {
    const rows = new Map(ordered("look").map((task) => [task.task, taskRow(task)]));
    const said = make("output", { class: "found" });
    const charts = make("div", { class: "charts" });
    const redraw = () => {
      const width = Math.max(280, Math.min(560, charts.clientWidth < 900 ? charts.clientWidth : (charts.clientWidth - 40) / 2));
      charts.replaceChildren(costChart(width), data.timeline.length ? timeline(width) : "");
    };
    const node = make("div", { class: "overview" }, make("h1", {}, data.run), banner(), data.notes.length ? make("ul", { class: "notes" }, data.notes.map((note) => make("li", {}, note))) : null,
      tiles(), charts,
      make("section", {}, make("h2", {}, "Tasks"), filters(rows, said),
        make("table", { class: "tasks" }, make("thead", {}, make("tr", {}, ["task", "trials", "passed", "cost", "seconds"].map((text, i) => make("th", { scope: "col", class: i > 1 ? "number" : "" }, text)))),
          make("tbody", {}, [...rows.values()]))), tagTable());
    return { node, redraw };
  }

  // ---- one trial ------------------------------------------------------------------------------

  const brief = (value) => value && typeof value === "object" && !Array.isArray(value)
    ? Object.entries(value).map(([name, one]) => `${name}: ${typeof one === "string" ? one : JSON.stringify(one)}`).join(" \u00b7 ") : json(value ?? "");
  const signature = (call) => call.name + " " + JSON.stringify(call.input);

  function input(call) {
    const value = call.input;
    if (value && typeof value === "object" && !Array.isArray(value)) {
      const names = Object.keys(value);
      if (names.length) return make("dl", { class: "input" }, names.map((name) => [make("dt", {}, name), make("dd", {}, long(json(value[name]), 12))]));
      return null;
    }
    return value === null || value === "" ? null : long(json(value), 12);
  }

  function callNode(call) {
    const ended = call.ok === false ? chip("failed", "failed") : null;
    return make("div", { class: "call" }, make("h3", {}, make("code", {}, call.name), ended, call.seconds === null ? null : make("span", { class: "dim" }, seconds(call.seconds))), input(call),
      call.output === null ? make("p", { class: "dim" }, "no result came back") : make("div", { class: "output" }, long(call.output || "(nothing)", 12)));
  }

  function stepsPanel(trial, page, kept) {
    const steps = page.steps.map((step, i) => make("li", {}, make("h2", {}, `Step ${i + 1}`, make("span", { class: "dim" }, [step.conversation ? `side conversation ${step.conversation}` : "", step.model || "", seconds(step.seconds), step.output_tokens === null ? "" : `${whole(step.input_tokens)} \u2192 ${whole(step.output_tokens)} tokens`].filter(Boolean).join(" \u00b7 "))),
      step.reasoning ? folded("thinking", long(step.reasoning, 30, "quiet")) : null, step.text ? long(step.text, 24, "said") : null, step.calls.map(callNode)));
    return [page.system ? folded("System prompt", long(page.system, 40, "quiet")) : null,
      page.prompt ? make("section", {}, make("h2", {}, "Asked"), long(page.prompt, 24, "said")) : null,
      steps.length ? make("ol", { class: "steps" }, steps) : make("p", { class: "dim" }, "The agent asked its model nothing."),
      page.divergence ? make("section", {}, make("h2", {}, "Why the replay left its recording"), long(page.divergence, 30)) : null,
      page.sandbox_calls.length ? folded(`${count(page.sandbox_calls.length, "call")} into the sandbox`, make("ul", {}, page.sandbox_calls.map((one) => make("li", {}, make("code", {}, `${one.kind} ${one.command}`), ` ${one.error || (one.exit_code === null ? "" : "exit " + one.exit_code)}`)))) : null,
      make("section", { class: "end" }, make("h2", {}, "In the end"), make("p", {}, chip(trial.outcome), " ", kept.reason))];
  }

  // What is common at both ends of two changed lines is left plain, what lies between is marked.
  function inner(old, now) {
    let start = 0, end = 0;
    const room = Math.min(old.length, now.length);
    while (start < room && old[start] === now[start]) start += 1;
    while (end < room - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
    return start + end > 2 && start + end < Math.max(old.length, now.length) ? [start, end] : null;
  }
  const marked = (text, range) => range ? [text.slice(0, range[0]), make("mark", {}, text.slice(range[0], text.length - range[1])), text.slice(text.length - range[1])] : [text];

  function diff(patch, most = 1500) {
    const lines = plain(patch).replace(/\n$/, "").split("\n");
    const table = make("div", { class: "diff" });
    let old = 0, now = 0, inside = 0, insideNow = 0;
    const row = (kind, a, b, sign, parts) => table.append(make("div", { class: "row " + kind }, make("span", { class: "at", "aria-hidden": "true" }, a), make("span", { class: "at", "aria-hidden": "true" }, b), make("span", { class: "sign" }, sign), make("code", {}, parts)));
    for (let i = 0; i < Math.min(lines.length, most); i += 1) {
      const line = lines[i], hunk = inside <= 0 && insideNow <= 0 ? /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) : null;
      if (hunk) {
        [old, now] = [Number(hunk[1]), Number(hunk[3])];
        [inside, insideNow] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
        row("hunk", "", "", "", [line]);
      } else if (inside <= 0 && insideNow <= 0) {
        row("file", "", "", "", [line]);
      } else if (line.startsWith("-")) {
        const gone = [], came = [];
        while (i < lines.length && lines[i].startsWith("-") && inside > 0) { gone.push(lines[i].slice(1)); inside -= 1; i += 1; }
        while (i < lines.length && lines[i].startsWith("+") && insideNow > 0) { came.push(lines[i].slice(1)); insideNow -= 1; i += 1; }
        i -= 1;
        const ranges = gone.map((text, k) => gone.length === came.length ? inner(text, came[k]) : null);
        gone.forEach((text, k) => row("del", old++, "", "\u2212", marked(text, ranges[k])));
        came.forEach((text, k) => row("add", "", now++, "+", marked(text, ranges[k] || null)));
      } else if (line.startsWith("+")) { insideNow -= 1; row("add", "", now++, "+", [line.slice(1)]); }
      else if (line.startsWith("\\")) row("hunk", "", "", "", [line]);
      else { inside -= 1; insideNow -= 1; row("", old++, now++, " ", [line.slice(1)]); }
    }
    if (lines.length <= most) return table;
    const more = make("button", { type: "button", class: "more", click: () => more.parentNode.replaceWith(diff(patch, Infinity)) }, `Show all ${whole(lines.length)} lines`);
    return make("div", {}, table, more);
  }

  const diffPanel = (trial, page, kept) => kept.patch ? [make("p", { class: "dim" }, "What the agent changed in its workspace."), diff(kept.patch)] : [make("p", { class: "dim" }, "The agent changed nothing.")];

  function checksPanel(trial, page, kept) {
    return [kept.checks.length ? make("table", { class: "checks" }, make("thead", {}, make("tr", {}, ["", "check", "what it found"].map((t) => t ? make("th", { scope: "col" }, t) : make("td", {})))),
      make("tbody", {}, kept.checks.map((check) => make("tr", {}, make("td", {}, chip(check.outcome)), make("th", { scope: "row" }, check.name, check.advisory ? make("span", { class: "tag" }, "advisory") : null), make("td", {}, check.detail ? long(check.detail, 20, "quiet") : "\u2013"))))) : make("p", { class: "dim" }, "No check was made."),
      kept.tripwires.length ? make("section", {}, make("h2", {}, "Tripwires"), make("ul", {}, kept.tripwires.map((hit) => make("li", {}, make("strong", {}, hit.name), ` in ${hit.place}: `, make("code", {}, hit.excerpt))))) : null,
      page.grading ? make("section", {}, make("h2", {}, "Log of the grading"), long(page.grading, 60)) : null];
  }

  const logPanel = (trial, page) => [page.log ? long(page.log, 200) : make("p", { class: "dim" }, "The agent wrote nothing.")];

  function exchange(one) {
    const reply = one.reply || {};
    const said = [reply.error ? "error: " + reply.error : "", reply.text ? short(plain(reply.text).replace(/\s+/g, " "), 80) : "", (reply.calls || []).length ? "calls " + reply.calls.map((c) => c.name).join(", ") : ""].filter(Boolean).join(" \u00b7 ");
    const body = make("div", {});
    const open = make("details", { toggle: () => {
      if (!open.open || body.firstChild) return;
      let answer = one.body || "";
      try { answer = JSON.stringify(JSON.parse(answer), null, 2); } catch { /* a stream, or cut */ }
      const part = (title, value) => value && Object.keys(value).length ? make("section", {}, make("h2", {}, title), long(json(value), 40)) : null;
      body.append(part("headers", one.headers) || "", one.continues === null || one.continues === undefined ? "" : make("p", { class: "dim" }, `Goes on from exchange ${one.continues}; only what is new is shown.`),
        part("request", one.added) || "", one.raw ? make("section", {}, make("h2", {}, "request, as it came"), long(one.raw, 40)) : "",
        part("headers of the reply", one.reply_headers) || "", make("section", {}, make("h2", {}, "reply"), long(answer || "(nothing)", 60)));
    } }, make("summary", {}, make("b", {}, `${one.exchange}`), " ", make("code", {}, `${one.method} ${one.path}`), ` ${one.status}${one.ending === "complete" ? "" : " " + one.ending} \u00b7 ${seconds(one.seconds)} `, make("span", { class: "dim" }, said)), body);
    return open;
  }
  const wirePanel = (trial, page) => [make("p", { class: "dim" }, "Each request of the agent to its model, as it is kept: secrets are taken out."), page.wire.map(exchange), page.wire.length ? null : make("p", { class: "dim" }, "Nothing is kept of the wire.")];

  // The longest run of calls that both made, in order; what stands apart is shown on its side.
  function aligned(left, right) {
    const a = left.slice(0, 300), b = right.slice(0, 300), length = a.map(() => new Int16Array(b.length + 1));
    length.push(new Int16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1) for (let j = b.length - 1; j >= 0; j -= 1)
      length[i][j] = signature(a[i]) === signature(b[j]) ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    const rows = [];
    let i = 0, j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && signature(a[i]) === signature(b[j])) rows.push([a[i++], b[j++]]);
      else if (i < a.length && j < b.length && length[i + 1][j + 1] === length[i][j]) rows.push([a[i++], b[j++]]);
      else if (i < a.length && (j >= b.length || length[i + 1][j] >= length[i][j + 1])) rows.push([a[i++], null]);
      else rows.push([null, b[j++]]);
    }
    return rows;
  }

  function referenceOf(index) {
    const trial = trials[index], found = data.references[trial.task];
    if (!found) return null;
    if (found.block) return block(found.block);
    if (found.trial === index) return { same: true };
    const other = block("trial-" + found.trial);
    return { where: data.run, n: trials[found.trial].n, patch: other.patch, steps: other.page ? other.page.steps : [], index: found.trial };
  }

  // What the agent said last in its own conversation; null where no turn of it is known.
  function lastWords(steps) {
    const own = steps.filter((step) => !step.conversation);
    return own.length ? own.map((step) => step.text).filter((text) => text.trim()).pop() || "" : null;
  }
  function words(title, said) {
    return make("div", {}, make("h2", {}, title), said === null ? make("p", { class: "dim" }, "Not known here.") : said ? long(said, 24) : make("p", { class: "dim" }, "It said nothing."));
  }

  function comparePanel(trial, page, kept, index) {
    const found = referenceOf(index);
    if (!found) return [make("p", { class: "dim" }, "No trial of this task has passed yet, here or in a baseline.")];
    if (found.same) return [make("p", { class: "dim" }, "This is the last passing trial of its task.")];
    const name = found.n ? `${found.where === data.run ? "this run" : found.where}, #${found.n}` : `baseline ${found.where}`;
    const theirs = found.steps.flatMap((step) => step.calls), ours = page.steps.flatMap((step) => step.calls);
    const rows = aligned(theirs, ours);
    const apart = ([a, b]) => !a || !b || signature(a) !== signature(b);
    const first = rows.findIndex(apart);
    const one = (call, side) => make("td", { class: call ? "" : "none" }, call ? [make("code", {}, call.name), " ", make("span", { class: "dim" }, short(plain(brief(call.input)).replace(/\s+/g, " "), 120)), call.ok === false ? chip("failed", "failed") : null] : make("span", { class: "dim" }, side));
    return [make("p", {}, "Left, the last passing trial: ", found.index === undefined ? make("strong", {}, name) : make("a", { href: place(found.index) }, name), ". Right, this one."),
      make("section", { class: "two words" }, words("Said last, passed then", lastWords(found.steps)), words("Said last, this trial", lastWords(page.steps))),
      theirs.length || ours.length ? make("section", {}, make("h2", {}, "Tool calls"), make("table", { class: "sides" }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "passed then"), make("th", { scope: "col" }, "this trial"))),
        make("tbody", {}, rows.map(([a, b], k) => make("tr", { class: !apart([a, b]) ? "" : k === first ? "apart first" : "apart" }, one(a, "\u2013"), one(b, "\u2013"))))), first < 0 ? make("p", { class: "dim" }, "Both made the same calls.") : null) : null,
      kept.difference ? make("section", {}, make("h2", {}, "From the passing output (\u2212) to this one (+)"), diff(kept.difference))
        : make("section", { class: "two" }, make("div", {}, make("h2", {}, "passed then"), found.patch ? diff(found.patch) : make("p", { class: "dim" }, "It changed nothing.")), make("div", {}, make("h2", {}, "this trial"), kept.patch ? diff(kept.patch) : make("p", { class: "dim" }, "It changed nothing.")))];
  }

  const PANELS = { steps: stepsPanel, compare: comparePanel, diff: diffPanel, checks: checksPanel, log: logPanel, wire: wirePanel };
  const EMPTY = { system: "", prompt: "", steps: [], log: "", grading: "", divergence: "", sandbox_calls: [], wire: [], lacking: [] };

  function trialView(index, tab) {
    const trial = trials[index], kept = block("trial-" + index), page = kept.page || EMPTY, s = trial.signals;
    const facts = [["evidence", trial.evidence], ["cost", usd(s.cost_usd)], ["tokens", s.input_tokens === null || s.output_tokens === null ? "unknown" : `${whole(s.input_tokens)} in, ${whole(s.output_tokens)} out`], ["time", seconds(s.seconds)], ["turns", whole(s.turns)],
      ["tool calls", s.tool_calls === null ? "unknown" : `${s.tool_calls}${s.failed_tool_calls ? `, ${s.failed_tool_calls} failed` : ""}`], ["diff", s.diff_lines === null ? "unknown" : `${count(s.diff_lines, "line")} in ${count(s.files_touched ?? 0, "file")}`], ["agent", trial.agent_exit === null ? "no exit code" : `exit ${trial.agent_exit}`]];
    const counts = { steps: page.steps.length, checks: trial.checks.length, wire: page.wire.length };
    const panel = make("div", { role: "tabpanel", id: "panel", tabindex: "0", "aria-labelledby": "tab-" + tab }, PANELS[tab](trial, page, kept, index));
    const tabs = TABS.map((name) => make("button", { type: "button", role: "tab", id: "tab-" + name, "aria-selected": String(name === tab), "aria-controls": name === tab ? "panel" : null, tabindex: name === tab ? "0" : "-1", click: () => go(place(index, name)) }, TITLES[name], counts[name] === undefined ? null : make("span", { class: "count" }, counts[name])));
    const list = make("div", { class: "tabs", role: "tablist", "aria-label": "Views of the trial", keydown: (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      go(place(index, TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]));
      document.getElementById("tab-" + location.hash.split("/").pop())?.focus();
    } }, tabs);
    const to = (other, text, key) => make("a", { href: other < 0 || other >= trials.length ? null : place(other, tab === "steps" ? "" : tab), "aria-disabled": other < 0 || other >= trials.length ? "true" : null, role: other < 0 || other >= trials.length ? "link" : null, title: `key ${key}` }, text);
    return make("article", { class: "trial" },
      make("nav", { class: "crumbs", "aria-label": "Trials" }, make("a", { href: "#" }, "\u2190 " + data.run), make("span", { class: "turn" }, to(index - 1, "Previous", "k"), to(index + 1, "Next", "j"))),
      make("h1", { title: trial.task.length > NAME ? trial.task : null }, short(trial.task, NAME), make("span", { class: "dim" }, ` #${trial.n}`)),
      make("p", { class: "outcome" }, chip(trial.outcome), " ", trial.reason),
      make("nav", { class: "strip small", "aria-label": `Trials of ${trial.task}` }, ofTask.get(trial.task).map((one) => { const node = cell(one); node.tabIndex = 0; if (one === index) node.setAttribute("aria-current", "true"); return node; })),
      make("dl", { class: "facts" }, facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
      page.lacking.length ? make("ul", { class: "notes" }, page.lacking.map((text) => make("li", {}, text))) : null, list, panel);
  }

  // ---- the page -------------------------------------------------------------------------------

  const top = document.getElementById("top"), info = data.info, times = info.times || {};
  top.append(make("p", { class: "brand" }, make("a", { href: "#" }, data.project), make("span", { class: "dim" }, " evalgate")),
    make("p", { class: "dim" }, [`harness ${data.fingerprint.slice(0, 12)}`, data.models.join(", ") || "no model", data.evidence, info.finished ? "" : "unfinished", times.started ? times.started.slice(0, 16).replace("T", " ") : ""].filter(Boolean).join(" \u00b7 ")));
  document.getElementById("foot").append(make("p", {}, "Keys: ", [["/", "search"], ["j k", "next, previous trial"], ["n", "next that did not pass"], ["1\u20136", "views of a trial"], ["Esc", "overview"]].map(([key, text], i) => [i ? " \u00b7 " : "", make("kbd", {}, key), " " + text])));

  const home = overview();
  let scrolled = 0, shown = null;

  function go(hash) {
    if (location.hash !== hash) location.hash = hash;
    show();
  }

  function show() {
    const [name, tab] = location.hash.split("/");
    const index = byPlace.get(name);
    const view = index === undefined ? "" : `${index}/${TABS.includes(tab) ? tab : "steps"}`;
    if (view === shown) return;
    const before = shown;
    if (before === "") scrolled = window.scrollY;
    shown = view;
    if (index === undefined) {
      main.replaceChildren(home.node);
      home.redraw();
      document.title = `${plain(data.project)}: ${plain(data.run)}`;
      window.scrollTo(0, scrolled);
      return;
    }
    main.replaceChildren(trialView(index, view.split("/")[1]));
    document.title = plain(`${trials[index].task} #${trials[index].n}: ${trials[index].outcome}`);
    if (before === null || before.split("/")[0] !== String(index)) {
      window.scrollTo(0, 0);
      if (before !== null) main.focus({ preventScroll: true });
    }
  }

  window.addEventListener("hashchange", show);
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { if (shown === "") home.redraw(); }, 100); });
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, select, textarea")) { if (event.key === "Escape") event.target.blur(); return; }
    const index = shown ? Number(shown.split("/")[0]) : -1;
    const tab = shown ? shown.split("/")[1] : "";
    const to = (other) => { if (other >= 0 && other < trials.length) go(place(other, tab === "steps" ? "" : tab)); };
    if (event.key === "/") { go("#"); document.getElementById("search").focus(); event.preventDefault(); }
    else if (event.key === "Escape" && shown) go("#");
    else if (event.key === "j") to(index + 1);
    else if (event.key === "k") to(index - 1);
    else if (event.key === "n") to(trials.findIndex((trial, i) => i > index && trial.outcome !== "passed"));
    else if (shown && /^[1-6]$/.test(event.key)) go(place(index, TABS[Number(event.key) - 1]));
  });
  show();
  document.documentElement.dataset.drawn = "true";
})();
