import { type AgUiHandlerOptions, createAgUiHandler } from 'holdpoint/ag-ui';
import { createAgent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { finishPart, streamedModel, textParts } from '../support/streamed-model.ts';
import { ofType, poster, runInput, site, user } from './ag-ui-site.ts';

const fail = { id: 'c1', name: 'fail', input: { city: 'Rome' } };

/** A route to a model whose provider runs a tool that fails. */
function failingProvider(): ReturnType<typeof poster> {
  const call = { toolCallId: 'p1', toolName: 'search', dynamic: true };
  const { model } = streamedModel([
    { type: 'tool-call', ...call, input: '{}', providerExecuted: true },
    { type: 'tool-result', ...call, result: 'secret of the provider', isError: true },
    ...textParts('0', 'Sorry.'),
    finishPart(),
  ]);
  const agent = createAgent({ model });
  return poster(createAgUiHandler({ agent, authorize: () => ({ principal: 'ann' }) }));
}

/** What a client reads of a failed call: while it comes, and in the conversation that is loaded later. */
async function readErrors(post: ReturnType<typeof poster>): Promise<unknown[]> {
  const { events } = await post(runInput({ messages: [user('m1')] }));
  const { events: loaded } = await post(runInput());
  const [snapshot] = ofType(loaded, 'MESSAGES_SNAPSHOT');
  return [
    ofType(events, 'TOOL_CALL_RESULT')[0]?.content,
    snapshot?.messages.find(({ role }) => role === 'tool')?.content,
  ];
}

/** A route to an agent whose tool fails. */
function failingTool(options: Partial<AgUiHandlerOptions> = {}): ReturnType<typeof poster> {
  return site([{ calls: [fail] }, { text: 'Sorry.' }]).worker(options).post;
}

const onError = (error: unknown): string =>
  String(error).includes('no flight') ? 'There is no flight.' : 'Something is wrong.';

describe('what a tool says when it fails', () => {
  test('may hold secrets, and no client reads it, live or later', async () => {
    expect(await readErrors(failingTool())).toEqual(['An error occurred.', 'An error occurred.']);
  });

  test('is kept back of a tool that the provider runs, too', async () => {
    const errors = await readErrors(failingProvider());
    expect(errors).toEqual(['An error occurred.', 'An error occurred.']);
  });

  test('is put into words by onError', async () => {
    const said = 'There is no flight.';
    expect(await readErrors(failingTool({ onError }))).toEqual([said, said]);
  });

  test('is shown as the model got it where the app wants so', async () => {
    const errors = await readErrors(failingTool({ redactToolErrors: false }));
    expect(errors).toEqual(['no flight to Rome', 'no flight to Rome']);
  });
});
