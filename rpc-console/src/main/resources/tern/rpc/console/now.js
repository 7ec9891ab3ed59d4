// The tab "Now": shows whether the service currently meets its latency target, and where to look if it does not.
import {html, useMemo} from './html.js';
import {Bars, Badge, Card, Empty, Scroll, Stat, count, list, millis, percent, percentIn, rate} from './parts.js';
import {Chart} from './charts.js';

export function Now({now}) {
  const minute = now.lastMinute || {};
  const late = minute.shareOverTarget;
  const quiet = !(minute.calls > 0);
  const time = (ms) => (quiet ? '–' : millis(ms));
  return html`<div class="now">
    <h1 class="hidden">Now</h1>
    <${Diagnosis} diagnosis=${now.diagnosis} />
    <dl class="stats" aria-label="Last minute">
      <${Stat} name="Calls a second" value=${rate(minute.qps)} hint=${now.targetQps ? `planned for ${rate(now.targetQps)}` : ''} />
      <${Stat} name="Median" value=${time(minute.p50Millis)} />
      <${Stat} name="99th percentile" value=${time(minute.p99Millis)} hint=${`target ${millis(now.targetMillis)}`} kind=${!quiet && minute.p99Millis > now.targetMillis ? 'bad' : ''} />
      <${Stat} name="Slowest" value=${time(minute.maxMillis)} />
      <${Stat} name="Within target" value=${quiet ? '–' : percentIn(1 - late)} kind=${late > 0.01 ? 'bad' : ''} />
      <${Stat} name="Failed" value=${quiet ? '–' : percent(minute.shareFailed)} kind=${minute.shareFailed > 0.01 ? 'bad' : ''} />
      <${Stat} name="In flight" value=${count(now.inFlight)} />
    </dl>
    <${Charts} points=${now.points} target=${now.targetMillis} />
    <div class="columns">
      <${Card} title="Failures" extra=${html`<span class="muted">${now.failuresSince === 'minute' ? 'last minute' : 'since the start'}</span>`}><${Bars} figures=${now.failures} kind="bad" none="No call failed." /><//>
      <${Card} title="Refusals" extra=${html`<span class="muted">since the start</span>`}><${Bars} figures=${now.refusals} kind="warn" none="No call was refused." /><//>
      <${Card} title="Server and calls to others"><${Traffic} now=${now} /><//>
    </div>
    <${Card} title="Pools"><${Pools} pools=${list(now.pools)} /><//>
  </div>`;
}

const STATES = {MISS: ['bad', 'Target missed'], HEALTHY: ['good', 'In time'], QUIET: ['', 'Too few calls to judge']};
export const stateOf = (diagnosis) => (diagnosis && STATES[diagnosis.state]) || ['', diagnosis ? String(diagnosis.state) : 'No diagnosis'];

function Diagnosis({diagnosis}) {
  if (!diagnosis) return null;
  const [kind, name] = stateOf(diagnosis);
  return html`<div class="verdict ${kind}"><${Badge} kind=${kind}>${name}<//><span class="verdict-text">${diagnosis.summary}</span>${diagnosis.state === 'MISS' && html`<a href="#/why">Why?</a>`}</div>`;
}

function Charts({points, target}) {
  const shown = list(points);
  const series = useMemo(() => columns(shown, target), [points, target]);
  if (!shown.some((p) => p.calls > 0)) return html`<${Empty}>No call yet. Try one under <a href="#/services">Services</a>.<//>`;
  const {times, calls, failed, p50, p99, max, line, within} = series;
  const last = (values) => values.filter((v) => v != null).at(-1);
  const highest = Math.max(target || 1, ...max.filter((v) => v != null));
  const lowest = Math.min(target || 1, ...p50.filter((v) => v > 0));
  const least = Math.min(...within.filter((v) => v != null));
  return html`<div class="charts">
    <${Chart} title="Calls a second" times=${times} format=${rate} summary=${`Now ${rate(last(calls))}, at most ${rate(Math.max(...calls))} in 15 minutes.`}
      series=${[{name: 'all', values: calls, color: 'accent', fill: true}, {name: 'failed', values: failed, color: 'bad'}]} />
    <${Chart} title="Response time" times=${times} format=${axisMillis} log=${true} range=${[10 ** Math.floor(Math.log10(lowest)), highest * 1.3]}
      summary=${`99th percentile now ${millis(last(p99))}, target ${millis(target)}.`}
      series=${[{name: 'max', values: max, color: 'faint', width: 1}, {name: 'p99', values: p99, color: 'accent'}, {name: 'p50', values: p50, color: 'second'}, {name: 'target', values: line, color: 'bad', dash: true}]} />
    <${Chart} title="Within the target" times=${times} format=${(v) => `${+v.toFixed(1)} %`} range=${[Math.min(95, Math.floor(least / 5) * 5), 100.4]}
      summary=${`Now ${percentIn(last(within) / 100)}, at least ${percentIn(least / 100)} in 15 minutes. The line is at 99 %.`}
      series=${[{name: 'share', values: within, color: 'good', fill: true}, {name: '99 %', values: line.map(() => 99), color: 'bad', dash: true}]} />
  </div>`;
}

const axisMillis = (v) => (v >= 1000 ? `${+(v / 1000).toFixed(1)} s` : `${+v.toPrecision(3)} ms`);
const positive = (v) => (v > 0 ? v : null); // a logarithmic axis cannot show 0

function columns(points, target) {
  const some = (p, value) => (p.calls > 0 ? value : null);
  return {
    times: points.map((p) => Date.parse(p.at) / 1000),
    calls: points.map((p) => p.calls / (p.seconds || 1)),
    failed: points.map((p) => p.failed / (p.seconds || 1)),
    p50: points.map((p) => some(p, positive(p.p50Millis))),
    p99: points.map((p) => some(p, positive(p.p99Millis))),
    max: points.map((p) => some(p, positive(p.maxMillis))),
    line: points.map(() => target),
    within: points.map((p) => some(p, 100 * (1 - p.late / p.calls))),
  };
}

function Traffic({now}) {
  const called = now.called;
  return html`<dl class="facts">
    <dt>Server</dt><dd>${now.server ? `${now.server.running ? 'serves' : 'does not serve'} on port ${now.server.port}` : 'none'}</dd>
    ${now.server && html`<dt>Connections</dt><dd>${count(now.server.connections)}</dd>`}
    <dt>Calls to others</dt><dd>${called && called.calls > 0 ? `${rate(called.qps)} a second, p99 ${millis(called.p99Millis)}, ${percent(called.shareFailed)} failed` : 'none in the last minute'}</dd>
  </dl>`;
}

function Pools({pools}) {
  if (!pools.length) return html`<${Empty}>No pool is known.<//>`;
  return html`<${Scroll} label="Pools"><table><thead><tr><th scope="col">Pool</th><th scope="col">Kind</th><th scope="col">In use</th><th scope="col" class="num">Active</th><th scope="col" class="num">Idle</th><th scope="col" class="num">Max</th><th scope="col" class="num">Waiting</th></tr></thead>
    <tbody>${pools.map((p) => html`<tr><td>${p.name}</td><td class="muted">${String(p.kind ?? '').toLowerCase()}</td><td class="wide">${p.max > 0 && p.active != null ? html`<span class="bars-track"><span class="bars-fill ${p.active >= p.max ? 'bad' : ''}" style=${{width: `${Math.min(100, (100 * p.active) / p.max)}%`}}></span></span>` : '–'}</td><td class="num">${count(p.active)}</td><td class="num">${count(p.idle)}</td><td class="num">${count(p.max)}</td><td class="num ${p.waiting > 0 ? 'bad-text' : ''}">${count(p.waiting)}</td></tr>`)}</tbody></table><//>`;
}
