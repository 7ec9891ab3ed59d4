// The checks against a running application. They call only one idempotent method.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {check, is, measure, openPage, that} = require('./browser.js');

const TABS = ['now', 'services', 'why', 'slow', 'outgoing'];
const CSP = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
const FILES = ['app.js', 'app.css', 'preact.js', 'hooks.js', 'htm.js', 'uplot.js', 'uplot.css', 'theme.js', 'licences.txt'];

async function run(browser, url) {
  const address = new URL(url);
  const {username, password} = address;
  address.username = '';
  address.password = '';
  const base = address.href.replace(/\/$/, '');
  const credentials = username ? {username: decodeURIComponent(username), password: decodeURIComponent(password)} : null;
  const headers = credentials ? {authorization: `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`} : {};
  const ask = (name, options = {}) => fetch(name ? `${base}/${name}` : base, {redirect: 'manual', ...options, headers: {...headers, ...options.headers}});
  const view = await openPage(browser, base, credentials);
  const {page} = view;

  await check('the page has a strict policy and no placeholder', async () => {
    const response = await ask('', {headers: {accept: 'text/html'}});
    is(response.status, 200, 'status');
    for (const part of CSP) that((response.headers.get('content-security-policy') || '').includes(part), `${part} is missing in ${response.headers.get('content-security-policy')}`);
    is(response.headers.get('x-content-type-options'), 'nosniff', 'x-content-type-options');
    is(response.headers.get('referrer-policy'), 'no-referrer', 'referrer-policy');
    const text = await response.text();
    that(!text.includes('{{'), 'a placeholder is left');
    that(!/<script(?![^>]*\ssrc=)|\sstyle=|\son[a-z]+=/i.test(text), 'inline script or style');
  });
  for (const file of FILES) {
    await check(`file ${file}: type, compressed`, async () => {
      const response = await ask(file, {headers: {'accept-encoding': 'gzip'}});
      is(response.status, 200, 'status');
      const wanted = {js: 'text/javascript', css: 'text/css', txt: 'text/plain'}[file.split('.').pop()];
      that((response.headers.get('content-type') || '').startsWith(wanted), response.headers.get('content-type'));
      is(response.headers.get('x-content-type-options'), 'nosniff', 'x-content-type-options');
      is(response.headers.get('content-encoding'), 'gzip', 'content-encoding');
    });
  }
  await check('other paths are refused', async () => {
    for (const name of ['nothing.js', 'index.html%00', '..%2Fapp.js', 'vendor%2Fpreact.js', 'vendor/preact.js']) {
      const {status} = await ask(name);
      that(status === 404 || status === 400 || status === 302, `${name}: ${status}`);
    }
  });
  await check('JSON of every resource is version 1 and is not kept by caches', async () => {
    for (const name of [...TABS, 'settings']) {
      const response = await ask(name, {headers: {accept: 'application/json'}});
      is(response.status, 200, name);
      is((await response.json()).version, 1, `version of ${name}`);
      that((response.headers.get('cache-control') || '').includes('no-store'), `cache-control of ${name}: ${response.headers.get('cache-control')}`);
    }
    that((await (await ask('report')).text()).length > 50, 'report');
  });
  await check('a call by GET, without the header, or from another origin runs nothing', async () => {
    const body = JSON.stringify({service: 'none', method: 'none', descriptor: '', messages: ['[]'], headers: {}, timeoutMillis: 1000, maxMessages: 1});
    const type = {'content-type': 'application/json'};
    that((await ask('call')).status >= 400, 'GET');
    is((await ask('call', {method: 'POST', body, headers: type})).status, 403, 'without the header');
    is((await ask('call', {method: 'POST', body, headers: {...type, 'x-rpc-console': '1', origin: 'https://attacker.example'}})).status, 403, 'another origin');
    const wrong = await ask('call', {method: 'POST', body: '{"service":', headers: {...type, 'x-rpc-console': '1'}});
    that([400, 403].includes(wrong.status), `wrong JSON: ${wrong.status}`);
  });
  await check('budget: bytes as sent, first paint, blocked time', async () => {
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push(await measure(browser, base, credentials));
    const paint = runs.map((r) => r.paint).sort((a, b) => a - b)[1];
    that(runs[0].bytes <= 150 * 1024, `${runs[0].bytes} bytes`);
    that(paint < 1000, `first paint after ${paint} ms`);
    return `${runs[0].bytes} bytes in ${runs[0].files} files, first paint ${Math.round(paint)} ms`;
  });
  for (const tab of TABS) {
    await check(`tab ${tab}: shown, axe-core, 360 pixels`, async () => {
      for (const width of [1360, 360]) {
        await page.setViewport({width, height: 860});
        await view.open(`#/${tab}`);
        that(!(await page.$('main .note.bad')), `an error is shown: ${await page.$eval('main', (e) => e.innerText.slice(0, 200))}`);
        await view.axe(`${tab}, ${width} pixels`);
        await view.fits(tab);
      }
      await page.setViewport({width: 1360, height: 860});
      if (process.env.SHOTS) {
        fs.mkdirSync(process.env.SHOTS, {recursive: true});
        await page.screenshot({path: path.join(process.env.SHOTS, `live-${tab}.png`)});
      }
    });
  }
  await check('drawer: settings', async () => {
    await view.open('#/now?settings=');
    await view.until(() => document.querySelectorAll('dialog tbody tr').length >= 5);
    await view.axe('drawer');
  });
  const {services} = await (await ask('services')).json();
  await check('every method opens, with a form or the reason why not', async () => {
    let methods = 0;
    await view.open('#/services');
    for (const service of services) {
      for (const method of service.methods) {
        await view.go(`#/services/${[service.key, method.name, method.descriptor || ''].map(encodeURIComponent).join('/')}`);
        await view.until((name) => document.querySelector('main h1')?.innerText === name && document.querySelector('form.call'), method.name);
        is(await page.$$eval('.form .field .bad-text', (all) => all.map((e) => e.innerText)), [], `errors of the first values of ${method.name}`);
        methods++;
      }
    }
    await view.axe('a method');
    return `${methods} methods`;
  });
  const callable = services.flatMap((service) => service.methods.map((method) => ({service, method}))).find(({method}) => method.idempotent && method.type === 'UNARY' && !method.note);
  const {canCall} = await (await ask('now')).json();
  if (callable && canCall) {
    await check(`a call of ${callable.service.name}.${callable.method.name} is answered`, async () => {
      const {service, method} = callable;
      await view.open(`#/services/${[service.key, method.name, method.descriptor || ''].map(encodeURIComponent).join('/')}`);
      await view.until(() => !document.querySelector('.primary').disabled);
      await view.click('.primary');
      await view.until(() => document.querySelector('.result'));
      const told = await view.text('.result');
      that(/executed/.test(told) && !/HTTP [0-9]/.test(told), told);
      return told.split('\n').slice(0, 3).join(' ');
    });
  } else {
    console.log('        no call: calls are switched off, or no method is idempotent');
  }
  await check('no request to another origin', async () => is(view.told.foreign, [], 'requests'));
  await check('no error in the browser, no violation of the CSP', async () => {
    is(view.told.errors, [], 'errors');
    is(await view.violations(), [], 'violations');
  });
}

module.exports = {run};
