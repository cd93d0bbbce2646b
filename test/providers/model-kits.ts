import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defaultSettingsMiddleware, type LanguageModel, wrapLanguageModel } from 'ai';
import type { ModelKit, PlayedModel } from '../support/script.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { openaiChat, openaiCompatibleChat } from './chat-completions.ts';
import type { ProviderProtocol } from './provider-protocol.ts';
import { openaiResponses } from './responses.ts';
import { startScriptServer } from './script-server.ts';
import type { ServedStep, ServedStream } from './served-stream.ts';

/** A model that is played over HTTP. */
export interface ServedModel extends PlayedModel {
  /** What its server streams or has streamed, oldest first. */
  readonly streams: readonly ServedStream[];
}

/** A provider package and its local server. */
export interface ProviderKit extends ModelKit {
  play(script: ServedStep[]): Promise<ServedModel>;
}

interface Provider {
  name: string;
  protocol(): ProviderProtocol;
  model(baseURL: string): LanguageModel;
  canSendRawInput?: boolean;
  canStreamRepeatedIds?: boolean;
}

const apiKey = 'test';

/** `store: false` for every request; the AI SDK then asks for the reasoning in its sealed form, as it is a reasoning model. */
const stateless = defaultSettingsMiddleware({
  settings: { providerOptions: { openai: { store: false, forceReasoning: true } } },
});

const providers: Provider[] = [
  {
    name: 'OpenAI chat completions',
    protocol: openaiChat,
    model: (baseURL) => createOpenAI({ baseURL, apiKey }).chat('gpt-test'),
    canStreamRepeatedIds: false,
  },
  {
    name: 'OpenAI Responses, stored',
    protocol: openaiResponses,
    model: (baseURL) => createOpenAI({ baseURL, apiKey }).responses('gpt-test'),
  },
  {
    name: 'OpenAI Responses, stateless',
    protocol: openaiResponses,
    model: (baseURL) =>
      wrapLanguageModel({
        model: createOpenAI({ baseURL, apiKey }).responses('gpt-test'),
        middleware: stateless,
      }),
  },
  {
    name: 'Anthropic messages',
    protocol: anthropicMessages,
    model: (baseURL) =>
      wrapLanguageModel({
        model: createAnthropic({ baseURL, apiKey })('claude-test'),
        middleware: defaultSettingsMiddleware({ settings: { maxOutputTokens: 1_000 } }),
      }),
    canSendRawInput: false,
  },
  {
    name: 'OpenAI-compatible chat completions',
    protocol: openaiCompatibleChat,
    model: (baseURL) =>
      createOpenAICompatible({ name: 'local', baseURL, includeUsage: true })('some-model'),
    canStreamRepeatedIds: false,
  },
];

/** Every provider package, each against a server of its own that checks what it is sent and keeps the `violations`. */
export const providerKits: ProviderKit[] = providers.map((provider) => ({
  name: provider.name,
  canSendRawInput: provider.canSendRawInput ?? true,
  canStreamRepeatedIds: provider.canStreamRepeatedIds ?? true,
  play: (script) => play(provider, script),
}));

async function play(provider: Provider, script: ServedStep[]): Promise<ServedModel> {
  if (provider.canSendRawInput === false) refuseRawInput(provider.name, script);
  const server = await startScriptServer(provider.protocol(), script);
  return {
    model: provider.model(server.baseURL),
    violations: server.violations,
    bodies: server.bodies,
    streams: server.streams,
    get requests() {
      return server.requests;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function refuseRawInput(name: string, script: readonly ServedStep[]): void {
  const inputs = script.flatMap(({ calls = [] }) => calls.map(({ input }) => input));
  for (const input of inputs) {
    if (typeof input !== 'string') continue;
    try {
      JSON.parse(input);
    } catch (cause) {
      throw new TypeError(`${name} can't carry '${input}': its calls have JSON, not text.`, {
        cause,
      });
    }
  }
}
