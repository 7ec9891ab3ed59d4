// Reads and writes JSON without losing information. Numbers are kept as text, because JavaScript's numbers cannot
// represent every Java long. Objects become maps, so that a member may have any name. Errors contain a line and a
// column, which the browser's own parser does not report.
const MAX_DEPTH = 200;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SPACE = /[ \t\r\n]*/y;

export class Num {
  constructor(text) {
    this.text = text;
  }
}

/**
 * Text from a form field that is not valid for the field's type. It is stored in the edited value, so that the field
 * keeps the text that the user typed.
 */
export class Invalid {
  constructor(text, why) {
    this.text = text;
    this.why = why;
  }
}

export class JsonError extends Error {
  constructor(message, text, at) {
    super(message);
    const before = text.slice(0, at).split('\n');
    this.at = at;
    this.line = before.length;
    this.column = before[before.length - 1].length + 1;
  }
}

export function parse(text) {
  let at = 0;
  const fail = (message, where = at) => {
    throw new JsonError(message, text, where);
  };
  const space = () => {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
  };
  const found = () => (at < text.length ? `found ${JSON.stringify(String.fromCodePoint(text.codePointAt(at)))}` : 'the text ends here');

  function string() {
    const from = at++;
    for (;;) {
      const c = text.charCodeAt(at);
      if (Number.isNaN(c)) fail('A text has no closing quote', from);
      if (c < 32) fail('A text contains a line break or another control character; write \\n');
      at++;
      if (c === 34) break;
      if (c === 92) {
        const escaped = text[at];
        if (escaped === 'u' ? !/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5)) : !'"\\/bfnrt'.includes(escaped || ' ')) fail('Unknown escape in a text', at - 1);
        at += escaped === 'u' ? 5 : 1;
      }
    }
    return JSON.parse(text.slice(from, at));
  }

  function value(depth) {
    if (depth > MAX_DEPTH) fail(`More than ${MAX_DEPTH} levels`);
    space();
    const c = text[at];
    if (c === '"') return string();
    if (c === '[') {
      at++;
      const list = [];
      space();
      if (text[at] === ']') return at++, list;
      for (;;) {
        list.push(value(depth + 1));
        space();
        if (text[at] === ']') return at++, list;
        if (text[at] !== ',') fail(`Expected , or ] but ${found()}`);
        at++;
      }
    }
    if (c === '{') {
      at++;
      const map = new Map();
      space();
      if (text[at] === '}') return at++, map;
      for (;;) {
        space();
        if (text[at] !== '"') fail(`Expected a name in quotes but ${found()}`);
        const where = at;
        const name = string();
        if (map.has(name)) fail(`The name ${JSON.stringify(name)} occurs twice`, where);
        space();
        if (text[at] !== ':') fail(`Expected : but ${found()}`);
        at++;
        map.set(name, value(depth + 1));
        space();
        if (text[at] === '}') return at++, map;
        if (text[at] !== ',') fail(`Expected , or } but ${found()}`);
        at++;
      }
    }
    for (const [word, meaning] of [['true', true], ['false', false], ['null', null]]) {
      if (text.startsWith(word, at)) return (at += word.length), meaning;
    }
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text);
    if (!number) fail(`Expected a value but ${found()}`);
    at += number[0].length;
    return new Num(number[0]);
  }

  const result = value(0);
  space();
  if (at < text.length) fail(`Expected the end but ${found()}`);
  return result;
}

/** Formats a value as JSON text. Empty lists and lists of short values are written on one line. */
export function print(value, indent = '  ', outer = '') {
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof Num) return value.text;
  if (value instanceof Invalid) return JSON.stringify(value.text);
  if (typeof value === 'string') return JSON.stringify(value);
  const list = Array.isArray(value);
  const parts = list
    ? value.map((item) => print(item, indent, outer + indent))
    : Array.from(value, ([name, item]) => JSON.stringify(name) + (indent ? ': ' : ':') + print(item, indent, outer + indent));
  const [open, close] = list ? '[]' : '{}';
  if (!indent) return open + parts.join(',') + close;
  const flat = parts.join(', ');
  if (parts.length === 0 || (list && flat.length < 60 && !flat.includes('\n') && !flat.includes('{'))) return open + flat + close;
  return `${open}\n${outer}${indent}${parts.join(`,\n${outer}${indent}`)}\n${outer}${close}`;
}

/**
 * Converts a value created by the browser's own parser to this module's form. The server's examples are such values.
 */
export const fromPlain = (plain) => parse(JSON.stringify(plain));

/** Returns the first Invalid object inside a value, with its path. Returns null if the value contains none. */
export function firstInvalid(value, path = '') {
  if (value instanceof Invalid) return {path, why: value.why};
  const entries = Array.isArray(value) ? value.entries() : value instanceof Map ? value : [];
  for (const [name, item] of entries) {
    const found = firstInvalid(item, typeof name === 'number' ? `${path}[${name + 1}]` : path ? `${path}.${name}` : name);
    if (found) return found;
  }
  return null;
}
