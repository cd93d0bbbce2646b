import { isUndeclared } from '../json/declared-fields.ts';
import { type JsonTypes, listUnshown } from '../json/json-form.ts';
import { copyPlain } from '../json/json-value.ts';
import type { RunContext } from './run-context.ts';
import { NotedFields, quoteFieldNames, watchReads } from './watched-reads.ts';

/**
 * Passes the input of a call to a function of the app, and records which fields the function reads that neither the input nor the tool's
 * input schema has: usually a misspelled name, whose value `undefined` must not count as a small amount. In a run without its context, it
 * also records which fields of the context are read.
 */
export class InputReads {
  readonly #schema: unknown;
  readonly #fields = new NotedFields();
  readonly #lacked = new NotedFields();
  /** The fields on the way to values that have no JSON form, each with the path of one. A model may have written a hundred thousand. */
  readonly #unshown = new Map<string, string>();
  readonly #readUnshown = new NotedFields();

  /** `null` for an unknown schema: only fields that the input has may be read. */
  constructor(inputSchema: unknown, types?: JsonTypes) {
    this.#schema = inputSchema;
    for (const { path } of listUnshown(types)) {
      const names = path.split('.');
      for (const end of names.keys()) this.#unshown.set(names.slice(0, end + 1).join('.'), path);
    }
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

  /** The fields that were read so far and whose values have no JSON form. */
  get unshown(): readonly string[] {
    return this.#readUnshown.all;
  }

  /** Returns the context of a run; if it is not whole, its reads are recorded. */
  watchedContext({ given = {}, isWhole }: RunContext): unknown {
    if (isWhole || typeof given !== 'object' || given === null) return given;
    return watchReads(given, (name, context) => {
      if (Reflect.get(context, name) === undefined) this.#lacked.add(name);
    });
  }

  /**
   * Calls a function with a copy of the input, as it must not change the shown or the running one. `structuredClone` takes no proxy: a
   * function that fails because of that is called again with a plain copy, and must get nothing else that is watched.
   */
  during(input: unknown, call: (copy: unknown, isWatched: boolean) => unknown): unknown {
    const callPlain = (error: unknown): unknown => {
      if (!(error instanceof Error) || error.name !== 'DataCloneError') throw error;
      for (const path of this.#unshown.values()) this.#readUnshown.add(path);
      return call(copyPlain(input), false);
    };
    try {
      const found = call(this.watched(input), true);
      return found instanceof Promise ? found.catch(callPlain) : found;
    } catch (error) {
      return callPlain(error);
    }
  }

  /** Makes a copy of the input whose reads are recorded. */
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
      if (this.#unshown.size > 0) this.#noteUnshown([...path, name].join('.'));
    });
  }

  /* The whole of an input may have no form: its path is empty. */
  #noteUnshown(read: string): void {
    const path = this.#unshown.get(read) ?? this.#unshown.get('');
    if (path !== undefined) this.#readUnshown.add(path);
  }

  #note(target: object, path: readonly string[], name: string): void {
    /* A list has items, and no fields. */
    const isWrong = Array.isArray(target)
      ? !/^\d+$/.test(name)
      : !this.isSchemaKnown || isUndeclared(this.#schema, path, name);
    if (isWrong) this.#fields.add([...path, name].join('.'));
  }
}

/** Describes why a function's result can't be relied on in a run without its context; `undefined` if it reads nothing of the context. */
export function describeLacked({ lacked }: InputReads): string | undefined {
  if (lacked.length === 0) return undefined;
  return `The approval rule reads ${quoteFieldNames(lacked)} of runtimeContext, which this run doesn't have.`;
}

/** Describes undeclared fields that were read; `undefined` if there are none. */
export function describeUndeclared(
  { undeclared, unshown, isSchemaKnown }: InputReads,
  toolName: string,
): string | undefined {
  if (unshown.length > 0)
    return `It reads ${quoteFieldNames(unshown)} of the input of tool '${toolName}', whose value JSON has no form for.`;
  if (undeclared.length === 0) return undefined;
  const where = isSchemaKnown
    ? `the input schema of tool '${toolName}' doesn't have`
    : `this input doesn't have, and tool '${toolName}' names too many fields to keep them with the request; ask with 'in' first`;
  return `It reads ${quoteFieldNames(undeclared)}, which ${where}.`;
}

/** Describes the mistake of a list of fields that names some which the input's schema does not have; `undefined` if there is none. */
export function describeUnknownFields(
  fields: readonly string[],
  inputSchema: unknown,
  toolName: string,
): string | undefined {
  const unknown = fields.filter((field) => isUndeclared(inputSchema, [], field));
  if (unknown.length === 0) return undefined;
  return `It names ${quoteFieldNames(unknown)}, which the input schema of tool '${toolName}' doesn't have.`;
}
