// The tab with the diagnosis: why calls miss the latency target, and which property or line of code to change.
import {html} from './html.js';
import {Badge, Card, Copy, Empty, Note, PhaseBar, Scroll, Stat, Time, count, entries, list, millis, moment, percent} from './parts.js';
import {stateOf} from './now.js';

export function Why({why}) {
  if (!why.available) return html`<div><h1 class="hidden">Why</h1><${Empty}>${why.note || 'There is no diagnosis in this application.'}<//></div>`;
  const report = why.report || {};
  const [kind, name] = stateOf(report);
  const causes = list(report.causes);
  return html`<div>
    <h1 class="hidden">Why</h1>
    <div class="verdict ${kind}"><${Badge} kind=${kind}>${name}<//><span class="verdict-text">${first(report, why)}</span><${Copy} text=${why.text} label="Copy as text" /></div>
    ${why.note && html`<${Note}>${why.note}<//>`}
    ${report.miss && html`<${Miss} miss=${report.miss} />`}
    <ol class="causes" aria-label="Causes">${causes.map((cause, i) => html`<${Cause} key=${`${cause.kind} ${cause.name}`} cause=${cause} rank=${i + 1} />`)}</ol>
    ${entries(report.accountMs).length > 0 && html`<${Card} title="The mean time of a bad call by part"><${PhaseBar} phases=${entries(report.accountMs).map(([phase, ms]) => ({phase, millis: ms}))} target=${report.miss?.targetMs} /><//>`}
    ${report.checked && html`<${Card} title="What the last change brought"><p>${report.checked}</p><//>`}
    ${report.recorded && html`<${Card} title="Flight recording" extra=${html`<span class="muted">${moment(report.recorded.at)}, ${report.recorded.seconds} s</span>`}><pre>${list(report.recorded.lines).join('\n')}</pre><//>`}
    <${Past} history=${list(report.history)} />
    ${why.text && html`<details class="card"><summary>The diagnosis as text</summary><pre>${why.text}</pre></details>`}
  </div>`;
}

function first(report, why) {
  if (report.state === 'HEALTHY') return 'Calls are in time.';
  if (report.state === 'QUIET') return 'Fewer than 60 seconds with calls since the start, or too few calls to judge.';
  return String(why.text || '').split('\n')[0];
}

const ms = (value) => (value >= 0 ? millis(value) : 'unknown'); // the report contains -1 for an unknown time

const Miss = ({miss}) => html`<dl class="stats" aria-label="The miss">
  <${Stat} name="Since" value=${html`<${Time} at=${miss.since} />`} hint=${`${count(miss.seconds)} s`} />
  <${Stat} name="Calls" value=${count(miss.calls)} />
  <${Stat} name="Late" value=${count(miss.late)} kind="bad" hint=${`target ${ms(miss.targetMs)}`} />
  <${Stat} name="Failed" value=${count(miss.failed)} />
  <${Stat} name="Refused" value=${count(miss.refused)} />
  <${Stat} name="Hang now" value=${count(miss.hung)} />
  <${Stat} name="99th percentile" value=${ms(miss.p99Ms)} hint=${`usual ${ms(miss.usualP99Ms)}`} />
</dl>`;

function Cause({cause, rank}) {
  const change = cause.change || {};
  const line = change.property && `${change.property}=${change.to}`;
  return html`<li class="card cause">
    <div class="card-head"><h2><span class="rank">${rank}</span> ${cause.kind} <span class="code">${cause.name}</span></h2><span class="num">${cause.ofFailures > 0 ? `${percent(cause.ofFailures)} of the failed and refused calls` : `${ms(cause.ms)} of ${ms(cause.ofMs)}`}</span></div>
    <span class="bars-track" aria-hidden="true"><span class="bars-fill bad" style=${{width: `${Math.min(100, (100 * cause.ms) / (cause.ofMs || 1))}%`}}></span></span>
    ${change.text && html`<div class="change"><b>Change</b><p>${change.text}</p>${!line && html`<${Copy} text=${change.text} name="the change" />`}</div>`}
    ${line && html`<div class="copy-line"><code>${line}</code><${Copy} text=${line} name="the property" /></div>`}
    ${change.property && html`<p class="muted">now ${change.from ?? 'not set'}${change.expectedP99Ms >= 0 && `; expected 99th percentile ${ms(change.expectedP99Ms)}`}</p>`}
    ${cause.saves > 0 && html`<p>${percent(cause.saves)} of the bad calls would be in time without it.</p>`}
    <${Facts} name="Evidence" facts=${cause.evidence} />
    <${Facts} name="Changed, new and unchanged" facts=${cause.changed} />
    <${Facts} name="Brings about" facts=${cause.symptoms} />
    <${Facts} name="Checked, and not the cause" facts=${cause.acquitted} />
  </li>`;
}

const Facts = ({name, facts}) => list(facts).length > 0 && html`<div class="evidence"><h3>${name}</h3><ul>${facts.map((fact) => html`<li class="fact">${fact}</li>`)}</ul></div>`;

function Past({history}) {
  if (!history.length) return html`<${Empty}>No miss within 24 hours.<//>`;
  return html`<${Card} title="Misses within 24 hours"><${Scroll} label="Misses within 24 hours"><table><thead><tr><th scope="col">From</th><th scope="col">Until</th><th scope="col">First cause</th><th scope="col" class="num">Late</th><th scope="col" class="num">Failed</th><th scope="col" class="num">p99</th><th scope="col">Change</th></tr></thead>
    <tbody>${[...history].reverse().slice(0, 50).map((e) => html`<tr><td><${Time} at=${e.from} /></td><td><${Time} at=${e.until} /></td><td>${e.first}</td><td class="num">${count(e.late)}</td><td class="num">${count(e.failed)}</td><td class="num">${ms(e.p99Ms)}</td><td>${e.change}</td></tr>`)}</tbody></table><//><//>`;
}
