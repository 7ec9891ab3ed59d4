// Formatting functions and small components that several tabs share.
import {html, useState, useEffect, useRef} from './html.js';

export const DASH = '–';
const whole = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
const known = (number) => typeof number === 'number' && Number.isFinite(number);

export const count = (number) => (known(number) ? whole.format(number) : DASH);

/** Formats milliseconds with three significant digits. With more digits, the text would change at every update. */
export function millis(number) {
  if (!known(number) || number < 0) return DASH;
  if (number >= 10_000) return `${(number / 1000).toFixed(1)} s`;
  if (number >= 1000) return `${(number / 1000).toFixed(2)} s`;
  return `${number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2)} ms`;
}

export function rate(number) {
  if (!known(number)) return DASH;
  return number >= 100 ? whole.format(number) : number.toFixed(number >= 10 || number === 0 ? 0 : 1);
}

export function percent(share) {
  if (!known(share)) return DASH;
  const of100 = share * 100;
  return `${of100 > 0 && of100 < 1 ? of100.toPrecision(1) : of100.toFixed(of100 < 10 && of100 % 1 > 0.05 ? 1 : 0)} %`;
}

/** Formats a share as a percentage. Never rounds up to 100 %, so that a single slow call among many stays visible. */
export function percentIn(share) {
  if (!known(share)) return DASH;
  if (share === 1) return '100 %';
  return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
}

export function bytes(number) {
  if (!known(number)) return DASH;
  if (number < 1024) return `${number} bytes`;
  return number < 1 << 20 ? `${(number / 1024).toFixed(1)} kB` : `${(number / (1 << 20)).toFixed(1)} MB`;
}

export function clock(instant) {
  const date = instant instanceof Date ? instant : new Date(instant);
  return instant && !Number.isNaN(date.getTime()) ? date.toTimeString().slice(0, 8) : DASH;
}

export const moment = (instant) => (clock(instant) === DASH ? DASH : `${new Date(instant).toISOString().slice(0, 10)} ${clock(instant)}`);

export const list = (value) => (Array.isArray(value) ? value : []);
export const entries = (value) => (value && typeof value === 'object' ? Object.entries(value) : []);
export const simple = (name) => String(name).replace(/\b[a-z_][\w$]*\./g, '');

export const Time = ({at}) => html`<time datetime=${at} title=${at}>${clock(at)}</time>`;
export const Empty = ({children}) => html`<p class="empty">${children}</p>`;
export const Note = ({kind = 'info', children, ...rest}) => html`<p class="note ${kind}" ...${rest}>${children}</p>`;
export const Card = ({title, extra, children, ...rest}) => html`<section class="card" ...${rest}><div class="card-head"><h2>${title}</h2>${extra}</div>${children}</section>`;
export const Stat = ({name, value, hint, kind = ''}) => html`<div class="stat ${kind}"><dt>${name}</dt><dd>${value}${hint && html`<small>${hint}</small>`}</dd></div>`;
export const Badge = ({kind = '', children}) => html`<span class="badge ${kind}">${children}</span>`;
/** A region that scrolls horizontally. It can receive the focus, so that users can scroll it with the keyboard. */
export const Scroll = ({label, children}) => html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

/** Shows named counts as bars, the largest first. */
export function Bars({figures, none, kind = ''}) {
  const rows = entries(figures).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  if (!rows.length) return html`<${Empty}>${none}<//>`;
  return html`<ul class="bars">${rows.map(([name, n]) => html`<li key=${name}><span class="bars-name">${name}</span><span class="bars-track"><span class="bars-fill ${kind}" style=${{width: `${(100 * n) / rows[0][1]}%`}}></span></span><span class="num">${count(n)}</span></li>`)}</ul>`;
}

const PHASES = ['queue', 'decode', 'own', 'jdbc-connection', 'sql', 'redis-connection', 'redis', 'http-connection', 'http', 'rpc', 'executor', 'caller-runs', 'logging', 'unattributed'];
const phaseClass = (phase) => `ph-${PHASES.includes(phase) ? phase : 'other'}`;

/**
 * Shows the phases of a call as one bar. The length of the bar is the duration of the call or the sum of its phases,
 * whichever is longer. The sum can be longer because phases may run in parallel. scale: the time that fills the width;
 * target: the time at which a line is drawn.
 */
export function PhaseBar({phases, took, scale, target, legend = true}) {
  const shown = list(phases).map(({phase, millis: ms, count: n}) => ({phase: String(phase), ms: Number(ms) || 0, n})).filter((p) => p.ms > 0);
  const sum = shown.reduce((total, p) => total + p.ms, 0);
  const width = Math.max(scale || 0, sum, took || 0) || 1;
  const label = shown.length ? shown.map((p) => `${p.phase} ${millis(p.ms)}`).join(', ') : 'no phases known';
  const room = 0.72 * Math.min(1280, window.innerWidth - 50); // estimated width of the bar in pixels; decides which labels fit
  const sorted = legend ? [...shown].sort((a, b) => b.ms - a.ms) : [];
  return html`<div class="phases">
    <div class="phase-bar" role="img" aria-label=${`Phases: ${label}`}>
      ${shown.map((p) => html`<span key=${p.phase} class=${`seg ${phaseClass(p.phase)}`} style=${{width: `${(100 * p.ms) / width}%`}} title=${`${p.phase} ${millis(p.ms)}`}>${(p.ms / width) * room > p.phase.length * 7 + 14 && html`<span aria-hidden="true">${p.phase}</span>`}</span>`)}
      ${target > 0 && target < width && html`<span class="target" style=${{left: `${(100 * target) / width}%`}} title=${`target ${millis(target)}`}></span>`}
    </div>
    ${sorted.length > 0 && html`<ul class="phase-legend">${sorted.map((p) => html`<li key=${p.phase}><span class=${`dot ${phaseClass(p.phase)}`}></span>${p.phase} <b class="num">${millis(p.ms)}</b>${p.n > 1 && html` <span class="muted">(${count(p.n)})</span>`}</li>`)}</ul>`}
  </div>`;
}

export function Operations({operations}) {
  const rows = list(operations);
  if (!rows.length) return null;
  return html`<${Scroll} label="Operations"><table><thead><tr><th scope="col">Operation</th><th scope="col">Phase</th><th scope="col" class="num">Time</th><th scope="col" class="num">Number</th></tr></thead>
    <tbody>${rows.map((o) => html`<tr><td class="code">${o.name}</td><td>${o.phase}</td><td class="num">${millis(o.millis)}</td><td class="num">${count(o.count)}</td></tr>`)}</tbody></table><//>`;
}

/**
 * Copies text to the clipboard. Also works without a secure context, because the console is often used over plain HTTP.
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'hidden';
    (document.querySelector('dialog[open]') || document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

/** A button that copies text. text: a string, or a function that returns a string or a promise of a string. */
export function Copy({text, label = 'Copy', name}) {
  const [state, setState] = useState('');
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const run = async () => {
    let told;
    try {
      told = (await copy(typeof text === 'function' ? await text() : text)) ? 'Copied' : 'Not copied';
    } catch (e) {
      told = e.message;
    }
    setState(told);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setState(''), 2000);
  };
  return html`<button type="button" class="small" onClick=${run} aria-label=${name && !state ? `${label} ${name}` : null}><span aria-live="polite">${state || label}</span></button>`;
}
