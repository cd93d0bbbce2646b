import { freezeDeep, isObject } from './json-value.ts';
import { isNoObject, resolveReference } from './declared-fields.ts';

/* In characters of JSON, about 1,500 names: each request has them in the log. */
const longestNames = 32 * 1024;

/**
 * Picks the part of a JSON Schema that lists the fields of an input, at any depth: a function may read these of the input of a request,
 * also if the tool is not known. `null` if it is longer than 32 Ki characters; `undefined` if it lists no fields.
 */
export function pickInputNames(inputSchema: unknown): unknown {
  return isObject(inputSchema) ? freezeDeep(new NamePicker(inputSchema).pickAll()) : undefined;
}

/* The keywords of a JSON Schema that describe fields, by the kind of their values. */
const references = new Set(['$ref', '$dynamicRef']);
const otherFields = new Set(['additionalProperties', 'unevaluatedProperties']);
const byName = new Set(['properties', 'dependentSchemas']);
const alternatives = ['anyOf', 'oneOf', 'if', 'then', 'else'];
const listItems = ['items', 'prefixItems', 'additionalItems'];
const subschemas = new Set(['allOf', ...alternatives, ...listItems]);

class NamePicker {
  readonly #root: object;
  /** The names of references here, and their targets. */
  readonly #names = new Map<unknown, string>();
  readonly #definitions: [name: string, schema: unknown][] = [];
  #size = 0;

  constructor(root: object) {
    this.#root = root;
  }

  pickAll(): unknown {
    const picked = this.#pick(this.#root);
    const names = isObject(picked) ? picked : {};
    const $defs = Object.fromEntries(this.#definitions);
    const all = { ...names, ...(this.#definitions.length > 0 && { $defs }) };
    if (this.#isTooLong() || JSON.stringify(all).length > longestNames) return null;
    return Object.keys(all).length === 0 ? undefined : all;
  }

  /* The target of a reference may be longer than the schema. */
  #isTooLong(): boolean {
    return this.#size > longestNames;
  }

  /** Picks a schema that only has names; `false` for a value without fields. */
  #pick(schema: unknown): unknown {
    this.#size += 1;
    if (!isObject(schema) || this.#isTooLong()) return schema !== false;
    const parts = Object.entries(schema).flatMap(([keyword, value]) => {
      const part = this.#pickPart(keyword, value);
      return part === undefined ? [] : [[keyword, part] as const];
    });
    if (!isNoObject(schema)) return Object.fromEntries(parts);
    return parts.length === 0 ? false : { type: 'array', ...Object.fromEntries(parts) };
  }

  /** The part of a keyword that is about fields; `undefined` if there is none. */
  #pickPart(keyword: string, value: unknown): unknown {
    if (references.has(keyword)) return this.#pickReferred(value);
    if (otherFields.has(keyword)) return value === false ? false : this.#pick(value) || true;
    if (byName.has(keyword)) {
      const fields = Object.entries(value ?? {});
      return Object.fromEntries(fields.map(([name, field]) => [name, this.#pick(field)]));
    }
    if (keyword === 'patternProperties') return {};
    if (!subschemas.has(keyword)) return undefined;
    return Array.isArray(value) ? value.map((each) => this.#pick(each)) : this.#pick(value);
  }

  #pickReferred(reference: unknown): unknown {
    if (reference === '#') return reference;
    let name = this.#names.get(reference);
    if (name === undefined) {
      name = String(this.#names.size);
      this.#names.set(reference, name);
      this.#definitions.push([name, this.#pick(resolveReference(reference, this.#root))]);
    }
    return `#/$defs/${name}`;
  }
}
