import { copyPlain } from '../content/plain-copy.ts';
import type { RunContext } from './run-context.ts';
import { isUndeclared } from './schema-fields.ts';

/* Read by `await` and by `JSON.stringify`. */
const readByLanguage = new Set(['then', 'toJSON']);
const maximumFields = 5;

/**
 * Passes the input of a call to a function of the app, and notes which fields the function reads that neither the input nor the tool's input
 * schema has: usually a misspelled name, whose value `undefined` must not count as a small amount. In a run without its context, notes which
 * fields of that it reads.
 */
export class InputReads {
  readonly #schema: unknown;
  readonly #fields = new Set<string>();
  readonly #lacked = new Set<string>();

  constructor(inputSchema: unknown) {
    this.#schema = inputSchema;
  }

  /** The fields that were read so far and that nothing declares. */
  get undeclared(): readonly string[] {
    return [...this.#fields];
  }

  /** The fields of the context that were read so far and that the run lacks. */
  get lacked(): readonly string[] {
    return [...this.#lacked];
  }

  /** The context of a run; if it is not whole, its reads are noted. */
  watchedContext({ given = {}, isWhole }: RunContext): unknown {
    if (isWhole || typeof given !== 'object' || given === null) return given;
    return new Proxy(given, {
      get: (target, name): unknown => {
        const value: unknown = Reflect.get(target, name);
        if (value === undefined && isField(name) && this.#lacked.size < maximumFields) {
          this.#lacked.add(name);
        }
        return value;
      },
    });
  }

  /**
   * Calls a function with a copy of the input, as it must not change what is shown or what runs. `structuredClone` takes no proxy: a function
   * that fails because of that is called again with a plain copy.
   */
  during(input: unknown, call: (copy: unknown) => unknown): unknown {
    const callPlain = (error: unknown): unknown => {
      if (!(error instanceof Error) || error.name !== 'DataCloneError') throw error;
      return call(copyPlain(input));
    };
    try {
      const found = call(this.watched(input));
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
    return new Proxy(value, {
      get: (target, name, receiver): unknown => {
        if (isField(name) && !(name in target)) this.#note(target, path, name);
        return Reflect.get(target, name, receiver);
      },
    });
  }

  #note(target: object, path: readonly string[], name: string): void {
    if (this.#fields.size >= maximumFields) return;
    /* A list has items, and no fields. */
    const isWrong = Array.isArray(target)
      ? !/^\d+$/.test(name)
      : isUndeclared(this.#schema, path, name);
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
  { undeclared }: InputReads,
  toolName: string,
): string | undefined {
  if (undeclared.length === 0) return undefined;
  return `It reads ${quoteFieldNames(undeclared)}, which the input schema of tool '${toolName}' doesn't have.`;
}

function quoteFieldNames(fields: readonly string[]): string {
  return fields.map((field) => JSON.stringify(field.slice(0, 100))).join(', ');
}

function isField(name: string | symbol): name is string {
  return typeof name === 'string' && !readByLanguage.has(name);
}
