// The checks against the application of this folder: every kind of call, bad input, lost connections and restarts. The
// application counts how often its methods ran.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const {freePort, startApplication, startProxy} = require('./application.js');
const {check, is, openPage, results, that} = require('./browser.js');
const pointsChecks = require('./points-checks.js');
const liveChecks = require('./live-checks.js');
const {XSS} = require('./mock.js');

const SERVICE = 'tern.rpc.load.console.Workshop';
const PREFIX = '/edge';

/** The application on Tomcat behind a proxy. The proxy, the context path and the Actuator each add a path prefix. */
function behindProxy(port) {
  return {name: 'servlet, behind paths', actuator: '/shop/manage', port, proxied: true, options: [`--server.port=${port}`, '--server.servlet.context-path=/shop', '--management.endpoints.web.base-path=/manage', '--server.forward-headers-strategy=framework']};
}

/** The application on WebFlux, with the Actuator on a separate port. */
function reactive(port) {
  return {name: 'WebFlux, own port', actuator: '/ops/actuator', port, proxied: false, options: ['--spring.main.web-application-type=reactive', '--server.port=0', `--management.server.port=${port}`, '--management.server.address=127.0.0.1', '--management.server.base-path=/ops']};
}

async function run(browser, java, classPath) {
  await runAll(browser, java, classPath, behindProxy(await freePort()));
  await runAll(browser, java, classPath, reactive(await freePort()));
}

async function runAll(browser, java, classPath, setup) {
  const start = () => startApplication(java, classPath, setup);
  const running = {application: await start(), start};
  const proxy = setup.proxied ? await startProxy(setup.port, PREFIX) : null;
  const url = `${proxy ? `${proxy.origin}${PREFIX}` : `http://127.0.0.1:${setup.port}`}${setup.actuator}/rpc-console`;
  console.log(`        ${setup.name}: ${url}`);
  try {
    await liveChecks.run(browser, url);
    const page = await pageOf(browser, url, running);
    await shapes(page);
    await pointsChecks.merges(page.view, url);
    await wrongInput(page);
    await stops(page);
    if (proxy) {
      await values(page);
      await markup(page);
      await outgoing(page);
      await lostConnections(page, proxy);
      if (process.env.SHOTS) await check('pictures of the application', () => pictures(page, process.env.SHOTS));
    }
    await restarts(page);
    await pointsChecks.merges(page.view, url);
    await check(`${setup.name}: no error in the browser, no dialog, no violation of the CSP, no other origin`, async () => {
      is(page.view.told.errors, [], 'errors');
      is(await page.view.violations(), [], 'violations');
      is(page.view.told.foreign, [], 'requests');
    });
    await page.view.page.close();
  } finally {
    results.afterFailure = () => {};
    if (proxy) await proxy.stop();
    await running.application.stop('SIGKILL');
  }
}

async function pageOf(browser, url, running) {
  const view = await openPage(browser, url);
  const {page} = view;
  const {services} = await (await fetch(`${url}/services`)).json();
  const methods = services.find((service) => service.key === SERVICE).methods;
  const answers = () => page.$$eval('.result pre', (all) => all.map((e) => e.innerText));
  const method = async (name) => {
    const {descriptor} = methods.find((m) => m.name === name);
    await view.go(`#/services/${[SERVICE, name, descriptor || ''].map(encodeURIComponent).join('/')}`);
    await view.until((n) => document.querySelector('main h1')?.innerText === n && document.querySelector('form.call'), name);
  };
  const press = async () => {
    await view.until(() => !document.querySelector('.primary').disabled);
    await view.click('.primary');
  };
  const result = async () => {
    await view.until(() => document.querySelector('.result') && !document.querySelector('.spinner'));
    return view.text('.result');
  };
  const counts = () => running.application.counts();
  /** Sends a call and checks that the method ran this many times. */
  const send = async (name, messages, times = 1) => {
    await method(name);
    if (messages !== null) await view.fill('#json', messages);
    const before = (await counts())[name] || 0;
    await press();
    const told = await result();
    is(((await counts())[name] || 0) - before, times, `runs of ${name}, whose result is ${told.slice(0, 300)}:`);
    return told;
  };
  const untilCounted = async (name, wanted) => {
    const until = Date.now() + 10_000;
    while ((await counts())[name] !== wanted) that(Date.now() < until, `${name} is ${(await counts())[name]}, expected ${wanted}`);
  };
  return {view, page, url, running, answers, method, press, result, counts, send, untilCounted};
}

async function shapes({send, answers, view, method}) {
  await check('one message, one answer: code, executed, phases; it ran once', async () => {
    await method('echo');
    await view.fill('.form input[type=text]', 'tea');
    const told = await send('echo', null);
    that(told.includes('OK') && told.includes('executed') && told.includes('own'), told);
    is(await answers(), ['"tea"'], 'answers');
  });
  await check('a stream of answers', async () => {
    that((await send('count', '[3]')).includes('3 answers'), 'three answers');
    is(await answers(), ['1', '2', '3'], 'answers');
  });
  await check('a stream of messages', async () => {
    await send('sum', '[1, 2, 39]');
    is(await answers(), ['42'], 'answers');
  });
  await check('streams both ways', async () => {
    await send('chat', '["one", "two"]');
    is(await answers(), ['"you said one"', '"you said two"'], 'answers');
  });
}

async function wrongInput({send, counts, view, method}) {
  await check('wrong JSON: line and column, nothing is sent', async () => {
    await method('every');
    await view.fill('#json', '[\n  {"text": "a" "flag": 1}\n]');
    await view.sees('#json-error', 'Line 2, column 16');
    that(await view.page.$eval('.primary', (e) => e.disabled), 'Send is enabled');
  });
  await check('JSON of another type: the path of the wrong value; it did not run', async () => {
    const told = await send('every', '[{"big": "many"}]', 0);
    that(told.includes('INVALID_ARGUMENT') && told.includes('not executed') && told.includes('$.big'), told);
  });
  await check('an answer of 8 MB is told and not shown', async () => {
    const told = await send('large', '[8388608]');
    that(told.includes('The answers are incomplete') && told.includes('1048576 bytes'), told);
  });
  await check('an answer of 1 MB is shown in parts', async () => {
    const told = await send('large', '[1000000]');
    that(told.includes('Show all') && told.length < 200_000, `${told.length} characters`);
  });
  await check('a declared exception: class and message', async () => {
    const told = await send('fail', '["<b>broken</b>"]');
    that(told.includes('<b>broken</b>') && told.includes('BrokenException'), told);
  });
  await check('an endless stream is cut, and ends on the server', async () => {
    const before = (await counts())['endless cancelled'] || 0;
    const told = await send('endless', null);
    that(told.includes('100 answers') && told.includes('The answers are incomplete'), told.slice(0, 300));
    const after = (await counts())['endless cancelled'];
    that(after > before, `${after} cancellations`);
  });
}

async function stops({method, press, result, counts, untilCounted, view, answers, page}) {
  await check('a stream without an end: the user stops it; its answers stay, and it ends on the server', async () => {
    const before = await counts();
    await method('stuck');
    await press();
    await view.sees('#obstacle', 'runs for');
    await untilCounted('stuck', (before.stuck || 0) + 1);
    await view.button('Stop');
    const told = await result();
    that(told.includes('CANCELLED') && told.includes('stopped in the console'), told);
    is(await answers(), ['"the only one"'], 'answers');
    await untilCounted('stuck cancelled', (before['stuck cancelled'] || 0) + 1);
    is((await counts()).stuck, (before.stuck || 0) + 1, 'runs');
  });
  await check('a method that hangs: the user stops it', async () => {
    const before = (await counts()).hang || 0;
    await method('hang');
    await press();
    await view.sees('#obstacle', 'runs for');
    await untilCounted('hang', before + 1);
    await view.button('Stop');
    const told = await result();
    that(told.includes('CANCELLED') && told.includes('perhaps executed'), told);
    is((await counts()).hang, before + 1, 'runs');
  });
  await check('a method that hangs: it ends at its deadline', async () => {
    const before = (await counts()).hang || 0;
    await page.locator('.call details summary').click();
    await view.fill('.call input[type=number]', '700');
    await press();
    const told = await result();
    that(told.includes('DEADLINE_EXCEEDED') && told.includes('perhaps executed'), told);
    is((await counts()).hang, before + 1, 'runs');
  });
}

async function values({send, answers, view, page, method}) {
  await check('every kind of value: the example of the form is sent and comes back', async () => {
    await view.open('#/services'); // discards the text that was typed
    const told = await send('every', null);
    that(told.includes('OK'), told);
    const [text] = await answers();
    for (const part of ['"colour": "RED"', '"byNumber": {', '"data": "AAEC"']) that(text.includes(part), `${part} is missing in ${text}`);
  });
  await check('numbers keep all digits, in the form and in the answer', async () => {
    await method('every');
    await page.locator('aria/big long').fill('9007199254740993');
    await page.locator('aria/price BigDecimal').fill('0.10000000000000000001');
    await page.locator('aria/huge BigInteger').fill('1267650600228229401496703205376');
    that((await send('every', null)).includes('OK'), 'code');
    const [text] = await answers();
    for (const part of ['"big": 9007199254740993', '"price": 0.10000000000000000001', '"huge": 1267650600228229401496703205376']) that(text.includes(part), `${part} is missing in ${text}`);
  });
  await check('maps whose keys are numbers, enums and dates get keys that the server accepts', async () => {
    await method('every');
    for (const name of ['byNumber', 'byColour', 'byDay']) {
      await page.evaluate((n) => document.querySelectorAll(`[aria-label^="Remove"][aria-label$="from ${n}"]`).forEach((e) => e.click()), name);
      await view.button(`Add to ${name}`);
    }
    await view.button('Add to byColour');
    const told = await send('every', null);
    that(told.includes('OK'), told);
    const [text] = await answers();
    for (const part of ['"RED"', '"GREEN"']) that(text.includes(part), `${part} is missing in ${text}`);
  });
  await check('a type that contains itself is opened step by step', async () => {
    await method('node');
    await page.locator('aria/next is null').click();
    await view.until(() => document.querySelectorAll('.form fieldset fieldset').length >= 2);
    await view.button('Add to children');
    that((await send('node', null)).includes('OK'), 'code');
  });
}

async function markup({send, answers, view, page}) {
  const clean = async () => {
    is(await page.evaluate(() => window.pwned), undefined, 'pwned');
    is(await page.evaluate(() => document.querySelectorAll('#app script, #app iframe, #app img, #app object, #app svg, #app math').length), 0, 'elements from texts');
    is(await view.violations(), [], 'violations of the CSP');
  };
  await check(`${XSS.length} texts with HTML as argument, answer and message of an exception`, async () => {
    for (const text of XSS) {
      await send('echo', JSON.stringify([text]));
      is(await answers(), [JSON.stringify(text)], 'answers');
      await clean();
      that((await send('fail', JSON.stringify([text]))).includes(text), `the message of ${text}`);
      await clean();
    }
    return `${XSS.length} texts`;
  });
  await check('HTML in the name of a member', async () => {
    that((await send('markup', null)).includes('OK'), 'code');
    await view.sees('.form', '<img src=x onerror=');
    await page.$$eval('main details', (all) => all.forEach((e) => (e.open = true)));
    await clean();
    is(await page.evaluate(() => ({}).polluted), undefined, 'polluted');
  });
}

async function outgoing({view}) {
  await check('outgoing: the answers of the fallback and the state of the provider', async () => {
    await view.go('#/outgoing');
    await view.sees('main', 'tern.rpc.load.console.Stock');
    const shown = await view.page.$$eval('.attempts', (all) => all.map((e) => e.innerText.replace(/\s+/g, ' ')));
    that(/Answers of the fallback 2 /.test(shown[0]), String(shown));
  });
}

async function lostConnections({method, press, result, counts, view, send}, proxy) {
  await check('the connection breaks before the answer: told, it ran once, nothing is sent twice', async () => {
    await method('echo');
    const before = (await counts()).echo;
    const posts = proxy.state.calls.length;
    proxy.state.breakNextCall = true;
    await press();
    const told = await result();
    that(told.includes('LOST') && told.includes('perhaps executed'), told);
    is((await counts()).echo, before + 1, 'runs');
    const repeated = proxy.state.calls.length - posts - 1;
    is((await send('echo', '["after"]')).includes('OK'), true, 'the next call');
    return repeated ? 'the browser sent the request again, and the server refused it' : 'sent once';
  });
}

async function restarts({running, method, press, result, counts, view}) {
  await check('the application dies during a call: told, and the call is not sent to its successor', async () => {
    await method('hang');
    const before = (await counts()).hang || 0;
    await press();
    const until = Date.now() + 10_000;
    while (((await counts()).hang || 0) === before) that(Date.now() < until, 'the call did not arrive');
    await running.application.stop('SIGKILL');
    const told = await result();
    that(told.includes('LOST') && told.includes('perhaps executed'), told);
    await view.sees('#lost', 'No connection since');
    running.application = await running.start();
    await view.sees('#restarted', 'restarted');
    await view.until(() => !document.querySelector('#lost') && document.querySelector('form.call'));
    is((await counts()).hang, undefined, 'runs in the successor');
  });
  await check('a call for the process before is refused by its successor', async () => {
    await method('echo');
    await view.button('Dismiss');
    await view.button('Pause');
    await running.application.stop();
    running.application = await running.start();
    await press();
    const told = await result();
    that(told.includes('NOT SENT ON') && told.includes('not executed'), told);
    await view.sees('#restarted', 'restarted');
    is((await counts()).echo, undefined, 'runs in the successor');
    await press();
    that((await result()).includes('OK'), 'the second press');
    is((await counts()).echo, 1, 'runs after the second press');
    await view.button('Continue');
    await view.go('#/now');
    await view.sees('main', 'Calls a second');
  });
}

async function pictures({view, page, method, press, result}, folder) {
  fs.mkdirSync(folder, {recursive: true});
  await method('every');
  await press();
  await result();
  await page.screenshot({path: path.join(folder, 'own-call.png')});
  await view.go('#/outgoing');
  await page.screenshot({path: path.join(folder, 'own-outgoing.png')});
}

module.exports = {run};
