import { isObject } from '../json/json-value.ts';
import type { QuestionField } from '../content/question.ts';
import { changeHistory, type HistoryChange } from '../content/request-history.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { FormattedPath } from './field-format.ts';

/** The mask of a secret. It doesn't reveal the length. */
const mask = '••••••';

/* A shorter text is only a secret as a separate word: inside another word it is chance. */
const shortest = 4;

const endsWord = /[\p{L}\p{N}]$/u;
const beginsWord = /^[\p{L}\p{N}]/u;

/** A text or value without its secrets, and where they were. */
export interface Masked<VALUE> {
  value: VALUE;
  /** The paths of the masked arguments. */
  masked: string[][];
}

/** The parts of a call that must not leave the server. */
export class Secrets {
  readonly #texts: ReadonlySet<string>;
  readonly #finder: TextFinder;
  readonly #short: ReadonlySet<string>;
  readonly #paths: SecretPaths;

  /** The secrets of these inputs of one call: as it was asked, and as it was edited. */
  constructor(formats: readonly FormattedPath[], inputs: readonly unknown[]) {
    const paths = formats.filter(({ format }) => format.type === 'secret').map(({ path }) => path);
    this.#paths = makeSecretPaths(paths);
    const values = inputs.flatMap((input) => paths.flatMap((path) => readAt(input, path)));
    const texts = values.flatMap(listTexts).filter((text) => text.trim() !== '');
    /* Texts quote values as JSON and in URLs too. */
    this.#texts = new Set(
      texts.flatMap((text) => [
        text,
        JSON.stringify(text).slice(1, -1),
        encodeURIComponent(text.toWellFormed()),
      ]),
    );
    const long = [...this.#texts].filter((text) => text.length >= shortest);
    this.#finder = new TextFinder(long);
    this.#short = this.#texts.size === long.length ? new Set() : this.#texts;
  }

  /** True if there is nothing to mask in texts. */
  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  /** A text without the secrets that it quotes. */
  maskText(text: string): string {
    if (this.isEmpty) return text;
    const pieces: string[] = [];
    let end = 0;
    for (const found of this.#finder.find(text)) {
      pieces.push(text.slice(end, found.start), mask);
      ({ end } = found);
    }
    return maskWords(pieces.join('') + text.slice(end), this.#short);
  }

  /** An input without its secrets. An argument that quotes one is masked whole, and counted. */
  maskInput(input: unknown): Masked<unknown> {
    const masked: string[][] = [];
    if (this.#paths.next.size === 0 && !this.#paths.isSecret) return { value: input, masked };
    const value = this.#maskAt(input, [], [this.#paths], masked);
    return { value, masked };
  }

  /** Any value with its texts masked, such as metadata. */
  maskTexts(value: unknown): unknown {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return this.maskText(value);
    if (typeof value === 'number' || typeof value === 'bigint') {
      return this.#texts.has(String(value)) ? mask : value;
    }
    if (Array.isArray(value)) return value.map((part) => this.maskTexts(part));
    return isObject(value) ? this.maskRecord(value) : value;
  }

  /** Masks the texts of an object, such as metadata. */
  maskRecord(record: object): Record<string, unknown> {
    const names = this.#maskNames(record);
    return Object.fromEntries(
      Object.entries(record).map(([key, part]) => [names.get(key) ?? mask, this.maskTexts(part)]),
    );
  }

  #maskAt(
    value: unknown,
    path: string[],
    secret: readonly SecretPaths[],
    masked: string[][],
  ): unknown {
    if (secret.some(({ isSecret }) => isSecret)) {
      /* An absent value is not masked, and shows that there is no secret. */
      if (value === undefined || value === null) return value;
      masked.push(path);
      return mask;
    }
    if (!isObject(value)) {
      const shown = this.maskTexts(value);
      if (shown !== value) masked.push(path);
      return shown === value ? value : mask;
    }
    if (Array.isArray(value)) {
      return value.map((part, at) => {
        const key = String(at);
        return this.#maskAt(part, [...path, key], stepInto(secret, key), masked);
      });
    }
    const names = this.#maskNames(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => {
        const name = names.get(key) ?? mask;
        return [name, this.#maskAt(part, [...path, name], stepInto(secret, key), masked)];
      }),
    );
  }

  /** Masks the names in an object. Two that are masked stay two, or one would hide the other. */
  #maskNames(record: object): Map<string, string> {
    const names = new Map(Object.keys(record).map((key) => [key, this.maskText(key)]));
    const taken = new Set([...names.keys()].filter((key) => names.get(key) === key));
    const counts = new Map<string, number>();
    for (const [key, name] of names) {
      if (name === key) continue;
      let own = name;
      let count = counts.get(name) ?? 1;
      while (taken.has(own)) {
        count += 1;
        own = `${name} ${count}`;
      }
      counts.set(name, count);
      taken.add(own);
      names.set(key, own);
    }
    return names;
  }
}

/** Paths to secrets, as a tree: whether one ends here, and the longer ones. */
interface SecretPaths {
  isSecret: boolean;
  next: Map<string, SecretPaths>;
}

function makeSecretPaths(paths: readonly (readonly string[])[]): SecretPaths {
  const root: SecretPaths = { isSecret: false, next: new Map() };
  for (const path of paths) {
    let end = root;
    for (const key of path) {
      const next = end.next.get(key) ?? { isSecret: false, next: new Map() };
      end.next.set(key, next);
      end = next;
    }
    end.isSecret = true;
  }
  return root;
}

function stepInto(paths: readonly SecretPaths[], key: string): SecretPaths[] {
  const names = new Set([key, '*']);
  return paths.flatMap(({ next }) => [...names].flatMap((name) => next.get(name) ?? []));
}

/** The values at a path, in which `*` stands for each item or property. */
export function readAt(value: unknown, path: readonly string[]): unknown[] {
  const [key, ...rest] = path;
  if (key === undefined) return [value];
  if (!isObject(value)) return [];
  if (key === '*') return Object.values(value).flatMap((part) => readAt(part, rest));
  return Object.hasOwn(value, key) ? readAt(value[key], rest) : [];
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)];
  return isObject(value) ? Object.values(value).flatMap(listTexts) : [];
}

/** Masks the short secrets of a text, where they stand by themselves. */
function maskWords(text: string, secrets: ReadonlySet<string>): string {
  if (secrets.size === 0) return text;
  let masked = '';
  for (let at = 0; at < text.length;) {
    const length = [3, 2, 1].find(
      (each) => secrets.has(text.slice(at, at + each)) && standsAlone(text, at, at + each),
    );
    masked += length === undefined ? text[at] : mask;
    at += length ?? 1;
  }
  return masked;
}

/* A character may be two code units. */
function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !endsWord.test(text.slice(Math.max(0, start - 2), start)) &&
    !beginsWord.test(text.slice(end, end + 2))
  );
}

/**
 * Masks the secrets of a request. Its digest would let others guess them, since everything else that it covers is known: it is replaced by
 * `digest`, which is made from what is shown.
 */
export function maskRequest(
  request: UserInputRequest,
  secrets: Secrets,
  digest: string,
): Masked<UserInputRequest> {
  const { toolCall } = request;
  const { value: input, masked: maskedNow } = secrets.maskInput(toolCall?.input);
  const call = toolCall === undefined ? {} : { toolCall: { ...toolCall, input } };
  const text = secrets.maskText(request.text);
  if (request.type === 'question-request') {
    const fields = request.fields.map((field) => maskField(field, secrets));
    const { metadata } = request;
    const more = metadata && { metadata: secrets.maskRecord(metadata) };
    return { value: { ...request, ...call, text, fields, ...more }, masked: maskedNow };
  }
  const { reason, metadata, inputSchema: _schema, ...plain } = request;
  const original = secrets.maskInput(request.edit?.original.input);
  const shown: UserInputRequest = {
    ...plain,
    ...call,
    text,
    digest,
    ...(reason === undefined ? {} : { reason: secrets.maskText(reason) }),
    ...(metadata && { metadata: secrets.maskRecord(metadata) }),
    ...changeHistory(request, maskedHistory, { secrets, original: original.value }),
  };
  /* An edit may have taken a secret away, and still quotes it. */
  return { value: shown, masked: joinPaths(maskedNow, original.masked) };
}

/* Masks the secrets in people's acts on a request. */
const maskedHistory: HistoryChange<{ secrets: Secrets; original: unknown }> = {
  votes: (votes, { secrets }) =>
    votes.map((vote) =>
      vote.reason === undefined ? vote : { ...vote, reason: secrets.maskText(vote.reason) },
    ),
  reassignments: (reassignments) => reassignments,
  edit: ({ original: { text }, patches, ...edit }, { secrets, original }) => ({
    ...edit,
    original: {
      input: original,
      text: secrets.maskText(text),
      digest: mask,
    },
    /* The two inputs show the change. A patch may have a secret without its path. */
    patches: patches.map(({ op, path }) => ({
      op,
      path: path.map((part) => (typeof part === 'string' ? secrets.maskText(part) : part)),
    })),
  }),
  wasEdited: (wasEdited) => wasEdited,
};

function joinPaths(...paths: readonly string[][][]): string[][] {
  return [...new Map(paths.flat().map((path) => [JSON.stringify(path), path])).values()];
}

/* Ids and keys are what an answer names. */
function maskField(field: QuestionField, secrets: Secrets): QuestionField {
  const options = field.options.map(({ label, description, ...option }) => ({
    ...option,
    label: secrets.maskText(label),
    ...(description === undefined ? {} : { description: secrets.maskText(description) }),
  }));
  const { schema } = field;
  const suggested = schema?.type === 'string' ? schema.default : undefined;
  return {
    ...field,
    label: secrets.maskText(field.label),
    options,
    ...(schema?.type === 'string' &&
      suggested !== undefined && {
        schema: { ...schema, default: secrets.maskText(suggested) },
      }),
  };
}

/** The place of a quoted text: from `start` up to `end`. */
interface FoundText {
  start: number;
  end: number;
}

/**
 * Finds texts in other texts in one pass, however many they are (Aho and Corasick): what is found where they overlap is found as one piece.
 */
class TextFinder {
  /** The state after a state and a character. State 0 has read nothing of any text. */
  readonly #next = new Map<number, number>();
  /** The state of the longest shorter ending that begins a text too, for each state. */
  readonly #shorter: number[] = [0];
  /** The length of the longest text that each state ends with; 0 for none. */
  readonly #length: number[] = [0];

  constructor(texts: Iterable<string>) {
    const states: { from: number; code: number }[] = [{ from: 0, code: 0 }];
    const depths: number[] = [0];
    for (const text of texts) {
      let state = 0;
      for (let at = 0; at < text.length; at += 1) {
        const key = makeKey(state, text.charCodeAt(at));
        let next = this.#next.get(key);
        if (next === undefined) {
          next = states.push({ from: state, code: text.charCodeAt(at) }) - 1;
          depths.push(at + 1);
          this.#shorter.push(0);
          this.#length.push(0);
          this.#next.set(key, next);
        }
        state = next;
      }
      this.#length[state] = text.length;
    }
    this.#link(states, depths);
  }

  /* A shorter ending has a smaller depth, so states are linked by depth. */
  #link(states: readonly { from: number; code: number }[], depths: readonly number[]): void {
    const byDepth = [...Map.groupBy(depths.keys(), (state) => depths[state] ?? 0)];
    for (const [depth, group] of byDepth.toSorted(([one], [other]) => one - other)) {
      for (const state of group) {
        const { from, code } = states[state] ?? { from: 0, code: 0 };
        const shorter = depth <= 1 ? 0 : this.#step(this.#shorter[from] ?? 0, code);
        this.#shorter[state] = shorter;
        this.#length[state] ||= this.#length[shorter] ?? 0;
      }
    }
  }

  #step(from: number, code: number): number {
    for (let state = from; ; state = this.#shorter[state] ?? 0) {
      const next = this.#next.get(makeKey(state, code));
      if (next !== undefined) return next;
      if (state === 0) return 0;
    }
  }

  find(text: string): FoundText[] {
    const found: FoundText[] = [];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = this.#step(state, text.charCodeAt(at));
      const length = this.#length[state] ?? 0;
      if (length === 0) continue;
      const end = at + 1;
      let start = end - length;
      /* A longer one may cover several that were found before it. */
      for (let last = found.at(-1); last !== undefined && last.end > start; last = found.at(-1)) {
        start = Math.min(start, last.start);
        found.pop();
      }
      found.push({ start, end });
    }
    return found;
  }
}

function makeKey(state: number, code: number): number {
  return state * 65_536 + code;
}
