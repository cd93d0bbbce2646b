import { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';
import { approve } from 'holdpoint';
import { askQuestion, userChoice } from 'holdpoint/tools';
import {
  createUiHandler,
  lastAssistantMessageHasApprovalResponses,
  toUIMessages,
} from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import { book, look, travelTools, travelWorld } from '../support/travel-world.ts';
import { eventsOf } from '../tools/asked.ts';
import {
  chatPage,
  comparable,
  lastText,
  openApprovals,
  type PageOptions,
  toolParts,
} from './chat-page.ts';
import { pickCases } from '../support/sampling.ts';

const questions = { ask: userChoice(), ask_question: askQuestion() };
const asks = (input: object) => [{ calls: [{ id: 'q1', name: 'ask', input }] }, { text: 'Fine.' }];

const answered = { free_text: 'Paris', cancelled: false };
const inSnakeCase = (interaction_id: string) => ({ ...answered, interaction_id });
const inCamelCase = (interactionId: string) => ({
  freeText: 'Paris',
  cancelled: false,
  interactionId,
});

describe.each(pickCases(storeKits))('a page over $name', ({ keep }) => {
  /** A page of a thread, and the same thread as it loads after a restart. */
  async function opened(script: ScriptedStep[], options: PageOptions = {}) {
    const kept = keep();
    const played = scriptedModel(script);
    const world = travelWorld(played, () => kept.open());
    const tools = { ...travelTools(world.ran), ...questions };
    const agent = world.agent({ tools });
    const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
    const page = chatPage(handler, options);
    const reloaded = async () => toUIMessages(await world.agent({ tools }).thread('t'));
    return {
      ...page,
      page,
      world,
      agent,
      played,
      reloaded,
      [Symbol.dispose]: () => kept[Symbol.dispose](),
    };
  }

  test('a turn: text as it comes, metadata that says how far it has seen, and the same after a reload', async () => {
    using at = await opened([{ reasoning: 'Hm.', text: 'Hello there.' }]);
    await at.chat.sendMessage({ text: 'Hi' });
    expect(lastText(at.chat.messages)).toBe('Hello there.');
    expect(at.chat.messages.at(-1)).toMatchObject({
      id: 't:2',
      metadata: { threadId: 't', revision: 5, status: 'idle' },
    });
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    expect(at.sent).toMatchObject([{ body: { id: 't', message: { role: 'user' } }, status: 200 }]);
  });

  test('an approved call runs once, and who approved it is in the log', async () => {
    using at = await opened([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    await at.chat.sendMessage({ text: 'Book' });
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    const [id = ''] = openApprovals(at.chat.messages);
    await at.respond(id, true);
    expect(at.world.ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
    expect(lastText(at.chat.messages)).toBe('Booked.');
    expect(at.sent).toHaveLength(2);
    expect(at.sent[1]?.body).toMatchObject({ id: 't', answers: [{ requestId: id }], revision: 6 });
    expect(JSON.stringify(at.sent[1]?.body)).not.toContain('messages');
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    const { events } = await at.agent.thread('t');
    expect(eventsOf(events, 'request-answered')).toMatchObject([
      { principal: 'ann', channel: 'ui', response: { approved: true, digest: expect.any(String) } },
    ]);
  });

  test('a rejected call does not run, and the model is told why', async () => {
    using at = await opened([{ calls: [book('c1', 'Paris')] }, { text: 'As you like.' }]);
    await at.chat.sendMessage({ text: 'Book' });
    const [id = ''] = openApprovals(at.chat.messages);
    await at.respond(id, false, 'too dear');
    expect(at.world.ran).toEqual([]);
    expect(toolParts(at.chat.messages)).toMatchObject([
      { state: 'output-denied', approval: { id, approved: false, reason: 'too dear' } },
    ]);
    expect(JSON.stringify(at.played.prompts[1])).toContain('too dear');
    expect(at.sent).toHaveLength(2);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  const two = [{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, { text: 'Both.' }];

  test('two approvals, each sent when it is given: the first call runs while the other waits', async () => {
    using at = await opened(two, {
      sendAutomaticallyWhen: lastAssistantMessageHasApprovalResponses,
    });
    await at.chat.sendMessage({ text: 'Book' });
    const [first = '', second = ''] = openApprovals(at.chat.messages);
    await at.respond(first, true);
    expect(at.world.ran).toHaveLength(1);
    expect(openApprovals(at.chat.messages)).toEqual([second]);
    expect(toolParts(at.chat.messages)[0]).toMatchObject({ state: 'output-available' });
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    await at.respond(second, true);
    expect(at.world.ran).toHaveLength(2);
    expect(lastText(at.chat.messages)).toBe('Both.');
    expect(at.sent).toHaveLength(3);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  test.each([
    ["the AI SDK's predicate", lastAssistantMessageIsCompleteWithApprovalResponses, 2],
    ['ours', lastAssistantMessageHasApprovalResponses, 3],
  ])(
    'two approvals given at once, with %s: each is sent once',
    async (_name, predicate, requests) => {
      using at = await opened(two, { sendAutomaticallyWhen: predicate });
      await at.chat.sendMessage({ text: 'Book' });
      const [first = '', second = ''] = openApprovals(at.chat.messages);
      await Promise.all([at.respond(first, true), at.respond(second, false)]);
      expect(at.world.ran).toHaveLength(1);
      expect(lastText(at.chat.messages)).toBe('Both.');
      expect(at.sent).toHaveLength(requests);
      expect(at.errors).toEqual([]);
      expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    },
  );

  test("the AI SDK's own transport, which sends the whole history, works as well", async () => {
    using at = await opened(two, { sendsHistory: true });
    await at.chat.sendMessage({ text: 'Book' });
    const [first = '', second = ''] = openApprovals(at.chat.messages);
    await at.respond(first, true);
    await at.respond(second, true);
    expect(at.world.ran).toHaveLength(2);
    expect(lastText(at.chat.messages)).toBe('Both.');
    expect(at.sent).toHaveLength(2);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  test('S0-30: the page gets the whole request of a choice, and answers it in the body', async () => {
    const input = { question: 'Which seat?', options: '["1A","9F"]' };
    using at = await opened(asks(input));
    await at.chat.sendMessage({ text: 'Go' });
    const [request] = (await at.agent.thread('t')).activeRequests;
    const [part] = toolParts(at.chat.messages);
    expect(part?.approval?.descriptor).toEqual(JSON.parse(JSON.stringify(request)));
    expect(request).toMatchObject({ type: 'question-request', kind: 'choice' });
    if (request?.type !== 'question-request') throw new Error('Nothing is asked.');
    const { key = '', options = [] } = request.fields[0] ?? {};
    const answer = { key, optionIds: [options[1]?.id ?? ''] };
    const { requestId } = request;
    const response = {
      type: 'question-response',
      requestId,
      status: 'answered',
      answers: [answer],
    };
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
    await at.chat.sendMessage(undefined, { body: { answers: [response] } });
    await at.quiet();
    expect(toolParts(at.chat.messages)).toMatchObject([
      { state: 'output-available', output: '9F' },
    ]);
    expect(lastText(at.chat.messages)).toBe('Fine.');
    expect(at.sent).toHaveLength(2);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  const asksName = [
    { calls: [{ id: 'q1', name: 'ask_question', input: { question: 'Which city?' } }] },
    { calls: [book('c1', 'Paris')] },
    { text: 'Booked.' },
  ];

  test.each([
    ['in snake case', inSnakeCase, false],
    ['in camel case', inCamelCase, false],
    ["by the AI SDK's own transport", inSnakeCase, true],
  ])(
    'S2-13: the next request answers a question with an interaction_response data part, %s',
    async (_how, data, sendsHistory) => {
      using at = await opened(asksName, { sendsHistory });
      await at.chat.sendMessage({ text: 'Go' });
      const [request] = (await at.agent.thread('t')).activeRequests;
      const part = {
        type: 'data-interaction_response',
        data: data(request?.requestId ?? ''),
      } as const;
      await at.chat.sendMessage({ parts: [part] });
      await at.quiet();
      expect(JSON.stringify(at.played.prompts[1])).toContain('interaction_response');
      expect(JSON.stringify(at.played.prompts[1])).toContain('Paris');
      expect(at.chat.messages.map(({ id, role }) => (role === 'user' ? role : id))).toEqual([
        'user',
        't:2',
        'user',
        't:7',
      ]);
      const open = openApprovals(at.chat.messages.slice(-1));
      expect(open).toHaveLength(1);
      await at.respond(open[0] ?? '', true);
      expect(lastText(at.chat.messages)).toBe('Booked.');
      expect(at.chat.messages.filter(({ id }) => id === 't:2')).toHaveLength(1);
      expect(at.world.ran).toHaveLength(1);
      expect(at.errors).toEqual([]);
    },
  );

  test('S2-14: the answer stands in the history of the page as data, live and after a reload', async () => {
    using at = await opened(asksName);
    await at.chat.sendMessage({ text: 'Go' });
    const [request] = (await at.agent.thread('t')).activeRequests;
    const answers = [
      {
        type: 'question-response',
        requestId: request?.requestId,
        status: 'answered',
        answers: [{ key: 'answer', optionIds: [], text: 'Paris' }],
      },
    ];
    await at.chat.sendMessage(undefined, { body: { answers } });
    await at.quiet();
    expect(at.chat.messages.at(-1)?.parts).toContainEqual({
      type: 'data-interaction_response',
      data: { interaction_id: expect.any(String), free_text: 'Paris', cancelled: false },
    });
    expect(at.chat.messages).toHaveLength(2);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  test('an answer made with approve(request) of what the page was shown is taken from the body', async () => {
    using at = await opened([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    await at.chat.sendMessage({ text: 'Book' });
    const request: Parameters<typeof approve>[0] = JSON.parse(
      JSON.stringify(toolParts(at.chat.messages)[0]?.approval?.descriptor),
    );
    await at.chat.sendMessage(undefined, { body: { answers: [approve(request)] } });
    await at.quiet();
    expect(at.world.ran).toHaveLength(1);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });

  test('several turns, with calls that need nobody, that fail, and that are denied by a rule', async () => {
    using at = await opened([
      {
        text: 'Looking.',
        calls: [look('c1', 'Rome'), { id: 'c2', name: 'fail', input: { city: 'X' } }],
      },
      { text: 'One flight.' },
      {
        calls: [
          { id: 'c1', name: 'nothing', input: {} },
          { id: 'c4', name: 'look', input: '{"city":' },
        ],
      },
      { text: 'Sorry.' },
    ]);
    await at.chat.sendMessage({ text: 'Look' });
    await at.chat.sendMessage({ text: 'Again' });
    expect(at.errors).toEqual([]);
    expect(at.chat.messages).toHaveLength(4);
    expect(toolParts(at.chat.messages).map(({ state }) => state)).toEqual([
      'output-available',
      'output-error',
      'output-error',
      'output-error',
    ]);
    expect(comparable(await at.reloaded())).toEqual(comparable(at.chat.messages));
  });
});
