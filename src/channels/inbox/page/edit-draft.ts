import { inertLine } from '../../../content/inert-text.ts';
import { isObject } from '../../../json/json-value.ts';
import type { InboxEntry } from '../inbox-api.ts';
import { isMasked, isNamed } from './argument-path.ts';
import { isSameJson, readOwn } from './compare-values.ts';
import { pickApproval } from './request-words.ts';

/** What a person has entered in the fields of an edit, and the input that it makes. */
export interface EditDraft {
  /** What was entered, by the name of the field. Fields that nobody has touched are not in it. */
  entered: ReadonlyMap<string, EnteredValue>;
  /** The whole input to approve instead; absent if nothing differs, or something is faulty. */
  input?: unknown;
  /** The names of the fields that can't be read. While there are any, nothing can be approved. */
  faults: readonly string[];
}

/** What was entered in a field: a text, or that there is none. */
export interface EnteredValue {
  is: 'value' | 'null' | 'absent';
  text: string;
}

/** A field of an edit, as the tool's schema or its present value says. */
export interface EditField {
  /** Empty for the whole input. */
  name: string;
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';
  /** Of a choice: its values. */
  choices: readonly unknown[];
  /** The app's words about it. */
  description?: string;
  /** Whether the schema takes it left out, and as `null`. */
  mayBe: readonly ('null' | 'absent')[];
  current?: { value: unknown };
}

/** A draft that a form has made, as it comes back from who kept it. */
export function readEditDraft(draft: unknown): EditDraft | undefined {
  return isEditDraft(draft) ? draft : undefined;
}

function isEditDraft(draft: unknown): draft is EditDraft {
  return isObject(draft) && draft['entered'] instanceof Map && Array.isArray(draft['faults']);
}

/** The fields of a request that may be edited. */
export function listEditFields(entry: InboxEntry): EditField[] {
  const { editable, toolCall, inputSchema } = pickApproval(entry) ?? {};
  if (editable === undefined || toolCall === undefined) return [];
  const { input } = toolCall;
  if (!isNamed(input)) return [makeField('', { schema: inputSchema, current: { value: input } })];
  const properties = isNamed(inputSchema) ? inputSchema['properties'] : undefined;
  const schemas = isNamed(properties) ? properties : {};
  const required = isNamed(inputSchema) ? inputSchema['required'] : [];
  const known = [...new Set([...Object.keys(input), ...Object.keys(schemas)])];
  return known
    .filter((name) => editable === true || editable.includes(name))
    .filter((name) => !isMasked(entry, [name]))
    .map((name) =>
      makeField(name, {
        schema: readOwn(schemas, name)?.value,
        root: inputSchema,
        current: readOwn(input, name),
        isOptional:
          inputSchema !== undefined && !(Array.isArray(required) && required.includes(name)),
      }),
    );
}

interface FieldSource {
  schema: unknown;
  /** The schema that has the definitions. */
  root?: unknown;
  current: { value: unknown } | undefined;
  isOptional?: boolean;
}

function makeField(
  name: string,
  { schema, root, current, isOptional = false }: FieldSource,
): EditField {
  const { types, choices, description } = readSchema(schema, root);
  const isNullable = types.includes('null') || choices?.includes(null) === true;
  const mayBe: EditField['mayBe'] = [
    ...(isNullable ? (['null'] as const) : []),
    ...(isOptional ? (['absent'] as const) : []),
  ];
  const [type, ...others] = types.filter((each) => each !== 'null');
  const kind =
    choices === undefined ? pickKind(others.length === 0 ? type : undefined, current) : 'choice';
  return {
    name,
    kind,
    choices: choices?.filter((each) => each !== null) ?? [],
    ...(description !== undefined && { description }),
    mayBe,
    ...(current && { current }),
  };
}

/* The value is as its tool's schema made it; what does not fit its type is edited as JSON. */
function pickKind(type: string | undefined, current: FieldSource['current']): EditField['kind'] {
  const value = current?.value ?? undefined;
  const kind = kinds.get(type ?? typeof value);
  const isFit = value === undefined || kind?.javascript === typeof value;
  return kind !== undefined && isFit ? kind.kind : 'json';
}

/* The types of JSON Schema that have a control of their own, and what their values are. */
const kinds = new Map<string, { kind: EditField['kind']; javascript: string }>([
  ['string', { kind: 'text', javascript: 'string' }],
  ['number', { kind: 'number', javascript: 'number' }],
  ['integer', { kind: 'integer', javascript: 'number' }],
  ['boolean', { kind: 'boolean', javascript: 'boolean' }],
]);

interface FieldSchema {
  types: string[];
  choices?: unknown[];
  description?: string;
}

function readSchema(schema: unknown, root: unknown): FieldSchema {
  if (!isNamed(schema)) return { types: [] };
  const found = schema['description'] ?? schema['title'];
  const description = typeof found === 'string' ? { description: found } : {};
  const { type, anyOf, oneOf, $ref: reference } = schema;
  if (typeof reference === 'string')
    return { ...readSchema(findDefinition(root, reference), undefined), ...description };
  if ('const' in schema) return { types: [], choices: [schema['const']], ...description };
  if (Array.isArray(schema['enum'])) return { types: [], choices: schema['enum'], ...description };
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (options !== undefined) return { ...joinOptions(options, root), ...description };
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
  return { types, ...description };
}

/** The schema of what fits one of these. */
function joinOptions(options: readonly unknown[], root: unknown): FieldSchema {
  const schemas = options.map((each) => readSchema(each, root));
  const types = [...new Set(schemas.flatMap((each) => each.types))];
  const choices = schemas.flatMap((each) => each.choices ?? []);
  if (choices.length === 0) return { types };
  const isChoice = schemas.every(
    (each) => each.choices !== undefined || each.types.join() === 'null',
  );
  if (!isChoice) return { types: ['any', 'of'] };
  return { types: [], choices: types.includes('null') ? [...choices, null] : choices };
}

function findDefinition(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      return isNamed(at) ? readOwn(at, name)?.value : undefined;
    }, root);
}

/** What a field shows before anybody has touched it. */
export function showCurrent({ kind, choices, current }: EditField): EnteredValue {
  if (current === undefined) return { is: 'absent', text: '' };
  const { value } = current;
  if (value === null) return { is: 'null', text: '' };
  if (kind === 'text' && typeof value === 'string') return { is: 'value', text: value };
  if (kind === 'choice') {
    return { is: 'value', text: String(choices.findIndex((each) => isSameJson(each, value))) };
  }
  return { is: 'value', text: JSON.stringify(value, null, kind === 'json' ? 2 : 0) };
}

/** What the entered text means, or why it means nothing. `undefined`: the field is left out. */
export function parseEntered(
  field: EditField,
  { is, text }: EnteredValue,
): { value: unknown } | { fault: string } | undefined {
  if (is === 'absent') return undefined;
  if (is === 'null') return { value: null };
  switch (field.kind) {
    case 'text':
      return { value: restoreLineEnds(text, field.current?.value) };
    case 'boolean':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { fault: 'Pick true or false.' };
    case 'choice': {
      const index = Number(text);
      return text !== '' && index in field.choices
        ? { value: field.choices[index] }
        : { fault: 'Pick one of the values.' };
    }
    case 'number':
    case 'integer':
      return parseNumber(text.trim(), field.kind);
    case 'json':
      return parseJsonText(text);
  }
}

/* A text area gives each line end as a line feed. */
function restoreLineEnds(text: string, current: unknown): string {
  const isWindows =
    typeof current === 'string' && /\r\n/.test(current) && !/\r(?!\n)|(?<!\r)\n/.test(current);
  return isWindows ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}

function parseNumber(
  text: string,
  kind: 'number' | 'integer',
): { value: number } | { fault: string } {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) {
    return {
      fault: kind === 'integer' ? 'Write a whole number.' : 'Write a number, such as 12.50.',
    };
  }
  const value = Number(text);
  if (kind === 'integer' && !Number.isInteger(value)) return { fault: 'Write a whole number.' };
  return isKept(value) ? { value } : { fault: tooLarge };
}

const tooLarge = 'It has more digits than a number can keep.';

/* Larger integers would be rounded. */
function isKept(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function parseJsonText(text: string): { value: unknown } | { fault: string } {
  let isExact = true;
  try {
    const value: unknown = JSON.parse(text, (_key, each: unknown) => {
      if (typeof each === 'number' && !isKept(each)) isExact = false;
      return each;
    });
    return isExact ? { value } : { fault: tooLarge };
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : String(error);
    return { fault: `It is not JSON: ${inertLine(why)}` };
  }
}

/** The draft with what was entered in a field. What is not entered stays as it is. */
export function enterValue(
  entry: InboxEntry,
  draft: EditDraft | undefined,
  change: { name: string; entered: EnteredValue },
): EditDraft {
  return makeDraft(entry, new Map(draft?.entered).set(change.name, change.entered));
}

/** A draft for the request as it is now: what was entered stays, and what was not is as the request has it. */
export function renewDraft(entry: InboxEntry, draft: unknown): EditDraft | undefined {
  const known = readEditDraft(draft);
  return known && makeDraft(entry, known.entered);
}

function makeDraft(entry: InboxEntry, entered: EditDraft['entered']): EditDraft {
  const fields = listEditFields(entry);
  const changed = fields.flatMap((field) => {
    const value = entered.get(field.name);
    const isSame = value === undefined || isSameJson(value, showCurrent(field));
    return isSame ? [] : [{ field, parsed: parseEntered(field, value) }];
  });
  const faults = changed.flatMap(({ field, parsed }) =>
    parsed !== undefined && 'fault' in parsed ? [field.name] : [],
  );
  if (faults.length > 0 || changed.length === 0) return { entered, faults };
  const values = new Map(
    changed.map(({ field, parsed }) => [
      field.name,
      parsed !== undefined && 'value' in parsed ? parsed : undefined,
    ]),
  );
  const input = applyValues(pickApproval(entry)?.toolCall?.input, values);
  return {
    entered,
    faults,
    ...(isSameJson(input, pickApproval(entry)?.toolCall?.input) ? {} : { input }),
  };
}

function applyValues(
  input: unknown,
  values: ReadonlyMap<string, { value: unknown } | undefined>,
): unknown {
  if (!isNamed(input)) return values.get('')?.value;
  const names = new Set([...Object.keys(input), ...values.keys()]);
  return Object.fromEntries(
    [...names].flatMap((name): [string, unknown][] => {
      const item = values.has(name) ? values.get(name) : readOwn(input, name);
      return item === undefined ? [] : [[name, item.value]];
    }),
  );
}
