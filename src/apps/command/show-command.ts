import { z } from 'zod';
import { renderCall, renderRequest } from '../../channels/terminal.ts';
import { describeCaller } from '../../content/caller.ts';
import { inertLine, inertText } from '../../content/inert-text.ts';
import { lookAlikeWarnings } from '../../content/look-alikes.ts';
import { isHeld } from '../../thread/thread-head.ts';
import { heldWords } from '../../view/state-words.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { planCommand } from './run-command.ts';
import {
  findLogged,
  type LoggedContent,
  type LoggedRequest,
  toShownJson,
} from './logged-request.ts';

/** `holdpoint show` */
export const addShowCommand = planCommand({
  name: 'show <requestId>',
  summary: 'show a request whole, with the digest that an answer repeats',
  description:
    'Show a request, a lost call or a stuck thread whole, as its verified log has it, with the digest that an answer repeats. A lost call is also found by <threadId>/<toolCallId>.',
  addOptions: addStoreOptions,
  statuses: ['shown', 'it does not exist, or its log was changed', 'the store could not be read'],
  schema: z.object({ ...storeFields, args: z.tuple([z.string()]) }),
  async run({ args: [id], ...named }, world) {
    return withStore(named, world, async (store) => {
      const shown = await findLogged(store, id);
      const { row, content, digest } = shown;
      return {
        status: 0,
        json: { ...toShownJson(row, content), digest },
        inert: renderShown(shown, (world.now ?? Date.now)()),
      };
    });
  },
});

function renderShown({ row, content, log, digest }: LoggedRequest, now: number): string {
  const { requestId, threadId, agent, state, createdAt } = row;
  const whose = agent === null ? 'an agent without a name' : `agent ${inertLine(agent)}`;
  return [
    `Request ${inertLine(requestId)} (${state})`,
    `Thread ${inertLine(threadId)} of ${whose}, since ${new Date(createdAt).toISOString()}`,
    ...describeEnd({ row, log }),
    ...listCaller(log, now),
    '',
    ...renderContent(content, now),
    '',
    `Digest: ${digest}`,
  ].join('\n');
}

function listCaller({ state: { head } }: LoggedRequest['log'], now: number): string[] {
  const line = head.caller && describeCaller(head.caller, now);
  return line === undefined ? [] : [line];
}

function describeEnd({ row, log }: Pick<LoggedRequest, 'row' | 'log'>): string[] {
  const { state, decidedAt, decidedBy, requestId } = row;
  if (state === 'open' || decidedAt === undefined) return [];
  const by = decidedBy === null ? '' : ` by ${inertLine(decidedBy)}`;
  const response = log.state.endedRequests.get(requestId)?.response;
  const reason = response?.type === 'approval-response' ? response.reason : undefined;
  const isCallHeld = log.state.head.calls.some(
    (call) => call.requestId === requestId && isHeld(call),
  );
  return [
    `Since ${new Date(decidedAt).toISOString()} ${state}${by}`,
    ...(reason === undefined ? [] : [`Reason: ${inertLine(reason)}`]),
    ...(isCallHeld ? [`Its call is ${heldWords}.`] : []),
  ];
}

/** Lines that are safe to print. */
function renderContent(content: LoggedContent, now: number): string[] {
  switch (content.type) {
    case 'approval-request':
    case 'question-request':
      return [renderRequest(content, { now: () => now })];
    case 'lost-call':
      return [
        'This call was started, and nobody knows what came of it.',
        ...listError(content),
        ...lookAlikeWarnings(content.call),
        renderCall(content.call),
        `    call: ${inertLine(content.call.toolCallId)}`,
      ];
    case 'stuck-thread':
      return [
        `Failed runs in a row: ${content.failures ?? 'unknown'}`,
        ...listError(content),
        'Your app tries it once more with agent.run([], thread).',
      ];
  }
}

function listError({ error }: { error?: string | undefined }): string[] {
  return error === undefined ? [] : [inertText(`Its last error: ${error}`)];
}
