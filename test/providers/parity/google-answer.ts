import type { ScriptedStep } from '../../support/script.ts';

const finishReasons = { length: 'MAX_TOKENS', 'content-filter': 'SAFETY', 'tool-calls': 'STOP' };

/** The answer of Gemini's `generateContent`, whose calls carry the signature of a thought. */
export function answerAsGoogle({ reasoning, text, calls = [], finish }: ScriptedStep): object {
  const parts = [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...calls.map(({ id, name, input }) => ({
      functionCall: { id, name, args: input },
      thoughtSignature: `signature of ${id}`,
    })),
  ];
  const finishReason = finish === undefined || finish === 'stop' ? 'STOP' : finishReasons[finish];
  return {
    responseId: 'gen_1',
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 10, totalTokenCount: 13 },
  };
}
