import type { AgentThread, QuestionRequestContent, QuestionResponseContent } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';
import { dismissed, eventsOf, everyQuestionTool, picked, questionsOf } from './asked.ts';
import { keptOn } from './asking-tools.ts';
import { Died, dyingStore } from './dying-store.ts';
import { pickCases } from '../support/sampling.ts';

const script = [
  {
    calls: [
      { id: 'q1', name: 'ask_question', input: { question: 'Which?' } },
      { id: 'q2', name: 'user_choice', input: { question: 'Which?', options: '["A"]' } },
    ],
  },
  { calls: [{ id: 'q3', name: 'ask_confirmation', input: { question: 'Sure?' } }] },
  { text: 'Done.' },
];

/** When the first process dies, and how all of them answer. */
interface Death {
  point: number;
  when: 'before' | 'after';
  how: 'run' | 'respond';
}

/** A conversation by as many processes as it takes; the first may die. */
async function converse({ point, when, how }: Death) {
  using kept = keptOn('memoryStore');
  const shared = kept.open();
  const clock = { now: 0 };
  const mortal = dyingStore(shared, point, when);
  const acknowledged: QuestionResponseContent[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    /* The model continues from the log: it repeats a response that was not recorded. */
    const said = eventsOf(await eventsIn(shared, 't'), 'step-finished').length;
    const played = scriptedModel(script.slice(said));
    const store = mortal.isDead ? shared : mortal.store;
    const options = { tools: everyQuestionTool(), toolApproval: {}, now: () => clock.now };
    const agent = travelWorld(played, () => store).agent(options);
    try {
      const thread = await agent.thread('t');
      if (isDone(thread)) return { thread, died: mortal.isDead, acknowledged };
      const [next] = questionsOf(thread.activeRequests);
      if (next === undefined) {
        await agent.run(thread.revision === 0 ? 'Go' : [], thread);
      } else {
        await agent[how](answerTo(next), thread);
        acknowledged.push(answerTo(next));
      }
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      clock.now += 60_001;
    }
  }
  throw new Error('It never came to its end.');
}

function isDone({ status, messages }: AgentThread): boolean {
  const last = messages.at(-1);
  return status === 'idle' && last?.role === 'assistant';
}

function answerTo(request: QuestionRequestContent): QuestionResponseContent {
  return request.kind === 'choice' ? dismissed(request) : picked(request, [], 'well');
}

/** What must be the same whatever dies. */
function factsOf({ thread, acknowledged }: Awaited<ReturnType<typeof converse>>) {
  const asked = eventsOf(thread.events, 'request-opened').map(({ request }) => request.requestId);
  const answers = eventsOf(thread.events, 'request-answered').map(({ response }) => response);
  const taken = new Set(answers.map((answer) => JSON.stringify(answer)));
  return {
    asked: asked.length,
    unanswered: asked.filter((id) => !answers.some(({ requestId }) => requestId === id)),
    answers: answers.length,
    lost: acknowledged.filter((answer) => !taken.has(JSON.stringify(answer))),
    ended: eventsOf(thread.events, 'call-ended').length,
    messages: withoutIds(thread.messages),
  };
}

function withoutIds(messages: unknown): unknown {
  return JSON.parse(JSON.stringify(messages).replaceAll(/[\da-f]{8}(?:-[\da-f]+){4}/g, 'UUID'));
}

describe('a process that dies at any append loses no answer, and no question is asked twice:', () => {
  const ways = [
    { how: 'run', when: 'before' },
    { how: 'run', when: 'after' },
    { how: 'respond', when: 'before' },
    { how: 'respond', when: 'after' },
  ] as const;
  test.each(pickCases(ways, 3))('answers by $how, death $when the append', async (way) => {
    const whole = {
      ...factsOf(await converse({ ...way, point: 0 })),
      asked: 3,
      answers: 3,
      ended: 3,
    };
    let point = 1;
    for (;;) {
      const conversation = await converse({ ...way, point });
      if (!conversation.died) break;
      expect({ point, ...factsOf(conversation) }).toEqual({ point, ...whole });
      point += 1;
    }
    expect(point).toBeGreaterThan(5);
  });
});
