import { z } from 'zod';
import type { SettledOutcome } from '../../agent.ts';
import { HoldpointError } from '../../errors.ts';
import {
  addAnswererOptions,
  adviseOn,
  answererFields,
  channel,
  openAnsweringAgent,
} from './answering-agent.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { parseJsonOption } from './json-option.ts';
import { planCommand, UsageError } from './run-command.ts';
import { findLogged, refuseOther, type LoggedRequest } from './logged-request.ts';

/** `holdpoint settle` */
export const addSettleCommand = planCommand({
  name: 'settle <requestId>',
  summary: 'record what came of a lost call',
  description:
    'Record what came of a lost call, or approve it once more. The call is named by the id of its request, or by <threadId>/<toolCallId>. Look it up where it had its effect first: the model reads the outcome, and the first one stands.',
  addOptions: (command) =>
    addAnswererOptions(addStoreOptions(command))
      .option(
        '--succeeded <json>',
        'it had its effect, and this is what it returned',
        parseJsonOption,
      )
      .option('--failed <text>', 'it failed and can no longer happen, and this is why')
      .option('--retry', 'it did not happen: run it again, with --rules that has its tool'),
  statuses: [
    'recorded, or recorded before',
    'refused; nothing has changed',
    'the arguments are wrong, or the store or the rules could not be read',
  ],
  schema: z.object({
    ...storeFields,
    ...answererFields,
    args: z.tuple([z.string()]),
    succeeded: z.json().optional(),
    failed: z.string().optional(),
    retry: z.boolean().optional(),
  }),
  async run({ args: [id], as: principal, digest, rules, store: file, postgres, ...given }, world) {
    const outcome = readOutcome(given);
    return withStore({ store: file, postgres }, world, async (store) => {
      const shown = await findLogged(store, id);
      refuseOther(shown, digest);
      const { row, log } = shown;
      const toolCallId = requireLostCall(shown);
      const agent = await openAnsweringAgent(store, log.state.head.agent, {
        as: principal,
        rules,
        now: world.now,
      });
      const { requestId, threadId } = row;
      try {
        const thread = await agent.thread(threadId);
        await agent.settle(thread, toolCallId, outcome, { principal, channel });
      } catch (error) {
        throw adviseOn(error, rules);
      }
      const json = { requestId, threadId, toolCallId, status: outcome.status };
      return { status: 0, json, text: `Recorded: ${outcome.status}.` };
    });
  },
});

function readOutcome({
  succeeded,
  failed,
  retry,
}: {
  succeeded?: unknown;
  failed?: string | undefined;
  retry?: boolean | undefined;
}): SettledOutcome {
  const ways = [succeeded, failed, retry].filter((way) => way !== undefined);
  if (ways.length !== 1)
    throw new UsageError('Pass one outcome: --succeeded, --failed or --retry.');
  if (failed !== undefined) return { status: 'failed', error: failed };
  if (succeeded === undefined) return { status: 'retry' };
  return { status: 'succeeded', output: succeeded };
}

function requireLostCall({ content, row: { requestId } }: LoggedRequest): string {
  if (content.type === 'lost-call') return content.call.toolCallId;
  const what =
    content.type === 'stuck-thread'
      ? 'is a stuck thread: your app tries it once more with agent.run([], thread)'
      : 'is answered: see "holdpoint answer"';
  throw new HoldpointError('not-allowed', `Request ${requestId} ${what}.`, { requestId });
}
