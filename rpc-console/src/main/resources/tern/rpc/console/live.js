// The one source of live data: one request a second, one at a time, and only while the page is visible.
import {useState, useEffect} from './html.js';
import {get} from './api.js';

const PAUSE = 1000;
const TIMEOUT = 8000;
const MAX_PAUSE = 5000;

/**
 * data: the last answer of each resource; lost: null, or since when and why there is no connection; refused: why the server
 * answers with an error; ended: whether the login has ended.
 */
export const live = {data: {}, lost: null, refused: null, ended: false, paused: false, restartedAt: null, instance: null};

let wanted = 'now';
let turn = 0;
let running = false;
let timer = 0;
let failures = 0;
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

/** The resource of the tab that is open. */
export function want(resource) {
  if (wanted === resource && live.data[resource]) return;
  wanted = resource;
  turn = 0;
  soon(0);
}

export function pause(paused) {
  live.paused = paused;
  changed();
  if (!paused) soon(0);
}

/** Called when a call has failed: the process may be gone or replaced. */
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

// The state in the header comes from "now", so the other tabs ask for it in every fifth turn. The services are large and
// change rarely: they are asked for in every tenth.
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
    accept(resource, await get(resource, {signal: AbortSignal.timeout(TIMEOUT)}));
  } catch (e) {
    failures++;
    if (e.status) {
      live.refused = e.message;
      live.ended = e.status === 401 || e.status === 302; // each further request could open a login window of the browser
      live.lost = null;
    } else {
      live.lost = live.lost || {since: new Date(), why: e.name === 'TimeoutError' ? `No answer within ${TIMEOUT / 1000} s.` : e.message};
    }
  }
  running = false;
  changed();
  // A tab that was opened meanwhile does not wait for its turn.
  soon(failures ? Math.min(MAX_PAUSE, PAUSE * failures) : live.data[wanted] && live.data.now ? PAUSE : 0);
}

function accept(resource, body) {
  failures = 0;
  live.lost = null;
  live.refused = null;
  if (body.instance && live.instance && body.instance !== live.instance) {
    live.restartedAt = new Date();
    live.data = {}; // of the process that is gone
  }
  live.instance = body.instance || live.instance;
  live.data[resource] = body;
}
