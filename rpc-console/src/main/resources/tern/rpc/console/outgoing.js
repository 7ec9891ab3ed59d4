// The tab with the services called by this application, and with the callers of its own services.
import {html} from './html.js';
import {Badge, Card, Empty, Scroll, Time, count, list, moment, percent} from './parts.js';

export function Outgoing({outgoing}) {
  const references = list(outgoing.references);
  return html`<div>
    <div class="bar"><h1>Outgoing</h1><span class="muted">the providers of each reference, as this client sees them</span></div>
    ${references.length === 0 && html`<${Empty}>This application calls no other one.<//>`}
    ${references.map((reference) => html`<${Reference} key=${reference.service} reference=${reference} />`)}
    <${Card} title="Who calls us"><${Callers} callers=${list(outgoing.callers)} /><//>
  </div>`;
}

const LISTS = {FRESH: 'good', STALE: 'warn', EMPTY: 'bad', UNKNOWN: 'bad'};
const LINKS = {CONNECTED: 'good', CONNECTING: 'warn', WAITING: 'warn', UNREACHABLE: 'bad'};

function Reference({reference}) {
  const of = reference.list || {};
  const endpoints = list(reference.endpoints);
  return html`<${Card} title=${html`<span class="code">${reference.service}</span>`} extra=${html`<${Badge} kind=${LISTS[of.state]}>list ${String(of.state || 'unknown').toLowerCase()}<//>`}>
    <p class="muted">${count(of.listed)} ${of.listed === 1 ? 'provider' : 'providers'} of ${of.source}, since ${moment(of.since)}${of.why && `; ${of.why}`}${of.held > 0 && `; ${count(of.held)} kept that the list does not contain any more: ${of.heldWhy}`}</p>
    ${endpoints.length === 0 ? html`<${Empty}>No provider. Calls fail until the list names one.<//>` : html`<${Scroll} label=${`Providers of ${reference.service}`}><table>
      <thead><tr><th scope="col">Provider</th><th scope="col">Connection</th><th scope="col">Share of calls</th><th scope="col" class="num">Score</th><th scope="col" class="num">Time</th><th scope="col" class="num">In flight</th><th scope="col" class="num">Ejections</th><th scope="col">State</th></tr></thead>
      <tbody>${endpoints.map((e) => html`<${Provider} key=${e.address} e=${e} />`)}</tbody></table><//>`}
    <${Attempts} reference=${reference} />
  <//>`;
}

// The counts since the client started. They belong to the service, so two references to one service show the same
// counts.
const ATTEMPTS = {retries: ['Retries', 'attempts that repeated a failed attempt'], hedges: ['Hedges', 'attempts sent to a second provider because the first one was slow'], fallbacks: ['Answers of the fallback', 'calls that no provider accepted; they count as failed']};

const Attempts = ({reference}) => html`<dl class="facts attempts" aria-label="Since the start">${Object.entries(ATTEMPTS).map(([name, [title, hint]]) => html`<dt>${title}</dt><dd class=${name === 'fallbacks' && reference[name] > 0 ? 'bad-text' : ''}>${count(reference[name])} <small>${hint}</small></dd>`)}</dl>`;

const times = (multiple) => (typeof multiple === 'number' ? `${multiple.toFixed(1)} ×` : '–');

const Provider = ({e}) => html`<tr>
  <td class="code">${e.address}${e.zone && html` <small class="muted">${e.zone}</small>`}</td>
  <td><${Badge} kind=${LINKS[e.connection]}>${String(e.connection || 'unknown').toLowerCase()}<//></td>
  <td class="wide"><span class="share"><span class="bars-track"><span class="bars-fill" style=${{width: `${Math.min(100, 100 * (e.shareOfLastMinute || 0))}%`}}></span></span><span class="num">${percent(e.shareOfLastMinute)}</span></span></td>
  <td class="num">${typeof e.score === 'number' ? e.score.toFixed(2) : '–'}</td><td class="num" title="a multiple of the usual response time">${times(e.responseTime)}</td><td class="num">${count(e.inFlight)}</td><td class="num">${count(e.ejections)}</td>
  <td>${conditions(e).map((text) => html`<div>${text}</div>`)}</td></tr>`;

function conditions(e) {
  return [
    e.ejectedUntil && `avoided until ${moment(e.ejectedUntil)}: ${e.ejectedWhy}`,
    e.stalledSince && `silent since ${moment(e.stalledSince)}`,
    e.draining && 'about to stop',
    e.held && 'not in the list any more',
    e.connection === 'CONNECTED' && e.heard === false && 'has sent nothing yet',
    e.lastFailure && `${e.lastFailure}${e.nextAttempt ? `; next attempt ${moment(e.nextAttempt)}` : ''}`,
  ].filter(Boolean);
}

function Callers({callers}) {
  if (!callers.length) return html`<${Empty}>Nobody has called yet.<//>`;
  return html`<${Scroll} label="Who calls us"><table><thead><tr><th scope="col">Caller</th><th scope="col">Known by</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Failed</th><th scope="col">Last call</th></tr></thead>
    <tbody>${callers.map((c) => html`<tr><td class="code">${c.caller}</td><td>${c.how}</td><td class="num">${count(c.calls)}</td><td class="num ${c.failed > 0 ? 'bad-text' : ''}">${count(c.failed)}</td><td><${Time} at=${c.lastAt} /></td></tr>`)}</tbody></table><//>`;
}
