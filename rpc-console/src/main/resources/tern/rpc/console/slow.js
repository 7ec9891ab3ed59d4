// The tab with the last calls that took longer than the latency target. The phases of all calls are drawn to the same
// scale.
import {html, useState} from './html.js';
import {Badge, Copy, Empty, Operations, PhaseBar, Time, list, millis, simple} from './parts.js';
import {go} from './route.js';

const idOf = (call) => String(call.id || `${call.at} ${call.method}`);

export function Slow({slow, selected}) {
  const [filter, setFilter] = useState('');
  const all = list(slow.calls);
  const wanted = filter.toLowerCase();
  const calls = all.filter((c) => [c.method, c.code, c.caller, c.trace, c.protocol].some((text) => String(text || '').toLowerCase().includes(wanted)));
  const scale = Math.max(slow.targetMillis || 0, ...calls.map((c) => c.tookMillis || 0));
  return html`<div>
    <div class="bar"><h1>Slow calls</h1><span class="muted">longer than ${millis(slow.targetMillis)}, the last 100; the vertical line is the target</span><input type="search" placeholder="Filter" aria-label="Filter the slow calls" value=${filter} onInput=${(e) => setFilter(e.target.value)} /></div>
    ${all.length === 0 && html`<${Empty}>No call took longer than the target.<//>`}
    ${all.length > 0 && calls.length === 0 && html`<${Empty}>No slow call matches the filter.<//>`}
    ${selected && !all.some((c) => idOf(c) === selected) && html`<${Empty}>The call of this link is no longer among the last 100.<//>`}
    <ul class="slow" aria-label="Slow calls">${calls.map((call) => html`<${Row} key=${idOf(call)} call=${call} scale=${scale} target=${slow.targetMillis} open=${idOf(call) === selected} />`)}</ul>
  </div>`;
}

function Row({call, scale, target, open}) {
  const toggle = () => go(open ? ['slow'] : ['slow', idOf(call)]);
  return html`<li class="card slow-row">
    <button type="button" class="slow-head" aria-expanded=${open} onClick=${toggle}>
      <${Time} at=${call.at} /><span class="code slow-name">${simple(call.method)}</span><span class="slow-code">${call.code && call.code !== 'OK' && html`<${Badge} kind="bad">${call.code}<//>`}</span><b class="num">${millis(call.tookMillis)}</b>
    </button>
    <${PhaseBar} phases=${call.phases} took=${call.tookMillis} scale=${scale} target=${target} legend=${open} />
    ${open && html`<div>
      <dl class="facts"><dt>Method</dt><dd class="code">${call.method}</dd><dt>Code</dt><dd>${call.code}</dd><dt>Caller</dt><dd>${call.caller || 'unknown'}</dd><dt>Protocol</dt><dd>${call.protocol || 'unknown'}</dd><dt>Trace</dt><dd>${call.trace ? html`<code>${call.trace}</code> <${Copy} text=${call.trace} name="the trace id" />` : 'none'}</dd></dl>
      <${Operations} operations=${call.operations} />
    </div>`}
  </li>`;
}
