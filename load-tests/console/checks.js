// The checks against the server with invented answers. This server can fail, hang, restart and send hostile texts.
'use strict';

const {execFileSync} = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const mockServer = require('./mock.js');
const pointsChecks = require('./points-checks.js');
const {check, is, measure, openPage, results, that} = require('./browser.js');

const MAX_BYTES = 150 * 1024;
const MAX_PAINT_MILLIS = 1000;
const MAX_BLOCKED_MILLIS = 300;
const TABS = {now: 'Calls a second', services: 'EchoService', why: 'Calls are in time', slow: 'ScheduleService.schedule', outgoing: 'Who calls us'};
const ECHO = 'tern.sample.api.EchoService';
const PARCELS = 'example.ParcelService';
const METHODS = {
  echo: [ECHO, 'echo', '(Ljava/lang/String;)'], person: [ECHO, 'echo', '(Ltern/sample/api/Person;)'], every: [ECHO, 'every', '(2)'], keys: [ECHO, 'keys', '(1)'], node: [ECHO, 'node', '(1)'], big: [ECHO, 'big', '(1)'],
  hang: [ECHO, 'hang', '(0)'], fail: [ECHO, 'fail', '(1)'], internal: [ECHO, 'internal', '(0)'], createUser: ['g1/tern.sample.api.UserService:2.0', 'createUser', '(1)'],
  watch: [PARCELS, 'watch', '(1)'], endless: [PARCELS, 'endless', '(1)'], collect: [PARCELS, 'collect', '(1)'], chat: [PARCELS, 'chat', '(1)'],
};
const link = (method) => `#/services/${METHODS[method].map(encodeURIComponent).join('/')}`;

async function run(browser) {
  const mock = await mockServer.start();
  const {state} = mock;
  results.afterFailure = () => {
    Object.assign(state, {scene: 'normal', hostile: false, hang: false, status: 0, refuseCalls: 0, stopHangs: false, breakNextCall: false, restartOnCall: false});
    mock.release();
  };
  const view = await openPage(browser, mock.url);
  const {page} = view;
  const origin = new URL(mock.url).origin;
  await browser.defaultBrowserContext().overridePermissions(origin, ['clipboard-read', 'clipboard-write', 'clipboard-sanitized-write']);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  const field = (label) => `aria/${label}`;
  const json = () => page.$eval('#json', (e) => e.value);
  const setJson = (text) => view.fill('#json', text);
  const sendable = () => page.$eval('.primary', (e) => !e.disabled);
  const calls = () => state.calls.length;
  const sent = () => state.calls.at(-1).body;
  const method = async (name) => {
    await view.go(link(name));
    await view.until((n) => document.querySelector('main h1')?.innerText === n, METHODS[name][1]);
  };
  const send = async () => {
    const before = calls();
    await view.until(() => !document.querySelector('.primary').disabled);
    await view.click('.primary');
    await view.until(() => document.querySelector('.result'));
    is(calls() - before, 1, 'requests of one Send');
    return view.text('.result');
  };

  // ---------------------------------------------------------------- loading

  await check('budget: bytes as sent, first paint, blocked time', async () => {
    const runs = [];
    for (let i = 0; i < 3; i++) runs.push(await measure(browser, mock.url));
    const paint = runs.map((r) => r.paint).sort((a, b) => a - b)[1];
    const {bytes, files, nodes} = runs[0];
    const blocked = Math.min(...runs.map((r) => r.blocked));
    that(bytes > 20_000 && bytes <= MAX_BYTES, `${bytes} bytes, at most ${MAX_BYTES}`);
    that(paint < MAX_PAINT_MILLIS, `first paint after ${paint} ms`);
    that(blocked < MAX_BLOCKED_MILLIS, `the main thread was blocked for ${blocked} ms`);
    return `${bytes} bytes in ${files} files, first paint ${Math.round(paint)} ms, blocked ${Math.round(blocked)} ms, ${nodes} elements`;
  });
  await check('a file that does not exist and a path with folders are refused', async () => {
    for (const name of ['nothing.js', '../app.js', 'vendor/preact.js']) is((await fetch(`${mock.url}/${name.replaceAll('/', '%2F')}`)).status, 404, name);
  });
  for (const [tab, text] of Object.entries(TABS)) {
    await check(`tab ${tab}`, async () => {
      await view.open(`#/${tab}`);
      await view.sees('main', text);
      is(await page.$$eval('nav.tabs [aria-current=page]', (all) => all.map((e) => e.hash)), [`#/${tab}`], 'current tab');
      that((await page.title()).endsWith('– shop') || (await view.until(() => document.title.endsWith('– shop'))), 'title');
    });
  }
  await check('an unknown route shows the first tab', async () => {
    await view.open('#/nowhere/at%ZZall');
    await view.sees('main', 'Calls a second');
  });
  await check('works without a prefix too', async () => {
    const other = await mockServer.start({prefix: ''});
    const plain = await openPage(browser, other.url);
    await plain.open();
    await plain.sees('main', 'Calls a second');
    await plain.page.close();
    await other.stop();
  });

  // ---------------------------------------------------------------- now

  await check('now: figures, three charts with a sentence each, failures, refusals, pools', async () => {
    await view.open();
    await view.until(() => document.querySelectorAll('.plot canvas').length === 3);
    for (const text of ['46', '41.2 ms', 'target 100 ms', '99.7 %', 'DEADLINE_EXCEEDED', 'queue', 'druid', 'serves on port 20880']) await view.sees('main', text);
    const spoken = await page.$$eval('.plot', (all) => all.map((e) => e.getAttribute('aria-label')));
    that(spoken.every((text) => /[0-9]/.test(text)), `the charts say ${spoken}`);
  });
  await check('now: the pointer shows the values of a moment', async () => {
    const box = await (await page.$('.plot .u-over')).boundingBox();
    await page.mouse.move(box.x + 60, box.y + 40);
    await view.sees('.tip', 'all:');
  });
  await check('now: without calls it names the next step', async () => {
    state.scene = 'empty';
    await view.open();
    await view.sees('.empty', 'No call yet. Try one under Services.');
    state.scene = 'normal';
  });
  await check('now: a miss is visible on every tab and leads to the cause', async () => {
    state.scene = 'miss';
    await view.open();
    await view.sees('.state', 'Target missed');
    await page.click('.verdict a');
    await view.sees('main', 'NOT GIVEN BACK');
  });
  await check('why: property to copy, evidence, expected effect, text', async () => {
    for (const text of ['131 ms of 160 ms', '31 of 32 connections', 'expected 99th percentile 41.0 ms', '88 %', 'Checked, and not the cause']) await view.sees('main', text);
    await view.button('Copy the property');
    await view.sees('button', 'Copied');
    is(await clipboard(), 'spring.data.redis.jedis.pool.max-active=24', 'clipboard');
  });
  await check('why: without the diagnosis it says what to add', async () => {
    state.scene = 'empty';
    await view.open('#/why');
    await view.sees('.empty', 'tern-rpc-insight');
    state.scene = 'normal';
  });
  await check('slow: 100 calls, a link to one, phases, trace', async () => {
    await view.open('#/slow');
    is(await page.$$eval('.slow-row', (all) => all.length), 100, 'rows');
    await view.click('.slow-head');
    await view.until(() => location.hash.startsWith('#/slow/'));
    await view.sees('.slow-row', '4bf92f3577b34da6a3ce929d0e0e4700');
    await view.sees('.phase-legend', 'jdbc-connection');
    await page.reload();
    await view.sees('.slow-row .facts', 'CN=orders');
  });
  await check('slow: filter, and nothing found', async () => {
    await view.fill('main input[type=search]', 'listuser');
    await view.until(() => document.querySelectorAll('.slow-row').length === 33);
    await view.fill('main input[type=search]', 'no such text');
    await view.sees('.empty', 'No slow call matches');
  });
  await check('outgoing: providers, ejection, reason, callers', async () => {
    await view.open('#/outgoing');
    for (const text of ['10.0.0.8:20880', '5 failures in a row', 'Connection refused', 'list empty', 'CN=orders, O=example', '812,344', 'eu-1', 'Hedges', '208', 'Answers of the fallback']) await view.sees('main', text);
  });
  await check('drawer: settings with origin, filter, changed ones, link', async () => {
    await view.open('#/outgoing');
    await view.button('Settings');
    await view.sees('dialog', 'application.properties, line 12');
    that((await page.evaluate(() => location.hash)).includes('settings'), 'the drawer has no link');
    await page.$eval('dialog input[type=checkbox]', (e) => e.click());
    await view.until(() => document.querySelectorAll('dialog tbody tr').length === 2);
    await view.fill('dialog input[type=search]', 'token');
    await view.until(() => document.querySelectorAll('dialog tbody tr').length === 1);
    await view.sees('dialog', '******');
    await page.keyboard.press('Escape'); // clears the filter
    await page.keyboard.press('Escape');
    await view.until(() => !document.querySelector('dialog') && location.hash === '#/outgoing');
  });
  await check('copy report', async () => {
    await view.button('Copy report');
    await view.sees('.top button', 'Copied');
    that((await clipboard()).startsWith('Report of shop'), 'clipboard');
  });

  // ---------------------------------------------------------------- live data

  await check('live: one request a second, one at a time', async () => {
    await view.open();
    const from = state.requests.length;
    await view.until(() => performance.getEntriesByType('resource').filter((e) => /\/now(\?|$)/.test(e.name)).length >= 4);
    const polls = state.requests.slice(from).filter((r) => r.name === 'now').map((r) => r.at);
    for (let i = 1; i < polls.length; i++) that(polls[i] - polls[i - 1] > 900, `two requests within ${polls[i] - polls[i - 1]} ms`);
  });
  await check('live: none while the page is hidden', async () => {
    await view.open('#/outgoing');
    const second = await openPage(browser, mock.url); // covers the first page, which is then hidden
    is(await page.evaluate(() => document.hidden), true, 'hidden');
    const count = () => state.requests.filter((r) => r.name === 'outgoing').length;
    const before = count();
    await second.open('#/now');
    await second.until(() => performance.getEntriesByType('resource').filter((e) => /\/now(\?|$)/.test(e.name)).length >= 3);
    is(count(), before, 'requests of the hidden page');
    await second.page.close();
    await page.bringToFront();
    await view.until(() => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/outgoing')).length >= 2);
  });
  await check('live: pause and continue', async () => {
    await view.button('Pause');
    await view.sees('#paused', 'Paused');
    await view.button('Continue');
    await view.until(() => !document.querySelector('#paused'));
  });

  // ---------------------------------------------------------------- points of the charts

  await pointsChecks.merges(view, mock.url);
  await pointsChecks.badDays(view, mock);

  // ---------------------------------------------------------------- services: every kind of call

  await check('services: filter of the tree', async () => {
    await view.open('#/services');
    await view.fill('nav.tree input', 'chat');
    await view.until(() => document.querySelectorAll('nav.tree a').length === 1);
    await view.fill('nav.tree input', 'zzz');
    await view.sees('nav.tree', 'Nothing matches');
    await view.fill('nav.tree input', '');
  });
  await check('unary: result with code, executed, phases, headers', async () => {
    await method('echo');
    await view.fill('.form input[type=text]', 'tea');
    const told = await send();
    for (const text of ['OK', 'executed', '"tea"', 'jdbc-connection', '61.5 ms', 'Headers (1)']) that(told.includes(text), `the result does not say ${text}: ${told}`);
    is(sent().messages, ['["tea"]'], 'messages');
    is(sent().descriptor, '(Ljava/lang/String;)', 'descriptor');
    is(state.calls.at(-1).headers['x-rpc-console'], '1', 'header');
  });
  await check('stream of answers', async () => {
    await method('watch');
    that((await send()).includes('3 answers'), 'three answers');
    is(await page.$$eval('.answers pre', (all) => all.map((e) => e.innerText)), ['"packed"', '"sent"', '"delivered"'], 'answers');
  });
  await check('stream of answers without an end: told', async () => {
    await method('endless');
    const told = await send();
    that(told.includes('The answers are incomplete: 100 messages') && told.includes('100 answers'), told.slice(0, 200));
  });
  await check('stream of messages', async () => {
    await method('collect');
    await view.button('Add to message');
    await send();
    is(sent().messages.length, 3, 'messages');
    is(sent().messages[0], '{"label":"a","left":null,"children":[]}', 'first message');
  });
  await check('streams both ways', async () => {
    await method('chat');
    await setJson('["one", "two"]');
    await send();
    is(sent().messages, ['"one"', '"two"'], 'messages');
    is(await page.$$eval('.answers pre', (all) => all.map((e) => e.innerText)), ['"one"', '"two"'], 'answers');
  });
  await check('a method that fails: code, message, exception', async () => {
    await method('fail');
    const told = await send();
    for (const text of ['NOT_FOUND', 'there is no order 7', 'example.NoSuchOrder']) that(told.includes(text), told);
  });
  await check('a method that cannot be called says why', async () => {
    await method('internal');
    await view.sees('#obstacle', 'JSON cannot read');
    is(await sendable(), false, 'Send');
  });
  await check('calls that are switched off: told, Send is disabled', async () => {
    state.scene = 'no calls';
    await view.open(link('echo'));
    await view.sees('#obstacle', 'rpc.console.calls');
    is(await sendable(), false, 'Send');
    state.scene = 'normal';
    await view.open(link('echo'));
  });

  // ---------------------------------------------------------------- form and JSON

  await check('form: records, enums, lists, maps, null, types within themselves', async () => {
    await method('person');
    await view.fill('.form input[type=text]', 'Ada');
    await page.select('.form select', 'MANAGER');
    await view.button('Add to phones');
    await view.fill(`.form .item input[type=text]`, '+44');
    await view.button('Add to addresses');
    await page.locator(field('key 1')).fill('home');
    await page.keyboard.press('Tab');
    await page.locator(field('city String')).fill('London');
    await page.locator(field('manager is null')).click();
    await view.until(() => document.querySelectorAll('.form select').length === 2);
    await send();
    const [person] = JSON.parse(sent().messages[0]);
    is([person.name, person.role, person.phones, Object.keys(person.addresses), person.addresses.home.city, person.manager.role, person.manager.manager], ['Ada', 'MANAGER', ['+44'], ['home'], 'London', 'ENGINEER', null], 'person');
    await view.button('Remove phones 1');
    await page.locator(field('manager is null')).click();
    await view.until(() => document.querySelectorAll('.form select').length === 1);
    const [again] = JSON.parse(await json());
    is([again.phones, again.manager], [[], null], 'after removal');
  });
  await check('form: every kind of value; numbers keep all digits', async () => {
    await method('every');
    await page.locator(field('big long')).fill('9007199254740993');
    await page.locator(field('price BigDecimal')).fill('0.10000000000000000001');
    await page.focus('.form input[type=date]');
    await page.keyboard.type('02281999');
    await page.focus('.form input[type=text]');
    await page.keyboard.type('x'.repeat(90));
    await page.locator(field('flag boolean')).click();
    await page.locator(field('maybe is null')).click();
    await page.locator(field('maybe String')).fill('there');
    await view.button('Add to counts');
    await page.locator(field('anything Object')).fill('{"a":[1]}');
    await page.keyboard.press('Tab');
    await send();
    const text = sent().messages[0];
    for (const part of ['"big":9007199254740993', '"price":0.10000000000000000001', '"flag":true', '"day":"1999-02-28"', `"text":"${'x'.repeat(90)}"`, '"maybe":"there"', '"counts":{"1":0}', '"anything":{"a":[1]}']) that(text.includes(part), `${part} is missing in ${text}`);
  });
  for (const [label, wrong, right, why] of [['small byte', '200', '100', 'does not fit byte'], ['small byte', '1.5', '1', 'whole number'], ['ratio double', 'x', '1e3', 'not a number'], ['wait Duration', '5 s', 'PT5S', 'a duration'], ['id UUID', 'abc', '00000000-0000-0000-0000-000000000001', 'a UUID'], ['instant Instant', 'now', '2026-01-01T00:00:00Z', 'an instant'], ['data byte[]', '?', 'AA==', 'base64']]) {
    await check(`form: ${label} "${wrong}" is told and not sent`, async () => {
      await page.locator(field(label)).fill(wrong);
      await view.sees('#obstacle', 'Correct the form first');
      await view.sees('.form .bad-text', why);
      is(await sendable(), false, 'Send');
      await page.locator(field(label)).fill(right);
      await view.until(() => !document.querySelector('.primary').disabled);
    });
  }
  await check('JSON changes the form, the form changes the JSON', async () => {
    await method('node');
    await setJson('[{"label":"root","left":{"label":"l","left":null,"children":[]},"children":[],"more":1}]');
    await view.until(() => document.querySelectorAll('.form input[type=text]').length === 2);
    await view.sees('.form', 'Also in the JSON, but not in the type: more');
    await view.fill('.form input[type=text]', 'new root');
    that((await json()).includes('"label": "new root"') && (await json()).includes('"more": 1'), await json());
  });
  for (const [what, text, line, column] of [['a missing comma', '[\n  {"label": "a" "left": null}\n]', 2, 17], ['no closing quote', '[{"label": "a}]', 1, 12], ['a name twice', '[{"a":1,\n"a":2}]', 2, 1], ['a text after the end', '[] x', 1, 4], ['no text at all', '', 1, 1], ['two arguments', '[1, 2]', 1, 1], ['a number with a leading zero', '[01]', 1, 3]]) {
    await check(`wrong JSON, ${what}: line ${line}, column ${column}; the form keeps its state`, async () => {
      await setJson(text);
      await view.sees('#json-error', `Line ${line}, column ${column}:`);
      is(await page.$eval('.form input[type=text]', (e) => e.value), 'new root', 'form');
      is(await sendable(), false, 'Send');
    });
  }
  await check('wrong JSON can be replaced by the values of the form', async () => {
    await view.button('Use the values of the form');
    await view.until(() => document.querySelector('#json').value.includes('new root') && !document.querySelector('.primary').disabled);
  });
  await check('JSON of another kind than the type does not break the form', async () => {
    await setJson('[[1, 2]]');
    await view.sees('.form', 'another kind of value');
    await setJson('[{"label":{"x":1},"children":7}]');
    await view.sees('.form', 'another kind of value');
    await view.button('Replace it');
    await setJson(`[${'['.repeat(300)}${']'.repeat(300)}]`);
    await view.sees('#json-error', 'More than 200 levels');
  });
  await check('headers: wrong ones are told, right ones are sent', async () => {
    await method('echo');
    await view.fill('.call details textarea', 'no colon');
    await view.sees('#obstacle', 'Line 1 of the headers');
    await view.fill('.call details textarea', 'x-tenant: eu\nx-b: 2');
    await send();
    is(sent().headers, {'x-tenant': 'eu', 'x-b': '2'}, 'headers');
  });

  // ---------------------------------------------------------------- copied commands and code

  const argumentsOf = (command, program) => execFileSync('bash', ['-c', `${program}() { printf '%s\\n--\\n' "$@"; }; ${command}`], {encoding: 'utf8'}).split('\n--\n').slice(0, -1);
  await check('copy as curl: a shell reads exactly the request', async () => {
    await view.fill('.form input[type=text]', `it's "$(date)" \`x\` \\`);
    await view.button('curl');
    await view.sees('.send button', 'Copied');
    is(argumentsOf(await clipboard(), 'curl'), ['-H', 'tri-service-timeout: 10000', '-H', 'x-tenant: eu', '-H', 'x-b: 2', '--json', JSON.stringify(`it's "$(date)" \`x\` \\`), `http://127.0.0.1:20880/${ECHO}/echo`], 'arguments');
  });
  await check('maps: keys of numbers, enums and dates are filled in and told when they are wrong', async () => {
    await method('keys');
    for (const name of ['by number', 'by role', 'by role', 'by day']) await view.button(`Add to ${name}`);
    const [value] = JSON.parse(await json());
    is([Object.keys(value['by number']), Object.keys(value['by role'])], [['1'], ['ENGINEER', 'MANAGER']], 'keys');
    that(/^\d{4}-\d\d-\d\d$/.test(Object.keys(value['by day'])[0]), 'the key of a date');
    is(await page.$eval('[aria-label="Add to by role"]', (e) => e.disabled), true, 'Add without a further value');
    await page.$$eval('.pair input', (all) => {
      all[0].value = 'many';
      all[0].dispatchEvent(new Event('change', {bubbles: true}));
    });
    await view.sees('.pair .bad-text', 'not a whole number');
  });
  await check('300 methods and type names of 3,000 characters: filter, keyboard, every width', async () => {
    state.scene = 'large';
    const began = Date.now();
    await view.open('#/services');
    await view.until(() => document.querySelectorAll('nav.tree a').length === 300);
    const took = Date.now() - began;
    await view.fill('nav.tree input', 'operation142');
    await view.until(() => document.querySelectorAll('nav.tree a').length === 1);
    await page.focus('nav.tree input');
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await view.until(() => document.querySelector('form.call'));
    await page.$$eval('main details', (all) => all.forEach((e) => (e.open = true)));
    await view.fits('the method');
    await view.axe('the method');
    await page.setViewport({width: 360, height: 780});
    await view.fits('the method, 360 pixels');
    await view.go('#/services');
    await view.fits('the tree, 360 pixels');
    await page.setViewport({width: 1360, height: 860});
    await view.fits('the tree');
    state.scene = 'normal';
    await view.open('#/services');
    return `the tree after ${took} ms`;
  });

  await check('copy as grpcurl: messages of a stream', async () => {
    await method('chat');
    await setJson('["one", "two"]');
    await view.button('grpcurl');
    await view.sees('.send button', 'Copied');
    is(argumentsOf(await clipboard(), 'grpcurl'), ['-plaintext', '-H', 'tri-service-timeout: 10000', '-d', '"one"\n"two"', '127.0.0.1:20880', `${PARCELS}/chat`], 'arguments');
  });
  await check('copy as Java: records, group and version', async () => {
    await method('person');
    await setJson('[{"name":"A \\"b\\"","role":"ENGINEER","birthday":"1990-01-02","salary":10.5,"phones":["1"],"addresses":{"home":{"street":"s","city":"c","postcode":"p","country":"x"}},"manager":null}]');
    await view.button('Java');
    await view.sees('.send button', 'Copied');
    const java = await clipboard();
    that(java.includes('new Person("A \\"b\\"", Person.Role.ENGINEER, LocalDate.parse("1990-01-02"), new BigDecimal("10.5"), List.of("1"), Map.of("home", new Person.Address("s", "c", "p", "x")), null)'), java);
    await method('createUser');
    await view.button('Java');
    await view.until(() => [...document.querySelectorAll('.send button')].some((b) => b.innerText === 'Copied'));
    that((await clipboard()).includes('@RpcReference(group = "g1", version = "2.0")'), await clipboard());
  });

  // ---------------------------------------------------------------- failures

  await check('a method that hangs: Send is disabled, the clock runs, a second press sends nothing', async () => {
    await method('hang');
    const before = calls();
    await page.evaluate(() => {
      const button = document.querySelector('.primary');
      button.click();
      button.click();
      document.querySelector('form.call').requestSubmit?.();
    });
    await view.sees('#obstacle', 'runs for');
    await view.until(() => document.querySelector('.primary').disabled && parseFloat(document.querySelector('#obstacle .num').innerText) >= 0.3);
    await method('echo');
    await view.go(link('hang'));
    await view.sees('#obstacle', 'runs for'); // the call continues while another view is open
    is(calls() - before, 1, 'requests');
  });
  await check('a method that hangs: Stop ends the call on the server and shows its answer', async () => {
    await view.button('Stop');
    await view.sees('.result', 'CANCELLED');
    await view.sees('.result', 'it was stopped in the console');
    await view.sees('.result', 'perhaps executed');
    is(state.stops.map((s) => [s.id, s.headers['x-rpc-console']]), [[sent().id, '1']], 'stops');
    mock.release();
  });
  await check('a method that hangs: stop waiting is told honestly', async () => {
    state.stopHangs = true;
    await view.click('.primary');
    await view.sees('#obstacle', 'runs for');
    await view.button('Stop');
    await view.sees('#obstacle', 'Stop waiting');
    await view.button('Stop waiting');
    state.stopHangs = false;
    await view.sees('.result', 'You stopped waiting. The method may still run.');
    await view.sees('.result', 'perhaps executed');
    mock.release();
  });
  await check('a method that hangs: the page gives up after the timeout', async () => {
    await page.locator('.call details summary').click();
    await view.fill('.call input[type=number]', '1');
    await view.click('.primary');
    await view.sees('.result', 'No answer within 5.001 s');
    mock.release();
  });
  await check('an answer of 8 MB: the first part is shown, the rest on demand, the page stays quick', async () => {
    await method('big');
    const told = await send();
    that(told.includes('7.6 MB') && told.length < 200_000, `${told.length} characters`);
    const began = Date.now();
    await method('echo');
    await method('big');
    that(Date.now() - began < 3000, `changing the view took ${Date.now() - began} ms`);
    await view.button('Show all 7.6 MB');
    await view.until(() => document.querySelector('.result pre').textContent.length > 8_000_000);
    await view.go('#/now');
  });
  await check('a request of more than 1 MB is told and not sent', async () => {
    await method('echo');
    await setJson(JSON.stringify(['y'.repeat((1 << 20) + 10)]));
    await view.sees('#obstacle', 'larger than 1 MB');
    await setJson('["tea"]');
  });
  await check('the connection breaks during a call: told, executed once, not sent again by the page', async () => {
    const before = state.executed.length;
    state.breakNextCall = true;
    await view.click('.primary');
    await view.sees('.result', 'perhaps executed');
    is(state.executed.length - before, 1, 'executions');
    const ids = state.calls.slice(-2).map((c) => c.body.id);
    return ids[0] === ids[1] ? 'the browser sent it a second time, and the id refused it' : 'sent once';
  });
  await check('the process is replaced during a call: executed once, told', async () => {
    const before = state.executed.length;
    state.restartOnCall = true;
    await view.click('.primary');
    await view.until(() => /LOST|NOT SENT ON/.test(document.querySelector('.result')?.innerText));
    is(state.executed.length - before, 1, 'executions');
    await view.sees('#restarted', 'restarted');
  });
  for (const status of [400, 403, 409, 413, 500, 503]) {
    await check(`a call that is refused with ${status} is told`, async () => {
      state.refuseCalls = status;
      const told = await send();
      that(told.includes(`HTTP ${status}`) && told.includes('refused for the test') && told.includes(status === 500 ? 'perhaps executed' : 'not executed'), told);
      state.refuseCalls = 0;
    });
  }
  await check('a lost connection is told on every tab, the last figures stay, and it ends by itself', async () => {
    await view.go('#/now');
    await view.until(() => document.querySelector('.stats'));
    await mock.stop();
    await view.sees('#lost', 'No connection since');
    await view.sees('main', 'Calls a second');
    await view.go('#/why');
    await view.sees('#lost', 'No connection since');
    await mock.restart();
    await view.until(() => !document.querySelector('#lost') && document.querySelector('.verdict'));
  });
  await check('a restarted server is told, and its figures replace the old ones', async () => {
    await mock.stop();
    await view.sees('#lost', 'No connection since');
    state.instance = 'third';
    state.scene = 'empty';
    await mock.restart();
    await view.go('#/now');
    await view.sees('#restarted', 'The application was restarted');
    await view.sees('.empty', 'No call yet');
    state.scene = 'normal';
    await view.button('Dismiss');
    await view.until(() => !document.querySelector('#restarted'));
  });
  await check('what was typed survives the restart', async () => {
    await method('echo');
    is(await json(), '["tea"]', 'JSON');
    that((await send()).includes('"tea"'), 'the call after the restart');
  });
  for (const [what, status, text] of [['a login that has ended', 401, 'refused for the test with 401'], ['access that is refused', 403, 'refused for the test with 403'], ['an internal error', 500, 'refused for the test with 500']]) {
    await check(`${what} is told`, async () => {
      state.status = status;
      await view.sees('#refused', text);
      state.status = 0;
      if (status === 401) await view.button('Try again');
      await view.until(() => !document.querySelector('#refused'));
    });
  }
  await check('a server that accepts and never answers is told', async () => {
    state.hang = true;
    await view.sees('#lost', 'No answer within');
    state.hang = false;
    mock.release();
    await view.until(() => !document.querySelector('#lost'));
  });

  // ---------------------------------------------------------------- history

  await check('history: the last 20 requests, in this tab of the browser only', async () => {
    await method('echo');
    for (let i = 0; i < 21; i++) {
      await setJson(`["n${i}"]`);
      await view.until(() => !document.querySelector('.primary').disabled);
      await view.click('.primary');
      await view.until((n) => document.querySelector('.result pre')?.innerText === `"n${n}"`, i);
    }
    is(await page.$$eval('.history tbody tr', (all) => all.length), 20, 'rows');
    const stored = await page.evaluate(() => ({session: Object.keys(sessionStorage), local: Object.keys(localStorage)}));
    is(stored, {session: ['tern-console-history'], local: []}, 'storage');
    await page.reload();
    await view.until(() => document.querySelectorAll('.history tbody tr').length === 20);
    const before = calls();
    await page.$$eval('.history button', (all) => all[1].click());
    await view.until(() => document.querySelector('#json').value === '["n19"]');
    is(calls(), before, 'requests by loading an old one');
  });
  await check('history: broken storage does not break the page', async () => {
    await page.evaluate(() => sessionStorage.setItem('tern-console-history', '{"not":'));
    await page.reload();
    await view.sees('main h1', 'echo');
    await send();
  });

  // ---------------------------------------------------------------- hostile texts

  const clean = async (label) => {
    is(await page.evaluate(() => window.pwned), undefined, `${label}: the text ran; pwned`);
    const alien = await page.evaluate(() => [...document.querySelectorAll('#app script, #app iframe, #app object, #app img, #app embed, #app math, #app style, #app link, #app base, #app svg')].map((e) => e.outerHTML.slice(0, 80)));
    is(alien, [], `${label}: elements from texts`);
    const handlers = await page.evaluate(() => [...document.querySelectorAll('#app *')].filter((e) => [...e.attributes].some((a) => /^on/i.test(a.name) || (/^(href|src|action|formaction|xlink:href)$/i.test(a.name) && !/^#/.test(a.value)))).map((e) => e.outerHTML.slice(0, 80)));
    is(handlers, [], `${label}: handlers or addresses from texts`);
    is(await view.violations(), [], `${label}: violations of the CSP`);
  };
  for (const [i, payload] of mock.XSS.entries()) {
    await check(`XSS ${i + 1}: in a field, in an answer, in the route: ${payload.slice(0, 48)}`, async () => {
      await view.go(link('echo'));
      await setJson(JSON.stringify([payload]));
      await view.until(() => !document.querySelector('.primary').disabled);
      is(await page.$eval('.form input[type=text]', (e) => e.value), payload, 'field');
      const before = calls();
      await view.click('.primary');
      await view.until((p) => document.querySelector('.result pre')?.innerText === JSON.stringify(p), payload);
      is(calls() - before, 1, 'requests');
      await clean('answer');
      await setJson(JSON.stringify([{[payload]: payload}]));
      await clean('JSON with the text as a name');
      await view.go(`#/services/${encodeURIComponent(payload)}/${encodeURIComponent(payload)}?settings=${encodeURIComponent(payload)}`);
      await view.sees('dialog', 'rpc.server.port');
      await clean('route');
      await page.keyboard.press('Escape');
      await view.until(() => !document.querySelector('dialog'));
    });
  }
  for (const scene of ['normal', 'miss']) {
    await check(`XSS in every text of the server, scene ${scene}, on every tab, in the drawer and in a method`, async () => {
      state.hostile = true;
      state.scene = scene;
      for (const tab of Object.keys(TABS)) {
        await view.open(`#/${tab}`);
        await view.until(() => document.querySelector('main').innerText.includes('pwned'));
        if (tab === 'services') {
          for (const i of [0, 1, 2, 9, 11, 13]) {
            await page.$$eval('nav.tree a', (all, n) => all[n].click(), i);
            await view.until(() => document.querySelector('form.call'));
            await page.$$eval('main details', (all) => all.forEach((e) => (e.open = true)));
            await clean('method');
          }
        }
        if (tab === 'slow') await view.click('.slow-head');
        await clean(tab);
        await page.mouse.move(500, 300);
      }
      await view.open('#/now?settings=');
      await view.until(() => document.querySelector('dialog')?.innerText.includes('pwned'));
      await clean('drawer');
      state.hostile = false;
      state.scene = 'normal';
    });
  }
  await check('XSS in the result of a call: headers, message, code, phases', async () => {
    await view.open(link('fail'));
    await view.until(() => !document.querySelector('.primary').disabled);
    state.hostile = true;
    await view.click('.primary');
    await view.until(() => document.querySelector('.result')?.innerText.includes('pwned'));
    await clean('result');
    state.hostile = false;
  });
  await check('member names such as __proto__ and constructor are sent and change nothing', async () => {
    await view.open(link('node'));
    await setJson('[{"__proto__":{"polluted":1},"constructor":2,"label":"x"}]');
    await view.sees('.form', '__proto__, constructor');
    await send();
    that(sent() && state.calls.at(-1).body.messages[0].includes('"__proto__":{"polluted":1}'), 'message');
    is(await page.evaluate(() => ({}).polluted), undefined, 'polluted');
  });
  await check('an answer that is no JSON, of another version, or of other types is told', async () => {
    const cases = [['<html>login</html>', 'not JSON'], ['{"version":2}', 'another version'], ['{"version":1,"points":7,"lastMinute":3,"failures":[],"pools":"x","diagnosis":[]}', '']];
    await page.setRequestInterception(true);
    let body = null;
    const intercept = (request) => (body !== null && /\/now(\?|$)/.test(request.url()) ? request.respond({status: 200, contentType: 'application/json', body}) : request.continue());
    page.on('request', intercept);
    try {
      for (const [text, told] of cases) {
        body = null;
        await view.open();
        body = text;
        if (told) await view.sees('#refused', told);
        else await view.sees('main', 'No call yet');
      }
      body = null;
    } finally {
      page.off('request', intercept);
      await page.setRequestInterception(false);
    }
  });

  // ---------------------------------------------------------------- keyboard, width, colours, axe

  const press = async (key, times = 1) => {
    for (let i = 0; i < times; i++) await page.keyboard.press(key);
  };
  const focused = () => page.evaluate(() => (document.activeElement.getAttribute('aria-label') || document.activeElement.innerText || document.activeElement.tagName).trim());
  await check('keyboard: skip link, tabs, tree with arrows, form, Ctrl+Enter', async () => {
    await view.open('#/now');
    await press('Tab');
    is(await focused(), 'Skip to the content', 'first stop');
    await press('Enter');
    is(await page.evaluate(() => document.activeElement.id), 'content', 'focus');
    await page.focus('nav.tabs a:nth-child(2)');
    await press('Enter');
    await view.until(() => document.querySelector('nav.tree'));
    await page.focus('nav.tree input');
    await press('ArrowDown', 2);
    that((await focused()).startsWith('echo'), await focused());
    await press('Enter');
    await view.until(() => document.querySelector('form.call'));
    const before = calls();
    await page.focus('.form input[type=text]');
    await page.keyboard.type('!');
    await press('Enter'); // Enter alone sends nothing
    await page.keyboard.down('Control');
    await page.keyboard.down('Enter');
    await page.keyboard.down('Enter'); // the key is held down
    await page.keyboard.up('Enter');
    await page.keyboard.up('Control');
    await view.until(() => document.querySelector('.result'));
    is(calls() - before, 1, 'requests');
    that(JSON.parse(sent().messages[0])[0].endsWith('!'), sent().messages[0]);
  });
  await check('keyboard: every stop is visible, and the page is no trap', async () => {
    await view.open(link('echo'));
    const stops = new Set();
    for (let i = 0; i < 60; i++) {
      await press('Tab');
      const stop = await page.evaluate(() => {
        const e = document.activeElement;
        if (e === document.body) return null;
        const style = getComputedStyle(e);
        const box = e.getBoundingClientRect();
        return {name: (e.getAttribute('aria-label') || e.innerText || e.id || e.tagName).trim().slice(0, 60), visible: style.outlineStyle !== 'none' && box.width > 0 && box.height > 0};
      });
      if (!stop) break;
      that(stop.visible, `the focus on ${stop.name} is not visible`);
      stops.add(stop.name);
    }
    that(stops.size > 25, `${stops.size} stops`);
    return `${stops.size} stops`;
  });
  await check('keyboard: the drawer keeps the focus and gives it back', async () => {
    await view.open('#/services');
    await page.focus('.tools a.button');
    await press('Enter');
    await view.sees('dialog', 'rpc.server.port');
    is(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Filter the settings', 'focus');
    await press('Tab', 4);
    that(await page.evaluate(() => document.activeElement === document.body || Boolean(document.activeElement.closest('dialog'))), 'the focus left the drawer');
    await press('Escape');
    await view.until(() => !document.querySelector('dialog'));
    is(await page.evaluate(() => document.activeElement.innerText), 'Settings', 'focus after closing');
  });
  await check('links: back and forward, reload', async () => {
    await view.open('#/now');
    await view.go(link('chat'));
    await view.sees('main h1', 'chat');
    await page.goBack();
    await view.sees('main', 'Within the target');
    await page.goForward();
    await view.sees('main h1', 'chat');
    await page.reload();
    await view.sees('main h1', 'chat');
  });
  const everywhere = async (visit) => {
    for (const tab of Object.keys(TABS)) {
      await view.open(`#/${tab}`);
      await visit(tab);
    }
    for (const name of ['person', 'every', 'chat']) {
      await view.open(link(name));
      await view.until(() => !document.querySelector('.primary').disabled);
      await view.click('.primary');
      await view.until(() => document.querySelector('.result'));
      await page.$$eval('main details', (all) => all.forEach((e) => (e.open = true)));
      await visit(`method ${name}`);
    }
    await view.open('#/slow/c98');
    await visit('a slow call');
    await view.open('#/now?settings=');
    await view.sees('dialog', 'rpc.server.port');
    await visit('drawer');
  };
  for (const scene of ['normal', 'miss', 'empty', 'hostile']) {
    await check(`360 pixels: nothing scrolls sideways, scene ${scene}`, async () => {
      await page.setViewport({width: 360, height: 780, isMobile: true, hasTouch: true});
      state.scene = scene === 'hostile' ? 'miss' : scene;
      state.hostile = scene === 'hostile';
      if (scene === 'empty' || scene === 'hostile') {
        for (const tab of Object.keys(TABS)) {
          await view.open(`#/${tab}`);
          await view.fits(tab);
        }
      } else await everywhere(view.fits);
      state.hostile = false;
      state.scene = 'normal';
    });
  }
  await check('360 pixels: a method replaces the tree and leads back', async () => {
    await view.open(link('echo'));
    is(await page.$eval('nav.tree', (e) => getComputedStyle(e).display), 'none', 'tree');
    await page.click('.back');
    await view.until(() => getComputedStyle(document.querySelector('nav.tree')).display !== 'none');
  });
  await page.setViewport({width: 1360, height: 860});
  const brightness = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor.match(/[0-9]+/g).slice(0, 3).reduce((sum, n) => sum + Number(n), 0) / 3);
  await check('colours: follow the system, a switch overrides it, a reload keeps it', async () => {
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'light'}]);
    await view.open();
    that((await brightness()) > 200, 'light');
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: 'dark'}]);
    await view.until(() => getComputedStyle(document.documentElement).colorScheme && matchMedia('(prefers-color-scheme: dark)').matches);
    that((await brightness()) < 60, 'dark');
    await view.button('Colours: Auto');
    that((await brightness()) > 200, 'light by the switch');
    await page.reload();
    that((await brightness()) > 200, 'light after a reload');
    await view.until(() => document.querySelectorAll('.plot canvas').length === 3);
    await view.button('Colours: Light');
    await view.button('Colours: Dark');
    that((await brightness()) < 60, 'dark of the system again');
  });
  for (const scheme of ['light', 'dark']) {
    for (const scene of ['normal', 'miss', 'empty']) {
      await check(`axe-core: no violation, ${scheme}, scene ${scene}`, async () => {
        await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
        state.scene = scene;
        if (scene === 'normal') await everywhere(view.axe);
        else {
          for (const tab of Object.keys(TABS)) {
            await view.open(`#/${tab}`);
            await view.axe(tab);
          }
        }
        state.scene = 'normal';
      });
    }
    await check(`axe-core: no violation, ${scheme}, errors and 360 pixels`, async () => {
      await page.setViewport({width: 360, height: 780});
      await view.open(link('node'));
      await setJson('[1');
      await view.sees('#json-error', 'Line 1');
      await view.axe('wrong JSON');
      state.status = 403;
      await view.sees('#refused', '403');
      await view.axe('refused');
      state.status = 0;
      await page.setViewport({width: 1360, height: 860});
    });
  }

  if (process.env.SHOTS) await check('pictures', () => pictures(view, state, process.env.SHOTS));

  // ---------------------------------------------------------------- the whole run

  await check('no request to another origin', async () => is(view.told.foreign, [], 'requests'));
  await check('no error in the browser, no dialog, no violation of the CSP', async () => {
    is(view.told.errors, [], 'errors');
    is(await view.violations(), [], 'violations');
  });
  await check('every call had an id of its own, and none was executed twice', async () => {
    const ids = state.executed.map((body) => body.id);
    is(new Set(ids).size, ids.length, 'ids');
    return `${ids.length} calls`;
  });
  await page.close();
  await mock.stop();
}

/** Takes the screenshots for the documentation. */
async function pictures(view, state, folder) {
  const {page} = view;
  fs.mkdirSync(folder, {recursive: true});
  const shoot = async (name, {scheme = 'light', width = 1360, height = 860, scene = 'normal', hash, before}) => {
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
    await page.setViewport({width, height});
    state.scene = scene;
    await view.open(hash);
    await view.until(() => document.querySelector('.brand b')?.innerText && (!document.querySelector('.charts') || document.querySelectorAll('.plot canvas').length === 3));
    if (before) await before();
    await page.screenshot({path: path.join(folder, `${name}.png`)});
    state.scene = 'normal';
  };
  const call = async () => {
    await view.until(() => !document.querySelector('.primary').disabled);
    await view.click('.primary');
    await view.until(() => document.querySelector('.result'));
    await page.$eval('.result', (e) => e.scrollIntoView({block: 'end'}));
  };
  await view.open();
  await page.evaluate(() => sessionStorage.clear());
  await shoot('console-now', {hash: '#/now', scene: 'miss'});
  await shoot('console-now-dark', {hash: '#/now', scheme: 'dark'});
  await shoot('console-services', {hash: link('person')});
  await shoot('console-call', {hash: link('echo'), scheme: 'dark', before: call});
  await shoot('console-why', {hash: '#/why', scene: 'miss'});
  await shoot('console-slow', {hash: '#/slow/c100'});
  await shoot('console-outgoing', {hash: '#/outgoing', scheme: 'dark'});
  await shoot('console-settings', {hash: '#/now?settings='});
  await shoot('console-phone', {hash: '#/now', width: 360, height: 780, scene: 'miss'});
  await shoot('console-phone-call', {hash: link('watch'), width: 360, height: 780, scheme: 'dark', before: call});
}

module.exports = {run};
