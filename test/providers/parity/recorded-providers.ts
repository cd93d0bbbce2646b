import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { once } from 'node:events';
import { type LanguageModel, type LanguageModelMiddleware, wrapLanguageModel } from 'ai';
import { anthropicMessages } from '../anthropic-messages.ts';
import { openaiChat, openaiCompatibleChat } from '../chat-completions.ts';
import { openaiResponses } from '../responses.ts';
import type { ScriptedStep } from '../../support/script.ts';
import { answerAsGoogle } from './google-answer.ts';

/** A model of a provider's package. */
export type ParityModel = Extract<LanguageModel, { specificationVersion: 'v4' }>;
/** A part of a model's response. */
export type ModelPart = Awaited<ReturnType<ParityModel['doGenerate']>>['content'][number];

/** What a provider answers to one request. */
export interface ParityStep extends ScriptedStep {
  /** What the provider's package reads in the answer, instead of what it says. */
  parts?: ModelPart[];
  /** The provider fails once with this status. */
  status?: number;
  /** The provider doesn't answer before the request is aborted. */
  isHanging?: boolean;
}

/** A request as a provider's package sent it, without the header that names the packages it went through. */
interface RecordedRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
}

/** A provider's package whose requests are recorded. */
export interface RecordedProvider {
  name: string;
  /** A model that answers with a script, and the requests that it sends. */
  play(script: readonly ParityStep[]): { model: ParityModel; requests: RecordedRequest[] };
}

type Answer = (step: ScriptedStep, body: unknown) => object;
type Connect = (options: { apiKey: string; fetch: typeof fetch }) => ParityModel;

/** Every provider's package that parity is promised for. */
export const recordedProviders: RecordedProvider[] = [
  record(
    'OpenAI Responses',
    (options) => createOpenAI(options).responses('gpt-test'),
    () => openaiResponses().answer,
  ),
  record(
    'OpenAI chat completions',
    (options) => createOpenAI(options).chat('gpt-test'),
    () => openaiChat().answer,
  ),
  record(
    'OpenAI-compatible',
    (options) =>
      createOpenAICompatible({ ...options, name: 'local', baseURL: 'https://models.test' })('m'),
    () => openaiCompatibleChat().answer,
  ),
  record(
    'Anthropic',
    (options) => createAnthropic(options)('claude-test'),
    () => anthropicMessages().answer,
  ),
  record(
    'Google',
    (options) => createGoogle(options)('gemini-3-test'),
    () => answerAsGoogle,
  ),
  record(
    'Mistral',
    (options) => createMistral(options)('mistral-test'),
    () => openaiChat().answer,
  ),
];

function record(name: string, connect: Connect, speak: () => Answer): RecordedProvider {
  return {
    name,
    play(script) {
      const answer = speak();
      const requests: RecordedRequest[] = [];
      const next = () => script[requests.length - 1];
      const model = connect({
        apiKey: 'test',
        async fetch(url, { headers, body, signal } = {}) {
          signal?.throwIfAborted();
          if (typeof body !== 'string') throw new TypeError('The body of a request must be text.');
          const sent: unknown = JSON.parse(body);
          const { 'user-agent': _agent, ...named } = Object.fromEntries(new Headers(headers));
          requests.push({ url: new Request(url).url, headers: named, body: sent });
          const step = next();
          if (step?.isHanging === true) await abortionOf(signal);
          if (step === undefined || step.status !== undefined) return fail(step?.status);
          return Response.json(answer(step, sent));
        },
      });
      return { model: wrapLanguageModel({ model, middleware: replaceParts(next) }), requests };
    },
  };
}

/** Gives the parts of the script for those that the provider's package has read. */
function replaceParts(next: () => ParityStep | undefined): LanguageModelMiddleware {
  return {
    specificationVersion: 'v4',
    async wrapGenerate({ doGenerate }) {
      const read = await doGenerate();
      const { parts, finish } = next() ?? {};
      if (parts === undefined) return read;
      const calls = parts.some((part) => part.type === 'tool-call' && !part.providerExecuted);
      const unified = finish ?? (calls ? 'tool-calls' : 'stop');
      return { ...read, content: parts, finishReason: { unified, raw: unified } };
    },
  };
}

/* The header saves the AI SDK's wait of two seconds. */
function fail(status = 400): Response {
  const body = { error: { message: 'No answer.', type: 'error', param: null, code: null } };
  return Response.json(body, { status, headers: { 'retry-after-ms': '1' } });
}

async function abortionOf(signal: AbortSignal | null | undefined): Promise<never> {
  if (!signal) throw new Error('A request that hangs needs a signal.');
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}
