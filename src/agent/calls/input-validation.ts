import { asSchema, type Schema, type Tool } from 'ai';
import { z } from 'zod';
import { readErrorText } from '../../content/app-errors.ts';
import { type FieldFault, readSchemaFault } from '../../json/field-fault.ts';
import { readForm } from '../../json/json-form.ts';
import { copyPlain } from '../../json/json-value.ts';
import { isFromMcpServer, omitFormats } from '../../json/mcp-tool.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { makeOnce } from '../../content/once.ts';
import { isEqualJson, toCanonicalText } from '../../policy/digest.ts';
import { whyNotExactJson, whyNotStrictJson } from '../../json/strict-json.ts';
import {
  type SchemaCheck,
  type SchemaFault,
  compileSchemaCheck,
} from '../../json/json-schema-check.ts';

/** Returns the parsed form of an input, or the reason why it is invalid. */
type Validate = NonNullable<Schema['validate']>;

/** Validates the inputs of a tool. */
export interface InputValidation {
  /** Validates the model's input. */
  call: Validate;
  /** Validates a person's edit. */
  edit: Validate;
}

/** Receives the fault of a JSON Schema that the validator can't read, once for each tool of an agent. */
export type ReportUnreadable = (failure: SettingFailure) => void;

/**
 * Makes the validation of a tool's inputs: by its schema's own function, or else by its JSON Schema, which is read at the first input. If
 * that can't be read, the model's inputs are taken as the AI SDK takes them, and edits are refused.
 */
export function makeInputValidation(
  name: string,
  tool: Tool,
  { schemaText, report }: { schemaText: string; report: ReportUnreadable },
): InputValidation {
  const { validate } = asSchema(tool.inputSchema);
  if (validate !== undefined) return { call: validate, edit: validate };
  const read = makeOnce((): Checks => {
    const checks = readChecks(schemaText, isFromMcpServer(tool));
    if ('unreadable' in checks) report(describeUnreadableSchema(name, checks.unreadable));
    return checks;
  });
  return {
    call(input) {
      const checks = read();
      /* An input that readers may understand differently is refused when it is recorded, with another reason. */
      const isLeft = 'unreadable' in checks || whyNotExactJson(input) !== undefined;
      return toValidationResult(input, isLeft ? undefined : checks.call(input));
    },
    edit: (input) => checkEdited(read(), input),
  };
}

function checkEdited(checks: Checks, input: unknown): ReturnType<typeof toValidationResult> {
  if ('unreadable' in checks) {
    const text = `the schema can't be read, so no edit can be validated: ${checks.unreadable}`;
    return toValidationResult(input, { text });
  }
  const text = whyNotStrictJson(input);
  return toValidationResult(input, text === undefined ? checks.edit(input) : { text });
}

/** Validates an edit with the JSON Schema in its request, if the tool itself is not here. */
export function makeCarriedValidation(inputSchema: unknown): Validate {
  return (input) => checkEdited(readChecks(toCanonicalText(inputSchema), false), input);
}

/** The fault of an edit that is not accepted: `text` is for developers, and may quote the input; the fault is for the person who edited. */
export interface EditFault extends FieldFault {
  text: string;
}

/** Finds the fault of an input that a person changed; `undefined` if it is accepted as it is. */
export async function whyNotEdited(
  validate: Validate,
  input: unknown,
): Promise<EditFault | undefined> {
  const parsed = await validate(copyPlain(input));
  if (!parsed.success) {
    const mismatch = "it does not match the tool's input schema";
    const text = `${mismatch}: ${parsed.error.message}`;
    return { text, ...(readSchemaFault(parsed.error) ?? { reason: mismatch }) };
  }
  if (isSameJson(parsed.value, input)) return undefined;
  /* Only the approved input may run: a schema that changes the input would run another one. */
  const reason = "the tool's input schema would change it; send the input as the tool gets it";
  return { text: reason, reason };
}

/** Checks whether a schema takes an input and makes something else of it. */
export async function isChangedBy(validate: Validate, input: unknown): Promise<boolean> {
  const parsed = await validate(copyPlain(input));
  return parsed.success && !isSameJson(parsed.value, input);
}

function isSameJson(made: unknown, input: unknown): boolean {
  const form = readForm(made);
  return !('fault' in form) && form.types === undefined && isEqualJson(form.json, input);
}

function describeUnreadableSchema(toolName: string, reason: string): SettingFailure {
  return {
    setting: `tools.${toolName}.inputSchema`,
    kind: 'unreadable-schema',
    problem: `The JSON Schema can't be read, so calls are not validated and edits are refused: ${reason}. Fix it, or give it a validate function.`,
  };
}

type Checks = { call: SchemaCheck; edit: SchemaCheck } | { unreadable: string };

function readChecks(schemaText: string, isClosedByClient: boolean): Checks {
  try {
    const edit = compileSchemaCheck(JSON.parse(schemaText));
    return {
      edit,
      call: isClosedByClient ? compileSchemaCheck(openClosedSchema(schemaText)) : edit,
    };
  } catch (error) {
    return { unreadable: readErrorText(error) };
  }
}

/* The client adds `additionalProperties: false` to the schema of every tool, even if its server allows more. */
function openClosedSchema(schemaText: string): unknown {
  const schema: unknown = JSON.parse(schemaText);
  const closed = closedSchema.safeParse(schema);
  if (!closed.success) return schema;
  const { additionalProperties: _added, ...rest } = closed.data;
  return rest;
}

const closedSchema = z.looseObject({ additionalProperties: z.literal(false) });

function toValidationResult(
  value: unknown,
  fault: SchemaFault | undefined,
): Awaited<ReturnType<Validate>> {
  if (fault === undefined) return { success: true, value };
  const { text, issue } = fault;
  return { success: false, error: new Error(text, issue && { cause: [issue] }) };
}

/** The JSON Schema of a tool's input. */
interface SchemaJson {
  /** A copy for one agent: providers may change it. */
  schema: unknown;
  /** Its canonical text (RFC 8785). */
  canonical: string;
}

/** The texts of the JSON Schema of one schema object. */
interface SchemaTexts {
  plain: string;
  canonical: string;
}

/*
 * Making the JSON Schema of a Zod schema takes most of the time of creating an agent, and a server may create one for each request. Texts
 * are kept, not objects, so that nobody can change what another agent shows and hashes.
 */
const known = new WeakMap<object, SchemaTexts>();

/** The JSON Schema of a tool's input. It is made once for a schema that does not change. */
export async function readSchemaJson(tool: Tool): Promise<SchemaJson> {
  const { inputSchema } = tool;
  const isFixed = isStandardSchema(inputSchema);
  const texts = isFixed ? known.get(inputSchema) : undefined;
  if (texts !== undefined) {
    return { schema: JSON.parse(texts.plain), canonical: texts.canonical };
  }
  const made: unknown = await asSchema(inputSchema).jsonSchema;
  const schema = isFromMcpServer(tool) ? omitFormats(made) : made;
  const canonical = toCanonicalText(schema);
  if (isFixed) known.set(inputSchema, { plain: JSON.stringify(schema), canonical });
  return { schema, canonical };
}

/**
 * Reads the JSON Schema of a tool's input if it is available at once; `undefined` if it must be fetched, or can't be made: the first run
 * reports why.
 */
export function readReadySchema(inputSchema: Tool['inputSchema']): unknown {
  try {
    const schema: unknown = asSchema(inputSchema).jsonSchema;
    return schema instanceof Promise ? undefined : schema;
  } catch {
    return undefined;
  }
}

/* These, such as Zod's, don't change. The AI SDK's `jsonSchema` wraps an object that an app may change. */
function isStandardSchema(inputSchema: unknown): inputSchema is object {
  const isObject = typeof inputSchema === 'object' && inputSchema !== null;
  return isObject && '~standard' in inputSchema;
}
