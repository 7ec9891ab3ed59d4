// The charts of the tab "Now". uPlot draws on a canvas, so each chart also has a sentence for screen readers.
import {html, useEffect, useRef} from './html.js';

// uPlot makes up a third of the page's bytes, so it is loaded only after the page has been painted for the first time.
let library = null;
const load = () => (library = library || import('./uplot.js').then((module) => module.default));

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const HEIGHT = 168;
const SHORT = 240; // in seconds; up to this time range, axis labels contain seconds
const POWERS = [0.1, 1, 10, 100, 1000, 10_000, 100_000];

/**
 * Draws a chart. title: the heading; summary: the sentence for screen readers; times: the x values in seconds;
 * series: a list of {name, values, color, fill, dash, width}; log: whether the y axis is logarithmic; range: the y
 * axis as [low, high]; format: a function that formats a y value.
 */
export function Chart({title, summary, times, series, log, range, format}) {
  const box = useRef(null);
  const chart = useRef(null);
  const latest = useRef(null);
  latest.current = {times, series, range};

  useEffect(() => {
    let observer;
    let ended = false;
    const draw = (uPlot) => {
      if (ended || !box.current) return;
      chart.current?.destroy();
      chart.current = new uPlot(options(uPlot, box.current.clientWidth, latest, log, format), data(latest.current), box.current);
    };
    load().then((uPlot) => {
      draw(uPlot);
      observer = new ResizeObserver(() => box.current && chart.current?.setSize({width: box.current.clientWidth, height: HEIGHT}));
      if (box.current) observer.observe(box.current);
    }, () => {}); // without uPlot, only the sentence is shown
    const recolor = () => library.then(draw);
    window.addEventListener('tern-theme', recolor);
    return () => {
      ended = true;
      window.removeEventListener('tern-theme', recolor);
      observer?.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [log, series.length]);

  useEffect(() => chart.current?.setData(data(latest.current)));

  return html`<figure class="chart">
    <figcaption><h2>${title}</h2><ul class="chart-legend">${series.map((s) => html`<li key=${s.name}><span class="line" style=${{borderTopColor: `var(--${s.color})`, borderTopStyle: s.dash ? 'dashed' : 'solid'}}></span>${s.name}</li>`)}</ul></figcaption>
    <div class="plot" role="img" aria-label=${`${title}. ${summary}`} ref=${box}></div>
  </figure>`;
}

const data = ({times, series}) => [times, ...series.map((s) => s.values)];

function options(uPlot, width, latest, log, format) {
  const axis = {stroke: color('muted'), grid: {stroke: color('grid'), width: 1}, ticks: {show: false}, font: '11px system-ui, sans-serif'};
  return {
    width,
    height: HEIGHT,
    padding: [8, 8, 0, 0],
    legend: {show: false},
    cursor: {drag: {x: false, y: false}, sync: {key: 'tern'}, points: {size: 6}},
    scales: {
      x: {time: true},
      y: {distr: log ? 3 : 1, range: (_, low, high) => latest.current.range || [0, high > 0 ? high * 1.15 : 1]},
    },
    axes: [
      {...axis, space: 60, size: 24, values: (_, ticks) => ticks.map((t) => new Date(t * 1000).toTimeString().slice(0, ticks.at(-1) - ticks[0] < SHORT ? 8 : 5))},
      {...axis, size: 52, space: 28, ...(log && {splits: (_, i, low, high) => POWERS.filter((p) => p >= low && p <= high)}), values: (_, ticks) => ticks.map(format)},
    ],
    series: [
      {},
      ...latest.current.series.map((s) => ({
        label: s.name,
        stroke: color(s.color),
        fill: s.fill && color(`${s.color}-soft`),
        width: s.width || 1.5,
        dash: s.dash && [5, 4],
        spanGaps: s.dash,
        points: {show: false, size: 4, fill: color(s.color), filter: (u, i) => lonely(u.data[i])},
      })),
    ],
    plugins: [tip(format)],
  };
}

/**
 * Returns the indexes of the values without neighbours. These values are drawn as points, because a line through a
 * single point is invisible.
 */
function lonely(values) {
  const found = [];
  for (let i = 0; i < values.length; i++) {
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) found.push(i);
  }
  return found;
}

/** Creates the uPlot plugin that shows the values at the pointer's position. */
function tip(format) {
  let box;
  return {
    hooks: {
      init: (u) => {
        box = document.createElement('div');
        box.className = 'tip';
        box.hidden = true;
        u.over.append(box);
      },
      setCursor: (u) => {
        const {idx, left} = u.cursor;
        box.hidden = idx == null || left < 0;
        if (box.hidden) return;
        const lines = [new Date(u.data[0][idx] * 1000).toTimeString().slice(0, 8)];
        u.series.forEach((s, i) => i > 0 && lines.push(`${s.label}: ${u.data[i][idx] == null ? '–' : format(u.data[i][idx])}`));
        box.textContent = lines.join('\n');
        box.classList.toggle('left', left > u.over.clientWidth / 2);
      },
    },
  };
}
