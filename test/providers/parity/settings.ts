import { defaultSettingsMiddleware, hasToolCall, Output, tool } from 'ai';
import { z } from 'zod';
import { call, type Change, type Options, parityTools } from './programs.ts';

/** A setting that a held program has under the same name, or in another place. */
export interface HeldSetting {
  program: Change;
  /** Whether the program never ends without the setting. */
  isNeeded?: true;
  /** The ways that are not the same, and what the docs say of that. */
  differs?: { [way: string]: string };
}

const twoCalls = [call('call00001', 'book', 'Paris'), call('call00002', 'look', 'Rome')];
const wrongCall = { id: 'call00001', name: 'book', input: { town: 'Paris' } };
const image = { type: 'image', image: new URL('https://files.test/map.png') } as const;

/** Every option of `generateText`: how a program has it; or `'no'`, as docs/settings.md says with the reason. */
export const settingRows: Record<keyof Options, HeldSetting | 'no'> = {
  model: {
    program: () => ({ middleware: defaultSettingsMiddleware({ settings: { temperature: 0.7 } }) }),
  },
  tools: {
    program: (note) => ({ settings: { tools: { book: parityTools(note).book } } }),
  },
  toolsContext: {
    program: (note) => {
      const book = tool({
        inputSchema: z.object({ city: z.string() }),
        contextSchema: z.object({ tenant: z.string() }),
        execute: async ({ city }, { context }) => {
          note(city, context);
          return 'Booked.';
        },
      });
      return { settings: { tools: { book }, toolsContext: { book: { tenant: 'acme' } } } };
    },
  },
  instructions: { program: () => ({ settings: { instructions: 'Be brief.' } }) },
  prompt: { program: () => ({ turns: ['Book Rome'] }) },
  messages: {
    program: () => ({
      turns: [
        [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Good morning.' },
          { role: 'user', content: 'Book Paris' },
        ],
      ],
    }),
  },
  allowSystemInMessages: {
    program: () => ({
      settings: { allowSystemInMessages: true },
      turns: [
        [
          { role: 'system', content: 'Today is Monday.' },
          { role: 'user', content: 'Book Paris' },
        ],
      ],
    }),
  },
  maxOutputTokens: { program: () => ({ settings: { maxOutputTokens: 500 } }) },
  temperature: { program: () => ({ settings: { temperature: 0.5 } }) },
  topP: { program: () => ({ settings: { topP: 0.9 } }) },
  topK: { program: () => ({ settings: { topK: 20 } }) },
  presencePenalty: { program: () => ({ settings: { presencePenalty: 0.1 } }) },
  frequencyPenalty: { program: () => ({ settings: { frequencyPenalty: 0.2 } }) },
  stopSequences: { program: () => ({ settings: { stopSequences: ['END'] } }) },
  seed: { program: () => ({ settings: { seed: 7 } }) },
  reasoning: { program: () => ({ settings: { reasoning: 'high' } }) },
  providerOptions: {
    program: () => ({
      settings: { providerOptions: { openai: { user: 'ann' }, mistral: { safePrompt: true } } },
    }),
  },
  toolChoice: {
    program: () => ({ settings: { toolChoice: { type: 'tool', toolName: 'book' } } }),
    differs: {
      'behind holdPoint': 'one that forces a call counts for the first step',
      'behind holdPoint, asked': 'one that forces a call counts for the first step',
    },
  },
  activeTools: { program: () => ({ settings: { activeTools: ['book'] } }) },
  toolOrder: { program: () => ({ settings: { toolOrder: ['look', 'book'] } }) },
  headers: { program: () => ({ settings: { headers: { 'x-trace': '1' } } }) },
  maxRetries: {
    program: () => ({ settings: { maxRetries: 0 }, script: [{ status: 503 }, { text: 'Hi.' }] }),
  },
  repairToolCall: {
    program: (note) => ({
      settings: {
        repairToolCall: async ({ toolCall }) => {
          note('repair', toolCall.input);
          return { ...toolCall, input: '{"city":"Paris"}' };
        },
      },
      script: [{ calls: [wrongCall] }, { text: 'All done.' }],
    }),
  },
  telemetry: {
    program: (note) => ({
      settings: {
        telemetry: {
          functionId: 'booking',
          integrations: {
            onLanguageModelCallStart: ({ functionId }) => note('model', functionId),
          },
        },
      },
    }),
  },
  experimental_download: {
    program: (note) => ({
      settings: {
        experimental_download: async (downloads) =>
          downloads.map(({ url, isUrlSupportedByModel }) => {
            note('download', url.href, isUrlSupportedByModel);
            return { data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' };
          }),
      },
      turns: [[{ role: 'user', content: [image] }]],
    }),
    differs: {
      'behind holdPoint': 'for the messages of the call',
      'behind holdPoint, asked': 'for the messages of the call',
    },
  },
  abortSignal: {
    program: () => ({ settings: { abortSignal: AbortSignal.abort(new Error('Enough.')) } }),
  },
  timeout: {
    program: () => ({ settings: { timeout: 1 }, script: [{ isHanging: true }] }),
    isNeeded: true,
  },
  runtimeContext: {
    program: (note) => ({
      settings: {
        runtimeContext: { tenant: 'acme' },
        toolApproval: ({ runtimeContext }) => {
          note('rule', runtimeContext);
          return 'approved';
        },
      },
    }),
    differs: { 'behind holdPoint': 'not for rules' },
  },
  toolApproval: { program: () => ({ settings: { toolApproval: () => 'user-approval' } }) },
  prepareStep: {
    program: () => ({
      settings: {
        prepareStep: ({ stepNumber }) => (stepNumber === 1 ? { maxOutputTokens: 50 } : undefined),
      },
    }),
    differs: {
      'an agent, asked': '`stepNumber` count across approvals',
      'behind holdPoint, asked': '`stepNumber` count across approvals',
    },
  },
  stopWhen: {
    program: () => ({ settings: { stopWhen: hasToolCall('book') } }),
    differs: {
      'an agent, asked': 'from the log, across approvals and processes',
      'behind holdPoint, asked': 'from the log, across approvals and processes',
    },
  },
  output: {
    program: () => ({
      settings: { output: Output.object({ schema: z.object({ city: z.string() }) }) },
      script: [{ text: '{"city":"Paris"}' }],
    }),
  },
  toolCallConcurrency: {
    program: (note) => {
      const wait = async (name: string): Promise<string> => {
        note(name, 'begins');
        await Promise.resolve();
        note(name, 'ends');
        return 'Done.';
      };
      const inputSchema = z.object({ city: z.string() });
      const book = tool({ inputSchema, execute: async () => wait('book') });
      const look = tool({ inputSchema, execute: async () => wait('look') });
      return {
        settings: { tools: { book, look }, toolCallConcurrency: 1 },
        script: [{ calls: twoCalls }, { text: 'All done.' }],
      };
    },
  },
  onStepEnd: {
    program: (note) => ({
      settings: { onStepEnd: ({ text, finishReason }) => note('step', text, finishReason) },
    }),
    differs: {
      'an agent, asked': 'called once the step is complete and recorded',
      'behind holdPoint, asked': 'called once the step is complete and recorded',
    },
  },
  onEnd: {
    program: (note) => ({ settings: { onEnd: ({ text }) => note('end', text) } }),
    differs: { 'behind holdPoint': 'own step is the whole run' },
  },
  onStart: 'no',
  onStepStart: 'no',
  onStepError: 'no',
  onLanguageModelCallStart: 'no',
  onLanguageModelCallEnd: 'no',
  onToolExecutionStart: 'no',
  onToolExecutionEnd: 'no',
  include: 'no',
  experimental_refineToolInput: 'no',
  experimental_toolCallers: 'no',
  experimental_sandbox: 'no',
  experimental_steering: 'no',
  experimental_toolApprovalSecret: 'no',
  system: 'no',
  onStepFinish: 'no',
  onFinish: 'no',
  experimental_telemetry: 'no',
  experimental_repairToolCall: 'no',
  experimental_onStart: 'no',
  experimental_onStepStart: 'no',
  experimental_onLanguageModelCallStart: 'no',
  experimental_onLanguageModelCallEnd: 'no',
  experimental_onToolCallStart: 'no',
  experimental_onToolCallFinish: 'no',
  experimental_include: 'no',
  _internal: 'no',
};
