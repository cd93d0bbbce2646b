import { type Agent, createPostHandler, type ThreadStore } from 'holdpoint';
import { z } from 'zod';
import { answerSchema } from './board.ts';
import type { ChangeStream } from './change-stream.ts';
import { owns, personOf } from './identity.ts';
import { boardReader } from './read-board.ts';

const postSchema = z.strictObject({
  threadId: z.string(),
  answer: answerSchema,
  viewer: z.string().optional(),
});

/** Options of `createInboxHandler`. */
export interface InboxOptions {
  agent: Agent;
  store: ThreadStore;
  changes: ChangeStream;
}

/**
 * The inbox as a fetch handler. `GET` lists the requests in all threads of the person, `POST` records an answer, after which a worker
 * resumes the thread, and `GET …/events` streams an event for each change.
 */
export function createInboxHandler({ agent, store, changes }: InboxOptions) {
  const readBoard = boardReader({ agent, store });
  const answer = createAnswerHandler(agent);
  return async function handle(request: Request): Promise<Response> {
    const person = personOf(request);
    if (person === undefined) return refusal(401, 'unauthorized', 'Send your name in x-demo-name.');
    if (request.method === 'POST') return answer(request);
    if (request.method !== 'GET') return refusal(405, 'method-not-allowed', 'Use GET or POST.');
    if (new URL(request.url).pathname.endsWith('/events')) return changes.follow(person);
    return Response.json(await readBoard(person), { headers: { 'cache-control': 'no-store' } });
  };
}

function createAnswerHandler(agent: Agent): (request: Request) => Promise<Response> {
  return createPostHandler({
    agent,
    authorize: ({ request, threadId }) => {
      const person = personOf(request);
      return person && owns(person, threadId) ? { principal: person.name } : undefined;
    },
    channel: 'inbox',
    schema: postSchema,
    async handle({ body: { threadId, answer, viewer }, by }) {
      if (viewer !== undefined && viewer !== by.principal)
        return refusal(403, 'other-viewer', `The page was loaded for ${viewer}; load it again.`);
      await agent.respond(answer, await agent.thread(threadId), by);
      return undefined;
    },
  });
}

function refusal(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status });
}
