import { generateText, wrapLanguageModel } from 'ai';
import { plainMessages, resumeMessage } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { overloaded } from '../support/overloaded.ts';
import { opened, opens } from '../support/asking-provider.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import {
  answering,
  conversation,
  heldWorld,
  modelOf,
  ofThread,
  requestsIn,
  scriptedWorld,
  ways,
} from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const script = [
  { calls: [opens('p1', 'Bug')] },
  { calls: [opened('p1', 'Bug')], text: 'I went on.' },
];

describe.each(pickCases(ways))('what the provider runs itself, through $name', (way) => {
  test('its request comes out under an id of ours, and a yes goes back in its own type', async () => {
    const { model, played, agent, ran } = scriptedWorld(script);
    const chat = conversation(way, { model });
    const asked = await chat.say('Open an issue.');
    const [requestId = ''] = requestsIn(asked.content);
    const { activeApprovalRequests } = await agent.thread('t');
    expect(activeApprovalRequests.map((request) => request.requestId)).toEqual([requestId]);
    expect(requestId).not.toBe('ask-p1');
    const { text } = await chat.go(answering([requestId]));
    expect(text).toBe('I went on.');
    expect(played.prompts[1]?.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'tool-approval-response', approvalId: 'ask-p1', approved: true }],
    });
    expect((await agent.thread('t')).calls).toMatchObject([{ status: 'forwarded' }]);
    expect(ran).toEqual([]);
  });

  test('its call stays the provider’s in messages for another model, also where it is asked again', async () => {
    const { model } = scriptedWorld(script);
    const chat = conversation(way, { model });
    await chat.say('Open an issue.');
    const again = await way.ask({ model, messages: [resumeMessage()], ...ofThread() });
    for (const history of [chat.messages, again.responseMessages]) {
      const calls = plainMessages(history)
        .flatMap((message) =>
          message.role === 'assistant' && typeof message.content !== 'string'
            ? message.content
            : [],
        )
        .filter((part) => part.type === 'tool-call');
      expect(calls).toMatchObject([{ toolCallId: 'p1', providerExecuted: true }]);
    }
  });

  test('a no goes back with its reason', async () => {
    const { model, played } = scriptedWorld(script);
    const chat = conversation(way, { model });
    const [requestId = ''] = requestsIn((await chat.say('Open an issue.')).content);
    await chat.go(answering([requestId], { approved: false, reason: 'not today' }));
    expect(played.prompts[1]?.at(-1)).toMatchObject({
      role: 'tool',
      content: [
        { approvalId: 'ask-p1', approved: false, reason: 'not today' },
        { type: 'tool-result', output: { type: 'execution-denied', reason: 'not today' } },
      ],
    });
  });

  test('a call that reuses an id is sent once, under its id in the thread', async () => {
    const again = opens('p1', 'Wish', 'ask-again');
    const { model, agent } = scriptedWorld([...script, { calls: [again] }]);
    const chat = conversation(way, { model });
    const [requestId = ''] = requestsIn((await chat.say('Open an issue.')).content);
    await chat.go(answering([requestId], { approved: false }));
    const { content } = await chat.say('Another one.');
    const { toolCallId } = (await agent.thread('t')).calls[1] ?? {};
    expect(toolCallId).not.toBe('p1');
    const calls = content.filter((part) => part.type === 'tool-call');
    expect(calls.map((call) => call.toolCallId)).toEqual([toolCallId]);
  });
});

test('the AI SDK does not repeat an approval whose reply was lost, whatever the error is', async () => {
  const failure = overloaded();
  let requests = 0;
  const played = scriptedModel(script);
  const inner = wrapLanguageModel({
    model: modelOf(played),
    middleware: {
      async wrapGenerate({ doGenerate }) {
        requests += 1;
        if (requests === 2) throw Object.freeze(failure);
        return doGenerate();
      },
    },
  });
  const { model } = heldWorld({ model: inner });
  const prompt = { role: 'user', content: 'Open an issue.' } as const;
  const { content, responseMessages } = await generateText({
    model,
    messages: [prompt],
    ...ofThread(),
  });
  const messages = [prompt, ...responseMessages, answering(requestsIn(content))];
  await expect(generateText({ model, messages, ...ofThread() })).rejects.toThrow('overloaded');
  expect(requests).toBe(2);
});
