// Converts a request to a curl command, a grpcurl command or Java code.
import {print, Num} from './json.js';
import {list, simple} from './parts.js';

/** Quotes a string for a POSIX shell. Inside single quotes, only the single quote is special. */
const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;
const streams = (method) => method.type === 'CLIENT_STREAM' || method.type === 'BIDI_STREAM';
const one = (method, value) => (value.length === 1 && list(method.parameters).length === 1 ? value[0] : value);

function address(server) {
  return `${location.hostname}:${server?.port || 20880}`;
}

function headersOf({service, headers, timeoutMillis}) {
  const selected = [];
  if (service.group) selected.push(['tri-service-group', service.group]);
  if (service.version) selected.push(['tri-service-version', service.version]);
  return [...selected, ['tri-service-timeout', timeoutMillis], ...Object.entries(headers)];
}

/** Returns a curl command, or null if the method cannot be called over plain HTTP. */
export function curl(call) {
  const {method, value, server} = call;
  const path = String(method.wire?.http || '').replace(/^[A-Z]+ /, '');
  if (streams(method) || !path) return null;
  const options = headersOf(call).map(([name, text]) => `-H ${quoted(`${name}: ${text}`)}`);
  if (method.type === 'SERVER_STREAM') options.unshift('-N');
  return `curl ${options.join(' ')} --json ${quoted(print(one(method, value), ''))} ${quoted(`${server?.tls ? 'https' : 'http'}://${address(server)}${path}`)}`;
}

/** Returns a grpcurl command. The command works only if the server has rpc.server.reflection=true. */
export function grpcurl(call) {
  const {method, value, server} = call;
  const path = String(method.wire?.triple || '').replace(/^\//, '');
  if (!path) return null;
  const body = streams(method) ? value.map((message) => print(message, '')).join('\n') : print(one(method, value), '');
  const options = headersOf(call).map(([name, text]) => `-H ${quoted(`${name}: ${text}`)}`);
  if (!server?.tls) options.unshift('-plaintext');
  return `grpcurl ${options.join(' ')} -d ${quoted(body)} ${quoted(address(server))} ${quoted(path)}`;
}

export function java(call) {
  const {service, method, value, types, headers, timeoutMillis} = call;
  const type = simple(service.name);
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  const selected = [service.group && `group = ${JSON.stringify(service.group)}`, service.version && `version = ${JSON.stringify(service.version)}`].filter(Boolean);
  const lines = [`@RpcReference${selected.length ? `(${selected.join(', ')})` : ''}`, `private ${type} ${field};`, ''];
  const options = Object.entries(headers).map(([name, text]) => `.header(${JSON.stringify(name)}, ${JSON.stringify(text)})`).join('');
  const proxy = `CallOptions.none()${options}.timeout(Duration.ofMillis(${timeoutMillis})).on(${field})`;
  const result = method.result?.java ? simple(method.result.java) : 'void';
  const parameters = list(method.parameters);
  const literals = value.map((item, i) => literal(item, (streams(method) ? parameters[0] : parameters[i])?.type, types));
  if (method.type !== 'UNARY') {
    lines.push(`StreamObserver<${boxed(result)}> answers = new StreamObserver<>() {`, `    public void onNext(${boxed(result)} answer) { System.out.println(answer); }`, '    public void onError(Throwable failure) { failure.printStackTrace(); }', '    public void onCompleted() {}', '};');
  }
  if (streams(method)) {
    lines.push(`StreamObserver<${boxed(simple(parameters[0]?.type?.java || 'Object'))}> messages = ${proxy}.${method.name}(answers);`, ...literals.map((text) => `messages.onNext(${text});`), 'messages.onCompleted();');
  } else if (method.type === 'SERVER_STREAM') {
    lines.push(`${proxy}.${method.name}(${[...literals, 'answers'].join(', ')});`);
  } else {
    lines.push(`${result === 'void' ? '' : `${result} result = `}${proxy}.${method.name}(${literals.join(', ')});`);
  }
  return lines.join('\n');
}

const BOXED = {int: 'Integer', long: 'Long', boolean: 'Boolean', double: 'Double', float: 'Float', short: 'Short', byte: 'Byte', char: 'Character', void: 'Void'};
const boxed = (name) => BOXED[name] || name;
const PARSED = {date: 'LocalDate', time: 'LocalTime', datetime: 'LocalDateTime', instant: 'Instant', duration: 'Duration'};

function literal(value, type, types) {
  if (value === null || value === undefined) return 'null';
  const kind = type?.kind;
  const name = simple(type?.java || '');
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Num) {
    if (name === 'BigDecimal' || name === 'BigInteger') return `new ${name}("${value.text}")`;
    return value.text + ({long: 'L', Long: 'L', float: 'F', Float: 'F', double: 'D', Double: 'D'}[name] || '');
  }
  if (typeof value === 'string') {
    if (kind === 'enum') return `${name}.${value}`;
    if (kind === 'uuid') return `UUID.fromString(${JSON.stringify(value)})`;
    if (kind === 'bytes') return `Base64.getDecoder().decode(${JSON.stringify(value)})`;
    if (PARSED[kind]) return `${/^(Local|Zoned|Offset)/.test(name) ? name : PARSED[kind]}.parse(${JSON.stringify(value)})`;
    return JSON.stringify(value);
  }
  if (kind === 'optional') return `Optional.of(${literal(value, type.of, types)})`;
  if (Array.isArray(value) && kind === 'list' && !name.endsWith('[]')) return `${name.startsWith('Set') ? 'Set' : 'List'}.of(${value.map((item) => literal(item, type.of, types)).join(', ')})`;
  if (value instanceof Map && kind === 'map' && value.size <= 10) return `Map.of(${[...value].map(([key, item]) => `${type.key?.kind === 'string' ? JSON.stringify(key) : literal(type.key?.kind === 'integer' ? new Num(key) : key, type.key, types)}, ${literal(item, type.of, types)}`).join(', ')})`;
  const known = kind === 'object' && types.get(type.ref);
  if (known?.kind === 'record' && value instanceof Map) return `new ${name.replace(/<.*/, '<>')}(${list(known.fields).map((field) => literal(value.get(field.name), field.type, types)).join(', ')})`;
  return `JsonMapper.shared().readValue(${JSON.stringify(print(value, ''))}, ${name.replace(/<.*/, '') || 'Object'}.class)`;
}
