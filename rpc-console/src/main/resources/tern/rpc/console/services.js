// The tab with the exported services: a tree with a filter, and for each method its types, a form, a JSON editor
// beside the form, and the result.
import {html, useEffect, useMemo, useRef, useState} from './html.js';
import {post} from './api.js';
import {curl, grpcurl, java} from './copyas.js';
import {Arguments, Messages, initial} from './form.js';
import {firstInvalid, fromPlain, parse, print} from './json.js';
import {live, replaced, retrySoon} from './live.js';
import {Badge, Card, Copy, Empty, Note, Scroll, Stat, Time, count, entries, list, millis, simple} from './parts.js';
import {Result} from './result.js';
import {go, link} from './route.js';

const SHAPES = {UNARY: 'one answer', SERVER_STREAM: 'stream of answers', CLIENT_STREAM: 'stream of messages', BIDI_STREAM: 'streams both ways'};
const GRACE = 5000; // milliseconds after the timeout; the server ends the call at the timeout, and its answer needs some time
const MAX_REQUEST = 1 << 20;
const MAX_TIMEOUT = 60_000; // the server refuses longer timeouts
const MANY = 12; // with more services than this, their tree nodes are collapsed at first

const idOf = (service, method) => [service.key, method.name, method.descriptor || ''];

export function Services({services: body, parts}) {
  const services = list(body.services);
  const types = useMemo(() => new Map(entries(body.types)), [body]);
  const service = services.find((s) => s.key === parts[0]);
  const method = service && list(service.methods).find((m) => m.name === parts[1] && (m.descriptor || '') === (parts[2] || ''));
  if (services.length === 0) return html`<div><h1 class="hidden">Services</h1><${Empty}>This application exports no service.<//></div>`;
  return html`<div class="services ${method ? 'one' : ''}">
    <${Tree} services=${services} service=${service} method=${method} />
    <div class="method">
      ${method ? html`<${Method} key=${idOf(service, method).join('/')} service=${service} method=${method} types=${types} services=${services} />`
      : html`<h1 class="hidden">Services</h1><${Empty}>${parts.length ? 'The method of this link is not exported any more. Choose one of the list.' : 'Choose a method.'}<//><${History} services=${services} />`}
    </div>
  </div>`;
}

function Tree({services, service, method}) {
  const [filter, setFilter] = useState('');
  const wanted = filter.toLowerCase();
  const matching = services.map((s) => {
    const all = list(s.methods);
    return {s, methods: s.key.toLowerCase().includes(wanted) ? all : all.filter((m) => m.name.toLowerCase().includes(wanted))};
  }).filter(({methods}) => methods.length > 0);
  const box = useRef(null);
  // The arrow keys Down and Up move the focus through the list, as in a menu.
  const move = (event) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    const items = [...box.current.querySelectorAll('input, summary, details[open] a')];
    const next = items[items.indexOf(document.activeElement) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  };
  return html`<nav class="tree" aria-label="Services" ref=${box} onKeyDown=${move}>
    <input type="search" placeholder="Filter" aria-label="Filter the services" value=${filter} onInput=${(e) => setFilter(e.target.value)} />
    ${matching.length === 0 && html`<p class="muted">Nothing matches.</p>`}
    ${matching.map(({s, methods}) => html`<details key=${s.key} open=${wanted !== '' || services.length <= MANY || s === service}>
      <summary title=${s.key}><span>${simple(s.name)}</span>${(s.group || s.version) && html` <small>${[s.group, s.version].filter(Boolean).join(' ')}</small>`}${s.critical && html` <${Badge} kind="warn">critical<//>`}</summary>
      <ul>${methods.map((m) => html`<li key=${m.name + m.descriptor}><a href=${link(['services', ...idOf(s, m)])} aria-current=${m === method ? 'page' : null}><span>${m.name}</span><small>${list(m.parameters).map((p) => simple(p.type?.java || '')).join(', ')}</small>${m.lastMinute?.calls > 0 && html`<small class="num calls">${count(m.lastMinute.calls)}</small>`}</a></li>`)}</ul>
    </details>`)}
  </nav>`;
}

// The state of each method: the user's input, the running call and the last result. The map is kept when the user opens
// another tab, so that a running call continues.
const sessions = new Map();
const watchers = new Set();
const redrawAll = () => watchers.forEach((redraw) => redraw());

function sessionOf(service, method, types) {
  const key = idOf(service, method).join('/');
  if (!sessions.has(key)) {
    const session = {headers: '', timeoutMillis: 10_000, running: null, result: null, failure: null};
    setValue(session, firstValue(method, types));
    sessions.set(key, session);
  }
  return sessions.get(key);
}

const sendsMessages = (method) => method.type === 'CLIENT_STREAM' || method.type === 'BIDI_STREAM';

function firstValue(method, types) {
  const parameters = list(method.parameters);
  const example = Array.isArray(method.example) ? fromPlain(method.example) : null;
  if (sendsMessages(method)) return example || [initial(parameters[0]?.type, types)];
  return example && example.length === parameters.length ? example : parameters.map((p) => initial(p.type, types));
}

function setValue(session, value) {
  session.value = value;
  session.text = print(value);
  session.error = null;
}

/** Sets the text of the JSON editor. If the text is not valid JSON, the form keeps its last value. */
function setText(session, method, text) {
  session.text = text;
  session.error = null;
  try {
    const value = parse(text);
    const wanted = list(method.parameters).length;
    if (!Array.isArray(value)) throw Object.assign(new Error(sendsMessages(method) ? 'Expected a list of messages' : `Expected a list of ${wanted} arguments`), {line: 1, column: 1, at: 0});
    if (!sendsMessages(method) && value.length !== wanted) throw Object.assign(new Error(`Expected ${wanted} arguments, found ${value.length}`), {line: 1, column: 1, at: 0});
    session.value = value;
  } catch (e) {
    session.error = e;
  }
}

function headersOf(text) {
  const headers = Object.create(null);
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim();
    if (colon < 1 || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error(`Line ${i + 1} of the headers is not "name: value"`);
    headers[name] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** Returns the reason why the Send button is disabled, or an empty string if it is enabled. */
function obstacle(session, method) {
  if (live.data.now && live.data.now.canCall === false) return live.data.now.cannotCallWhy || 'Calls from this page are switched off.';
  if (method.note) return method.note;
  if (session.error) return 'Correct the JSON first.';
  const invalid = firstInvalid(session.value);
  if (invalid) return `Correct the form first: ${invalid.why}.`;
  if (!(session.timeoutMillis >= 1 && session.timeoutMillis <= MAX_TIMEOUT)) return `The timeout must be a number of milliseconds from 1 to ${MAX_TIMEOUT}.`;
  try {
    headersOf(session.headers);
  } catch (e) {
    return `${e.message}.`;
  }
  return session.text.length > MAX_REQUEST ? 'The request is larger than 1 MB.' : '';
}

const randomId = () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('');

/**
 * Sends one request and never repeats it. The browser itself may send the request twice. The request therefore contains
 * an id, by which the server recognizes and rejects the second copy.
 */
async function send(session, service, method) {
  if (session.running || obstacle(session, method)) return;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort('timeout'), session.timeoutMillis + GRACE);
  const id = randomId();
  session.running = {since: Date.now(), abort, id, stopping: false};
  session.result = null;
  session.failure = null;
  redrawAll();
  const messages = sendsMessages(method) ? session.value.map((message) => print(message, '')) : [print(session.value, '')];
  const request = {service: service.key, method: method.name, descriptor: method.descriptor, messages, headers: headersOf(session.headers), timeoutMillis: session.timeoutMillis, maxMessages: 100, id, instance: live.instance};
  try {
    session.result = await post('call', request, {signal: abort.signal});
  } catch (e) {
    session.failure = failureOf(e, abort.signal, session);
    if (e.body?.restarted) replaced();
    else retrySoon();
  }
  clearTimeout(timer);
  const took = Date.now() - session.running.since;
  session.running = null;
  remember({at: new Date().toISOString(), id: idOf(service, method), text: session.text, headers: session.headers, timeoutMillis: session.timeoutMillis, code: session.result?.code || session.failure.code, took: session.result?.tookMillis ?? took});
  redrawAll();
  setTimeout(() => document.querySelector('.result')?.scrollIntoView({block: 'nearest'}));
}

/**
 * Stops the running call. The server cancels the call and then answers the request that started it with the answers
 * received so far. If the server cannot be reached, or if the user presses the button again, the page only stops
 * waiting.
 */
async function stop({running}) {
  if (!running) return;
  if (running.stopping) return running.abort.abort('left');
  running.stopping = true;
  redrawAll();
  try {
    await post('stop', {id: running.id}, {signal: AbortSignal.timeout(GRACE)});
  } catch {
    running.abort.abort('left');
  }
}

function failureOf(e, signal, session) {
  if (signal.aborted) {
    return signal.reason === 'timeout'
      ? {code: 'NO ANSWER', executed: 'perhaps executed', why: `No answer within ${(session.timeoutMillis + GRACE) / 1000} s. The method may still run.`}
      : {code: 'LEFT', executed: 'perhaps executed', why: 'You stopped waiting. The method may still run.'};
  }
  if (e.body?.repeated) return {code: 'LOST', executed: 'perhaps executed', why: 'The connection broke before the answer. The browser sent the request again, and the server refused to run it a second time. The answer of the first time is lost.'};
  if (e.body?.restarted) return {code: 'NOT SENT ON', executed: 'not executed', why: 'Another process than before answers: the application was restarted. Press Send if the call shall run there.'};
  if (!e.status) return {code: 'LOST', executed: 'perhaps executed', why: `${e.message} Whether the method ran is not known. The request is not sent again.`};
  // Only the console's own responses contain a version. After a 5xx response without a version, such as a 502 from a
  // proxy, it is unknown whether the call was executed.
  return {code: `HTTP ${e.status}`, executed: e.status < 500 || e.body?.version === 1 ? 'not executed' : 'perhaps executed', why: e.message};
}

function Method({service, method, types, services}) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watcher = () => redraw((n) => n + 1);
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, []);
  const session = sessionOf(service, method, types);
  const edit = (change) => {
    change(session);
    redraw((n) => n + 1);
  };
  const why = obstacle(session, method);
  const submit = (event) => {
    event.preventDefault();
    send(session, service, method);
  };
  // Ctrl+Enter sends the call. Enter alone does not send it. A key that is held down sends only one call.
  const withKey = (event) => {
    if (event.key !== 'Enter') return;
    if ((event.ctrlKey || event.metaKey) && !event.repeat) submit(event);
    else if (event.target.matches('input, select')) event.preventDefault();
  };
  return html`
    <a class="back" href="#/services">← All services</a>
    <div class="bar"><h1 class="code">${method.name}</h1><${Badge}>${SHAPES[method.type] || method.type}<//>${method.idempotent && html`<${Badge} kind="good">idempotent<//>`}</div>
    <p class="signature code">${signature(method)}</p>
    <p class="muted code">${service.key}</p>
    ${method.lastMinute?.calls > 0 && html`<${Minute} minute=${method.lastMinute} />`}
    <div class="columns two"><${Wire} wire=${method.wire} /><${Types} method=${method} types=${types} /></div>
    <form class="card call" onSubmit=${submit} onKeyDown=${withKey} aria-label="Call">
      <div class="columns two">
        <div><h2>Form</h2><${FormPane} session=${session} method=${method} types=${types} edit=${edit} /></div>
        <div><h2><label for="json">JSON</label></h2><${JsonPane} session=${session} method=${method} edit=${edit} /></div>
      </div>
      <details><summary>Headers and timeout</summary><div class="columns two">
        <label class="field-label"><span class="field-name">Headers <small>one "name: value" a line</small></span><textarea class="code" rows="3" value=${session.headers} onInput=${(e) => edit((s) => (s.headers = e.target.value))} spellcheck=${false}></textarea></label>
        <label class="field-label"><span class="field-name">Timeout <small>milliseconds</small></span><input type="number" min="1" max=${MAX_TIMEOUT} value=${session.timeoutMillis} onInput=${(e) => edit((s) => (s.timeoutMillis = Math.floor(Number(e.target.value))))} /></label></div></details>
      <div class="bar send"><button type="submit" class="primary" disabled=${Boolean(session.running || why)} aria-describedby="obstacle">Send</button>
        <span id="obstacle" class="muted">${session.running ? html`<${Running} session=${session} />` : why}</span>
        <span class="tools"><${CopyAs} service=${service} method=${method} types=${types} session=${session} /></span></div>
    </form>
    <div aria-live="polite">${session.failure && html`<section class="result" aria-label="Result"><div class="bar"><${Badge} kind="bad">${session.failure.code}<//><${Badge} kind="warn">${session.failure.executed}<//></div><${Note} kind="bad">${session.failure.why}<//></section>`}
    ${session.result && html`<${Result} result=${session.result} target=${live.data.now?.targetMillis} />`}</div>
    <${History} services=${services} />`;
}

const signature = (method) => `${simple(method.result?.java || 'void')} ${method.name}(${list(method.parameters).map((p) => `${simple(p.type?.java || '')} ${p.name}`).join(', ')})`;

const Minute = ({minute}) => html`<dl class="stats" aria-label="Last minute of this method"><${Stat} name="Calls in a minute" value=${count(minute.calls)} /><${Stat} name="Failed" value=${count(minute.failed)} kind=${minute.failed > 0 ? 'bad' : ''} /><${Stat} name="Late" value=${count(minute.late)} /><${Stat} name="Median" value=${millis(minute.p50Millis)} /><${Stat} name="99th percentile" value=${millis(minute.p99Millis)} /><${Stat} name="Slowest" value=${millis(minute.maxMillis)} /></dl>`;

const Wire = ({wire}) => html`<details class="card"><summary>Names on the wire</summary><dl class="facts code">${entries(wire).filter(([, name]) => name).map(([protocol, name]) => html`<dt>${protocol}</dt><dd>${name}</dd>`)}</dl></details>`;

function Types({method, types}) {
  const used = useMemo(() => reachable(method, types), [method, types]);
  if (used.length === 0) return null;
  return html`<details class="card"><summary>Types (${used.length})</summary>${used.map(([name, type]) => html`<div class="type"><h2 class="code" title=${name}>${type.kind} ${simple(type.name || name)}</h2>
    ${type.kind === 'enum' ? html`<p class="code">${list(type.values).join(', ')}</p>` : html`<dl class="facts code">${list(type.fields).map((f) => html`<dt>${f.name}</dt><dd>${simple(f.type?.java || '')}${f.nullable && html` <small class="muted">or null</small>`}</dd>`)}</dl>`}</div>`)}</details>`;
}

function reachable(method, types) {
  const found = new Map();
  const visit = (type) => {
    if (!type) return;
    visit(type.of);
    visit(type.key);
    const known = type.ref && types.get(type.ref);
    if (!known || found.has(type.ref)) return;
    found.set(type.ref, known);
    list(known.fields).forEach((field) => visit(field.type));
  };
  list(method.parameters).forEach((p) => visit(p.type));
  visit(method.result);
  return [...found];
}

function FormPane({session, method, types, edit}) {
  const parameters = list(method.parameters);
  const change = (value) => edit((s) => setValue(s, value));
  if (parameters.length === 0) return html`<p class="muted">The method has no arguments.</p>`;
  return html`${session.error && html`<p class="muted">The form shows the last correct JSON. It can be edited again when the JSON is correct. <button type="button" class="small" onClick=${() => change(session.value)}>Use the values of the form</button></p>`}
    <fieldset class="plain" disabled=${Boolean(session.error)}><legend class="hidden">Arguments</legend>
    ${sendsMessages(method) ? html`<${Messages} type=${parameters[0].type} types=${types} value=${session.value} change=${change} />` : html`<${Arguments} parameters=${parameters} types=${types} value=${session.value} change=${change} />`}</fieldset>`;
}

function JsonPane({session, method, edit}) {
  const area = useRef(null);
  const {error} = session;
  const show = () => {
    area.current.focus();
    area.current.setSelectionRange(error.at, error.at + 1);
  };
  return html`<textarea id="json" class="code json" ref=${area} rows=${Math.min(24, Math.max(4, session.text.split('\n').length + 1))} value=${session.text} onInput=${(e) => edit((s) => setText(s, method, e.target.value))} aria-invalid=${Boolean(error)} aria-describedby="json-error" spellcheck=${false} autocomplete="off" wrap="off"></textarea>
    <p id="json-error" class="bad-text" role="status">${error && html`Line ${error.line}, column ${error.column}: ${error.message} <button type="button" class="small" onClick=${show}>Show</button>`}</p>
    ${!error && html`<p class="muted">${sendsMessages(method) ? 'a list of messages' : 'a list of the arguments'}; Ctrl+Enter sends <button type="button" class="small" onClick=${() => edit((s) => setValue(s, s.value))}>Tidy up</button></p>`}`;
}

function Running({session}) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="spinner" aria-hidden="true"></span> runs for <span class="num">${((Date.now() - session.running.since) / 1000).toFixed(1)} s</span> <button type="button" class="small" onClick=${() => stop(session)}>${session.running.stopping ? 'Stop waiting' : 'Stop'}</button>`;
}

function CopyAs({service, method, types, session}) {
  const as = (writer) => () => {
    if (session.error || firstInvalid(session.value)) throw new Error('Correct the input first');
    return writer({service, method, types, value: session.value, headers: headersOf(session.headers), timeoutMillis: session.timeoutMillis, server: live.data.now?.server});
  };
  return html`<span class="muted">Copy as</span>${!sendsMessages(method) && method.wire?.http && html`<${Copy} label="curl" text=${as(curl)} />`}${method.wire?.triple && html`<${Copy} label="grpcurl" text=${as(grpcurl)} />`}<${Copy} label="Java" text=${as(java)} />`;
}

// The last requests are stored in this browser tab, and are deleted when the tab is closed.
const HISTORY = 'tern-console-history';
const MAX_HISTORY = 20;
const MAX_KEPT = 50_000; // maximum length in characters of a stored request

function remembered() {
  try {
    return list(JSON.parse(sessionStorage.getItem(HISTORY)));
  } catch {
    return [];
  }
}

function remember(entry) {
  const kept = entry.text.length > MAX_KEPT ? {...entry, text: null} : entry;
  try {
    sessionStorage.setItem(HISTORY, JSON.stringify([kept, ...remembered()].slice(0, MAX_HISTORY)));
  } catch {
    // The browser's storage may be forbidden or full. The page then works without the history.
  }
}

function History({services}) {
  const entriesShown = remembered();
  if (!entriesShown.length) return null;
  const load = (entry) => {
    const service = services.find((s) => s.key === entry.id[0]);
    const method = service && list(service.methods).find((m) => m.name === entry.id[1] && (m.descriptor || '') === entry.id[2]);
    if (!method) return;
    const session = sessionOf(service, method, new Map(entries(live.data.services?.types)));
    if (session.running) return;
    if (entry.text != null) setText(session, method, entry.text);
    Object.assign(session, {headers: entry.headers, timeoutMillis: entry.timeoutMillis, result: null, failure: null});
    go(['services', ...entry.id]);
    redrawAll();
  };
  return html`<${Card} title="Last requests" extra=${html`<span class="muted">of this browser tab</span>`}><${Scroll} label="Last requests"><table class="history"><thead><tr><th scope="col">At</th><th scope="col">Method</th><th scope="col">Arguments</th><th scope="col">Code</th><th scope="col" class="num">Time</th><th scope="col"><span class="hidden">Action</span></th></tr></thead>
    <tbody>${entriesShown.map((e) => html`<tr><td><${Time} at=${e.at} /></td><td class="code">${simple(e.id[0])} ${e.id[1]}</td><td class="code clip">${e.text == null ? 'too large to keep' : e.text.replace(/\s+/g, ' ').slice(0, 80)}</td><td>${e.code}</td><td class="num">${millis(e.took)}</td><td><button type="button" class="small" onClick=${() => load(e)} aria-label=${`Load the request of ${e.id[1]}`}>Load</button></td></tr>`)}</tbody></table><//><//>`;
}
