// A form created from a method's types. The form and the JSON editor beside it edit the same value. The value consists
// of null, booleans, strings, Num objects, arrays and maps.
import {html, useState} from './html.js';
import {Invalid, Num, parse, print} from './json.js';
import {list, simple} from './parts.js';

const WHOLE = /^-?(0|[1-9][0-9]*)$/;
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const BITS = {byte: 8n, Byte: 8n, short: 16n, Short: 16n, int: 32n, Integer: 32n, long: 64n, Long: 64n};
const HINTS = {time: '14:30:00', datetime: '2026-11-24T14:30:00', instant: '2026-11-24T13:30:00Z', duration: 'PT1.5S', bytes: 'base64', uuid: '00000000-0000-0000-0000-000000000000'};
const PATTERNS = {
  date: [/^[+-]?\d{4,}-\d\d-\d\d$/, 'a date such as 2026-11-24'],
  time: [/^\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/, 'a time such as 14:30:00'],
  datetime: [/^[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?(\[[^\]]+\])?$/, 'a date and time such as 2026-11-24T14:30:00'],
  instant: [/^[+-]?\d{4,}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)(\[[^\]]+\])?$/, 'an instant such as 2026-11-24T13:30:00Z'],
  duration: [/^[+-]?P(?=[\d+-]|T[\d+-])([+-]?\d+[YMWD])*(T([+-]?[\d.]+[HMS])*)?$|^-?\d+(\.\d+)?s$/, 'a duration such as PT1.5S'], // also matches protobuf's form, such as 1.5s
  bytes: [/^[A-Za-z0-9+/_-]*={0,2}$/, 'base64'],
  uuid: [/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'a UUID'],
};

const kindOf = (type) => (type && type.kind) || 'any';
const fieldsOf = (type, types) => types.get(type.ref);

const PRIMITIVE = /^(boolean|byte|char|short|int|long|float|double)$/;
const FILLED = ['string', 'boolean', 'integer', 'number', 'decimal', 'enum', 'list', 'map'];

/**
 * Returns the initial value for a type. It is null if the value may be null and the type has no obvious empty
 * value. If a type contains itself, the inner value is null until the user expands it.
 */
export function initial(type, types, nullable = false, above = []) {
  if (nullable && !FILLED.includes(kindOf(type))) return null;
  switch (kindOf(type)) {
    case 'string': return '';
    case 'boolean': return false;
    case 'integer': case 'number': case 'decimal': return new Num('0');
    case 'date': return new Date().toISOString().slice(0, 10);
    case 'time': return '12:00:00';
    case 'datetime': return `${new Date().toISOString().slice(0, 10)}T12:00:00`;
    case 'instant': return `${new Date().toISOString().slice(0, 19)}Z`;
    case 'duration': return 'PT1S';
    case 'bytes': return '';
    case 'uuid': return HINTS.uuid;
    case 'enum': return list(fieldsOf(type, types)?.values)[0] ?? null;
    case 'list': return [];
    case 'map': return new Map();
    case 'object': {
      const known = fieldsOf(type, types);
      if (!known || above.includes(type.ref)) return null;
      const inner = [...above, type.ref];
      return new Map(list(known.fields).map((field) => [field.name, initial(field.type, types, field.nullable, inner)]));
    }
    default: return null;
  }
}

/** The form fields for all arguments of a method. */
export function Arguments({parameters, types, value, change}) {
  return html`<div class="form">${parameters.map((p, i) => html`<${Field} key=${i} name=${p.name} type=${p.type} types=${types} nullable=${!PRIMITIVE.test(p.type?.java)} value=${value[i]} change=${(v) => change(value.with(i, v))} />`)}</div>`;
}

/** The form fields for the messages of a request stream. */
export function Messages({type, types, value, change}) {
  return html`<div class="form"><${Items} name="message" type=${type} types=${types} value=${value} change=${change} /></div>`;
}

/** Returns the date that is this number of days after today. */
const day = (after) => new Date(Date.now() + after * 86_400_000).toISOString().slice(0, 10);

const textOf = (value) => (value instanceof Num || value instanceof Invalid ? value.text : typeof value === 'string' ? value : null);
const javaOf = (type) => simple((type && type.java) || kindOf(type));

// A form field for one value. A missing object member is shown like null, and stays missing until the user edits it.
function Field({name, type, types, value, change, nullable = false}) {
  const kind = kindOf(type);
  const inner = kind === 'optional' ? type.of : type;
  const missing = value === null || value === undefined;
  const mayBeNull = nullable || missing || kind === 'optional';
  const empty = kind === 'any' || kind === 'void' ? null : mayBeNull && html`<label class="check null"><input type="checkbox" checked=${missing} aria-label=${`${name} is null`} onChange=${(e) => change(e.target.checked ? null : initial(inner, types))} /> null</label>`;
  const common = {name, type: inner, types, value, change, empty, missing};
  switch (kindOf(inner)) {
    case 'object': return fieldsOf(inner, types) ? html`<${Group} ...${common} fits=${value instanceof Map}><${Members} ...${common} /><//>` : html`<${Free} ...${common} />`;
    case 'list': return html`<${Group} ...${common} fits=${Array.isArray(value)}><${Items} ...${common} type=${inner.of} name=${name} /><//>`;
    case 'map': return html`<${Group} ...${common} fits=${value instanceof Map}><${Pairs} ...${common} /><//>`;
    case 'any': case 'void': return html`<${Free} ...${common} />`;
    default: return html`<${Row} ...${common}><${Scalar} ...${common} /><//>`;
  }
}

const Name = ({name, type}) => html`<span class="field-name">${name} <small>${javaOf(type)}</small></span>`;
const Wrong = ({value}) => value instanceof Invalid && html`<small class="bad-text" role="status">${value.why}</small>`;
const Row = ({name, type, value, empty, children}) => html`<div class="field"><div class="field-label"><label><${Name} name=${name} type=${type} />${children}</label><${Wrong} value=${value} /></div>${empty}</div>`;

function Group({name, type, types, missing, fits, empty, change, children}) {
  return html`<fieldset class=${missing ? 'nulled' : ''}><legend><${Name} name=${name} type=${type} />${empty}</legend>
    ${!missing && (fits ? children : html`<p class="bad-text">The JSON has another kind of value here. <button type="button" class="small" onClick=${() => change(initial(type, types))}>Replace it</button></p>`)}</fieldset>`;
}

function Members({type, types, value, change}) {
  const fields = list(fieldsOf(type, types).fields);
  const others = [...value.keys()].filter((key) => !fields.some((field) => field.name === key));
  const set = (name, v) => change(new Map(value).set(name, v));
  return html`${fields.map((field) => html`<${Field} key=${field.name} name=${field.name} type=${field.type} types=${types} nullable=${field.nullable} value=${value.get(field.name)} change=${(v) => set(field.name, v)} />`)}
    ${others.length > 0 && html`<p class="muted">Also in the JSON, but not in the type: ${others.join(', ')}</p>`}
    ${fields.length === 0 && html`<p class="muted">no fields</p>`}`;
}

function Items({name, type, types, value, change}) {
  return html`${value.map((item, i) => html`<div class="item" key=${i}><${Field} name=${`${name} ${i + 1}`} type=${type} types=${types} value=${item} change=${(v) => change(value.with(i, v))} /><button type="button" class="small remove" aria-label=${`Remove ${name} ${i + 1}`} onClick=${() => change(value.toSpliced(i, 1))}>Remove</button></div>`)}
    <button type="button" class="small" aria-label=${`Add to ${name}`} onClick=${() => change([...value, initial(type, types)])}>Add</button>`;
}

function Pairs({name, type, types, value, change}) {
  const pairs = [...value];
  const rename = (i, key) => !value.has(key) && change(new Map(pairs.with(i, [key, pairs[i][1]])));
  const add = () => {
    const key = freeKey(type.key, types, value);
    if (key !== undefined) change(new Map(value).set(key, initial(type.of, types)));
  };
  const keys = kindOf(type.key) === 'enum' ? list(fieldsOf(type.key, types)?.values) : null;
  const full = freeKey(type.key, types, value) === undefined;
  return html`${pairs.map(([key, item], i) => html`<div class="item pair" key=${i}>
      <label class="field-label"><span class="field-name">key ${i + 1}</span>${keys ? html`<select value=${key} onChange=${(e) => rename(i, e.target.value)}>${[key, ...keys.filter((k) => !value.has(k))].map((k) => html`<option key=${k} value=${k}>${k}</option>`)}</select>`
        : html`<input type="text" value=${key} onChange=${(e) => rename(i, e.target.value) || (e.target.value = key)} spellcheck=${false} autocomplete="off" />`}<${Wrong} value=${scalar(kindOf(type.key), type.key, key)} /></label>
      <${Field} name=${`value ${i + 1}`} type=${type.of} types=${types} value=${item} change=${(v) => change(new Map(pairs.with(i, [key, v])))} />
      <button type="button" class="small remove" aria-label=${`Remove ${key} from ${name}`} onClick=${() => change(new Map(pairs.toSpliced(i, 1)))}>Remove</button></div>`)}
    <button type="button" class="small" aria-label=${`Add to ${name}`} disabled=${full} onClick=${add}>Add</button>`;
}

/** Returns a key of the right type that the map does not contain; undefined if there is none. */
function freeKey(type, types, map) {
  const kind = kindOf(type);
  if (kind === 'enum') return list(fieldsOf(type, types)?.values).find((value) => !map.has(value));
  if (kind === 'boolean') return ['true', 'false'].find((value) => !map.has(value));
  for (let n = map.size + 1; ; n++) {
    const key = keyNumber(kind, type, types, n);
    if (!map.has(key)) return key;
  }
}

function keyNumber(kind, type, types, n) {
  switch (kind) {
    case 'integer': case 'number': case 'decimal': return String(n);
    case 'date': return day(n - 1);
    case 'datetime': return `${day(n - 1)}T12:00:00`;
    case 'instant': return `${day(n - 1)}T12:00:00Z`;
    case 'time': return new Date(n * 60_000).toISOString().slice(11, 19);
    case 'duration': return `PT${n}S`;
    case 'uuid': return HINTS.uuid.slice(0, -8) + n.toString(16).padStart(8, '0');
    default: return `key${n}`;
  }
}

/** A form field in which the user writes JSON. Used for a value of unknown type. */
function Free({name, type, value, change}) {
  const shown = value instanceof Invalid ? value.text : value === undefined ? '' : print(value, '');
  const edit = (text) => {
    try {
      change(text.trim() === '' ? null : parse(text));
    } catch (e) {
      change(new Invalid(text, `no JSON: ${e.message}`));
    }
  };
  return html`<${Row} name=${name} type=${type}><textarea class="code" rows="2" value=${shown} onChange=${(e) => edit(e.target.value)} spellcheck=${false}></textarea><//>`;
}

function Scalar({type, types, value, change, missing}) {
  const kind = kindOf(type);
  const [large] = useState(() => kind === 'string' && /\n|.{80}/.test(textOf(value) || '')); // decided once; a change from input to textarea while the user types would lose the focus
  if (missing) return html`<input type="text" value="" placeholder="null" disabled />`;
  if (kind === 'boolean') return html`<span class="check"><input type="checkbox" checked=${value === true} onChange=${(e) => change(e.target.checked)} /> <span aria-hidden="true">${value === true ? 'true' : 'false'}</span></span>`;
  if (kind === 'enum') {
    const values = list(fieldsOf(type, types)?.values);
    const known = values.includes(value);
    return html`<select value=${known ? value : ''} onChange=${(e) => change(e.target.value)}>${!known && html`<option value="">${textOf(value) ?? 'choose'} (unknown)</option>`}${values.map((v) => html`<option key=${v} value=${v}>${v}</option>`)}</select>`;
  }
  const text = textOf(value);
  if (text === null) return html`<span class="bad-text">The JSON has another kind of value here: ${print(value, '').slice(0, 60)} <button type="button" class="small" onClick=${() => change(initial(type, types))}>Replace it</button></span>`;
  const read = (typed) => change(scalar(kind, type, typed));
  const attributes = {value: text, onInput: (e) => read(e.target.value), 'aria-invalid': value instanceof Invalid, spellcheck: false, autocomplete: 'off', placeholder: HINTS[kind] || ''};
  const date = kind === 'date' && (text === '' || /^\d{4}-\d\d-\d\d$/.test(text));
  const numeric = kind === 'integer' ? 'numeric' : kind === 'number' || kind === 'decimal' ? 'decimal' : null;
  if (large) return html`<textarea rows="4" ...${attributes}></textarea>`;
  return html`<input type=${date ? 'date' : 'text'} inputmode=${numeric} ...${attributes} />`;
}

function scalar(kind, type, text) {
  if (kind === 'integer') {
    if (!WHOLE.test(text.trim())) return new Invalid(text, 'not a whole number');
    const bits = BITS[simple(type.java || '')];
    if (bits && BigInt.asIntN(Number(bits), BigInt(text.trim())) !== BigInt(text.trim())) return new Invalid(text, `does not fit ${simple(type.java)}`);
    return new Num(text.trim());
  }
  if (kind === 'number' || kind === 'decimal') return NUMBER.test(text.trim()) ? new Num(text.trim()) : new Invalid(text, 'not a number');
  const [pattern, wanted] = PATTERNS[kind] || [];
  return pattern && !pattern.test(text) ? new Invalid(text, `not ${wanted}`) : text;
}
