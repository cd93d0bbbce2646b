import { extname } from 'node:path';
import type { ToolSet } from 'ai';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import { type SharedAgentOptions, type Agent, makeAnsweringAgent } from '../../agent.ts';
import { HoldpointError } from '../../errors.ts';
import { whyNobody } from '../../policy/same-person.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { parseJsonOption } from './json-option.ts';
import { readGatePeople } from './gate-config.ts';
import { readRulesFile } from './rules-file.ts';
import { type CommandWorld, UsageError } from './run-command.ts';

/** The channel of answers that the command records. */
export const channel = 'command';

/** The option that names the rules of the app. */
export const rulesOption = new Option(
  '--rules <file>',
  'a file that exports as its default { mayAnswer } and, where you have them, principalId, tools, toolApproval and toolsContext of your agent; or the file of a gate. Without it nobody answers what names approvers',
);

/** Adds the options for the person who answers, the rules, and the request that they saw. */
export function addAnswererOptions(command: Command): Command {
  return command
    .requiredOption(
      '--as <principal>',
      'who answers, as your app names them; a JSON object where it begins with {',
      parsePrincipal,
    )
    .requiredOption('--digest <digest>', 'what "holdpoint show" has shown of it')
    .addOption(rulesOption);
}

/** The options of `addAnswererOptions`. */
export const answererFields = {
  as: z.json(),
  digest: z.string(),
  rules: z.string().optional(),
};

/** Parses a principal: a text, or a JSON object. */
export function parsePrincipal(text: string): unknown {
  if (text.startsWith('{')) return parseJsonOption(text);
  if (text.trim() !== '') return text;
  throw new UsageError('--as must name somebody: a text, or a JSON object.');
}

type Rules = Pick<
  SharedAgentOptions<ToolSet, unknown>,
  'mayAnswer' | 'principalId' | 'tools' | 'toolApproval' | 'toolsContext'
>;

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isSettings = (value: unknown): boolean => isObject(value) || isFunction(value);

/* Settings of a backtest or a gate that are unused here, because nothing runs. */
const unusedRules = {
  runtimeContext: z.unknown().exactOptional(),
  name: z.unknown().exactOptional(),
  upstreams: z.unknown().exactOptional(),
  holdMs: z.unknown().exactOptional(),
  leaseMs: z.unknown().exactOptional(),
};

/* Strict: with a misspelt name, everybody might answer. */
const rulesSchema = z.strictObject({
  mayAnswer: z.custom<NonNullable<Rules['mayAnswer']>>(isFunction, 'must be a function'),
  principalId: z.custom<NonNullable<Rules['principalId']>>(isFunction).exactOptional(),
  tools: z.custom<ToolSet>(isObject).exactOptional(),
  toolApproval: z.custom<NonNullable<Rules['toolApproval']>>(isSettings).exactOptional(),
  toolsContext: z.custom<NonNullable<Rules['toolsContext']>>(isObject).exactOptional(),
  ...unusedRules,
});

/** The rules of the app by which people answer; none without a file. */
export async function readAnsweringRules(
  rulesFile: string | undefined,
): Promise<Partial<Omit<z.infer<typeof rulesSchema>, keyof typeof unusedRules>>> {
  if (rulesFile === undefined) return {};
  if (extname(rulesFile) === '.json') return { mayAnswer: await readGatePeople(rulesFile) };
  const read = await readRulesFile(rulesFile, rulesSchema, '{ mayAnswer }');
  const {
    runtimeContext: _context,
    name: _name,
    upstreams: _upstreams,
    holdMs: _holdMs,
    leaseMs: _leaseMs,
    ...rules
  } = read;
  return rules;
}

/** Throws for a principal that names nobody: their answers would be recorded without a name. */
export function refuseNobody(principal: unknown, { principalId }: Pick<Rules, 'principalId'>) {
  const why = whyNobody(principal, principalId);
  if (why !== undefined) throw new UsageError(`--as names nobody: ${why}.`);
}

/** Opens an agent that records a person's answers to the requests of the agent of this name, by the rules of the app. */
export async function openAnsweringAgent(
  store: ThreadStore,
  name: string | undefined,
  {
    as: principal,
    rules: file,
    now,
  }: { as: unknown; rules: string | undefined; now: CommandWorld['now'] },
): Promise<Agent<unknown>> {
  const rules = await readAnsweringRules(file);
  refuseNobody(principal, rules);
  return makeAnsweringAgent({
    ...rules,
    ...(name === undefined ? {} : { name }),
    ...(now === undefined ? {} : { now }),
    store,
  });
}

/** An error of the agent, with advice for the person who typed the command. */
export function adviseOn(error: unknown, rulesFile: string | undefined): unknown {
  if (!HoldpointError.isInstance(error)) return error;
  const { code, message, requestId, field, reason } = error;
  const advice = adviceFor(code, rulesFile);
  if (advice === undefined) return error;
  return new HoldpointError(code, `${message} ${advice}`, {
    cause: error,
    requestId,
    field,
    reason,
  });
}

function adviceFor(
  code: HoldpointError['code'],
  rulesFile: string | undefined,
): string | undefined {
  if (code === 'missing-tool')
    return 'Pass --rules with a file that exports the tools of the agent too, or answer it in your app.';
  if (code === 'answer-mismatch') return 'See it again with "holdpoint show".';
  if (code !== 'not-allowed' || rulesFile !== undefined) return undefined;
  return 'If your app has a mayAnswer that says who may, pass --rules with a file that exports it.';
}
