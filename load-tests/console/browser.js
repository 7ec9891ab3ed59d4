// Functions for the checks: a browser that reports errors and forbidden actions of a page, functions that wait for a
// condition, and the list of results.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const axe = require('axe-core');
const puppeteer = require('puppeteer-core');

const WAIT = Number(process.env.WAIT_MILLIS || 10_000);
/** afterFailure: resets the server, so that one failed check does not make the others fail. */
const results = {passed: 0, failed: 0, afterFailure: () => {}};

async function check(name, run) {
  if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name)) return;
  try {
    const told = await run();
    results.passed++;
    console.log(`ok      ${name}${told ? `: ${told}` : ''}`);
  } catch (e) {
    results.failed++;
    results.afterFailure();
    console.log(`FAILED  ${name}: ${String(e.message).split('\n').slice(0, 6).join(' | ')}`);
    if (process.env.TRACE) console.log(e.stack);
  }
}

function is(actual, wanted, what = 'value') {
  const [a, w] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (a !== w) throw new Error(`${what} is ${a}, expected ${w}`);
}

function that(condition, message) {
  if (!condition) throw new Error(message);
}

async function launch(executablePath) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'console-browser-'));
  const browser = await puppeteer.launch({
    executablePath,
    headless: true,
    userDataDir: profile,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync', '--disable-component-update'],
  });
  return {browser, close: async () => {
    await browser.close();
    fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5});
  }};
}

/** A page that records every error, every violation of the CSP and every request. */
async function openPage(browser, base, credentials) {
  const page = await browser.newPage();
  const told = {errors: [], requests: [], foreign: []};
  if (credentials) await page.authenticate(credentials);
  await page.setViewport({width: 1360, height: 860});
  page.setDefaultTimeout(WAIT);
  await page.evaluateOnNewDocument(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  page.on('pageerror', (e) => told.errors.push(String(e.message || e)));
  page.on('dialog', (dialog) => {
    told.errors.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    // The browser itself logs failed requests. The tests make these requests fail on purpose.
    if (['error', 'warn'].includes(message.type()) && !/Failed to load resource/.test(message.text())) told.errors.push(message.text());
  });
  page.on('request', (request) => {
    told.requests.push(request.url());
    if (!request.url().startsWith(new URL(base).origin) && !/^(data|blob|about|chrome):/.test(request.url())) told.foreign.push(request.url());
  });
  const view = {
    page,
    told,
    /** Loads the page again at a route. */
    open: async (hash = '#/now') => {
      await page.goto('about:blank');
      await page.goto(base + hash, {waitUntil: 'load'});
      await view.until(() => document.querySelector('main h1, main .note.bad') && !document.querySelector('main').textContent.includes('Loading'));
    },
    /** Follows a route like a link. */
    go: async (hash) => {
      if (page.url() === 'about:blank') await view.open(hash);
      await page.evaluate((to) => (location.hash = to), hash);
      await view.until(() => !document.querySelector('main [role=status]')?.textContent.includes('Loading'));
    },
    until: (condition, ...args) => page.waitForFunction(condition, {timeout: WAIT, polling: 30}, ...args),
    text: (selector) => page.$eval(selector, (e) => e.innerText),
    sees: (selector, text) => view.until((s, t) => [...document.querySelectorAll(s)].some((e) => e.innerText.includes(t)), selector, text).catch(() => {
      throw new Error(`nothing at ${selector} says ${JSON.stringify(text)}`);
    }),
    /** Sets the text of a field as if the user typed it. */
    fill: (selector, text) => page.$eval(selector, (e, t) => {
      e.focus();
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), 'value').set.call(e, t);
      e.dispatchEvent(new Event('input', {bubbles: true}));
      e.dispatchEvent(new Event('change', {bubbles: true}));
    }, text),
    click: (selector) => page.$eval(selector, (e) => e.click()),
    button: (name) => page.evaluate((n) => [...document.querySelectorAll('button, a.button')].find((b) => (b.getAttribute('aria-label') || b.innerText).trim() === n).click(), name),
    violations: () => page.evaluate(() => window.violations),
    axe: async (label) => {
      await page.evaluate(`if (!window.axe) { ${axe.source} }`);
      const found = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}));
      const bad = found.violations.map((v) => `${v.id} ${v.nodes.length}×: ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].any.map((a) => a.message).join(' ').slice(0, 200)}`);
      that(bad.length === 0, `${label}: ${bad.join(' | ')}`);
    },
    fits: async (label) => {
      const width = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
      that(width[0] <= width[1], `${label} is ${width[0]} wide on a page of ${width[1]}`);
    },
  };
  return view;
}

/**
 * Measures a fresh load of the page: transferred bytes, first paint and blocked time. The values correspond to those in
 * a Lighthouse report.
 */
async function measure(browser, base, credentials) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  if (credentials) await page.authenticate(credentials);
  const cdp = await page.createCDPSession();
  const files = new Map();
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', {cacheDisabled: true});
  cdp.on('Network.responseReceived', ({requestId, type, response}) => ['Document', 'Script', 'Stylesheet', 'Image', 'Other'].includes(type) && !response.url.startsWith('data:') && files.set(requestId, {url: response.url, bytes: 0}));
  cdp.on('Network.loadingFinished', ({requestId, encodedDataLength}) => files.has(requestId) && (files.get(requestId).bytes = encodedDataLength));
  await page.evaluateOnNewDocument(() => {
    window.blocked = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (window.blocked += Math.max(0, e.duration - 50)))).observe({type: 'longtask', buffered: true});
  });
  await page.goto(`${base}#/now`, {waitUntil: 'load'});
  await page.waitForFunction(() => document.querySelector('.stats') && (!document.querySelector('.charts') || document.querySelectorAll('.plot canvas').length === 3), {timeout: WAIT});
  const facts = await page.evaluate(() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    blocked: window.blocked,
    nodes: document.querySelectorAll('*').length,
  }));
  await context.close();
  return {...facts, files: files.size, bytes: [...files.values()].reduce((sum, f) => sum + f.bytes, 0)};
}

module.exports = {check, is, launch, measure, openPage, results, that, WAIT};
