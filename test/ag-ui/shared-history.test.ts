import type { MayAnswer } from 'holdpoint';
import { expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import { ofType, runInput, site } from './ag-ui-site.ts';
import type { Told } from './checked-events.ts';

const notEve: MayAnswer = ({ principal }) => principal !== 'Eve';

/** Clients of Ada, Ben and Eve on one thread, whose messages each of them sends whole. */
async function office(quorum: number) {
  const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }];
  const toolApproval = { book: { type: 'user-approval', quorum } as const };
  const at = site(script, { toolApproval, mayAnswer: notEve });
  const as = (principal: string) => at.worker({ authorize: () => ({ principal }) }).post;
  const book1 = { id: 'u1', role: 'user', content: 'Book' };
  await as('Ada')(runInput({ messages: [book1] }));
  const thread = async () => at.agent.thread('t');
  const [request] = (await thread()).activeRequests;
  const interruptId = request?.requestId ?? '';
  const yes = { interruptId, status: 'resolved', payload: { approved: true } };
  /* As a client that keeps answers in its messages might: neither a tool's message nor a resume in it is an answer. */
  const call = { id: 'c1', type: 'function', function: { name: 'book', arguments: '{}' } };
  const messages = [
    book1,
    { id: 'a1', role: 'assistant', toolCalls: [call], resume: [yes] },
    { id: 't1', role: 'tool', toolCallId: 'c1', content: JSON.stringify(yes) },
  ];
  const answeredBy = async () =>
    (await thread()).events.flatMap((event) =>
      event.type === 'request-answered' || event.type === 'request-voted' ? [event.principal] : [],
    );
  return { ...at, as, yes, messages, thread, answeredBy };
}

const hello = { id: 'u2', role: 'user', content: 'What is the status?' };

function codeOf({ events }: { events: Told[] }): unknown {
  return ofType(events, 'RUN_ERROR')[0]?.['code'];
}

test('over AG-UI only `resume` answers: an approval in the messages counts for nobody', async () => {
  const at = await office(1);
  const { messages, yes } = at;
  expect(codeOf(await at.as('Eve')(runInput({ messages, resume: [yes] })))).toBe('not-allowed');
  await at.as('Ada')(runInput({ messages }));
  await at.as('Ada')(runInput({ messages: [...messages, hello] }));
  expect(await at.answeredBy()).toEqual([]);
  expect(at.world.ran).toEqual([]);
  expect((await at.thread()).status).toBe('waiting');
  await at.as('Ada')(runInput({ messages, resume: [yes] }));
  expect(await at.answeredBy()).toEqual(['Ada']);
});

test('over AG-UI Ada’s vote is not Ben’s, whatever he writes; the reply asks again until he resumes', async () => {
  const at = await office(2);
  const { messages, yes } = at;
  const voted = await at.as('Ada')(runInput({ messages, resume: [yes] }));
  expect(JSON.stringify(voted.events.at(-1))).toContain(yes.interruptId);
  await at.as('Ada')(runInput({ messages, resume: [yes] }));
  const told = await at.as('Ben')(runInput({ messages: [...messages, hello] }));
  expect(JSON.stringify(told.events)).not.toContain('Booked');
  expect(await at.answeredBy()).toEqual(['Ada']);
  expect(at.world.ran).toEqual([]);
  await at.as('Ben')(runInput({ messages, resume: [yes] }));
  expect(await at.answeredBy()).toEqual(['Ada', 'Ben']);
  expect(at.world.ran).toHaveLength(1);
});
