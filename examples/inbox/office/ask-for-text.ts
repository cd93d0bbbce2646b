import { questionTool } from 'holdpoint/tools';
import { z } from 'zod';

/** Asks for a text: a question tool that the example defines itself. A dismissal returns an empty text. */
export const askForText = questionTool({
  description: 'Asks the user for a text when there are no options to pick from.',
  inputSchema: z.object({ question: z.string().min(1) }),
  toQuestion: ({ question }) => ({
    kind: 'question',
    text: question,
    fields: [{ key: 'text', label: question, options: [], min: 0, max: 0, freeText: 'only' }],
    allowDismiss: true,
  }),
  toResult: (response) => ({
    status: 'succeeded',
    output: response.status === 'answered' ? (response.answers[0]?.text ?? '') : '',
  }),
});
