// A server for the console's page with invented data. It serves the files as the Actuator serves them, and the JSON of
// each resource. Tests change `state` to make the server fail, hang, restart or send hostile texts. Usage: node
// load-tests/console/mock.js [port], then open http://127.0.0.1:port/behind/actuator/rpc-console
'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const zlib = require('node:zlib');

const folder = path.join(__dirname, '../../rpc-console/src/main/resources/tern/rpc/console');
const ENDPOINT = 'rpc-console';
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = {html: 'text/html;charset=utf-8', js: 'text/javascript;charset=utf-8', css: 'text/css;charset=utf-8', txt: 'text/plain;charset=utf-8'};

function fileOf(name) {
  const file = [folder, path.join(folder, 'vendor')].map((place) => path.join(place, name)).find((candidate) => fs.existsSync(candidate));
  const text = file && fs.readFileSync(file, 'utf8');
  return name === 'index.html' ? text.replaceAll('{{endpoint}}', ENDPOINT).replaceAll('{{version}}', '0.0.0-mock') : text;
}

const string = {kind: 'string', java: 'java.lang.String'};
const whole = (java) => ({kind: 'integer', java});
const object = (ref) => ({kind: 'object', java: ref, ref});
const listOf = (of) => ({kind: 'list', java: `java.util.List<${of.java}>`, of});
const PERSON = 'tern.sample.api.Person';
const ADDRESS = 'tern.sample.api.Person.Address';
const ROLE = 'tern.sample.api.Person.Role';
const USER = 'tern.sample.api.User';
const PAGE = 'tern.sample.api.Page<tern.sample.api.User>';
const NODE = 'example.Node';
const EVERY = 'example.Every';
const KEYS = 'example.Keys';

const types = {
  [PERSON]: {kind: 'record', name: 'Person', fields: [
    {name: 'name', type: string, nullable: false},
    {name: 'role', type: {kind: 'enum', java: ROLE, ref: ROLE}, nullable: false},
    {name: 'birthday', type: {kind: 'date', java: 'java.time.LocalDate'}, nullable: false},
    {name: 'salary', type: {kind: 'decimal', java: 'java.math.BigDecimal'}, nullable: false},
    {name: 'phones', type: listOf(string), nullable: false},
    {name: 'addresses', type: {kind: 'map', java: `java.util.Map<java.lang.String, ${ADDRESS}>`, key: string, of: object(ADDRESS)}, nullable: false},
    {name: 'manager', type: object(PERSON), nullable: true},
  ]},
  [ADDRESS]: {kind: 'record', name: 'Address', fields: ['street', 'city', 'postcode', 'country'].map((name) => ({name, type: string, nullable: false}))},
  [ROLE]: {kind: 'enum', name: 'Role', values: ['ENGINEER', 'MANAGER']},
  [USER]: {kind: 'bean', name: 'User', fields: [
    {name: 'id', type: whole('long'), nullable: false}, {name: 'name', type: string, nullable: false},
    {name: 'birthday', type: {kind: 'date', java: 'java.time.LocalDate'}, nullable: true}, {name: 'permissions', type: listOf(whole('java.lang.Integer')), nullable: false},
  ]},
  [PAGE]: {kind: 'bean', name: 'Page<User>', fields: [{name: 'pageNo', type: whole('int'), nullable: false}, {name: 'total', type: whole('int'), nullable: false}, {name: 'result', type: listOf(object(USER)), nullable: false}]},
  [NODE]: {kind: 'record', name: 'Node', fields: [{name: 'label', type: string, nullable: false}, {name: 'left', type: object(NODE), nullable: true}, {name: 'children', type: listOf(object(NODE)), nullable: false}]},
  [KEYS]: {kind: 'record', name: 'Keys', fields: [['by number', whole('java.lang.Integer')], ['by role', {kind: 'enum', java: ROLE, ref: ROLE}], ['by day', {kind: 'date', java: 'java.time.LocalDate'}]].map(([name, key]) => ({name, type: {kind: 'map', java: `java.util.Map<${key.java}, java.lang.String>`, key, of: string}, nullable: false}))},
  [EVERY]: {kind: 'record', name: 'Every', fields: [
    ['text', string], ['flag', {kind: 'boolean', java: 'boolean'}], ['small', whole('byte')], ['big', whole('long')], ['ratio', {kind: 'number', java: 'double'}],
    ['price', {kind: 'decimal', java: 'java.math.BigDecimal'}], ['day', {kind: 'date', java: 'java.time.LocalDate'}], ['hour', {kind: 'time', java: 'java.time.LocalTime'}],
    ['when', {kind: 'datetime', java: 'java.time.LocalDateTime'}], ['instant', {kind: 'instant', java: 'java.time.Instant'}], ['wait', {kind: 'duration', java: 'java.time.Duration'}],
    ['data', {kind: 'bytes', java: 'byte[]'}], ['id', {kind: 'uuid', java: 'java.util.UUID'}], ['role', {kind: 'enum', java: ROLE, ref: ROLE}],
    ['numbers', listOf(whole('int'))], ['counts', {kind: 'map', java: 'java.util.Map<java.lang.Integer, java.lang.Long>', key: whole('java.lang.Integer'), of: whole('java.lang.Long')}],
    ['maybe', {kind: 'optional', java: 'java.util.Optional<java.lang.String>', of: string}], ['anything', {kind: 'any', java: 'java.lang.Object'}],
  ].map(([name, type]) => ({name, type, nullable: false}))},
};

function method(service, name, type, parameters, result, more = {}) {
  return {
    name, descriptor: more.descriptor || `(${parameters.length})`, type, idempotent: false, parameters, result, example: null, lastMinute: null, note: '',
    wire: {dubbo: `${service}.${name}`, triple: `/${service}/${name}`, http: type === 'UNARY' || type === 'SERVER_STREAM' ? `POST /${service}/${name}` : null}, ...more,
  };
}

const exported = (name, methods, more = {}) => ({key: `${more.group ? `${more.group}/` : ''}${name}${more.version ? `:${more.version}` : ''}`, name, group: '', version: '', critical: false, methods, ...more});

function services() {
  const echo = 'tern.sample.api.EchoService';
  const users = 'tern.sample.api.UserService';
  const parcels = 'example.ParcelService';
  const minute = {calls: 2411, failed: 3, late: 12, p50Millis: 3.2, p99Millis: 48.1, maxMillis: 212.5};
  return [
    exported(echo, [
      method(echo, 'echo', 'UNARY', [{name: 'text', type: string}], string, {idempotent: true, descriptor: '(Ljava/lang/String;)', example: ['text'], lastMinute: minute}),
      method(echo, 'echo', 'UNARY', [{name: 'person', type: object(PERSON)}], object(PERSON), {idempotent: true, descriptor: '(Ltern/sample/api/Person;)', wire: {dubbo: `${echo}.echo`, triple: null, http: `POST /${echo}/echo~P`}}),
      method(echo, 'every', 'UNARY', [{name: 'every', type: object(EVERY)}, {name: 'times', type: whole('int')}], object(EVERY)),
      method(echo, 'keys', 'UNARY', [{name: 'keys', type: object(KEYS)}], object(KEYS)),
      method(echo, 'node', 'UNARY', [{name: 'node', type: object(NODE)}], object(NODE)),
      method(echo, 'big', 'UNARY', [{name: 'bytes', type: whole('int')}], string, {example: [8_000_000]}),
      method(echo, 'hang', 'UNARY', [], {kind: 'void', java: 'void'}, {example: []}),
      method(echo, 'fail', 'UNARY', [{name: 'code', type: string}], {kind: 'void', java: 'void'}, {example: ['NOT_FOUND']}),
      method(echo, 'internal', 'UNARY', [], string, {note: 'Its parameter is a class that JSON cannot read.'}),
    ], {critical: true}),
    exported(users, [
      method(users, 'listUser', 'UNARY', [{name: 'pageNo', type: whole('int')}], object(PAGE), {idempotent: true, example: [1], lastMinute: {...minute, calls: 610}}),
      method(users, 'createUser', 'UNARY', [{name: 'user', type: object(USER)}], {kind: 'boolean', java: 'boolean'}),
    ], {group: 'g1', version: '2.0'}),
    exported(parcels, [
      method(parcels, 'watch', 'SERVER_STREAM', [{name: 'id', type: string}], string, {example: ['7']}),
      method(parcels, 'endless', 'SERVER_STREAM', [{name: 'id', type: string}], string, {example: ['7']}),
      method(parcels, 'collect', 'CLIENT_STREAM', [{name: 'parcel', type: object(NODE)}], whole('int'), {example: [{label: 'a', left: null, children: []}, {label: 'b', left: null, children: []}]}),
      method(parcels, 'chat', 'BIDI_STREAM', [{name: 'line', type: string}], string, {example: ['hello', 'is anybody there?']}),
    ]),
  ];
}

/**
 * Returns 300 methods in 3 services, with type names of 3,000 characters, generic types and a name that cannot be
 * broken into lines.
 */
function manyServices() {
  const long = {kind: 'list', java: `java.util.List<${'java.util.Map<java.lang.String, '.repeat(95)}${'X'.repeat(60)}${'>'.repeat(96)}`, of: string};
  return Array.from({length: 3}, (_, s) => {
    const name = `example.${'Very'.repeat(s * 40)}LargeService${s}`;
    return exported(name, Array.from({length: 100}, (_unused, m) => method(name, `operation${s}${String(m).padStart(2, '0')}${m === 99 ? 'x'.repeat(200) : ''}`, 'UNARY', [{name: 'argument', type: long}, {name: 'n', type: whole('int')}], long, {example: [['a'], 1]})));
  });
}

const ten = (second) => Math.floor(second / 10) * 10;

/**
 * Returns the points of the last 15 minutes that are new or changed since an earlier second, in the same form as the
 * server: points of 10 s, and points of 1 s for the last minute. The values form a wave with one bad minute. They are
 * the same after each start.
 */
function points({second, earlier, start, born, miss}) {
  const all = [];
  const add = (first, seconds) => {
    const age = born - first;
    const wave = Math.sin(age / 40) + Math.sin(age / 7) / 3;
    const bad = (age > 300 && age < 400) || (miss && age < 30);
    const calls = Math.round((46 + 9 * wave) * seconds);
    all.push({at: new Date(start + first * 1000).toISOString(), seconds, calls, failed: bad ? Math.round(calls / 40) : 0, late: bad ? Math.round(calls / 6) : Math.round(age / 7) % 5 === 0 ? 1 : 0, p50Millis: 4 + wave, p99Millis: (bad ? 240 : 38) + 8 * wave, maxMillis: (bad ? 900 : 90) + 20 * wave});
  };
  const fine = second - 60;
  for (let first = Math.max(second - 900, ten(earlier - 60)), next; first < fine; first = next) {
    next = Math.min(fine, ten(first) + 10);
    add(first, next - first);
  }
  for (let first = Math.max(fine, earlier); first < second; first++) add(first, 1);
  return all;
}

const phases = (...pairs) => pairs.map(([phase, millis, count]) => ({phase, millis, count: count || 1}));

const diagnosisText = `MISS since 14:03:07 (21 s) OrderService.place, target 100 ms
  412 of 6,020 late, 3 failed, 0 refused; p99 240 ms (usual 38)
1 NOT GIVEN BACK: druid                            131 of 160 ms
  CHANGE   example.OrderStore.load(OrderStore.java:42) keeps its connection; close it
  expect   p99 41 ms`;

const report = (miss) => !miss ? {version: 1, state: 'HEALTHY', text: 'Calls are in time', miss: null, causes: [], accountMs: {}, history: []} : {
  version: 1, state: 'MISS', text: diagnosisText,
  miss: {since: '2026-11-24T14:03:07Z', seconds: 21, methods: ['OrderService.place'], targetMs: 100, calls: 6020, late: 412, failed: 3, refused: 0, hung: 0, p99Ms: 240, usualP99Ms: 38},
  causes: [
    {kind: 'NOT GIVEN BACK', name: 'druid', ms: 131, ofMs: 160, saves: 0.88, certainMs: 120, evidence: ['holder  example.OrderStore.load(OrderStore.java:42), 31 of 32 connections'], changed: ['new     statement select * from audit'], symptoms: ['calls wait for a worker: 96 ms'], acquitted: ['pool size  50 connections are enough at 46 calls a second'], change: {where: 'CODE', text: 'example.OrderStore.load(OrderStore.java:42) keeps its connection; close it', property: null, from: null, to: null, expectedP99Ms: -1}},
    {kind: 'POOL TOO SMALL', name: 'jedis', ms: 29, ofMs: 160, saves: 0.1, certainMs: 20, evidence: ['wait    12 ms a call'], changed: [], symptoms: [], acquitted: [], change: {where: 'PROPERTY', text: 'give the pool of Redis 24 connections', property: 'spring.data.redis.jedis.pool.max-active', from: '8', to: '24', expectedP99Ms: 41}},
  ],
  accountMs: {'jdbc-connection': 120, queue: 31, sql: 14, own: 9}, unexplainedMs: 0, checked: '', recorded: null, missing: [],
  history: [{miss: '2026-11-24T14:03:07Z', from: '2026-11-24T14:03:07Z', until: '2026-11-24T14:03:28Z', methods: ['OrderService.place'], first: 'NOT GIVEN BACK: druid', ms: 131, ofMs: 160, change: 'close it', calls: 6020, late: 412, failed: 3, refused: 0, hung: 0, p99Ms: 240}],
};

function slowCalls(at) {
  return Array.from({length: 100}, (_, i) => ({
    id: `c${100 - i}`, at: new Date(at - i * 1700).toISOString(), method: ['tern.sample.api.ScheduleService.schedule', 'tern.sample.api.UserService.listUser', 'example.OrderService.place'][i % 3], tookMillis: 140 + ((i * 37) % 160), code: i % 9 === 4 ? 'DEADLINE_EXCEEDED' : 'OK',
    phases: phases(['queue', 12 + (i % 5) * 9], ['decode', 0.4], ['jdbc-connection', 40 + ((i * 11) % 50)], ['sql', 30, 3], ['redis', 22, 40], ['own', 12]),
    operations: [{phase: 'sql', name: 'select id, name from agent where skill = ?', millis: 21.4, count: 1}, {phase: 'redis', name: 'GET agent:*', millis: 18.2, count: 40}],
    trace: i % 2 ? '' : `4bf92f3577b34da6a3ce929d0e0e${String(4700 + i)}`, caller: i % 3 ? '10.0.0.12' : 'CN=orders', protocol: i % 2 ? 'dubbo' : 'triple',
  }));
}

function outgoing(at) {
  const soon = new Date(at + 12_000).toISOString();
  const since = new Date(at - 600_000).toISOString();
  const endpoint = (address, more) => ({address, weight: 100, zone: '', tags: {}, draining: false, held: false, connection: 'CONNECTED', heard: true, lastFailure: '', nextAttempt: null, score: 1.31, responseTime: 1, inFlight: 2, shareOfLastMinute: 0.61, stalledSince: null, ejectedUntil: null, ejectedWhy: '', ejections: 0, ...more});
  return {
    version: 1,
    references: [{service: 'example.StockService', retries: 31, hedges: 208, fallbacks: 4, list: {source: 'stock.example:20880', state: 'FRESH', since, why: '', listed: 3, passedOver: 0, held: 0, heldSince: null, heldWhy: ''}, endpoints: [
      endpoint('10.0.0.7:20880', {zone: 'eu-1'}),
      endpoint('10.0.0.8:20880', {score: 84.2, responseTime: 6.3, shareOfLastMinute: 0.39, inFlight: 0, ejectedUntil: soon, ejectedWhy: '5 failures in a row', ejections: 2}),
      endpoint('10.0.0.9:20880', {connection: 'UNREACHABLE', heard: false, lastFailure: 'Connection refused', nextAttempt: soon, score: 1, shareOfLastMinute: 0, inFlight: 0}),
    ]}, {service: 'g1/example.PriceService:2.0', retries: 0, hedges: 0, fallbacks: 0, list: {source: 'zookeeper', state: 'EMPTY', since, why: 'no provider is registered', listed: 0, passedOver: 0, held: 0, heldSince: null, heldWhy: ''}, endpoints: []}],
    callers: [{caller: 'CN=orders, O=example', how: 'certificate', calls: 812_344, failed: 12, lastAt: new Date(at).toISOString()}, {caller: 'billing', how: 'principal', calls: 3411, failed: 0, lastAt: since}, {caller: '10.0.0.12', how: 'address', calls: 77, failed: 0, lastAt: since}],
  };
}

const settings = [
  {name: 'rpc.server.port', value: '20880', origin: 'default', default: '20880', description: 'Port of all protocols.'},
  {name: 'rpc.server.threads', value: '64', origin: 'application.properties, line 12', default: '200', description: 'Worker threads.'},
  {name: 'rpc.slo.latency', value: '100ms', origin: 'environment variable RPC_SLO_LATENCY', default: '100ms', description: 'Time within which a call shall end.'},
  {name: 'rpc.security.token', value: '******', origin: 'application.properties, line 30', default: null, description: 'Token that callers send.'},
  {name: 'rpc.client.zone', value: '', origin: 'default', default: '', description: 'Zone of this client.'},
];

/** Texts that a page without escaping would run as scripts. */
const XSS = [
  '<script>window.pwned=1</script>', '<img src=x onerror="window.pwned=1">', '<svg onload=window.pwned=1>', '"><script>window.pwned=1</script>', "'><img src=x onerror=window.pwned=1>",
  'javascript:window.pwned=1', '<a href="javascript:window.pwned=1">x</a>', '<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>', '</textarea><script>window.pwned=1</script>', '</style><script>window.pwned=1</script>',
  '${window.pwned=1}', '{{constructor.constructor("window.pwned=1")()}}', '<math><mi xlink:href="javascript:window.pwned=1">x', '<input autofocus onfocus=window.pwned=1>', '<body onload=window.pwned=1>',
  '<details open ontoggle=window.pwned=1>', '" onmouseover="window.pwned=1" x="', "';window.pwned=1;//", '<object data="javascript:window.pwned=1"></object>', '__proto__',
];

/** Replaces every text in the invented data with a hostile text, except the texts that control the page. */
function hostile(value, next = {n: 0}, name = '') {
  if (typeof value === 'string') return ['at', 'kind', 'type', 'state', 'since', 'ref', 'failuresSince', 'lastAt', 'from', 'until', 'instance', 'http', 'connection'].includes(name) ? value : `${XSS[next.n++ % XSS.length]}${value ? ` ${value}` : ''}`;
  if (Array.isArray(value)) return value.map((item) => hostile(item, next, name));
  if (value && typeof value === 'object') {
    const keyed = ['failures', 'refusals', 'accountMs', 'wire', 'headers', 'trailers'].includes(name);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [keyed ? `${XSS[next.n++ % XSS.length]}${key}` : key, hostile(item, next, key)]));
  }
  return value;
}

function start({port = 0, prefix = '/behind'} = {}) {
  const root = `${prefix}/actuator/${ENDPOINT}`;
  const state = {scene: 'normal', instance: 'first', hostile: false, hang: false, requests: [], calls: [], executed: [], stops: [], stopHangs: false, breakNextCall: false, status: 0, restartOnCall: false, passedSeconds: 0, clockMillis: 0, since: null};
  const seen = new Set();
  const hanging = new Set();
  const stoppable = new Map();

  const begin = Date.now();
  const born = 1000; // the second at which the process started, on the server's own clock

  /**
   * Returns the points and the marks. `state.passedSeconds` advances the time, `state.clockMillis` changes the system
   * clock, and `state.since` replaces the mark of the page's earlier answer.
   */
  function series(since) {
    const start = begin - born * 1000 + state.clockMillis;
    const second = born + Math.floor((Date.now() - begin) / 1000) + state.passedSeconds;
    const run = `${state.instance}.${state.scene}.${start}.`;
    const known = since !== null && since.startsWith(run);
    const earlier = known ? Number(since.slice(run.length)) : 0;
    return {points: state.scene === 'empty' ? [] : points({second, earlier, start, born, miss: state.scene === 'miss'}), since: state.since || (known ? since : null), next: run + second};
  }

  const resources = {
    now: (at, since) => ({
      version: 1, at: new Date(at).toISOString(), instance: state.instance, startedAt: '2026-11-24T10:00:00Z', application: 'shop', targetMillis: 100, targetQps: 500, canCall: state.scene !== 'no calls', cannotCallWhy: state.scene === 'no calls' ? 'Set rpc.console.calls=true to call from this page.' : '',
      ...series(since),
      lastMinute: state.scene === 'empty' ? {calls: 0, seconds: 60, qps: 0, p50Millis: null, p99Millis: null, maxMillis: null, shareOverTarget: 0, shareFailed: 0} : {calls: 2780, seconds: 60, qps: 46.3, p50Millis: 4.1, p99Millis: state.scene === 'miss' ? 240 : 41.2, maxMillis: 230.5, shareOverTarget: state.scene === 'miss' ? 0.068 : 0.0021, shareFailed: 0.0004},
      called: {calls: 1200, seconds: 60, qps: 20, p50Millis: 2, p99Millis: 18.4, maxMillis: 40, shareOverTarget: 0, shareFailed: 0.001},
      refusals: state.scene === 'empty' ? {} : {queue: 12, 'rate limit': 3}, failures: state.scene === 'empty' ? {} : {UNAVAILABLE: 3, DEADLINE_EXCEEDED: 14, INVALID_ARGUMENT: 1}, failuresSince: 'start', inFlight: state.scene === 'empty' ? 0 : 7,
      server: {running: true, port: 20880, connections: 12},
      pools: state.scene === 'empty' ? [] : [{kind: 'jdbc', name: 'druid', active: 31, idle: 1, max: 32, waiting: 4}, {kind: 'redis', name: 'jedis', active: 3, idle: 5, max: 24, waiting: 0}, {kind: 'workers', name: 'rpc', active: 7, idle: 43, max: 200, waiting: 0}, {kind: 'http', name: 'apache', active: null, idle: null, max: 64, waiting: null}],
      diagnosis: state.scene === 'empty' ? {state: 'QUIET', summary: 'Fewer than 60 seconds with calls since the start.'} : state.scene === 'miss' ? {state: 'MISS', summary: 'NOT GIVEN BACK: druid, 131 of 160 ms'} : {state: 'HEALTHY', summary: 'Calls are in time; p99 41 ms, target 100 ms.'},
    }),
    services: () => ({version: 1, instance: state.instance, services: state.scene === 'empty' ? [] : state.scene === 'large' ? manyServices() : services(), types}),
    why: () => (state.scene === 'empty' ? {version: 1, available: false, note: 'Add tern-rpc-insight to see the diagnosis.', text: '', report: null} : {version: 1, available: true, note: '', text: state.scene === 'miss' ? diagnosisText : 'Calls are in time', report: report(state.scene === 'miss')}),
    slow: (at) => ({version: 1, targetMillis: 100, calls: state.scene === 'empty' ? [] : slowCalls(at - (at % 3_600_000))}),
    outgoing: (at) => (state.scene === 'empty' ? {version: 1, references: [], callers: []} : outgoing(at)),
    settings: () => ({version: 1, settings}),
  };

  function call(body, response) {
    const done = (more) => answer(response, 200, {version: 1, id: body.id, code: 'OK', executed: 'YES', message: '', exception: null, headers: {'x-served-by': 'mock'}, trailers: {}, answers: [], cut: '', sizeBytes: 17, tookMillis: 61.5, phases: phases(['queue', 4], ['decode', 0.3], ['jdbc-connection', 18], ['sql', 22, 3], ['redis', 9, 12], ['own', 8.2]), operations: [{phase: 'sql', name: 'select 1', millis: 22, count: 3}], trace: '4bf92f3577b34da6a3ce929d0e0e4736', ...more});
    const argumentsText = body.messages[0];
    switch (body.method) {
      case 'hang':
        stoppable.set(body.id, (why) => done({code: 'CANCELLED', executed: 'MAYBE', message: why}));
        return hanging.add(response);
      case 'big': return done({answers: [JSON.stringify('x'.repeat(JSON.parse(argumentsText)[0]))], sizeBytes: JSON.parse(argumentsText)[0]});
      case 'fail': return done({code: JSON.parse(argumentsText)[0], message: 'there is no order 7', exception: 'example.NoSuchOrder'});
      case 'watch': return done({answers: ['"packed"', '"sent"', '"delivered"']});
      case 'endless': return done({answers: Array.from({length: 100}, (_, i) => `{"n":${i}}`), cut: '100 messages were received; the stream was cancelled'});
      case 'collect': return done({answers: [String(body.messages.length)]});
      case 'chat': return done({answers: body.messages});
      case 'createUser': return done({answers: ['true']});
      default: return done({answers: [argumentsText.slice(1, -1).trim() || 'null']}); // the call echoes its argument
    }
  }

  function answer(response, status, body) {
    const text = JSON.stringify(state.hostile && status === 200 ? hostile(body) : body);
    response.writeHead(status, {'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff'});
    response.end(text);
  }

  function receive(request, response, name) {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      let body;
      try {
        body = JSON.parse(text);
      } catch (e) {
        return answer(response, 400, {version: 1, error: `The request is no JSON: ${e.message}`});
      }
      state.calls.push({headers: request.headers, body});
      if (request.headers.origin && new URL(request.headers.origin).host !== request.headers.host) return answer(response, 403, {version: 1, error: 'Pages of another origin may not call.'});
      if (request.headers['x-rpc-console'] !== '1') return answer(response, 403, {version: 1, error: 'The header X-Rpc-Console is missing.'});
      if (body.instance && body.instance !== state.instance) return answer(response, 409, {version: 1, error: 'The application was restarted.', restarted: true});
      if (seen.has(body.id)) return answer(response, 409, {version: 1, error: 'This request was received before.', repeated: true});
      seen.add(body.id);
      if (state.refuseCalls) return answer(response, state.refuseCalls, {version: state.refuseCalls === 500 ? undefined : 1, error: `refused for the test with ${state.refuseCalls}`});
      state.executed.push(body);
      if (state.restartOnCall) {
        state.restartOnCall = false;
        state.instance = 'second';
        seen.clear();
        return request.socket.destroy();
      }
      if (state.breakNextCall) {
        state.breakNextCall = false;
        return request.socket.destroy();
      }
      return call(body, response, name);
    });
  }

  function stopCall(request, response) {
    let text = '';
    request.on('data', (part) => (text += part));
    request.on('end', () => {
      const {id} = JSON.parse(text);
      state.stops.push({headers: request.headers, id});
      if (state.stopHangs) return hanging.add(response);
      stoppable.get(id)?.('the console cancelled the call: it was stopped in the console');
      answer(response, 200, {version: 1, id, stopped: stoppable.delete(id)});
    });
  }

  const sockets = new Set();
  const server = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://mock');
    const name = url.pathname === root ? 'index.html' : url.pathname.startsWith(`${root}/`) ? url.pathname.slice(root.length + 1) : '';
    const since = url.searchParams.get('since');
    state.requests.push({at: Date.now(), method: request.method, name, since});
    if (state.status && resources[name]) return answer(response, state.status, {version: 1, error: `refused for the test with ${state.status}`});
    if (name === 'call' && request.method === 'POST') return receive(request, response);
    if (name === 'stop' && request.method === 'POST') return stopCall(request, response);
    if (request.method !== 'GET') return answer(response, 405, {version: 1, error: 'Only GET.'});
    if (resources[name]) return state.hang ? hanging.add(response) : answer(response, 200, resources[name](Date.now(), since));
    if (name === 'report') return response.writeHead(200, {'content-type': 'text/plain;charset=utf-8'}).end(`Report of shop\n\n${diagnosisText}\n`);
    const text = name && !name.includes('/') ? fileOf(name) : null;
    if (text === null || text === undefined) return answer(response, 404, {version: 1, error: 'There is no such file.'});
    const gzip = /\bgzip\b/.test(request.headers['accept-encoding'] || '');
    response.writeHead(200, {'content-type': TYPES[path.extname(name).slice(1)], 'content-security-policy': CSP, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-cache', vary: 'accept-encoding', ...(gzip && {'content-encoding': 'gzip'})});
    return response.end(gzip ? zlib.gzipSync(text) : text);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  const listen = (at) => new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    sockets.forEach((socket) => socket.destroy());
  });
  return listen(port).then(() => {
    const bound = server.address().port;
    return {url: `http://127.0.0.1:${bound}${root}`, state, XSS, stop, restart: () => listen(bound), release: () => {
      hanging.forEach((response) => response.writableEnded || response.destroy());
      hanging.clear();
    }};
  });
}

module.exports = {start, XSS};

if (require.main === module) {
  start({port: Number(process.argv[2] || 0)}).then((mock) => {
    mock.state.scene = process.env.SCENE || 'normal';
    console.log(mock.url);
  });
}
