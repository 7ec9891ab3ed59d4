// Starts the application of this folder, and a reverse proxy in front of the application. The proxy can break
// connections.
'use strict';

const {spawn} = require('node:child_process');
const http = require('node:http');
const net = require('node:net');

const START_MILLIS = 120_000;

const freePort = () => new Promise((resolve, reject) => {
  const server = net.createServer();
  server.on('error', reject);
  server.listen(0, '127.0.0.1', () => {
    const {port} = server.address();
    server.close(() => resolve(port));
  });
});

/**
 * Starts the application and waits until it is ready. counts: asks the application how often its methods ran, without
 * using the console; stop: ends the process, by force if `signal` is SIGKILL.
 */
async function startApplication(java, classPath, {port, actuator, options}) {
  const child = spawn(java, ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', classPath, 'tern.rpc.load.console.ConsoleApplication', ...options], {stdio: ['ignore', 'pipe', 'pipe']});
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  child.stderr.on('data', (part) => (output += part));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const ask = async (name) => (await fetch(`http://127.0.0.1:${port}${actuator}/${name}`)).json();
  const until = Date.now() + START_MILLIS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`the application did not start: ${output.slice(-2000)}`);
    if (await ask('health').then(({status}) => status === 'UP', () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    counts: () => ask('counts'),
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
    },
  };
}

/**
 * Starts a proxy that serves the application under another path. calls: the number of POST requests for each name;
 * state.breakNextCall: whether the proxy closes the browser's connection when the answer to the next call arrives.
 */
function startProxy(port, prefix) {
  const state = {breakNextCall: false, down: false, calls: []};
  const sockets = new Set();
  const server = http.createServer((request, response) => {
    if (!request.url.startsWith(prefix)) return response.writeHead(404).end();
    const name = request.url.split('/').pop();
    const breaks = name === 'call' && state.breakNextCall;
    if (request.method === 'POST') state.calls.push(name);
    if (breaks) state.breakNextCall = false;
    const headers = {...request.headers, 'x-forwarded-prefix': prefix, 'x-forwarded-host': request.headers.host, 'x-forwarded-proto': 'http'};
    const inner = http.request({host: '127.0.0.1', port, method: request.method, path: request.url.slice(prefix.length), headers, agent: false}, (answer) => {
      if (breaks) {
        answer.resume();
        return request.socket.destroy();
      }
      response.writeHead(answer.statusCode, answer.headers);
      return answer.pipe(response);
    });
    inner.on('error', () => request.socket.destroy());
    response.on('close', () => inner.destroy());
    return request.pipe(inner);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({
    state,
    origin: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((done) => {
      server.close(done);
      sockets.forEach((socket) => socket.destroy());
    }),
  })));
}

module.exports = {freePort, startApplication, startProxy};
