import type { UIMessageChunk } from 'ai';
import { approve } from 'holdpoint';
import { toUIMessages } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { TurnChunks } from '../../src/channels/ui/output/turn-chunks.ts';
import { ApprovalIds } from '../../src/view/approval-ids.ts';
import { TurnReader } from '../../src/view/turns.ts';
import { office } from '../policy/office.ts';
import { book } from '../support/travel-world.ts';
import { toolParts } from './chat-page.ts';

/* Everything after which a request is shown again: a vote, a vote with an edit, both taken back, somebody else who is asked, a deadline. */
async function askAgainAndAgain() {
  const at = office(
    {
      book: {
        type: 'user-approval',
        approvers: ['owners'],
        quorum: 3,
        editable: true,
        expiresAfterMs: 1_000,
        onExpiry: 'ask-again',
      },
    },
    [[book('c1', 'Paris'), book('c2', 'Rome')]],
  );
  const { agent, clock } = at;
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book', thread, { principal: 'dee' });
  const [paris, rome] = approvalRequests;
  if (paris === undefined || rome === undefined) throw new Error('Two requests were expected.');
  await agent.respond(approve(paris), thread, { principal: 'ann' });
  await agent.withdraw(thread, paris.requestId, { principal: 'ann' });
  const edited = approve(paris, { input: { city: 'Oslo' } });
  await agent.respond(edited, thread, { principal: 'bob' });
  await agent.respond(approve(rome), thread, { principal: 'cy' });
  await agent.reassign(thread, rome.requestId, 'dee', { principal: 'cy' });
  await agent.withdraw(thread, paris.requestId, { principal: 'bob' });
  clock.now += 2_000;
  const { approvalRequests: again } = await agent.run([], thread);
  const [third] = again;
  if (third === undefined) throw new Error('Nothing was asked again.');
  await agent.respond(approve(third), thread, { principal: 'ann' });
  await agent.respond(
    again.map((request) => request.reject('No.')),
    thread,
    { principal: 'bob' },
  );
  return thread;
}

test('a request has the same id in the stream of its turn as in the log, after each event', async () => {
  const thread = await askAgainAndAgain();
  const recorded = new ApprovalIds();
  const chunks = new TurnChunks({});
  const shown = new Map<string, string>();
  const types = new Set<string>();
  for (const { event, item } of new TurnReader().read(thread)) {
    recorded.count(event);
    const made = item === undefined ? [] : chunks.ofItem(item);
    for (const chunk of made) noteShown(shown, chunk);
    for (const [requestId, approvalId] of shown)
      expect(`${event.type} ${approvalId}`).toBe(`${event.type} ${recorded.of(requestId)}`);
    if (shown.size > 0) types.add(event.type);
  }
  expect(shown.size).toBe(4);
  expect([...types]).toEqual(
    expect.arrayContaining([
      'request-opened',
      'request-voted',
      'vote-withdrawn',
      'request-reassigned',
      'request-closed',
      'request-answered',
    ]),
  );
  const parts = toolParts(await toUIMessages(thread));
  const ids = new ApprovalIds(thread.events);
  expect(parts.map(({ approval }) => approval?.id)).toEqual(
    thread.calls.map(({ requestId = '' }) => ids.of(requestId)),
  );
});

function noteShown(shown: Map<string, string>, chunk: UIMessageChunk): void {
  if (chunk.type !== 'tool-approval-request') return;
  shown.set(chunk.approvalId.replace(/#\d+$/, ''), chunk.approvalId);
}
