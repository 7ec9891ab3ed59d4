// The checks of the chart's points. The page must request only points that it does not have, and merge them with its
// own.
'use strict';

const {check, is, that, WAIT} = require('./browser.js');

/**
 * Returns the page's data of the resource "now". Modules are loaded only once, so this import returns the same module
 * that the page uses.
 */
const ownOf = (view, url) => view.page.evaluate(async (module) => (await import(module)).live.data.now, `${url}/live.js`);

/**
 * Checks that the page has the points of a complete answer. Only the first point may differ. It covers up to 10 s, and
 * the page keeps it until these 10 s are older than 15 minutes.
 */
async function isComplete(view, url) {
  for (const until = Date.now() + WAIT; ; ) {
    const own = await ownOf(view, url);
    const complete = await (await fetch(`${url}/now`)).json();
    is(complete.since, null, 'since of a complete answer');
    if (own?.next === complete.next) {
      const from = Date.parse(complete.points[0].at);
      is(own.points.filter(({at}) => Date.parse(at) > from), complete.points.slice(1), 'points of the page');
      that(own.points.length <= complete.points.length + 1, `${own.points.length} points on the page, ${complete.points.length} in the answer`);
      return own.points.length;
    }
    that(Date.now() < until, `the page has the points before ${own?.next}, the server those before ${complete.next}`);
  }
}

/** Waits until the page has received this number of additional answers. */
async function further(view, count) {
  const received = () => performance.getEntriesByType('resource').filter((e) => /\/now(\?|$)/.test(e.name)).length;
  const before = await view.page.evaluate(received);
  await view.until((n) => performance.getEntriesByType('resource').filter((e) => /\/now(\?|$)/.test(e.name)).length >= n, before + count);
}

/** The checks that run against any server. */
async function merges(view, url) {
  await check('points: the page asks for new points only, and has those of a complete answer', async () => {
    await view.open('#/now');
    const from = view.told.requests.length;
    await further(view, 3);
    const asked = view.told.requests.slice(from).filter((request) => /\/now(\?|$)/.test(request));
    that(asked.length >= 3 && asked.every((request) => request.includes('?since=')), `requests ${asked}`);
    return `${await isComplete(view, url)} points`;
  });
}

/** The checks that need the server with invented answers. */
async function badDays(view, mock) {
  const {state, url} = mock;
  const passes = async (seconds) => {
    state.passedSeconds += seconds;
    await further(view, 2);
    await isComplete(view, url);
  };
  await check('points: after a pause of minutes or hours, the points are those of a complete answer', async () => {
    for (const seconds of [1, 9, 59, 61, 300, 899, 901, 7200]) await passes(seconds);
  });
  await check('points: after a lost connection, no point is missing or double', async () => {
    await mock.stop();
    await view.sees('#lost', 'No connection since');
    state.passedSeconds += 75;
    await mock.restart();
    await view.until(() => !document.querySelector('#lost'));
    await isComplete(view, url);
  });
  for (const millis of [3_600_000, -3_600_000, 2500]) {
    await check(`points: the server's clock is set by ${millis / 1000} s`, async () => {
      state.clockMillis += millis;
      await further(view, 2);
      await isComplete(view, url);
    });
  }
  await check('points: a restarted server replaces all of them', async () => {
    state.instance = 'for new points';
    state.clockMillis += 300;
    await view.sees('#restarted', 'restarted');
    await isComplete(view, url);
    await view.button('Dismiss');
  });
  await check('points: an answer that does not follow the last one is not used', async () => {
    state.since = 'another.1';
    await further(view, 2);
    is(new Set((await ownOf(view, url)).points.map(({at}) => at)).size > 100, true, 'points are kept');
    state.since = null;
    await further(view, 2);
    await isComplete(view, url);
  });
}

module.exports = {badDays, merges};
