import { copyPlain, isObject } from '../content/json-value.ts';
import type { RunContext } from './run-context.ts';
import { NotedFields, quoteFieldNames, watchReads } from './watched-reads.ts';

/**
 * Passes the input of a call to a function of the app, and notes which fields the function reads that neither the input nor the tool's input
 * schema has: usually a misspelled name, whose value `undefined` must not count as a small amount. In a run without its context, notes which
 * fields of that it reads.
 */
export class InputReads {
  readonly #schema: unknown;
  readonly #fields = new NotedFields();
  readonly #lacked = new NotedFields();

  /** `null` for a schema that is not known: nothing but what the input has may be read. */
  constructor(inputSchema: unknown) {
    this.#schema = inputSchema;
  }

  get isSchemaKnown(): boolean {
    return this.#schema !== null;
  }

  /** The fields that were read so far and that nothing declares. */
  get undeclared(): readonly string[] {
    return this.#fields.all;
  }

  /** The fields of the context that were read so far and that the run lacks. */
  get lacked(): readonly string[] {
    return this.#lacked.all;
  }

  /** The context of a run; if it is not whole, its reads are noted. */
  watchedContext({ given = {}, isWhole }: RunContext): unknown {
    if (isWhole || typeof given !== 'object' || given === null) return given;
    return watchReads(given, (name, context) => {
      if (Reflect.get(context, name) === undefined) this.#lacked.add(name);
    });
  }

  /**
   * Calls a function with a copy of the input, as it must not change what is shown or what runs. `structuredClone` takes no proxy: a function
   * that fails because of that is called again with a plain copy, and must get nothing else that is watched.
   */
  during(input: unknown, call: (copy: unknown, isWatched: boolean) => unknown): unknown {
    const callPlain = (error: unknown): unknown => {
      if (!(error instanceof Error) || error.name !== 'DataCloneError') throw error;
      return call(copyPlain(input), false);
    };
    try {
      const found = call(this.watched(input), true);
      return found instanceof Promise ? found.catch(callPlain) : found;
    } catch (error) {
      return callPlain(error);
    }
  }

  /** A copy of the input whose reads are noted. */
  watched(input: unknown): unknown {
    return this.#watch(copyPlain(input), []);
  }

  #watch(value: unknown, path: readonly string[]): unknown {
    if (typeof value !== 'object' || value === null) return value;
    for (const [name, item] of Object.entries(value)) {
      if (typeof item === 'object') Reflect.set(value, name, this.#watch(item, [...path, name]));
    }
    return watchReads(value, (name) => {
      if (!(name in value)) this.#note(value, path, name);
    });
  }

  #note(target: object, path: readonly string[], name: string): void {
    /* A list has items, and no fields. */
    const isWrong = Array.isArray(target)
      ? !/^\d+$/.test(name)
      : !this.isSchemaKnown || isUndeclared(this.#schema, path, name);
    if (isWrong) this.#fields.add([...path, name].join('.'));
  }
}

/** Why what a function says can't be relied on in a run without its context; `undefined` if it reads nothing of it. */
export function describeLacked({ lacked }: InputReads): string | undefined {
  if (lacked.length === 0) return undefined;
  return `The approval rule reads ${quoteFieldNames(lacked)} of runtimeContext, which this run doesn't have.`;
}

/** What is wrong with the fields that were read; `undefined` if nothing is. */
export function describeUndeclared(
  { undeclared, isSchemaKnown }: InputReads,
  toolName: string,
): string | undefined {
  if (undeclared.length === 0) return undefined;
  const where = isSchemaKnown
    ? `the input schema of tool '${toolName}' doesn't have`
    : `this input doesn't have, and tool '${toolName}' names too many fields to keep them with the request; ask with 'in' first`;
  return `It reads ${quoteFieldNames(undeclared)}, which ${where}.`;
}

/** Why a list of fields is mistaken: it names some that the schema of the input does not have. `undefined` if it is not. */
export function describeUnknownFields(
  fields: readonly string[],
  inputSchema: unknown,
  toolName: string,
): string | undefined {
  const unknown = fields.filter((field) => isUndeclared(inputSchema, [], field));
  if (unknown.length === 0) return undefined;
  return `It names ${quoteFieldNames(unknown)}, which the input schema of tool '${toolName}' doesn't have.`;
}

/**
 * Whether a JSON Schema lists the fields of the object at a path, and this one is not among them. Where the schema leaves other fields open,
 * or can't be followed, no field is undeclared.
 */
function isUndeclared(schema: unknown, path: readonly string[], field: string): boolean {
  let places = listComposedSchemas([schema], schema);
  for (const segment of path) {
    const values = places.flatMap((place) => listFieldSchemas(place, segment));
    places = listComposedSchemas(values, schema);
  }
  return places.some(listsFields) && places.every((place) => !allowsField(place, field));
}

/** The schemas, and those that they are composed of; `true` for what takes anything. Each is followed once, as a schema may contain itself. */
function listComposedSchemas(
  schemas: readonly unknown[],
  root: unknown,
  seen = new Set(),
): unknown[] {
  return schemas.flatMap((schema): unknown[] => {
    if (seen.has(schema)) return [];
    if (!isObject(schema)) return [schema];
    seen.add(schema);
    const all = [
      ...toList(readKeyword(schema, 'allOf')),
      ...['if', 'then', 'else'].map((name) => readKeyword(schema, name)).filter(isObject),
      ...listValues(readKeyword(schema, 'dependentSchemas')),
      ...resolveSchemaReference(schema, root),
    ];
    const either = ['anyOf', 'oneOf'].flatMap((name) => toList(readKeyword(schema, name)));
    return [
      schema,
      ...listComposedSchemas(all, root, seen),
      ...either.flatMap((one) => {
        const parts = listComposedSchemas([one], root, seen);
        /* An alternative that lists nothing takes any field. */
        return parts.some(isNoObject) || parts.some(listsFields) ? parts : [true];
      }),
    ];
  });
}

function resolveSchemaReference(schema: object, root: unknown): unknown[] {
  const reference = readKeyword(schema, '$ref') ?? readKeyword(schema, '$dynamicRef');
  return reference === undefined ? [] : [resolveReference(reference, root)];
}

/** Where a reference leads: `true` if that is not in the same document. */
export function resolveReference(reference: unknown, root: unknown): unknown {
  if (reference === '#') return root;
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return true;
  let found: unknown = root;
  for (const segment of reference.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) ? readKeyword(found, name) : undefined;
  }
  return found ?? true;
}

function listsFields(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const isListed = Object.keys(readKeyword(schema, 'properties') ?? {}).length > 0;
  return isListed || readKeyword(schema, 'additionalProperties') === false;
}

/** Whether a schema takes no object. */
export function isNoObject(schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  if (readKeyword(schema, 'const') !== undefined || readKeyword(schema, 'enum') !== undefined)
    return true;
  const types = [readKeyword(schema, 'type')].flat();
  return !types.includes(undefined) && !types.includes('object');
}

function allowsField(schema: unknown, field: string): boolean {
  if (!isObject(schema)) return schema !== false;
  const others = ['additionalProperties', 'unevaluatedProperties', 'patternProperties'];
  return (
    Object.hasOwn(readKeyword(schema, 'properties') ?? {}, field) ||
    others.some((name) => (readKeyword(schema, name) ?? false) !== false)
  );
}

/** The schemas of a field, or of the items, of a value. */
function listFieldSchemas(schema: unknown, segment: string): unknown[] {
  if (!isObject(schema)) return [];
  const properties = readKeyword(schema, 'properties');
  if (isObject(properties) && Object.hasOwn(properties, segment)) {
    return [readKeyword(properties, segment)];
  }
  const names = ['additionalProperties', 'prefixItems', 'items', 'additionalItems'];
  const open = readKeyword(schema, 'patternProperties') === undefined ? [] : [true];
  return [...names.flatMap((name) => readKeyword(schema, name)), ...open].filter(
    (value) => value !== undefined,
  );
}

function listValues(value: unknown): unknown[] {
  return isObject(value) ? Object.values(value) : [];
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The own value of a keyword: a schema may come from elsewhere, and a field may be called `constructor`. */
function readKeyword(schema: object, name: string): unknown {
  return Object.hasOwn(schema, name) ? Reflect.get(schema, name) : undefined;
}
