import { adviseNearest } from '../content/check-settings.ts';

/* Read by `await` and by `JSON.stringify`. */
const readByLanguage = new Set(['then', 'toJSON']);
const maximumFields = 5;

/** Makes a view of a value that records which of its fields are read. */
export function watchReads<VALUE extends object>(
  value: VALUE,
  note: (field: string, value: VALUE) => void,
): VALUE {
  return new Proxy(value, {
    get: (target, name, receiver): unknown => {
      if (typeof name === 'string' && !readByLanguage.has(name)) note(name, target);
      return Reflect.get(target, name, receiver);
    },
  });
}

/** The fields that were read, at most five, without doubles. */
export class NotedFields {
  readonly #fields = new Set<string>();

  /** The fields so far, in the order in which they were read. */
  get all(): readonly string[] {
    return [...this.#fields];
  }

  /** Notes a field. */
  add(field: string): void {
    if (this.#fields.size < maximumFields) this.#fields.add(field);
  }
}

/** The names of fields, in quotation marks. */
export function quoteFieldNames(fields: readonly string[]): string {
  return fields.map((field) => JSON.stringify(field.slice(0, 100))).join(', ');
}

/** All names that a value of a union may have. */
export type NamesOf<VALUE> = VALUE extends unknown ? keyof VALUE : never;

/** Other names under which authors of rules look for the parts of a call. */
export const callNames = {
  args: 'input',
  arguments: 'input',
  parameters: 'input',
  name: 'toolName',
};

/** The names that a part of a function's parameters has. */
export interface PassedNames {
  /** The app's name for the part, such as `toolCall`. */
  part: string;
  /** Its names, whether they have a value or not. */
  names: object;
  /** Advice on where to find the meaning of other names, by name. */
  others?: Readonly<Record<string, string>>;
}

/**
 * Passes parameters to a function of the app, and records which names it reads that are not passed: `undefined`, the value of a wrong name,
 * must not decide.
 */
export class ParameterReads {
  readonly #problems = new Map<string, string>();

  /** The problem with the names that were read so far; `undefined` if there is none. */
  get problem(): string | undefined {
    return this.#problems.size === 0 ? undefined : [...this.#problems.values()].join(' ');
  }

  /** Makes a view of a part of the parameters whose reads are recorded. */
  watch<PART extends object>(part: PART, passed: PassedNames): PART {
    return watchReads(part, (name, target) => {
      if (!(name in target) && !Object.hasOwn(passed.names, name)) this.#note(name, passed);
    });
  }

  /** Notes a problem with what was read, once. */
  note(key: string, problem: string): void {
    if (this.#problems.size < maximumFields) this.#problems.set(key, problem);
  }

  #note(name: string, { part, names, others = {} }: PassedNames): void {
    const known = Object.hasOwn(others, name) ? others[name] : undefined;
    const advice = known === undefined ? adviseNearest(name, names) : `; did you mean '${known}'?`;
    const problem = `It reads ${quoteFieldNames([name])} of ${part}, which it doesn't get${advice}`;
    this.note(`${part}.${name}`, problem);
  }
}
