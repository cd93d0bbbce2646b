import { memoryStore, type ThreadStore } from 'holdpoint';
import { answersOf, choice, createCustomAgent } from 'holdpoint/custom-agent';
import { z } from 'zod';

/** A custom agent that drafts, asks for a tone, asks whether the result may be published, and reports. It writes its text in pieces. */
export function newsroom(store: ThreadStore = memoryStore()) {
  return createCustomAgent({
    name: 'publisher',
    store,
    progressSchema: z.object({ secretDraft: z.string() }),
    step: ({ input, progress, decisions, write }) => {
      if (input.length > 0 || progress === undefined) {
        write('I have ');
        write('a draft.');
        return {
          progress: { secretDraft: 'We ship.' },
          requests: { tone: choice('Which tone?', ['Formal', 'Friendly']) },
        };
      }
      const [tone] = answersOf(decisions.get('tone'));
      if (tone !== undefined) {
        const text = `Publish the ${tone} text?`;
        return { progress, requests: { publish: { type: 'approval-request', text } } };
      }
      const { status, response } = decisions.get('publish') ?? {};
      const why = response?.type === 'approval-response' ? response.reason : undefined;
      return { text: `It was ${status}${why === undefined ? '' : ` (${why})`}.` };
    },
  });
}
