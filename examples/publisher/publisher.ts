import { appendFile } from 'node:fs/promises';
import { type ModelMessage, tool } from 'ai';
import type { ThreadStore } from 'holdpoint';
import { answersOf, choice, createCustomAgent } from 'holdpoint/custom-agent';
import { z } from 'zod';

const tones = ['Plain', 'Cheerful'];
const progressSchema = z.discriminatedUnion('stage', [
  z.object({ stage: z.literal('tone'), subject: z.string() }),
  z.object({ stage: z.literal('review'), draft: z.string() }),
  z.object({ stage: z.literal('publish') }),
]);

/** A custom agent that asks for a tone, drafts an announcement, asks for approval to publish it, and appends it to a file. */
export function publisher({ store, path }: { store: ThreadStore; path: string }) {
  return createCustomAgent({
    name: 'publisher',
    store,
    tools: {
      publish: tool({
        description: 'Publishes an announcement.',
        inputSchema: z.object({ text: z.string() }),
        execute: async ({ text }) => {
          await appendFile(path, `${text}\n`);
          return { path };
        },
      }),
    },
    progressSchema,
    step: ({ input, progress, decisions, toolCalls }) => {
      if (progress === undefined || input.length > 0) {
        const subject = input.map(textOf).join(' ');
        return {
          progress: { stage: 'tone' as const, subject },
          requests: { tone: choice('In which tone?', tones) },
        };
      }
      switch (progress.stage) {
        case 'tone': {
          const [tone = 'Plain'] = answersOf(decisions.get('tone'));
          const draft = draftOf(progress.subject, tone);
          const text = `Publish "${draft}"?`;
          return {
            progress: { stage: 'review' as const, draft },
            requests: { publish: { type: 'approval-request', text } },
          };
        }
        case 'review': {
          const text = progress.draft;
          if (decisions.get('publish')?.status !== 'approved') {
            return { text: 'Nothing was published.' };
          }
          return {
            progress: { stage: 'publish' as const },
            toolCalls: [{ toolName: 'publish', input: { text } }],
          };
        }
        case 'publish': {
          const isPublished = toolCalls[0]?.outcome?.status === 'succeeded';
          return { text: isPublished ? 'It is published.' : 'It could not be published.' };
        }
      }
    },
  });
}

/** The text of a message that was sent as a string. */
function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : '';
}

/* In an app, this may be a request to a model. */
function draftOf(subject: string, tone: string): string {
  return tone === 'Cheerful' ? `Great news: ${subject}!` : `${subject}.`;
}
