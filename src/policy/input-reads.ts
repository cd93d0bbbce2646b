import { isUndeclared } from '../json/declared-fields.ts';
import { copyPlain } from '../json/json-value.ts';
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
