import { z } from 'zod';
import type { CallHistory } from './call-histories.ts';
import type { AskedModel, Evidence } from './evidence.ts';

/** As much of a provider's prompt as there is to check. */
const promptSchema = z.array(
  z.discriminatedUnion('role', [
    z.looseObject({ role: z.literal('system') }),
    z.looseObject({ role: z.literal('user') }),
    z.looseObject({
      role: z.enum(['assistant', 'tool']),
      content: z.array(z.looseObject({ type: z.string(), toolCallId: z.string().optional() })),
    }),
  ]),
);
type Prompt = z.infer<typeof promptSchema>;

/** What was wrong with what models were asked: histories providers refuse, results nobody recorded, approvals. */
export function promptFaults({ prompts, events }: Evidence, calls: readonly CallHistory[]) {
  const secrets = events.flatMap((event) => {
    if (event.type !== 'request-opened') return [];
    const { request } = event;
    return [request.requestId, ...(request.type === 'approval-request' ? [request.digest] : [])];
  });
  const approvalIds = new Set(calls.flatMap(({ approvalId }) => approvalId ?? []));
  return prompts.flatMap((asked, index) => {
    const ours = {
      ...asked,
      prompt: withoutAnswers(promptSchema.parse(asked.prompt), approvalIds),
    };
    const faults = [
      ...providerAnswers(asked, calls),
      ...historyFaults(ours.prompt),
      ...unrecordedResults(ours, calls),
      ...openCalls(asked, calls),
      ...approvalContent(ours, secrets),
    ];
    return faults.map((fault) => `Prompt ${index + 1}: ${fault}`);
  });
}

/** A prompt without what is said to a provider that asked: its own type, and the denial beside it. */
function withoutAnswers(prompt: Prompt, approvalIds: ReadonlySet<string>): Prompt {
  return prompt.map((message) =>
    message.role === 'tool'
      ? {
          ...message,
          content: message.content.filter((part) => !approvalIds.has(approvalIdOf(part))),
        }
      : message,
  );
}

const answerSchema = z.union([
  z
    .object({ type: z.literal('tool-approval-response'), approvalId: z.string() })
    .transform(({ approvalId }) => approvalId),
  z
    .object({
      type: z.literal('tool-result'),
      output: z.object({
        type: z.literal('execution-denied'),
        providerOptions: z.object({ openai: z.object({ approvalId: z.string() }) }),
      }),
    })
    .transform(({ output }) => output.providerOptions.openai.approvalId),
]);

function approvalIdOf(part: object): string {
  return answerSchema.safeParse(part).data ?? '';
}

/** Each question of the provider is answered once, with yes only where the log has a person's word and says that it was told. */
function providerAnswers({ prompt, revision }: AskedModel, calls: readonly CallHistory[]) {
  const answers = promptSchema
    .parse(prompt)
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .filter(({ type }) => type === 'tool-approval-response');
  return calls.flatMap(({ label, approvalId, proposed, approved, outcome }) => {
    if (approvalId === undefined || proposed > revision) return [];
    const [told, ...again] = answers.filter((part) => part['approvalId'] === approvalId);
    if (told === undefined) return [`the provider has no answer about call ${label}.`];
    if (again.length > 0) return [`the provider has two answers about call ${label}.`];
    const isYes = outcome?.status === 'forwarded' && approved.some((at) => at <= revision);
    return told['approved'] === isYes ? [] : [`the provider has the wrong answer about ${label}.`];
  });
}

/** Each call is answered by exactly one result in the message right after it, and nothing else is. */
function historyFaults(prompt: Prompt): string[] {
  return prompt.flatMap((message, index) => {
    const before = prompt[index - 1];
    const called = before?.role === 'assistant' ? idsOf(before, 'tool-call') : [];
    const answered = message.role === 'tool' ? idsOf(message, 'tool-result') : [];
    if (called.toSorted().join('\n') === answered.toSorted().join('\n'))
      return openAtEnd(prompt, index);
    return [
      `message ${index + 1} answers [${answered.join()}], and [${called.join()}] were called.`,
    ];
  });
}

function openAtEnd(prompt: Prompt, index: number): string[] {
  const last = index === prompt.length - 1 ? prompt[index] : undefined;
  if (last?.role !== 'assistant' || idsOf(last, 'tool-call').length === 0) return [];
  return ['it ends with calls that have no result.'];
}

function idsOf(message: Extract<Prompt[number], { role: 'assistant' | 'tool' }>, type: string) {
  return message.content
    .filter((part) => part.type === type && part['providerExecuted'] !== true)
    .map(({ toolCallId = 'none' }) => toolCallId);
}

function unrecordedResults({ prompt, revision }: AskedModel, calls: readonly CallHistory[]) {
  const results = promptSchema
    .parse(prompt)
    .flatMap((message) => (message.role === 'tool' ? idsOf(message, 'tool-result') : []));
  return results
    .filter((id) => !calls.some((call) => call.toolCallId === id && hasEnded(call, revision)))
    .map((id) => `it has a result of ${id} that was not in the log yet.`);
}

function openCalls({ revision }: AskedModel, calls: readonly CallHistory[]): string[] {
  return calls
    .filter((call) => call.proposed <= revision && !hasEnded(call, revision))
    .map(({ label }) => `call ${label} was open.`);
}

function hasEnded({ ended }: CallHistory, revision: number): boolean {
  return ended.some((at) => at <= revision);
}

function approvalContent({ prompt }: AskedModel, secrets: readonly string[]): string[] {
  const text = JSON.stringify(prompt);
  return ['approval-re', ...secrets]
    .filter((secret) => text.includes(secret))
    .map((secret) => `it holds approval content (${secret}).`);
}
