import type { Agent, QuestionRequestContent, QuestionResponseContent } from 'holdpoint';
import {
  askUserQuestion,
  fromUserQuestionResponse,
  questionTools,
  toAskUserQuestionRequest,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { ask, dismissed, overTheWire, resultOf, single } from './asked.ts';
import { database, features, wire } from './seed-questions.ts';

type AskUserQuestionRequest = ReturnType<typeof toAskUserQuestionRequest>;

/** The back end of seed 001, for a UI that may be on any thread of the agent. */
function tauriBridge(
  agent: Agent,
  emitAll: (event: string, payload: AskUserQuestionRequest) => void,
) {
  const asked = new Map<string, { threadId: string; request: QuestionRequestContent }>();
  agent.on('request-opened', ({ threadId, event: { request } }) => {
    if (request.type !== 'question-request') return;
    asked.set(request.requestId, { threadId, request });
    emitAll('ask-user-question', toAskUserQuestionRequest(request));
  });
  const send = async (
    requestId: string,
    toResponse: (request: QuestionRequestContent) => QuestionResponseContent,
  ) => {
    const { threadId, request } = asked.get(requestId) ?? {};
    if (threadId === undefined || request === undefined) throw new Error('unknown request');
    await agent.run(toResponse(request), await agent.thread(threadId));
  };
  return {
    send_question_response: async (requestId: string, answers: Record<string, string>) =>
      send(requestId, (request) => fromUserQuestionResponse(request, { requestId, answers })),
    interrupt_agent: async (requestId: string) => send(requestId, dismissed),
  };
}

describe('Tauri', () => {
  /** The front end of seed 001. */
  class Modal {
    questions: AskUserQuestionRequest['questions'] = [];
    requestId = '';
    isOpen = false;

    listen = (event: string, payload: AskUserQuestionRequest): void => {
      if (event !== 'ask-user-question') throw new Error(`There is no listener for ${event}.`);
      ({ questions: this.questions, requestId: this.requestId } = overTheWire(payload));
      this.isOpen = true;
    };
  }

  async function bridged() {
    const { inProcess, world } = await ask({
      tools: { AskUserQuestion: askUserQuestion() },
      calls: [{ id: 'q1', name: 'AskUserQuestion', input: { questions: [database] } }],
      script: [
        { calls: [{ id: 'q2', name: 'AskUserQuestion', input: { questions: [features] } }] },
        { text: 'Done.' },
      ],
    });
    const agent = inProcess();
    const modal = new Modal();
    const bridge = tauriBridge(agent, modal.listen);
    const thread = await agent.thread('t');
    await agent.cancel(thread);
    await agent.run([], thread);
    return { agent, thread, world, modal, bridge };
  }

  test('S1-22 to S1-24, S1-27, S1-28: a bridge of public functions asks, and brings the answers', async () => {
    const { agent, modal, bridge } = await bridged();
    expect(modal).toMatchObject({ isOpen: true, questions: [features] });
    await bridge.send_question_response(modal.requestId, { Features: 'Logging' });
    const thread = await agent.thread('t');
    expect(thread.status).toBe('idle');
    expect(resultOf(thread, 'q2')).toEqual({ type: 'json', value: { Features: 'Logging' } });
  });

  test('S1-26: a response that can not be sent fails with words, and the modal can be used again', async () => {
    const { agent, modal, bridge } = await bridged();
    const wrong = bridge.send_question_response(modal.requestId, { Features: 'Nothing' });
    await expect(wrong).rejects.toThrow('no option is labelled "Nothing"');
    expect((await agent.thread('t')).status).toBe('waiting');
    await bridge.send_question_response(modal.requestId, { Features: 'Logging' });
    expect((await agent.thread('t')).status).toBe('idle');
  });

  test('S1-25: where no agent runs in this process, the answer can be recorded all the same, without an error', async () => {
    const { world, thread, modal } = await bridged();
    const request = single(thread.activeRequests);
    if (request.type !== 'question-request') throw new Error('No question.');
    const elsewhere = world.agent({ tools: questionTools(), toolApproval: {} });
    const response = fromUserQuestionResponse(request, wire(request, { Features: 'Logging' }));
    await elsewhere.respond(response, await elsewhere.thread('t'));
    expect(modal.requestId).toBe(request.requestId);
    expect(world.requests()).toBe(2);
  });

  test('S1-35, S1-36: interrupt_agent ends the question without an answer, and everybody is notified', async () => {
    const { agent, world, modal, bridge } = await bridged();
    agent.on('request-answered', ({ event }) => {
      if (event.response.requestId === modal.requestId) modal.isOpen = false;
    });
    await bridge.interrupt_agent(modal.requestId);
    expect(modal.isOpen).toBe(false);
    expect(resultOf(await agent.thread('t'), 'q2')).toEqual({
      type: 'error-text',
      value: 'Interrupted',
    });
    expect(world.requests()).toBe(2);
  });
});
