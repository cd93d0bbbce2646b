import { MockLanguageModelV4 } from 'ai/test';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import type { Prompt } from './stateless-model.ts';

const order = /^(pay|refund|wire|post|note) (\d+) #\d+$/;

/** A call, and the numbers of the messages that nobody had replied to when it was made. */
export interface Asked {
  toolName: string;
  messages: readonly number[];
}

/** The text of a message that orders a payment, and has a number of its own. */
export function orderText(toolName: string, euros: number, id: number): string {
  return `${toolName} ${euros} #${id}`;
}

/**
 * A model that makes a call for each order which nobody has replied to, and says "Done." to everything else. It fails as often as
 * `failures` says.
 */
export function askingModel() {
  const asking = {
    failures: 0,
    asked: new Map<string, Asked>(),
    model: new MockLanguageModelV4({ doGenerate, doStream }),
  };

  let ids = 0;
  function answer(prompt: Prompt): StreamPart[] {
    if (asking.failures > 0) {
      asking.failures -= 1;
      throw new Error('the provider failed');
    }
    const { calls, messages } = readPrompt(prompt, () => `c${(ids += 1)}`);
    for (const { toolCallId, toolName } of calls)
      asking.asked.set(toolCallId, { toolName, messages });
    return [
      { type: 'stream-start', warnings: [] },
      ...(calls.length > 0 ? calls : textParts('1', 'Done.')),
      finishPart(calls.length > 0 ? 'tool-calls' : 'stop'),
    ];
  }

  async function doStream({ prompt }: { prompt: Prompt }) {
    const parts = answer(prompt);
    return { stream: ReadableStream.from(parts) };
  }

  async function doGenerate({ prompt }: { prompt: Prompt }) {
    const parts = answer(prompt);
    const calls = parts.filter((part) => part.type === 'tool-call');
    const finish = parts.find((part) => part.type === 'finish');
    if (finish === undefined) throw new Error('An answer has an end.');
    const { usage, finishReason } = finish;
    const text = { type: 'text' as const, text: 'Done.' };
    return { content: calls.length > 0 ? calls : [text], usage, finishReason, warnings: [] };
  }

  return asking;
}

function readPrompt(prompt: Prompt, makeId: () => string) {
  const end = prompt.findLastIndex(({ role }) => role !== 'user');
  const texts = prompt
    .slice(end + 1)
    .map(({ content }) => (typeof content === 'string' ? content : content.map(textIn).join('')));
  const calls = texts.flatMap((text) => {
    const [, toolName = '', euros] = order.exec(text) ?? [];
    if (euros === undefined) return [];
    const input = JSON.stringify({ to: 'acme', euros: Number(euros) });
    return [{ type: 'tool-call' as const, toolCallId: makeId(), toolName, input }];
  });
  return { calls, messages: texts.map((text) => Number(text.split('#')[1])) };
}

function textIn(part: object): string {
  return 'text' in part && typeof part.text === 'string' ? part.text : '';
}
