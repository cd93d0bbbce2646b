import { parseBase64, toBase64 } from './base64.ts';
import { type AnyObject, copyPlain, isObject } from './json-value.ts';
import { HoldpointError } from '../errors.ts';

/*
 * Messages may contain bytes and URLs, which JSON can't express. Each becomes an object with one key, its tag. The key of data that
 * resembles a tag gets one more `$`, so that no model or tool can forge one.
 */
const bytesTag = '$bytes';
const bufferTag = '$buffer';
const urlTag = '$url';
const looksTagged = /^\$+(?:bytes|buffer|url)$/;
const maximumDepth = 500;

/** The levels that an entry of the log or a snapshot adds to a value, so that an accepted value can be written. */
export const depthInLog = 20;

/**
 * A value as JSON: with tags if it contains bytes or URLs, otherwise the value itself. Throws a `TypeError` for a BigInt, and for a value
 * that is nested more than 500 deep or has a cycle; `depth` is its own depth. The objects of the value that can be frozen are added to
 * `parts`.
 */
export function toJson(value: unknown, depth = 0, parts?: object[]): unknown {
  return classifyForm(value, depth, parts) === tags ? tagValue(value) : value;
}

/** Copies a value into the form in which the log returns it, so that memory and store are equal. */
export function copyAsLogged<VALUE>(value: VALUE): VALUE;
export function copyAsLogged(value: unknown): unknown {
  const form = classifyForm(value, depthInLog);
  if (form === plain) return copyPlain(value);
  const json: unknown = JSON.parse(JSON.stringify(form === tags ? tagValue(value) : value));
  return form === tags ? parseTaggedJson(json) : json;
}

/*
 * The way in which a value is written as JSON. Plain: as it is. Lossy: as another value (a date, -0, NaN, a hole). Tags: it contains bytes
 * or URLs, or data that resembles a tag. The highest of its parts counts. This check spares most values a round trip through text.
 */
const plain = 0;
const lossy = 1;
const tags = 2;

function classifyForm(value: unknown, depth: number, parts?: object[]): number {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return plain;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? plain : lossy;
    case 'object':
      return isObject(value) ? classifyObject(value, depth, parts) : plain;
    case 'bigint':
      throw new TypeError("A BigInt can't be written as JSON.");
    default:
      return lossy;
  }
}

function classifyObject(value: AnyObject, depth: number, parts?: object[]): number {
  if (depth > maximumDepth)
    throw new TypeError(`The value is nested more than ${maximumDepth} deep, or has a cycle.`);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof URL)
    return tags;
  if (!ArrayBuffer.isView(value)) parts?.push(value);
  /* Every event passes here: reading a property, and `for … in`, are much faster than `in` and a list of values. */
  let form = value['toJSON'] === undefined ? plain : lossy;
  if (Array.isArray(value)) {
    for (const item of value) form = Math.max(form, classifyForm(item, depth + 1, parts));
    return form;
  }
  if (value[Symbol.iterator] !== undefined) form = lossy;
  for (const key in value) {
    const item = value[key];
    if (key[0] === '$' && looksTagged.test(key)) form = tags;
    /* JSON and `copyPlain` treat an undefined property as absent. */
    if (item !== undefined) form = Math.max(form, classifyForm(item, depth + 1, parts));
  }
  return form;
}

function tagValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return { [bytesTag]: toBase64(value) };
  if (value instanceof ArrayBuffer) return { [bufferTag]: toBase64(new Uint8Array(value)) };
  if (value instanceof URL) return { [urlTag]: value.href };
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return tagValue(JSON.parse(JSON.stringify(value)));
  if (Array.isArray(value)) return value.map(tagValue);
  const entries = Object.entries(value);
  const escape = entries.length === 1 && looksTagged.test(entries[0]?.[0] ?? '') ? '$' : '';
  return Object.fromEntries(entries.map(([key, item]) => [escape + key, tagValue(item)]));
}

/** The value that `toJson` wrote. Throws `log-tampered` for JSON that it never writes. */
export function parseTaggedJson(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maximumDepth) throw makeDamagedError(`nested more than ${maximumDepth} deep`);
  if (Array.isArray(value)) return value.map((item) => parseTaggedJson(item, depth + 1));
  const entries = Object.entries(value);
  const [key, item] = entries[0] ?? [];
  if (entries.length === 1 && key !== undefined && looksTagged.test(key)) {
    if (key.startsWith('$$')) return { [key.slice(1)]: parseTaggedJson(item, depth + 1) };
    return readTagged(key, item);
  }
  return Object.fromEntries(
    entries.map(([name, part]) => [name, parseTaggedJson(part, depth + 1)]),
  );
}

function readTagged(tag: string, text: unknown): unknown {
  try {
    if (tag === urlTag) return new URL(String(text));
    const bytes = parseBase64(String(text));
    return tag === bytesTag ? bytes : bytes.buffer;
  } catch {
    throw makeDamagedError(`tagged ${tag}, but is not valid`);
  }
}

function makeDamagedError(what: string): HoldpointError {
  return new HoldpointError('log-tampered', `The log has a value that is ${what}.`);
}
