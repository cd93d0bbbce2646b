import { inertLine } from '../content/inert-text.ts';
import type { ApprovalRequest } from '../content/approval.ts';
import { resolveReference } from '../json/declared-fields.ts';
import { isPlainObject, isSameJson, readOwn } from '../json/json-value.ts';

/** An approval whose input may be edited. */
export interface Editable {
  request: Pick<ApprovalRequest, 'editable' | 'inputSchema' | 'toolCall'>;
  /** The paths of the arguments that the person is not shown: they have no field. */
  masked?: readonly (readonly string[])[];
}

/** A person's entries in the fields of an input, by the name of the field. Untouched fields are not in it. */
export type Edits = ReadonlyMap<string, EnteredValue>;

/** The entry in a field: a text, or its absence. */
export interface EnteredValue {
  is: 'value' | 'null' | 'absent';
  /** The text; of a choice, the place of the value. */
  text: string;
}

/** A field of an input that may be edited, from the tool's schema or its present value. */
export interface EditField {
  /** Empty for the whole input. */
  name: string;
  kind: 'text' | 'number' | 'integer' | 'choice' | 'json';
  /** The values of a choice. */
  choices: readonly unknown[];
  /** The app's description of it. */
  description?: string;
  /** The empty forms that the schema accepts: left out, or `null`. */
  mayBe: readonly ('null' | 'absent')[];
  current?: { value: unknown };
}

/** Lists the fields of an input that may be edited. */
export function listEditFields({ request, masked = [] }: Editable): EditField[] {
  const { editable, toolCall, inputSchema } = request;
  if (editable === undefined || toolCall === undefined) return [];
  const { input } = toolCall;
  if (!isPlainObject(input))
    return [makeField('', { schema: inputSchema, current: { value: input } })];
  const properties = isPlainObject(inputSchema) ? inputSchema['properties'] : undefined;
  const schemas = isPlainObject(properties) ? properties : {};
  const required = isPlainObject(inputSchema) ? inputSchema['required'] : [];
  const known = [...new Set([...Object.keys(input), ...Object.keys(schemas)])];
  return known
    .filter((name) => editable === true || editable.includes(name))
    .filter((name) => !masked.some((path) => path.length < 2 && (path[0] ?? name) === name))
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
  /** The schema with the definitions. */
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
  const { kind, values = [] } =
    choices === undefined
      ? pickKind(others.length === 0 ? type : undefined, current)
      : { kind: 'choice' as const, values: choices };
  return {
    name,
    kind,
    choices: values.filter((each) => each !== null),
    ...(description !== undefined && { description }),
    mayBe,
    ...(current && { current }),
  };
}

interface FieldKind {
  kind: EditField['kind'];
  values?: readonly unknown[];
}

/* The value has passed its tool's schema; one that doesn't fit its type is edited as JSON. */
function pickKind(type: string | undefined, current: FieldSource['current']): FieldKind {
  const value = current?.value ?? undefined;
  const found = kinds.get(type ?? typeof value);
  const isFit = value === undefined || found?.javascript === typeof value;
  return found !== undefined && isFit ? found : { kind: 'json' };
}

/* The types of JSON Schema with a control of their own, and the JavaScript types of their values. */
const kinds = new Map<string, FieldKind & { javascript: string }>([
  ['string', { kind: 'text', javascript: 'string' }],
  ['number', { kind: 'number', javascript: 'number' }],
  ['integer', { kind: 'integer', javascript: 'number' }],
  ['boolean', { kind: 'choice', values: [true, false], javascript: 'boolean' }],
]);

interface FieldSchema {
  types: string[];
  choices?: unknown[];
  description?: string;
}

function readSchema(schema: unknown, root: unknown): FieldSchema {
  if (!isPlainObject(schema)) return { types: [] };
  const found = schema['description'] ?? schema['title'];
  const description = typeof found === 'string' ? { description: found } : {};
  const { type, anyOf, oneOf, $ref: reference } = schema;
  if (typeof reference === 'string')
    return { ...readSchema(resolveReference(reference, root), undefined), ...description };
  if ('const' in schema) return { types: [], choices: [schema['const']], ...description };
  if (Array.isArray(schema['enum'])) return { types: [], choices: schema['enum'], ...description };
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (options !== undefined) return { ...joinOptions(options, root), ...description };
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string');
  return { types, ...description };
}

/** Joins schemas to one for values that fit one of them. */
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

/** Returns the entry that an untouched field shows. */
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

/** Parses the entered text to a value or a fault. `undefined`: the field is left out. */
function parseEntered(
  field: EditField,
  { is, text }: EnteredValue,
): { value: unknown } | { fault: string } | undefined {
  if (is === 'absent') return undefined;
  if (is === 'null') return { value: null };
  switch (field.kind) {
    case 'text':
      return { value: restoreLineEnds(text, field.current?.value) };
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

/* A text area returns each line end as a line feed. */
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

/** Reads the entry in a field: as the person left it, or as an untouched field shows it, with the fault of an entry that can't be read. */
export function readInputField(
  field: EditField,
  edits: Edits | undefined,
): { entered: EnteredValue; fault?: string } {
  const entered = edits?.get(field.name);
  if (entered === undefined) return { entered: showCurrent(field) };
  const parsed = parseEntered(field, entered);
  return parsed !== undefined && 'fault' in parsed ? { entered, fault: parsed.fault } : { entered };
}

/** The input after a person's edits. Fields without an entry stay as the request has them now. */
export interface EditedInput {
  /** The whole input to approve instead; absent if nothing differs, or an entry is faulty. */
  input?: unknown;
  /** The entries that can't be read, by their field, or that have none. While there are any, nothing can be approved. */
  faults: readonly { name?: string; fault: string }[];
}

/** Makes the input to approve from the entries. */
export function readEdits(editable: Editable, edits: Edits | undefined): EditedInput {
  const fields = listEditFields(editable);
  const names = new Set(fields.map(({ name }) => name));
  /* No page shows it any more, so nobody knows that it would not run. */
  const hasUnshown = [...(edits?.keys() ?? [])].some((name) => !names.has(name));
  if (hasUnshown) return { faults: [{ fault: 'You may no longer edit this. Nothing was sent.' }] };
  const changed = fields.flatMap((field) => {
    const value = edits?.get(field.name);
    const isSame = value === undefined || isSameJson(value, showCurrent(field));
    return isSame ? [] : [{ name: field.name, parsed: parseEntered(field, value) }];
  });
  const faults = changed.flatMap(({ name, parsed }) =>
    parsed !== undefined && 'fault' in parsed ? [{ name, fault: parsed.fault }] : [],
  );
  if (faults.length > 0 || changed.length === 0) return { faults };
  const values = new Map(
    changed.map(({ name, parsed }) => [
      name,
      parsed !== undefined && 'value' in parsed ? parsed : undefined,
    ]),
  );
  const shown = editable.request.toolCall?.input;
  const input = applyValues(shown, values);
  return { faults, ...(isSameJson(input, shown) ? {} : { input }) };
}

function applyValues(
  input: unknown,
  values: ReadonlyMap<string, { value: unknown } | undefined>,
): unknown {
  if (!isPlainObject(input)) return values.get('')?.value;
  const names = new Set([...Object.keys(input), ...values.keys()]);
  return Object.fromEntries(
    [...names].flatMap((name): [string, unknown][] => {
      const item = values.has(name) ? values.get(name) : readOwn(input, name);
      return item === undefined ? [] : [[name, item.value]];
    }),
  );
}
