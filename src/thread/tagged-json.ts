import { fromBase64, toBase64 } from '../content/base64.ts';
import { plainCopy } from '../content/plain-copy.ts';
import { HoldpointError } from '../errors.ts';

/*
 * Bytes and URLs, which messages may hold and JSON can't. Each becomes an object of one tagged key; data of the same
 * look gets one more `$`, so that no model or tool can write a tag.
 */
const bytesTag = '$bytes';
const bufferTag = '$buffer';
const urlTag = '$url';
const looksTagged = /^\$+(?:bytes|buffer|url)$/;
const maximumDepth = 500;

/**
 * What JSON can say of a value: tagged where it holds bytes or URLs, the same value where it holds none.
 * Throws a `TypeError` for a BigInt and for what is nested 500 deep, cycles included.
 */
export function toJson(value: unknown): unknown {
  return formOf(value, 0) === tags ? tagged(value) : value;
}

/** A copy of a value as it comes back from the log: what is in memory is then what is stored. */
export function jsonCopy<VALUE>(value: VALUE): VALUE {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is the decoder of what is encoded here.
  return decodedCopy(value) as VALUE;
}

function decodedCopy(value: unknown): unknown {
  const form = formOf(value, 0);
  if (form === plain) return plainCopy(value);
  const json: unknown = JSON.parse(JSON.stringify(form === tags ? tagged(value) : value));
  return form === tags ? fromJson(json) : json;
}

/*
 * What it takes to say a value in JSON, the most that a part of it takes. Plain: JSON says just this. Lossy: JSON says
 * something else (for a date, -0, NaN, a hole). Tagged: it holds bytes or URLs, or looks as if it did. One look, which makes
 * nothing, spares most values a round trip through text.
 */
const plain = 0;
const lossy = 1;
const tags = 2;

function formOf(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return plain;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? plain : lossy;
    case 'object':
      return value === null ? plain : formOfObject(value, depth);
    case 'bigint':
      throw new TypeError('JSON has no BigInt.');
    default:
      return lossy;
  }
}

function formOfObject(value: object, depth: number): number {
  if (depth > maximumDepth) throw new TypeError(`Nested more than ${maximumDepth} deep.`);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer || value instanceof URL)
    return tags;
  const keys = Object.keys(value);
  const isList = Array.isArray(value);
  let form = isList ? listForm(value, keys) : objectForm(value, keys);
  for (const item of Object.values(value)) {
    /* An absent property and an undefined one are the same to JSON, and to `plainCopy`. */
    if (item !== undefined || isList) form = Math.max(form, formOf(item, depth + 1));
  }
  return form;
}

function listForm(list: readonly unknown[], keys: readonly string[]): number {
  return keys.length === list.length ? plain : lossy;
}

function objectForm(value: object, keys: readonly string[]): number {
  if (keys.length === 1 && looksTagged.test(keys[0] ?? '')) return tags;
  return 'toJSON' in value || Symbol.iterator in value ? lossy : plain;
}

function tagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return { [bytesTag]: toBase64(value) };
  if (value instanceof ArrayBuffer) return { [bufferTag]: toBase64(new Uint8Array(value)) };
  if (value instanceof URL) return { [urlTag]: value.href };
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return tagged(JSON.parse(JSON.stringify(value)));
  if (Array.isArray(value)) return value.map(tagged);
  const entries = Object.entries(value);
  const escape = entries.length === 1 && looksTagged.test(entries[0]?.[0] ?? '') ? '$' : '';
  return Object.fromEntries(entries.map(([key, item]) => [escape + key, tagged(item)]));
}

/** The value that `toJson` said. Throws `log-tampered` for what it never says. */
export function fromJson(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > maximumDepth) throw damaged(`nested more than ${maximumDepth} deep`);
  if (Array.isArray(value)) return value.map((item) => fromJson(item, depth + 1));
  const entries = Object.entries(value);
  const [key, item] = entries[0] ?? [];
  if (entries.length === 1 && key !== undefined && looksTagged.test(key)) {
    if (key.startsWith('$$')) return { [key.slice(1)]: fromJson(item, depth + 1) };
    return untag(key, item);
  }
  return Object.fromEntries(entries.map(([name, part]) => [name, fromJson(part, depth + 1)]));
}

function untag(tag: string, text: unknown): unknown {
  try {
    if (tag === urlTag) return new URL(String(text));
    const bytes = fromBase64(String(text));
    return tag === bytesTag ? bytes : bytes.buffer;
  } catch {
    throw damaged(`tagged ${tag}, and is none`);
  }
}

function damaged(what: string): HoldpointError {
  return new HoldpointError('log-tampered', `The log holds something that is ${what}.`);
}
