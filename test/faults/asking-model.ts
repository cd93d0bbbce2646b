import { MockLanguageModelV4 } from 'ai/test';
import { finishPart, type StreamPart, textParts } from '../support/streamed-model.ts';
import type { Prompt } from './stateless-model.ts';

const order =
  /^(pay|refund|wire|post|note|bonus|gift|trip) (\d+)(?: then (bonus|gift) (\d+))? #\d+$/;

/** A call, and the numbers of the messages of the turn in which it was made. */
export interface Asked {
  toolName: string;
  messages: readonly number[];
}

/** What a message orders: a call, and perhaps another one after its result. */
export interface Order {
  toolName: string;
  euros: number;
  next: 'bonus' | 'gift' | undefined;
}

/** The text of a message that orders payments, and has a number of its own. */
export function orderText({ toolName, euros, next }: Order, id: number): string {
  return `${toolName} ${euros}${next === undefined ? '' : ` then ${next} 5000`} #${id}`;
}

/**
 * A model that makes a call for each order which nobody has replied to, then those that follow, and says "Done." to everything else. It
 * fails as often as `failures` says, and says nothing while `isSilent`, until its run is stopped.
 */
export function askingModel() {
  const asking = {
    failures: 0,
    isSilent: false,
    /** Resolved once it is asked and says nothing. */
    silence: Promise.withResolvers<void>(),
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

  async function doStream({ prompt, abortSignal }: Asking) {
    if (asking.isSilent) {
      asking.silence.resolve();
      await new Promise((_resolve, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('stopped')));
      });
    }
    const parts = answer(prompt);
    return { stream: ReadableStream.from(parts) };
  }

  async function doGenerate({ prompt }: Asking) {
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

interface Asking {
  prompt: Prompt;
  abortSignal?: AbortSignal;
}

/* A turn begins after a reply without calls. Its orders are those of the latest messages, or what follows the first results. */
function readPrompt(prompt: Prompt, makeId: () => string) {
  const isFollowUp = prompt.at(-1)?.role === 'tool';
  const turn = prompt.slice(prompt.findLastIndex(isReply) + 1);
  const end = turn.findLastIndex(({ role }) => role === 'user') + 1;
  const begin = turn.slice(0, end).findLastIndex(({ role }) => role !== 'user') + 1;
  const steps = turn.slice(end).filter(({ role }) => role === 'assistant').length;
  const latest = steps === (isFollowUp ? 1 : 0) ? turn.slice(begin, end).map(readText) : [];
  const calls = latest.flatMap((text) => {
    const [, first, price, next, more] = order.exec(text) ?? [];
    const [toolName, euros] = isFollowUp ? [next, more] : [first, price];
    if (toolName === undefined || euros === undefined) return [];
    const input = JSON.stringify({ to: 'acme', euros: Number(euros) });
    return [{ type: 'tool-call' as const, toolCallId: makeId(), toolName, input }];
  });
  const messages = turn
    .filter(({ role }) => role === 'user')
    .map((message) => Number(readText(message).split('#')[1]));
  return { calls, messages };
}

function isReply({ role, content }: Prompt[number]): boolean {
  if (role !== 'assistant') return false;
  return content.every(({ type }) => type !== 'tool-call');
}

function readText({ content }: Prompt[number]): string {
  return typeof content === 'string' ? content : content.map(textIn).join('');
}

function textIn(part: object): string {
  return 'text' in part && typeof part.text === 'string' ? part.text : '';
}
