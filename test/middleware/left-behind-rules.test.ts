import { generateText, type ModelMessage, tool, type ToolSet, wrapLanguageModel } from 'ai';
import { memoryStore } from 'holdpoint';
import { approvalRequestsOf, holdPoint, inertTools } from 'holdpoint/middleware';
import { questionTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look, type Ran, travelTools } from '../support/travel-world.ts';
import { modelOf, ofThread } from './held-world.ts';

/** Makes a middleware for these tools, and nothing else. */
function makeUnruled(tools: ToolSet) {
  return () => holdPoint({ tools, store: memoryStore() });
}

const execute = async () => 'done';
const inputSchema = z.object({});

test('tools that would run with nobody asked are a TypeError at once, which says where the rules belong', () => {
  const tools = travelTools([]);
  expect(makeUnruled(tools)).toThrow(TypeError);
  expect(makeUnruled(tools)).toThrow(
    "holdPoint has no toolApproval, so nobody would be asked before 'book', 'look', 'fail' run. Move toolApproval here from generateText, " +
      "streamText or ToolLoopAgent, where it can't hold the calls of a model behind holdPoint. To let all calls run, say so: " +
      "toolApproval: () => 'approved'.",
  );
  expect(() => holdPoint({ tools, toolApproval: undefined })).toThrow('has no toolApproval');
});

test('a tool that says itself whether it asks needs no rule, and neither does one that runs nothing', () => {
  const asking = tool({ inputSchema, execute, needsApproval: true });
  const running = tool({ inputSchema, execute, needsApproval: false });
  const deciding = tool({ inputSchema, execute, needsApproval: () => true });
  const page = tool({ inputSchema });
  const question = questionTool({
    description: 'Asks how old somebody is.',
    inputSchema,
    toQuestion: () => ({ kind: 'question', text: 'How old?', fields: [], allowDismiss: true }),
    toResult: () => ({ status: 'succeeded', output: '' }),
  });
  expect(makeUnruled({ asking, running, deciding, page, question })).not.toThrow();
  expect(makeUnruled({ asking, silent: tool({ inputSchema, execute }) })).toThrow(
    "before 'silent' runs",
  );
});

test('any toolApproval says how calls run: a map, also an empty one, or a function', () => {
  const tools = travelTools([]);
  for (const toolApproval of [{}, { book: 'denied' as const }, () => 'approved' as const])
    expect(() => holdPoint({ tools, toolApproval })).not.toThrow();
});

/** A call of a held model whose app has left `toolApproval` in the call too, so that the AI SDK asks as well. */
async function askTwice() {
  const ran: Ran[] = [];
  const tools = travelTools(ran);
  const { model } = scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const toolApproval = { book: 'user-approval' as const };
  const held = wrapLanguageModel({
    model: modelOf({ model }),
    middleware: holdPoint({ tools, toolApproval, store: memoryStore() }),
  });
  const call = { model: held, tools: inertTools(tools), maxRetries: 0, ...ofThread() };
  const prompt: ModelMessage = { role: 'user', content: 'Book Paris' };
  const asked = await generateText({ ...call, toolApproval, messages: [prompt] });
  const answer = async (approvalId: string) =>
    generateText({
      ...call,
      toolApproval,
      messages: [
        prompt,
        ...asked.responseMessages,
        {
          role: 'tool',
          content: [
            { type: 'tool-approval-response', approvalId, approved: true, providerExecuted: true },
          ],
        },
      ],
    });
  const shown = asked.content.flatMap((part) =>
    part.type === 'tool-approval-request' ? [part.approvalId] : [],
  );
  const [own = ''] = approvalRequestsOf(asked).map(({ requestId }) => requestId);
  const foreign = shown.find((approvalId) => approvalId !== own) ?? '';
  return { ran, answer, own, foreign };
}

test('an answer to what the AI SDK asked by itself is refused with the way to mend it, and runs nothing', async () => {
  const { ran, answer, own, foreign } = await askTwice();
  await expect(answer(foreign)).rejects.toMatchObject({
    code: 'not-found',
    message:
      `The prompt answers ${foreign}, which is no approval request of thread t. If the AI SDK has asked by itself, move toolApproval ` +
      'from generateText, streamText or ToolLoopAgent to holdPoint; and answer the requests of approvalRequestsOf(result).',
  });
  expect(ran).toEqual([]);
  await answer(own);
  expect(ran).toHaveLength(1);
});

test('what the AI SDK decides by itself runs nothing and stops nothing, and the next call warns of it', async () => {
  const ran: Ran[] = [];
  const tools = travelTools(ran);
  const { model } = scriptedModel([
    { calls: [look('c1', 'Rome')] },
    { text: 'One.' },
    { text: 'Two.' },
  ]);
  const held = wrapLanguageModel({
    model: modelOf({ model }),
    middleware: holdPoint({ tools, toolApproval: {}, store: memoryStore() }),
  });
  const toolApproval = { look: 'denied' } as const;
  const call = { model: held, tools: inertTools(tools), toolApproval, ...ofThread() };
  const messages: ModelMessage[] = [{ role: 'user', content: 'Look' }];
  const first = await generateText({ ...call, messages });
  expect([ran.length, first.warnings]).toEqual([1, []]);
  messages.push(...first.responseMessages, { role: 'user', content: 'And?' });
  const { warnings, text } = await generateText({ ...call, messages });
  expect(text).toBe('Two.');
  expect(warnings).toEqual([
    {
      type: 'other',
      message: expect.stringMatching(
        /^The messages answer aitxt-\S+, which is no approval request of thread t\. If toolApproval is in the call, it decides nothing: the tools run behind the model\. Move it from generateText, streamText or ToolLoopAgent to holdPoint\.$/,
      ),
    },
  ]);
});

test('an answer of the thread, in a history, is no reason for a warning', async () => {
  const { answer, own } = await askTwice();
  expect((await answer(own)).warnings).toEqual([]);
});
