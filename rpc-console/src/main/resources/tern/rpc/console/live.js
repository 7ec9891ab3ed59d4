// Loads all live data with one request per second, only one request at a time, and only while the page is visible.
import {useState, useEffect} from './html.js';
import {get} from './api.js';
import {list} from './parts.js';

const PAUSE = 1000;
const TIMEOUT = 8000;
const MAX_PAUSE = 5000;
const HISTORY = 15 * 60_000;

/**
 * The loaded data and its state. data: the last answer for each resource; lost: the start and the reason of a lost
 * connection, otherwise null; refused: the message of the server's error response, otherwise null; ended: whether
 * the login has expired; paused: whether the user has stopped the updates; restartedAt: when the page noticed that
 * another process answers; instance: the id of the process that answered last.
 */
export const live = {data: {}, lost: null, refused: null, ended: false, paused: false, restartedAt: null, instance: null};

let wanted = 'now';
let turn = 0;
let running = false;
let timer = 0;
let failures = 0;
let stale = false;
const listeners = new Set();

export function useLive() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = () => redraw((n) => n + 1);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, []);
  return live;
}

export const changed = () => listeners.forEach((listener) => listener());

/** Sets the resource that the open tab shows, and loads the resource if necessary. */
export function want(resource) {
  if (wanted === resource && live.data[resource]) return;
  wanted = resource;
  turn = 0;
  soon(0);
}

/**
 * Records that a different process now answers than the one whose data the page shows. Called when the new process has
 * refused a call, because a paused page does not notice the change by itself. The page keeps the old data until the
 * user ends the pause.
 */
export function replaced() {
  live.instance = null;
  live.restartedAt = new Date();
  if (!live.paused) live.data = {};
  stale = live.paused;
  changed();
  soon(0);
}

export function pause(paused) {
  live.paused = paused;
  if (!paused && stale) {
    live.data = {}; // discards the data of the previous process
    stale = false;
  }
  changed();
  if (!paused) soon(0);
}

/** Loads data immediately. Used after a failed call, because the process may have stopped or been replaced. */
export const retrySoon = () => soon(0);

export function tryAgain() {
  live.ended = false;
  soon(0);
}

document.addEventListener('visibilitychange', () => soon(0));
window.addEventListener('online', () => soon(0));

function soon(millis) {
  clearTimeout(timer);
  if (!running && !live.paused && !live.ended && !document.hidden) timer = setTimeout(tick, millis);
}

// Returns the resource to load next. The header's state comes from the resource "now", so the other tabs load "now"
// with every fifth request. The resource "services" is large and rarely changes, so it is loaded with every tenth
// request.
function next() {
  const t = turn++;
  if (!live.data[wanted]) return wanted;
  if (!live.data.now) return 'now';
  if (wanted === 'services') return t % 10 === 9 ? 'services' : 'now';
  return wanted !== 'now' && t % 5 === 4 ? 'now' : wanted;
}

async function tick() {
  running = true;
  const resource = next();
  try {
    const since = resource === 'now' && live.data.now?.next; // the page has all points up to this mark
    accept(resource, await get(since ? `now?since=${encodeURIComponent(since)}` : resource, {signal: AbortSignal.timeout(TIMEOUT)}));
  } catch (e) {
    failures++;
    if (e.status) {
      live.refused = e.message;
      live.ended = e.status === 401 || e.status === 302; // no more updates, because another request could open the browser's login dialog
      live.lost = null;
    } else {
      live.lost = live.lost || {since: new Date(), why: e.name === 'TimeoutError' ? `No answer within ${TIMEOUT / 1000} s.` : e.message};
    }
  }
  running = false;
  changed();
  // If the user opened a tab during the request, the resource of this tab is loaded immediately.
  soon(failures ? Math.min(MAX_PAUSE, PAUSE * failures) : live.data[wanted] && live.data.now ? PAUSE : 0);
}

function accept(resource, body) {
  failures = 0;
  live.lost = null;
  live.refused = null;
  if (body.instance && live.instance && body.instance !== live.instance) {
    live.restartedAt = new Date();
    live.data = {}; // discards the data of the previous process
  }
  live.instance = body.instance || live.instance;
  if (resource === 'now' && body.since != null) {
    // The page discarded its points during the request. The next request then asks for all points.
    if (live.data.now?.next !== body.since) return;
    body.points = merged(list(live.data.now.points), list(body.points));
  }
  live.data[resource] = body;
}

/**
 * Returns all points of the last 15 minutes. A new point replaces each kept point that it overlaps. For example, one
 * point of 10 s replaces points of 1 s that are older than a minute. The times of all points come from the server, so
 * the browser's clock does not matter.
 */
function merged(kept, fresh) {
  const timed = (points) => points.map((point) => ({point, from: Date.parse(point.at), until: Date.parse(point.at) + 1000 * point.seconds}));
  const later = timed(fresh);
  const all = [...timed(kept).filter((k) => !later.some((l) => l.from < k.until && k.from < l.until)), ...later].sort((a, b) => a.from - b.from);
  const oldest = (all.at(-1)?.until ?? 0) - HISTORY;
  return all.filter(({until}) => until > oldest).map(({point}) => point);
}
