import { z } from 'zod';
import { grantMatchSchema, rememberSchema } from '../../content/approval-terms.ts';
import { userApprovalSchema } from '../../policy/user-approval.ts';

const texts = z.record(z.string(), z.string());
const serverName = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const envNote =
  '`${NAME}` in a value is replaced with the variable NAME of the environment of the gate.';

const serverSchema = z.union([
  z.strictObject({
    command: z.string().min(1).describe('The program. It is started without a shell.'),
    args: z.array(z.string()).optional().describe('Its arguments.'),
    cwd: z.string().optional().describe('Its working directory, from the folder of this file.'),
    env: texts.optional().describe(`Environment variables for it. ${envNote}`),
    inheritEnv: z
      .array(z.string())
      .optional()
      .describe('Names of variables of the gate that it gets too. It gets few others.'),
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).describe('Its address, over streamable HTTP.'),
    headers: texts.optional().describe(`Headers of each request to it. ${envNote}`),
  }),
]);

const conditionSchema = z
  .strictObject({
    equals: scalar.optional().describe('It is exactly this value.'),
    oneOf: z.array(scalar).min(1).optional().describe('It is exactly one of these values.'),
    atMost: z.number().optional().describe('It is a number, and this one at most.'),
    atLeast: z.number().optional().describe('It is a number, and this one at least.'),
    startsWith: z
      .string()
      .min(1)
      .optional()
      .describe('It is a text that begins so, and has no path segment "..".'),
  })
  .refine((condition) => Object.keys(condition).length > 0, 'needs at least one condition')
  .meta({ minProperties: 1 });

const matched = {
  tools: z
    .array(z.string().regex(/^[^*]*\*?$/, 'may have a * at its end only'))
    .min(1)
    .describe(
      'Names of tools, as clients of the gate see them: `<tool>` with one server, `<server>__<tool>` with several. A `*` at the end stands for any ending.',
    ),
  when: z
    .record(z.string(), conditionSchema)
    .optional()
    .describe(
      'Conditions on arguments, by name; all must hold. A rule that lets calls run does not match a call whose argument is missing or of another type.',
    ),
};

const asking = userApprovalSchema.omit({ type: true, text: true, remember: true }).extend({
  text: z.string().optional(),
  remember: z
    .union([
      z.boolean(),
      rememberSchema.extend({
        scope: z.enum(['principal', 'everyone']).optional(),
        match: grantMatchSchema.optional(),
      }),
    ])
    .optional()
    .describe('Whether an answer may decide later calls too. The default scope is `principal`.'),
});

const ruleSchema = z.discriminatedUnion('approval', [
  z.strictObject({ ...matched, approval: z.literal('approved') }),
  z.strictObject({ ...matched, approval: z.literal('denied'), reason: z.string().optional() }),
  z.strictObject({ ...matched, approval: z.literal('user-approval'), ...asking.shape }),
]);

/** The name of a gate, as long as `createGate` takes. */
export const gateNameSchema = z.string().min(1).max(90);

/** A file of a gate. `schemas/gate.json` of the package is this schema as JSON Schema. */
export const gateFileSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors.'),
  name: gateNameSchema.describe(
    'The name of the gate. Its requests and standing approvals are kept under it, so give different names to gates with different rules.',
  ),
  servers: z
    .record(serverName, serverSchema)
    .refine((servers) => Object.keys(servers).length > 0, 'needs at least one server')
    .meta({ minProperties: 1 })
    .describe('The MCP servers behind the gate, by name.'),
  rules: z
    .array(ruleSchema)
    .optional()
    .describe('The first rule that matches a call decides about it. Default: a person is asked.'),
  people: z
    .record(z.string(), z.array(z.string().min(1)).min(1))
    .optional()
    .describe('The people of each group that rules name in `approvers`.'),
  holdMs: z
    .int()
    .positive()
    .optional()
    .describe('How long a call waits for a person before its client is told to call again.'),
});

/** A file of a gate, as it was read. */
export type GateFile = z.infer<typeof gateFileSchema>;

/** A rule of such a file. */
export type GateRule = z.infer<typeof ruleSchema>;

/** A condition on an argument. */
export type GateCondition = z.infer<typeof conditionSchema>;

/** The JSON Schema of a file, for editors. */
export function makeGateJsonSchema(): unknown {
  return {
    ...z.toJSONSchema(gateFileSchema, { io: 'input' }),
    title: 'The file of a gate: npx holdpoint gate --config <file>',
  };
}
