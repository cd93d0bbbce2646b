import { type Command, InvalidArgumentError } from 'commander';
import type { ToolSet } from 'ai';
import { z } from 'zod';
import { backtest } from '../../backtest/index.ts';
import type { BacktestRules } from '../../backtest/replay-thread.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { readRulesFile } from './rules-file.ts';
import { planCommand } from './run-command.ts';

const limitSchema = z.number().optional();

/** `holdpoint backtest` */
export const addBacktestCommand = planCommand({
  name: 'backtest <rules>',
  summary: 'replay approval rules over recorded threads',
  description:
    'Replay approval rules over recorded threads. It runs no tool and calls no model. The rules file exports as its default { tools, toolApproval, toolsContext, principalId, runtimeContext }; the last three are optional. It is JavaScript, or TypeScript that Node can strip.',
  addOptions: (command) => addLimits(addStoreOptions(command)),
  statuses: [
    'no limit is exceeded',
    'a limit is exceeded',
    'the threads or the rules could not be read, or the agent has no threads',
  ],
  schema: z.object({
    ...storeFields,
    args: z.tuple([z.string()]),
    agent: z.string().optional(),
    maxRejected: limitSchema,
    maxEdited: limitSchema,
    maxDenied: limitSchema,
  }),
  async run({ args: [path], agent, maxRejected, maxEdited, maxDenied, ...named }, world) {
    const rules = await readRulesFile(path, rulesSchema, '{ tools, toolApproval }');
    const limits = { agent, maxRejected, maxEdited, maxDenied };
    return withStore(named, world, async (store) => {
      const result = await backtest({ ...rules, ...limits, store });
      const { threads, unreadable, failures } = result;
      if (threads === 0 && unreadable.length === 0) {
        const whose = agent === undefined ? 'agents without a name' : `agent '${agent}'`;
        throw new Error(`The store has no threads of ${whose}.`);
      }
      const isWanting = failures.length > 0;
      const status = unreadable.length > 0 ? 2 : isWanting ? 1 : 0;
      return { status, json: result, inert: String(result) };
    });
  },
});

function addLimits(command: Command): Command {
  return command
    .option('--agent <name>', 'the agent whose threads are replayed; default: those without a name')
    .option(
      '--max-rejected <n>',
      'allowed calls that would have run although people rejected them; default: 0',
      parseLimit,
    )
    .option(
      '--max-edited <n>',
      'allowed calls that would have run with an input that people changed; default: any',
      parseLimit,
    )
    .option(
      '--max-denied <n>',
      'allowed calls that would have been denied although people approved them; default: any',
      parseLimit,
    );
}

function parseLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const rulesSchema = z.custom<BacktestRules<ToolSet, unknown>>(
  (value) => typeof Reflect.get(Object(value), 'tools') === 'object',
);
