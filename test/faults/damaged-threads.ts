/** A way to damage JSON: a sentence, and what is left. */
export interface Damage {
  what: string;
  text: string;
}

/** The text cut off after every `stride`-th byte. */
export function* truncations(text: string, stride = 1): Generator<Damage> {
  const bytes = Buffer.from(text);
  for (let length = 0; length < bytes.length; length += stride) {
    yield { what: `cut off after ${length} bytes`, text: bytes.subarray(0, length).toString() };
  }
}

/** The text with one bit of every `stride`-th byte flipped; which bit goes round. */
export function* flips(text: string, stride = 1): Generator<Damage> {
  const bytes = Buffer.from(text);
  for (let place = 0; place < bytes.length; place += stride) {
    const bit = (place / stride) % 8;
    const flipped = Buffer.from(bytes);
    flipped[place] = (bytes[place] ?? 0) ^ (1 << bit);
    yield { what: `bit ${bit} of byte ${place} flipped`, text: flipped.toString() };
  }
}

/** What a leaf may be made into: other kinds of values, edges of its own kind, and what looks like a thing of ours. */
const impostors: readonly [what: string, json: string][] = [
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '1795000000500'],
  ['minus one', '-1'],
  ['a half', '0.5'],
  ['an infinite number', '1e400'],
  ['an unsafe integer', '9007199254740993'],
  ['an empty text', '""'],
  ['another text', '"other"'],
  ['half a surrogate pair', '"\\ud800"'],
  ['a zero character', '"\\u0000"'],
  ['an empty list', '[]'],
  ['a list of null', '[null]'],
  ['an empty object', '{}'],
  ['a prototype', '{"__proto__":{"polluted":true}}'],
  ['a constructor', '{"constructor":{"prototype":{"polluted":true}}}'],
  ['bytes', '{"$bytes":"AQID"}'],
  ['bytes that are none', '{"$bytes":"%%%"}'],
  ['a URL that is none', '{"$url":"no url"}'],
  ['a URL of text', '{"$url":1}'],
];

const foreignKeys: readonly [key: string, json: string][] = [
  ['__proto__', '{"polluted":true}'],
  ['constructor', '{"prototype":{"polluted":true}}'],
  ['toString', '1'],
  ['toJSON', '"x"'],
  ['approved', 'true'],
  ['digest', '"x"'],
  ['snapshot', '"x"'],
  ['agent', '"other"'],
  ['step', '0'],
  ['place', '{"step":0,"index":0}'],
  ['toolCall', '{"toolCallId":"c9","toolName":"book","input":{"city":"Oslo"}}'],
  ['providerExecuted', 'true'],
  ['v', '1'],
  ['unknown', 'null'],
];

/** Where something stands in JSON. */
type Path = readonly (string | number)[];

/**
 * The JSON with one thing wrong: each value dropped, doubled, made something else, or exchanged for another value that
 * stands elsewhere; and each object with one more key.
 */
export function* mutations(text: string): Generator<Damage> {
  const root: unknown = JSON.parse(text);
  const places = [...placesOf(root, [])];
  const leaves = places.filter(({ value }) => typeof value !== 'object' || value === null);
  for (const [index, { path, value }] of places.entries()) {
    const where = path.join('.');
    yield { what: `${where} dropped`, text: rewritten(root, path, () => []) };
    if (typeof path.at(-1) === 'number') {
      yield { what: `${where} doubled`, text: rewritten(root, path, (own) => [own, own]) };
    }
    for (const [what, json] of impostors) {
      yield { what: `${where} is ${what}`, text: rewritten(root, path, () => [json]) };
    }
    const other = leaves[(index * 7 + 3) % leaves.length];
    const taken = JSON.stringify(other?.value ?? null);
    yield {
      what: `${where} is ${other?.path.join('.')}`,
      text: rewritten(root, path, () => [taken]),
    };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    for (const [key, json] of foreignKeys) {
      const add = (own: string): string[] => [withKey(own, key, json)];
      yield { what: `${where} has ${key}`, text: rewritten(root, path, add) };
    }
  }
}

function* placesOf(value: unknown, path: Path): Generator<{ path: Path; value: unknown }> {
  if (path.length > 0) yield { path, value };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    yield* placesOf(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

/** The JSON text of `value`, where what stands at `path` is written as `change` says: not at all, once, or twice. */
function rewritten(value: unknown, path: Path, change: (own: string) => readonly string[]): string {
  return written(value, path, change).join(',');
}

function written(
  value: unknown,
  [next, ...rest]: Path,
  change: (own: string) => readonly string[],
): readonly string[] {
  if (next === undefined) return change(JSON.stringify(value));
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value)];
  const isList = Array.isArray(value);
  const parts = Object.entries(value).flatMap(([key, item]) => {
    const texts = key === String(next) ? written(item, rest, change) : [JSON.stringify(item)];
    return isList ? texts : texts.map((part) => `${JSON.stringify(key)}:${part}`);
  });
  return [isList ? `[${parts.join(',')}]` : `{${parts.join(',')}}`];
}

function withKey(object: string, key: string, json: string): string {
  const entry = `${JSON.stringify(key)}:${json}`;
  return object === '{}' ? `{${entry}}` : `${object.slice(0, -1)},${entry}}`;
}
